"""The function of a script, asked in a process of its own, which ends with all that it began."""

from __future__ import annotations

import io
import os
import pickle
import queue
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any, BinaryIO

from permed_measures.errors import InputError
from permed_measures.identification.cases import Case
from permed_measures.identification.forms import Arguments, Function, FunctionSignature
from permed_measures.identification.processes import TIME_LIMIT, end_process, start_process
from permed_measures.identification.user_function import (
    NoNumberError,
    Returned,
    ScriptError,
    error_location,
    error_text,
    load_function,
    returned_by,
    written_call,
)

_MOST_ENDED = 3
"""How often the process of a script may end, or take too long, until it is asked no more."""
ENDED = "ended"
"""The kind of error of a script whose process ended, or took too long."""


class Script:
    """A function of a script, as it is asked in the script's process.

    Threads and processes that the script leaves running end with it, and so does a call that takes more than
    `TIME_LIMIT`: the script is then loaded anew. Whatever it changes, in the environment, the working
    directory, states of random numbers, settings of libraries or signals, is changed there alone. What it
    prints is left out.

    Parameters
    ----------
    text : str
        ``FILE.py:NAME``.

    Attributes
    ----------
    warned : list of str
        Warnings that it prints.
    gave_up : InputError or None
        Why it is asked no more, after its process ended a few times.
    arguments : Arguments
        What the function takes.

    Raises
    ------
    InputError
        As `load_function`.
    """

    def __init__(self, text: str) -> None:
        self._text, self._path = text, text.rpartition(":")[0] or text
        self.warned: list[str] = []
        self.gave_up: InputError | None = None
        self._n_ended = 0
        self._process: subprocess.Popen[bytes] | None = None
        self.arguments = self._start()

    def returned(self, form: FunctionSignature, case: Case, name: str) -> Returned:
        """Call the function with a case; see `returned_by`.

        Raises
        ------
        NoNumberError, InputError
            As `number_returned`.
        ScriptError
            What the function raises, or how its process ends.
        """
        found = self._ask("value", form, case, name)
        assert isinstance(found, Returned)
        return found

    def written_call(self, form: FunctionSignature, case: Case) -> str:
        """Write how the function is called with a case, shortened."""
        return str(self._ask("written", form, case))

    def close(self) -> None:
        """End the process, and all that the script began in it."""
        process, self._process = self._process, None
        if process:
            end_process(process)
            with suppress(OSError):
                process.stdin.close()  # type: ignore[union-attr]  # it is a pipe

    # --- the other process -----------------------------------------------------------------------------

    def _start(self) -> Arguments:
        """Start a process, and load the script in it."""
        words = [sys.executable, "-c", _SERVE, *sys.path]
        self._process = start_process(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._answers: queue.Queue[Any] = queue.Queue()
        threading.Thread(target=_read, args=[self._process.stdout, self._answers], daemon=True).start()
        try:
            found = self._exchange("load", self._text)
        except ScriptError as error:
            hint = "Put what it does by itself under: if __name__ == '__main__':"
            raise InputError(f"the script is not loaded: {error.text}", where=self._path, hint=hint) from None
        except BaseException:  # nothing is left to close it
            self.close()
            raise
        assert isinstance(found, Arguments)
        return found

    def _ask(self, *request: Any) -> Any:
        """Ask the process, or a new one if it has ended."""
        if self.gave_up:
            raise ScriptError(ENDED, self.gave_up.problem)
        if self._process is None:
            self._start()
        return self._exchange(*request)

    def _exchange(self, *request: Any) -> Any:
        """Return what the process answers, raise what it raises there."""
        process = self._process
        assert process is not None
        assert process.stdin is not None
        try:
            process.stdin.write(pickle.dumps(request))
            process.stdin.flush()
            answer = self._answers.get(timeout=TIME_LIMIT)
        except queue.Empty:
            raise self._ended(f"the script takes more than {TIME_LIMIT:g} seconds") from None
        except OSError:
            answer = None
        if answer is None:
            status = process.wait()
            raise self._ended(f"the script ends its process with status {status}")
        found, warned = answer
        self.warned += warned
        if isinstance(found, BaseException):
            raise found
        return found

    def _ended(self, text: str) -> ScriptError:
        """End the process; after a few times the script is asked no more."""
        self.close()
        self._n_ended += 1
        if self._n_ended == _MOST_ENDED:
            hint = (
                "Ask a function that does not, or the whole program: "
                f"identify --command 'python3 {self._path} {{qrels}} {{run}}'"
            )
            problem = f"{text}, and so {_MOST_ENDED} times"
            self.gave_up = InputError(problem, where=self._path, hint=hint)
        return ScriptError(ENDED, text)


def _read(answers: BinaryIO, into: queue.Queue[Any]) -> None:
    """Read what a process answers until it ends; None is then the last."""
    with answers:
        with suppress(EOFError, OSError, pickle.UnpicklingError):
            while True:
                into.put(pickle.load(answers))
        into.put(None)


# --- in the script's process ---------------------------------------------------------------------------

_SERVE = (
    "import sys; sys.path[:] = sys.argv[1:]; from permed_measures.identification.script import serve; serve()"
)


def serve() -> None:
    """Answer what is asked on stdin, until that ends; the script's own stdin and stdout are empty."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    function: Any = None
    here = Path.cwd()
    with suppress(EOFError):
        while True:
            kind, *given = pickle.load(requests)
            printed = io.StringIO()
            try:
                with redirect_stdout(io.StringIO()), redirect_stderr(printed):
                    if kind == "load":
                        function = _load(*given)
                        found: Any = Arguments.of(function)
                    else:
                        found = _ANSWERS[kind](function, *given)
            except BaseException as error:
                found = error
            with suppress(OSError):
                os.chdir(here)
            if isinstance(found, BaseException) and type(found) not in (InputError, NoNumberError):
                found = ScriptError(type(found).__name__, error_text(found), error_location(found))
            warned = re.findall(r"\b\w+Warning: .*", printed.getvalue())
            answers.write(pickle.dumps((found, warned)))
            answers.flush()


_ANSWERS: dict[str, Callable[..., Any]] = {"value": returned_by, "written": written_call}


def _load(text: str) -> Function:
    """Load the script as Python runs it: it finds modules beside it, and is given no arguments."""
    path = Path(text.rpartition(":")[0] or text)
    sys.path.insert(0, str(path.resolve().parent))
    sys.argv[:] = [str(path)]
    return load_function(text)
