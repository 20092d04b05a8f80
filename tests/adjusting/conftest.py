"""Confounded tables, judged with what confounds adjusted for."""

import pandas as pd
import pytest

from squamish import RelevanceSelector
from squamish.datasets import make_confounded


@pytest.fixture(scope="session")
def confounded():
    """Make a frame in which age explains most columns, and its target."""

    def confounded(n=400, seed=0, **settings):
        problem = make_confounded(n, random_state=seed, **settings)
        return pd.DataFrame(problem.X, columns=problem.feature_names), problem.y

    return confounded


@pytest.fixture(scope="session")
def judged(confounded):
    """A frame, its target, and a selector that was fitted with age adjusted for."""
    X, y = confounded()
    return X, y, RelevanceSelector(adjust_for=["age"], random_state=0).fit(X, y)
