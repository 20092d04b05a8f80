"""Blankets are those of the network, the oracle is exact, and calls are added up over targets."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

import network_fits
import network_page
import network_rivals
from journal import Journal
from network_fits import KEY, MEASURED, Fit
from network_oracle import DiscreteNetwork, Factor, GaussianNetwork, markov_blanket, paired_t
from network_tables import NetworkTable, table_file

# a -> c <- b, c -> d -> e, f -> d; and g by itself.
PARENTS = {"a": [], "b": [], "c": ["a", "b"], "d": ["c", "f"], "e": ["d"], "f": [], "g": []}


@pytest.fixture
def network():
    """States of two or three, and probabilities at random."""
    rng = np.random.default_rng(0)
    sizes = {node: 2 + i % 2 for i, node in enumerate(PARENTS)}
    tables = {}
    for node, above in PARENTS.items():
        draws = rng.gamma(0.7, size=[sizes[name] for name in (node, *above)]) + 0.05
        tables[node] = Factor((node, *above), draws / draws.sum(axis=0))
    return DiscreteNetwork(tables)


def states(network, n_rows=200):
    rng = np.random.default_rng(1)
    return {
        node: rng.integers(len(factor.values), size=n_rows)
        for node, factor in network.tables.items()
    }


def probability(network, world):
    """The joint probability of all nodes, factor by factor."""
    return np.prod(
        [f.values[tuple(world[name] for name in f.axes)] for f in network.tables.values()]
    )


def conditional(network, row, given, target="c"):
    """The probability of the target given others, by a sum over all worlds."""
    known = {name: row[name] for name in given}
    sizes = [len(factor.values) for factor in network.tables.values()]
    both = {True: 0.0, False: 0.0}
    for values in product(*map(range, sizes)):
        world = dict(zip(network.tables, values, strict=True))
        if all(world[name] == value for name, value in known.items()):
            both[world[target] == row[target]] += probability(network, world)
    return both[True] / sum(both.values())


def test_a_blanket_has_parents_children_and_their_other_parents():
    assert markov_blanket(PARENTS, "c") == ["a", "b", "d", "f"]
    assert markov_blanket(PARENTS, "a") == ["b", "c"]
    assert markov_blanket(PARENTS, "e") == ["d"]
    assert markov_blanket(PARENTS, "g") == []


@pytest.mark.parametrize("member", ["a", "d", "f"])
def test_the_oracle_of_a_discrete_network_is_a_sum_over_all_worlds(network, member):
    rows = states(network, n_rows=5)
    blanket = markov_blanket(PARENTS, "c")
    everything = [name for name in PARENTS if name != "c"]
    for known in (blanket, everything):
        without = [name for name in known if name != member]
        gains = network.gains(rows, "c", member, without)
        for i, gain in enumerate(gains):
            row = {name: codes[i] for name, codes in rows.items()}
            ratio = conditional(network, row, known) / conditional(network, row, without)
            assert gain == pytest.approx(np.log(ratio))


def test_the_only_member_of_a_blanket_is_compared_with_nothing(network):
    rows = states(network, n_rows=5)
    gains = network.gains(rows, "e", "d", [])
    row = {name: codes[2] for name, codes in rows.items()}
    ratio = conditional(network, row, ["d"], "e") / conditional(network, row, [], "e")
    assert gains[2] == pytest.approx(np.log(ratio))


def test_the_oracle_of_a_gaussian_network_has_its_conditional_densities():
    # y = 2 x + z + noise, all else standard.
    covariance = np.array([[1.0, 0, 2], [0, 1, 1], [2, 1, 6]])
    edges = {"x": [], "z": [], "y": ["x", "z"]}
    network = GaussianNetwork(edges, ["x", "z", "y"], np.array([0.0, 0, 3]), covariance)
    rng = np.random.default_rng(0)
    rows = {name: rng.standard_normal(50) for name in edges}
    both = stats.norm.logpdf(rows["y"], 3 + 2 * rows["x"] + rows["z"], 1)
    without_x = stats.norm.logpdf(rows["y"], 3 + rows["z"], np.sqrt(5))
    np.testing.assert_allclose(network.gains(rows, "y", "x", ["z"]), both - without_x)


def test_the_paired_t_is_that_of_the_textbook():
    gains = np.random.default_rng(0).standard_normal(100) + 0.3
    assert paired_t(gains) == pytest.approx(stats.ttest_1samp(gains, 0).statistic)
    assert paired_t(np.zeros(10)) == 0
    assert paired_t(np.full(10, np.log(2))) == np.inf


def test_the_g_test_without_conditions_is_that_of_scipy():
    rng = np.random.default_rng(0)
    data = rng.integers(3, size=(300, 3))
    data[:, 1] = np.where(rng.random(300) < 0.2, data[:, 0], data[:, 1])
    counts = stats.contingency.crosstab(data[:, 0], data[:, 1]).count
    expected = stats.chi2_contingency(counts, correction=False, lambda_="log-likelihood")
    p_value, dependence = network_rivals.g_test(data, 0, 1)
    assert (p_value, dependence) == pytest.approx((expected.pvalue, expected.statistic))
    # Given a third column it is the sum over its values.
    sums = [network_rivals.g_test(data[data[:, 2] == k], 0, 1, alpha=1)[1] for k in range(3)]
    assert network_rivals.g_test(data, 0, 1, [2], alpha=1)[1] == pytest.approx(sum(sums))


def test_holm_stops_at_the_first_that_fails():
    p_values = np.array([0.002, 0.9, 0.001, 0.0049, 0.004])
    # The bounds are 0.002, 0.0025, 0.0033, ...: the third, 0.004, fails and ends it.
    assert network_rivals.holm(p_values, 0.01).tolist() == [True, False, True, False, False]


def test_regressions_find_what_is_linear_and_discrete():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    y = X[:, 0] - X[:, 2] + rng.standard_normal(300)
    found = network_rivals.regression_with_holm(X, y, 0.01)
    assert found.tolist() == [True, False, True, False]
    levels = np.array(["low", "mid", "high"])[rng.integers(3, size=(600, 4))]
    levels[:, 3] = "always"
    own = rng.random(600) < 0.5
    target = np.where(
        own, levels[:, 1], np.array(["low", "mid", "high"])[rng.integers(3, size=600)]
    )
    found = network_rivals.regression_with_holm(levels, target, 0.01)
    assert found.tolist() == [False, True, False, False]


@pytest.fixture
def tables(tmp_path):
    """Two columns that make a third, one that is constant, and one of noise."""
    rng = np.random.default_rng(0)
    a, b, noise = rng.standard_normal((3, 200))
    values = np.column_stack([a, b, a + b + 0.3 * noise, np.ones(200), rng.standard_normal(200)])
    nodes = np.array(["a", "b", "c", "d", "e"])
    blanket = np.zeros((5, 5), dtype=bool)
    blanket[:3, :3] = ~np.eye(3, dtype=bool)
    t = np.where(blanket, 5.0, np.nan)
    t[2, 1] = 3.9
    path = table_file(tmp_path, "ecoli70", 200, 0)
    NetworkTable(values, nodes, blanket, t, 3 * t, t).save(path)
    return [path]


def test_every_second_node_that_varies_is_a_target(tables):
    table = NetworkTable.load(tables[0])
    assert table.targets(2) == ["a", "c", "e"]
    assert table.targets(1) == ["a", "b", "c", "e"]


def test_calls_are_rated_by_the_blanket_and_false_ones_named(tables):
    table = NetworkTable.load(tables[0])
    row = network_fits.rate(table, "c", np.array([True, True, False, True, True]))
    assert row == {
        "columns": 4,
        "members": 2,
        "detectable": 1,
        # The logarithm of 4 / 0.01 is 6.0.
        "detectable by ratio": 2,
        "detectable given all": 0,
        "called": 4,
        "hits": 2,
        "detectable hits": 1,
        "false": "d e",
    }


def test_a_run_goes_on_where_it_was_stopped(tables, tmp_path):
    journal = Journal(tmp_path / "networks.csv", KEY, MEASURED)
    wanted = network_fits.fits(["regression, Holm"], tables, step=2, limit=None)
    network_fits.run(journal, wanted[:2], jobs=1, seconds=60)
    first = journal.path.read_text()
    left = network_fits.missing(journal, wanted, 60)
    assert [fit.target for fit in left] == ["e"]
    network_fits.run(journal, wanted, jobs=1, seconds=60)
    assert journal.path.read_text().startswith(first)
    found = {row["target"]: (row["hits"], row["members"], row["false"]) for row in journal.rows()}
    assert found == {"a": (2, 2, ""), "c": (2, 2, ""), "e": (0, 0, "")}


def test_learners_of_discrete_blankets_are_not_asked_about_numbers(tables):
    names = {fit.contestant for fit in network_fits.fits(network_rivals.CONTESTANTS, tables, 2, 1)}
    assert names == {"squamish", "regression, Holm"}


def fit_line(contestant, target, *, called, hits, members=4, false="", status="", seconds=1.0):
    return {
        "contestant": contestant,
        "network": "CHILD",
        "rows": 500.0,
        "seed": 0.0,
        "target": target,
        "columns": 19,
        "members": members,
        "detectable": 2,
        "detectable by ratio": 3,
        "detectable given all": 2,
        "called": called,
        "hits": hits,
        "detectable hits": min(hits, 2),
        "false": false,
        "seconds": seconds,
        "status": status,
    }


def test_counts_are_added_up_over_targets():
    rows = [
        fit_line("squamish", "Age", called=1, hits=1),
        fit_line("squamish", "CO2", called=4, hits=3, members=6, false="Grunting"),
    ]
    assert network_page.precision(rows) == 4 / 5
    assert network_page.recall(rows) == 4 / 10
    assert network_page.f1(rows) == 8 / 15
    text = "\n".join(network_page.page(rows))
    assert "| 2 | 10 | 0.53 | not run | not run | not run | not run | 0.57 | 0.75 |" in text
    assert "| 1 of 5 (20.0%) |" in text
    assert "| CHILD | 500 | 0 | CO2 | Grunting |" in text


def test_who_gave_no_verdict_called_nothing_and_is_named():
    rows = [
        fit_line("squamish", "Age", called=4, hits=4),
        fit_line("squamish", "CO2", called=4, hits=4),
        fit_line("IAMB", "Age", called=4, hits=4),
        fit_line("BAMB", "Age", called=4, hits=4),
        fit_line("BAMB", "CO2", called=0, hits=0, status="over 60 s", seconds=np.nan),
    ]
    text = "\n".join(network_page.page(rows))
    assert "| 1.00 | not run | 1.00 (1 targets) | not run | 0.67 (over 60 s: 1) |" in text


def test_who_cannot_judge_a_network_is_told_from_who_has_not_yet():
    gaussian = fit_line("regression, Holm", "aceB", called=4, hits=4) | {"network": "ecoli70"}
    text = "\n".join(network_page.page([gaussian]))
    assert "| ecoli70 | 500 | 1 | 4 | not run | 1.00 | - | - | - |" in text


def test_who_takes_too_long_is_asked_again_if_there_is_more_time(tables, tmp_path):
    journal = Journal(tmp_path / "networks.csv", KEY, MEASURED)
    fit = Fit("squamish", str(tables[0]), "c")
    network_fits.run(journal, [fit], jobs=1, seconds=0.01)
    row = journal.rows()[0]
    assert (row["status"], row["called"], row["members"]) == ("over 0.01 s", 0, 2)
    assert network_fits.missing(journal, [fit], 0.01) == []
    assert network_fits.missing(journal, [fit], 60) == [fit]


def test_squamish_calls_what_the_target_needs(tables):
    row = network_fits.judge("squamish", str(tables[0]), "c")
    assert (row["hits"], row["false"], row["status"]) == (2, "", "")
