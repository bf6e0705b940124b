"""Print notes, warnings and errors to stderr."""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from permed_measures.errors import (
    InputError,
    NoSharedQueryWarning,
    PermedError,
    PermedWarning,
    warnings_shown_by,
)
from permed_measures.escaping import one_line
from permed_measures.progress import hidden


def print_message(text: str) -> None:
    """Print a message to stderr; escape control characters in names of files and runs."""
    if not sys.stderr.isatty():
        print(one_line(text), file=sys.stderr)
        return
    from permed_measures.terminal import paragraph

    with hidden():
        print(paragraph(text, 2, sys.stderr), file=sys.stderr)


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Print each warning once, as a note; make it an error if a run shares no query with the qrels."""
    shown: set[str] = set()

    def show(warning: PermedWarning) -> None:
        if isinstance(warning, NoSharedQueryWarning):
            raise warning
        if str(warning) not in shown:
            print_message(f"note: {warning}")
        shown.add(str(warning))

    try:
        with warnings_shown_by(show):
            yield
    except NoSharedQueryWarning as warning:
        # The second half of the warning describes values, and an error computes none.
        raise InputError(str(warning).replace("; every value is that of an empty run", "")) from None


_CANNOT_WRITE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}
"""The errors of printing; an error about a file has the file's name."""


def message_of(error: BaseException) -> str:
    """Describe an error in one line."""
    if isinstance(error, PermedError):
        return str(error)
    if isinstance(error, OSError):
        file = error.filename or ("standard output" if error.errno in _CANNOT_WRITE else "")
        return f"{file}: {error.strerror}" if file else error.strerror or str(error)
    if isinstance(error, MemoryError):
        return "not enough memory. TREC, CSV and Parquet files need the least: they are read in parts"
    return (
        f"unexpected {type(error).__name__}: {error}. "
        "python -X dev -m permed_measures with the same arguments shows where"
    )
