"""Signals that end the command: Ctrl-C, SIGTERM and SIGHUP."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from types import FrameType
from typing import Any

_ONE = 1.0
"""The same demand within so many seconds comes once: timeout sends it to a process and to its group."""
_AGAIN = 0.01
"""After how many seconds an interrupt is raised again where Python could not raise it."""
_SWALLOWED = 3.0
"""After how many seconds it is raised again where some code caught it, and the command goes on."""


class Signals:
    """The signals that ask the command to end, whose temporary files then go as after any other error.

    Each raises KeyboardInterrupt. A signal that is ignored stays ignored, as nohup asks.

    Attributes
    ----------
    status : int
        The exit status as shells have it, such as 143 after SIGTERM; 0 if no signal came.
    """

    def __init__(self) -> None:
        self.status = 0
        self._last = -_ONE
        self._is_over = False
        for number in (getattr(signal, name, None) for name in ("SIGINT", "SIGTERM", "SIGHUP")):
            if number is not None and signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._end)

    def end(self) -> None:
        """Say that the work is done: a signal ends Python at once from now on, without an interrupt."""
        self._is_over = True

    def _end(self, number: int, _: FrameType | None) -> None:
        before, self._last = self._last, time.monotonic()
        if self._last - before < _ONE:
            return
        if self._is_over:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        if not self.status:
            self.status = 128 + number
            sys.unraisablehook = self._raise_again
        self._raise_in(_SWALLOWED)
        raise KeyboardInterrupt

    def _raise_again(self, ignored: Any) -> None:
        """Raise an interrupt once more that came where Python only prints it, such as in a callback."""
        if ignored.exc_type is not KeyboardInterrupt:
            sys.__unraisablehook__(ignored)
            return
        self._raise_in(_AGAIN)

    def _raise_in(self, seconds: float) -> None:
        timer = threading.Timer(seconds, self._send)
        timer.daemon = True
        timer.start()

    def _send(self) -> None:
        """Send the first signal again, unless the work is done."""
        if not self._is_over:
            self._last = -_ONE
            os.kill(os.getpid(), self.status - 128)
