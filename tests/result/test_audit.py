"""What an audit found, in words and in numbers."""

import json

import pytest

from squamish.result.audit import Audit, Shuffle


def audit(n_found, n_shuffles, **settings):
    """An audit of so many shuffles, some of them with a false column, half of those strong."""
    shuffles = [
        Shuffle(
            k,
            seed=k,
            proofs={"age": "shadow", "bmi": "marginal"} if k < n_found else {},
            strong=("age",) if k < n_found // 2 else (),
        )
        for k in range(n_shuffles)
    ]
    return Audit(tuple(shuffles), **{"level": 0.01} | settings)


def test_a_line_has_the_numbers_and_the_promise():
    assert repr(audit(1, 100)) == (
        "1 of 100 shuffled targets gave a relevant column (0.0% to 5.4%, 95%); alpha = 0.01 "
        "promises at most 1%"
    )
    assert repr(audit(4, 10, level=None)).endswith("; the method promises no level")


@pytest.mark.parametrize(
    ("n_found", "n_shuffles", "low", "high"),
    # Clopper and Pearson (1934): the solutions of the binomial tails.
    [(0, 10, 0.0, 0.3085), (1, 100, 0.000253, 0.05446), (10, 10, 0.6915, 1.0)],
)
def test_the_interval_is_exact(n_found, n_shuffles, low, high):
    assert audit(n_found, n_shuffles).interval == pytest.approx((low, high), abs=5e-5)


def test_what_to_do_if_more_is_found_than_promised():
    broken = audit(6, 100)
    assert broken.exceeds_level
    assert str(broken).splitlines()[1:] == [
        "Falsely relevant: age (6 by shadow), bmi (6 by marginal); 3 gave a strong one.",
        "That is more than promised on this table: fit and audit it again with a smaller alpha, "
        "and doubt columns whose proof is 'shadow', which 6 of 12 false ones have.",
    ]


def test_few_shuffles_show_little_and_many_that_the_promise_is_kept():
    few, enough = audit(0, 367), audit(0, 368)
    assert not few.exceeds_level
    assert str(few).endswith("to show that it is kept on this table takes 368 shuffles or more.")
    assert str(enough).endswith("The promise is kept on this table.")
    assert "promise is" not in str(audit(6, 10, level=None))


def test_long_lists_are_cut_and_odd_names_are_printable():
    proofs = {f"x\n{j}": "trees" for j in range(9)}
    line = str(Audit((Shuffle(0, 0, proofs),), level=0.5)).splitlines()[1]
    assert line.startswith(r"Falsely relevant: x\n0 (1 by trees), x\n1")
    assert line.endswith(r"x\n4 (1 by trees) and 4 more.")


def test_a_dict_holds_all_and_is_plain():
    found = audit(2, 4, method="CrossfitMethod()", n_unfinished=1, notes=("a note",))
    plain = found.to_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert (plain["n_shuffles"], plain["n_found"], plain["n_strong_found"]) == (4, 2, 1)
    assert plain["false_columns"] == {"age": {"shadow": 2}, "bmi": {"marginal": 2}}
    assert plain["shuffles"][0] == {
        "number": 0,
        "seed": 0,
        "proofs": {"age": "shadow", "bmi": "marginal"},
        "strong": ["age"],
    }
    assert plain["summary"] == str(found)
    assert plain["summary"].endswith("A note.")


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_frame_has_a_row_for_every_shuffle(library):
    pytest.importorskip(library)
    frame = audit(1, 3).to_frame(library)
    columns = frame.column_names if library == "pyarrow" else list(frame.columns)
    assert columns == ["shuffle", "seed", "n_relevant", "n_strong", "relevant", "proofs"]
    rows = {name: list(map(str, frame[name])) for name in columns}
    assert rows["n_relevant"] == ["2", "0", "0"]
    assert rows["relevant"][0] == "age, bmi"
    assert rows["proofs"][0] == "shadow, marginal"
