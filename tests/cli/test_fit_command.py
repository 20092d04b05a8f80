"""squamish fit: a file goes in, and the verdict comes out."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest

from squamish import RelevanceResult
from squamish.table.files import read_file


def test_a_file_goes_in_and_the_verdict_comes_out(squamish, folder):
    command = ["fit", "patients.csv.gz", "--target", "outcome", "--drop", "patient,fold"]
    done = squamish(*command, "--weights", "weight of row", "--seed", 1, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "blood pressure  strong" in done.stdout
    assert not (folder / "squamish-nothing").exists()
    assert "1 irrelevant: noise\n" in done.stdout
    assert "2 strong, 0 weak, 1 irrelevant of 3; out-of-sample log loss" in done.stdout
    assert "stage 1 of 6" in done.stderr
    out = folder / "squamish-patients"
    assert sorted(path.name for path in out.iterdir()) == [
        "features.csv",
        "report.html",
        "result.json",
    ]
    result = RelevanceResult.from_json(out / "result.json")
    assert result.strong == ("blood pressure", "sex")
    assert result.provenance.data == "patients.csv.gz"
    assert result.provenance.command == (
        "squamish fit patients.csv.gz --target outcome --drop patient,fold "
        "--weights 'weight of row' --seed 1"
    )
    frame = pl.read_csv(out / "features.csv")
    assert frame["class"].to_list() == ["strong", "strong", "irrelevant"]
    assert "<!doctype html>" in (out / "report.html").read_text(encoding="utf-8")


def test_columns_are_adjusted_for_and_stay_in_the_reduced_table(run, here, capsys):
    arguments = ["--target", "outcome", "--drop", "patient,fold,weight of row"]
    arguments += ["--adjust-for", "sex", "--reduced", "adjusted.csv", "--out", "adjusted"]
    assert run("fit", "patients.csv.gz", *arguments) == 0
    said = capsys.readouterr().out
    assert "Adjusted for, in every model: sex" in said
    assert "for sex alone" in said
    result = RelevanceResult.from_json(here / "adjusted" / "result.json")
    assert result.adjusted_for == ("sex",)
    assert result.strong == ("blood pressure",)
    assert read_file(here / "adjusted.csv").columns == ["blood pressure", "sex", "outcome"]


def test_the_same_command_goes_on_from_its_checkpoint(run, here, capsys):
    arguments = ["patients.csv.gz", "--target", "outcome", "--quiet", "--checkpoint", "work.bin"]
    assert run("fit", *arguments, "--out", "one") == 0
    size = (here / "work.bin").stat().st_size
    assert run("fit", *arguments, "--out", "two") == 0
    assert (here / "work.bin").stat().st_size == size
    one, two = (RelevanceResult.from_json(f"{name}/result.json") for name in ("one", "two"))
    assert one.compare(two).same
    assert "--checkpoint" not in one.provenance.command
    assert run("fit", *arguments, "--seed", 7) == 2
    assert "'work.bin' was made with other settings" in capsys.readouterr().err


def test_the_command_is_recorded_as_far_as_the_verdict_depends_on_it(run, here, capsys):
    arguments = ["patients.csv.gz", "--drop", "weight of row", "--target", "outcome", "--quiet"]
    arguments += ["--drop", "fold", "--cv", 4, "--alpha", 0.05, "--method", "crossfit"]
    assert run("fit", *arguments, "--categorical", "patient", "--json", "--jobs", 2) == 0
    assert RelevanceResult.from_json(capsys.readouterr().out).provenance.command == (
        "squamish fit patients.csv.gz --target outcome --alpha 0.05 --drop 'weight of row' "
        "--drop fold --categorical patient --cv 4 --jobs 2"
    )


def test_groups_categories_folds_and_quiet(run, here, capsys):
    arguments = ["patients.csv.gz", "--target", "outcome", "--drop", "weight of row", "--quiet"]
    more = ["--groups", "patient", "--categorical", "sex", "--jobs", 2, "--drop", "fold"]
    assert run("fit", *arguments, *more, "--cv", 4, "--out", "quiet") == 0
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "")
    assert RelevanceResult.from_json("quiet/result.json").strong == ("blood pressure", "sex")


@pytest.mark.parametrize("cv", ["fold", "time", "time:3", "5"])
def test_json_for_scripts(run, here, capsys, cv):
    before = set(here.iterdir())
    drop = ["patient,weight of row", *(["--drop", "fold"] if cv != "fold" else [])]
    arguments = ["--target", "outcome", "--drop", *drop, "--cv", cv, "--json"]
    assert run("fit", "patients.csv.gz", *arguments) == 0
    result = RelevanceResult.from_json(capsys.readouterr().out)
    assert "blood pressure" in result.strong
    assert "noise" in result.irrelevant
    assert set(here.iterdir()) == before


def test_a_number_of_columns_and_the_cheapest_signature(run, here, capsys):
    (here / "prices.csv").write_text("column,cost\nsex,2.5\nblood pressure,4\n")
    arguments = ["--target", "outcome", "--drop", "fold,patient", "--out", "priced"]
    arguments += ["--reduced", "one.csv", "--select", 1, "--costs", "prices.csv"]
    assert run("fit", "patients.csv.gz", *arguments) == 0
    assert "The cheapest costs 6.5: blood pressure, sex\n" in capsys.readouterr().out
    result = RelevanceResult.from_json("priced/result.json")
    assert read_file("one.csv").columns == [*result.select(1), "outcome"]
    assert "--costs" not in result.provenance.command
    assert "--select 1" in result.provenance.command


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "feather"])
def test_the_reduced_table_is_written_on_request(run, here, ending, capsys):
    arguments = ["--target", "outcome", "--drop", "fold", "--groups", "patient", "--json"]
    # In a folder that is still to be made.
    out, reduced = f"all of {ending}", f"all of {ending}/reduced.{ending}"
    arguments += ["--out", out, "--reduced", reduced, "--select", "strong"]
    assert run("fit", "patients.csv.gz", *arguments) == 0
    table = read_file(reduced)
    assert table.columns == ["blood pressure", "sex", "patient", "outcome"]
    assert table.height == 200


def test_warnings_are_lines(run, tmp_path, capsys):
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.standard_normal((30, 3)), columns=["a", "b", "y"]).to_csv(
        tmp_path / "few.csv", index=False
    )
    arguments = ["--target", "y", "--method", "paper", "--quiet", "--out", tmp_path / "out"]
    assert run("fit", tmp_path / "few.csv", *arguments) == 0
    assert capsys.readouterr().err.startswith("squamish: warning: the table has 30 rows, but")


@pytest.mark.skipif(os.name == "nt", reason="signals are for Unix")
def test_an_interruption_ends_with_one_line_and_no_half_written_file(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((3000, 80)), columns=[f"x{j}" for j in range(80)])
    table.assign(y=table["x0"] * table["x1"]).to_parquet(tmp_path / "big.parquet")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "result.json").write_text("an earlier one")
    command = [sys.executable, "-m", "squamish.cli", "fit", "big.parquet", "--target", "y"]
    with subprocess.Popen(
        [*command, "--out", "out"], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    ) as process:
        while "stage 1" not in process.stderr.readline():
            assert process.poll() is None
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        error = process.stderr.read()
        assert process.wait(60) == 130
    assert error.endswith("squamish: interrupted; no file is half-written\n")
    assert "Traceback" not in error
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["result.json"]
    assert (tmp_path / "out" / "result.json").read_text() == "an earlier one"
