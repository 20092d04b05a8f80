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
    waiting: str = ""

    @property
    def seconds_left(self) -> float | None:
        """Estimated time until the end; None while it is too early to tell."""
        return self.seconds * (1 - self.share) / self.share if self.share > 0.05 else None

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

    def begin(self, stage: str, total: int) -> None:
        """Begin a stage of so many expected steps."""
        self.stage, self.done, self.total = stage, 0, max(total, 1)
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
        news = Progress(
            stage=self.stage,
            stage_number=number + 1,
            n_stages=len(names),
            done=self.done,
            total=self.total,
            share=self.share,
            seconds=perf_counter() - self.start,
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
