"""Importances and removals in pictures: what is drawn, where, and why nothing is."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex

from squamish import InputError, RelevanceSelector
from squamish.report.plots.style import COLOURS

PLOTS = ("plot_importances", "plot_removal", "plot_shadows", "plot_redundancy")


def labels(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def dots(ax):
    """The row and the colour of every dot."""
    return {
        round(float(y)): to_hex(collection.get_facecolor()[0])
        for collection in ax.collections
        if len(collection.get_offsets()) and collection.get_paths()
        for _, y in collection.get_offsets()
    }


def test_importances_come_by_class_and_then_by_size(result):
    ax = result.plot_importances()
    shown = [result.feature_names.index(name.replace("??", "身長")) for name in labels(ax)]
    assert list(result.classes[shown]) == [2, 2, 1, 1, 1, 1, 0, 0, 0]
    strong = result.evidence.importance[shown[:2]]
    assert strong[0] >= strong[1]
    assert dots(ax) == {row: COLOURS[result.classes[j]] for row, j in enumerate(shown)}


def test_a_column_that_was_not_measured_is_counted_and_not_drawn(result):
    ax = result.plot_importances()
    assert "constant" not in labels(ax)
    assert "1 of 10 columns were not measured" in ax.get_title(loc="left")


@pytest.mark.parametrize("fitted", ["result", "paper"])
def test_the_band_ends_at_the_threshold(fitted, request):
    evidence = request.getfixturevalue(fitted).evidence
    band = request.getfixturevalue(fitted).plot_importances().patches[0].get_extents()
    ax = plt.gca()
    left, right = (ax.transData.inverted().transform((x, 0))[0] for x in (band.x0, band.x1))
    low = evidence.importance_interval.lower if fitted == "paper" else 0
    assert (left, right) == pytest.approx((low, evidence.importance_threshold))


def test_classes_differ_in_shape_as_well_as_in_colour(result):
    ax = result.plot_importances()
    shapes = {c.get_label(): c.get_paths()[0].vertices.tobytes() for c in ax.collections}
    assert set(shapes) == {"strong", "weak", "irrelevant"}
    assert len(set(shapes.values())) == 3
    told = [text.get_text() for text in ax.get_legend().get_texts()]
    assert told == ["strong", "weak", "irrelevant", "expected of permuted columns"]


def test_removal_shows_the_tested_columns_with_their_intervals(result):
    ax = result.plot_removal()
    assert len(labels(ax)) == 6
    assert "4 of 10 columns were not tested" in ax.get_title(loc="left")
    lines = next(c for c in ax.collections if hasattr(c, "get_segments")).get_segments()
    j = result.feature_names.index(labels(ax)[0])
    assert [x for x, _ in lines[0]] == pytest.approx(result.evidence.removal_interval[:, j])
    band = ax.patches[0]
    assert (band.get_x(), band.get_x() + band.get_width()) == pytest.approx(
        result.evidence.removal_null
    )


def test_removal_of_the_paper_has_no_intervals(paper):
    ax = paper.plot_removal()
    assert len(dots(ax)) == int(paper.evidence.minimal.sum())
    assert not any(hasattr(c, "get_segments") for c in ax.collections)
    assert ax.patches[0].get_x() == pytest.approx(paper.evidence.loss_interval.lower)


@pytest.mark.parametrize("fitted", ["result", "paper"])
def test_boxes_are_sorted_by_their_medians_shadows_among_them(fitted, request):
    verdict = request.getfixturevalue(fitted)
    ax = verdict.plot_shadows()
    assert {"least shadow", "mean shadow", "largest shadow"} < set(labels(ax))
    assert len(labels(ax)) == 9 + 3
    shadows = np.median(verdict.evidence.shadow_rounds.max(axis=1))
    rounds = verdict.evidence.importance_rounds[:, :9]
    medians = dict(zip(verdict.feature_names[:9], np.nanmedian(rounds, axis=0), strict=True))
    above = [name for name in labels(ax)[: labels(ax).index("largest shadow")] if name in medians]
    assert all(medians[name] >= shadows for name in above)
    shown = [medians[name] for name in labels(ax) if name in medians]
    assert shown == sorted(shown, reverse=True)


def test_boxes_have_the_colours_of_the_classes(result):
    ax = result.plot_shadows()
    faces = [to_hex(box.get_facecolor()) for box in ax.patches]
    assert faces[labels(ax).index("w0")] == COLOURS[1]
    assert faces[labels(ax).index("n0")] == COLOURS[0]
    assert faces[labels(ax).index("mean shadow")] == "#ffffff"


@pytest.mark.parametrize("plot", PLOTS)
def test_the_given_axes_are_used_and_no_others(result, plot):
    _, (own, other) = plt.subplots(1, 2)
    before = plt.get_fignums()
    assert getattr(result, plot)(own) is own
    assert plt.get_fignums() == before
    assert own.has_data()
    assert not other.has_data()
    assert other.get_title(loc="left") == ""


def test_importances_far_beyond_the_band_are_drawn_on_a_logarithmic_scale(paper):
    far = replace(paper.evidence, importances=paper.evidence.importance_threshold * np.arange(9.0))
    assert replace(paper, evidence=far).plot_importances().get_xscale() == "linear"
    far = replace(far, importances=far.importances * 1000)
    ax = replace(paper, evidence=far).plot_importances()
    assert ax.get_xscale() == "symlog"
    assert "logarithmic above" in ax.get_xlabel()
    ax.figure.canvas.draw()


def test_nothing_to_draw_says_why(problem, paper):
    grouped = RelevanceSelector(random_state=0).fit(
        problem.X, problem.y, groups=np.arange(300) // 2
    )
    for plot in ("plot_importances", "plot_shadows"):
        with pytest.raises(InputError, match="not measured if rows have weights or groups"):
            getattr(grouped.result_, plot)()
    noise = np.random.default_rng(0).standard_normal((60, 3))
    nothing = RelevanceSelector(random_state=0).fit(noise[:, :2], noise[:, 2]).result_
    with pytest.raises(InputError, match="no removal loss to draw: no column is relevant"):
        nothing.plot_removal()
    with pytest.raises(InputError, match="no substitutes to draw: no column is weak"):
        nothing.plot_redundancy()
    with pytest.raises(InputError, match="method='paper' does not tell"):
        paper.plot_redundancy()
    empty = replace(paper.evidence, removal_loss=np.full(9, np.nan))
    with pytest.raises(InputError, match="no column is in the minimal set"):
        replace(paper, evidence=empty).plot_removal()
    constant = RelevanceSelector(random_state=0).fit(np.ones((60, 2)), noise[:, 2]).result_
    with pytest.raises(InputError, match="no importances to draw: no column varies"):
        constant.plot_importances()


def test_without_matplotlib_it_says_what_to_install(result, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for plot in PLOTS:
        with pytest.raises(ImportError, match=r"pip install 'squamish\[plots\]'"):
            getattr(result, plot)()
    with pytest.raises(ImportError, match=r"pip install 'squamish\[plots\]'"):
        result.plot_stability([result])
