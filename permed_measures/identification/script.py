"""Call the function of a script in a separate process, which ends with all processes that it started."""

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
from typing import Any, BinaryIO, cast

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

_MAX_ENDED = 3
"""After its process has ended or taken too long this many times, a script is given up."""
ENDED = "ended"
"""The kind of error of a script whose process ended, or took too long."""


class Script:
    """A function of a script, called in a separate process.

    Threads and processes that the script leaves running end with that process. A call that takes more than
    `TIME_LIMIT` ends too, and the script is loaded again. Changes to the environment, the working directory,
    random states, settings of libraries or signals stay in that process. The script's output is not shown.

    Parameters
    ----------
    text : str
        ``FILE.py:NAME``.

    Attributes
    ----------
    warned : list of str
        The warnings that the script prints.
    gave_up : InputError or None
        The reason if the script is given up, after its process ended a few times.
    arguments : Arguments
        The parameters of the function.

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
            If the function raises, or its process ends.
        """
        return cast(Returned, self._ask("value", form, case, name))

    def written_call(self, form: FunctionSignature, case: Case) -> str:
        """Write the call of the function with a case, shortened."""
        return str(self._ask("written", form, case))

    def close(self) -> None:
        """End the process, and the processes that the script started."""
        process, self._process = self._process, None
        if process:
            end_process(process)
            with suppress(OSError):
                process.stdin.close()  # type: ignore[union-attr]  # it is a pipe

    # --- the other process -----------------------------------------------------------------------------

    def _start(self) -> Arguments:
        """Start a process, load the script in it, and return the function's parameters."""
        words = [sys.executable, "-c", _SERVE, *sys.path]
        self._process = start_process(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._answers: queue.Queue[Any] = queue.Queue()
        threading.Thread(target=_read, args=[self._process.stdout, self._answers], daemon=True).start()
        try:
            answer = self._exchange("load", self._text)
        except ScriptError as error:
            hint = "Put the code that runs on import under: if __name__ == '__main__':"
            raise InputError(f"cannot load the script: {error.text}", where=self._path, hint=hint) from None
        except BaseException:  # the caller gets no object to close
            self.close()
            raise
        return cast(Arguments, answer)

    def _ask(self, *request: Any) -> Any:
        """Send a request to the process, or to a new one if it has ended."""
        if self.gave_up:
            raise ScriptError(ENDED, self.gave_up.problem)
        if self._process is None:
            self._start()
        return self._exchange(*request)

    def _exchange(self, *request: Any) -> Any:
        """Send a request, and return the answer; raise the error that it raised there."""
        process = cast("subprocess.Popen[bytes]", self._process)  # the caller has started it
        pipe = cast(BinaryIO, process.stdin)
        try:
            pipe.write(pickle.dumps(request))
            pipe.flush()
            reply = self._answers.get(timeout=TIME_LIMIT)
        except queue.Empty:
            raise self._ended(f"the script takes more than {TIME_LIMIT:g} seconds") from None
        except OSError:
            reply = None
        if reply is None:
            status = process.wait()
            raise self._ended(f"the script ends its process with status {status}")
        answer, warned = reply
        self.warned += warned
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def _ended(self, text: str) -> ScriptError:
        """End the process, and make the error; give the script up after a few times."""
        self.close()
        self._n_ended += 1
        if self._n_ended == _MAX_ENDED:
            hint = (
                "Name another function, or run the whole program: "
                f"identify --command 'python3 {self._path} {{qrels}} {{run}}'"
            )
            problem = f"{text}, {_MAX_ENDED} times"
            self.gave_up = InputError(problem, where=self._path, hint=hint)
        return ScriptError(ENDED, text)


def _read(answers: BinaryIO, into: queue.Queue[Any]) -> None:
    """Put the answers of a process into a queue until it ends, then None."""
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
    """Answer the requests on stdin until it ends; the script itself gets an empty stdin and stdout."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    function: Any = None
    here = Path.cwd()
    with suppress(EOFError):
        while True:
            kind, *arguments = pickle.load(requests)
            printed = io.StringIO()
            try:
                with redirect_stdout(io.StringIO()), redirect_stderr(printed):
                    if kind == "load":
                        function = _load(*arguments)
                        answer: Any = Arguments.of(function)
                    else:
                        answer = _ANSWERS[kind](function, *arguments)
            except BaseException as error:
                answer = error
            with suppress(OSError):
                os.chdir(here)
            if isinstance(answer, BaseException) and type(answer) not in (InputError, NoNumberError):
                answer = ScriptError(type(answer).__name__, error_text(answer), error_location(answer))
            warned = re.findall(r"\b\w+Warning: .*", printed.getvalue())
            answers.write(pickle.dumps((answer, warned)))
            answers.flush()


_ANSWERS: dict[str, Callable[..., Any]] = {"value": returned_by, "written": written_call}


def _load(text: str) -> Function:
    """Load the script as Python runs it: with its folder on the path, and without arguments."""
    path = Path(text.rpartition(":")[0] or text)
    sys.path.insert(0, str(path.resolve().parent))
    sys.argv[:] = [str(path)]
    return load_function(text)
