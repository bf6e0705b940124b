"""A user's function: found in its file, called in the form that it takes, its numbers and errors read."""

from __future__ import annotations

import ast
import importlib.util
import math
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from permed_measures.errors import InputError, nearest, shown

Qrels = dict[str, dict[str, float]]
Run = dict[str, dict[str, float]]
Function = Callable[..., Any]


class Form(NamedTuple):
    """What a function takes.

    Attributes
    ----------
    call : callable
        Calls a function with qrels and a run, whose lists are in ranked order.
    hidden : str
        What of them it does not see.
    scores, ids, queries : bool
        Whether it sees scores, ids, and queries that only the qrels or only the run has.
    one_query : bool
        Whether it takes one query.
    """

    call: Callable[[Function, Qrels, Run], Any]
    hidden: str = ""
    scores: bool = True
    ids: bool = True
    queries: bool = True
    one_query: bool = False

    def takes(self, qrels: Qrels, run: Run) -> bool:
        """Return whether a function can be asked for what it sees of these."""
        return (self.queries or {*qrels} == {*run}) and (not self.one_query or len(qrels) == 1)


def _copied(lists: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    return {query: dict(docs) for query, docs in lists.items()}


def _lists(function: Function, qrels: Qrels, run: Run) -> Any:
    return function({q: [qrels[q].get(doc, 0) for doc in docs] for q, docs in run.items()})


def _query(function: Function, qrels: Qrels, run: Run) -> Any:
    [(grades, docs)] = [(dict(qrels[query]), list(docs)) for query, docs in run.items()]
    return function(grades, docs)


FORMS = {
    "dicts": Form(lambda function, qrels, run: function(_copied(qrels), _copied(run))),
    "ranked": Form(
        lambda function, qrels, run: function(_copied(qrels), {q: list(docs) for q, docs in run.items()}),
        "scores",
        scores=False,
    ),
    "lists": Form(
        _lists,
        "scores, ids, and judgments of what was not retrieved",
        scores=False,
        ids=False,
        queries=False,
    ),
    "query": Form(
        _query, "scores, and which queries are averaged", scores=False, queries=False, one_query=True
    ),
}
"""By their names, the four forms of functions."""


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
    except (Exception, SystemExit) as error:
        raise InputError(f"the script raises {said(error)}", where=line_of(error, str(path))) from error
    function = getattr(module, name, None)
    if not callable(function):
        hint = nearest(name, [each for each, value in vars(module).items() if callable(value)])
        raise InputError(f"there is no function {name!r}", where=str(path), hint=hint or _functions_of(path))
    return function  # type: ignore[no-any-return]


def _functions_of(path: Path) -> str:
    """Name the functions of a file."""
    with suppress(SyntaxError, ValueError):
        body = ast.parse(path.read_bytes()).body
        if names := [node.name for node in body if isinstance(node, ast.FunctionDef)]:
            return f"It has {', '.join(names)}: write {path}:{names[0]}"
    return f"Write {path}:FUNCTION"


def said(error: BaseException) -> str:
    """Write an error as Python does."""
    return traceback.format_exception_only(error)[-1].strip()


def line_of(error: BaseException, path: str = "") -> str:
    """Return the file and line of the script that an error comes from; of a library, which called it."""
    frames = [
        (_as_typed(each.filename), each.lineno)
        for each in traceback.extract_tb(error.__traceback__)
        if not each.filename.startswith((_FOLDER, "<frozen "))
    ]
    if isinstance(error, SyntaxError):
        frames.append((_as_typed(error.filename or ""), error.lineno))
    path = _as_typed(path) if path else frames[0][0] if frames else ""
    lines = [line for file, line in frames if file == path]
    return f"{path}:{lines[-1]}" if lines else path


def _as_typed(path: str) -> str:
    """Return the path of a file below the working directory as one types it."""
    here = Path.cwd()
    return str(Path(path).relative_to(here)) if Path(path).is_relative_to(here) else path


_FOLDER = str(Path(__file__).parents[1])


class Script:
    """A function, asked for its numbers.

    Parameters
    ----------
    function : callable
    form : Form
    name : str
        The measure that it is asked for: of several that it returns, the one of this name is taken.
    """

    def __init__(self, function: Function, form: Form, name: str) -> None:
        self.function, self.form, self.name = function, form, name

    def value(self, qrels: Qrels, run: Run) -> float:
        """Return the mean that the function computes.

        Raises
        ------
        Exception
            Whatever the function raises; ArithmeticError if its number is none.
        """
        found = self.form.call(self.function, qrels, run)
        if isinstance(found, Mapping):
            found = found[self.name] if self.name in found else list(found.values())
        try:
            value = float(np.mean(found)) if found != [] else math.nan
        except (TypeError, ValueError):
            problem = f"the function must return a number, or {{query: number}} (found {shown(found)})"
            raise InputError(problem) from None
        if not math.isfinite(value):
            raise ArithmeticError(f"the function returns {value}")
        return value
