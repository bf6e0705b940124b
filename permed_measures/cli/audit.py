"""The command audit."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace

from permed_measures.auditing.audit import audit
from permed_measures.cli.arguments import CLAIMS, CONVENTIONS, QRELS, READING, RUNS, WRITING
from permed_measures.cli.inputs import find_runs, origin_of, reading
from permed_measures.cli.output import format_of, write_report
from permed_measures.cli.parsing import Command
from permed_measures.escaping import pluralize
from permed_measures.published_tables.tables import read_claims


def run(args: Namespace) -> int:
    """Find the conventions that give published numbers."""
    files = find_runs(args.runs)
    form = format_of(args, files.values())
    rows = read_claims(args.claims, args.claim, list(files), args.columns)
    with reading(args, files) as inputs:
        result = audit(inputs.qrels, inputs.runs, rows, conventions=args.conventions)
    result = replace(result, origin=origin_of(args, files))
    write_report(result.report(), form, args, pluralize(len(files), "run"))
    return int(not result.ok)


COMMAND = Command(
    run,
    [
        *(QRELS, RUNS, *CLAIMS, *WRITING),
        CONVENTIONS,
        *READING,
    ],
    examples=[
        "permed-sample permed-sample/runs/bm25 --claim P@1=64.58%",
        "permed-sample permed-sample/runs --claims paper.md",
    ],
    details="Measures can be written in many ways: map@10, NDCG_cut_10, mrr, hit@10, coverage@10. Numbers "
    "above 1 or with % are percentages.",
)
