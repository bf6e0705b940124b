"""Load polars on first use, and refuse it where it would hang; turn results into frames."""

from __future__ import annotations

import os
import re
import sys
from abc import ABC, abstractmethod
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from permed_measures.errors import InputError

__all__ = ["Tabular", "check_not_forked", "pl"]

_POLARS_THREAD = re.compile(r"polars-[0-9]|tokio-r")
"""Names of polars' threads; tokio's read files. Importing polars starts neither."""
_users: list[int] = []
"""Ids of the parent processes that forked while polars had threads in them."""


def _before_fork() -> None:
    names: list[str] = []  # stays empty on systems without /proc
    for path in Path("/proc/self/task").glob("*/comm"):
        with suppress(OSError):  # the thread has ended meanwhile
            names.append(path.read_text())
    if "polars" in sys.modules and (not names or any(map(_POLARS_THREAD.match, names))):
        _users.append(os.getpid())


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(before=_before_fork)


def check_not_forked() -> None:
    """Raise InputError in a process that was forked from one that has used polars.

    Polars would hang there: it waits for its threads, which a fork does not copy.
    """
    if any(process != os.getpid() for process in _users):
        raise InputError(
            "polars would hang in this process, which was forked from one that has used it",
            hint="Use multiprocessing.get_context('spawn') or 'forkserver', or evaluate dicts in it",
        )


class _Polars:
    """The module polars, imported on first use: the import takes longer than a small evaluation."""

    def __getattr__(self, name: str) -> Any:
        check_not_forked()
        return getattr(import_module("polars"), name)


if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
else:
    pl = _Polars()


class Tabular(ABC):
    """A result that converts to a frame, with one row for each record."""

    @abstractmethod
    def _records(self) -> list[dict[str, Any]]:
        """Return the rows; all have the same columns."""

    def to_polars(self) -> pl.DataFrame:
        """Convert the result to a polars frame."""
        return pl.DataFrame(self._records(), infer_schema_length=None)

    def to_pandas(self) -> pd.DataFrame:
        """Convert the result to a pandas frame.

        Raises
        ------
        InputError
            If pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError:
            raise InputError(
                "pandas is not installed", hint="pip install pandas, or take to_polars(), which needs nothing"
            ) from None
        return pd.DataFrame(self._records())
