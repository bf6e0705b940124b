"""The command reranking."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from pathlib import Path

from permed_measures.cli import arguments
from permed_measures.cli.inputs import named_run, origin_of, reading, understood_measures
from permed_measures.cli.output import format_of, write_report
from permed_measures.cli.parsing import INPUT, MEASURES, OUTPUT, Command, argument, flag, number, whole_number
from permed_measures.comparisons.reranking import reranking


def run(args: Namespace) -> None:
    """Show what a reranking changed."""
    first, file = named_run(args.before, "before" if args.after else "pre_reranked")
    second, other = named_run(args.after, "after") if args.after else ("retrieved", file)
    files, names = {first: file, second: other}, (first, second)
    form = format_of(args, [Path(args.qrels), file, other])
    rel = None if args.rel == 1 else args.rel
    with reading(args.qrels, files, args.order, args.query_ids, "" if args.after else first) as inputs:
        runs = inputs.runs[first], inputs.runs[second]
        chosen = understood_measures([args.measure], rel, inputs) if args.measure else "nDCG@10"
        result = reranking(
            inputs.judgments,
            *runs,
            chosen,
            inputs.dataset,
            args.top,
            args.rel,
            args.judged_only,
            names,
            args.cutoff,
        )
    result = replace(result, origin=origin_of(args, files))
    write_report(result.report(), form, args.output, "a reranking")


COMMAND = Command(
    run,
    arguments=(
        arguments.QRELS,
        argument(INPUT, "before", metavar="BEFORE", help="The run that was reranked: FILE or NAME=FILE."),
        argument(
            INPUT,
            "after",
            nargs="?",
            metavar="AFTER",
            help="The reranked run. Left out, BEFORE is a LitSearch file that has pre_reranked too.",
        ),
        argument(
            MEASURES,
            "-m",
            "--measure",
            metavar="MEASURE",
            help="The measure of gains and losses, nDCG@10 if left out; NAME=MEASURE gives it a heading.",
        ),
        argument(
            MEASURES,
            "--rel",
            type=number,
            default=1.0,
            metavar="GRADE",
            help="The lowest relevant grade, 1 if left out, also for a measure that does not name its own.",
        ),
        argument(
            MEASURES,
            "--cutoff",
            type=whole_number(1),
            metavar="K",
            help="K of P-imp@K; by default that of the measure.",
        ),
        flag(MEASURES, "--judged-only", help="Count pairs of judged documents only."),
        argument(
            OUTPUT,
            "--top",
            type=whole_number(0),
            default=5,
            metavar="N",
            help="Number of queries to list with the largest gains and losses: 5.",
        ),
        arguments.FORMAT,
        arguments.OUTPUT_FILE,
        arguments.ORDER,
        arguments.QUERY_IDS,
    ),
    examples=("medcorpus runs/bm25.trec runs/b.csv", "medcorpus bm25=runs/bm25.trec b=runs/b.csv -m P@1"),
)
