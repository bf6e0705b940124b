"""Handle the signals that end the command: Ctrl-C, SIGTERM and SIGHUP."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from types import FrameType
from typing import Any

_SECONDS_OF_ONE_SIGNAL = 1.0
"""Signals within this time count once: `timeout` sends its signal to a process and to its group."""
_SECONDS_UNTIL_RESENT, _SWALLOWED = 0.1, 3.0
"""The seconds until a signal is sent again: first if Python did not see it, then if the work goes on."""


class Signals:
    """Turn signals that end the command into KeyboardInterrupt, so that temporary files are removed.

    Ignored signals stay ignored, as nohup needs. Python misses a signal just before a blocking read, and
    other code may catch or print the exception. So a thread sends the signal again until the work is done.

    Attributes
    ----------
    status : int
        The exit status after a signal, as in shells: 143 for SIGTERM; 0 if no signal came.
    """

    def __init__(self) -> None:
        self.status = 0
        self._last = -_SECONDS_OF_ONE_SIGNAL
        self._is_over = False
        known = (getattr(signal, name, None) for name in ("SIGINT", "SIGTERM", "SIGHUP"))
        self._numbers = [each for each in known if each and signal.getsignal(each) != signal.SIG_IGN]
        reading, self._writing = os.pipe()
        os.set_blocking(self._writing, False)
        self._before = signal.set_wakeup_fd(self._writing, warn_on_full_buffer=False)
        threading.Thread(target=self._send_again, args=[reading], daemon=True).start()
        for number in self._numbers:
            signal.signal(number, self._end)

    def end(self) -> None:
        """Mark the work as done: from now on a signal ends Python at once, without an exception."""
        self._is_over = True
        signal.set_wakeup_fd(self._before)
        os.close(self._writing)

    def _end(self, number: int, _: FrameType | None) -> None:
        before, self._last = self._last, time.monotonic()
        if self._last - before < _SECONDS_OF_ONE_SIGNAL:
            return
        if self._is_over and self.status:  # a signal ended the work: its status stays, and no exit may hang
            os._exit(self.status)
        if self._is_over:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        self.status = self.status or 128 + number
        sys.unraisablehook = _print_no_interrupt
        raise KeyboardInterrupt

    def _send_again(self, reading: int) -> None:
        """Send each signal again after a while, unless the work is done by then."""
        while numbers := os.read(reading, 1):
            if numbers[0] in self._numbers:
                time.sleep(_SECONDS_UNTIL_RESENT)
                if self.status:
                    time.sleep(_SWALLOWED)
                    self._last = -_SECONDS_OF_ONE_SIGNAL
                if not self._is_over:
                    os.kill(os.getpid(), numbers[0])
        os.close(reading)


def _print_no_interrupt(ignored: Any) -> None:
    """Print an exception that Python could not raise, as usual, except a KeyboardInterrupt in a callback."""
    if ignored.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(ignored)
