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


def pytest_terminal_summary(terminalreporter):
    """Say loudly when the report was not tested in a browser."""
    skipped = terminalreporter.stats.get("skipped", [])
    if any("no browser" in str(item.longrepr) for item in skipped):
        terminalreporter.write_sep("!", "the report was NOT tested: no browser", red=True)
