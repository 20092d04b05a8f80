from types import SimpleNamespace

import numpy as np
import pytest

from squamish.result import RelevanceResult


@pytest.fixture
def result():
    return RelevanceResult(
        feature_names=("age", "height", "height|cm", "coin"),
        classes=np.array([2, 1, 1, 0]),
        evidence=None,
        method="PaperMethod()",
        task="regression",
        n_samples=1234,
        seconds=2.04,
    )


def test_names_of_each_class(result):
    assert result.strong == ("age",)
    assert result.weak == ("height", "height|cm")
    assert result.irrelevant == ("coin",)


def test_repr_counts_in_one_line(result):
    assert repr(result) == (
        "1 strong, 2 weak, 1 irrelevant of 4 features; regression, 1,234 rows; PaperMethod(), 2.0 s"
    )


def test_str_is_the_verdict_in_words(result):
    strong, weak, irrelevant = str(result).splitlines()
    assert strong.split("  ") == ["Cannot do without (strong)", *[""] * 4, " age"]
    assert weak == "Informative, but replaceable (weak)  height, height|cm"
    assert irrelevant.startswith("No sign of use (irrelevant)")


def test_markdown_escapes_what_would_break_the_table(result):
    row = next(line for line in result.to_markdown().splitlines() if line.startswith("| weak"))
    assert row.endswith(r"| height, height\|cm |")


def test_a_weak_column_without_a_substitute_says_why():
    evidence = SimpleNamespace(substitutes={0: ((1,),), 1: ()}, groups=())
    result = RelevanceResult(
        ("a", "b"), np.array([1, 1]), evidence, "CrossfitMethod()", "regression", 90, 1.0
    )
    assert "| a | b |" in result.to_markdown()
    assert "| b | (none found: what it adds is too little to prove) |" in result.to_markdown()
