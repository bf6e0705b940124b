"""What the command line does before the package is imported: it begins to read a large run."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import stat
import sys
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import NoReturn

_program = Path((getattr(sys, "argv", None) or [""])[0]).stem
is_command = _program == "permed-measures" or (_program == "-m" and "permed_measures" in sys.orig_argv)
"""Whether this process is the command line."""

_LARGE = 1 << 22
"""Bytes of a run from which it is read while the package is imported."""
_OBJECTS = 100_000
"""New objects after which Python looks for garbage: while modules are imported there is none."""


def begin() -> None:
    """Begin to read the run of this command, if it is large; Ctrl-C needs no traceback meanwhile."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # main will set it again
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    gc.set_threshold(_OBJECTS)
    if run := _large_run(sys.argv[1:]):
        # Nothing is multiplied here, and the threads for it would wait busily.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        from permed_measures.files.read import begin_to_read

        begin_to_read(run)


def _large_run(arguments: list[str]) -> Path | None:
    """Return the one run that is evaluated, if it is a large file.

    What follows an option is taken for its value: no harm is done where it is none. Several runs are read by
    several processes, which must be forked before anything is read.
    """
    if arguments[:1] != ["evaluate"]:
        return None
    pairs = pairwise(arguments)
    files = [text for before, text in pairs if not before.startswith("-") and not text.startswith("-")]
    if len(files) != 2:
        return None
    for name in (files[1], files[1].partition("=")[2]):
        with suppress(OSError, ValueError):
            status = Path(name).stat()
            return Path(name) if stat.S_ISREG(status.st_mode) and status.st_size > _LARGE else None
    return None


def end(status: int) -> NoReturn:
    """End the process, and at once if it is the command line: to free what was imported takes a while."""
    if is_command and not (sys.flags.dev_mode or sys.flags.interactive):
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):
                stream.flush()
        os._exit(status)
    sys.exit(status)
