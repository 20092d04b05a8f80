"""
The same verdict on a cluster
=============================

The selector works wherever joblib is told to. Here is a Dask cluster of two workers; on many
machines only the address would be another one. Whoever computes it, the verdict is the same to
the last digit.
"""

import joblib
import pandas as pd
from distributed import Client, LocalCluster
from matplotlib import pyplot as plt

from squamish import RelevanceSelector
from squamish.datasets import load_patients

columns, progress = load_patients()
table = pd.DataFrame(columns)
steps = []
selector = RelevanceSelector(task="regression", random_state=0, callback=steps.append)

at_home = selector.fit(table, progress).result_
n_steps_at_home = len(steps)

cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None)
with cluster, Client(cluster), joblib.parallel_config(backend="dask"):
    far_away = selector.fit(table, progress).result_

# %%
print(far_away.compare(at_home))
print((far_away.to_frame() == at_home.to_frame()).sum().sum(), "numbers and names are equal")

# %%
# Where the time went, at home. Small tables such as this one are done before a cluster has been
# told of them; it is of use where minutes go into many tasks.
at_home_steps = pd.DataFrame(
    {"stage": step.stage, "seconds": step.seconds} for step in steps[:n_steps_at_home]
)
ends = at_home_steps.groupby("stage", sort=False)["seconds"].max()
figure, ax = plt.subplots(figsize=(8, 3.5), layout="constrained")
starts = ends.shift(fill_value=0.0)
ax.barh(ends.index, ends - starts, left=starts, color="#00796b")
ax.invert_yaxis()
ax.set_xlabel("seconds since the start")
plt.show()
