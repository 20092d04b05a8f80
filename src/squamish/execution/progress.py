"""How far a long fit is: told to a callable, to a bar, and to scikit-learn's callbacks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from time import perf_counter
from typing import Any

from squamish.compatibility import callback_context

# What is done before the first stage begins.
READING = "reading the table"


@dataclass(frozen=True)
class Progress:
    """How far a fit is.

    Attributes
    ----------
    stage : str
        What is being done.
    stage_number, n_stages : int
        Which stage that is, from 1, and of how many.
    done, total : int
        Steps of this stage that are finished, and how many are expected.
    share : float
        Estimated share of the whole work that is finished, from 0 to 1.
    seconds : float
        Time since the start.
    seconds_left : float or None
        Estimated time until the end; None while it is too early to tell.
    waiting : str
        Whom work is waited for, such as a cluster without workers; empty while work is done.
    """

    stage: str
    stage_number: int
    n_stages: int
    done: int
    total: int
    share: float
    seconds: float
    seconds_left: float | None = None
    waiting: str = ""

    def __str__(self) -> str:
        said = self.waiting or self.left
        return (
            f"stage {self.stage_number} of {self.n_stages}: {self.stage}, {self.done} of "
            f"{self.total}, {self.seconds:.0f} s{said and f', {said}'}"
        )

    @property
    def left(self) -> str:
        """The time left in words; empty while it cannot be told, or is not worth a word."""
        left = self.seconds_left
        if left is None or left < 1:
            return ""
        return f"about {left:.0f} s left" if left < 120 else f"about {left / 60:.0f} min left"


Listener = Callable[[Progress], object]


# So much of a stage of known length has to be done before it tells how long it takes.
LEAST_DONE = 0.2


@dataclass(eq=False)
class Pace:
    """Estimates the time left from how long the stages took so far, beside what they usually take.

    How much there is to do in a stage turns out in it: how many columns are to be looked at twice,
    say. A stage of which more and more steps become known is expected to take what it usually
    takes beside those before it; if it took longer already, half as long again as it took so far,
    as is right for what has no typical length (Pareto's law with exponent 3).

    Parameters
    ----------
    stages : mapping of str to float
        The stages in their order, and the share of the time that each usually takes.

    Examples
    --------
    >>> from squamish.execution.progress import Pace
    >>> pace = Pace({"look": 0.25, "leap": 0.75})
    >>> pace.begin("look", 0.0)
    >>> pace.left(5.0, done=5, total=10, is_final=True)
    35.0
    >>> pace.begin("leap", 10.0)
    >>> pace.left(15.0, done=1, total=9, is_final=False)
    25.0
    """

    stages: Mapping[str, float]
    stage: str = ""
    start: float = 0.0
    before: float = 0.0

    def begin(self, stage: str, now: float) -> None:
        """Begin a stage."""
        names = list(self.stages)
        self.stage, self.start = stage, now
        self.before = sum(self.stages[name] for name in names[: names.index(stage)])

    def left(self, now: float, done: int, total: int, *, is_final: bool) -> float | None:
        """Estimate the time left; None while it is too early to tell.

        ``is_final`` tells whether the total of the stage was known when it began.
        """
        own, took, share = self.stages[self.stage], now - self.start, done / total
        # A single step, which may be one of many that turn up yet, tells nothing.
        is_known = is_final and share >= LEAST_DONE and total * LEAST_DONE >= 1
        if self.before == 0 or self.start == 0:
            if not is_known:
                return None
            left = took * (1 - share) / share
            unit = (took + left) / own
        else:
            unit = self.start / self.before
            usual = unit * own - took
            left = took * (1 - share) / share if is_known else max(usual, took / 2)
        return left + unit * max(sum(self.stages.values()) - self.before - own, 0.0)


@dataclass(eq=False)
class Reporter:
    """Counts the steps of a fit and tells listeners, in the thread that called ``fit``.

    Parameters
    ----------
    stages : mapping of str to float
        The stages in their order, and the share of the time that each usually takes.
    listeners : sequence of callables
        Each is called with a `Progress`. What they raise ends the fit.

    Examples
    --------
    >>> from squamish.execution.progress import Reporter
    >>> seen = []
    >>> reporter = Reporter({"look": 0.25, "leap": 0.75}, [seen.append])
    >>> reporter.begin("leap", 3)
    >>> reporter.step()
    >>> [(p.stage, p.done, p.total, p.share) for p in seen]
    [('leap', 0, 3, 0.25), ('leap', 1, 3, 0.5)]
    """

    stages: Mapping[str, float] = field(default_factory=dict)
    listeners: Sequence[Listener] = ()
    stage: str = READING
    done: int = 0
    total: int = 0
    share: float = 0.0
    start: float = field(default_factory=perf_counter)
    known: int = 0

    def __post_init__(self) -> None:
        self.pace = Pace(self.stages)

    def begin(self, stage: str, total: int) -> None:
        """Begin a stage of so many expected steps."""
        self.stage, self.done, self.total = stage, 0, max(total, 1)
        self.known = self.total
        if stage in self.stages:
            self.pace.begin(stage, perf_counter() - self.start)
        self._tell()

    def expect(self, more: int) -> None:
        """Expect more steps in this stage."""
        self.total += more

    def hand_out(self, n_tasks: int) -> None:
        """Begin so many tasks, whether they were expected or not."""
        self.total = max(self.total, self.done + n_tasks)

    def step(self) -> None:
        """Count a finished step; if there are more than expected, more were expected."""
        self.done += 1
        self.total = max(self.total, self.done)
        self._tell()

    def wait(self, what: str) -> None:
        """Say that nothing can be done for the moment, and what is waited for."""
        self._tell(what)

    def _tell(self, waiting: str = "") -> None:
        if not self.listeners or self.stage not in self.stages:
            return
        names = list(self.stages)
        number = names.index(self.stage)
        before = sum(self.stages[name] for name in names[:number])
        share = before + self.stages[self.stage] * self.done / self.total
        # Steps that nobody expected take nothing back.
        self.share = max(self.share, share / sum(self.stages.values()))
        seconds, is_final = perf_counter() - self.start, self.total == self.known
        news = Progress(
            stage=self.stage,
            stage_number=number + 1,
            n_stages=len(names),
            done=self.done,
            total=self.total,
            share=self.share,
            seconds=seconds,
            seconds_left=self.pace.left(seconds, self.done, self.total, is_final=is_final),
            waiting=waiting,
        )
        for listener in self.listeners:
            listener(news)


def comes_from_listener(error: BaseException) -> bool:
    """Tell whether an error was raised by who listens, and not by the work."""
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code is Reporter._tell.__code__:
            return True
        traceback = traceback.tb_next
    return False


@contextmanager
def shown(verbose: int) -> Iterator[Sequence[Listener]]:
    """Show the progress on standard error: a bar in terminals and notebooks, lines elsewhere.

    Yields the listeners that do so; none if ``verbose`` is 0.
    """
    if not verbose:
        yield ()
        return
    try:
        from rich.console import Console
    except ImportError:
        yield (Lines(),)
        return
    console = Console(stderr=True)
    # A bar in a notebook is a widget.
    able = find_spec("ipywidgets") is not None if console.is_jupyter else console.is_terminal
    if not able or console.is_dumb_terminal:
        yield (Lines(),)
        return
    with _bar(console) as listener:
        yield (listener,)


class Lines:
    """Writes a line to standard error whenever a stage, or a wait, begins."""

    stage, waits = "", False

    def __call__(self, news: Progress) -> None:
        """Take the news."""
        is_new = news.stage != self.stage or (bool(news.waiting) and not self.waits)
        self.stage, self.waits = news.stage, bool(news.waiting)
        if is_new and sys.stderr is not None:
            print(f"squamish: {news}", file=sys.stderr, flush=True)


@contextmanager
def _bar(console: Any) -> Iterator[Listener]:
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = [
        TextColumn("{task.fields[stage]}"),
        BarColumn(bar_width=None if console.width < 80 else 30),
        TextColumn("{task.percentage:>3.0f}%"),
    ]
    if console.width >= 80:
        columns += [TextColumn("{task.fields[count]}"), TimeElapsedColumn()]
    columns.append(TextColumn("{task.fields[left]}"))
    bar = Progress(*columns, console=console, transient=True, expand=console.width < 80)
    with bar:
        task = bar.add_task("", total=1.0, stage=READING, count="", left="")

        def listener(news: Any) -> None:
            bar.update(
                task,
                completed=news.share,
                stage=news.waiting or f"{news.stage_number}/{news.n_stages} {news.stage}",
                count=f"{news.done}/{news.total}",
                left=news.left,
            )

        yield listener


class SklearnTasks:
    """Tells scikit-learn's callbacks: the fit is a task, its stages and steps are subtasks."""

    def __init__(self, estimator: Any, root: Any) -> None:
        self.estimator, self.root = estimator, root
        self.stage: Any = None
        self.name = ""

    def __call__(self, news: Progress) -> None:
        """Begin and end tasks as the news says."""
        if news.waiting:
            return
        if news.stage != self.name:
            self.finish_stage()
            self.name = news.stage
            self.stage = self.root.subcontext(task_name=news.stage, max_subtasks=news.total)
            self.stage.call_on_fit_task_begin(estimator=self.estimator)
        elif news.done <= self.stage.max_subtasks:
            step = self.stage.subcontext(task_name="step")
            step.call_on_fit_task_begin(estimator=self.estimator)
            step.call_on_fit_task_end(estimator=self.estimator)

    def finish_stage(self) -> None:
        """End the task of the stage that is under way."""
        if self.stage is not None:
            self.stage.call_on_fit_task_end(estimator=self.estimator)
            self.stage = None


@contextmanager
def sklearn_tasks(estimator: Any, n_stages: int, X: Any, y: Any) -> Iterator[Sequence[Listener]]:
    """Open the task of a fit for the callbacks that scikit-learn's ``set_callbacks`` set."""
    root = callback_context(estimator, max_subtasks=n_stages)
    if root is None:
        yield ()
        return
    root.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
    tasks = SklearnTasks(estimator, root)
    yield (tasks,)
    tasks.finish_stage()
    root.call_on_fit_task_end(estimator=estimator, X=X, y=y)
