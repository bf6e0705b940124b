"""The command verify."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any

from permed_measures.cli.arguments import WRITING
from permed_measures.cli.inputs import find_runs, named_run, origin_of
from permed_measures.cli.output import format_of, write_report
from permed_measures.cli.parsing import INPUT, Command, argument, option, repeatable
from permed_measures.records.verify import verify


def run(args: Namespace) -> int:
    """Compute the numbers of a record again."""
    form = format_of(args, [args.record])
    found = verify(args.record, args.qrels, _runs_of(args.run), args.folder, args.download)
    format_of(args, [Path(found.origin.qrels), *found.origin.runs.values()])  # what it names is known now
    made = origin_of(args, {})
    options = {**made.options, **found.origin.options}  # and those that the record was made with
    found = replace(
        found, origin=found.origin._replace(command=made.command, options=options, line=made.line)
    )
    write_report(found.report(), form, args, f"what became of {args.record}")
    return int(not found.ok)


def _runs_of(given: list[str]) -> Any:
    """Return the runs by name, or the one that has none."""
    files = find_runs(given)
    if len(files) != 1:
        return files or None
    name, file = named_run(given[0], "")
    return {name: file} if name else file


COMMAND = Command(
    run,
    [
        argument("record", "RECORD", "A record.", type=Path),
        option(INPUT, "--qrels QRELS", "The qrels, if they are not where the record says."),
        repeatable(INPUT, "--run RUN", "A run, if it is not where the record says: FILE or NAME=FILE."),
        option(
            INPUT,
            "--folder FOLDER",
            "Where the paths of a record begin, or its files are; by default the folder of the record. "
            "Other files are read if the record has their SHA-256, or they are in the folder where you are.",
        ),
        option(INPUT, "--download", "Download the data set that the record names, if it is not here."),
        *WRITING,
    ],
    examples=["base.json", "base.json --output verified.html"],
    details="evaluate --record FILE writes a record. Exit status 1 if anything differs, 2 if the record "
    "cannot be read or its files are not found.",
)
