"""What is different between two results."""

from dataclasses import replace

import pytest

from squamish import InputError


def renamed(result, **names):
    """The same result with other names of columns."""
    new = tuple(names.get(name, name) for name in result.feature_names)
    return replace(result, columns=replace(result.columns, names=new))


def test_only_results_are_compared(patients):
    with pytest.raises(InputError, match="other is a int; it must be a RelevanceResult"):
        patients.compare(3)


def test_two_results_are_compared(patients, paper_patients):
    same = patients.compare(patients)
    assert same.same
    assert str(same) == "Same class: 15. Another class: 0."
    other = renamed(paper_patients, age="years")
    found = patients.compare(other)
    assert not found.same
    assert found.changed["sex"] == ("strong", "irrelevant")
    assert found.only_before == ("age",)
    assert found.only_after == ("years",)
    assert found.circumstances["method"] == ("crossfit", "paper")
    assert "  sex: strong -> irrelevant" in str(found)
    assert "Only in the second: years" in str(found)
