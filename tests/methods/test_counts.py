"""Counts of events: verdicts, dispersion, exposures."""

import numpy as np
import pytest

from squamish import CrossfitMethod, InputError, RelevanceSelector
from squamish.datasets import load_problem, make_counts


def fitted(X, y, fit=None, method="crossfit", **settings):
    selector = RelevanceSelector(method, task="counts", random_state=0, **settings)
    return selector.fit(X, y, **(fit or {})).result_


@pytest.mark.parametrize("name", ["counts", "counts, product", "counts in clusters"])
def test_problems_with_known_truth_are_solved(name):
    problem = load_problem(name, shuffle=True, random_state=1)
    assert fitted(problem.X, problem.y).classes.tolist() == problem.classes.tolist()


def test_clusters_of_events_make_no_noise_relevant():
    n_found = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        y = rng.poisson(3 * rng.gamma(0.3, 1 / 0.3, 200))
        X = np.column_stack([rng.standard_normal((200, 6)), rng.random(200) < 0.1])
        n_found += bool((fitted(X, y, method=CrossfitMethod(alpha=0.05)).classes > 0).any())
    assert n_found <= 2


def draw_exposed(seed=0, n=300):
    """A column that does something to rates, and one that tells exposures alone."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    exposure = np.exp(X[:, 1])
    return X, rng.poisson(exposure * np.exp(0.7 * X[:, 0])), exposure


def test_what_tells_exposures_alone_is_irrelevant_given_them():
    X, y, exposure = draw_exposed()
    assert fitted(X, y).classes[1] == 2
    assert fitted(X, y, {"exposure": exposure}).classes.tolist() == [2, 0, 0, 0]


def test_only_ratios_of_exposures_count():
    X, y, exposure = draw_exposed()
    hours, days = (fitted(X, y, {"exposure": e}) for e in (24 * exposure, exposure))
    assert hours.evidence.loss == pytest.approx(days.evidence.loss, rel=1e-9)
    same = fitted(X, y, {"exposure": np.full(len(y), 3.0)})
    assert same.evidence.loss == fitted(X, y).evidence.loss


def test_rows_without_an_exposure_have_no_target():
    X, y, exposure = draw_exposed()
    exposure[:5] = np.nan
    with pytest.raises(InputError, match=r"y has 5 missing values"):
        fitted(X, y, {"exposure": exposure})
    assert fitted(X, y, {"exposure": exposure}, missing_target="drop").n_samples == 295


def test_exposures_are_shuffled_with_their_counts():
    X, y, exposure = draw_exposed(n=100)
    selector = RelevanceSelector(task="counts", random_state=0)
    assert selector.audit(X, y, n_shuffles=3, exposure=exposure).n_found == 0


def test_learners_and_the_paper_know_no_exposure():
    from sklearn.linear_model import PoissonRegressor

    X, y, exposure = draw_exposed()
    method = CrossfitMethod(learners=(PoissonRegressor(),))
    assert fitted(X, y, method=method).classes[0] == 2
    with pytest.raises(InputError, match=r"PoissonRegressor\(\), which knows no exposure"):
        fitted(X, y, {"exposure": exposure}, method=method)
    with pytest.raises(InputError, match=r"method='paper' knows no exposure"):
        fitted(X, y, {"exposure": exposure}, method="paper")


def test_counts_have_to_be_asked_for():
    problem = make_counts(200, n_irrelevant=2, mean=20.0, random_state=0)
    result = RelevanceSelector(random_state=0).fit(problem.X, problem.y).result_
    assert result.task == "regression"
    assert any("task='counts'" in note for note in result.notes)
