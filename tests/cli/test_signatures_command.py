"""squamish signatures and squamish path: what follows from a saved verdict."""

import json

import pytest


@pytest.fixture
def saved(patients, paper_patients, tmp_path, monkeypatch):
    """A folder with results of both methods and prices of columns."""
    monkeypatch.chdir(tmp_path)
    patients.to_json("result.json")
    paper_patients.to_json("paper.json")
    (tmp_path / "prices.csv").write_text("Column, Cost\nbmi,7\nbmi_copy, 2\n\nsex,1.5\n")
    return patients


def test_signatures_are_counted_listed_and_priced(run, saved, capsys):
    found = saved.signatures
    assert run("signatures", "result.json", "--costs", "prices.csv", "--most", 2) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{found.count} signatures of ")
    assert lines[1] == f"In every one: {', '.join(found.fixed)}"
    assert "One of: bmi or bmi_copy" in lines or "One of: bmi_copy or bmi" in lines
    assert any(line.startswith(f"Checked: of {found.n_checked} sets") for line in lines)
    assert lines.index("The first 2:") == len(lines) - 4
    assert lines[-3:-1] == [f"  {', '.join(columns)}" for columns in list(found)[:2]]
    cheapest = found.cheapest({"bmi": 7, "bmi_copy": 2, "sex": 1.5})
    assert lines[-1] == f"The cheapest costs 3.5: {', '.join(cheapest.columns)}"


def test_signatures_without_some_columns_as_json(run, saved, capsys):
    arguments = ["--without", "bmi", "--json", "--costs", "prices.csv"]
    assert run("signatures", "result.json", *arguments) == 0
    content = json.loads(capsys.readouterr().out)
    left = saved.signatures.without(["bmi"])
    assert content["count"] == left.count == len(content["signatures"])
    assert all("bmi_copy" in columns for columns in content["signatures"])
    assert content["cheapest"]["cost"] == 3.5


def test_the_path_is_printed(run, saved, capsys):
    assert run("path", "result.json") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["columns", "keeps", "95%", "interval", "minimal", "change"]
    minimal = next(line for line in lines if " yes " in line)
    assert int(minimal.split()[0]) == len(saved.select("minimal"))
    assert run("path", "result.json", "--json") == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["size"] for row in rows] == list(range(1, len(rows) + 1))
    assert sum(row["minimal"] for row in rows) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["signatures", "paper.json"], "'paper.json' has no signatures: method 'paper'"),
        (["path", "paper.json"], "'paper.json' has no path: method 'paper'"),
        (["signatures", "none.json"], "'none.json' cannot be read"),
        (["signatures", "result.json", "--without", "bmi,bmi_copy"], "nothing else stands in"),
        (["signatures", "result.json", "--without", "sex"], "'sex' is in every signature"),
        (["signatures", "result.json", "--without", "bmi_cpy"], "did you mean 'bmi_copy'"),
        (["signatures", "result.json", "--most", "-1"], "--most is -1; it must be a whole number"),
        (
            ["signatures", "result.json", "--costs", "result.json"],
            "line 1 of --costs, 'result.json'",
        ),
    ],
)
def test_mistakes_get_one_line(run, saved, arguments, message, capsys):
    assert run(*arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert printed.err.count("\n") == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("bmi,cheap", "line 2 of --costs, 'c.csv', has 'cheap' for 'bmi'; a cost must be a number"),
        ("bmi,-1", "has '-1' for 'bmi'; a cost must be a number of 0 or more"),
        ("bmi,nan", "has 'nan' for 'bmi'"),
        ("bmi,1,2", "line 2 of --costs, 'c.csv', has 3 fields; it must have a column and its cost"),
        ("bmy,1", "line 2 of --costs, 'c.csv', is wrong: there is no column 'bmy'; did you mean"),
        ("bmi,1\nbmi,2", "--costs, 'c.csv', names 'bmi' twice"),
        ("\udcff,1", "--costs, 'c.csv', is no UTF-8 text"),
    ],
)
def test_a_wrong_cost_is_named(run, saved, tmp_path, line, message, capsys):
    content = f"column,cost\n{line}\n".encode(errors="surrogateescape")
    (tmp_path / "c.csv").write_bytes(content)
    assert run("signatures", "result.json", "--costs", "c.csv") == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.err.count("\n") == 1
