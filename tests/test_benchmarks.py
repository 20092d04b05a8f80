"""The benchmarks go on where they were stopped, and rate everybody alike."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import contestants
import designs
import error_rates
import oracle
import paper
import running
import signal_designs
from error_rates_page import page
from journal import Journal
from running import FAILED, KEY, MEASURED, Race


@pytest.fixture
def journal(tmp_path):
    return Journal(tmp_path / "race.csv", KEY, MEASURED)


def test_a_race_goes_on_where_it_was_stopped(journal, monkeypatch):
    tables = [("Set 1", 0), ("Set 3", 0), ("Set 3", 1)]
    Race(journal, ["squamish"], limit=60, jobs=2).run(tables[:2])
    first = journal.path.read_text()
    found = {(row["problem"], row["relevant F1"]) for row in journal.rows()}
    assert found == {("Set 1", 1), ("Set 3", 1)}
    asked = []
    answer = {"selected": [True] * 10, "classes": None, "seconds": 1.0, "accuracy": None}
    monkeypatch.setattr(
        running.Processes, "ask", lambda _, name, path, seed: asked.append(seed) or answer
    )
    Race(journal, ["squamish"], limit=60, jobs=2).run(tables)
    assert asked == [1]
    assert journal.path.read_text().startswith(first)


def test_who_takes_too_long_is_not_asked_again(journal):
    tables = [("Set 1", seed) for seed in range(3)]
    Race(journal, ["SQ"], limit=0.01, jobs=1).run(tables)
    assert [(row["seed"], row["status"]) for row in journal.rows()] == [(0, "over 0.01 s")]
    # Unless there is more time.
    Race(journal, ["SQ"], limit=60, jobs=2).run(tables)
    assert sorted((row["seed"], row["status"]) for row in journal.rows()) == [
        (0, ""),
        (1, ""),
        (2, ""),
    ]


def test_an_error_ends_nothing(journal):
    Race(journal, ["nobody", "ElasticNet"], limit=60, jobs=1).run([("Set 1", 0)])
    status = {row["contestant"]: str(row["status"]) for row in journal.rows()}
    assert status["ElasticNet"] == ""
    assert status["nobody"].startswith(f"{FAILED}: ValueError: contestant is 'nobody'; there are")


def test_who_cannot_be_installed_is_named_and_left_out(journal, monkeypatch, capsys):
    made = []

    def fails_for_arfs(contestant):
        made.append(contestant)
        if running.HOMES.get(contestant) == "arfs":
            raise subprocess.CalledProcessError(1, "pip")
        return Path(sys.executable)

    monkeypatch.setattr(running, "environment", fails_for_arfs)
    answer = {"selected": [True] * 10, "classes": None, "seconds": 1.0, "accuracy": None}
    monkeypatch.setattr(running.Processes, "ask", lambda *_: answer)
    names = ["squamish", "RF", "Leshy", "GrootCV"]
    Race(journal, names, limit=60, jobs=2).run([("Set 3", 0)])
    assert {row["contestant"] for row in journal.rows()} == {"squamish", "RF"}
    assert "NOT IN THE RACE: GrootCV, Leshy" in capsys.readouterr().err
    # One environment is made once.
    assert len(made) == 2


def test_who_would_judge_a_table_again_has_to_be_there_too(journal, monkeypatch, capsys):
    answer = {"selected": [True] * 10, "classes": None, "seconds": 1.0, "accuracy": None}
    monkeypatch.setattr(running.Processes, "ask", lambda *_: answer)
    monkeypatch.setattr(running, "environment", lambda _: Path(sys.executable))
    race = Race(journal, ["squamish", "Leshy"], limit=60, jobs=1, whole=True)
    race.run([("Set 3", 0)])
    lines = journal.path.read_text().splitlines(keepends=True)
    journal.path.write_text("".join(line for line in lines if "squamish" not in line))

    def fails(contestant):
        if contestant == "Leshy":
            raise subprocess.CalledProcessError(1, "pip")
        return Path(sys.executable)

    monkeypatch.setattr(running, "environment", fails)
    race.run([("Set 3", 0)])
    assert "NOT IN THE RACE: Leshy" in capsys.readouterr().err
    assert {row["contestant"] for row in journal.rows()} == {"squamish", "Leshy"}


def test_who_is_compared_by_time_judges_a_table_together(journal, monkeypatch):
    asked = []
    answer = {"selected": [True] * 12, "classes": None, "seconds": 1.0, "accuracy": None}
    monkeypatch.setattr(
        running.Processes, "ask", lambda _, name, path, seed: asked.append((name, seed)) or answer
    )
    Race(journal, ["squamish"], limit=60, jobs=1).run([("Set 1", 0), ("Set 1", 1)])
    asked.clear()
    both = Race(journal, ["squamish", "SQ"], limit=60, jobs=1, whole=True)
    both.run([("Set 1", 0)])
    assert sorted(asked) == [("SQ", 0), ("squamish", 0)]
    asked.clear()
    both.run([("Set 1", 0)])
    assert not asked


def test_the_authors_count_otherwise():
    row = {"strong P": 0.0, "strong R": 0.0, "weak P": 0.5, "weak R": np.nan}
    row |= {"called strong": 0, "called weak": 2}
    counted = [paper.as_they_count(row, f"{kind} {m}") for kind in ("strong", "weak") for m in "PR"]
    assert counted == pytest.approx([1, np.nan, 0.5, 1], nan_ok=True)


def test_many_columns_are_eliminated_by_tenths():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 220))
    y = (X[:, 7] + X[:, 200] > 0).astype(int)
    for model in (contestants.paper_forest("classification", 0, 1), LogisticRegression()):
        path = [columns for columns, _ in contestants.shrinking(model, X, y)]
        sizes = [len(columns) for columns in path]
        assert sizes[:4] == [220, 198, 179, 162]
        assert sizes[-10:] == list(range(10, 0, -1))
        assert set(path[-2]) == {7, 200}
    verdict = contestants.CONTESTANTS["ElasticNet"](X, y, "classification", 0)
    assert {7, 200} <= set(np.flatnonzero(verdict.selected))
    assert verdict.accuracy > 0.8


def is_alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    # One that ended and was not asked for yet has no command.
    return bool(Path(f"/proc/{process}/cmdline").read_bytes())


def test_contestants_end_with_a_race_that_is_killed(tmp_path):
    code = (
        "import sys, time, running\n"
        "p = running.Processes(60)\n"
        "import threading\n"
        "threading.Thread(target=p.ask, args=['SQ', sys.argv[1], 0], daemon=True).start()\n"
        "while not p.processes: time.sleep(0.01)\n"
        "print(*(child.pid for child in p.processes.values()), flush=True)\n"
        "time.sleep(60)"
    )
    truth = designs.load("NL 4", 0)
    np.savez(tmp_path / "table.npz", X=truth.X, y=truth.y, task=truth.task)
    race = subprocess.Popen(
        [sys.executable, "-c", code, tmp_path / "table.npz"],
        cwd=running.HERE,
        stdout=subprocess.PIPE,
        text=True,
    )
    child = int(race.stdout.readline())
    race.kill()
    race.communicate()
    deadline = time.monotonic() + 20
    while is_alive(child):
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_a_torn_line_is_run_again(journal):
    journal.add({"contestant": "a", "problem": "Set 1", "seed": 0, **dict.fromkeys(MEASURED, 1)})
    whole = journal.path.read_text()
    journal.path.write_text(whole + "b,Set 1,0,0.5,")
    assert Journal(journal.path, KEY, MEASURED).done() == {("a", "Set 1", 0)}
    assert journal.path.read_text() == whole


def test_a_file_of_other_columns_is_left_alone(journal):
    with pytest.raises(ValueError, match="has other columns than"):
        Journal(journal.path, KEY, ("something", "else"))


def test_columns_of_unknown_truth_are_not_rated():
    truth = designs.Truth(np.zeros((1, 3)), np.zeros(1), "regression", np.array([2, 0, -1]))
    answer = {"selected": [1, 0, 1], "classes": [2, 0, 2], "seconds": 1.0, "accuracy": None}
    row = running.rate(answer, truth)
    assert (row["relevant P"], row["relevant R"], row["exact"]) == (1, 1, 1)
    # Without classes, nobody is rated for them.
    assert np.isnan(running.rate(answer | {"classes": None}, truth)["exact"])


@pytest.mark.parametrize("preset", ["NL 1", "NL 2"])
def test_the_oracle_knows_the_distribution(preset):
    mixture, X = oracle.known_mixture(preset, 3)
    y = oracle.load_preset(preset, random_state=3).y
    for label in (0, 1):
        means, covariances = mixture.means[label::2], mixture.covariances[label::2]
        mean = means.mean(axis=0)
        covariance = covariances.mean(axis=0) + np.cov(means.T, bias=True)
        rows = X[y == label] - mean
        # Squared distances average to the number of columns.
        distances = np.einsum("ij,jk,ik->i", rows, np.linalg.inv(covariance), rows)
        assert distances.mean() == pytest.approx(X.shape[1], rel=0.1)


def test_the_oracle_detects_what_matters():
    found = oracle.removals("NL 2", 0)
    assert found.is_group.tolist() == [False] * 4 + [True]
    assert found.accuracy > 0.9
    assert np.all(found.paired_t < 1e-6)
    assert np.all(found.likelihood_ratio < found.paired_t)


@pytest.mark.parametrize("name", designs.REAL)
def test_real_tables_have_copies_and_columns_in_random_order(name):
    truth = designs.load(name, 0)
    original = designs.REAL[name](return_X_y=True)[0]
    assert truth.X.shape == (len(original), 2 * original.shape[1] + 3)
    noise = truth.X[:, truth.classes == 0]
    assert np.sort(noise.mean(axis=0)) == pytest.approx(np.sort(original.mean(axis=0)))
    assert len(np.unique(truth.X[:, truth.relevant], axis=1).T) == truth.relevant.sum() - 3


def test_error_rates_go_on_where_they_were_stopped(tmp_path, monkeypatch):
    path, levels = tmp_path / "error_rates.csv", (["fwer", "fdr"], [0.01, 0.1])
    rates = Journal(path, error_rates.Fit._fields, error_rates.MEASURED)
    error_rates.run(rates, error_rates.wanted(1, ["paper: Set 3"], *levels), jobs=1)
    first = path.read_text()
    judged = [(row["rate"], row["alpha"], row["false relevant"]) for row in rates.rows()]
    assert judged == [("fwer", 0.01, 0), ("fwer", 0.1, 0), ("fdr", 0.01, 0), ("fdr", 0.1, 0)]
    asked, judge = [], error_rates.judge
    monkeypatch.setattr(error_rates, "judge", lambda fit: asked.append(fit) or judge(fit))
    error_rates.run(rates, error_rates.wanted(2, ["paper: Set 3"], ["fdr"], [0.1]), jobs=1)
    assert asked == [("paper: Set 3", 1, "fdr", 0.1)]
    assert path.read_text().startswith(first)
    with pytest.raises(ValueError, match="no design begins with nothing"):
        list(error_rates.wanted(1, ["nothing"], *levels))


def test_error_rates_count_columns_of_known_truth_only():
    either = signal_designs.EITHER
    row = error_rates.counts(np.array([2, 2, 1, 0, 0, -1]), np.array([2, 1, 2, 0, 1, 2]))
    # It is relevant, and nobody knows whether it is strong.
    more = error_rates.counts(np.array([either, either]), np.array([2, 0]))
    assert (more["present relevant"], more["found relevant"]) == (2, 1)
    assert not any(more[f"{count} strong"] for count in error_rates.COUNTS)
    kinds = [
        [row[f"{count} {kind}"] for count in ("present", "absent", "called", "found", "false")]
        for kind in ("relevant", "strong")
    ]
    assert kinds == [[3, 2, 4, 3, 1], [2, 3, 2, 1, 1]]


def test_the_page_bounds_what_alpha_promises():
    def line(table, verdict, truth=(2, 2, 1, 0, 0), design="copies: regression"):
        fit = error_rates.Fit(design, table, "fdr", 0.1)._asdict()
        return fit | error_rates.counts(np.array(truth), np.array(verdict)) | {"seconds": 1.0}

    rows = [line(0, [2, 0, 0, 1, 1]), line(1, [2, 2, 0, 0, 0]), line(2, [0, 0, 0, 0, 0])]
    rows.append(line(0, [2, 1], truth=(2, 1), design="Chamma: linear"))
    relevant, strong = "\n".join(page(rows)).split("## Called ")[1:]
    expected = "| copies | fdr | 0.1 | 3 | 1 of 3 | 0.333 | 0.008 to 0.906 | 0.222 ± 0.222 | 0.333 "
    assert expected in relevant
    # Where no column is irrelevant, none can be false.
    assert "| Chamma | fdr | 0.1 | 1 | 0 of 0 | - | - | - | 1.000 |" in relevant
    assert "| copies | fdr | 0.1 | 3 | 0 of 3 | 0.000 " in strong.split("## ")[0]
    assert "0 of 1 | 0.000 | 0.000 to 0.975 | 0.000 | 1.000 |" in strong
    assert "Designs with false relevant columns" in strong
    assert "Designs with false strong columns" not in strong


@pytest.mark.parametrize("name", signal_designs.DESIGNS)
def test_a_design_is_drawn_by_its_seed(name):
    (X, y, truth), again = error_rates.draw(name, 3), error_rates.draw(name, 3)
    assert X.shape == (len(y), len(truth))
    assert X.equals(again[0]) if name.startswith("copies") else np.array_equal(X, again[0])
    np.testing.assert_array_equal(y, again[1])
    np.testing.assert_array_equal(truth, again[2])
    other = error_rates.draw(name, 4)[1]
    assert len(other) != len(y) or np.any(other != y) or np.all(truth == 0)


@pytest.mark.parametrize("table", range(20))
def test_copies_are_weak_and_nothing_replaces_what_is_strong(table):
    X, _, truth = error_rates.draw("copies: regression", table)
    numbers = [column.dtype.is_numeric() for column in X]
    frame, truth = X.to_pandas().loc[:, numbers], truth[numbers]
    ranks = frame.corr("spearman").fillna(0).abs().to_numpy() - np.eye(len(truth))
    assert np.all(ranks[truth == 1].max(axis=1) > 0.5)
    assert np.all(ranks[truth == 2].max(axis=1) < 0.995)
    assert np.all(ranks[truth == 0][:, truth > 0] < 0.5)
    whole = frame.dropna().to_numpy()
    for j in np.flatnonzero(truth == 2):
        others = np.delete(whole, j, axis=1)
        left = np.linalg.lstsq(others, whole[:, j])[1] if len(whole) > len(truth) else [1]
        assert not len(left) or left[0] > 1e-6


@pytest.mark.parametrize("model", ["linear", "classification", "ReLU"])
def test_neighbours_of_signals_add_nothing(model):
    X, y, truth = signal_designs.chamma(model, np.random.default_rng(0), n=100_000)
    design = np.column_stack([np.ones(len(y)), X])
    inverse = np.linalg.inv(design.T @ design)
    slopes = inverse @ design.T @ y
    errors = np.sqrt(np.diag(inverse) * np.var(y - design @ slopes))
    t = np.abs(slopes / errors)[1:]
    assert t[truth == 1].max() < 5 < t[truth == 2].min()
