"""The command inspect."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from permed_measures.cli.parsing import Command, argument
from permed_measures.inputs.door import packaged_runs, resolve
from permed_measures.inputs.inspection import inspect_file, inspect_qrels


def run(args: Namespace) -> None:
    """Describe files and data sets."""
    names = [str(name) for path in args.paths for name in packaged_runs(path).values() or [path]]
    for number, name in enumerate(names, start=1):
        found = resolve(name, ["qrels", "run"])
        said = inspect_file(found) if isinstance(found, Path) else inspect_qrels(name, found)
        print(said, end="\n\n" if number < len(names) else "\n")


COMMAND = Command(
    run,
    [argument("paths", "FILE", "Run or qrels files, or the ids of data sets.", nargs="+")],
    examples=["permed-sample permed-sample/runs", "results.jsonl"],
)
