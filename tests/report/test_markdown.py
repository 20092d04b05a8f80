"""The verdict as a page of Markdown."""

import re
from dataclasses import replace

import pytest


def renamed(result, **names):
    """The same result with other names of columns."""
    new = tuple(names.get(name, name) for name in result.feature_names)
    return replace(result, columns=replace(result.columns, names=new))


def test_markdown_escapes_what_would_break_the_table(patients):
    page = renamed(patients, bmi_copy="bmi|copy\nof <b>").to_markdown()
    row = next(line for line in page.splitlines() if line.startswith("| weak"))
    assert r"bmi\|copy\\nof &lt;b>" in row
    assert re.search(
        r"\| glucose \| weak \|  \| 0\.\d% \| [\d.]+% \|  \| [\d.]+ \| nothing in part", page
    )


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("age*sex", r"age\*sex"),
        ("__id__", r"\_\_id\_\_"),
        ("a\\|b", r"a\\\|b"),
        ("[x](y)", r"\[x](y)"),
        ("&lt;", "&amp;lt;"),
        ("R&D_2", "R&D_2"),
    ],
)
def test_names_mean_nothing_in_markdown(patients, name, written):
    assert f"| {written} | weak |" in renamed(patients, bmi_copy=name).to_markdown()
