"""What the default method decides, stated as a user would."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine

from squamish import CrossfitMethod, InputError, RelevanceSelector
from squamish.datasets import load_preset, load_problem, make_linear


def verdict(X, y, **options):
    return RelevanceSelector(random_state=0, **options).fit(X, y)


@pytest.mark.parametrize(
    "name",
    [
        "Set 1",
        "Set 3",
        "NL 2",
        "Friedman 1 with copies",
        "three classes",
        "XOR",
        "XOR with copies",
        "steps and waves",
        "network",
        "correlated noise",
        "heavy tails",
        "5% positives",
        "twins",
        "sum",
        "product",
        "monotone copies",
        "suppressor",
        "100 rows",
    ],
)
def test_every_column_gets_its_right_class(name):
    problem = load_problem(name, shuffle=True, random_state=1)
    assert verdict(problem.X, problem.y).relevance_classes_.tolist() == problem.classes.tolist()


def test_evidence_says_what_made_a_column_relevant_and_what_its_removal_costs():
    problem = load_preset("Set 4", random_state=0)
    evidence = verdict(problem.X, problem.y).result_.evidence
    relevant = problem.classes > 0
    assert all(bool(proof) == bool(r) for proof, r in zip(evidence.proof, relevant, strict=True))
    assert np.array_equal(np.isnan(evidence.removal_loss), ~relevant)
    low, high = evidence.removal_interval
    tested = evidence.removal_loss[relevant]
    assert np.all((low[relevant] <= tested) & (tested <= high[relevant]))
    assert np.all(evidence.effect[problem.classes == 2] > 0.01)
    assert np.all(evidence.p_removal[problem.classes == 2] < 0.01)
    assert np.all(evidence.effect[problem.classes == 1] < 0.01)
    assert evidence.loss < 0.5 * evidence.constant_loss
    assert evidence.learner.startswith("linear")


def test_xor_partners_are_proven_by_their_product():
    problem = load_problem("XOR", random_state=0)
    evidence = verdict(problem.X, problem.y).result_.evidence
    assert evidence.proof[:2] == ("product", "product")
    assert evidence.proof_p_values["marginal"][:2].min() > 1e-3


def test_copies_are_each_others_substitutes_and_form_groups():
    problem = make_linear(400, n_strong=1, group_sizes=[3, 2], n_irrelevant=2, random_state=0)
    evidence = verdict(problem.X, problem.y).result_.evidence
    assert evidence.groups == problem.groups
    assert {k for (k,) in evidence.substitutes[1]} == {2, 3}
    assert evidence.substitutes[4] == ((5,),)
    assert set(evidence.substitutes) == {1, 2, 3, 4, 5}
    pairs = zip(evidence.representatives, evidence.groups, strict=True)
    assert [set(chosen) <= set(group) for chosen, group in pairs] == [True, True]


def test_a_sum_is_replaced_by_its_terms_together():
    problem = load_problem("sum", random_state=0)
    evidence = verdict(problem.X, problem.y).result_.evidence
    assert evidence.substitutes[3] == ((1, 2),)
    assert evidence.groups == ((1, 2, 3),)


@pytest.mark.parametrize(
    "function", [lambda a, b: np.sin(2 * a) + b**2, lambda a, b: np.tanh(2 * a * b)]
)
@pytest.mark.parametrize("classes", [False, True])
def test_a_curved_function_of_others_is_weak_even_if_the_target_is_linear_in_it(function, classes):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 7))
    X[:, 3] = function(X[:, 0], X[:, 1])
    y = X @ [1.0, 1.0, 1.0, 1.5 / X[:, 3].std(), 0.0, 0.0, 0.0] + 0.5 * rng.standard_normal(600)
    selector = RelevanceSelector(random_state=0).fit(X, y > 0 if classes else y)
    assert selector.relevance_classes_.tolist() == [2, 2, 2, 1, 0, 0, 0]
    assert selector.result_.evidence.substitutes[3] == ((0, 1),)


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_what_another_column_is_the_square_of_is_weak(noise):
    for seed in range(2):
        rng = np.random.default_rng(seed)
        u, v = rng.standard_normal((2, 600))
        square = u**2 + noise * rng.standard_normal(600)
        y = square + v + 0.3 * rng.standard_normal(600)
        assert verdict(np.column_stack([u, square, v]), y).relevance_classes_.tolist()[0] == 1


def test_absurd_values_do_not_hide_the_others():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 2))
    y = X[:, 0] + 0.3 * rng.standard_normal(300)
    X[0, 0] = 1e20
    assert verdict(X, y).relevance_classes_.tolist() == [2, 0]
    y[1] = -9.97e36
    assert verdict(X, y).relevance_classes_.tolist() == [2, 0]


def test_a_grandparent_is_replaced_by_the_parent():
    problem = load_problem("network", random_state=0)
    evidence = verdict(problem.X, problem.y).result_.evidence
    grandparent = problem.feature_names.index("group0_0")
    assert any(0 in group for group in evidence.substitutes[grandparent])


@pytest.fixture(scope="module", params=[load_wine, load_diabetes, load_breast_cancer])
def real(request):
    X, y = request.param(return_X_y=True)
    return X, y, verdict(X, y)


def test_order_and_units_and_jobs_change_nothing_on_real_tables(real):
    X, y, plain = real
    rng = np.random.default_rng(0)
    rows, order = rng.permutation(len(X)), rng.permutation(X.shape[1])
    scale = rng.uniform(0.1, 10, X.shape[1]) * rng.choice([-1, 1], X.shape[1])
    moved = (X * scale + rng.standard_normal(X.shape[1]))[np.ix_(rows, order)]
    other = verdict(moved, y[rows], n_jobs=2)
    assert np.array_equal(other.relevance_classes_, plain.relevance_classes_[order])
    assert np.allclose(
        other.result_.evidence.removal_loss,
        plain.result_.evidence.removal_loss[order],
        atol=1e-6,
        equal_nan=True,
    )


def test_permuted_columns_of_real_tables_are_irrelevant(real):
    X, y, _ = real
    permuted = np.apply_along_axis(np.random.default_rng(0).permutation, 0, X)
    both = verdict(np.hstack([X, permuted]), y)
    assert not both.support_[X.shape[1] :].any()


def test_permuted_pixels_are_irrelevant():
    X, y = load_digits(n_class=4, return_X_y=True)
    X, y = X[:400], y[:400]
    permuted = np.apply_along_axis(np.random.default_rng(0).permutation, 0, X)
    assert not verdict(np.hstack([X, permuted]), y).support_[64:].any()


def test_duplicating_a_strong_feature_of_a_real_table_makes_both_weak():
    X, y = load_diabetes(return_X_y=True)
    strong = np.flatnonzero(verdict(X, y).relevance_classes_ == 2)
    assert len(strong) >= 2
    for j in strong:
        doubled = verdict(np.column_stack([X, X[:, j]]), y).relevance_classes_
        assert doubled[[j, -1]].tolist() == [1, 1]


def test_another_seed_changes_few_verdicts(real):
    X, y, first = real
    second = RelevanceSelector(random_state=1).fit(X, y)
    changed = np.sum(first.relevance_classes_ != second.relevance_classes_)
    assert changed <= 0.2 * X.shape[1]


@pytest.mark.parametrize(
    "name", ["noise 200 x 20", "noise 300 x 30, Cauchy", "noise 200 x 20, 5% positives"]
)
def test_nothing_is_relevant_in_noise(name):
    for seed in range(3):
        problem = load_problem(name, random_state=seed)
        selector = verdict(problem.X, problem.y)
        assert not selector.support_.any()
        assert selector.result_.evidence.learner == "constant"


def test_missing_values_are_a_value_of_their_own():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 5))
    absent = rng.random(400) < 0.4
    y = (absent ^ (X[:, 1] > 0)).astype(int)
    X[absent, 0] = np.nan
    assert verdict(X, y).relevance_classes_.tolist() == [2, 2, 0, 0, 0]


@pytest.mark.filterwarnings("ignore:.*alone tells the target")
def test_a_single_relevant_column_is_strong():
    problem = make_linear(200, n_strong=1, n_irrelevant=4, random_state=0)
    assert verdict(problem.X, problem.y).relevance_classes_.tolist() == [2, 0, 0, 0, 0]


def test_a_lower_alpha_never_finds_more():
    problem = load_preset("NL 1", random_state=3)
    found = [
        verdict(problem.X, problem.y, method=CrossfitMethod(alpha=alpha)).support_
        for alpha in (1e-12, 0.05)
    ]
    assert np.all(found[0] <= found[1])
    assert found[0].sum() < found[1].sum()


def test_rare_classes_get_fewer_folds_and_single_rows_an_error():
    X = np.random.default_rng(0).standard_normal((90, 3))
    y = np.where(X[:, 0] > 0, "high", "low").astype(object)
    y[:3] = "rare"
    assert verdict(X, y).relevance_classes_[0] > 0
    y[:3] = ["single", "high", "low"]
    with pytest.raises(InputError, match="y has one row only of class single; every class must"):
        verdict(X, y)


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (CrossfitMethod(alpha=0), "alpha is 0; it must be a number above 0 and below 1"),
        (CrossfitMethod(min_effect=2), "min_effect is 2; it must be a number"),
        (CrossfitMethod(n_folds=1), "n_folds is 1; it must be a whole number at least 2"),
    ],
)
def test_parameters_out_of_range(method, message):
    X = np.random.default_rng(0).standard_normal((50, 2))
    with pytest.raises(InputError, match=message):
        verdict(X, X[:, 0] > 0, method=method)


def test_copies_of_what_is_found_late_are_found_as_well():
    rng = np.random.default_rng(0)
    hidden = rng.uniform(size=(100, 4))
    y = 0.25 * np.exp(4 * hidden[:, 0]) + 4 / (1 + np.exp(-20 * (hidden[:, 1] - 0.5)))
    y += 3 * hidden[:, 2]
    copies = np.repeat(hidden, 5, axis=1) + 0.1 * rng.standard_normal((100, 20))
    X = np.hstack([copies, rng.uniform(size=(100, 300))])
    selector = RelevanceSelector(random_state=0).fit(X, y)
    # The third shows only once the others are in the model, and the fourth tells nothing.
    assert np.flatnonzero(selector.support_).tolist() == list(range(15))


@pytest.mark.parametrize("seed", range(4))
def test_a_bowl_beside_an_interaction_is_found_in_few_rows(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(100, 10))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * np.square(X[:, 2] - 0.5)
    y += 10 * X[:, 3] + 5 * X[:, 4] + rng.standard_normal(100)
    selector = RelevanceSelector(random_state=seed).fit(X, y)
    assert np.flatnonzero(selector.support_).tolist() == [0, 1, 2, 3, 4]


def test_a_curved_copy_is_weak_among_very_many_columns():
    rng = np.random.default_rng(0)
    x = rng.standard_normal(400)
    X = np.column_stack([x, np.abs(x), rng.standard_normal((400, 400))])
    y = np.abs(x) + rng.normal(0, 0.3, 400)
    assert verdict(X, y).relevance_classes_[:2].tolist() == [1, 1]


def test_noise_that_shares_its_gaps_with_a_signal_is_irrelevant():
    found = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        x = rng.standard_normal((500, 3))
        gap = rng.random(500) < 0.25
        X = np.column_stack(
            [np.where(gap, np.nan, x[:, 0]), np.where(gap, np.nan, x[:, 1]), x[:, 2]]
        )
        y = x[:, 0] + 0.5 * rng.standard_normal(500)
        classes = verdict(X, y).relevance_classes_
        assert classes[0] == 2
        found += classes[1] > 0
    assert found <= 1


def test_the_loss_with_all_columns_stands_beside_that_with_the_relevant_ones():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 30))
    # Ten columns that are too faint to be told from noise, and one that is not.
    y = 2 * X[:, 0] + 0.22 * X[:, 1:16].sum(axis=1) + 0.5 * rng.standard_normal(300)
    result = RelevanceSelector(CrossfitMethod(alpha=1e-9), random_state=0).fit(X, y).result_
    evidence = result.evidence
    assert evidence.all_loss < evidence.loss < evidence.constant_loss
    note = next(
        note for note in result.notes if note.startswith("with all columns the model gains")
    )
    assert "error_rate='fdr'" in note
    wider = CrossfitMethod(alpha=0.1, error_rate="fdr")
    more = RelevanceSelector(wider, random_state=0).fit(X, y).result_
    assert set(result.select()) < set(more.select())
    assert not any("error_rate" in note for note in more.notes)


def test_the_loss_with_all_columns_is_that_of_the_relevant_ones_if_all_are():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 3))
    evidence = RelevanceSelector(random_state=0).fit(X, X.sum(axis=1)).result_.evidence
    assert evidence.all_loss == evidence.loss
    noise = RelevanceSelector(random_state=0).fit(X, rng.standard_normal(200)).result_.evidence
    assert np.isnan(noise.all_loss)
