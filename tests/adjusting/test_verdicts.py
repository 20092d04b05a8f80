"""Given what is adjusted for, confounded columns are irrelevant, and others are what they are."""

import numpy as np
import pandas as pd
import pytest

from squamish import CrossfitMethod, RelevanceSelector
from squamish.datasets import make_confounded

# Adjusted for, two strong columns, two copies, four confounded columns, and two of noise.
TRUTH = [-1, 2, 2, 1, 1, 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("shape", ["line", "curve", "step", "centre"])
@pytest.mark.parametrize("task", ["regression", "classification"])
def test_what_hangs_on_the_target_through_the_adjustment_alone_is_irrelevant(shape, task):
    problem = make_confounded(400, shape=shape, task=task, random_state=0)
    categories = [0] if shape == "centre" else None
    selector = RelevanceSelector(
        adjust_for=problem.adjust_for, categorical_features=categories, random_state=0
    ).fit(problem.X, problem.y)
    assert selector.relevance_classes_.tolist() == TRUTH == problem.classes.tolist()
    assert selector.result_.groups == (("3", "4"),)


def test_without_adjusting_confounded_columns_are_relevant(confounded):
    X, y = confounded()
    result = RelevanceSelector(random_state=0).fit(X, y).result_
    assert {f"confounded_{k}" for k in range(4)} <= {*result.select("relevant")}


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_what_is_the_adjustment_in_other_words_is_irrelevant(task):
    rng = np.random.default_rng(0)
    age = rng.uniform(20, 80, 500)
    z = (age - 50) / 17
    total = np.sin(2 * z) + z**2
    X = pd.DataFrame(
        {
            "age": age,
            "born": 2000 - age.round(),
            "log age": np.log(age),
            "decade": age // 10,
            "old": (age > 65).astype(float),
            "own": rng.standard_normal(500),
        }
    )
    y = total + 0.6 * X["own"] + rng.standard_normal(500)
    if task == "classification":
        y = (y > y.median()).astype(int)
    result = RelevanceSelector(adjust_for=["age"], random_state=0).fit(X, y).result_
    assert result.select("relevant") == ("own",)


def test_what_matters_for_some_only_is_found_as_a_product_with_the_adjustment():
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], 600)
    drug, noise = rng.standard_normal((2, 600))
    y = np.where(sex == "f", drug, -drug) + 2 * (sex == "f") + rng.standard_normal(600)
    X = pd.DataFrame({"sex": sex, "drug": drug, "noise": noise})
    result = RelevanceSelector(adjust_for=["sex"], random_state=0).fit(X, y).result_
    assert result.strong == ("drug",)
    assert result.irrelevant == ("noise",)


def test_a_category_of_many_levels_can_be_adjusted_for():
    rng = np.random.default_rng(0)
    hospital = rng.integers(0, 40, 800)
    good = rng.standard_normal(40)[hospital]
    X = pd.DataFrame(
        {
            "hospital": np.char.add("H", hospital.astype(str)),
            "beds": good + 0.3 * rng.standard_normal(800),
            "dose": good + rng.standard_normal(800),
        }
    )
    y = 2 * good + 0.5 * (X["dose"] - good) + rng.standard_normal(800)
    result = RelevanceSelector(adjust_for=["hospital"], random_state=0).fit(X, y).result_
    assert result.strong == ("dose",)
    assert result.irrelevant == ("beds",)


@pytest.mark.parametrize("has_effect", [False, True])
def test_a_category_of_many_levels_can_be_judged_given_an_adjustment(has_effect):
    rng = np.random.default_rng(1)
    age = rng.standard_normal(900)
    # Towns differ in age, and through it in the target.
    town = np.clip((age * 6 + 20 + 2 * rng.standard_normal(900)).astype(int), 0, 39)
    y = age**2 + has_effect * rng.standard_normal(40)[town] + rng.standard_normal(900)
    X = pd.DataFrame({"age": age, "town": np.char.add("T", town.astype(str))})
    result = RelevanceSelector(adjust_for=["age"], random_state=0).fit(X, y).result_
    assert bool(result.classes[0]) == has_effect


@pytest.mark.parametrize("rows", ["weights", "groups"])
def test_rows_may_have_weights_or_belong_together(confounded, rows):
    X, y = confounded(400, effect=0.8)
    more = {"sample_weight": np.random.default_rng(0).uniform(0.5, 2, len(X))}
    if rows == "groups":
        X, y = (pd.concat([part, part], ignore_index=True) for part in (X, pd.Series(y)))
        more = {"groups": np.tile(np.arange(400), 2)}
    result = RelevanceSelector(adjust_for=["age"], random_state=0).fit(X, y, **more).result_
    assert {"strong_0", "strong_1", "group0_0"} <= {*result.select("relevant")}
    assert not any(name.startswith(("conf", "irr")) for name in result.select("relevant"))


def test_the_verdict_does_not_depend_on_the_order_of_rows_and_columns_or_on_the_workers(judged):
    X, y, selector = judged
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(len(X)), rng.permutation(X.columns)
    again = RelevanceSelector(adjust_for=["age"], random_state=0, n_jobs=2)
    found, known = again.fit(X.iloc[rows][columns], y[rows]).result_, selector.result_
    assert found.evidence.loss == known.evidence.loss
    for name, p in known.evidence.proof_p_values.items():
        there = [found.feature_names.index(c) for c in known.feature_names]
        assert found.evidence.proof_p_values[name][there].tolist() == p.tolist()


def test_nothing_relevant_leaves_the_adjustment(confounded):
    X, y = confounded(200, seed=1, effect=0.0)
    result = RelevanceSelector(adjust_for=["age"], random_state=0).fit(X, y).result_
    assert result.select("relevant") == ()
    assert result.evidence.loss == result.evidence.constant_loss < 0.9
    assert result.evidence.learner != "constant"


def test_other_error_rates_and_learners_of_the_user_take_part(confounded):
    from sklearn.svm import SVR

    X, y = confounded(200, effect=0.8)
    method = CrossfitMethod(error_rate="fdr", alpha=0.1, learners=(SVR(C=10.0),))
    result = RelevanceSelector(method, adjust_for=["age"], random_state=0).fit(X, y).result_
    assert {"strong_0", "strong_1"} <= {*result.select("relevant")}


def test_gaps_of_an_adjustment_are_told_of(confounded):
    X, y = confounded(100)
    X.loc[::4, "age"] = np.nan
    notes = RelevanceSelector(adjust_for=["age"], random_state=0).fit(X, y).result_.notes
    assert "'age' is adjusted for, and is missing in up to 25% of the rows" in notes[0]


def test_an_adjustment_that_does_not_vary_changes_nothing_and_is_noted(confounded):
    X, y = confounded(150, effect=0.8)
    X = X.drop(columns="age")
    plain = RelevanceSelector(random_state=0).fit(X, y).result_
    found = RelevanceSelector(adjust_for=["always"], random_state=0).fit(X.assign(always=1.0), y)
    assert found.result_.classes.tolist() == plain.classes.tolist()
    assert found.result_.evidence.loss == plain.evidence.loss
    assert "1 of 1 columns that are adjusted for has one value only" in found.result_.notes[1]
