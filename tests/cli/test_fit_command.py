"""The command line, run as a user would."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest

from squamish import RelevanceResult, __version__
from squamish.cli import _lost_connections_are_errors, app


def squamish(*arguments, cwd=None):
    command = [sys.executable, "-m", "squamish.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


def run(*arguments):
    """Run in this process, and return the exit code."""
    return app([str(a) for a in arguments], standalone_mode=False) or 0


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
    (path / "open.csv").write_text('"' + "a,b\n" * 50_000)
    return path


@pytest.fixture
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return folder


def test_a_file_goes_in_and_the_verdict_comes_out(folder):
    command = ["fit", "patients.csv.gz", "--target", "outcome", "--drop", "patient,fold"]
    done = squamish(*command, "--weights", "weight of row", "--seed", 1, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "blood pressure  strong" in done.stdout
    assert not (folder / "squamish-nothing").exists()
    assert "1 irrelevant: noise\n" in done.stdout
    assert "2 strong, 0 weak, 1 irrelevant of 3; out-of-sample log loss" in done.stdout
    assert "stage 1 of 5" in done.stderr
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


def test_the_same_command_goes_on_from_its_checkpoint(here, capsys):
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


def test_groups_categories_folds_and_quiet(here, capsys):
    arguments = ["patients.csv.gz", "--target", "outcome", "--drop", "weight of row", "--quiet"]
    more = ["--groups", "patient", "--categorical", "sex", "--jobs", 2, "--drop", "fold"]
    assert run("fit", *arguments, *more, "--cv", 4, "--out", "quiet") == 0
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "")
    assert RelevanceResult.from_json("quiet/result.json").strong == ("blood pressure", "sex")


@pytest.mark.parametrize("cv", ["fold", "time", "time:3", "5"])
def test_json_for_scripts(here, capsys, cv):
    before = set(here.iterdir())
    drop = ["patient,weight of row", *(["--drop", "fold"] if cv != "fold" else [])]
    arguments = ["--target", "outcome", "--drop", *drop, "--cv", cv, "--json"]
    assert run("fit", "patients.csv.gz", *arguments) == 0
    result = RelevanceResult.from_json(capsys.readouterr().out)
    assert "blood pressure" in result.strong
    assert "noise" in result.irrelevant
    assert set(here.iterdir()) == before


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "feather"])
def test_the_reduced_table_is_written_on_request(here, ending, capsys):
    from squamish.table.files import read_file

    arguments = ["--target", "outcome", "--drop", "fold", "--groups", "patient", "--json"]
    # In a folder that is still to be made.
    out, reduced = f"all of {ending}", f"all of {ending}/reduced.{ending}"
    arguments += ["--out", out, "--reduced", reduced, "--select", "strong"]
    assert run("fit", "patients.csv.gz", *arguments) == 0
    table = read_file(reduced)
    assert table.columns == ["blood pressure", "sex", "patient", "outcome"]
    assert table.height == 200


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["patients.csv.gz", "--target", "outcom"], "no column 'outcom'; did you mean 'outcome'?"),
        (["patients.csv.gz", "--target", "zzz"], "the columns are blood pressure, sex, patient"),
        (["patients.csv", "--target", "outcome"], "there is no file 'patients.csv'"),
        ([".", "--target", "outcome"], "'.' is a folder"),
        (["picture.png", "--target", "outcome"], "'picture.png' does not end in .csv"),
        (["broken.parquet", "--target", "outcome"], "'broken.parquet' cannot be read"),
        (["torn.csv.gz", "--target", "sex"], "'torn.csv.gz' cannot be read"),
        (["one class.parquet", "--target", "outcome"], "the target holds one class only, ill"),
        (["twice.csv", "--target", "a"], "more than one column is called 'a'"),
        (["latin.csv", "--target", "b"], "it is no UTF-8 text (the byte 0xe9 at 5)"),
        (["ragged.csv", "--target", "b"], "line 3 has 3 fields, the first has 2"),
        (["alone.csv", "--target", "a"], "no column is left to judge"),
        (["patients.csv.gz", "--target", "outcome", "--seed", "-1"], "--seed is -1; it must be"),
        (["patients.csv.gz", "--target", "outcome", "--jobs", "0"], "--jobs is 0; it must be"),
        (["patients.csv.gz", "--target", "outcome", "--weights", "noise"], "--weights holds -"),
        (["patients.csv.gz", "--target", "outcome", "--method", "magic"], "method is 'magic'"),
        (["patients.csv.gz", "--target", "outcome", "--alpha", "2"], "alpha is 2.0"),
        (["patients.csv.gz", "--target", "outcome", "--select", "minimal"], "give --reduced"),
        (["patients.csv.gz", "--target", "outcome", "--cv", "1"], "cv is 1; it must be"),
        (["patients.csv.gz", "--target", "outcome", "--cv", "times"], "--cv is 'times'; it must"),
        (["patients.csv.gz", "--target", "outcome", "--cv", "time:1"], "--cv time is 1; it must"),
        (["patients.csv.gz", "--target", "outcome", "--cv", "time:x"], "--cv is 'time:x'"),
        (["patients.csv.gz", "--target", "sex", "--drop", "sex"], "'sex' is given more than one"),
        (
            ["patients.csv.gz", "--target", "outcome", "--drop", "sex", "--categorical", "sex"],
            "'sex' is given more than one role",
        ),
        (["weights.csv", "--target", "b", "--weights", "sample_weigt"], "mean 'sample_weight'?"),
        (["open.csv", "--target", "b"], "'open.csv' cannot be read"),
        (["patients.csv.gz", "--target", "outcome", "--out", "picture.png/x"], "is a file"),
        (["patients.csv.gz", "--target", "outcome", "--reduced", "x.pdf"], "does not end in .csv"),
        (["patients.csv.gz", "--target", "outcome", "--reduced", "no/x.csv"], "no folder 'no'"),
        (
            ["patients.csv.gz", "--target", "outcome", "--method", "paper", "--alpha", "0.1"],
            "--alpha belongs to --method crossfit",
        ),
    ],
)
def test_mistakes_get_one_line(here, arguments, message, capsys):
    assert run("fit", *arguments, "--quiet") == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert printed.err.count("\n") == 1


def test_the_data_itself_is_not_overwritten(here, capsys):
    arguments = ["one class.parquet", "--target", "sex", "--reduced", "./one class.parquet"]
    assert run("fit", *arguments) == 2
    assert "--reduced would replace the data" in capsys.readouterr().err
    arguments = [
        "one class.parquet",
        "--target",
        "sex",
        "--out",
        "v",
        "--reduced",
        "v/features.csv",
    ]
    assert run("fit", *arguments) == 2
    assert "--reduced would replace --out with its features.csv" in capsys.readouterr().err


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


def test_the_demo_shows_all_three_classes(tmp_path):
    done = squamish("demo", "--out", tmp_path / "demo")
    assert done.returncode == 0, done.stderr
    assert "2 strong, 9 weak in 2 groups and 2 alone, 4 irrelevant of 15" in done.stdout
    assert {path.name for path in (tmp_path / "demo").iterdir()} == {
        "features.csv",
        "patients.csv",
        "report.html",
        "result.json",
    }


def test_a_saved_result_becomes_a_page_again(here, patients, tmp_path, capsys):
    patients.to_json(tmp_path / "result.json")
    assert run("report", tmp_path / "result.json") == 0
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == patients.to_html()
    assert run("report", tmp_path / "result.json", "--out", tmp_path / "verdict.md") == 0
    assert (tmp_path / "verdict.md").read_text() == patients.to_markdown()
    assert run("report", "patients.csv.gz") == 2
    assert run("report", "nothing.json") == 2
    assert "'nothing.json' cannot be read: No such file" in capsys.readouterr().err
    assert run("report", tmp_path / "result.json", "--out", "x.pdf") == 2
    assert "'x.pdf' ends neither in .html nor in .md" in capsys.readouterr().err


def test_two_saved_results_are_compared(patients, paper_patients, tmp_path, capsys):
    patients.to_json(tmp_path / "a.json")
    paper_patients.to_json(tmp_path / "b.json")
    assert run("compare", tmp_path / "a.json", tmp_path / "a.json") == 0
    assert run("compare", tmp_path / "a.json", tmp_path / "b.json") == 1
    assert "  sex: strong -> irrelevant" in capsys.readouterr().out
    assert run("compare", tmp_path / "a.json", tmp_path / "b.json", "--json") == 1
    assert json.loads(capsys.readouterr().out)["changed"]["sex"] == ["strong", "irrelevant"]


def test_problems_with_known_truth_are_generated(tmp_path, capsys):
    assert run("generate", "set 3", tmp_path / "set.csv", "--truth", tmp_path / "truth.csv") == 0
    assert "150 x 10: 3 strong, 4 weak" in capsys.readouterr().out
    assert pl.read_csv(tmp_path / "set.csv").shape == (150, 11)
    assert pl.read_csv(tmp_path / "truth.csv")["class"].to_list().count("weak") == 4
    assert run("generate", "--list") == 0
    assert {"Set 8", "NL 4", "XOR"} <= set(capsys.readouterr().out.splitlines())
    assert run("generate", "Set 33", tmp_path / "set.csv") == 2
    assert "there is no preset 'Set 33'; did you mean 'Set 3'" in capsys.readouterr().err
    assert run("generate", "Set 3") == 2
    assert run("generate", "Set 3", tmp_path / "x.csv", "--truth", tmp_path / "x.csv") == 2


def test_warnings_are_lines(tmp_path, capsys):
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.standard_normal((30, 3)), columns=["a", "b", "y"]).to_csv(
        tmp_path / "few.csv", index=False
    )
    arguments = ["--target", "y", "--method", "paper", "--quiet", "--out", tmp_path / "out"]
    assert run("fit", tmp_path / "few.csv", *arguments) == 0
    assert capsys.readouterr().err.startswith("squamish: warning: the table has 30 rows, but")


def test_version_help_and_completion():
    assert squamish("--version").stdout == f"squamish {__version__}\n"
    for command in ("fit", "demo", "report", "compare", "generate"):
        page = squamish(command, "--help").stdout
        assert "Example" in page, page
    assert "--target" in squamish("fit", "--help").stdout
    assert "Exit codes" in squamish("--help").stdout
    asked = {"_SQUAMISH_COMPLETE": "complete_bash", "COMP_WORDS": "squamish ge", "COMP_CWORD": "1"}
    code = "from squamish.cli import app; app(prog_name='squamish')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | asked,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "generate"


def test_a_reader_that_ends_and_a_closed_output_are_no_errors(folder):
    command = f"{sys.executable} -m squamish.cli generate --list"
    for more in ("| head -1", ">&-"):
        done = subprocess.run(
            f"{command} {more}", shell=True, capture_output=True, text=True, check=False
        )
        assert done.stderr == ""
        assert done.returncode == 0


@pytest.mark.parametrize("library", ["typer", "polars", "jinja2"])
def test_without_its_extra_the_command_line_says_how_to_get_it(library):
    code = f"import sys; sys.modules['{library}'] = None; import squamish.cli"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install 'squamish[cli]'" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="signals are for Unix")
def test_a_lost_cluster_does_not_end_us_as_a_closed_output_does():
    before = signal.getsignal(signal.SIGPIPE)
    with _lost_connections_are_errors("tcp://127.0.0.1:1"):
        assert signal.getsignal(signal.SIGPIPE) == signal.SIG_IGN
    assert signal.getsignal(signal.SIGPIPE) == before


@pytest.mark.parametrize(
    ("name", "more", "message"),
    [
        ("features.csv", ["--out", "."], "--out with its features.csv would replace the data"),
        ("FEATURES.csv", ["--out", "."], "--out with its features.csv would replace the data"),
        ("report.html.csv", ["--reduced", "report.html.CSV"], "--reduced would replace the data"),
        ("data.csv", ["--reduced", "linked.csv"], "--reduced would replace the data"),
        ("data.csv", ["--out", "v", "--checkpoint", "v/result.json"], "would replace the checkpo"),
    ],
)
def test_no_output_replaces_an_input(tmp_path, monkeypatch, capsys, name, more, message):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / name
    path.write_text("x,y\n" + "1,2\n3,4\n" * 20)
    (tmp_path / "linked.csv").symlink_to(path)
    before = path.read_bytes()
    assert run("fit", name, "--target", "y", *more) == 2
    assert message in capsys.readouterr().err
    assert path.read_bytes() == before


def test_a_report_does_not_replace_its_result(here, capsys):
    assert run("fit", "patients.csv.gz", "--target", "outcome", "--quiet", "--out", "saved") == 0
    os.rename("saved/result.json", "saved/report.html")
    assert run("report", "saved/report.html") == 2
    assert "the report would replace the result" in capsys.readouterr().err
