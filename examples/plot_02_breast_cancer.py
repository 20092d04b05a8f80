"""
Why is nothing strong?
======================

569 tumours, 30 measurements of each: ten properties of the cell nuclei, as mean, as standard
error and as the mean of the three worst. All thirty tell whether a tumour is malignant, and none
of them is needed.
"""

from matplotlib import pyplot as plt
from sklearn.datasets import load_breast_cancer

from squamish import RelevanceSelector

tumours = load_breast_cancer(as_frame=True)
diagnosis = tumours.target_names[tumours.target]

result = RelevanceSelector(random_state=0).fit(tumours.data, diagnosis).result_
print(f"{len(result.strong)} strong, {len(result.weak)} weak, {len(result.irrelevant)} irrelevant")

# %%
# A tumour that is large has a large radius, perimeter and area, in the mean and in the worst
# nuclei. Whichever of these six goes, the others make up for it, so that none of them is strong.
# The map shows which columns replace which.
result.plot_redundancy()
plt.show()

# %%
# *Weak* does not mean *little*. Removing ``worst area`` costs nothing. Where nothing stands in
# for it, it is worth more than half of what all columns together gain.
area = result.necessity["worst area"]
print(f"least {area.least:.1%}, most {area.most:.1%}")

# %%
# So the question is how many columns are enough, and which can stand in for each other.
enough = result.select("minimal")
print(f"{len(enough)} of 30 columns keep 99% of the gain: {', '.join(enough)}")
print(result.signatures)
result.plot_path()
plt.show()
