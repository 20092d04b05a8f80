"""What alpha bounds, and which columns are relevant only through others."""

import numpy as np
import pandas as pd
import pytest

from squamish import CrossfitMethod, InputError, RelevanceSelector
from squamish.evidence.association import columns_carrying
from squamish.execution.workers import OutOfTime
from squamish.screening import selection


def fitted(X, y, **options):
    return RelevanceSelector(CrossfitMethod(**options), random_state=0).fit(X, y).result_


@pytest.fixture(scope="module")
def chain():
    """A signal, what is correlated with it, what is correlated with that, and noise."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.standard_normal((400, 4)), columns=["cause", "near", "far", "noise"])
    X["near"] = 0.45 * X.cause + X.near
    X["far"] = 0.45 * X.near + X.far
    return X, X.cause + 3 * rng.standard_normal(400)


@pytest.fixture(scope="module")
def faint():
    """Forty faint signals among a hundred columns."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 100))
    return X, X[:, :40].sum(axis=1) + 5 * rng.standard_normal(300)


def test_a_column_that_is_relevant_through_another_one_says_so(chain):
    result = fitted(*chain)
    evidence, names = result.evidence, list(result.feature_names)
    cause, far = names.index("cause"), names.index("far")
    assert evidence.proof[far] == "association"
    assert evidence.associations[far].p_value < 0.01 < evidence.p_relevant[far]
    assert columns_carrying(far, evidence.associations) == (cause,)
    assert cause not in evidence.associations
    row = result.to_frame("pandas").set_index("feature").loc["far"]
    assert row["relevant_through"] == "near"
    assert row["p_association"] == evidence.associations[far].p_value
    assert result.to_html().count("weak ~") == len(evidence.associations)
    said = result.explain("far")
    assert "relevant through 'near'" in said
    assert f"p = {evidence.p_relevant[far]:.2g}" in said
    assert f"p = {evidence.associations[far].p_value:.2g}" in said


def test_a_column_that_carries_most_others_is_noted(chain):
    notes = " ".join(fitted(*chain).notes)
    assert "2 of 3 relevant columns are so only through 'cause'" in notes


def test_p_values_of_tests_without_a_model_do_not_depend_on_alpha(chain):
    strict, loose = (fitted(*chain, alpha=alpha).evidence for alpha in (1e-4, 0.2))
    for name in ("marginal", "product", "partial", "shadow"):
        assert np.array_equal(strict.proof_p_values[name], loose.proof_p_values[name])
    assert np.allclose(strict.p_relevant[[0, 1]], loose.p_relevant[[0, 1]], rtol=0.5)


def test_a_false_discovery_rate_finds_more_of_many_faint_signals(faint):
    by_rate = {rate: fitted(*faint, alpha=0.1, error_rate=rate) for rate in ("fwer", "fdr")}
    found = {rate: result.classes > 0 for rate, result in by_rate.items()}
    assert found["fdr"][:40].sum() > found["fwer"][:40].sum()
    assert np.all(found["fdr"] >= found["fwer"])
    assert found["fdr"][40:].sum() <= 0.25 * found["fdr"].sum()
    assert by_rate["fdr"].evidence.error_rate == "fdr"
    assert "share of at most 0.1" in by_rate["fdr"].to_html()


def test_a_discovery_that_is_not_certain_takes_nothing_along():
    # Of the second signal there is a trace that only a false discovery rate lets pass.
    rng = np.random.default_rng(1)
    X = rng.standard_normal((300, 12))
    X[:, 11] = 0.9 * X[:, 10] + 0.45 * X[:, 11]
    y = X[:, :10].sum(axis=1) + 0.65 * X[:, 10] + 4 * rng.standard_normal(300)
    evidence = fitted(X, y, alpha=0.1, error_rate="fdr").evidence
    certain = {j for j in range(12) if evidence.p_relevant[j] * 12 <= 0.1}
    carriers = {
        k for j in evidence.associations for k in columns_carrying(j, evidence.associations)
    }
    assert carriers <= certain


def test_an_unknown_error_rate_is_refused(chain):
    with pytest.raises(InputError, match="error_rate is 'bh'; it must be 'fwer' or 'fdr'"):
        fitted(*chain, error_rate="bh")


def test_too_few_rows_to_prove_anything_are_noted_and_prove_nothing():
    rng = np.random.default_rng(0)
    y = np.tile(np.repeat([0, 1], [3, 5]), 6)
    X = np.column_stack([y + 0.6 * rng.standard_normal(48), rng.standard_normal(48)])
    few, enough = fitted(X[:8], y[:8]), fitted(X, y)
    assert not few.select("relevant")
    assert any("can be in 56 different orders, too few to prove" in note for note in few.notes)
    assert enough.select("relevant")
    assert not any("different orders" in note for note in enough.notes)


def test_a_category_of_many_levels_may_be_the_only_relevant_column():
    rng = np.random.default_rng(0)
    level = rng.integers(0, 60, 900)
    y = rng.standard_normal(60)[level] + 0.1 * rng.standard_normal(900)
    X = pd.DataFrame({"place": [f"p{k}" for k in level], "noise": rng.standard_normal(900)})
    assert list(fitted(X, y).select("relevant")) == ["place"]


def test_fdr_does_not_lose_what_hangs_on_a_less_certain_column():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 40))
    X[:, 1] += 0.45 * X[:, 0]
    X[:, 2] += 0.45 * X[:, 1]
    y = X[:, 0] + 0.6 * X[:, 3:20].sum(axis=1) + 2 * rng.standard_normal(400)
    family_wise, discoveries = (
        fitted(X, y, alpha=0.1, error_rate=error_rate) for error_rate in ("fwer", "fdr")
    )
    assert family_wise.evidence.proof[1] == family_wise.evidence.proof[2] == "association"
    assert discoveries.evidence.proof[1] == "marginal"
    assert discoveries.evidence.proof[2] == "association"
    assert set(np.flatnonzero(family_wise.classes)) <= set(np.flatnonzero(discoveries.classes))


def test_discoveries_that_there_is_no_time_for_leave_what_is_certain(faint, monkeypatch):
    X, y = faint[0][:, :60], faint[1] + 20 * (faint[0][:, 0] > 1)
    certain = fitted(X, y, alpha=0.1)
    monkeypatch.setattr(selection, "_explaining", _out_of_time(selection._explaining, certain))
    hurried = fitted(X, y, alpha=0.1, error_rate="fdr")
    assert not hurried.undecided
    assert hurried.strong == certain.strong
    assert hurried.weak == certain.weak


def _out_of_time(explaining, certain):
    """Run out of time as soon as the model has more columns than those that are certain."""

    def hurried(fit, relevance, race):
        if len(relevance.relevant) > len(certain.strong) + len(certain.weak):
            raise OutOfTime({})
        return explaining(fit, relevance, race)

    return hurried


def test_a_column_that_tells_nothing_itself_is_relevant_through_its_neighbour_only():
    rng = np.random.default_rng(0)
    cause, other = rng.standard_normal((2, 600))
    # Correlated with a cause at -0.72, and independent of the target all the same.
    y = 1.04 * cause + other + 0.1 * rng.standard_normal(600)
    X = pd.DataFrame({"cause": cause, "other": other})
    X["beside"] = other - 1.04 * cause + 0.05 * rng.standard_normal(600)
    evidence = fitted(X, y).evidence
    assert evidence.proof_p_values["marginal"][2] > 0.01
    assert evidence.proof_p_values["marginal"][0] < 1e-6
