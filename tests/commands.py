"""The command line in this process, and Python in another."""

import contextlib
import io
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from unittest import mock

import pytest

from permed_measures import cli


def _strict():
    """Return Python that makes warnings errors, but for those of other packages that pyproject.toml names.

    The option -W cannot do this: it takes no patterns, and so cannot say of which files warnings are ignored.
    """
    pyproject = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    lines = ["import warnings"]
    for each in pyproject["tool"]["pytest"]["ini_options"]["filterwarnings"]:
        action, message, category, module, *_ = [*each.split(":"), "", "", ""]
        lines.append(f"warnings.filterwarnings({action!r}, {message!r}, {category or 'Warning'}, {module!r})")
    return "\n".join(lines) + "\n"


STRICT = _strict()
"""What stands before code that a new Python runs with warnings as errors."""


@contextlib.contextmanager
def _captured(terminal=None):
    """Yield stdout and stderr as streams in memory; `terminal` is a stderr."""
    stdout, stderr = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(terminal or stderr):
        yield stdout, stderr


def _texts(streams):
    return tuple(stream.buffer.getvalue().decode() for stream in streams)


def run_cli(*arguments, status=0):
    """Return stdout and stderr of a command in this process; its errors are raised."""
    with _captured() as streams:
        try:
            found = cli.run(list(map(str, arguments)))
        except SystemExit as end:  # of help
            found = end.code
    assert found == status, _texts(streams)
    return _texts(streams)


def run_main(*arguments, terminal=None):
    """Return status, stdout and stderr of the command's main function in this process.

    With `terminal`, a stream, messages go there.
    """
    with (
        mock.patch.object(sys, "argv", ["permed-measures", *map(str, arguments)]),
        mock.patch("signal.signal"),
        _captured(terminal) as streams,
        pytest.raises(SystemExit) as caught,
    ):
        cli.main()
    return caught.value.code or 0, *_texts(streams)


def run_python(code, *arguments, **how):
    """Return what a new Python process prints."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False, **how)
    assert done.returncode == 0, done.stderr
    return done.stdout


def is_running(pid):
    """Return whether a process runs; one that has ended and is not collected does not."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return state.stdout.strip()[:1] not in ("", "Z")


def ends_soon(pid):
    """Return whether a process ends within two seconds."""
    for _ in range(40):
        if not is_running(pid):
            return True
        time.sleep(0.05)
    return False
