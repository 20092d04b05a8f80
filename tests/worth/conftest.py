"""Tables whose small sets are known."""

import numpy as np
import pandas as pd
import pytest

from squamish import RelevanceSelector


@pytest.fixture(scope="session")
def copies():
    """Return the verdict on a linear target with copies of two of four columns."""
    rng = np.random.default_rng(0)
    z = rng.standard_normal((400, 4))
    table = pd.DataFrame({"a": z[:, 0], "b": z[:, 1]})
    for k in range(3):
        table[f"c{k}"] = (k + 1) * z[:, 2] + k
    for k in range(2):
        table[f"d{k}"] = k - z[:, 3]
    for k in range(3):
        table[f"noise{k}"] = rng.standard_normal(400)
    y = z @ [1.0, 0.8, 0.9, 0.7] + rng.standard_normal(400)
    return RelevanceSelector(random_state=0).fit(table, y).result_


@pytest.fixture(scope="session")
def two_of_three():
    """Return the verdict on a, b and a + b, beside a column of its own."""
    rng = np.random.default_rng(1)
    z = rng.standard_normal((400, 3))
    table = pd.DataFrame({"a": z[:, 0], "b": z[:, 1], "ab": z[:, 0] + z[:, 1], "c": z[:, 2]})
    y = z @ [1.0, 0.6, 0.8] + 0.8 * rng.standard_normal(400)
    return RelevanceSelector(random_state=0).fit(table, y).result_
