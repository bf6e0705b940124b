"""Run the command line: results go to stdout, everything else to stderr."""

from __future__ import annotations

import importlib
import io
import os
import signal
import sys
import textwrap
from collections.abc import Sequence
from contextlib import nullcontext
from typing import NoReturn

from permed_measures import __version__
from permed_measures.cli.messages import message_of, print_message
from permed_measures.cli.parsing import PROGRAM, Command, help_width, parse
from permed_measures.cli.signals import Signals
from permed_measures.errors import InputError, did_you_mean
from permed_measures.progress import quiet

COMMANDS = {
    "demo": "Evaluate the packaged sample: three rankings for synthetic conversations about medicine.",
    "evaluate": "Evaluate runs: a row per run, with the share of judged documents and the best possible "
    "values.",
    "crosscheck": "Compare our values with pytrec_eval's, query by query; exit status 1 if any differs.",
    "audit": "Find the conventions that give published numbers; exit status 1 if none explains all of them.",
    "identify": "Find which measure your script computes, by calling it; exit status 1 if none fits.",
    "possible": "Find conventions that cannot have given a published row, whatever the run; exit status 1 if "
    "none can.",
    "compare": "Compare runs: differences, intervals and tests, as a table, a page or a figure.",
    "reranking": "Show what a reranking changed: ranks of relevant documents, pairs of documents, queries.",
    "uncertainty": "Show the uncertainty of each mean: other topics, ties, unjudged documents, wrong labels.",
    "verify": "Compute the numbers of a record again; exit status 1 if anything differs.",
    "gate": "Check floors, and drops below a baseline; exit status 1 if a rule is broken.",
    "leaderboard": "Order runs by the first measure, and test which are below the first.",
    "convert": "Write a run or qrels in another format.",
    "inspect": "Describe files: format, counts, ids, grades, duplicates, ranks against scores.",
    "measures": "List the measures, or explain some: formula, range, source, example, parameters, ceiling.",
}
"""The commands in the order of the help, each with the first sentence of its help.

Each command is a module with a `Command`. It is imported when the command runs.
"""


def run(words: Sequence[str]) -> int:
    """Run a command, and return its exit status; raise an exception for any error."""
    name, *rest = words or ["--help"]
    if name in ("-h", "--help"):
        print(_overview())
        return 0
    if name == "--version":
        print(f"{PROGRAM} {__version__}")
        return 0
    if name not in COMMANDS:
        kind = "option" if name.startswith("-") else "command"
        hint = did_you_mean(name, COMMANDS) if kind == "command" else ""
        raise InputError(f"no such {kind}: {name}", hint=hint or f"See {PROGRAM} --help")
    command = command_of(name)
    args = parse(name, COMMANDS[name], command, rest)
    with quiet() if args.quiet else nullcontext():
        return command.run(args) or 0


def command_of(name: str) -> Command:
    """Import a command by its name."""
    command: Command = importlib.import_module(f"permed_measures.cli.{name}").COMMAND
    return command


def _overview() -> str:
    """Write the help of the program."""
    width = help_width()
    lines = [
        f"usage: {PROGRAM} [-h] [--version] COMMAND ...",
        "",
        "Graded MAP, Coverage and exact nDCG for MedCorpus and LitSearch.",
        f"Help for a command: {PROGRAM} COMMAND -h",
        "",
        "Commands:",
    ]
    for name, summary in COMMANDS.items():
        lines.append(textwrap.fill(summary, width, initial_indent=f"  {name:13}", subsequent_indent=" " * 15))
    return "\n".join(lines)


def main() -> NoReturn:
    """Run the command line; an error prints one message and gives exit status 2."""
    if hasattr(signal, "SIGPIPE"):  # end silently, as other programs do, if the reader of a pipe has ended
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signals = Signals()
    try:
        status = _status_of_run(signals)
    except KeyboardInterrupt:  # 130 is the shells' status after Ctrl-C
        status = signals.status or 130
    signals.end()
    exec("")  # clears the interrupt that Python remembers, so that `python -m` ends with our status
    sys.exit(status)


def _status_of_run(signals: Signals) -> int | str | None:
    """Run the command, and return the exit status; print an error as one message."""
    _replace_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # escape characters that the terminal cannot show
            stream.reconfigure(errors="backslashreplace")
    try:
        return _run()
    except SystemExit as end:
        return signals.status or end.code
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a panic of polars is not an Exception
        if signals.status:  # other code turned the interrupt into another error
            return signals.status
        if sys.flags.dev_mode:
            raise
        print_message(f"error: {message_of(error)}")
        return 2


def _replace_closed_streams() -> None:
    """Discard messages if stderr is closed; let printing fail, as in other programs, if stdout is closed."""
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


def _run() -> int:
    try:
        return run(sys.argv[1:])
    finally:
        try:
            sys.stdout.flush()
        except OSError:  # redirect, or Python flushes again at its end and prints a traceback
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise
