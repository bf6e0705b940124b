"""The command line: arguments to library calls. Results go to stdout, everything else to stderr."""

from __future__ import annotations

import io
import os
import signal
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from permed_measures import __version__
from permed_measures.cli.help import Group
from permed_measures.cli.messages import message_of, tell

app = typer.Typer(
    cls=Group,
    help="Graded MAP, Coverage and exact nDCG for MedCorpus and LitSearch.",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        print(f"permed-measures {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())


def main() -> NoReturn:
    """Run the command line; whatever goes wrong is one message and exit status 2."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # as it is in the background
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGPIPE"):  # end as other programs do when nobody reads on
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what the terminal cannot show is escaped
            stream.reconfigure(errors="backslashreplace")
    try:
        status = _run()
    except SystemExit:
        raise
    except KeyboardInterrupt:
        status = 130  # as shells have it
    except BaseException as error:  # panics of polars too, which are not an Exception
        if sys.flags.dev_mode:
            raise
        tell(f"error: {message_of(error)}")
        status = 2
    sys.exit(status)


def _run() -> int:
    installed = Path(sys.argv[0]).stem == "permed-measures"
    program = "permed-measures" if installed else "python -m permed_measures"
    try:
        return app(prog_name=program, standalone_mode=False) or 0
    finally:
        try:
            sys.stdout.flush()
        except OSError:  # Python would try again when it ends, and print a traceback
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise
