"""Data from pipes, notes in the words of the shell, tables that keep nothing."""

import subprocess
import sys

import numpy as np
import pandas as pd

from squamish import RelevanceResult


def test_data_may_come_from_standard_input(squamish, folder, tmp_path):
    arguments = ["fit", "-", "--target", "outcome", "--drop", "patient", "--quiet"]
    results = []
    for name in ("patients.csv.gz", "patients.csv", "patients.parquet"):
        table = pd.read_csv(folder / "patients.csv.gz")
        content = (folder / "patients.csv.gz").read_bytes()
        if name.endswith("csv"):
            content = table.to_csv(index=False).encode()
        elif name.endswith("parquet"):
            content = table.to_parquet()
        found = subprocess.run(
            [sys.executable, "-m", "squamish.cli", *arguments],
            input=content,
            capture_output=True,
            cwd=tmp_path,
            check=True,
        )
        assert found.stderr == b""
        results.append(RelevanceResult.from_json(tmp_path / "squamish-stdin" / "result.json"))
    assert results[0].strong == ("blood pressure", "sex")
    assert [r.classes.tolist() for r in results[1:]] == [results[0].classes.tolist()] * 2
    assert "squamish fit - --target outcome" in results[0].provenance.command


def test_nothing_on_standard_input_is_said(squamish, tmp_path):
    found = squamish("fit", "-", "--target", "y", input="", cwd=tmp_path)
    assert (found.returncode, found.stderr) == (2, "squamish: standard input holds nothing\n")
    found = squamish("fit", "-", "--target", "y", input="a,b\n1,2,3\n", cwd=tmp_path)
    assert found.returncode == 2
    assert "'stdin.csv' cannot be read" in found.stderr


def test_notes_are_in_the_words_of_the_shell(run, tmp_path, capsys):
    rng = np.random.default_rng(0)
    x = rng.standard_normal(300)
    table = pd.DataFrame(
        {"x": x, "z": rng.standard_normal(300), "visits": rng.poisson(200 + 60 * (x > 0))}
    )
    table.to_csv(tmp_path / "visits.csv", index=False)
    run("fit", tmp_path / "visits.csv", "--target", "visits", "--out", tmp_path / "out")
    printed = " ".join(capsys.readouterr().out.split())
    assert "Note: the target holds" in printed
    assert "--task classification takes them for classes" in printed
    assert "task=" not in printed
    assert "y holds" not in printed


def test_a_reduced_table_without_columns_is_noted(run, tmp_path, capsys):
    rng = np.random.default_rng(0)
    x = rng.standard_normal(200)
    table = pd.DataFrame({"x": x, "copy": 2 * x, "y": x + 0.3 * rng.standard_normal(200)})
    table.to_csv(tmp_path / "copies.csv", index=False)
    reduced = tmp_path / "reduced.csv"
    arguments = ["--reduced", reduced, "--select", "strong", "--out", tmp_path / "out", "--quiet"]
    run("fit", tmp_path / "copies.csv", "--target", "y", *arguments)
    assert "nothing is selected: " in capsys.readouterr().err
    assert pd.read_csv(reduced).columns.tolist() == ["y"]


def test_gaps_can_be_ignored(run, tmp_path):
    rng = np.random.default_rng(0)
    gap = rng.random(300) < 0.3
    table = pd.DataFrame(
        {"gap": np.where(gap, np.nan, 1.0 * rng.integers(0, 99, 300)), "z": rng.random(300)}
    )
    table["y"] = gap + 0.3 * rng.standard_normal(300)
    table.to_csv(tmp_path / "gaps.csv", index=False)
    found = []
    for meaning in ("informative", "ignore"):
        out = tmp_path / meaning
        run("fit", tmp_path / "gaps.csv", "--target", "y", "--missing", meaning, "--out", out, "-q")
        found.append(RelevanceResult.from_json(out / "result.json").classes.tolist())
    assert found == [[2, 0], [0, 0]]
