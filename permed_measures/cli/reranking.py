"""The command reranking."""

from __future__ import annotations

from argparse import Namespace

from ir_measures.measures import Measure

from permed_measures.cli.arguments import METHODS, QRELS, READING, WRITING
from permed_measures.cli.driver import FilesRead, execute
from permed_measures.cli.inputs import Inputs, measures_by_labels, named_run, understood_measures
from permed_measures.cli.parsing import ADVANCED, MEASURES_GROUP, OUTPUT, Command, argument, option
from permed_measures.comparison.overlap import PERSISTENCE
from permed_measures.comparison.reranking import Reranking, reranking
from permed_measures.measures.parsing import measures_of


def run(args: Namespace) -> None:
    """Show what a reranking changed."""
    files = FilesRead(dict([named_run(args.before, "before"), named_run(args.after, "after")]))
    execute(args, _compute, files=files, about=lambda *_: "a reranking")


def _compute(args: Namespace, inputs: Inputs) -> Reranking:
    first, second, *_ = [*inputs.files] * 2  # two files of one name are one here, and are refused
    runs = inputs.runs[first], inputs.runs[second]
    chosen = understood_measures([args.measure], None, inputs) if args.measure else _first(inputs)
    how = {"top": args.top, "rel": args.rel, "judged_only": args.judged_only, "persistence": args.rbo_p}
    return reranking(inputs.qrels, *runs, chosen, names=(first, second), **how)


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
