"""Polars in a forked process: it would wait for ever for its threads, which a fork does not copy."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from pathlib import Path

from permed_measures.errors import InputError

_POLARS_THREAD = re.compile(r"polars-[0-9]|tokio-r")
"""Those of the second name read files. Importing polars starts neither."""
_users: list[int] = []
"""The processes above this one in which polars had threads when they forked."""


def _before_fork() -> None:
    names: list[str] = []  # none where there is no /proc
    for path in Path("/proc/self/task").glob("*/comm"):
        with suppress(OSError):  # that thread has ended
            names.append(path.read_text())
    if "polars" in sys.modules and (not names or any(map(_POLARS_THREAD.match, names))):
        _users.append(os.getpid())


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(before=_before_fork)


def check_not_forked() -> None:
    """Raise InputError where polars would hang: in a process forked from one that has used it."""
    if any(process != os.getpid() for process in _users):
        raise InputError(
            "polars would hang in this process, which was forked from one that has used it",
            hint="Use multiprocessing.get_context('spawn') or 'forkserver', or evaluate dicts in it",
        )
