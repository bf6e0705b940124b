"""Start processes for other people's code, and end them with all processes that they started."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

TIME_LIMIT = 60.0
"""The seconds that a script or a program may take for a case."""


def start_process(words: Sequence[str], **how: Any) -> subprocess.Popen[bytes]:
    """Start a process in a group of its own, with the keywords of `subprocess.Popen`."""
    return subprocess.Popen(words, start_new_session=True, **how)


def end_process(process: subprocess.Popen[bytes]) -> None:
    """End a process, and the processes that it started and left running."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()
