"""The command line: arguments to library calls. Results go to stdout, everything else to stderr."""

from __future__ import annotations

import io
import os
import signal
import sys
from contextlib import nullcontext
from typing import Annotated, NoReturn

import typer

from permed_measures import __version__
from permed_measures.cli.checks import audit, crosscheck
from permed_measures.cli.comparing import compare, reranking
from permed_measures.cli.conversions import convert, inspect
from permed_measures.cli.evaluations import demo, evaluate, measures
from permed_measures.cli.messages import message_of, tell, without_panic_texts
from permed_measures.files import parquet

app = typer.Typer(
    help="Graded MAP, Coverage and exact nDCG for MedCorpus and LitSearch.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

for _command in (evaluate, crosscheck, audit, compare, reranking, convert, inspect, demo, measures):
    app.command()(_command)


@app.callback(invoke_without_command=True)
def _options(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if version:
        print(__version__)
        raise typer.Exit


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
        _run()
    except SystemExit:
        raise
    except KeyboardInterrupt:
        sys.exit(130)  # as shells have it
    except BaseException as error:  # panics of polars too, which are not an Exception
        if sys.flags.dev_mode:
            raise
        tell(f"error: {message_of(error)}")
    sys.exit(2)


def _run() -> None:
    parquet.around_decoding = without_panic_texts
    try:
        app()
    finally:
        parquet.around_decoding = nullcontext
        try:
            sys.stdout.flush()
        except OSError:  # Python would try again when it ends, and print a traceback
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise
