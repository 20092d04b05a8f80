"""Simulated targets need the columns they are made from, and the page says what came of it."""

import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss

import collection
import hidimstat_tests
import worth
import worth_columns
import worth_fits
import worth_nested
import worth_tables
from journal import Journal
from worth_fits import OURS, REGRESSION, Fit
from worth_nested_page import is_worse
from worth_page import page
from worth_tables import CHAMMA, MADELON, REAL, REAL_KINDS, Known


def independent_columns(n_rows=300):
    """Amounts, counts and a category that do not tell each other."""
    rng = np.random.default_rng(0)
    amounts = {f"amount {i}": rng.standard_normal(n_rows) for i in range(6)}
    counts = {f"count {i}": rng.integers(0, 3, n_rows) for i in range(2)}
    return pd.DataFrame({**amounts, **counts, "level": rng.choice(list("abcd"), n_rows)})


@pytest.fixture
def shelf(monkeypatch):
    """A table called "own", which tests may change."""
    tables = {"own": independent_columns()}
    monkeypatch.setitem(worth_tables.SKLEARN, "own", lambda: tables["own"])
    return tables


@pytest.mark.parametrize("kind", REAL_KINDS)
def test_a_simulated_target_is_made_from_its_support_alone(shelf, kind, monkeypatch):
    # These columns do not tell each other, and to find that out takes a while.
    monkeypatch.setattr(worth_tables, "explained", lambda *_: 0.0)
    known = worth_tables.simulated("own", kind)
    assert known.strong.sum() == 5
    rng = np.random.default_rng(1)
    for name, needed in zip(known.names, known.strong, strict=True):
        original = shelf["own"]
        shuffled = rng.permutation(original[name].to_numpy())
        shelf["own"] = original.assign(**{name: shuffled})
        again = worth_tables.simulated("own", kind)
        assert again.strong.tolist() == known.strong.tolist()
        assert np.array_equal(again.y, known.y) != needed
        shelf["own"] = original


def test_both_targets_of_a_model_are_made_from_the_same_columns(shelf):
    amounts, classes = (worth_tables.simulated("own", kind) for kind in REAL_KINDS[:2])
    assert (amounts.task, classes.task) == ("regression", "classification")
    assert amounts.strong.tolist() == classes.strong.tolist()
    assert np.bincount(classes.y).tolist() == [150, 150]


def test_columns_that_others_tell_are_not_drawn():
    frame = independent_columns()
    rng = np.random.default_rng(1)
    school = rng.integers(0, 20, len(frame))
    weight, height = rng.uniform(50, 90, len(frame)), rng.uniform(1.5, 2, len(frame))
    told = frame.assign(
        copy=frame["amount 0"],
        total=frame["amount 1"] + frame["amount 2"],
        cubed=frame["amount 3"] ** 3,
        weight=weight,
        height=height,
        index=weight / height**2,
        school=school,
        size=rng.permutation(20)[school] ** 2.0,
    )
    assert worth_tables.untold(frame) == list(frame.columns)
    of_nobody = ["amount 4", "amount 5", "count 0", "count 1", "level"]
    assert worth_tables.untold(told) == of_nobody
    with pytest.raises(ValueError, match="1 columns are not told by others; 5 are needed"):
        worth_tables.drawn_signals(told[["copy", "amount 0", "level"]], rng)


def test_columns_with_gaps_or_one_common_value_are_not_drawn():
    frame = independent_columns()
    frame.loc[0, "amount 0"] = np.nan
    frame["rare"] = np.arange(len(frame)) < 10
    assert set(worth_tables.candidates(frame)) == set(frame.columns) - {"amount 0", "rare"}


@pytest.mark.parametrize("name", worth_tables.RDATASETS)
def test_real_tables_are_of_our_half_and_of_the_size_that_is_told(name):
    assert collection.is_ours(name)
    n_rows, n_columns = worth_tables.real_columns(name).shape
    assert 200 <= n_rows <= 3000
    assert 20 <= n_columns <= 60


@pytest.mark.parametrize("clusters", worth_tables.CLUSTERS.values())
def test_five_columns_tell_all_relevant_ones_of_madelon(clusters):
    known = worth_tables.madelon(clusters, 0, n_rows=200, n_columns=40)
    assert known.relevant.sum() == 20
    assert not known.strong.any()
    X = known.X - known.X.mean(axis=0)
    assert np.linalg.matrix_rank(X[:, known.relevant]) == 5
    for j in np.flatnonzero(known.relevant):
        assert np.linalg.matrix_rank(X[:, known.relevant & (np.arange(40) != j)]) == 5
    assert np.linalg.matrix_rank(X) == 25
    # Columns are not in the order in which they were made.
    assert not known.relevant[:20].all()


def test_designs_have_twenty_signals_among_fifty_columns():
    known = worth_tables.draw(CHAMMA, "classification", "", 0)
    assert (known.X.shape, known.strong.sum(), known.task) == ((1000, 50), 20, "classification")
    assert not (known.strong & ~known.relevant).any()


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_a_regression_tests_columns_of_any_type_given_all_others(task):
    frame = independent_columns(600)
    frame["half told"] = frame["amount 0"] + frame["amount 1"]
    frame.loc[::7, "count 0"] = np.nan
    y = frame["amount 2"] - frame["amount 3"] + 2.0 * (frame["level"] == "b") + frame["amount 0"]
    y = (y + np.random.default_rng(1).standard_normal(600)).to_numpy()
    y = y if task == "regression" else (y > 0).astype(int)
    called = worth_columns.regression_with_holm(frame, y, task, 0.01)
    # What a linear function of others tells is told by these.
    assert list(frame.columns[called]) == ["amount 2", "amount 3", "level"]


def test_columns_without_a_score_are_ranked_last():
    truth = np.array([True, True, False, False])
    assert worth_fits.auc(truth, np.array([0.2, -0.1, np.nan, np.nan])) == 1
    assert worth_fits.auc(truth, np.array([0.2, np.nan, 0.1, np.nan])) == 0.625
    assert np.isnan(worth_fits.auc(~truth & truth, np.zeros(4)))


def test_rivals_are_rated_with_our_error_rate_and_by_their_own_default():
    strong = np.array([True, True, True, False])
    known = Known(np.zeros((9, 4)), np.zeros(9), "regression", strong)
    answer = {
        "selected": [True, True, False, True],
        "scores": [3.0, 2.0, 0.5, 1.0],
        "p_values": [1e-9, 0.02, float("nan"), 0.04],
        "seconds": 2.0,
    }
    row = worth_fits.rate_rival(known, answer)
    assert (row["present"], row["called"], row["found"], row["false"]) == (3, 1, 1, 0)
    assert (row["uncorrected found"], row["uncorrected false"]) == (2, 1)
    assert row["AUC"] == pytest.approx(2 / 3)
    row = worth_fits.rate_rival(known, answer | {"p_values": None})
    assert (row["found"], row["false"], row["false names"]) == (2, 1, "x3")
    assert np.isnan(row["uncorrected found"])
    row = worth_fits.rate_rival(known, {"error": "ValueError: no\nmore"})
    assert (row["called"], row["status"]) == (0, "failed: ValueError: no more")


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_hidimstat_is_asked_with_a_loss_for_the_task(monkeypatch, task):
    asked = {}

    class Importance:
        pvalues_ = np.array([0.01, 0.5])

        def __init__(self, learner, folds, **settings):
            asked.update(settings, n_folds=folds.get_n_splits(), learner=learner)

        def fit_importance(self, X, y):
            return np.array([[1.0, 3.0], [0.0, 0.0]])

        def pvalue_selection(self):
            return self.pvalues_ < 0.05

    monkeypatch.setitem(sys.modules, "hidimstat", SimpleNamespace(CFICV=Importance))
    X, y = np.zeros((10, 2)), np.arange(10) % 2
    selected, scores, p_values = hidimstat_tests.TESTS["CFI, boosting"](X, y, task, 7)
    assert (selected.tolist(), scores.tolist()) == ([True, False], [2.0, 0.0])
    assert p_values is Importance.pvalues_
    assert (asked["n_folds"], asked["random_state"]) == (5, 7)
    assert (asked.get("loss"), asked.get("method")) == (
        (log_loss, "predict_proba") if task == "classification" else (None, None)
    )


def test_squamish_and_a_regression_find_what_is_linear():
    for name in (OURS, REGRESSION):
        row = worth_fits.judge(REAL, "wine", "linear, amounts", 0, name)
        assert (row["status"], row["present"], row["false"]) == ("", 5, 0)
        assert row["found"] >= 4


def test_a_run_goes_on_where_it_was_stopped(tmp_path):
    journal = Journal(tmp_path / "worth.csv", worth_fits.KEY, worth_fits.MEASURED)
    wanted = [Fit(REAL, "wine", kind, 0, REGRESSION) for kind in REAL_KINDS[:2]]
    assert worth_fits.run(journal, wanted[:1], jobs=1, seconds=60) == set()
    first = journal.path.read_text()
    assert worth_fits.missing(journal, wanted, 60) == wanted[1:]
    worth_fits.run(journal, wanted, jobs=1, seconds=60)
    assert journal.path.read_text().startswith(first)
    assert worth_fits.missing(journal, wanted, 60) == []


def test_who_cannot_be_installed_is_named_and_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(worth_fits, "absent", lambda names, jobs: set(names))
    journal = Journal(tmp_path / "worth.csv", worth_fits.KEY, worth_fits.MEASURED)
    fit = Fit(CHAMMA, "linear", "", 0, "CFI, lasso")
    absent = worth_fits.run(journal, [fit], jobs=1, seconds=60)
    assert absent == {"CFI, lasso"}
    assert journal.rows() == []
    assert "**Could not be installed here: CFI, lasso.**" in "\n".join(page([], [], absent))


def test_every_part_has_fits_and_the_quick_form_a_few_of_them(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["worth.py"])
    everything = worth.wanted_fits(worth.arguments())
    assert {fit.part for fit in everything} == {CHAMMA, REAL, MADELON}
    n_rivals = 6 * 5 * 10
    assert len([fit for fit in everything if fit.part == CHAMMA]) == n_rivals
    monkeypatch.setattr(sys, "argv", ["worth.py", "--quick"])
    quick = worth.wanted_fits(worth.arguments())
    assert set(quick) < set(everything)
    assert {fit.part for fit in quick} == {CHAMMA, REAL, MADELON}
    assert {fit.table for fit in worth.wanted_nested(worth.arguments())} == {"wine", "diabetes"}
    monkeypatch.setattr(sys, "argv", ["worth.py", "--parts"])
    assert worth.wanted_fits(worth.arguments()) == []
    assert worth.wanted_nested(worth.arguments()) == []


def fit_line(part, table, kind="", contestant=OURS, seed=0, **measured):
    row = dict.fromkeys(worth_fits.MEASURED, np.nan) | {"learner": "", "status": ""}
    named = {"part": part, "table": table, "kind": kind, "seed": seed, "contestant": contestant}
    sizes = {"rows": 1000, "columns": 50, "false": 0, "false names": "", "seconds": 2.0}
    return {**named, **row, **sizes, **measured}


def test_the_page_has_power_false_columns_and_what_is_printed():
    counts = {"present": 20, "called": 15}
    rows = [
        fit_line(CHAMMA, "ReLU", found=15, AUC=0.9, **counts),
        fit_line(CHAMMA, "ReLU", seed=1, found=14, false=1, AUC=1.0, **counts),
        fit_line(
            CHAMMA,
            "ReLU",
            contestant="CFI, lasso",
            found=2,
            **{"uncorrected found": 10, "uncorrected false": 3, "AUC": 0.8},
            **counts,
        ),
    ]
    text = "\n".join(page(rows, []))
    ours = "| ReLU | squamish | 2 | 0.725 ± 0.025 | 1 of 2 | 1 | - | - | - | 0.950 ± 0.050 | 2.0 |"
    assert ours in text
    rival = "| ReLU | CFI, lasso | 1 | 0.100 | 0 of 1 | 0 | 0.500 | 1 of 1 | 0.100 | 0.800 | 2.0 |"
    assert rival in text
    assert "| ReLU | LOCO, lasso | not run |" in text
    assert "| ReLU | CPI, deep network (printed) | - | - | - | - | 0.783 |" in text
    assert "| linear |" not in text


def test_the_page_has_real_tables_by_kind_and_by_name():
    counts = {"present": 5, "called": 5}
    rows = [
        fit_line(REAL, "wine", "linear, amounts", found=5, **counts),
        fit_line(REAL, "digits", "linear, amounts", found=3, **counts)
        | {"false": 2, "false names": "a|b c"},
        fit_line(REAL, "wine", "linear, amounts", REGRESSION, found=4, **counts),
        fit_line(REAL, "wine", "additive, amounts", found=0, **counts, status="over 60 s"),
    ]
    text = "\n".join(page(rows, []))
    assert "| linear, amounts | squamish | 2 | 0.800 ± 0.200 | 2 | 1 | 0.500 |" in text
    assert "| linear, amounts | regression, Holm | 1 | 0.800 | 0 | 0 | 0.000 |" in text
    assert "| wine | 1,000 | 50 | 5 | not run | 0 (over 60 s) |" in text
    assert "| digits | 1,000 | 50 | 3, 2 false |" in text
    assert "| digits | linear, amounts | a\\|b c |" in text


def test_the_page_has_the_minimal_set_of_madelon():
    losses = {"loss": 0.2, "minimal loss": 0.25, "constant loss": 0.69}
    found = {"relevant found": 20, "relevant false": 1, "called": 2, "minimal": 6}
    text = "\n".join(page([fit_line(MADELON, MADELON, "32 clusters", **found, **losses)], []))
    assert "| 32 clusters | 1 | 20.0 | 1 | 2 | 6.0 | 0.250 | 0.200 | 0.690 | 2.0 |" in text


def nested_line(fold, selection, score, selected=3, status=""):
    named = {"table": "wine", "fold": fold, "selection": selection}
    size = {"task": "classification", "rows": 178, "columns": 13, "selected": selected}
    return {**named, **size, "boosted trees": score, "linear model": 0.5, "seconds": 1.5} | {
        "status": status
    }


def test_selections_are_compared_fold_by_fold_and_losses_marked():
    rows = [nested_line(fold, "all columns", score) for fold, score in enumerate([0.5, 0.9])]
    rows += [nested_line(fold, "relevant", score) for fold, score in enumerate([0.4, 0.79])]
    rows += [nested_line(fold, "minimal", score) for fold, score in enumerate([0.4, 0.99])]
    rows += [nested_line(fold, "lasso", np.nan, np.nan, "over 60 s") for fold in range(2)]
    text = "\n".join(page([], rows))
    line = next(line for line in text.splitlines() if line.startswith("| wine, 178 rows"))
    assert "| 0.700 ± 0.200 (13) | -0.105 ± 0.005 (3.0) **worse** |" in line
    assert "| -0.005 ± 0.095 (3.0) | not run | not run | over 60 s (-) | not run |" in line


def test_selections_that_are_as_good_are_counted():
    rows = [nested_line(fold, "all columns", score) for fold, score in enumerate([0.5, 0.9])]
    rows += [nested_line(fold, "minimal", score) for fold, score in enumerate([0.4, 0.79])]
    text = "\n".join(page([], rows))
    line = next(line for line in text.splitlines() if line.startswith("| minimal |"))
    # .105 below: within the .2 of the score of all columns, beyond the .005 of the difference.
    assert line.startswith("| minimal | 1 of 1 | 0 of 1 | 1 of 1 | 1 of 1 | 23% |")


def test_worse_is_below_zero_by_more_than_a_standard_error():
    assert is_worse([-0.1, -0.1, -0.2])
    assert not is_worse([-0.1, 0.1, -0.05])
    assert not is_worse([0.1, 0.1, 0.2])
    assert not is_worse([-0.1])


@pytest.mark.parametrize("table", worth_nested.TABLES)
def test_tables_of_the_nested_part_may_be_looked_at_and_have_their_target(table):
    source = worth_nested.TABLES[table]
    if isinstance(source, worth_nested.Source):
        assert collection.is_ours(source.name)
    X, y, task = worth_nested.load(table)
    assert len(X) == len(y) <= worth_nested.MOST_ROWS
    assert np.isfinite(y).all()
    of_classes = {"wine", "breast cancer", "attrition", "loanapp", "cells"}
    of_classes |= {"credit_data", "mlc_churn"}
    assert (task == "classification") == (table in of_classes)
    if isinstance(source, worth_nested.Source):
        assert not {source.target, *source.without} & set(X.columns)


def test_columns_are_selected_in_the_training_part_alone(monkeypatch):
    seen = {}

    def nobody(frame, y, task):
        seen.update(frame=frame, y=y)
        return {"lasso": []}

    monkeypatch.setitem(worth_nested.SELECTORS, "lasso", nobody)
    (row,) = worth_nested.judge("diabetes", 1, "lasso")
    X, y, task = worth_nested.load("diabetes")
    train, test = worth_nested.split(y, task, 1)
    assert not set(train) & set(test)
    assert len(train) + len(test) == len(y)
    assert seen["y"].tolist() == y[train].tolist()
    assert seen["frame"].to_numpy().tolist() == X.iloc[train].to_numpy().tolist()
    # Without a column there is the mean of the training part, which tells nothing.
    assert row["selected"] == 0
    assert -0.1 < row["boosted trees"] <= 0


def test_a_selection_that_fails_has_no_score(monkeypatch):
    def fails(*_):
        raise ValueError("no\nluck")

    monkeypatch.setitem(worth_nested.SELECTORS, "RFECV", fails)
    (row,) = worth_nested.judge("wine", 0, "RFECV")
    assert row["status"] == "failed: ValueError: no luck"
    assert np.isnan(row["boosted trees"])


def test_every_selector_is_asked_once_in_every_fold(tmp_path):
    journal = Journal(tmp_path / "nested.csv", worth_nested.KEY, worth_nested.MEASURED)
    wanted = [fit for fit in worth_nested.fits(["diabetes"]) if fit.fold == 0]
    assert [fit.selector for fit in wanted] == ["all columns", "squamish", "lasso", "RFECV"]
    worth_nested.run(journal, wanted, jobs=1, seconds=60)
    rows = {row["selection"]: row for row in journal.rows()}
    assert set(rows) == {"all columns", "relevant", "minimal", "cover", "strong", "lasso", "RFECV"}
    assert rows["all columns"]["selected"] == 10
    assert rows["strong"]["selected"] <= rows["minimal"]["selected"] <= 10
    assert all(row["status"] == "" and row["boosted trees"] > 0.1 for row in rows.values())
    assert worth_nested.missing(journal, wanted, 60) == []
    assert worth_nested.missing(journal, [worth_nested.Fit("diabetes", 1, "lasso")], 60)


def test_a_question_over_the_limit_is_asked_again_if_there_is_more_time(tmp_path):
    journal = Journal(tmp_path / "nested.csv", worth_nested.KEY, worth_nested.MEASURED)
    fit = worth_nested.Fit("diabetes", 0, "squamish")
    worth_nested.run(journal, [fit], jobs=1, seconds=0.01)
    assert {row["status"] for row in journal.rows()} == {"over 0.01 s"}
    assert worth_nested.missing(journal, [fit], 0.01) == []
    assert worth_nested.missing(journal, [fit], 60) == [fit]
