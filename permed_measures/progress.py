"""Show the progress of long work: a bar on stderr, after two seconds, if stderr is a terminal."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")

DELAY = 2.0
"""Seconds before progress is shown."""
ENV_VAR = "PERMED_PROGRESS"
"""The environment variable that hides progress if it is 0."""
_QUIET: ContextVar[bool] = ContextVar("quiet", default=False)


def _is_shown() -> bool:
    if _QUIET.get() or os.environ.get(ENV_VAR) == "0":
        return False
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # stderr is None, or closed
        return False


class _Step:
    """One step of the work; the first advance after two seconds draws its bar."""

    def __init__(self, about: str, total: float | None) -> None:
        self._about, self._total, self._done = about, total, 0.0
        self._begun, self._bar = time.monotonic(), None

    def advance(self, by: float) -> None:
        """Add an amount to the done part of the step."""
        self._done += by
        if self._bar is None and time.monotonic() - self._begun >= DELAY:
            self._bar = self._draw()
        elif self._bar is not None:
            self._bar.update(by)

    def _draw(self) -> Any:
        from tqdm import tqdm

        # The layout shows no rate: the bar is younger than the work, so its rate would be wrong.
        layout = "{desc}" if self._total is None else "{l_bar}{bar}|"
        return tqdm(
            desc=self._about,
            total=self._total,
            initial=self._done,
            leave=False,
            file=sys.stderr,
            bar_format=layout,
        )

    def end(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()


@contextmanager
def step(about: str, total: float | None = None) -> Iterator[Callable[[float], None]]:
    """Show the work of the block, if it takes long; yield a function that advances the bar by an amount.

    Examples
    --------
    >>> with step("reading run.trec", total=2) as advance:
    ...     advance(1)
    """
    if not _is_shown():
        yield lambda _: None
        return
    this = _Step(about, total)
    try:
        yield this.advance
    finally:
        this.end()


def tracked(items: Collection[T], about: str) -> Iterator[T]:
    """Yield the items, and show how many are done, if that takes long.

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
    """Show no progress during the block."""
    token = _QUIET.set(True)
    try:
        yield
    finally:
        _QUIET.reset(token)


def hidden() -> AbstractContextManager[Any]:
    """Hide the bars during the block, which prints something else."""
    tqdm = sys.modules.get("tqdm")
    return nullcontext() if tqdm is None else tqdm.tqdm.external_write_mode(file=sys.stderr)
