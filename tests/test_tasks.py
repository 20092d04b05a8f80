"""Every feature works for every kind of target, and the table in docs/tasks.md says so.

A cell of the table is a test: "yes" if the feature works for the task, "no" if it is refused with
an error of ours. A family that is added has to be given a target here, and a column there.
"""

import sys
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import joblib
import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from squamish import CrossfitMethod, InputError, PaperMethod, RelevanceResult, RelevanceSelector
from squamish.cli import app
from squamish.families import FAMILIES
from squamish.fitting import sampling
from squamish.models import sample_size
from squamish.screening import all_rows

mpl.use("Agg")
from matplotlib import pyplot as plt

PAGE = Path(__file__).parents[1] / "docs" / "tasks.md"
N_ROWS = 100
TRUTH = {"strong": 2, "weak": 1, "copy": 1, "noise": 0}
QUICK = PaperMethod(n_null_samples=4, n_estimators=10, p=1e-3, boruta_max_iter=10)


def draw(n, seed=0):
    """A column that matters, one that matters and its copy, and noise; and what they add up to."""
    rng = np.random.default_rng(seed)
    strong, weak, noise = rng.standard_normal((3, n))
    X = pd.DataFrame({"strong": strong, "weak": weak, "copy": 1 - 2 * weak, "noise": noise})
    return X, 2 * strong + 2 * weak, rng


def two_classes(log_odds, rng):
    return pd.Series(np.where(log_odds + 0.5 * rng.logistic(size=len(log_odds)) > 0, "ill", "well"))


def amounts(mean, rng):
    return pd.Series(mean + rng.standard_normal(len(mean)))


def grades(log_odds, rng):
    places = np.searchsorted([-1.5, 1.5], log_odds + 0.5 * rng.logistic(size=len(log_odds)))
    return pd.Series(pd.Categorical.from_codes(places, ["low", "medium", "high"], ordered=True))


def events(log_mean, rng):
    return pd.Series(rng.poisson(np.exp(0.5 + 0.4 * log_mean)))


def times(log_hazard, rng):
    """Times with censoring, as a frame that keeps its rows when some are taken."""
    n = len(log_hazard)
    time, lost = rng.exponential(size=n) * np.exp(-log_hazard), 2 * rng.exponential(size=n)
    return pd.DataFrame({"event": time < lost, "time": np.minimum(time, lost)})


@dataclass(frozen=True)
class Case:
    """A task with a table, and how its target is named in the shell."""

    task: str
    X: pd.DataFrame
    y: Any
    shell: tuple[str, ...]
    learner: Any

    def selector(self, method="crossfit", **settings):
        return RelevanceSelector(method, task=self.task, random_state=0, **settings)

    def classes(self, X, y=None, fit=None, **settings):
        """The verdict by the names of the columns."""
        y = self.y if y is None else y
        fitted = self.selector(**settings).fit(X, y, **(fit or {}))
        result = fitted.result_
        return dict(zip(result.feature_names, result.classes.tolist(), strict=True))

    def file(self, path):
        """A file of columns and target."""
        y = self.y if isinstance(self.y, pd.DataFrame) else self.y.rename("y")
        y = y.astype(str) if y.dtypes is not None and self.task == "ordinal" else y
        table = pl.from_pandas(pd.concat([self.X, y], axis=1))
        table.write_csv(path) if path.suffix == ".csv" else table.write_parquet(path)
        return path


TARGETS = {
    "classification": (two_classes, ("--target", "y"), LogisticRegression()),
    "regression": (amounts, ("--target", "y"), LinearRegression()),
    "ordinal": (grades, ("--target", "y", "--order", "low,medium,high"), LogisticRegression()),
    "counts": (events, ("--target", "y"), LinearRegression()),
    "survival": (times, ("--time", "time", "--event", "event"), LinearRegression()),
}


def case_of(task, n=N_ROWS):
    target, shell, learner = TARGETS[task]
    X, scores, rng = draw(n)
    return Case(task, X, target(scores, rng), ("--task", task, *shell), learner)


@pytest.fixture(scope="module")
def case(request):
    """The table of a task, and the verdict on it."""
    found = case_of(request.param)
    result = found.selector().fit(found.X, found.y).result_
    return found, result


def frames_of_any_library(case, result, tmp_path, monkeypatch):
    assert case.classes(case.X) == TRUTH
    assert case.classes(pl.from_pandas(case.X)) == TRUTH
    assert list(case.classes(case.X.to_numpy()).values()) == list(TRUTH.values())


def files_in_the_shell(case, result, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("table.csv", "table.parquet"):
        path = case.file(tmp_path / name)
        out = tmp_path / path.suffix[1:]
        arguments = ["fit", path, *case.shell, "--out", out, "--reduced", "reduced.csv"]
        assert not app([str(a) for a in arguments], standalone_mode=False)
        saved = RelevanceResult.from_json(out / "result.json")
        assert saved.task == case.task
        assert dict(zip(saved.feature_names, saved.classes.tolist(), strict=True)) == TRUTH
        assert "noise" not in pl.read_csv("reduced.csv").columns


def long_lazy_frames(case, result, tmp_path, monkeypatch):
    monkeypatch.setattr(all_rows, "PORTION", 200)
    monkeypatch.setattr(sampling, "FEW_ROWS", 300)
    monkeypatch.setattr(sample_size, "PILOT", 150)
    monkeypatch.setattr(sample_size, "MOST_ROWS", 300)
    long = case_of(case.task, 600)
    found = long.selector().fit(pl.from_pandas(long.X).lazy(), long.y).result_
    assert found.classes.tolist() == list(TRUTH.values())
    assert found.evidence.n_tested < found.n_samples == 600


def saved_results(case, result, tmp_path, monkeypatch):
    assert RelevanceResult.from_json(result.to_json()) == result
    assert result.task == case.task


def page_and_tables(case, result, tmp_path, monkeypatch):
    page = result.to_html()
    assert all(name in page for name in TRUTH)
    assert FAMILIES[case.task].loss_name in page
    assert result.to_frame("polars")["feature"].to_list() == list(result.to_frame()["feature"])
    assert "copy" in result.to_markdown()
    assert result._repr_html_()


def pictures(case, result, tmp_path, monkeypatch):
    names = ("path", "necessity", "removal", "importances", "shadows", "redundancy")
    for name in names:
        assert getattr(result, f"plot_{name}")() is not None
    assert result.plot_stability([result]) is not None
    plt.close("all")


def words(case, result, tmp_path, monkeypatch):
    for name, relevance in TRUTH.items():
        kind = ("irrelevant", "weak", "strong")[relevance]
        assert f"'{name}' is {kind}" in result.explain(name)
    assert FAMILIES[case.task].loss_name in repr(result)
    assert "No sign of use (irrelevant)" in str(result)


def choices(case, result, tmp_path, monkeypatch):
    assert result.select("strong") == ("strong",)
    assert len(result.select("minimal")) == 2
    assert len(result.select(1)) == 1
    assert {len(columns) for columns in result.signatures} == {2}
    assert len(result.path) >= 2
    assert result.necessity["strong"].least > 0
    assert result.compare(result).same


def checkpoints(case, result, tmp_path, monkeypatch):
    path, steps = tmp_path / "work.bin", count()

    def interrupt(news):
        if next(steps) > 40:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        case.selector(checkpoint=path, callback=interrupt).fit(case.X, case.y)
    again = case.selector(checkpoint=path).fit(case.X, case.y).result_
    assert again.compare(result).same
    assert again.evidence.loss == result.evidence.loss


def time_budgets(case, result, tmp_path, monkeypatch):
    clock = count()
    for name, module in list(sys.modules.items()):
        if name.startswith("squamish.") and hasattr(module, "perf_counter"):
            monkeypatch.setattr(module, "perf_counter", lambda: float(next(clock)))
    found = case.selector(time_budget=30).fit(case.X, case.y).result_
    assert found.undecided
    assert any("time budget" in note for note in found.notes)
    assert RelevanceResult.from_json(found.to_json()) == found


def clusters(case, result, tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=":0", processes=False
        ) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        there = case.selector(n_jobs=2).fit(case.X, case.y).result_
    assert there.evidence.loss == result.evidence.loss
    assert there.compare(result).same


def other_processes(case, result, tmp_path, monkeypatch):
    with joblib.parallel_config(backend="loky", n_jobs=2):
        there = case.selector().fit(case.X, case.y).result_
    assert there.evidence.loss == result.evidence.loss
    assert there.compare(result).same


def audits(case, result, tmp_path, monkeypatch):
    found = case.selector().audit(case.X, case.y, 2)
    assert found.n_shuffles == 2
    assert found.n_found == 0


def half_samples(case, result, tmp_path, monkeypatch):
    found = case.selector(stability=2).fit(case.X, case.y).result_
    assert found.stability.n_finished == 2


def weights(case, result, tmp_path, monkeypatch):
    double = np.r_[np.zeros(20), np.random.default_rng(0).uniform(0.5, 1.5, N_ROWS - 20)]
    found = case.classes(case.X, fit={"sample_weight": double})
    assert found["strong"] > 0
    assert found["noise"] == 0


def groups(case, result, tmp_path, monkeypatch):
    found = case.classes(case.X, fit={"groups": np.arange(N_ROWS) // 2})
    assert found["strong"] > 0
    assert found["noise"] == 0


def gaps_and_categories(case, result, tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    X = case.X.assign(
        strong=case.X["strong"].mask(rng.random(N_ROWS) < 0.1),
        colour=rng.choice(["red", "green", "blue"], N_ROWS),
        town=[f"t{k}" for k in rng.integers(0, 40, N_ROWS)],
    )
    found = case.classes(X)
    assert found["strong"] > 0
    assert found["colour"] == found["town"] == 0


def targets_with_gaps(case, result, tmp_path, monkeypatch):
    y = case.y.copy()
    if isinstance(y, pd.DataFrame):
        y["time"] = y["time"].mask(np.arange(N_ROWS) < 10)
    else:
        y = y.astype(object) if y.dtype.kind in "bU" else y
        y = y.mask(np.arange(N_ROWS) < 10)
    with pytest.raises(InputError, match=r"10 missing values|10 rows"):
        case.selector().fit(case.X, y)
    found = case.selector(missing_target="drop").fit(case.X, y).result_
    assert found.n_samples == N_ROWS - 10
    assert found.classes[0] > 0


def own_splits(case, result, tmp_path, monkeypatch):
    found = case.selector(cv=KFold(3, shuffle=True, random_state=0)).fit(case.X, case.y)
    assert found.relevance_classes_.tolist() == list(TRUTH.values())


def columns_judged_as_one(case, result, tmp_path, monkeypatch):
    found = case.classes(case.X, feature_groups={"both": ["weak", "copy"]})
    assert found == TRUTH | {"weak": 2, "copy": 2}


def false_discovery_rates(case, result, tmp_path, monkeypatch):
    found = case.selector(CrossfitMethod(error_rate="fdr")).fit(case.X, case.y)
    assert found.relevance_classes_.tolist() == list(TRUTH.values())


def adjusting(case, result, tmp_path, monkeypatch):
    # What is a copy of what is adjusted for tells nothing beside it.
    found = case.classes(case.X, adjust_for=["weak"])
    assert found == {"strong": 2, "copy": 0, "noise": 0}


def pipelines(case, result, tmp_path, monkeypatch):
    selector = clone(case.selector(select="minimal"))
    kept = make_pipeline(StandardScaler().set_output(transform="pandas"), selector)
    assert kept.fit_transform(case.X, case.y).shape == (N_ROWS, 2)


def own_learners(case, result, tmp_path, monkeypatch):
    method = CrossfitMethod(learners=(case.learner,))
    found = case.selector(method).fit(case.X, case.y).result_
    assert found.classes[0] > 0


def the_papers_method(case, result, tmp_path, monkeypatch):
    found = case.selector(QUICK).fit(case.X, case.y).result_
    assert found.classes[0] > 0
    assert RelevanceResult.from_json(found.to_json()) == found


FEATURES = {
    "Frames of pandas and polars, arrays": frames_of_any_library,
    "CSV and Parquet files in the shell, `--reduced`": files_in_the_shell,
    "LazyFrames, and a sample of very many rows": long_lazy_frames,
    "`to_json`, `from_json`": saved_results,
    "`to_html`, `to_markdown`, `to_frame`, notebooks": page_and_tables,
    "All pictures": pictures,
    "`explain`, `print(result)`": words,
    "`select`, `path`, `signatures`, `necessity`, `compare`": choices,
    "`checkpoint`": checkpoints,
    "`time_budget`": time_budgets,
    "`n_jobs` in other processes": other_processes,
    "Dask": clusters,
    "`audit`": audits,
    "`stability`": half_samples,
    "`sample_weight`": weights,
    "`groups`": groups,
    "Gaps and categories": gaps_and_categories,
    '`missing_target="drop"`': targets_with_gaps,
    "`cv`": own_splits,
    "`feature_groups`": columns_judged_as_one,
    "`adjust_for`": adjusting,
    '`error_rate="fdr"`': false_discovery_rates,
    "Pipelines, `clone`": pipelines,
    "`learners` of your own": own_learners,
    '`method="paper"`': the_papers_method,
}


def documented():
    """The table of the page: the tasks, and for every feature the cells by task."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line[:1] == "|"]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    tasks = [name.strip("`") for name in rows[0][1:]]
    return tasks, {row[0]: dict(zip(tasks, row[1:], strict=True)) for row in rows[2:]}


def test_the_table_has_every_feature_and_every_task():
    tasks, cells = documented()
    assert tasks == list(FAMILIES)
    assert list(cells) == list(FEATURES)


@pytest.mark.parametrize("case", FAMILIES, indirect=True)
@pytest.mark.parametrize("feature", FEATURES)
def test_what_the_table_says_is_so(feature, case, tmp_path, monkeypatch):
    table, result = case
    said = documented()[1][feature][table.task]
    if said == "yes":
        FEATURES[feature](table, result, tmp_path, monkeypatch)
    else:
        assert said == "no"
        with pytest.raises(InputError):
            FEATURES[feature](table, result, tmp_path, monkeypatch)
