"""The command convert."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from permed_measures.cli.arguments import CLEANING, ORDER
from permed_measures.cli.inputs import cleaning_of
from permed_measures.cli.messages import print_message, warnings_as_notes
from permed_measures.cli.output import check_folder
from permed_measures.cli.parsing import INPUT, OUTPUT, Command, argument, option
from permed_measures.errors import InputError
from permed_measures.inputs.door import resolve
from permed_measures.inputs.formats import Kind
from permed_measures.inputs.read import kind_of, read_file
from permed_measures.inputs.recognition import recognised
from permed_measures.inputs.sources import Source
from permed_measures.inputs.write import OUTPUT_FORMATS, STDOUT, write_qrels, write_run, write_whole
from permed_measures.provenance import stored
from permed_measures.records.metadata import (
    Metadata,
    as_yaml,
    check_no_loss,
    complete_metadata,
    head_of,
    ir_metadata,
)
from permed_measures.records.record import read_record
from permed_measures.wording import join_names


def run(args: Namespace) -> None:
    """Write a run or qrels in another format."""
    target = STDOUT if args.target == "-" else Path(args.target)
    check_folder(target)
    is_yaml = args.to is None and target.suffix.lower() in (".yml", ".yaml")
    kept: dict[str, Any] = {}
    with warnings_as_notes():
        source = resolve(args.source, [args.kind] if args.kind else ["qrels", "run"])
        if isinstance(source, Path):
            kind, table, kept = _read(source, target, args)
        else:
            kind, table = "qrels", source
        if kind == "qrels" and (args.tag or args.order == "list" or cleaning_of(args)):
            problem = "--tag, --order list, --duplicates, --max-passage and --ignore-self need a run"
            hint = "Leave them out, or add --as run"
            raise InputError(f"{problem}, and this file is read as qrels", where=args.source, hint=hint)
        if args.tag:
            kept["tag"] = args.tag
        if args.record or is_yaml:
            metadata = _metadata(source, kind, kept, args)
            kept["comments"] = head_of(kept["comments"], metadata)
            if is_yaml:
                check_no_loss(target, metadata)
                write_whole(target, as_yaml(metadata).encode())
                print_message(f"{target}: ir_metadata of {args.source}")
                return
        write: Callable[..., None] = write_qrels if kind == "qrels" else write_run
        write(table, target, to=args.to, **kept)
    if target != STDOUT:
        print_message(f"{target}: {kind} of {args.source}")


def _read(path: Path, target: Path, args: Namespace) -> tuple[str, Any, dict[str, Any]]:
    """Read a file; return its kind, its rows, and the tag and comment lines to keep."""
    if target.is_file() and path.is_file() and target.samefile(path):
        raise InputError("OUT is the same file as IN", where=str(target), hint="Name another file for OUT")
    source, cleaning = Source(path), cleaning_of(args)
    kind: Kind | None = args.kind or kind_of(source, cleaning.subset)
    if kind is None:
        raise InputError(
            "this file can be qrels or a run", where=str(path), hint="Choose by --as qrels or --as run"
        )
    rows = read_file(source, kind, order=args.order, cleaning=cleaning)
    comments, tag = ([], "") if source.is_parquet else recognised(source, subset=cleaning.subset).head()
    return kind, rows, {"comments": comments} | ({"tag": tag} if tag and kind == "run" else {})


def _metadata(path: Any, kind: str, kept: Mapping[str, Any], args: Namespace) -> Metadata:
    """Read the metadata at the head of a run, and add those of the record that has the run."""
    if args.record is None:
        problem = f"a {Path(args.target).suffix} file has metadata, which come from a record"
        raise InputError(problem, where=args.target, hint="Name one by --record FILE")
    if kind != "run" or not isinstance(path, Path):
        raise InputError("--record needs a run, and this file is read as qrels", where=args.source)
    record, digest = read_record(args.record), stored(path)["sha256"]
    if digest is None or digest not in {each["sha256"] for each in record["runs"].values()}:
        problem = f"the record has no run of this file (it has {join_names(map(repr, record['runs']))})"
        hint = "Make one by evaluate QRELS RUN --record FILE, and convert the same RUN"
        raise InputError(problem, where=str(args.record), hint=hint)
    comments, tag = kept["comments"], kept.get("tag") or path.name.partition(".")[0]
    metadata = complete_metadata(comments, ir_metadata(record, tag), str(path))
    return metadata | ({"tag": args.tag} if args.tag else {})


COMMAND = Command(
    run,
    [
        argument("source", "IN", "A run or qrels in any format, or the id of a data set."),
        argument("target", "OUT", "Its ending chooses the format; - is standard output."),
        option(INPUT, "--as qrels|run", "Read IN as qrels or as a run.", dest="kind"),
        option(
            OUTPUT,
            "--to FORMAT",
            f"Output format, by default from OUT's ending: {', '.join(OUTPUT_FORMATS)}.",
            choices=OUTPUT_FORMATS,
        ),
        option(OUTPUT, "--tag NAME", "The tag of a TREC run; by default the tag of IN."),
        option(OUTPUT, "--record FILE", "Add ir_metadata from a record that has this run."),
        ORDER,
        *CLEANING,
    ],
    examples=["permed-sample/runs/bm25 bm25.trec", "permed-sample qrels.tsv"],
    details="OUT ends in .trec, .jsonl (PerMed results; for qrels PerMed ground truth), "
    ".json (BEIR and MTEB), .csv or .tsv (for qrels BEIR's); .gz may follow. With --record it may be "
    "ir-metadata.yml.",
)
