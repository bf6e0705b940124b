"""The command line, in this process and as a command."""

import subprocess
import sys

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


def run_command(*arguments):
    """Return status, stdout and stderr of the installed command."""
    command = [sys.executable, "-m", "permed_measures", *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return result.returncode, result.stdout, result.stderr
