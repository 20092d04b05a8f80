"""Stopping in time, with the best verdict so far."""

import sys
from itertools import count

import numpy as np
import pytest
from rich.console import Console

from squamish import InputError, PaperMethod, RelevanceResult, RelevanceSelector
from squamish.datasets import make_linear
from squamish.report.terminal import show

QUICK = PaperMethod(n_null_samples=8, n_estimators=20, p=1e-3, boruta_max_iter=20)


@pytest.fixture(scope="module")
def problem():
    return make_linear(200, n_strong=2, group_sizes=[3], n_irrelevant=4, random_state=0)


@pytest.fixture
def ticking(monkeypatch):
    """Let the clock go on by a second whenever somebody looks at it."""
    modules = [module for name, module in sys.modules.items() if name.startswith("squamish.")]

    def start():
        clock = count()
        for module in modules:
            if hasattr(module, "perf_counter"):
                monkeypatch.setattr(module, "perf_counter", lambda: float(next(clock)))

    return start


def fit(problem, method="crossfit", **settings):
    return RelevanceSelector(method, random_state=0, **settings).fit(problem.X, problem.y)


@pytest.mark.parametrize("method", ["crossfit", QUICK])
def test_what_is_decided_in_time_stays_so(problem, method, ticking):
    final = fit(problem, method).relevance_classes_
    n_undecided = []
    for budget in (1, 10, 40, *range(80, 170, 6), 1000):
        ticking()
        result = fit(problem, method, time_budget=budget).result_
        decided = ~result.evidence.undecided
        assert np.array_equal(result.classes[decided], final[decided]), budget
        assert RelevanceResult.from_json(result.to_json()) == result
        if result.undecided:
            assert any("time budget" in note for note in result.notes)
        assert result.to_html()
        for name in result.feature_names:
            assert result.explain(name)
        n_undecided.append(len(result.undecided))
    assert n_undecided[0] == 9
    assert n_undecided[-1] == 0
    assert len(set(n_undecided)) > 2
    assert n_undecided == sorted(n_undecided, reverse=True)


@pytest.mark.parametrize("method", ["crossfit", QUICK])
def test_with_a_checkpoint_it_goes_on(problem, method, ticking, tmp_path):
    plain = fit(problem, method).result_
    path = tmp_path / "work"
    rounds, late = 0, True
    while late:
        ticking()
        result = fit(problem, method, time_budget=40, checkpoint=path).result_
        rounds, late = rounds + 1, any("time budget" in note for note in result.notes)
    assert rounds > 2
    assert plain.compare(result).same
    assert plain.evidence.substitutes == result.evidence.substitutes
    assert np.array_equal(plain.evidence.removal_loss, result.evidence.removal_loss, equal_nan=True)


def test_whenever_the_time_is_used_up_the_checkpoint_goes_on(problem, tmp_path):
    plain = fit(problem).result_
    for budget in np.linspace(0.05, 0.7, 10):
        path = tmp_path / f"{budget}"
        fit(problem, time_budget=budget, checkpoint=path)
        result = fit(problem, checkpoint=path).result_
        assert np.array_equal(
            plain.evidence.removal_loss, result.evidence.removal_loss, equal_nan=True
        )


def test_undecided_columns_are_told(problem, ticking):
    ticking()
    result = fit(problem, time_budget=10).result_
    assert "(9 undecided)" in repr(result)
    assert "This is a best guess: the time was used up" in result.explain("0")
    assert result.to_frame()["undecided"].all()
    assert "were used up during 'screen for relevance': 9 columns are undecided" in str(
        result.notes
    )


def test_no_column_is_called_strong_before_the_test_that_could_deny_it(ticking):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 6))
    # What others tell most of takes a refit.
    X[:, 1] = X[:, 0] + 0.4 * X[:, 1]
    y = X[:, 0] + X[:, 1] + X[:, 2] + 0.5 * rng.standard_normal(200)
    final = RelevanceSelector(random_state=0).fit(X, y).relevance_classes_
    assert (final == 2).any()
    open_still = []
    for budget in range(140, 320, 20):
        ticking()
        result = RelevanceSelector(random_state=0, time_budget=budget).fit(X, y).result_
        undecided = result.evidence.undecided
        assert not (undecided & (result.classes == 2)).any(), budget
        assert np.array_equal(result.classes[~undecided], final[~undecided])
        open_still.append(undecided.sum())
    # Irrelevant columns are decided, and relevant ones not yet.
    assert 3 in open_still


def test_undecided_columns_are_marked_wherever_classes_are_named(problem, ticking, capsys):
    for budget in range(40, 200, 5):
        ticking()
        result = fit(problem, time_budget=budget).result_
        guessed = [name for name in result.weak if name in result.undecided]
        if guessed:
            break
    show(result, Console(width=120))
    printed = capsys.readouterr().out
    assert f"{guessed[0]:8}weak ?" in printed
    assert "? undecided for want of time: the class is a best guess" in printed
    assert f"| {guessed[0]} | weak ? |" in result.to_markdown()
    assert "undecided for want of time" in str(result)
    assert "undecided for want of time" in result._repr_html_()
    assert "undecided" not in str(fit(problem).result_)


@pytest.mark.parametrize("method", ["crossfit", QUICK])
def test_the_budget_holds_while_the_table_is_put_in_order(problem, method, ticking):
    ticking()
    X = np.column_stack([problem.X, np.ones(200)])
    result = RelevanceSelector(method, random_state=0, time_budget=1).fit(X, problem.y).result_
    assert "were used up during 'reading the table': 10 columns are undecided" in str(result.notes)
    assert result.undecided == result.feature_names
    assert "the time was used up" in result.explain("0")
    assert "two different values" not in result.explain("0")
    assert RelevanceResult.from_json(result.to_json()) == result
    assert result.to_html()


def test_an_audit_without_time_to_prepare_judges_nothing(problem):
    selector = RelevanceSelector(random_state=0, time_budget=1e-9)
    found = selector.audit(problem.X, problem.y, n_shuffles=3)
    assert (found.shuffles, found.n_unfinished) == ((), 3)


@pytest.mark.parametrize("budget", [0, -1, "1"])
def test_a_budget_must_be_some_time(problem, budget):
    with pytest.raises(InputError, match=f"time_budget is {budget!r}; it must be a number above 0"):
        fit(problem, time_budget=budget)
