"""A bar on stderr for what takes longer than two seconds; none where stderr is not a terminal."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from permed_measures.files.sources import ProgressCallback
from permed_measures.markup import one_line

if TYPE_CHECKING:
    from rich.progress import Progress

_AFTER = 2.0  # seconds until the bar is shown


class ProgressBar:
    """How much of a file has been read: a bar that appears late, and disappears at the end of each file."""

    def __init__(self) -> None:
        self._shown: Progress | None = None

    def of(self, name: str) -> ProgressCallback:
        """Return the callback for reading a file of this name."""
        self.close()
        start = time.monotonic()

        def update(share: float) -> None:
            if self._shown is None and time.monotonic() - start >= _AFTER:
                self._show(name)
            if self._shown is not None:
                self._shown.update(self._shown.task_ids[0], completed=share)
            if share >= 1:
                self.close()

        return update if sys.stderr.isatty() else lambda _: None

    def _show(self, name: str) -> None:
        from rich.console import Console
        from rich.markup import escape
        from rich.progress import Progress

        self._shown = Progress(console=Console(stderr=True), transient=True)
        self._shown.add_task(escape(one_line(name)), total=1)
        self._shown.start()

    def close(self) -> None:
        """Remove the bar, if it is shown."""
        if self._shown is not None:
            self._shown.stop()
        self._shown = None
