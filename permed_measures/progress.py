"""What long work is doing and how far it is: on stderr, where that is a terminal, after two seconds."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")

DELAY = 2.0
"""After how many seconds work is long."""
ENV_VAR = "PERMED_PROGRESS"
"""The environment variable that hides progress if it is 0."""


class _Step:
    """One thing that is done: what, how much there is of it (None: nobody knows), and how much is done."""

    def __init__(self, about: str, total: float | None) -> None:
        self.about, self.total, self.done = about, total, 0.0
        self.task: Any = None


class _Display:
    """The steps under way, those within others last; they are drawn once they take long."""

    def __init__(self) -> None:
        self.steps: list[_Step] = []
        self.is_over = False
        self._lock = threading.RLock()
        self._drawn: Any = None
        self._timer = threading.Timer(DELAY, self.draw)
        self._timer.daemon = True
        self._timer.start()

    def draw(self) -> None:
        """Begin to draw, unless another thread's display is drawn."""
        with self._lock:
            if self._drawn is None and self.steps and _DRAWING_LOCK.acquire(blocking=False):
                self._drawn = _bars()
                for step in self.steps:
                    self._add(step)
                self._drawn.start()

    def _add(self, step: _Step) -> None:
        if self._drawn is not None:
            step.task = self._drawn.add_task(step.about, total=step.total, completed=step.done)

    def begin(self, step: _Step) -> None:
        """Show a step below those under way."""
        with self._lock:
            self.steps.append(step)
            self._add(step)

    def advance(self, step: _Step, by: float) -> None:
        """Say that so much more of a step is done."""
        step.done += by
        with self._lock:
            if self._drawn is not None:
                self._drawn.update(step.task, completed=step.done)

    def end(self, step: _Step) -> None:
        """Show a step no longer."""
        with self._lock:
            self.steps.remove(step)
            if self._drawn is not None:
                self._drawn.remove_task(step.task)
            if not self.steps:
                self.is_over = True
                self._timer.cancel()
                self.hide()

    def hide(self) -> bool:
        """Take away what is drawn; return whether there was something."""
        with self._lock:
            if self._drawn is None:
                return False
            self._drawn.stop()
            self._drawn = None
            _DRAWING_LOCK.release()
            return True


def _bars() -> Any:
    """Return rich's bars, which leave nothing behind and change no stream of the process."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn())
    return Progress(
        *columns,
        TimeRemainingColumn(),
        console=Console(file=sys.stderr),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )


_DRAWING_LOCK = threading.Lock()
"""Held by the display that is drawn: a terminal has one place for it."""
_DISPLAY: ContextVar[_Display | None] = ContextVar("display", default=None)
_QUIET: ContextVar[bool] = ContextVar("quiet", default=False)


def _is_shown() -> bool:
    if _QUIET.get() or os.environ.get(ENV_VAR) == "0":
        return False
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # there is none, or it is closed
        return False


def _ignored(_: float) -> None:
    pass


@contextmanager
def step(about: str, total: float | None = None) -> Iterator[Callable[[float], None]]:
    """Say what is being done in the block, if that takes long; the result says that so much more is done.

    Examples
    --------
    >>> with step("reading run.trec", total=2) as advance:
    ...     advance(1)
    """
    display = _DISPLAY.get()
    if display is None or display.is_over:
        if not _is_shown():
            yield _ignored
            return
        display = _Display()
        _DISPLAY.set(display)  # of this thread; a generator may end the step in another
    this = _Step(about, total)
    display.begin(this)
    try:
        yield lambda by: display.advance(this, by)
    finally:
        display.end(this)


def tracked(items: Collection[T], about: str) -> Iterator[T]:
    """Yield the items, and say how many of them are done, if that takes long.

    Examples
    --------
    >>> list(tracked(["bm25", "lsa"], "runs"))
    ['bm25', 'lsa']
    """
    with step(about, len(items)) as advance:
        for item in items:
            yield item
            advance(1)


@contextmanager
def quiet() -> Iterator[None]:
    """Show no progress of what is done in the block."""
    token = _QUIET.set(True)
    try:
        yield
    finally:
        _QUIET.reset(token)


@contextmanager
def hidden() -> Iterator[None]:
    """Take progress away while something else is printed in the block."""
    display = _DISPLAY.get()
    if display is None or not display.hide():
        yield
        return
    try:
        yield
    finally:
        display.draw()
