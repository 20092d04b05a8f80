"""Problems whose target is a time until an event, or a count."""

import numpy as np
import polars as pl
import pytest

from squamish.cli import app
from squamish.datasets import OUTCOMES, load_problem, make_counts, make_survival
from squamish.errors import InputError


@pytest.mark.parametrize("name", OUTCOMES)
def test_the_same_seed_gives_the_same_problem(name):
    first, again = (load_problem(name, shuffle=True, random_state=3) for _ in range(2))
    assert np.array_equal(first.y, again.y)
    assert np.bincount(first.classes).tolist() == [10, 3, 3]
    assert first.task in ("survival", "counts")


@pytest.mark.parametrize("censored", [0.0, 0.3, 0.7])
def test_as_many_rows_are_lost_as_was_asked_for(censored):
    y = make_survival(1000, censored=censored, random_state=0).y
    assert np.mean(~y["event"]) == pytest.approx(censored, abs=1e-3)
    assert y["time"].min() > 0


def test_rates_grow_with_informative_columns():
    problem = make_survival(2000, n_strong=1, n_irrelevant=1, censored=0.0, random_state=0)
    ranks = problem.y["time"].argsort().argsort()
    assert np.corrcoef(problem.X[:, 0], ranks)[0, 1] < -0.4
    assert abs(np.corrcoef(problem.X[:, 1], ranks)[0, 1]) < 0.1


def test_rows_are_lost_by_the_first_irrelevant_column():
    problem = make_survival(2000, n_strong=1, n_irrelevant=2, lost_by=2.0, random_state=0)
    lost = ~problem.y["event"]
    assert problem.X[lost, 1].mean() > 0.3
    assert abs(problem.X[lost, 2].mean()) < 0.1


def test_counts_vary_as_their_dispersion_says():
    for dispersion in (0.0, 0.5):
        problem = make_counts(
            20_000, n_strong=1, effect=0.0, mean=4.0, dispersion=dispersion, random_state=0
        )
        assert problem.y.mean() == pytest.approx(4, rel=0.03)
        assert problem.y.var() == pytest.approx(4 + dispersion * 16, rel=0.06)


@pytest.mark.parametrize(
    ("make", "settings", "message"),
    [
        (make_survival, {"censored": 1.0}, r"censored is 1.0; it must be a number at least 0"),
        (make_survival, {"lost_by": 1.0}, r"lost_by needs an irrelevant column"),
        (make_survival, {"n_strong": 1, "interaction": True}, r"takes two informative columns"),
        (make_counts, {"mean": 0.0}, r"mean is 0.0; it must be a number above 0"),
        (make_counts, {"dispersion": -1.0}, r"dispersion is -1.0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(make, settings, message):
    with pytest.raises(InputError, match=message):
        make(**settings)


def test_times_are_two_columns_of_a_file(tmp_path, capsys):
    path = tmp_path / "times.csv"
    app(["generate", "times, 30% censored", str(path)], standalone_mode=False)
    assert "target columns: event, time" in capsys.readouterr().out
    assert pl.read_csv(path).columns[-2:] == ["event", "time"]
