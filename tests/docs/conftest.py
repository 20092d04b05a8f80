"""The site, built once."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("docs", "examples", "src", "benchmarks")
# What building the site leaves in the sources is made anew.
MADE = shutil.ignore_patterns("gallery", "generated", "command_line.md", "__pycache__", "*.csv")


@pytest.fixture(scope="session")
def repository(tmp_path_factory):
    """A copy of what the site is built from, so that no other build is disturbed."""
    copy = tmp_path_factory.mktemp("site") / "squamish"
    copy.mkdir()
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, copy / folder, ignore=MADE)
    for page in ROOT.glob("*.*"):
        if page.suffix in (".md", ".cff"):
            shutil.copy(page, copy)
    return copy


@pytest.fixture(scope="session")
def site(repository):
    """The site without the results of its examples, which have tests of their own."""
    pytest.importorskip("sphinx")
    built = repository / "site"
    options = ["-W", "--keep-going", "--quiet", "-c", "docs", "-D", "plot_gallery=0"]
    run = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, ".", str(built)],
        cwd=repository,
        capture_output=True,
        text=True,
    )
    assert (run.returncode, run.stderr) == (0, "")
    return built
