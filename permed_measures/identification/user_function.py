"""A user's function: found in its file, called, and what it raises said."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import math
import sys
import traceback
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from permed_measures.errors import PACKAGE, InputError, MeasureError, did_you_mean, short_repr
from permed_measures.identification.cases import Case
from permed_measures.identification.forms import Function, FunctionSignature
from permed_measures.measures.parameters import Cutoff
from permed_measures.published_tables.measure_names import meaning_of, split, strip_heading


def load_function(text: str) -> Function:
    """Return the function that ``FILE.py:NAME`` names; the file is run as Python imports it.

    Raises
    ------
    InputError
        If there is no such file or function, or if the file raises; the message names its line.
    """
    place, _, name = text.rpartition(":")
    path = Path(place or text)
    if not path.is_file():
        raise InputError("No such file", where=str(path), hint="Write FILE.py:FUNCTION")
    if not place:
        raise InputError("the function is missing", where=text, hint=_functions_of(path))
    module_name = f"script {path.stem}"  # no module that may be imported has such a name
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        raise InputError("is no Python file", where=str(path), hint="Its name must end in .py")
    module = sys.modules[module_name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except SystemExit as error:
        problem = f"the script ends when it is loaded (exit status {error.code!r})"
        hint = (
            "Put what it does by itself, such as reading arguments, under: if __name__ == '__main__': or ask "
            f"the whole program: identify --command 'python3 {path} {{qrels}} {{run}}'"
        )
        raise InputError(problem, where=error_location(error) or str(path), hint=hint) from error
    except BaseException as error:  # in a process of its own, where no Ctrl-C comes
        raise InputError(
            f"the script raises {error_text(error)}", where=error_location(error) or str(path)
        ) from error
    return _named(module, name, path)


def _named(module: Any, name: str, path: Path) -> Function:
    """Return a function of a module, or a method of a class, of which an object is made if it needs one."""
    found, owner = module, ""
    for part in name.split("."):
        if isinstance(found, type) and not isinstance(
            inspect.getattr_static(found, part, None), staticmethod | classmethod
        ):
            try:
                found = found()
            except TypeError as error:
                hint = f"Add a function to {path} that makes one and calls its method"
                problem = f"{owner} cannot be made without arguments ({error})"
                raise InputError(problem, where=str(path), hint=hint) from None
        known = [each for each in dir(found) if callable(getattr(found, each, None))]
        found, owner = getattr(found, part, None), part
        if not callable(found):
            hint = f"{did_you_mean(part, known)} {_functions_of(path)}".strip()
            raise InputError(f"there is no function {name!r}", where=str(path), hint=hint)
    return found  # type: ignore[no-any-return]


def _functions_of(path: Path) -> str:
    """Name the functions of a file."""
    with suppress(SyntaxError, ValueError):
        body = ast.parse(path.read_bytes()).body
        names = [node.name for node in body if isinstance(node, ast.FunctionDef)]
        names += [
            f"{node.name}.{each.name}"
            for node in body
            if isinstance(node, ast.ClassDef)
            for each in node.body
            if isinstance(each, ast.FunctionDef) and not each.name.startswith("_")
        ]
        if names:
            return f"It has {', '.join(names)}: write {path}:{names[0]}"
    return f"Write {path}:FUNCTION"


class NoNumberError(ArithmeticError):
    """The function returns NaN, or infinity; a program ends with an error, or is given nothing."""


class ScriptError(Exception):
    """What a script raises in its own process, or how that process ends.

    Attributes
    ----------
    kind : str
        The type of the error.
    text, where : str
        What `error_text` and `error_location` have of it.
    """

    def __init__(self, kind: str, text: str, where: str = "") -> None:
        self.kind, self.text, self.where = kind, text, where
        super().__init__(kind, text, where)


def error_text(error: BaseException) -> str:
    """Write an error as Python does; what the function returns in place of a number as it is."""
    if isinstance(error, NoNumberError):
        return str(error)
    if isinstance(error, ScriptError):
        return error.text
    return traceback.format_exception_only(error)[-1].strip()


def error_location(error: BaseException) -> str:
    """Return the file and line of the script that an error comes from; of a library, which called it."""
    if isinstance(error, ScriptError):
        return error.where
    lines = [(each.filename, each.lineno) for each in traceback.extract_tb(error.__traceback__)]
    lines = [each for each in lines if not each[0].startswith((PACKAGE, "<frozen "))]
    if isinstance(error, SyntaxError) and error.filename:
        lines.append((error.filename, error.lineno))
    of_script = [f"{_as_typed(file)}:{line}" for file, line in lines if file == lines[0][0]]
    return of_script[-1] if of_script else ""


def _as_typed(path: str) -> str:
    """Return the path of a file below the working directory as one types it."""
    here = Path.cwd()
    return str(Path(path).relative_to(here)) if Path(path).is_relative_to(here) else path


class Returned(NamedTuple):
    """The number of a function, what is to be said of how it is read, and what NumPy warned of."""

    value: float
    note: str
    warned: tuple[str, ...]


def returned_by(function: Function, form: FunctionSignature, case: Case, name: str) -> Returned:
    """Call a function with a case, and count what NumPy warns of; see `number_returned`."""
    warned: dict[str, int] = {}
    with np.errstate(divide="call", over="call", invalid="call", call=warned.__setitem__):
        value, note = number_returned(function, form, case, name)
    return Returned(value, note, tuple(warned))


def number_returned(function: Function, form: FunctionSignature, case: Case, name: str) -> tuple[float, str]:
    """Call a function with a case, and return its number, and what is to be said of how that is read.

    Of several numbers it is the one of the name, or that a reader would take for it; of a tuple the first.

    Raises
    ------
    NoNumberError
        For NaN and infinity.
    InputError
        For anything else that is not a number; what the function itself raises is raised as it is.
    """
    returned, note = function(*form.arguments(case.qrels, case.run), **form.named), ""
    if isinstance(returned, tuple) and returned:
        named = [each for each in returned if isinstance(each, Mapping) and _has_number_named(each, name)]
        note = "" if named else "of the tuple that the function returns the first number is taken"
        returned = named[0] if named else returned[0]
    if isinstance(returned, Mapping):
        queries = {*case.qrels, *case.run}
        if name in returned or not queries.issuperset(returned):
            returned, note = number_named(returned, name, note)
        else:
            returned = [*returned.values()]
            if any(isinstance(each, Mapping) for each in returned):
                found = [number_named(each, name, note) for each in returned if isinstance(each, Mapping)]
                returned, note = [each for each, _ in found], found[0][1]
    try:
        values = np.asarray(returned)  # a number, or those of the queries; numpy's too
        value = float(values.mean()) if values.size else math.nan
    except (TypeError, ValueError):
        problem = f"the function must return a number, or {{query: number}} (found {short_repr(returned)})"
        raise InputError(problem) from None
    if not math.isfinite(value):
        raise NoNumberError(f"the function returns {value}")
    return value, note


def number_named(numbers: Mapping[str, Any], name: str, note: str) -> tuple[Any, str]:
    """Return the number of a measure, or the only one that it may mean, and a note which that is.

    Raises
    ------
    InputError
        If there is none, or there are several; the message lists the names.
    """
    if name in numbers:
        return numbers[name], note
    alike = {key: likeness(str(key), name) for key in numbers}
    same = [key for key in alike if alike[key] == max(alike.values()) > 0]
    if len(same) != 1 and len(numbers) == 1:  # one alone is meant, whatever its name
        return next(iter(numbers.values())), note
    if len(same) != 1:
        known = ", ".join(map(short_repr, numbers))
        problem = f"of what the function returns {'none' if not same else 'more than one'} is {name!r}"
        raise InputError(f"{problem} (found {known})", hint="Ask for one of these names")
    return numbers[same[0]], f"of the numbers that the function returns {short_repr(same[0])} is taken"


def _has_number_named(numbers: Mapping[str, Any], name: str) -> bool:
    return any(likeness(str(key), name) for key in numbers)


def likeness(text: str, name: str) -> int:
    """Return how surely a text names a measure.

    It is 3 if it is the name, 2 if it means the same measure and cutoff, 1 if it has no cutoff, 0 otherwise.
    """
    measure, (cutoff, *_) = _meaning(name)
    of_text, cutoffs = _meaning(text)
    if text == name:
        return 3
    if of_text != measure or _is_variant(text) != _is_variant(name):
        return 0
    return 2 if cutoffs[0] == cutoff else int(None in cutoffs)


_MEANT_BY_NAME = {
    **dict.fromkeys(("dcg", "discountedcumulativegain"), "nDCG"),
    **dict.fromkeys(("map@r", "ap@r", "meanaverageprecisionatr"), "AP"),
}
"""The measures that have a convention which goes by a name of its own, by that name."""


def _is_variant(name: str) -> bool:
    return split(strip_heading(name)[0])[0] in _MEANT_BY_NAME


def meaning_asked(name: str) -> tuple[str, tuple[Cutoff, ...]]:
    """Return the measure that a function is asked for by a name, and the cutoffs to try.

    DCG is a convention of nDCG, which is not divided by an ideal; MAP@R is one of AP, which sees the first R
    documents.

    Examples
    --------
    >>> meaning_asked("DCG@5"), meaning_asked("MAP@R"), meaning_asked("hits@5")
    (('nDCG', (5, None)), ('AP', (None, 10, 100, 1000)), ('Success', (5,)))
    """
    name = strip_heading(name)[0]
    word, cutoff = split(name)
    if word not in _MEANT_BY_NAME:
        return meaning_of(name)
    return meaning_of(f"{_MEANT_BY_NAME[word]}@{cutoff}" if cutoff else _MEANT_BY_NAME[word])


def _meaning(name: str) -> tuple[str, tuple[Any, ...]]:
    """Return the measure that a name means, and its cutoffs; a name that means none means itself."""
    try:
        return meaning_asked(name)
    except MeasureError:
        return name, (name,)


_MAX_ERROR_LENGTH = 160


def written_call(function: Function, form: FunctionSignature, case: Case) -> str:
    """Write how a function is called with a case, shortened."""
    written = [*map(_written, form.arguments(case.qrels, case.run))]
    text = ", ".join([*written, *(f"{key}={value!r}" for key, value in form.named.items())])
    text = text if len(text) <= _MAX_ERROR_LENGTH else f"{text[:_MAX_ERROR_LENGTH]}..."
    return f"{getattr(function, '__name__', 'function')}({text})"


def _written(value: Any) -> str:
    """Write an argument as Python does: sets in an order, of a frame its type."""
    if isinstance(value, set):
        return f"{{{', '.join(map(repr, sorted(value)))}}}" if value else "set()"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {_written(each)}' for key, each in value.items())}}}"
    is_plain = isinstance(value, list | int | float | np.ndarray) or type(value).__name__ == "Tensor"
    return repr(value) if is_plain else f"<{type(value).__name__}>"
