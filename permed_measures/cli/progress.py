"""A bar on stderr for what takes longer than two seconds; none where stderr is no terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from permed_measures.files.sources import ProgressCallback

if TYPE_CHECKING:
    from rich.progress import Progress

__all__ = ["progress"]

_AFTER = 2.0
"""Seconds until the bar is shown."""


@contextmanager
def progress(name: str) -> Iterator[ProgressCallback]:
    """Yield a function that is told the share that is done, from 0 to 1."""
    bar = _Bar(name)
    try:
        yield bar.tick if sys.stderr.isatty() else lambda _: None
    finally:
        bar.stop()


class _Bar:
    """A bar that appears late and goes when it is done."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._start = time.monotonic()
        self._shown: Progress | None = None

    def tick(self, share: float) -> None:
        """Show the share, once it is time."""
        if self._shown is None and time.monotonic() - self._start >= _AFTER:
            self._shown = self._show()
        if self._shown is not None:
            self._shown.update(self._shown.task_ids[0], completed=share)

    def _show(self) -> Progress:
        from rich.console import Console
        from rich.markup import escape
        from rich.progress import Progress

        shown = Progress(console=Console(stderr=True), transient=True)
        shown.add_task(escape(self._name), total=1)
        shown.start()
        return shown

    def stop(self) -> None:
        """Take the bar away, if it was shown."""
        if self._shown is not None:
            self._shown.stop()
