"""The command verify."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

from permed_measures.cli.arguments import WRITING
from permed_measures.cli.driver import FilesRead, execute, status_of
from permed_measures.cli.inputs import Inputs, find_runs, named_run
from permed_measures.cli.output import format_of
from permed_measures.cli.parsing import INPUT, Command, argument, option, repeatable
from permed_measures.records.verify import Verification, verify


def run(args: Namespace) -> int:
    """Compute the numbers of a record again."""
    files, about = FilesRead(others={"record": args.record}), f"verification of {args.record}"
    return status_of(execute(args, _compute, files=files, about=lambda *_: about))


def _compute(args: Namespace, _: Inputs) -> Verification:
    result = verify(args.record, args.qrels, _runs_of(args.run), args.folder, args.download)
    files = [Path(result.origin.qrels), *result.origin.runs.values()]
    format_of(args, files)  # check again, now that the files of the record are known
    return result


def _runs_of(arguments: list[str]) -> Any:
    """Collect the runs by name; a single run without a name stays without."""
    files = find_runs(arguments)
    if len(files) != 1:
        return files or None
    name, file = named_run(arguments[0], "")
    return {name: file} if name else file


COMMAND = Command(
    run,
    [
        argument("record", "RECORD", "A file of evaluate --record.", type=Path),
        option(INPUT, "--qrels QRELS", "The qrels, if they are not where the record says."),
        repeatable(INPUT, "--run RUN", "A run, if it is not where the record says: FILE or NAME=FILE."),
        option(
            INPUT,
            "--folder FOLDER",
            "The folder where the record's paths begin, or that has its files; by default the folder of the "
            "record. Other files must be in the working directory, or the record must have their SHA-256.",
        ),
        option(INPUT, "--download", "Download the data set of the record, if it is not on this machine."),
        *WRITING,
    ],
    examples=["base.json", "base.json --output verified.html"],
    details="evaluate --record FILE writes a record. Exit status 1 if anything differs, 2 if the record "
    "cannot be read or its files are not found.",
)
