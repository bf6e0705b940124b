"""Polars in a forked process: it would wait for ever for its threads, which a fork does not copy."""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from permed_measures.errors import InputError

_POLARS_THREAD = re.compile(r"(polars-[0-9]+|tokio-r.*)\n")
"""Those of the second name read files, if only for the names of columns."""
_users: list[int] = []
"""The processes above this one that had used polars when they forked."""


def _before_fork() -> None:
    if "polars" in sys.modules and os.getpid() not in _users and _has_computed():
        _users.append(os.getpid())


def _threads() -> dict[str, str]:
    """Return the names of all threads by their number; empty where there is no /proc."""
    names = {}
    for path in Path("/proc/self/task").glob("*/comm"):
        with suppress(OSError):  # that thread has ended
            names[path.parent.name] = path.read_text()
    return names


_others = set(_threads())
"""Threads that are not of polars."""
_LOOKS, _SECONDS = 100, 0.002
"""How often one looks at threads without a name, and the time between two looks."""


def _has_computed() -> bool:
    """Return whether polars has started its threads, which importing it does not do."""
    for _ in range(_LOOKS):
        names = _threads()
        if not names or any(map(_POLARS_THREAD.fullmatch, names.values())):
            return True  # where there is no /proc: perhaps
        # A thread begins with the name of the process, and takes its own when it first runs.
        ours = _others.union(str(thread.native_id) for thread in threading.enumerate())
        unnamed = [number for number in names.keys() - ours if names[number] == names[str(os.getpid())]]
        if not unnamed:
            return False
        time.sleep(_SECONDS)
    _others.update(unnamed)
    return False


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(before=_before_fork)


def refuse_after_fork() -> None:
    """Raise InputError where polars would hang: in a process forked from one that has used it."""
    if any(process != os.getpid() for process in _users):
        raise InputError(
            "polars would hang in this process, which was forked from one that has used it",
            hint="Use multiprocessing.get_context('spawn') or 'forkserver', or evaluate dicts in it",
        )
