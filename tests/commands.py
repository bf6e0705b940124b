"""The command line, in this process and as a command."""

import contextlib
import io
import subprocess
import sys
from unittest import mock

import pytest
from typer.testing import CliRunner

from permed_measures import cli


def run_cli(*arguments, status=0):
    """Return stdout and stderr of the command line in this process."""
    result = CliRunner().invoke(cli.app, [str(argument) for argument in arguments])
    error = result.exception
    if error is not None and not isinstance(error, SystemExit):
        raise error
    assert result.exit_code == status, result.output
    return result.stdout, result.stderr


def run_main(*arguments, terminal=None):
    """Return status, stdout and stderr of the command's main function in this process.

    With `terminal`, a stream, messages go there.
    """
    stdout, stderr = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with (
        mock.patch.object(sys, "argv", ["permed-measures", *map(str, arguments)]),
        mock.patch("signal.signal"),
        contextlib.redirect_stdout(stdout),
        contextlib.redirect_stderr(terminal or stderr),
        pytest.raises(SystemExit) as caught,
    ):
        cli.main()
    return caught.value.code or 0, *(stream.buffer.getvalue().decode() for stream in (stdout, stderr))


def run_command(*arguments):
    """Return status, stdout and stderr of the installed command."""
    command = [sys.executable, "-m", "permed_measures", *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return result.returncode, result.stdout, result.stderr
