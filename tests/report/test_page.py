"""The HTML report as a file."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from squamish import InputError, RelevanceSelector, __version__
from squamish.evidence.provenance import Columns
from squamish.evidence.worth import PathStep
from squamish.report.page.path import draw_path


class Page(HTMLParser):
    """Collects tags and text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.text.append(data)


def test_the_page_needs_nothing_else(patients):
    page = Page(patients.to_html())
    for tag, attributes in page.tags:
        assert "src" not in attributes, (tag, attributes)
        assert tag not in ("link", "iframe", "img", "object", "base")
        assert attributes.get("href", "#").startswith("#")
    assert "http://" not in patients.to_html().replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in patients.to_html()


def test_the_page_is_small_for_a_thousand_columns(thousand):
    assert len(thousand.to_html().encode()) < 1_000_000


def test_it_would_be_small_if_all_of_them_were_relevant(all_relevant):
    assert len(all_relevant.weak) > 100
    fewer, more = (len(all_relevant.to_html(max_features=n).encode()) for n in (100, 120))
    assert more + 880 * (more - fewer) / 20 < 1_000_000


def test_the_page_can_be_read_without_a_script(patients):
    text = " ".join(Page(patients.to_html()).text)
    for name in patients.feature_names:
        assert name in text
    assert "It can be replaced by 'bmi'." in text
    assert "5 of 11 relevant columns keep" in text
    assert "RelevanceSelector(random_state=0, task='regression').fit(X, y)" in text
    assert f"squamish {__version__}" in text


def test_the_first_screen_says_what_to_keep(patients):
    page = patients.to_html()
    text = " ".join(" ".join(Page(page).text).split())
    for word in (*patients.select("minimal"), "bmi_copy", "4 sets predict as well"):
        assert word in text[: text.index("Search")]
    assert page.index('id="keep"') < page.index('id="columns"')
    assert 'aria-label="Share of the gain that every number of columns keeps' in page
    assert f">minimal: {len(patients.select('minimal'))}<" in page
    assert "Removal costs of groups whose members cost less one by one" in text
    assert re.search(r"bmi, bmi_copy: [\d.]+% together, 0\.0% each", text)
    assert "A minimal set" not in text


@pytest.mark.parametrize("n", [17, 27, 68, 130, 283, 1001, 2400])
def test_sizes_on_the_axis_of_a_path_keep_apart(patients, n):
    steps = tuple(PathStep(k, tuple(range(k)), 0.0, 0.0, 0.0) for k in range(1, n + 1))
    columns = Columns(tuple(map(str, range(n))), ("float64",) * n, (0.0,) * n)
    worth = replace(patients.evidence.worth, path=steps, formula=None)
    evidence = replace(patients.evidence, worth=worth, minimal=np.zeros(n, dtype=bool))
    ticks = draw_path(replace(patients, columns=columns, evidence=evidence)).x_ticks
    assert ticks[-1].label == f"{n:,}"
    assert len(ticks) > 3
    # A digit takes 7 pixels, and a comma 4.
    reach = [(7 * len(t.label.replace(",", "")) + 4 * t.label.count(",")) / 2 for t in ticks]
    for k in range(len(ticks) - 1):
        assert ticks[k].at + reach[k] < ticks[k + 1].at - reach[k + 1]


def test_losses_that_differ_are_shown_with_digits_that_differ(patients):
    near = replace(patients.evidence, minimal_loss=patients.evidence.loss * 1.0003)
    text = " ".join(Page(replace(patients, evidence=near).to_html()).text)
    told = re.search(r"loss is ([\d.]+) with these, ([\d.]+) with all relevant", text)
    assert told.group(1) != told.group(2)


def test_what_the_explorer_knows_is_text(result):
    page = Page(result.to_html())
    assert sum(tag == "script" for tag, _ in page.tags) == 3
    known = json.loads(re.search(r'id="evidence">(.*?)</script>', result.to_html()).group(1))
    found = known["signatures"]
    names = {j: name for j, (name, *_) in found["columns"].items()}
    assert set(names.values()) == {n for columns in result.signatures for n in columns}
    assert [[names[str(j)] for j in columns] for columns, _, _ in found["slots"][0]] == [
        list(columns) for columns in result.signatures.slots[0]
    ]
    for _, growth, high in found["slots"][0]:
        assert growth <= high <= found["margin"]


def test_without_a_search_there_is_no_first_screen(paper_patients):
    page = paper_patients.to_html()
    assert 'id="keep"' not in page
    assert "Worth at most" not in page
    assert 'id="minimal"' in page
    assert (
        json.loads(re.search(r'id="evidence">(.*?)</script>', page).group(1))["signatures"] is None
    )


def test_caps_name_the_call_that_lifts_them(patients):
    short = patients.to_html(max_features=3)
    assert "12 columns are left out" in short
    assert "max_features=None" in short
    assert short.count('<tr class="why">') == 3
    assert patients.to_html(max_features=None).count('<tr class="why">') == 15
    with pytest.raises(InputError, match="max_features is 0; it must be a whole number"):
        patients.to_html(max_features=0)


def test_names_cannot_become_markup(hostile):
    page = Page(hostile.to_html())
    assert [tag for tag, _ in page.tags if tag in ("img", "iframe")] == []
    assert sum(tag == "script" for tag, _ in page.tags) == 3
    assert not any(key.startswith("on") for _, attributes in page.tags for key in attributes)
    assert any("{{ 7 * 7 }}" in text for text in page.text)


def test_the_page_of_the_paper_and_of_nothing_relevant(paper_patients):
    page = paper_patients.to_html()
    assert "It does not tell what replaces a weak column" in page
    rng = np.random.default_rng(1)
    selector = RelevanceSelector(random_state=0)
    selector.fit(rng.standard_normal((60, 3)), rng.integers(0, 2, 60), groups=np.arange(60) // 2)
    page = selector.result_.to_html()
    assert "no column is told from noise" in page
    assert json.loads(re.search(r'id="evidence">(.*?)</script>', page).group(1))["shadow"] is None


def test_without_its_extra_the_page_says_how_to_get_it(patients, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"pip install 'squamish\[report\]'"):
        patients.to_html()


def test_the_scale_of_a_loss_is_that_of_its_method(patients, paper_patients):
    assert "(of a target with variance 1)" in patients.to_html()
    assert "(of a target from -1 to 1)" in paper_patients.to_html()
    assert "half-ranges of the target" in paper_patients.plot_removal().get_xlabel()
