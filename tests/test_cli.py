"""The command line, run as a user would."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from squamish import __version__
from squamish.cli import app


def squamish(*arguments):
    command = [sys.executable, "-m", "squamish.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    rng = np.random.default_rng(0)
    n = 200
    table = pd.DataFrame(
        {
            "blood pressure": rng.standard_normal(n),
            "sex": rng.choice(["f", "m"], n),
            "patient": np.arange(n) // 2,
            "weight of row": rng.choice([0.0, 1.0], n, p=[0.1, 0.9]),
            "noise": rng.standard_normal(n),
        }
    )
    score = table["blood pressure"] + 2 * (table["sex"] == "f") + 0.3 * rng.standard_normal(n)
    table["outcome"] = np.where(score > 1, "ill", "well")
    path = tmp_path_factory.mktemp("data")
    table.to_csv(path / "patients.csv.gz", index=False)
    table.assign(outcome="ill").to_parquet(path / "one class.parquet")
    (path / "broken.parquet").write_bytes(b"no table")
    (path / "picture.png").write_bytes(b"")
    return path


def test_a_file_goes_in_and_the_verdict_comes_out(folder):
    run = squamish(
        "fit",
        folder / "patients.csv.gz",
        "--target",
        "outcome",
        "--seed",
        1,
        "--drop",
        "patient",
        "--weights",
        "weight of row",
    )
    assert run.returncode == 0, run.stderr
    assert "Cannot do without (strong)           blood pressure, sex\n" in run.stdout
    assert "(irrelevant)          noise\n" in run.stdout
    again = squamish(
        "fit",
        folder / "patients.csv.gz",
        "--target",
        "outcome",
        "--groups",
        "patient",
        "--categorical",
        "sex",
        "--drop",
        "weight of row",
        "--jobs",
        2,
    )
    assert "2 strong, 0 weak, 1 irrelevant of 3 features" in again.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["patients.csv.gz", "--target", "outcom"], "no column 'outcom'; did you mean 'outcome'?"),
        (["patients.csv.gz", "--target", "zzz"], "the columns are blood pressure, sex, patient"),
        (["patients.csv", "--target", "outcome"], "there is no file 'patients.csv'"),
        ([".", "--target", "outcome"], "'.' is a folder"),
        (["picture.png", "--target", "outcome"], "'picture.png' does not end in .csv"),
        (["broken.parquet", "--target", "outcome"], "'broken.parquet' cannot be read"),
        (["one class.parquet", "--target", "outcome"], "y holds one class only, ill"),
        (["patients.csv.gz", "--target", "outcome", "--method", "magic"], "method is 'magic'"),
        (["patients.csv.gz", "--target", "outcome", "--alpha", "2"], "alpha is 2.0"),
        (["patients.csv.gz", "--target", "sex", "--drop", "sex"], "'sex' is given more than one"),
        (
            ["patients.csv.gz", "--target", "outcome", "--method", "paper", "--folds", "3"],
            "--alpha and --folds belong to --method crossfit",
        ),
    ],
)
def test_mistakes_get_one_line(folder, arguments, message, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    assert app(["fit", *arguments], standalone_mode=False) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert printed.err.count("\n") == 1


def test_version_and_help():
    assert squamish("--version").stdout == f"squamish {__version__}\n"
    assert "--target" in squamish("fit", "--help").stdout


def test_without_its_extra_the_command_line_says_how_to_get_it():
    code = "import sys; sys.modules['typer'] = None; import squamish.cli"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "pip install 'squamish[cli]'" in run.stderr
    assert run.stderr.count("\n") == 1
