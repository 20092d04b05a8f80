"""A short form of `make stress`: a few attempts of the quick attacks, without a fault."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from attacks import ATTACKS

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
# As many as a few seconds allow; flips go through all kinds of files in turn. One attempt on a
# cluster takes longer than that.
ATTEMPTS = {"kills": 2, "flips": 18, "tables": 100, "names": 4}

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="commands are run in forks")


@pytest.mark.parametrize("name", ATTEMPTS)
def test_an_attack_finds_no_fault(name, tmp_path):
    done = subprocess.run(
        [
            *[sys.executable, BENCHMARKS / "stress.py", "--only", name, "--out", tmp_path],
            *["--attempts", str(ATTEMPTS[name]), "--jobs", "1"],
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    page = (tmp_path / "stress.md").read_text()
    assert done.returncode == 0, page
    assert f"{ATTEMPTS[name]} of {ATTACKS[name].goal:,}" in page


def test_a_flag_that_trees_do_not_look_at_is_no_division_by_nothing(tmp_path):
    assert ATTACKS["tables"].attempt(7107, tmp_path).kind == "a verdict"
