"""
What changed between two runs?
==============================

Another seed, other rows, one column less: what happens to the verdict? 442 patients with
diabetes, with columns that were added (a copy, and four in random order).
"""

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

from squamish import RelevanceSelector
from squamish.datasets import load_patients

columns, progress = load_patients()
table = pd.DataFrame(columns)


def judge(rows, seed):
    """Judge some of the rows."""
    selector = RelevanceSelector(task="regression", random_state=seed)
    return selector.fit(table.iloc[rows], progress[rows]).result_


everybody = np.arange(len(table))
first = judge(everybody, seed=0)

# %%
# Another seed draws other folds and other random numbers. What it changes was close to a limit.
other_seed = judge(everybody, seed=1)
print(first.compare(other_seed))
print("close calls:", sorted(first.borderline))

# %%
# Half of the patients show less: what is strong in all of them may be weak in a half.
half = np.random.default_rng(0).permutation(everybody)[: len(table) // 2]
on_half = judge(half, seed=0)
print(first.compare(on_half))

# %%
# A column less: without the copy, the body mass index has nothing that could stand in for it. It
# was weak beside its copy, and is strong now. No class is a property of a column alone.
selector = RelevanceSelector(task="regression", random_state=0)
without_copy = selector.fit(table.drop(columns="bmi_copy"), progress).result_
print(first.compare(without_copy))

# %%
# The runs on all columns, beside each other.
first.plot_stability([other_seed, on_half])
plt.show()
