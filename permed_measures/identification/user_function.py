"""Load a user's function from its file, call it, read its number, and describe its errors."""

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

from permed_measures.conventions.options import CONVENTION_MEASURES
from permed_measures.engine.evaluator import supported
from permed_measures.errors import PACKAGE, InputError, MeasureError, did_you_mean, short_repr
from permed_measures.identification.cases import Case
from permed_measures.identification.forms import Function, FunctionSignature
from permed_measures.measures.parameters import Cutoff
from permed_measures.measures.parsing import parse_measure
from permed_measures.published_tables.measure_names import meaning_of, split, strip_heading


def load_function(text: str) -> Function:
    """Load the function that ``FILE.py:NAME`` names; the file runs as in an import.

    Raises
    ------
    InputError
        If there is no such file or function, or if the file raises; the message names its line.
    """
    file, _, name = text.rpartition(":")
    path = Path(file or text)
    if not path.is_file():
        raise InputError("No such file", where=str(path), hint="Write FILE.py:FUNCTION")
    if not file:
        raise InputError("the function is missing", where=text, hint=_functions_of(path))
    module_name = f"script {path.stem}"  # no module that may be imported has such a name
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        raise InputError("this is not a Python file", where=str(path), hint="Its name must end in .py")
    module = sys.modules[module_name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except SystemExit as error:
        problem = f"the script ends when it is loaded (exit status {error.code!r})"
        hint = (
            "Put the code that runs on import, such as reading arguments, under: if __name__ == '__main__': "
            f"or run the whole program: identify --command 'python3 {path} {{qrels}} {{run}}'"
        )
        raise InputError(problem, where=error_location(error) or str(path), hint=hint) from error
    except BaseException as error:  # a Ctrl-C does not reach this process
        raise InputError(
            f"the script raises {error_text(error)}", where=error_location(error) or str(path)
        ) from error
    return _named(module, name, path)


def _named(module: Any, name: str, path: Path) -> Function:
    """Find a function of a module, or a method of a class; make an object of the class if it needs one."""
    member, owner = module, ""
    for part in name.split("."):
        if isinstance(member, type) and not isinstance(
            inspect.getattr_static(member, part, None), staticmethod | classmethod
        ):
            try:
                member = member()
            except TypeError as error:
                hint = f"Add a function to {path} that makes one and calls its method"
                problem = f"{owner} cannot be made without arguments ({error})"
                raise InputError(problem, where=str(path), hint=hint) from None
        known = [each for each in dir(member) if callable(getattr(member, each, None))]
        member, owner = getattr(member, part, None), part
        if not callable(member):
            hint = f"{did_you_mean(part, known)} {_functions_of(path)}".strip()
            raise InputError(f"there is no function {name!r}", where=str(path), hint=hint)
    return member  # type: ignore[no-any-return]


def _functions_of(path: Path) -> str:
    """Write a hint that lists the functions of a file."""
    with suppress(SyntaxError, ValueError):
        body = ast.parse(path.read_bytes()).body
        names = [node.name for node in body if isinstance(node, ast.FunctionDef)]
        names += [
            f"{node.name}.{method.name}"
            for node in body
            if isinstance(node, ast.ClassDef)
            for method in node.body
            if isinstance(method, ast.FunctionDef) and not method.name.startswith("_")
        ]
        if names:
            return f"It has {', '.join(names)}: write {path}:{names[0]}"
    return f"Write {path}:FUNCTION"


class NoNumberError(ArithmeticError):
    """The function returns NaN or infinity; a program ends with an error, or its files cannot be written."""


class ScriptError(Exception):
    """An error that a script raises in its own process, or the end of that process.

    Attributes
    ----------
    kind : str
        The type of the error.
    text, where : str
        The results of `error_text` and `error_location`.
    """

    def __init__(self, kind: str, text: str, where: str = "") -> None:
        self.kind, self.text, self.where = kind, text, where
        super().__init__(kind, text, where)


def error_text(error: BaseException) -> str:
    """Write an error as Python does; for a `NoNumberError` only its message."""
    if isinstance(error, NoNumberError):
        return str(error)
    if isinstance(error, ScriptError):
        return error.text
    return traceback.format_exception_only(error)[-1].strip()


def error_location(error: BaseException) -> str:
    """Find the file and line of the script that raised an error, or that called the library which raised."""
    if isinstance(error, ScriptError):
        return error.where
    lines = [(each.filename, each.lineno) for each in traceback.extract_tb(error.__traceback__)]
    lines = [each for each in lines if not each[0].startswith((PACKAGE, "<frozen "))]
    if isinstance(error, SyntaxError) and error.filename:
        lines.append((error.filename, error.lineno))
    in_script = [f"{_as_typed(file)}:{line}" for file, line in lines if file == lines[0][0]]
    return in_script[-1] if in_script else ""


def _as_typed(path: str) -> str:
    """Shorten the path of a file below the working directory to the relative one."""
    here = Path.cwd()
    return str(Path(path).relative_to(here)) if Path(path).is_relative_to(here) else path


class Returned(NamedTuple):
    """The number of a function, a note on how it was read, and the warnings of NumPy."""

    value: float
    note: str
    warned: tuple[str, ...]


def returned_by(function: Function, form: FunctionSignature, case: Case, name: str) -> Returned:
    """Call a function with a case, and collect the warnings of NumPy; see `number_returned`."""
    warned: dict[str, int] = {}
    with np.errstate(divide="call", over="call", invalid="call", call=warned.__setitem__):
        value, note = number_returned(function, form, case, name)
    return Returned(value, note, tuple(warned))


def number_returned(function: Function, form: FunctionSignature, case: Case, name: str) -> tuple[float, str]:
    """Call a function with a case; return its number, and a note on how it was read.

    The name chooses among several numbers, exactly or by its meaning. Of a tuple the first number counts.
    Errors of the function itself pass through.

    Raises
    ------
    NoNumberError
        For NaN and infinity.
    InputError
        For anything else that is not a number.
    """
    returned, note = function(*form.arguments(case.qrels, case.run), **form.named), ""
    if isinstance(returned, tuple) and returned:
        named = [each for each in returned if isinstance(each, Mapping) and _has_number_named(each, name)]
        note = "" if named else "the function returns a tuple, of which the first number counts"
        returned = named[0] if named else returned[0]
    if isinstance(returned, Mapping):
        queries = {*case.qrels, *case.run}
        if name in returned or not queries.issuperset(returned):
            returned, note = number_named(returned, name, note)
        else:
            returned = [*returned.values()]
            if any(isinstance(each, Mapping) for each in returned):
                numbers = [number_named(each, name, note) for each in returned if isinstance(each, Mapping)]
                returned, note = [number for number, _ in numbers], numbers[0][1]
    try:
        values = np.asarray(returned)  # a number, or one for each query
        value = float(values.mean()) if values.size else math.nan
    except (TypeError, ValueError):
        problem = f"the function must return a number, or {{query: number}} (found {short_repr(returned)})"
        raise InputError(problem) from None
    if not math.isfinite(value):
        raise NoNumberError(f"the function returns {value}")
    return value, note


def number_named(numbers: Mapping[str, Any], name: str, note: str) -> tuple[Any, str]:
    """Choose the number of a measure by its name, else the only one that may mean it; return a note too.

    Raises
    ------
    InputError
        If there is no such number, or several; the message lists the names.
    """
    if name in numbers:
        return numbers[name], note
    alike = {key: likeness(str(key), name) for key in numbers}
    same = [key for key in alike if alike[key] == max(alike.values()) > 0]
    if len(same) != 1 and len(numbers) == 1:  # a single number counts, whatever its name
        return next(iter(numbers.values())), note
    if len(same) != 1:
        known = ", ".join(map(short_repr, numbers))
        count = "no number" if not same else "more than one number"
        problem = f"the function returns {count} for {name!r}"
        raise InputError(f"{problem} (found {known})", hint="Ask for one of these names")
    return numbers[same[0]], f"the function returns several numbers, of which {short_repr(same[0])} counts"


def _has_number_named(numbers: Mapping[str, Any], name: str) -> bool:
    return any(likeness(str(key), name) for key in numbers)


def likeness(text: str, name: str) -> int:
    """Rate how surely a text names a measure, from 0 to 3.

    It is 3 for the name itself, 2 for the same measure and cutoff, 1 for the measure without cutoff, else 0.
    """
    measure, (cutoff, *_) = _meaning(name)
    text_measure, cutoffs = _meaning(text)
    if text == name:
        return 3
    if text_measure != measure or _is_variant(text) != _is_variant(name):
        return 0
    return 2 if cutoffs[0] == cutoff else int(None in cutoffs)


_MEANT_BY_NAME = {
    **dict.fromkeys(("dcg", "discountedcumulativegain"), "nDCG"),
    **dict.fromkeys(("map@r", "ap@r", "meanaverageprecisionatr"), "AP"),
}
"""Maps names of their own, such as DCG, to the measure of which they are a convention."""


def _is_variant(name: str) -> bool:
    return split(strip_heading(name)[0])[0] in _MEANT_BY_NAME


def meaning_asked(name: str) -> tuple[str, tuple[Cutoff, ...]]:
    """Find the measure that a name means for a function, and the cutoffs to try.

    DCG is a convention of nDCG that does not divide by an ideal. MAP@R is a convention of AP that uses the
    first R documents. MeasureError is raised for a measure that is not supported.

    Examples
    --------
    >>> meaning_asked("DCG@5"), meaning_asked("MAP@R"), meaning_asked("hits@5")
    (('nDCG', (5, None)), ('AP', (None, 10, 100, 1000)), ('Success', (5,)))
    """
    name = strip_heading(name)[0]
    word, cutoff = split(name)
    if word not in _MEANT_BY_NAME:
        return supported_meaning(name)
    return meaning_of(f"{_MEANT_BY_NAME[word]}@{cutoff}" if cutoff else _MEANT_BY_NAME[word])


def supported_meaning(name: str) -> tuple[str, tuple[Cutoff, ...]]:
    """Find the measure that a name means, and its cutoffs; raise MeasureError unless it is supported."""
    measure, cutoffs = meaning_of(name)
    if measure not in CONVENTION_MEASURES:
        supported(parse_measure(measure))
    return measure, cutoffs


def _meaning(name: str) -> tuple[str, tuple[Any, ...]]:
    """Find the measure that a name means, and its cutoffs; an unknown name stands for itself."""
    try:
        return meaning_asked(name)
    except MeasureError:
        return name, (name,)


_MAX_ERROR_LENGTH = 160


def written_call(function: Function, form: FunctionSignature, case: Case) -> str:
    """Write the call of a function with a case, shortened."""
    written = [*map(_written, form.arguments(case.qrels, case.run))]
    text = ", ".join([*written, *(f"{key}={value!r}" for key, value in form.named.items())])
    text = text if len(text) <= _MAX_ERROR_LENGTH else f"{text[:_MAX_ERROR_LENGTH]}..."
    return f"{getattr(function, '__name__', 'function')}({text})"


def _written(value: Any) -> str:
    """Write an argument as Python does; a set in sorted order, a frame by its type."""
    if isinstance(value, set):
        return f"{{{', '.join(map(repr, sorted(value)))}}}" if value else "set()"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {_written(each)}' for key, each in value.items())}}}"
    is_plain = isinstance(value, list | int | float | np.ndarray) or type(value).__name__ == "Tensor"
    return repr(value) if is_plain else f"<{type(value).__name__}>"
