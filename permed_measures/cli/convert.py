"""The command convert."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

from permed_measures.cli.arguments import CLEANING, ORDER
from permed_measures.cli.inputs import cleaning_of, packaged_runs
from permed_measures.cli.messages import print_message, warnings_as_notes
from permed_measures.cli.output import check_folder
from permed_measures.cli.parsing import INPUT, OUTPUT, Command, argument, option
from permed_measures.datasets.loading import existing
from permed_measures.errors import InputError
from permed_measures.files.read import kind_of, load
from permed_measures.files.sources import Source
from permed_measures.files.whole import STDOUT
from permed_measures.files.write import FORMATS, write_qrels, write_run


def run(args: Namespace) -> None:
    """Write a run or qrels in another format."""
    packaged = packaged_runs(args.source)
    [source] = packaged.values() if len(packaged) == 1 else [existing(args.source)]
    target = STDOUT if args.target == "-" else Path(args.target)
    check_folder(target)
    if target.is_file() and source.is_file() and target.samefile(source):
        raise InputError("OUT is the same file as IN", where=str(target), hint="Name another file for OUT")
    with warnings_as_notes():
        file = Source(source)
        kind = args.kind or kind_of(file)
        if kind is None:
            raise InputError(
                "this file can be read as qrels and as a run", where=str(source), hint="Say which by --as"
            )
        cleaning = cleaning_of(args)
        if kind == "qrels" and cleaning:
            problem = (
                "--duplicates, --max-passage and --ignore-self are about runs, and this is read as qrels"
            )
            raise InputError(problem, where=str(source), hint="Leave them out, or add --as run")
        loaded = load(file, "qrels" if kind == "qrels" else "run", order=args.order, cleaning=cleaning)
        for note in filter(None, [loaded.labels, *loaded.notes]):
            print_message(f"note: {note}")
        write: Callable[..., None] = write_qrels if kind == "qrels" else write_run
        write(loaded.table, target, to=args.to)
    if target != STDOUT:
        print_message(f"{target}: {kind} of {source}")


COMMAND = Command(
    run,
    [
        argument("source", "IN", "A run or qrels in any format."),
        argument("target", "OUT", "Its ending chooses the format; - is standard output."),
        option(INPUT, "--as qrels|run", "Read IN as qrels or as a run.", dest="kind"),
        option(OUTPUT, "--to FORMAT", f"Whatever the ending: {', '.join(FORMATS)}.", choices=FORMATS),
        ORDER,
        *CLEANING,
    ],
    examples=["results.jsonl results.trec", "query_to_texts.jsonl qrels.tsv --as qrels"],
    details="OUT ends in .trec, .jsonl (PerMed results; for qrels PerMed ground truth), "
    ".json (BEIR and MTEB), .csv or .tsv (for qrels BEIR's), and perhaps .gz.",
)
