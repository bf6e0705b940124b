"""Commands about files: convert, inspect."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Annotated, Literal

import typer

from permed_measures.cli.arguments import Order
from permed_measures.cli.messages import tell, warnings_as_notes
from permed_measures.cli.progress import ProgressBar
from permed_measures.errors import InputError

Format = Literal["trec", "jsonl", "json", "csv", "tsv", "parquet"]


def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="A run or qrels in any format.")],
    target: Annotated[
        Path, typer.Argument(metavar="OUT", help="Its ending chooses the format; - is standard output.")
    ],
    to: Annotated[Format | None, typer.Option(help="The format, whatever the ending.")] = None,
    as_: Annotated[
        Literal["qrels", "run"] | None, typer.Option("--as", help="Read IN as qrels or as a run.")
    ] = None,
    order: Order = "score",
) -> None:
    """Write a run or qrels in another format.

    OUT ends in .trec, .jsonl (PerMed results; for qrels MedCorpus labels or PerMed ground truth), .json (BEIR
    and MTEB), .parquet, .csv or .tsv (for qrels BEIR's). All but .parquet can be followed by .gz.
    """
    from permed_measures.cli.inputs import packaged_runs
    from permed_measures.cli.output import refuse_without_folder
    from permed_measures.datasets.loading import existing
    from permed_measures.files.read import kind_of, load
    from permed_measures.files.sources import Source
    from permed_measures.files.whole import STDOUT
    from permed_measures.files.write import write_qrels, write_run

    packaged = packaged_runs(str(source))
    [source] = packaged.values() if len(packaged) == 1 else [existing(source)]
    target = STDOUT if str(target) == "-" else target
    refuse_without_folder(target)
    if target.is_file() and source.is_file() and target.samefile(source):
        raise InputError("OUT is the same file as IN", where=str(target), hint="Name another file for OUT")
    with warnings_as_notes(), closing(ProgressBar()) as bar:
        file = Source(source, bar.of(source.name))
        kind = as_ or kind_of(file)
        if kind is None:
            raise InputError(
                "this file can be read as qrels and as a run", where=str(source), hint="Say which by --as"
            )
        loaded = load(file, "qrels" if kind == "qrels" else "run", order=order)
        for note in filter(None, [loaded.labels, *loaded.notes]):
            tell(f"note: {note}")
        write: Callable[..., None] = write_qrels if kind == "qrels" else write_run
        write(loaded.table, target, to=to)
    if target != STDOUT:
        tell(f"{target}: {kind} of {source}")


def inspect(
    paths: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Run or qrels files.")],
) -> None:
    """Describe files: format, counts, ids, grades, ties, duplicates, lists against scores."""
    from permed_measures.cli.inputs import packaged_runs
    from permed_measures.datasets.loading import existing
    from permed_measures.files.inspection import inspect_file

    with closing(ProgressBar()) as bar:
        files = [file for path in paths for file in packaged_runs(str(path)).values() or [path]]
        for number, file in enumerate(files, start=1):
            description = inspect_file(existing(file), bar.of(file.name))
            print(description, end="\n\n" if number < len(files) else "\n")
