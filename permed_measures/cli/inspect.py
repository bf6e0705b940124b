"""The command inspect."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from permed_measures.cli.inputs import files_in
from permed_measures.cli.messages import print_message
from permed_measures.cli.parsing import Command, argument
from permed_measures.errors import PermedError
from permed_measures.inputs.door import packaged_runs, resolve
from permed_measures.inputs.inspection import inspect_file, inspect_qrels
from permed_measures.inputs.sources import parquet_parts


def run(args: Namespace) -> int:
    """Describe files and data sets; if one of several cannot be read, print the error and go on."""
    names = [name for path in args.paths for name in _names(path)]
    status = 0
    for number, name in enumerate(names, start=1):
        try:
            source = resolve(name, ["qrels", "run"])
            text = inspect_file(source) if isinstance(source, Path) else inspect_qrels(name, source)
        except (PermedError, OSError) as error:
            if len(names) == 1:
                raise
            print_message(f"error: {error}")
            status = 2
        else:
            print(text, end="\n\n" if number < len(names) else "\n")
    return status


def _names(path: str) -> list[str]:
    """Expand a folder or the name of packaged runs to its files; keep any other name.

    A folder of BEIR is not expanded: its error names the file with the qrels.
    """
    folder = Path(path)
    if packaged := packaged_runs(path):
        return list(map(str, packaged.values()))
    if folder.is_dir() and not parquet_parts(folder) and not (folder / "qrels").is_dir():
        return list(map(str, files_in(folder)))
    return [path]


COMMAND = Command(
    run,
    [argument("paths", "FILE", "Run or qrels files, folders of them, or the ids of data sets.", nargs="+")],
    examples=["permed-sample permed-sample/runs", "results.jsonl"],
)
