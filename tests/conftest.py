import fcntl
import os

import pytest

from squamish import RelevanceSelector
from squamish.datasets import load_patients


@pytest.fixture(scope="session")
def patients():
    """The verdict on a real table with a copy and shuffled columns, by the default method."""
    import pandas as pd

    columns, progress = load_patients()
    target = pd.Series(progress, name="progress")
    selector = RelevanceSelector(task="regression", random_state=0)
    return selector.fit(pd.DataFrame(columns), target).result_


@pytest.fixture(scope="session")
def paper_patients():
    """The same by the method of the paper."""
    import pandas as pd

    columns, progress = load_patients()
    selector = RelevanceSelector("paper", task="regression", random_state=0)
    return selector.fit(pd.DataFrame(columns), progress).result_


@pytest.fixture(scope="session")
def made_once(tmp_path_factory):
    """Make a folder that all processes of a test run share, in the one that asks first."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own

    def made_once(name, make):
        folder, done = shared / name, shared / f"{name}.done"
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                folder.mkdir()
                make(folder)
                done.touch()
        return folder

    return made_once


def pytest_terminal_summary(terminalreporter):
    """Say loudly when the report was not tested in a browser."""
    skipped = terminalreporter.stats.get("skipped", [])
    if any("no browser" in str(item.longrepr) for item in skipped):
        terminalreporter.write_sep("!", "the report was NOT tested: no browser", red=True)
