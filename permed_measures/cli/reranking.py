"""The command reranking."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace

from ir_measures.measures import Measure

from permed_measures.cli.arguments import METHODS, QRELS, READING, WRITING
from permed_measures.cli.inputs import (
    Inputs,
    measures_by_labels,
    named_run,
    origin_of,
    reading,
    understood_measures,
)
from permed_measures.cli.output import format_of, write_report
from permed_measures.cli.parsing import ADVANCED, MEASURES_GROUP, OUTPUT, Command, argument, option
from permed_measures.comparison.overlap import PERSISTENCE
from permed_measures.comparison.reranking import reranking
from permed_measures.measures.parsing import measures_of


def run(args: Namespace) -> None:
    """Show what a reranking changed."""
    (first, file), (second, other) = named_run(args.before, "before"), named_run(args.after, "after")
    files, names = {first: file, second: other}, (first, second)
    form = format_of(args, files.values())
    with reading(args, files) as inputs:
        runs = inputs.runs[first], inputs.runs[second]
        chosen = understood_measures([args.measure], None, inputs) if args.measure else _first(inputs)
        result = reranking(
            inputs.qrels,
            *runs,
            chosen,
            args.top,
            args.rel,
            args.judged_only,
            names,
            args.rbo_p,
        )
    result = replace(result, origin=origin_of(args, files))
    write_report(result.report(), form, args, "a reranking")


def _first(inputs: Inputs) -> list[Measure]:
    """Choose the first measure by the labels, and add a note."""
    names, why = measures_by_labels(inputs)
    first = measures_of(names[0])[0]
    inputs.notes.append(f"no measure was named; using {first}, as {why}")
    return [first]


COMMAND = Command(
    run,
    [
        QRELS,
        argument("before", "BEFORE", "The run that was reranked: FILE or NAME=FILE."),
        argument("after", "AFTER", "The reranked run."),
        option(
            MEASURES_GROUP,
            "-m, --measure MEASURE",
            "The measure of gains and losses; by default the first of evaluate's.",
        ),
        option(
            MEASURES_GROUP,
            "--rel GRADE",
            "The lowest relevant grade, if a measure names none: 1.",
            default=1.0,
        ),
        option(MEASURES_GROUP, "--judged-only", "Count pairs of judged documents only."),
        option(ADVANCED, "--rbo-p P", "The p of the rank-biased overlap: 0.9.", default=PERSISTENCE),
        option(OUTPUT, "--top N", "Queries with the largest changes to list: 5.", default=5),
        *(*WRITING, METHODS, *READING),
    ],
    examples=[
        "permed-sample \\\n    permed-sample/runs/bm25 permed-sample/runs/lsa",
        "medcorpus bm25=runs/bm25.trec b=runs/b.csv -m P@1",
    ],
)
