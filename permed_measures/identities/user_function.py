"""A user's function: found in its file, called, and what it raises said."""

from __future__ import annotations

import ast
import importlib.util
import math
import sys
import traceback
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np

from permed_measures.errors import PACKAGE, InputError, nearest, shown
from permed_measures.identities.cases import Case, Form, Function


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
        hint = "Put what it does by itself, such as reading arguments, under: if __name__ == '__main__':"
        raise InputError(problem, where=error_location(error) or str(path), hint=hint) from error
    except Exception as error:
        raise InputError(
            f"the script raises {error_text(error)}", where=error_location(error) or str(path)
        ) from error
    function = getattr(module, name, None)
    if not callable(function):
        near = nearest(name, [each for each, value in vars(module).items() if callable(value)])
        hint = f"{near} {_functions_of(path)}".strip()
        raise InputError(f"there is no function {name!r}", where=str(path), hint=hint)
    return function  # type: ignore[no-any-return]


def _functions_of(path: Path) -> str:
    """Name the functions of a file."""
    with suppress(SyntaxError, ValueError):
        body = ast.parse(path.read_bytes()).body
        if names := [node.name for node in body if isinstance(node, ast.FunctionDef)]:
            return f"It has {', '.join(names)}: write {path}:{names[0]}"
    return f"Write {path}:FUNCTION"


class NoNumberError(ArithmeticError):
    """The function returns NaN, or infinity."""


def error_text(error: BaseException) -> str:
    """Write an error as Python does; what the function returns in place of a number as it is."""
    if isinstance(error, NoNumberError):
        return str(error)
    return traceback.format_exception_only(error)[-1].strip()


def error_location(error: BaseException) -> str:
    """Return the file and line of the script that an error comes from; of a library, which called it."""
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


def number_returned(function: Function, form: Form, case: Case, name: str) -> float:
    """Call a function with a case, and return its number: that of the name if there are several.

    Raises
    ------
    NoNumberError
        For NaN and infinity.
    InputError
        For anything else that is not a number; what the function itself raises is raised as it is.
    """
    returned = form.call(function, case)
    if isinstance(returned, Mapping) and name in returned:
        returned = returned[name]
    if isinstance(returned, Mapping):
        others = [key for key in returned if key not in case.qrels and key not in case.run]
        if others and len(returned) > 1:  # one alone is meant, whatever its name
            problem = f"of what the function returns none is {name!r}, and {shown(others[0])} is no query"
            raise InputError(problem, hint=f"Return a number, or one by the name {name!r}")
        returned = list(returned.values())
    try:
        values = np.asarray(returned)  # a number, or those of the queries; numpy's too
        value = float(values.mean()) if values.size else math.nan
        if isinstance(returned, tuple):  # which mostly has the mean beside something else
            raise TypeError
    except (TypeError, ValueError):
        problem = f"the function must return a number, or {{query: number}} (found {shown(returned)})"
        raise InputError(problem) from None
    if not math.isfinite(value):
        raise NoNumberError(f"the function returns {value}")
    return value


_SHOWN = 160


def written_call(function: Function, form: Form, case: Case) -> str:
    """Write how a function is called with a case, shortened."""
    text = ", ".join(map(repr, form.arguments(case.qrels, case.run)))
    text = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
    return f"{getattr(function, '__name__', 'function')}({text})"
