"""The verdict in words: a line, a few lines, sentences about a column."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from squamish import CrossfitMethod, InputError, RelevanceSelector
from squamish.datasets import make_linear
from squamish.report.wording import score_of_all
from squamish.report.wording.names import shorten


def test_a_line_says_what_was_found_how_well_and_how(patients):
    assert re.fullmatch(
        r"3 strong, 8 weak in 2 groups and 2 alone, 4 irrelevant of 15; out-of-sample squared "
        r"error 0\.\d\d vs 1\.0\d for the constant; crossfit, seed 0, [\d.]+ s",
        repr(patients),
    )


def test_losses_that_differ_look_different(patients):
    close = replace(patients.evidence, loss=0.4744, constant_loss=0.4731, all_loss=0.4739)
    result = replace(patients, evidence=close)
    assert "squared error 0.474 vs 0.473 for the constant" in repr(result)
    assert score_of_all(result) == "squared error 0.4739"
    same = replace(patients, evidence=replace(close, constant_loss=0.4744))
    assert "squared error 0.47 vs 0.47 for the constant" in repr(same)


def test_a_line_names_what_is_not_at_its_default():
    problem = make_linear(100, n_strong=2, group_sizes=[], n_irrelevant=2, random_state=0)
    result = RelevanceSelector(CrossfitMethod(alpha=0.05)).fit(problem.X, problem.y).result_
    assert "; crossfit(alpha=0.05), " in repr(result)
    assert "seed" not in repr(result)


def test_the_verdict_in_words(patients):
    lines = str(patients).splitlines()
    assert (
        lines[0] == f"Keep (minimal set)                   {', '.join(patients.select('minimal'))}"
    )
    assert "Cannot do without (strong)           bp, ltg, sex" in lines
    assert "  these replace each other           bmi, bmi_copy" in lines


def test_a_column_is_explained(patients, paper_patients):
    weak = patients.explain("bmi_copy")
    assert weak.startswith("'bmi_copy' is weakly relevant: informative, but others can replace it.")
    assert "It is relevant because it depends on the target by itself (p = " in weak
    assert "It can be replaced by 'bmi'." in weak
    assert "is suggested" in weak
    assert "Without it, the loss of the best model grows by" in patients.explain("bp")
    assert "the loss of the best model does not grow" in patients.explain("age")
    assert "None of the tests tells it from a column of noise" in patients.explain("shuffled_bp")
    assert "not proven to add anything" in patients.explain("glucose")
    assert "Boruta's forests gain more" in paper_patients.explain("bmi")
    assert "is expected when nothing of importance is removed" in paper_patients.explain("bmi")


def test_a_constant_column_is_explained_as_such():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"one": np.ones(60), "x": rng.standard_normal(60)})
    result = RelevanceSelector(random_state=0).fit(table, table["x"] > 0).result_
    assert "it has no two different values" in result.explain("one")
    assert np.isnan(result.evidence.p_relevant[0])


def test_an_unknown_column_gets_the_nearest_names(patients):
    with pytest.raises(InputError, match="there is no column 'bmi_cpy'; did you mean 'bmi_copy'"):
        patients.explain("bmi_cpy")


def test_a_long_name_keeps_both_ends():
    assert shorten("a" * 32) == "a" * 32
    assert shorten("start " + "x" * 50 + " end") == "start xxxxxxxxxx…xxxxxxxxxxx end"
    assert shorten("two\nlines") == r"two\nlines"
