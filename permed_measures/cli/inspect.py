"""The command inspect."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from permed_measures.cli.inputs import packaged_runs
from permed_measures.cli.parsing import Command, argument
from permed_measures.datasets.loading import existing
from permed_measures.files.inspection import inspect_file


def run(args: Namespace) -> None:
    """Describe files."""
    files = [file for path in args.paths for file in packaged_runs(path).values() or [Path(path)]]
    for number, file in enumerate(files, start=1):
        print(inspect_file(existing(file)), end="\n\n" if number < len(files) else "\n")


COMMAND = Command(
    run,
    [argument("paths", "FILE", "Run or qrels files.", nargs="+")],
    examples=["results.jsonl", "runs/bm25.trec runs/b.csv"],
)
