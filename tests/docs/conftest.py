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


def build(copy):
    """Build the site from a copy of its sources, so that no other build is disturbed.

    The examples of the gallery are not run: they have tests of their own.
    """
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, copy / folder, ignore=MADE)
    for page in ROOT.glob("*.md"):
        shutil.copy(page, copy)
    options = ["-W", "--keep-going", "--quiet", "-c", "docs", "-D", "plot_gallery=0"]
    run = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, ".", "site"],
        cwd=copy,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr


@pytest.fixture(scope="session")
def site(made_once):
    return made_once("repository", build) / "site"
