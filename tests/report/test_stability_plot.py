"""The classes of several runs, side by side."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_hex

from squamish import InputError
from squamish.report.plots.style import COLOURS


def labels(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def of_another_seed(result, changes):
    classes = result.classes.copy()
    for name, relevance in changes.items():
        classes[result.feature_names.index(name)] = relevance
    return replace(result, classes=classes, provenance=replace(result.provenance, seed=7))


def test_stability_shows_disputed_columns_first(result):
    ax = result.plot_stability([of_another_seed(result, {"n1": 1, "w2": 0}), result])
    assert labels(ax)[:4] == ["w2", "n1", "$a_b$ in US$", "<script>alert(1)</script>"]
    assert "2 of 10 columns have more than one class" in ax.get_title(loc="left")
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0", "7", "0"]
    cells = ax.collections[0]
    ax.figure.canvas.draw()
    colours = [to_hex(colour) for colour in cells.get_facecolors()]
    assert colours[:6] == [COLOURS[c] for c in (1, 0, 1, 0, 1, 0)]
    capped = result.plot_stability([result], max_features=3)
    assert labels(capped)[:2] == ["$a_b$ in US$", "<script>alert(1)</script>"]
    assert "7 of 10 columns not shown" in capped.get_title(loc="left")


def test_runs_are_named_by_what_tells_them_apart(result):
    def named(*others):
        ax = result.plot_stability(others)
        return [label.get_text() for label in ax.get_xticklabels()], ax.get_xlabel()

    def other(**changes):
        return replace(result, provenance=replace(result.provenance, **changes))

    assert named(result) == (["1", "2"], "number of the run")
    assert named(other(seed=None)) == (["0", "?"], "seed of the run")
    assert named(replace(result, n_samples=1200)) == (["300", "1,200"], "rows of the run")
    assert named(other(data="june.csv"), other(data="july.csv"))[1] == "data of the run"
    several = replace(other(seed=7), method="CrossfitMethod(alpha=0.05)")
    assert named(several) == (
        ["seed 0, method CrossfitMethod()", "seed 7, method CrossfitMethod(alpha=0.05)"],
        "run",
    )


def test_stability_goes_by_name_whatever_the_order(result):
    order = np.arange(len(result.classes))[::-1]
    columns = replace(result.columns, names=tuple(result.feature_names[j] for j in order))
    backwards = replace(result, columns=columns, classes=result.classes[order])
    ax = result.plot_stability([backwards])
    assert "0 of 10 columns have more than one class" in ax.get_title(loc="left")


def test_stability_of_other_columns_names_one(result, wide):
    fewer = replace(result.columns, names=("age", *result.feature_names[1:]))
    with pytest.raises(InputError, match=r"different columns: '\$a_b\$ in US\$' is only in this"):
        result.plot_stability([replace(result, columns=fewer)])
    with pytest.raises(InputError, match="'gene 000' is only in one of the others"):
        replace(
            wide,
            columns=replace(wide.columns, names=wide.feature_names[1:]),
            classes=wide.classes[1:],
        ).plot_stability([wide])
    with pytest.raises(InputError, match="others is empty"):
        result.plot_stability([])
