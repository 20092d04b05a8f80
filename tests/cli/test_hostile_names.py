"""Names of columns and files are names: no pattern, no formula, no order to a terminal."""

import gzip
import json

import polars as pl
import pytest

ROWS = 60


@pytest.fixture
def patterns(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    columns = {"^x.*$": 7, "x1": 5, "x2": 3, "*": 11, "y": 2}
    table = pl.DataFrame({name: [i % m for i in range(ROWS)] for name, m in columns.items()})
    table.write_csv("table.csv")
    table.write_parquet("table.parquet")
    return tmp_path


@pytest.mark.parametrize("data", ["table.csv", "table.parquet"])
@pytest.mark.parametrize(
    ("dropped", "left"), [("^x.*$", ["x1", "x2", "*"]), ("*", ["^x.*$", "x1", "x2"])]
)
def test_the_column_of_this_very_name_is_dropped(run, patterns, data, dropped, left, capsys):
    arguments = [data, "--target", "y", "--drop", dropped, "--quiet"]
    assert run("fit", *arguments, "--out", "out", "--reduced", "small.csv") == 0
    result = json.loads((patterns / "out" / "result.json").read_text())
    assert result["columns"]["names"] == left
    relevant = [n for n, c in zip(left, result["classes"], strict=True) if c]
    assert pl.read_csv("small.csv").columns == [*relevant, "y"]


def test_columns_like_patterns_can_have_roles(run, patterns, capsys):
    assert run("fit", "table.csv", "--target", "*", "--groups", "^x.*$", "--json", "--quiet") == 0
    result = json.loads(capsys.readouterr().out)
    assert result["columns"]["names"] == ["x1", "x2", "y"]


def test_terminals_get_no_orders(run, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    name = "\x1b]0;title\x07"
    table = pl.DataFrame({name: range(ROWS), "a\nb": [i % 2 for i in range(ROWS)]})
    table.write_csv("\x1b[31m.csv")
    assert run("fit", "\x1b[31m.csv", "--target", "a\nc") == 2
    assert run("fit", "\x1b[31m.csv", "--target", "a\nb", "--out", "\x1b[32m") == 0
    assert run("compare", "\x1b[32m/result.json", "\x1b[32m/result.json") == 0
    assert run("report", "\x1b[32m/result.json") == 0
    assert run("report", "\x1b[33m/result.json") == 2
    printed = capsys.readouterr()
    assert all(c.isprintable() or c == "\n" for c in printed.out + printed.err)
    assert (
        r"\x1b[31m"
        in json.loads((tmp_path / "\x1b[32m" / "result.json").read_text())["provenance"]["data"]
        .encode("unicode_escape")
        .decode()
    )


def test_spreadsheets_get_no_formulas(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ["=cmd|' /C calc'!A0", "+1", "-1", "@x", "plain"]
    table = pl.DataFrame({name: [(i * k) % 7 for i in range(ROWS)] for k, name in enumerate(names)})
    table.with_columns(y=pl.Series([i % 2 for i in range(ROWS)])).write_csv("table.csv")
    assert run("fit", "table.csv", "--target", "y", "--quiet", "--out", "out") == 0
    written = pl.read_csv("out/features.csv")["feature"].to_list()
    assert written == [*(f"'{name}" for name in names[:-1]), "plain"]


def test_half_a_character_in_a_result_can_be_compared_as_json(run, patterns, capsys):
    from squamish import RelevanceResult
    from squamish.result.serialization import digest_of

    assert run("fit", "table.csv", "--target", "y", "--quiet", "--out", "out") == 0
    content = json.loads((patterns / "out" / "result.json").read_text())
    content["columns"]["names"][0] = "\ud800"
    content["digest"] = digest_of(content)
    RelevanceResult.from_json(json.dumps(content)).to_json("half.json")
    assert run("compare", "half.json", "out/result.json", "--json") == 1
    assert json.loads(capsys.readouterr().out)["only_before"] == ["\ud800"]
    assert run("compare", "half.json", "out/result.json") == 1
    assert r"Only in the first: \ud800" in capsys.readouterr().out


def test_more_than_the_allowed_size_is_refused(run, tmp_path, capsys):
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"a,y\n" + b"1,2\n" * 10**6))
    assert run("fit", path, "--target", "y", "--max-size", "1MB") == 2
    said = capsys.readouterr().err
    assert said == (
        "squamish: 'bomb.csv.gz' holds more than 1 MB, unpacked, which is the most that is read "
        "(--max-size allows more)\n"
    )
    assert run("fit", path, "--target", "y", "--max-size", "much") == 2
    assert "--max-size is 'much'; it must be a size" in capsys.readouterr().err
