"""How the site is built: make docs.

The sources are all of the repository, so that README, changelog, benchmarks and the pages in docs/
are each written once, and their links lead to the same places here and in a checkout.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx_gallery.sorting import FileNameSortKey

from squamish import __version__

if TYPE_CHECKING:
    from sphinx.application import Sphinx

# Examples are small: a second thread costs more than it gains.
os.environ.setdefault("OMP_NUM_THREADS", "1")

HERE = Path(__file__).parent

project = "squamish"
author = "the developers of squamish"
project_copyright = author
version = release = __version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
root_doc = "docs/index"
include_patterns = [
    "docs/**",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "CODE_OF_CONDUCT.md",
    "SECURITY.md",
    "benchmarks/README.md",
    "benchmarks/results/*.md",
]
# Patterns for what is not even looked into come first: there may be environments.
exclude_patterns = [
    ".*",
    "build",
    "dist",
    "site",
    "src",
    "tests",
    "examples",
    "docs/templates",
    "docs/gallery/*.py",
    "docs/gallery/*.ipynb",
]
nitpicky = True
# References to other projects lead nowhere here, as nothing is downloaded.
nitpick_ignore_regex = [("py:.*", r"(sklearn|matplotlib|numpy|polars|pandas)\..*")]
# The order of the examples is a function, which cannot be kept between builds.
suppress_warnings = ["config.cache"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4

default_role = "py:obj"
autodoc_typehints = "none"
templates_path = [str(HERE / "templates")]
autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": ["examples"],
    "gallery_dirs": ["docs/gallery"],
    "within_subsection_order": FileNameSortKey,
    "download_all_examples": False,
    "show_memory": False,
    "abort_on_example_error": True,
    "image_scrapers": ("matplotlib",),
    "write_computation_times": False,
}

html_context = {"default_mode": "auto"}
html_title = f"squamish {release}"
html_theme = "pydata_sphinx_theme"
html_extra_path = ["front"]
html_static_path = ["static"]
html_css_files = ["squamish.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "squamish"},
    "show_toc_level": 2,
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}


def _write_commands(app: Sphinx) -> None:
    """Write the page on the command line, from the commands themselves."""
    arguments = ["-m", "typer", "squamish.cli.commands", "utils", "docs", "--name", "squamish"]
    page = subprocess.run(
        [sys.executable, *arguments, "--title", "Command line"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    path = HERE / "reference" / "command_line.md"
    # What has not changed need not be read again.
    if not path.exists() or path.read_text() != page:
        path.write_text(page)


def setup(app: Sphinx) -> None:
    """Write what is made from the code before pages are looked for."""
    app.connect("builder-inited", _write_commands)
