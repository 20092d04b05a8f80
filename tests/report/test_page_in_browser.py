"""The HTML report in a real browser."""

import re
import shutil

import pytest
from playwright.sync_api import expect

CHROME = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage"
)


@pytest.fixture(scope="module")
def browser():
    if CHROME is None:
        pytest.skip("no browser: install chromium to test the report")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chrome = playwright.chromium.launch(executable_path=CHROME, args=FLAGS.split())
        yield chrome
        chrome.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Open the page of a result; whatever the browser complains about fails the test."""
    contexts, complaints = [], []

    def open_page(result, **settings):
        path = tmp_path / "report.html"
        result.to_html(path)
        context = browser.new_context(viewport={"width": 1200, "height": 900}, **settings)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda m: m.type in ("error", "warning") and complaints.append(m.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda r: r.url.startswith("http") and complaints.append(r.url))
        page.goto(path.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def names_shown(page):
    return page.locator("#table tbody:not([hidden]) th bdi").all_text_contents()


def test_the_page_opens_with_counts_that_add_up(opened, patients):
    page = opened(patients)
    assert page.title() == "Which columns matter: pandas DataFrame"
    strong, weak, irrelevant, everything = map(
        int, page.locator(".tiles li strong").all_text_contents()
    )
    assert strong + weak + irrelevant == everything == 15
    assert page.locator("#status").text_content() == "15 of 15 shown"


def test_the_table_can_be_sorted(opened, patients):
    page = opened(patients)
    head = page.locator("thead th", has_text="Importance")
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    importance = dict(zip(patients.feature_names, patients.evidence.importance, strict=True))
    values = [importance[name] for name in names_shown(page)]
    assert values == pytest.approx(sorted(values, reverse=True), rel=0.1)
    head.get_by_role("button").press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    page.locator("thead th", has_text="Column").get_by_role("button").click()
    assert names_shown(page) == sorted(patients.feature_names)
    page.locator("thead th", has_text="p of removal").get_by_role("button").click()
    assert set(names_shown(page)[-4:]) == set(patients.irrelevant)


def test_the_table_can_be_filtered(opened, patients):
    page = opened(patients)
    page.get_by_label("Search").fill("BMI")
    assert set(names_shown(page)) == {"bmi", "bmi_copy", "shuffled_bmi"}
    page.get_by_label("irrelevant (4)").uncheck()
    assert set(names_shown(page)) == {"bmi", "bmi_copy"}
    assert page.locator("#status").text_content() == "2 of 15 shown"


def test_a_column_shows_its_evidence_on_demand(opened, patients):
    page = opened(patients)
    why = page.locator("tbody", has=page.get_by_text("sex", exact=True)).locator(".why")
    assert not why.is_visible()
    button = page.get_by_role("button", name="sex", exact=True)
    button.press("Enter")
    assert button.get_attribute("aria-expanded") == "true"
    assert "'sex' is strongly relevant" in why.text_content()
    assert why.locator("svg").count() == 2
    labels = why.locator("svg").evaluate_all("all => all.map(s => s.getAttribute('aria-label'))")
    assert labels[0].startswith("Importance ")
    assert labels[1].startswith("Removal costs ")
    button.click()
    assert not why.is_visible()


def test_names_are_copied_and_downloaded(opened, patients):
    page = opened(patients, permissions=["clipboard-read", "clipboard-write"])
    page.get_by_label("weak (8)").uncheck()
    page.get_by_label("irrelevant (4)").uncheck()
    page.get_by_role("button", name="Copy names").click()
    expect(page.locator("#status")).to_have_text("3 names copied")
    assert page.evaluate("navigator.clipboard.readText()") == "bp\nltg\nsex"
    with page.expect_download() as download:
        page.get_by_role("button", name="Download names").click()
    expected = ["feature,class", '"bp",strong', '"ltg",strong', '"sex",strong', ""]
    assert download.value.path().read_text().split("\n") == expected


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_follows_the_system_until_somebody_chooses(opened, patients, scheme):
    page = opened(patients, color_scheme=scheme)

    def is_dark():
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(map(int, re.findall(r"\d+", colour)[:3])) < 300

    assert is_dark() == (scheme == "dark")
    page.get_by_role("button", name="Light or dark").click()
    assert is_dark() == (scheme == "light")
    page.get_by_role("button", name="Light or dark").click()
    assert is_dark() == (scheme == "dark")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(opened, patients, scheme):
    from axe_playwright_python.sync_playwright import Axe

    page = opened(patients, color_scheme=scheme)
    page.get_by_role("button", name="sex", exact=True).click()
    page.get_by_role("button", name="bmi_copy", exact=True).click()
    found = Axe().run(page).response["violations"]
    assert [(item["id"], item["impact"], item["nodes"][0]["html"]) for item in found] == []


def test_a_thousand_columns_stay_usable(opened, thousand):
    page = opened(thousand)
    assert page.locator("#table tbody").count() == 1000
    page.get_by_label("Search").fill("ENSG00000000915")
    assert names_shown(page) == ["ENSG00000000915_expression"]
    page.get_by_label("Search").fill("")
    page.locator("thead th", has_text="Column").get_by_role("button").click()
    assert names_shown(page)[:2] == ["ENSG00000000000_expression", "ENSG00000000001_expression"]


def test_explanations_that_are_packed_are_unpacked(opened, thousand):
    page = opened(thousand)
    last = page.locator("#table tbody").last
    assert last.locator("tr").count() == 1
    name = last.locator("bdi").first.text_content()
    last.get_by_role("button").click()
    explanation = last.locator("tr.why div").first
    explanation.wait_for()
    assert explanation.text_content().startswith(thousand.explain(name))
    assert last.locator("tr.why").is_visible()


def test_hostile_names_stay_text(opened, hostile):
    page = opened(hostile)
    assert set(hostile.feature_names) == set(names_shown(page))
    for button in page.locator("tbody th button").all():
        button.click()
    assert page.title().startswith("Which columns matter")
    assert page.locator("img").count() == 0


def test_without_javascript_everything_can_be_read(opened, patients):
    page = opened(patients, java_script_enabled=False)
    assert page.get_by_text("'sex' is strongly relevant").is_visible()
    assert not page.get_by_role("button", name="Copy names").is_visible()


def test_the_page_prints_without_its_controls(opened, patients):
    page = opened(patients, color_scheme="dark")
    page.emulate_media(media="print")
    assert not page.get_by_role("button", name="Copy names").is_visible()
    assert page.get_by_role("heading", name="The columns").is_visible()
    assert len(page.pdf()) > 10_000


def test_the_page_fits_a_phone(opened, patients):
    page = opened(patients)
    page.set_viewport_size({"width": 380, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 380


def test_class_and_worth_are_seen_on_a_phone(opened, patients):
    page = opened(patients)
    page.set_viewport_size({"width": 390, "height": 844})
    heads = page.locator("#table thead th")
    assert heads.nth(3).text_content() == "Worth at most"
    for k in range(4):
        box = heads.nth(k).bounding_box()
        assert box["x"] + box["width"] <= 390
    assert not page.locator(".warnings details li").first.is_visible()
    page.locator(".warnings summary").click()
    assert page.locator(".warnings details li").first.is_visible()


def test_a_first_click_on_a_cost_sorts_from_the_dearest(opened, patients):
    page = opened(patients)
    for head, values in (("Removal costs", patients.evidence.cost), ("Worth at most", None)):
        page.locator("#table thead th", has_text=head).get_by_role("button").click()
        first = names_shown(page)[0]
        if values is None:
            assert patients.necessity[first].most == max(
                s.most for s in patients.necessity.values()
            )
        else:
            assert patients.evidence.cost[patients.feature_names.index(first)] == max(
                values[patients.classes > 0]
            )


def test_only_the_minimal_set_is_shown_on_demand(opened, patients):
    page = opened(patients)
    page.get_by_label("minimal set only").check()
    assert set(names_shown(page)) == set(patients.select("minimal"))


def test_members_are_exchanged_in_the_explorer(opened, patients):
    page = opened(patients, permissions=["clipboard-read", "clipboard-write"])
    menus = page.locator(".places select")
    assert menus.count() == len(patients.signatures.slots) == 2
    known = page.locator("#known")
    page.get_by_role("button", name="Copy these").click()
    expect(known).to_contain_text("copied")
    copied = page.evaluate("navigator.clipboard.readText()").split("\n")
    assert tuple(copied) == patients.select("minimal")
    menus.first.select_option("1")
    assert "tested, with an error of 5%" in known.text_content()
    menus.nth(1).select_option("1")
    assert "With these 2 exchanges the set is expected to lose" in known.text_content()
    assert "lost no more than 1.0%" in known.text_content()
    page.get_by_role("button", name="Copy these").click()
    expect(known).to_have_text(re.compile("^6 names"))
    copied = page.evaluate("navigator.clipboard.readText()").split("\n")
    assert copied in patients.signatures
    assert set(copied) != set(patients.select("minimal"))
    for k in range(2):
        menus.nth(k).select_option("0")
    assert known.text_content() == ""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_after_an_exchange(opened, patients, scheme):
    from axe_playwright_python.sync_playwright import Axe

    page = opened(patients, color_scheme=scheme)
    page.locator(".places select").first.select_option("1")
    for summary in page.locator("summary").all():
        summary.click()
    found = Axe().run(page).response["violations"]
    assert [(item["id"], item["impact"], item["nodes"][0]["html"]) for item in found] == []


def test_hostile_names_stay_text_in_the_explorer(opened, result):
    page = opened(result)
    menu = page.locator(".places select").first
    menu.select_option("1")
    assert page.locator(".places bdi").first.is_visible()
    assert "<script>alert(1)</script>" in page.locator(".places").first.text_content()
