"""Processes of other people's code: begun, and ended with all that they began."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

TIME_LIMIT = 60.0
"""How many seconds a script or a program may take for a case."""


def start_process(words: Sequence[str], **how: Any) -> subprocess.Popen[bytes]:
    """Start a process with a group of its own, as `subprocess.Popen` does; `end_process` ends it."""
    return subprocess.Popen(words, start_new_session=True, **how)


def end_process(process: subprocess.Popen[bytes]) -> None:
    """End a process, and what it began and left running."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()
