"""Ordered classes: exact verdicts, more power along the order, and nothing in noise."""

import numpy as np
import pytest

from squamish import InputError, PaperMethod, RelevanceSelector
from squamish.datasets import ORDERED, load_problem, make_ordinal
from squamish.families import family_of
from squamish.screening.marginal import marginal_p_values


def verdict(X, y, task="ordinal", **settings):
    return RelevanceSelector(task=task, random_state=0, **settings).fit(X, y)


@pytest.mark.parametrize("name", ["ordered 300 x 17, five classes", "ordered noise 300 x 30"])
def test_the_verdict_is_exact_on_tables_with_known_truth(name):
    problem = load_problem(name, shuffle=True, random_state=1)
    found = verdict(problem.X, problem.y).relevance_classes_
    assert found.tolist() == problem.classes.tolist()


def test_every_ordered_problem_can_be_made():
    for name in ORDERED:
        problem = load_problem(name, random_state=0)
        assert problem.task == "ordinal"
        assert np.array_equal(np.unique(problem.y), np.arange(problem.y.max() + 1))


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"shares": (1,)}, "shares has 1 class; it must have two or more"),
        ({"shares": (1, 0)}, "a class's share is 0; it must be a number above 0"),
        ({"signal": -1}, "signal is -1; it must be a number at least 0"),
    ],
)
def test_what_makes_no_classes_is_refused(parameters, said):
    with pytest.raises(InputError, match=said):
        make_ordinal(**parameters)


def shifted(n_columns, slope, shares=(1, 1, 1, 1, 1), n=150):
    """A class that each of many columns shifts a little, by itself."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(len(shares)), np.multiply(shares, n // sum(shares)))
    centred = (y - y.mean()) / y.std()
    return slope * centred[:, np.newaxis] + rng.standard_normal((len(y), n_columns)), y


def test_shifts_along_the_order_are_found_more_often_than_without_it():
    X, y = shifted(200, 0.25)
    ordered, plain = (
        marginal_p_values(X, y, family_of(task)) for task in ("ordinal", "classification")
    )
    assert np.mean(ordered < 0.01) > np.mean(plain < 0.01) + 0.15


@pytest.mark.parametrize("bent", [False, True])
def test_what_does_not_follow_the_order_is_strong_by_a_model_without_it(bent):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), 60)
    ends = 1.5 * np.isin(y, [0, 3]) + rng.standard_normal(240)
    # Rows of the ends lie at both sides of the others, so that only a curve or trees tell them.
    ends = ends * rng.choice([-1, 1], 240) if bent else ends
    result = verdict(np.column_stack([ends, rng.standard_normal(240)]), y).result_
    assert result.classes.tolist() == [2, 0]
    assert "without order" in result.evidence.learner


def test_what_follows_the_order_is_judged_by_models_of_a_shift():
    problem = make_ordinal(300, n_strong=2, n_irrelevant=2, random_state=0)
    assert "without order" not in verdict(problem.X, problem.y).result_.evidence.learner


@pytest.mark.parametrize("shares", [(1, 1, 1), (12, 2, 1)])
def test_p_values_of_noise_are_uniform_also_of_rare_flags(shares):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), np.multiply(shares, 60 // sum(shares) * 3))
    flags = (rng.random((len(y), 1000)) < 0.03).astype(float)
    counts = rng.poisson(0.2, (len(y), 1000)).astype(float)
    for X in (flags[:, np.ptp(flags, axis=0) > 0], counts, rng.standard_normal((len(y), 1000))):
        p = marginal_p_values(X, y, family_of("ordinal"))
        # At most 1% and its sampling error of three standard deviations.
        assert np.mean(p < 0.01) < 0.02


def test_a_flag_that_few_rows_of_the_top_classes_have_is_found():
    y = np.repeat(np.arange(4), 100)
    flag = np.zeros(400)
    flag[[250, 310, 320, 330, 340, 350, 360, 370]] = 1
    X = np.column_stack([flag, np.random.default_rng(0).standard_normal(400)])
    ordered, plain = (
        marginal_p_values(X, y, family_of(task)) for task in ("ordinal", "classification")
    )
    assert ordered[0] < plain[0] < 0.01 < ordered[1]


def test_the_answer_depends_neither_on_jobs_nor_on_orders_of_rows_and_columns():
    problem = make_ordinal(150, n_strong=1, group_sizes=[2], n_irrelevant=2, random_state=0)
    here = verdict(problem.X, problem.y).result_
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(150), rng.permutation(5)
    there = verdict(problem.X[rows][:, columns], problem.y[rows], n_jobs=2).result_
    assert there.classes.tolist() == here.classes[columns].tolist()
    assert there.evidence.loss == here.evidence.loss


def test_the_papers_method_says_that_it_ignores_the_order():
    problem = make_ordinal(100, n_strong=1, n_irrelevant=2, random_state=0)
    method = PaperMethod(n_null_samples=4, n_estimators=10, p=1e-3, boruta_max_iter=10)
    result = RelevanceSelector(method, task="ordinal", random_state=0).fit(problem.X, problem.y)
    assert "method='paper' takes the classes without their order" in result.result_.notes
