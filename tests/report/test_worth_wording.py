"""What sets and columns are worth, in words that do not contradict each other."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from squamish import RelevanceResult
from squamish.evidence.worth import Worth
from squamish.report import wording

SAVED = Path(__file__).parents[1] / "result" / "saved"


def test_the_verdict_begins_with_what_to_keep(result):
    keep, stand_ins, *_ = str(result).splitlines()
    minimal = result.select("minimal")
    assert keep.startswith("Keep (minimal set) ")
    assert keep.endswith(", ".join(minimal))
    (member,) = set(minimal) & set(result.weak)
    assert stand_ins.strip().startswith("stand-ins")
    assert stand_ins.endswith(f" for {member}")
    assert "keep" in wording.keep(result)
    assert wording.signatures(result).startswith("4 sets predict as well: 1 place has a choice")


def test_relevant_columns_come_by_what_they_are_worth(result, patients):
    for each in (result, patients):
        worth = each.necessity
        names = [each.feature_names[j] for j in wording.ordered(each)]
        assert set(names[: len(each.strong)]) == set(each.strong)
        for group in (names[: len(each.strong)], names[len(each.strong) :]):
            # A least that may be nothing counts as nothing.
            shares = [tuple(round(x, 3) for x in worth[n].rank) for n in group]
            assert shares == sorted(shares, reverse=True)
        assert [n for n in worth if n in names] == names


def test_an_explanation_says_what_a_column_is_worth(result):
    (member,) = set(result.select("minimal")) & set(result.weak)
    other = next(name for name in result.weak if name != member)
    strong = result.explain(result.strong[0])
    assert "of the gain, at the least and at the most" in strong
    assert "It is in the minimal set, where nothing was proven to stand in for it." in strong
    inside, outside = result.explain(member), result.explain(other)
    assert "Models owe it 0.0% of the gain at the least, which is what its removal costs" in inside
    assert "It is in the minimal set; " in inside
    assert " can stand in for it there." in inside
    assert f"It is not in the minimal set, but can stand in there for {member!r}." in outside
    for text in (inside, outside):
        assert "The removal of its whole group (" in text
        assert f"Of its group, {member!r} is suggested." in text


def test_a_refit_that_loses_nothing_certain_is_no_contradiction(result):
    sharper = "what a refit loses cannot be told from nothing"
    assert sharper not in result.explain(result.strong[0])
    j = result.feature_names.index(result.strong[0])
    evidence = result.evidence
    interval, effect = evidence.removal_interval.copy(), evidence.effect.copy()
    interval[0, j], effect[j] = -0.1, 0.0
    refitted = replace(evidence, removal_interval=interval, effect=effect)
    assert sharper in replace(result, evidence=refitted).explain(result.strong[0])


def test_what_stands_in_only_with_another_says_so(patients):
    slots = [slot for slot in patients.signatures.slots if any(len(names) > 1 for names in slot)]
    for own, *others in slots:
        for names in others:
            come = [name for name in names if name not in own]
            if len(come) == 2:
                assert f"but with {come[1]!r} it can stand in there" in patients.explain(come[0])


def test_no_other_column_is_suggested_beside_the_minimal_set(result, patients):
    for each in (result, patients):
        frame = each.to_frame("polars")
        minimal = set(each.select("minimal"))
        for group, suggested in zip(each.groups, each.representatives, strict=True):
            assert set(suggested) == (minimal & set(group) or set(suggested))
        for number, group in enumerate(each.groups):
            if minimal & set(group):
                assert set(wording.suggested(each, number)) == minimal & set(group)
        shown = frame.filter(frame["minimal"])["feature"].to_list()
        assert shown == list(each.select("minimal"))


def with_test(result, name, p, tested, small=False):
    """Return the verdict as if the test of strength of a column had said something else."""
    evidence, j = result.evidence, result.feature_names.index(name)
    p_removal, loss = evidence.p_removal.copy(), evidence.tested_loss.copy()
    p_removal[j], loss[j] = p, tested * result.gain
    return replace(
        result,
        evidence=replace(
            evidence, p_removal=p_removal, tested_loss=loss, small=(j,) if small else evidence.small
        ),
    )


@pytest.mark.parametrize(
    ("p", "tested", "small", "head", "said", "cell"),
    [
        (0.5, 0.016, False, "that it adds something to all others is not proven", "", "not proven"),
        (8.4e-19, 0.004, True, "it adds only a little", "is certain, but it is small", "certain"),
        (0.0014, 0.004, False, "adds too little to all others", "It seems to add", "too little to"),
        (0.0014, 0.058, False, "a model without it loses too little", "makes up for", "a model"),
    ],
)
def test_a_weak_column_without_substitutes_says_why_it_is_weak(
    patients, p, tested, small, head, said, cell
):
    assert not patients.substitutes["glucose"]
    changed = with_test(patients, "glucose", p, tested, small)
    text, j = changed.explain("glucose"), changed.feature_names.index("glucose")
    assert head in text.partition(". ")[0]
    assert said in text
    assert "others can replace it" not in text
    assert cell in wording.replacement(changed, j)
    proven = p <= changed.evidence.alpha
    assert ("not proven" in text) != proven
    assert ("so many rows do not tell from nothing" in text) != proven


def test_what_seems_to_be_added_is_said_to_be_unproven(patients):
    unproven = with_test(patients, "glucose", 0.5, 0.058)
    assert "it seems to add 5.8% of the gain, which so many rows do not tell from nothing" in (
        unproven.explain("glucose")
    )


def test_a_small_column_with_substitutes_is_replaced_but_for_a_little(patients):
    small = with_test(patients, "bmi", 1e-9, 0.004, small=True)
    assert "others can replace all but a little of it." in small.explain("bmi")
    assert "others can replace it." in patients.explain("bmi")


def test_a_group_is_told_where_its_members_cost_nothing(patients):
    told = [each.said() for each in wording.together(patients)]
    assert any(line.startswith("bmi, bmi_copy: ") and "0.0% each" in line for line in told)


def test_weak_columns_without_groups_are_counted_once(patients):
    evidence = replace(
        patients.evidence, groups=tuple((j,) for g in patients.evidence.groups for j in g)
    )
    alone = replace(
        patients,
        evidence=replace(evidence, representatives=evidence.groups, worth=Worth()),
    )
    assert repr(alone).startswith("3 strong, 8 weak, 4 irrelevant of 15;")


def test_without_a_search_nothing_is_said_of_it(paper_patients):
    old = RelevanceResult.from_json(SAVED / "crossfit-0.1.json")
    for each in (paper_patients, old):
        texts = [str(each), each.to_markdown(), each._repr_html_(), *map(each.explain, each.weak)]
        for text in texts:
            assert "minimal set" not in text.replace("it is not in the minimal set", "")
            assert "Models owe" not in text


def test_markdown_says_what_to_keep_and_what_the_next_column_buys(patients):
    page = patients.to_markdown()
    assert "## What to keep" in page
    assert "| member | can stand in for it |" in page
    steps = page[page.index("## What the next column buys") : page.index("## The columns")]
    assert f"| {len(patients.select('minimal'))} (minimal) |" in steps
    assert steps.count("\n| ") == 1 + len(wording.steps(patients))
    assert "| sex | strong |" in page


def test_the_notebook_says_what_to_keep(patients):
    assert "Keep (minimal set)" in patients._repr_html_()
    assert "stand-ins" in patients._repr_html_()


def test_steps_name_who_comes_and_who_goes(patients):
    steps = wording.steps(patients)
    present = set()
    for step in steps:
        for change in filter(None, step.change.split(", ")):
            (present.add if change[0] == "+" else present.remove)(change[2:])
        assert len(present) == step.size
        if step.minimal:
            assert present == set(patients.select("minimal"))
    assert present == {*patients.strong, *patients.weak}
    assert steps[-1].kept == "100.0%"
    assert not any(np.isnan(float(step.kept[:-1])) for step in steps)


@pytest.mark.parametrize("most", [1, 12])
def test_a_long_group_is_shortened(patients, most):
    each = next(t for t in wording.together(patients) if len(t.members) == 2)
    assert ("and 1 more" in each.said(most)) == (most == 1)
