"""Verdicts to draw and to print, and pictures that are closed again."""

from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

mpl.use("Agg")

from matplotlib import pyplot as plt

from squamish import RelevanceSelector
from squamish.datasets import make_linear

NAMES = ("$a_b$ in US$", "<script>alert(1)</script>", "w0", "w1", "w2", "身長", "n0", "n1", "n2")
HOSTILE = (
    "<script>document.title='hacked'</script>",
    "</script><img src=x onerror=document.title='hacked'>",
    "\"><svg onload=document.title='hacked'>",
    "{{ 7 * 7 }} {% raw %}",
    "a & b &lt; c",
    "javascript:alert(1)",
    "\u202egnp.exe",
    "'; DROP TABLE --",
)


@pytest.fixture(scope="session")
def problem():
    return make_linear(300, n_strong=2, group_sizes=[4], n_irrelevant=3, random_state=0)


@pytest.fixture(scope="session")
def result(problem):
    table = pd.DataFrame(problem.X, columns=NAMES)
    table["constant"] = 1.0
    return RelevanceSelector(random_state=0).fit(table, problem.y).result_


@pytest.fixture(scope="session")
def paper(problem):
    table = pd.DataFrame(problem.X, columns=NAMES)
    return RelevanceSelector(random_state=0, method="paper").fit(table, problem.y).result_


@pytest.fixture(scope="session")
def wide():
    """300 columns: 40 noisy copies of one, a strong one, and noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 300))
    X[:, 1:40] = X[:, :1] + 0.2 * rng.standard_normal((80, 39))
    y = 3 * X[:, 0] + 3 * X[:, 50] + 0.1 * rng.standard_normal(80)
    table = pd.DataFrame(X, columns=[f"gene {i:03d}" for i in range(300)])
    return RelevanceSelector(random_state=0).fit(table, y).result_


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="session")
def thousand():
    """A verdict on 1,000 columns in modules, with names of some length."""
    rng = np.random.default_rng(0)
    modules = np.repeat(rng.standard_normal((150, 100)), 10, axis=1)
    X = modules + 0.4 * rng.standard_normal((150, 1000))
    y = X[:, 0] + X[:, 15] + X[:, 22] + 0.3 * rng.standard_normal(150)
    names = [f"ENSG{j:011d}_expression" for j in range(1000)]
    return RelevanceSelector(random_state=0).fit(pd.DataFrame(X, columns=names), y).result_


@pytest.fixture(scope="session")
def all_relevant():
    """A verdict on 120 columns, all relevant, in groups of which some are needed together."""
    rng = np.random.default_rng(0)
    modules = rng.standard_normal((200, 4))
    X = np.repeat(modules, 30, axis=1) + 0.4 * rng.standard_normal((200, 120))
    y = modules.sum(axis=1) + 0.5 * rng.standard_normal(200)
    table = pd.DataFrame(X, columns=[f"ENSG{j:011d}_expression" for j in range(120)])
    return RelevanceSelector(random_state=0).fit(table, y).result_


@pytest.fixture(scope="session")
def hostile(patients):
    """The verdict on columns whose names would like to be markup or code."""
    names = (*HOSTILE, *patients.feature_names[len(HOSTILE) :])
    return replace(patients, columns=replace(patients.columns, names=names))
