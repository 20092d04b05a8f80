"""The path and necessity in pictures."""

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex

from squamish import InputError
from squamish.report.plots.style import COLOURS


def labels(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def test_the_path_has_a_dot_for_every_size_that_was_fitted(patients):
    ax = patients.plot_path()
    frame = patients.path.dropna(subset=["loss"])
    drawn = ax.lines[0]
    assert list(drawn.get_xdata()) == frame["size"].tolist()
    assert list(drawn.get_ydata()) == pytest.approx(frame["kept"].tolist())
    intervals = ax.collections[0].get_segments()
    assert [s[0][1] for s in intervals] == pytest.approx(frame["kept_low"].tolist())
    chosen = ax.collections[1].get_offsets()
    assert chosen[0][0] == len(patients.select("minimal"))
    told = [text.get_text() for text in ax.get_legend().get_texts()]
    assert told[0].startswith(f"minimal set: {len(patients.select('minimal'))} columns, ")
    ax.figure.canvas.draw()


def test_a_long_path_is_drawn_on_a_logarithmic_scale(thousand, patients):
    ax = thousand.plot_path()
    assert ax.get_xscale() == "log"
    ax.figure.canvas.draw()
    ticks = [label.get_text() for label in ax.get_xticklabels()]
    assert ticks[0] == "1"
    assert ticks[-1] == str(len(thousand.path))
    assert patients.plot_path().get_xscale() == "linear"


def test_bars_go_from_the_least_to_the_most(patients):
    ax = patients.plot_necessity()
    names = [name.removesuffix(" *") for name in labels(ax)]
    assert names == [name for name in patients.necessity if name not in patients.irrelevant]
    starred = {name.removesuffix(" *") for name in labels(ax) if name.endswith(" *")}
    assert starred == set(patients.select("minimal"))
    bars = [p for p in ax.patches if p.get_height() == 0.6]
    for name, bar in zip(names, bars, strict=True):
        shares = patients.necessity[name]
        assert bar.get_x() == pytest.approx(shares.least)
        assert bar.get_x() + bar.get_width() >= shares.most - 1e-9
        relevance = int(patients.classes[patients.feature_names.index(name)])
        assert to_hex(bar.get_facecolor()) == COLOURS[relevance]
    segments = ax.collections[0].get_segments()
    assert [s[0][0] for s in segments] == pytest.approx([patients.necessity[n].low for n in names])
    ax.figure.canvas.draw()


def test_a_cap_on_bars_says_what_is_left_out(patients):
    ax = patients.plot_necessity(max_features=2)
    assert len(labels(ax)) == 2
    assert "9 of 11 relevant columns not shown" in ax.get_title(loc="left")
    with pytest.raises(InputError, match="max_features is 0"):
        patients.plot_necessity(max_features=0)


def test_names_are_drawn_literally(result):
    ax = result.plot_necessity()
    named = {label.get_text().removesuffix(" *"): label for label in ax.get_yticklabels()}
    assert not named["$a_b$ in US$"].get_parse_math()
    assert "<script>alert(1)</script>" in named
    ax.figure.canvas.draw()


@pytest.mark.parametrize("plot", ["plot_path", "plot_necessity"])
def test_the_given_axes_are_used(patients, plot):
    _, ax = plt.subplots()
    assert getattr(patients, plot)(ax) is ax
    assert ax.has_data()


@pytest.mark.parametrize("plot", ["plot_path", "plot_necessity"])
def test_nothing_to_draw_says_why(paper_patients, plot):
    with pytest.raises(InputError, match=r"there is no (path|necessity) to draw: method 'paper'"):
        getattr(paper_patients, plot)()


def test_shares_of_the_gain_stay_within_it(patients):
    for shares in patients.necessity.values():
        assert 0 <= shares.low <= shares.least <= shares.most <= shares.high <= 1
    assert np.isfinite(patients.gain)
