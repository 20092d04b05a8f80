"""Pictures can be read: names as they are, nothing covered, nothing cut off."""

from dataclasses import replace

import pytest
from matplotlib import pyplot as plt

from squamish import InputError

PLOTS = ("plot_importances", "plot_removal", "plot_shadows", "plot_redundancy")


def labels(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


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


def test_the_classes_of_several_runs_can_be_read(result):
    ax = result.plot_stability([result, result])
    assert overlaps(boxes(ax.get_yticklabels())) == []
