"""The documentation site."""

from functools import cache
from html.parser import HTMLParser
from inspect import isclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from sphinx.util.inventory import InventoryFile

import squamish
import squamish.datasets

ROOT = Path(__file__).parents[2]


class Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], {""}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.anchors.add(attributes.get("id"))
        link = attributes.get("src" if tag in ("img", "script") else "href")
        # Links of a template are not of this page.
        if link is not None and tag != "base":
            self.links.append(link)


@cache
def page(path):
    return Page(path.read_text())


@pytest.fixture(scope="module")
def pages(site):
    """All pages but the templates that the theme leaves."""
    return [path for path in site.rglob("*.html") if "_static" not in path.parts]


@pytest.fixture(scope="module")
def documented(site):
    with (site / "objects.inv").open("rb") as file:
        inventory = InventoryFile.load(file, "", lambda base, name: name)
    return {name for kind, names in inventory.items() if kind.startswith("py:") for name in names}


def test_all_links_of_the_site_lead_somewhere(site, pages):
    broken = []
    for path in pages:
        for link in page(path).links:
            address = urlsplit(link)
            if address.scheme or address.netloc:
                continue
            target = (path.parent / unquote(address.path)).resolve() if address.path else path
            known = target.is_file() and (
                target.suffix != ".html" or unquote(address.fragment) in page(target).anchors
            )
            if not known:
                broken.append(f"{path.relative_to(site)}: {link}")
    assert broken == []


def test_nothing_is_loaded_from_elsewhere(pages):
    loaded = (".js", ".css", ".woff2", ".png", ".svg")
    links = {link for path in pages for link in page(path).links}
    assert len(links) > 100
    assert [link for link in links if urlsplit(link).netloc and link.endswith(loaded)] == []


@pytest.mark.parametrize("module", [squamish, squamish.datasets], ids=lambda m: m.__name__)
def test_everything_public_is_in_the_reference(module, documented):
    assert {f"{module.__name__}.{name}" for name in module.__all__} <= documented


@pytest.mark.parametrize("module", [squamish, squamish.datasets], ids=lambda m: m.__name__)
def test_every_method_of_what_is_public_is_in_the_reference(module, documented):
    missing = [
        f"{module.__name__}.{name}.{method}"
        for name in module.__all__
        if isclass(value := getattr(module, name))
        for method, own in vars(value).items()
        if not method.startswith("_")
        and (callable(own) or isinstance(own, property | classmethod))
        and f"{module.__name__}.{name}.{method}" not in documented
    ]
    # What scikit-learn adds to estimators is described there.
    assert [name for name in missing if not name.endswith("set_fit_request")] == []


def test_every_example_and_every_command_has_a_page(site):
    names = {path.stem for path in (ROOT / "examples").glob("plot_*.py")}
    assert len(names) >= 10
    assert names <= {path.stem for path in (site / "docs" / "gallery").glob("*.html")}
    commands = (site / "docs" / "reference" / "command_line.html").read_text()
    for command in ("fit", "demo", "report", "compare", "signatures", "path", "generate"):
        assert f"squamish {command}" in commands


def test_the_first_page_is_found_from_the_root(site):
    assert "docs/index.html" in page(site / "index.html").links


def test_the_readme_is_short_and_its_links_lead_to_files():
    text = (ROOT / "README.md").read_text()
    assert text.count("\n") < 150
    links = [part.partition(")")[0] for part in text.split("](")[1:]]
    assert len(links) > 20
    assert [link for link in links if not (ROOT / link.partition("#")[0]).exists()] == []
