"""squamish fit --time --event, and --exposure."""

import json

import numpy as np
import pandas as pd
import pytest

from squamish.datasets import make_survival


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Patients with a status of several values, and visits with exposures."""
    problem = make_survival(200, n_strong=1, group_sizes=[2], n_irrelevant=2, random_state=0)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(problem.X, columns=["age", "a", "b", "c", "d"])
    frame["days"] = problem.y["time"].round(4)
    frame["died"] = problem.y["event"]
    frame["state"] = np.where(problem.y["event"], "dead", rng.choice(["alive", "moved"], 200))
    frame["status"] = np.where(problem.y["event"], 2, rng.integers(0, 2, 200))
    frame["hours"] = rng.uniform(1, 9, 200).round(2)
    frame["falls"] = rng.poisson(0.2 * frame["hours"] * np.exp(frame["age"]))
    path = tmp_path_factory.mktemp("times") / "patients.csv"
    frame.to_csv(path, index=False)
    return path


DROP = ("--drop", "hours,falls")


@pytest.mark.parametrize("event", ["died", "state=dead", "status=2", "died=true"])
def test_the_event_is_named_by_a_column_or_by_one_of_its_values(run, table, tmp_path, event):
    others = {"died", "state", "status"} - {event.partition("=")[0]}
    drop = (*DROP, "--drop", ",".join(others))
    assert (
        run("fit", table, "--time", "days", "--event", event, *drop, "--out", tmp_path, "-q") == 0
    )
    saved = json.loads((tmp_path / "result.json").read_text())
    assert saved["task"] == "survival"
    assert saved["classes"] == [2, 1, 1, 0, 0]
    assert saved["provenance"]["target"] == f"days ({event})"
    assert f"--event {event}" in saved["provenance"]["command"]
    assert "How well risks are told" in (tmp_path / "report.html").read_text()


def test_counts_have_exposures(run, table, tmp_path):
    arguments = ("--target", "falls", "--exposure", "hours", "--task", "counts")
    drop = ("--drop", "days,died,state,status")
    assert run("fit", table, *arguments, *drop, "--out", tmp_path, "-q", "--audit", 1) == 0
    saved = json.loads((tmp_path / "result.json").read_text())
    assert saved["task"] == "counts"
    assert saved["classes"][0] == 2
    assert "hours" not in saved["columns"]["names"]
    assert json.loads((tmp_path / "audit.json").read_text())["n_shuffles"] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "--target COLUMN, or by --time COLUMN and --event COLUMN; neither is given"),
        (("--time", "days"), "--time and --event belong together"),
        (
            ("--target", "falls", "--time", "days", "--event", "died"),
            "--time COLUMN and --event COLUMN; both are given",
        ),
        (("--time", "days", "--event", "status"), "'status', which holds 0, 1, 2; it must hold"),
        (("--time", "days", "--event", "state"), "such as --event state=moved"),
        (("--time", "days", "--event", "dyed"), "'dyed'"),
        (("--time", "days", "--event", "days"), "'days' is given more than one role"),
        (
            ("--time", "days", "--event", "died", "--task", "regression"),
            "--task is 'regression', but --time and --event take 'survival'",
        ),
        (("--target", "days", "--task", "survival"), "--task survival takes --time COLUMN"),
        (
            ("--time", "days", "--event", "died", "--exposure", "hours"),
            "--exposure belongs to counts",
        ),
        (
            ("--target", "falls", "--exposure", "hours", "--task", "regression"),
            "exposure takes --task counts, but task is 'regression'",
        ),
        (("--time", "days", "--event", "status=7"), "the target has no event in 200 rows"),
    ],
)
def test_mistakes_get_one_line(squamish, table, tmp_path, arguments, message):
    ended = squamish("fit", table, *arguments, "--out", tmp_path, "-q")
    assert ended.returncode == 2
    assert message in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1
