"""
A pipeline, and how many columns to keep
========================================

Selection belongs into the pipeline that is cross-validated: columns that were chosen by all rows
know the test rows. A grid search then compares what ``select`` keeps, by the prediction that it
leads to.
"""

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from squamish import RelevanceSelector
from squamish.datasets import load_patients

columns, progress = load_patients()
table = pd.DataFrame(columns)

pipeline = Pipeline(
    [
        ("select", RelevanceSelector(task="regression", random_state=0)),
        ("scale", StandardScaler()),
        ("predict", RidgeCV(np.logspace(-2, 3, 11))),
    ]
)
kept = [3, "minimal", "relevant"]
search = GridSearchCV(pipeline, {"select__select": kept}, cv=3).fit(table, progress)

# %%
# The three selections differ by less than the folds do: five columns predict as well as all that
# are relevant, and cost less to measure. (With ``memory`` set to a folder, every fold would be
# judged once for all three.)
columns = ["param_select__select", "mean_test_score", "std_test_score"]
print(pd.DataFrame(search.cv_results_)[columns].round(3).to_string(index=False))

# %%
# What the best pipeline, fitted to all rows, keeps.
print(list(search.best_estimator_[:-1].get_feature_names_out()))
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
folds = np.column_stack([search.cv_results_[f"split{k}_test_score"] for k in range(3)])
for fold, marker in zip(folds.T, "os^", strict=True):
    ax.plot(range(len(kept)), fold, marker, color="#00796b", alpha=0.7)
ax.plot(range(len(kept)), folds.mean(axis=1), color="#b36b00", label="mean of three folds")
ax.set_xticks(range(len(kept)), [str(name) for name in kept])
ax.set(xlabel="select", ylabel="R2 on rows that were not seen")
ax.legend()
plt.show()
