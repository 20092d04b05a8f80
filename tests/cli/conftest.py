"""A command line to type into, and a folder with tables good and bad."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from squamish.cli import app


@pytest.fixture(scope="session")
def squamish():
    """Run a command as a user would, in a process of its own."""

    def squamish(*arguments, **settings):
        command = [sys.executable, "-m", "squamish.cli", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False, **settings)

    return squamish


@pytest.fixture(scope="session")
def run():
    """Run a command in this process, and return the exit code."""
    return lambda *arguments: app([str(a) for a in arguments], standalone_mode=False) or 0


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A folder with a table of patients, and with files that cannot be used."""
    rng = np.random.default_rng(0)
    n = 200
    table = pd.DataFrame(
        {
            "blood pressure": rng.standard_normal(n),
            "sex": rng.choice(["f", "m"], n),
            "patient": np.arange(n) // 2,
            "weight of row": rng.choice([0.0, 1.0], n, p=[0.1, 0.9]),
            "fold": np.arange(n) % 3,
            "noise": rng.standard_normal(n),
        }
    )
    score = table["blood pressure"] + 2 * (table["sex"] == "f") + 0.3 * rng.standard_normal(n)
    table["outcome"] = np.where(score > 1, "ill", "well")
    path = tmp_path_factory.mktemp("data")
    table.to_csv(path / "patients.csv.gz", index=False)
    table.assign(outcome="ill").to_parquet(path / "one class.parquet")
    (path / "broken.parquet").write_bytes(b"no table")
    (path / "torn.csv.gz").write_bytes((path / "patients.csv.gz").read_bytes()[:-50])
    (path / "picture.png").write_bytes(b"")
    (path / "twice.csv").write_text("a,b,a\n1,2,3\n")
    (path / "latin.csv").write_bytes("b,caf\xe9\n1,2\n".encode("latin-1"))
    (path / "ragged.csv").write_text("a,b\n1,2\n1,2,3\n")
    (path / "alone.csv").write_text("a\n1\n2\n")
    (path / "weights.csv").write_text("sample_weight,b\n1,2\n")
    (path / "gaps.csv").write_text("a,b,fold\n1,2,0\n3,4,\n")
    (path / "open.csv").write_text('"' + "a,b\n" * 50_000)
    return path


@pytest.fixture
def here(folder, monkeypatch):
    """The same folder, to work in."""
    monkeypatch.chdir(folder)
    return folder
