"""Following a long fit, and stopping it."""

import re
import subprocess
import sys

import numpy as np
import pytest
import sklearn

from squamish import CrossfitMethod, InputError, PaperMethod, RelevanceSelector
from squamish.datasets import make_linear
from squamish.execution import progress
from squamish.execution.progress import Progress, Reporter

QUICK = PaperMethod(n_null_samples=5, n_estimators=10, p=1e-3)


@pytest.fixture(scope="module")
def problem():
    return make_linear(150, n_strong=2, group_sizes=[3], n_irrelevant=3, random_state=0)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("method", [CrossfitMethod(), QUICK])
def test_a_callback_hears_of_every_stage_in_order(problem, method, n_jobs):
    news = []
    selector = RelevanceSelector(method, random_state=0, n_jobs=n_jobs, callback=news.append)
    selector.fit(problem.X, problem.y)
    stages = list(dict.fromkeys(item.stage for item in news))
    assert stages == list(method.STAGES)
    shares = [item.share for item in news]
    assert all(0 <= share <= 1 + 1e-12 for share in shares)
    assert shares == sorted(shares)
    assert all(item.done <= item.total for item in news)
    assert shares[-1] == pytest.approx(1)


def test_time_left_is_told_once_it_can_be():
    early = Progress("a", 1, 2, 0, 10, share=0.0, seconds=1.0)
    later = Progress("b", 2, 2, 5, 10, share=0.25, seconds=3.0, seconds_left=9.0)
    assert early.seconds_left is None
    assert str(later) == "stage 2 of 2: b, 5 of 10, 3 s, about 9 s left"
    assert str(early) == "stage 1 of 2: a, 0 of 10, 1 s"


@pytest.mark.parametrize("slower", [1, 1.5, 2])
def test_the_time_left_is_estimated_from_the_stages_as_they_go(monkeypatch, slower):
    usual = {"screen": 0.1, "test": 0.4, "measure": 0.5}
    clock, told = [0.0], []
    monkeypatch.setattr(progress, "perf_counter", lambda: clock[0])
    reporter = Reporter(usual, [lambda news: told.append((clock[0], news.seconds_left))], start=0.0)
    for stage, share in usual.items():
        # Stages after the first take longer or shorter than usual, and their steps turn up late.
        seconds = 100 * share * (slower if stage != "screen" else 1)
        reporter.begin(stage, 10 if stage == "screen" else 1)
        for _ in range(10):
            reporter.hand_out(1)
            clock[0] += seconds / 10
            reporter.step()
    assert told[0][1] is None
    ratios = [left / (clock[0] - now) for now, left in told[:-1] if left is not None]
    assert len(ratios) > 25
    assert np.mean([0.5 <= ratio <= 2 for ratio in ratios]) > 0.7


def test_a_stage_of_known_length_tells_how_long_it_takes(monkeypatch):
    clock, told = [0.0], []
    monkeypatch.setattr(progress, "perf_counter", lambda: clock[0])
    reporter = Reporter(
        {"fit": 0.5, "halves": 0.5}, [lambda n: told.append(n.seconds_left)], start=0.0
    )
    for stage, seconds in (("fit", 10), ("halves", 40)):
        reporter.begin(stage, 20)
        for _ in range(20):
            clock[0] += seconds / 20
            reporter.step()
    assert told[-11:] == pytest.approx([2.0 * k for k in range(10, -1, -1)])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_a_callback_raises_ends_the_fit_and_leaves_no_half_verdict(problem, n_jobs):
    def stop(news):
        if news.stage_number == 2 and news.done == 1:
            raise KeyboardInterrupt

    selector = RelevanceSelector(random_state=0, callback=stop, n_jobs=n_jobs)
    with pytest.raises(KeyboardInterrupt):
        selector.fit(problem.X, problem.y)
    assert not hasattr(selector, "result_")
    expected = RelevanceSelector(random_state=0).fit(problem.X, problem.y).relevance_classes_
    selector.set_params(callback=None).fit(problem.X, problem.y)
    assert np.array_equal(selector.relevance_classes_, expected)


def test_verbose_writes_lines_where_there_is_no_terminal(problem, capsys):
    RelevanceSelector(random_state=0, verbose=1).fit(problem.X, problem.y)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 6
    assert printed.err.startswith("squamish: stage 1 of 6: screen for relevance, 0 of 9")


def test_verbose_shows_a_bar_in_a_terminal():
    pytest.importorskip("pty", reason="pseudo-terminals are for Unix")
    code = (
        "import pty, sys; sys.exit(pty.spawn([sys.executable, '-c', '''"
        "from squamish import RelevanceSelector\n"
        "from squamish.datasets import make_linear\n"
        "p = make_linear(150, n_strong=2, group_sizes=[], n_irrelevant=3, random_state=0)\n"
        "RelevanceSelector(random_state=0, verbose=1).fit(p.X, p.y)''']))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120
    )
    assert run.returncode == 0, run.stdout
    # Stages that last less than a tenth of a second may not be seen.
    assert re.search("[1-6]/6 [a-z]", run.stdout)
    assert "━" in run.stdout


def test_bad_parameters_are_named(problem):
    with pytest.raises(InputError, match="callback is 3; it must be None or callable"):
        RelevanceSelector(callback=3).fit(problem.X, problem.y)
    with pytest.raises(InputError, match="select is 'all'"):
        RelevanceSelector(select="all").fit(problem.X, problem.y)
    for verbose in (-1, "x"):
        with pytest.raises(InputError, match=f"verbose is {verbose!r}; it must be a whole number"):
            RelevanceSelector(verbose=verbose).fit(problem.X, problem.y)


@pytest.mark.skipif(
    tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 9),
    reason="scikit-learn has callbacks from version 1.9",
)
def test_callbacks_of_scikit_learn_see_the_stages(problem):
    class Recorder:
        def __init__(self):
            self.events = []

        def setup(self, estimator, context):
            self.events.append("setup")

        def on_fit_task_begin(self, estimator, context):
            self.events.append(("begin", context.task_name))

        def on_fit_task_end(self, estimator, context):
            self.events.append(("end", context.task_name))

        def teardown(self, estimator, context):
            self.events.append("teardown")

    recorder = Recorder()
    selector = RelevanceSelector(random_state=0).set_callbacks(recorder)
    selector.fit(problem.X, problem.y)
    events = [event for event in recorder.events if event[1] != "step"]
    inner = [(what, stage) for stage in CrossfitMethod.STAGES for what in ("begin", "end")]
    assert events == ["setup", ("begin", "fit"), *inner, ("end", "fit"), "teardown"]
    assert ("begin", "step") in recorder.events
