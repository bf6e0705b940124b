"""The exceptions and warnings of the package, and helpers for their messages."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from numbers import Integral
from pathlib import Path
from types import FrameType
from typing import Any

from permed_measures.progress import hidden


class PermedError(ValueError):
    """An error with three parts: what is wrong, where, and what to do.

    Parameters
    ----------
    problem : str
        What is wrong, such as ``missing value in column score``.
    where : str, optional
        The file and line, or the query and document.
    hint : str, optional
        What to do, as a sentence without its full stop.
    """

    def __init__(self, problem: str, *, where: str = "", hint: str = "") -> None:
        self.problem, self.where, self.hint = problem, where, hint
        super().__init__(problem)

    def __str__(self) -> str:
        """Return ``where: problem. hint``."""
        location = f"{self.where}: " if self.where else ""
        advice = f". {self.hint}" if self.hint else ""
        return f"{location}{self.problem}{advice}"

    def __reduce__(self) -> tuple[object, ...]:
        """Keep ``where`` and ``hint`` when an error crosses a process."""
        return partial(type(self), where=self.where, hint=self.hint), (self.problem,)


class MeasureError(PermedError):
    """The measure does not exist, or these qrels do not allow one of its parameters."""


class InputError(PermedError):
    """The package cannot read qrels, a run or a file without losing or changing something."""


class PermedWarning(UserWarning):
    """The values are defined, but the data look like a mistake.

    Attributes
    ----------
    where : str
        The file that the warning is about; the message begins with it. Empty if there is no file.
    """

    where = ""


class NoSharedQueryWarning(PermedWarning):
    """The run is not empty, and none of its queries is in the qrels."""


_CURRENT_RUN: ContextVar[str | None] = ContextVar("run", default="")
_SHOW: ContextVar[Callable[[PermedWarning], None] | None] = ContextVar("show", default=None)
"""Both belong to one call; Python's warning filters would change the whole process and all its threads."""


@contextmanager
def warnings_about(run: str | None) -> Iterator[None]:
    """Name this run in warnings that do not name its file; None hides all warnings.

    The engine issues the warnings, but does not know the user's name for a run, nor whether the same run was
    evaluated before.
    """
    token = _CURRENT_RUN.set(None if _CURRENT_RUN.get() is None else run)
    try:
        yield
    finally:
        _CURRENT_RUN.reset(token)


@contextmanager
def warnings_shown_by(show: Callable[[PermedWarning], None]) -> Iterator[None]:
    """Pass warnings to a function instead of Python's `warnings`."""
    token = _SHOW.set(show)
    try:
        yield
    finally:
        _SHOW.reset(token)


def warn(message: str, kind: type[PermedWarning] = PermedWarning, path: object = None) -> None:
    """Issue a warning attributed to the user's line (or to a file, if `path` is given)."""
    run = _CURRENT_RUN.get()
    if run is None:
        return
    warning = kind(f"run {run!r}: {message}" if run and not path else message)
    warning.where = str(path or "")
    if show := _SHOW.get():
        show(warning)
        return
    frame: FrameType | None = sys._getframe()
    level = depth = 1
    while frame:
        depth += 1
        if frame.f_code.co_filename.startswith(PACKAGE) or _is_ir_measures(frame):
            level = depth
        frame = frame.f_back
    with hidden():
        warnings.warn(warning, stacklevel=level)


def _is_ir_measures(frame: FrameType) -> bool:
    """Check whether a stack frame runs code of ir_measures, which calls the provider."""
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] == "ir_measures"


PACKAGE = str(Path(__file__).parent / "_")[:-1]
"""Prefix of the package's files. It ends with the separator: another package's name may begin the same."""


def did_you_mean(name: str, options: Iterable[str], min_similarity: float = 0.5) -> str:
    """Suggest the option spelled most like `name`, as ``"Did you mean 'x'?"``; empty without one.

    Options with a similarity (difflib's ratio) below `min_similarity` are not suggested.

    Examples
    --------
    >>> did_you_mean("GradedPA", ["GradedAP", "Coverage"])
    "Did you mean 'GradedAP'?"
    """
    import difflib  # here, since only a wrong name needs it

    by_lower = {option.lower(): option for option in options}
    matches = difflib.get_close_matches(name.lower(), by_lower, cutoff=min_similarity)
    return f"Did you mean {by_lower[matches[0]]!r}?" if matches else ""


def check_choice(name: str, value: object, options: Collection[str]) -> None:
    """Raise InputError unless the value is one of the options."""
    if not isinstance(value, str) or value not in options:
        raise InputError(
            f"{name} must be one of {', '.join(options)} (found {short_repr(value)})",
            hint=did_you_mean(str(value), options),
        )


def check_int(name: str, value: object, minimum: int) -> int:
    """Convert an integer (numpy's too) to int; raise InputError unless it is at least `minimum`."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < minimum:
        raise InputError(f"{name} must be a whole number of at least {minimum} (found {short_repr(value)})")
    return int(value)


def siblings(path: Path) -> list[str]:
    """List the files and folders beside a path, to suggest one for a mistyped name."""
    try:
        return sorted(map(str, path.parent.iterdir()))
    except OSError:
        return []


def short_repr(value: object) -> str:
    """Format a value for a message: its repr, cut to 80 characters (a value may be megabytes long).

    Examples
    --------
    >>> short_repr("0.5"), len(short_repr("0" * 1_000_000))
    ("'0.5'", 80)
    """
    try:
        text = repr(value)
    except ValueError:  # an integer of more than 4,300 digits
        text = f"one of type {type(value).__name__} that is too long to print"
    return text if len(text) <= 80 else f"{text[:79]}…"


def reason_of(error: BaseException) -> str:
    """Describe why a download or a data set of ir_datasets failed: the innermost cause, cut short."""
    text = ""
    cause: Any = error
    while isinstance(cause, BaseException):
        if (answer := getattr(cause, "response", None)) is not None:  # an error of requests
            text = f"the server answers HTTP {answer.status_code} {answer.reason or ''}".rstrip()
            break
        text = (
            str(cause.args[0] if isinstance(cause, RuntimeError) and cause.args else cause)
            or type(cause).__name__
        )
        sources = cause.args[1] if len(cause.args) > 1 else None
        if isinstance(sources, list) and sources:  # ir_datasets' pairs of source and error
            cause = sources[0][-1]
        else:
            cause = getattr(cause, "reason", None) or next(iter(cause.args), None)
    text = re.sub(_CONNECTION, "", text)
    return text if len(text) <= 200 else f"{text[:199]}…"


_CONNECTION = r"(<[^>]*>|\w+\(host=[^)]*\)): "
"""The connection at the beginning of urllib3's messages; the user knows it already."""


def dataset_load_error(dataset: str, error: BaseException) -> InputError:
    """Build the error for a data set whose qrels ir_datasets cannot load."""
    return InputError(
        f"the qrels of {short_repr(dataset)} cannot be loaded by ir_datasets ({reason_of(error)})",
        hint="Check the network, or name a file of qrels",
    )


def cache_dir_error(error: BaseException) -> InputError:
    """Build the error for a folder of ir_datasets that is not writable, such as in a read-only home."""
    hint = "Set the environment variable IR_DATASETS_HOME to a folder in which files can be written"
    return InputError(f"ir_datasets cannot write into its folder ({error})", hint=hint)
