"""Polars in a forked process: it would wait for ever for its threads, which a fork does not copy."""

from __future__ import annotations

import os
import re
import sys
import threading
from pathlib import Path

from permed_measures.errors import InputError

_POLARS_THREAD = re.compile(r"(polars-[0-9]+|tokio-r.*)\n")
"""Those of the second name read files, if only for the names of columns."""
_users: list[int] = []
"""The processes above this one that had used polars when they forked."""


def _before_fork() -> None:
    if "polars" in sys.modules and os.getpid() not in _users and _has_computed():
        _users.append(os.getpid())


def _has_computed() -> bool:
    """Return whether polars has started its threads, which importing it does not do."""
    names = []
    for path in Path("/proc/self/task").glob("*/comm"):
        try:
            names.append(path.read_text())
        except OSError:  # that thread has ended
            continue
    return not names or any(map(_POLARS_THREAD.fullmatch, names))  # where there is no /proc: perhaps


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(before=_before_fork)


def refuse_after_fork() -> None:
    """Raise InputError where polars would hang: in a process forked from one that has used it."""
    if any(process != os.getpid() for process in _users):
        raise InputError(
            "polars would hang in this process, which was forked from one that has used it",
            hint="Use multiprocessing.get_context('spawn') or 'forkserver', or evaluate dicts in it",
        )


def may_fork() -> bool:
    """Return whether a forked process can do all that this one can: it has one thread, and none of polars."""
    from multiprocessing import current_process

    return (
        sys.platform == "linux"  # others have no fork, or libraries that fail after one
        and threading.active_count() == 1
        and not current_process().daemon  # which may have no processes of its own
        and not _users
        and not ("polars" in sys.modules and _has_computed())
        and "duckdb" not in sys.modules  # which has threads that Python does not count
    )
