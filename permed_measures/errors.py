"""The exceptions and warnings that a user can meet; their messages."""

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
    """Something that permed-measures refuses: what is wrong, where, and what to do.

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
    """A measure that does not exist, or a parameter that it cannot have with these qrels."""


class InputError(PermedError):
    """Qrels, a run or a file that cannot be read without losing or changing something."""


class PermedWarning(UserWarning):
    """The numbers are defined, but the data look as if something else was meant.

    Attributes
    ----------
    where : str
        The file that it is about, with which the message begins; empty if it is about no file.
    """

    where = ""


class NoSharedQueryWarning(PermedWarning):
    """The run is not empty, and none of its queries is in the qrels."""


_CURRENT_RUN: ContextVar[str | None] = ContextVar("run", default="")
_SHOW: ContextVar[Callable[[PermedWarning], None] | None] = ContextVar("show", default=None)
"""Of this call alone: Python's filters of warnings are those of the whole process, with all its threads."""


@contextmanager
def warnings_about(run: str | None) -> Iterator[None]:
    """Have warnings name this run, unless they name its file; with None there are none.

    The engine, which warns, does not know what the user calls a run, nor whether it was evaluated before.
    """
    token = _CURRENT_RUN.set(None if _CURRENT_RUN.get() is None else run)
    try:
        yield
    finally:
        _CURRENT_RUN.reset(token)


@contextmanager
def warnings_shown_by(show: Callable[[PermedWarning], None]) -> Iterator[None]:
    """Give warnings to a function, in place of Python's."""
    token = _SHOW.set(show)
    try:
        yield
    finally:
        _SHOW.reset(token)


def warn(message: str, kind: type[PermedWarning] = PermedWarning, path: object = None) -> None:
    """Warn of the line by which a user called the package; of a file if the message begins with its path."""
    run = _CURRENT_RUN.get()
    if run is None:
        return
    warning = kind(f"run {run!r}: {message}" if run and not path else message)
    warning.where = str(path or "")
    if show := _SHOW.get():
        show(warning)
        return
    frame: FrameType | None = sys._getframe()
    level = number = 1
    while frame:
        number += 1
        if frame.f_code.co_filename.startswith(PACKAGE) or _is_ir_measures(frame):
            level = number
        frame = frame.f_back
    with hidden():
        warnings.warn(warning, stacklevel=level)


def _is_ir_measures(frame: FrameType) -> bool:
    """Return whether code of ir_measures runs in a frame, which calls the provider."""
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] == "ir_measures"


PACKAGE = str(Path(__file__).parent / "_")[:-1]
"""How the paths of the package's files begin; with the separator, since a neighbour may begin alike."""


def did_you_mean(name: str, options: Iterable[str], least: float = 0.5) -> str:
    """Return ``"Did you mean 'x'?"`` for the option spelled most like `name`, or an empty string.

    What is less alike than `least`, by the ratio of difflib, is not meant.

    Examples
    --------
    >>> did_you_mean("GradedPA", ["GradedAP", "Coverage"])
    "Did you mean 'GradedAP'?"
    """
    import difflib  # which only a wrong name needs

    by_lower = {option.lower(): option for option in options}
    found = difflib.get_close_matches(name.lower(), by_lower, cutoff=least)
    return f"Did you mean {by_lower[found[0]]!r}?" if found else ""


def check_choice(name: str, value: object, options: Collection[str]) -> None:
    """Raise InputError unless the value is one of the options."""
    if not isinstance(value, str) or value not in options:
        raise InputError(
            f"{name} must be one of {', '.join(options)} (found {short_repr(value)})",
            hint=did_you_mean(str(value), options),
        )


def check_int(name: str, value: object, least: int) -> int:
    """Return an integer, also one of numpy; raise InputError unless it is at least `least`."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least} (found {short_repr(value)})")
    return int(value)


def siblings(path: Path) -> list[str]:
    """Return the files and folders where a file was looked for: one of them may have been meant."""
    try:
        return sorted(map(str, path.parent.iterdir()))
    except OSError:
        return []


def short_repr(value: object) -> str:
    """Return a value as messages show it: as in Python, cut to 80 characters (one may be megabytes long).

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
    """Say why a download or a data set of ir_datasets failed: the cause that other errors wrap, cut short."""
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
        failed = cause.args[1] if len(cause.args) > 1 else None
        if isinstance(failed, list) and failed:  # ir_datasets' pairs of source and error
            cause = failed[0][-1]
        else:
            cause = getattr(cause, "reason", None) or next(iter(cause.args), None)
    text = re.sub(_CONNECTION, "", text)
    return text if len(text) <= 200 else f"{text[:199]}…"


_CONNECTION = r"(<[^>]*>|\w+\(host=[^)]*\)): "
"""How urllib3 begins a message: with the connection, which is known."""


def dataset_load_error(dataset: str, error: BaseException) -> InputError:
    """Return the error for a data set whose qrels ir_datasets cannot load."""
    return InputError(
        f"the qrels of {short_repr(dataset)} cannot be loaded by ir_datasets ({reason_of(error)})",
        hint="Check the network, or name a file of qrels",
    )


def cache_dir_error(error: BaseException) -> InputError:
    """Return the error where ir_datasets has no folder that it can write into, such as a read-only home."""
    hint = "Let the environment variable IR_DATASETS_HOME name a folder in which files can be written"
    return InputError(f"ir_datasets cannot write into its folder ({error})", hint=hint)
