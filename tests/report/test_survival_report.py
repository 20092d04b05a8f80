"""How well risks are told: page, Markdown, picture, and a saved result that was damaged."""

import json
from dataclasses import replace

import numpy as np
import pytest

from squamish import InputError, RelevanceResult, RelevanceSelector
from squamish.datasets import make_survival
from squamish.evidence.survival import Prognosis, SurvivalCurve
from squamish.report.page.survival import round_times
from squamish.result.serialization import digest_of


@pytest.fixture(scope="module")
def times():
    problem = make_survival(150, n_strong=1, n_irrelevant=2, random_state=0)
    return RelevanceSelector(random_state=0).fit(problem.X, problem.y).result_


def with_thirds(result, *thirds):
    found = Prognosis(result.evidence.prognosis.concordance, 0.01, thirds)
    return replace(result, evidence=replace(result.evidence, prognosis=found))


def curve(*times):
    return SurvivalCurve(9, len(times), np.array(times), 1 - np.arange(1, len(times) + 1) / 9)


def test_the_page_says_and_draws_how_well_risks_are_told(times):
    page, found = times.to_html(), times.evidence.prognosis
    assert f"Out-of-sample concordance {found.concordance:.3f}" in page
    assert page.count('class="curve low"') == 2
    assert "highest third: 50 rows" in page
    assert 'href="#survival"' in page
    assert f"Out-of-sample concordance {found.concordance:.3f}" in times.to_markdown()


def test_other_targets_have_no_such_part(result):
    assert "How well risks are told" not in result.to_html()
    with pytest.raises(InputError, match=r"no survival to draw: the task is 'classification'"):
        result.plot_survival()


def test_the_picture_has_a_curve_for_each_third(times):
    ax = times.plot_survival()
    assert len(ax.lines) == 3
    assert ax.get_legend().get_texts()[0].get_text().startswith("lowest third")
    assert ax.get_ylim()[0] == 0


@pytest.mark.parametrize("n", [1, 2])
def test_equal_risks_leave_fewer_curves(times, n):
    fewer = with_thirds(times, *[curve(1.0, 2.0 + k) for k in range(n)])
    assert fewer.to_html().count('<polyline class="curve') == n
    assert len(fewer.plot_survival().lines) == n


def test_without_a_relevant_column_there_is_nothing_to_draw():
    problem = make_survival(60, n_strong=1, n_irrelevant=1, effect=0.0, random_state=0)
    nothing = RelevanceSelector(random_state=0).fit(problem.X, problem.y).result_
    assert nothing.evidence.prognosis is None
    with pytest.raises(InputError, match=r"no column is relevant"):
        nothing.plot_survival()


@pytest.mark.parametrize("last", [1e-3, 0.7, 1.0, 36.5, 1825.0, 1e6])
def test_times_on_the_axis_are_round_and_enough(last):
    ticks = round_times(last)
    assert 5 <= len(ticks) <= 12
    assert 0.5 * last < ticks[-1] <= last
    assert ticks[0] == 0


@pytest.mark.parametrize(
    ("where", "value", "message"),
    [
        (
            ("concordance",),
            1.5,
            r"evidence.prognosis.concordance holds 1.5; it must be from 0 to 1",
        ),
        (("thirds", 0, "times"), [1.0], r"thirds\[0\] has other numbers of times and of shares"),
        (("thirds", 0, "surviving", 0), 2.0, r"thirds\[0\].surviving holds 2"),
        (("thirds", 0, "surviving", 0), 0.0, r"thirds\[0\] is no curve that falls with time"),
    ],
)
def test_a_damaged_prognosis_is_refused(times, where, value, message):
    content = json.loads(times.to_json())
    place = content["evidence"]["prognosis"]
    for key in where[:-1]:
        place = place[key]
    place[where[-1]] = value
    content["digest"] = digest_of(content)
    with pytest.raises(InputError, match=message):
        RelevanceResult.from_json(json.dumps(content))
