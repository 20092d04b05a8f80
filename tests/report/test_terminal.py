"""The verdict as a table in a terminal."""

import io
from dataclasses import replace

import numpy as np
from rich.console import Console

from squamish.report.terminal import show


def printed(result):
    console = Console(file=io.StringIO(), width=120, highlight=False)
    show(result, console)
    return console.file.getvalue().splitlines()


def test_relevant_columns_are_rows_and_the_rest_is_named(patients):
    lines = printed(patients)
    heads = "column class removal costs worth at most minimal group can be replaced by"
    assert " ".join(lines[0].split()) == heads
    assert [line.split()[1] for line in lines[1:12]] == ["strong"] * 3 + ["weak"] * 8
    assert any(line.startswith("4 irrelevant: shuffled_") for line in lines)
    assert " ".join(lines).endswith(repr(patients))


def test_the_paper_names_the_loss_and_no_substitutes(paper_patients):
    lines = printed(paper_patients)
    assert lines[0].split()[2:6] == ["loss", "without", "it", "group"]
    assert not any("minimal" in line for line in lines)
    assert not any("nothing in particular" in line for line in lines)


def test_a_terminal_is_not_flooded(thousand, patients):
    lines = printed(replace(thousand, classes=np.ones(1000, dtype=int), notes=("look\nout",)))
    assert sum("weak" in line.split()[1:2] for line in lines) == 60
    assert "and 940 more relevant columns" in lines
    assert r"Note: look\nout" in lines
    close = replace(patients.evidence, p_relevant=np.full(15, 0.02))
    lines = printed(replace(patients, evidence=close))
    assert sum(line.startswith("Close call: ") for line in lines) == 5
    assert "and 10 more close calls" in lines
