import sys
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

mpl.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.colors import to_hex

from squamish import RelevanceSelector
from squamish.datasets import make_linear
from squamish.errors import InputError
from squamish.report.plots.style import COLOURS
from squamish.report.redundancy_map import MOST_LINKED, redundancy_layout
from squamish.report.wording.names import shorten

PLOTS = ("plot_importances", "plot_removal", "plot_shadows", "plot_redundancy")
NAMES = ("$a_b$ in US$", "<script>alert(1)</script>", "w0", "w1", "w2", "身長", "n0", "n1", "n2")


@pytest.fixture(scope="module")
def problem():
    return make_linear(300, n_strong=2, group_sizes=[4], n_irrelevant=3, random_state=0)


@pytest.fixture(scope="module")
def result(problem):
    table = pd.DataFrame(problem.X, columns=NAMES)
    table["constant"] = 1.0
    return RelevanceSelector(random_state=0).fit(table, problem.y).result_


@pytest.fixture(scope="module")
def paper(problem):
    table = pd.DataFrame(problem.X, columns=NAMES)
    return RelevanceSelector(random_state=0, method="paper").fit(table, problem.y).result_


@pytest.fixture(scope="module")
def wide():
    """300 columns: 40 noisy copies of one, a strong one, and noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 300))
    X[:, 1:40] = X[:, :1] + 0.2 * rng.standard_normal((80, 39))
    y = 3 * X[:, 0] + 3 * X[:, 50] + 0.1 * rng.standard_normal(80)
    table = pd.DataFrame(X, columns=[f"gene {i:03d}" for i in range(300)])
    return RelevanceSelector(random_state=0).fit(table, y).result_


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


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


def boxes(drawn):
    drawn[0].figure.canvas.draw()
    return [text.get_window_extent() for text in drawn if text.get_text()]


def overlaps(boxes):
    """Pairs of texts that cover each other on the canvas."""
    return [
        (a, b)
        for i, a in enumerate(boxes)
        for b in boxes[i + 1 :]
        if min(a.x1, b.x1) > max(a.x0, b.x0) and min(a.y1, b.y1) > max(a.y0, b.y0)
    ]


def inside(ax, boxes):
    figure = ax.figure.bbox
    return all(b.x0 >= 0 and b.y0 >= 0 and b.x1 <= figure.x1 and b.y1 <= figure.y1 for b in boxes)


def test_importances_come_by_class_and_then_by_size(result):
    ax = result.plot_importances()
    shown = [NAMES.index(name.replace("??", "身長")) for name in labels(ax)]
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
    j = NAMES.index(labels(ax)[0])
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
    medians = dict(zip(NAMES, np.nanmedian(rounds, axis=0), strict=True))
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


def test_names_are_drawn_literally(result):
    for plot in PLOTS:
        ax = getattr(result, plot)()
        named = {text.get_text(): text for text in [*ax.get_yticklabels(), *ax.texts]}
        if plot != "plot_redundancy":
            assert "<script>alert(1)</script>" in named
            assert not named["$a_b$ in US$"].get_parse_math()
        # Letters that the font does not have would warn, and warnings are errors here.
        assert "??" in named
        ax.figure.canvas.draw()


def test_the_map_draws_names_literally(result):
    names = ("a", "b", "$x^2$", *result.feature_names[3:])
    ax = replace(result, columns=replace(result.columns, names=names)).plot_redundancy()
    dollar = next(text for text in ax.texts if text.get_text() == "$x^2$")
    assert not dollar.get_parse_math()
    ax.figure.canvas.draw()


@pytest.mark.parametrize("letter", ["i", "M"])
def test_the_map_has_room_for_long_names(wide, letter):
    names = tuple(f"{letter * 40}{i:03d}" for i in range(300))
    ax = replace(wide, columns=replace(wide.columns, names=names)).plot_redundancy()
    assert "…" in ax.texts[-1].get_text()
    assert overlaps(boxes(ax.texts)) == []
    assert inside(ax, boxes(ax.texts))


def test_a_long_name_keeps_both_ends():
    assert shorten("a" * 32) == "a" * 32
    assert shorten("start " + "x" * 50 + " end") == "start xxxxxxxxxx…xxxxxxxxxxx end"
    assert shorten("two\nlines") == "two lines"


@pytest.mark.parametrize("plot", PLOTS)
def test_the_given_axes_are_used_and_no_others(result, plot):
    _, (own, other) = plt.subplots(1, 2)
    before = plt.get_fignums()
    assert getattr(result, plot)(own) is own
    assert plt.get_fignums() == before
    assert own.has_data()
    assert not other.has_data()
    assert other.get_title(loc="left") == ""


def test_a_cap_shows_relevant_columns_first_and_says_what_is_left_out(wide):
    ax = wide.plot_importances(max_features=45)
    assert len(labels(ax)) == 45
    assert labels(ax)[0] == "gene 050"
    assert set(wide.weak) < set(labels(ax))
    note = "255 of 300 columns not shown (max_features=None shows all)"
    assert note in ax.get_title(loc="left")
    assert "not shown" not in wide.plot_importances(max_features=None).get_title(loc="left")
    with pytest.raises(InputError, match="max_features is 0; it must be a whole number at least 1"):
        wide.plot_importances(max_features=0)


@pytest.mark.parametrize("n_columns", [10, 300])
@pytest.mark.parametrize("plot", ["plot_importances", "plot_shadows"])
def test_labels_can_be_read_however_many_there_are(wide, plot, n_columns):
    ax = getattr(wide, plot)(max_features=n_columns)
    drawn = ax.get_yticklabels()
    assert len(drawn) >= n_columns
    assert min(label.get_fontsize() for label in drawn) >= 7
    places = boxes([*drawn, *ax.get_legend().get_texts(), ax.xaxis.label, ax._left_title])
    assert overlaps(places) == []
    assert inside(ax, places)


def test_labels_shrink_in_axes_that_are_too_small_for_them(wide):
    _, ax = plt.subplots()
    wide.plot_importances(ax)
    assert ax.get_yticklabels()[0].get_fontsize() < 5


@pytest.mark.parametrize("cap", [10, None])
def test_the_map_can_be_read(wide, cap):
    ax = wide.plot_redundancy(max_features=cap)
    named = [text for text in ax.texts if text.get_text().startswith("gene")]
    assert len(named) >= (10 if cap else 40)
    assert min(text.get_fontsize() for text in named) >= 7
    places = boxes([*ax.texts, *ax.get_legend().get_texts(), ax._left_title])
    assert overlaps(places) == []
    assert inside(ax, places)


def test_the_map_has_an_arrow_for_every_substitute(result):
    layout = redundancy_layout(result, None)
    arrows = set()
    for source, target, _, mutual in layout.edges:
        pair = layout.nodes[source].column, layout.nodes[target].column
        arrows |= {pair, pair[::-1]} if mutual else {pair}
    replaced = result.evidence.substitutes.items()
    assert arrows == {(j, k) for j, sets in replaced for columns in sets for k in columns}
    assert layout.notes == ()
    bold = {t.get_text() for t in result.plot_redundancy().texts if t.get_weight() == "bold"}
    assert bold == {name.replace("身長", "??") for name in result.representatives[0]}


def mapped(result, substitutes, groups, representatives, classes):
    evidence = replace(
        result.evidence, substitutes=substitutes, groups=groups, representatives=representatives
    )
    return replace(result, classes=np.array(classes), evidence=evidence)


def test_what_replaces_only_together_is_dashed_and_strong_columns_are_guests(result):
    sets = {1: ((0, 2),), 2: ((1,),), 3: ()}
    classes = [2, 1, 1, 1, 0, 0, 0, 0, 0, 0]
    sums = mapped(result, sets, ((1, 2), (3,)), ((1,), (3,)), classes)
    layout = redundancy_layout(sums)
    assert [(n.column, n.representative, n.guest) for n in layout.nodes] == [
        (1, True, False),
        (2, False, False),
        (0, False, True),
        (3, False, False),
    ]
    assert [tuple(edge) for edge in layout.edges] == [
        (0, 2, True, False),
        (0, 1, True, False),
        (1, 0, False, False),
    ]
    assert [ring.title for ring in layout.rings] == ["group 1", "no substitute found"]
    arrows = [p for p in sums.plot_redundancy().patches if hasattr(p, "get_arrowstyle")]
    assert [arrow.get_linestyle() for arrow in arrows] == ["--", "--", "-"]


def test_forty_copies_do_not_become_a_hairball(wide):
    copies = range(40)
    sets = {j: tuple((k,) for k in copies if k != j) for j in copies}
    classes = [1] * 40 + [0] * 260
    layout = redundancy_layout(mapped(wide, sets, (tuple(copies),), ((7,),), classes))
    assert len(layout.edges) == 39
    assert all(edge.mutual and layout.nodes[edge.source].column == 7 for edge in layout.edges)
    assert layout.notes == ("Some arrows are left out; result.substitutes has all",)
    few = range(MOST_LINKED)
    sets = {j: tuple((k,) for k in few if k != j) for j in few}
    whole = mapped(wide, sets, (tuple(few),), ((0,),), [1] * 8 + [0] * 292)
    assert len(redundancy_layout(whole).edges) == 8 * 7 / 2


def test_a_member_of_a_large_group_keeps_an_arrow_without_the_representative(wide):
    chain = {j: ((j + 1 if j < 19 else 18,),) for j in range(20)}
    layout = redundancy_layout(
        mapped(wide, chain, (tuple(range(20)),), ((0,),), [1] * 20 + [0] * 280)
    )
    assert {edge.source for edge in layout.edges} | {edge.target for edge in layout.edges} == set(
        range(20)
    )


def test_a_cap_on_the_map_keeps_some_of_each_group(wide):
    groups = (tuple(range(10)), tuple(range(10, 14)), (14,))
    sets = {j: tuple((k,) for k in group if k != j) for group in groups for j in group}
    many = mapped(wide, sets, groups, ((3,), (10,), (14,)), [1] * 15 + [0] * 285)
    layout = redundancy_layout(many, 5)
    assert [node.column for node in layout.nodes] == [3, 0, 10, 11, 14]
    titles = [ring.title for ring in layout.rings]
    assert titles == ["group 1 (8 more)", "group 2 (2 more)", "no substitute found"]
    assert layout.notes == ("10 of 15 weak columns not shown (max_features=None shows all)",)
    assert [r.title for r in redundancy_layout(many, 1).rings] == ["group 1 (9 more)"]


def test_the_layout_is_always_the_same(wide):
    assert redundancy_layout(wide) == redundancy_layout(wide)
    layout = redundancy_layout(wide)
    assert all(0 < n.x < layout.width and 0 < n.y < layout.height for n in layout.nodes)


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
    assert overlaps(boxes(ax.get_yticklabels())) == []
    capped = result.plot_stability([result], max_features=3)
    assert labels(capped)[:2] == ["$a_b$ in US$", "<script>alert(1)</script>"]
    assert "7 of 10 columns not shown" in capped.get_title(loc="left")


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


def test_importances_far_beyond_the_band_are_drawn_on_a_logarithmic_scale(paper):
    far = replace(paper.evidence, importances=paper.evidence.importance_threshold * np.arange(9.0))
    assert replace(paper, evidence=far).plot_importances().get_xscale() == "linear"
    far = replace(far, importances=far.importances * 1000)
    ax = replace(paper, evidence=far).plot_importances()
    assert ax.get_xscale() == "symlog"
    assert "logarithmic above" in ax.get_xlabel()
    ax.figure.canvas.draw()


def test_without_matplotlib_it_says_what_to_install(result, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for plot in PLOTS:
        with pytest.raises(ImportError, match=r"pip install 'squamish\[plots\]'"):
            getattr(result, plot)()
    with pytest.raises(ImportError, match=r"pip install 'squamish\[plots\]'"):
        result.plot_stability([result])
