"""Polars, which is loaded when it is first used, and never where it would hang; results as frames."""

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
    """Raise InputError in a process forked from one that has used polars.

    There polars would wait for ever for its threads, which a fork does not copy.
    """
    if any(process != os.getpid() for process in _users):
        raise InputError(
            "polars would hang in this process, which was forked from one that has used it",
            hint="Use multiprocessing.get_context('spawn') or 'forkserver', or evaluate dicts in it",
        )


class _Polars:
    """The module polars: importing it takes longer than many an evaluation."""

    def __getattr__(self, name: str) -> Any:
        check_not_forked()
        return getattr(import_module("polars"), name)


if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
else:
    pl = _Polars()


class Tabular(ABC):
    """A result that can be had as a frame, a row for each of its records."""

    @abstractmethod
    def _records(self) -> list[dict[str, Any]]:
        """Return the rows; all have the same columns."""

    def to_polars(self) -> pl.DataFrame:
        """Return the result as a frame of polars."""
        return pl.DataFrame(self._records(), infer_schema_length=None)

    def to_pandas(self) -> pd.DataFrame:
        """Return the result as a frame of pandas.

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
