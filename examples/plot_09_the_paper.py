"""
The method of the paper, in pictures
====================================

Pfannschmidt and Hammer decide on a column by a refit without it: if the loss lies above the
interval of losses under permuted columns, which can tell nothing, the column is strong. Set 3 of
the paper has 150 rows and columns of known class.
"""

import numpy as np
from matplotlib import pyplot as plt

from squamish import RelevanceSelector
from squamish.datasets import load_preset

problem = load_preset("Set 3", random_state=0)
print(problem)

paper = RelevanceSelector("paper", random_state=0).fit(problem.X, problem.y).result_
ours = RelevanceSelector(random_state=0).fit(problem.X, problem.y).result_
for name, result in (("paper", paper), ("crossfit", ours)):
    right = np.mean(result.classes == problem.classes)
    print(f"{name}: {right:.0%} of the columns have their class, strong: {result.strong}")

# %%
# Boruta first: a column is relevant if its importance is beyond that of permuted copies of
# columns (shadows) more often than chance would have it.
paper.plot_shadows()
plt.show()

# %%
# Then the removals. The band holds the losses under permuted columns. One of the three strong
# columns lies above it, and no column that is not strong.
paper.plot_removal()
plt.show()

# %%
# The default method asks the same question by tests out of sample, and finds all three.
ours.plot_removal()
plt.show()
