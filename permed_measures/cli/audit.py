"""The command audit."""

from __future__ import annotations

from argparse import Namespace

from permed_measures.auditing.audit import audit
from permed_measures.auditing.reports import Audit
from permed_measures.cli.arguments import CLAIMS, CONVENTIONS, QRELS, READING, RUNS, WRITING
from permed_measures.cli.driver import result_command
from permed_measures.cli.inputs import Inputs
from permed_measures.published_tables.tables import read_claims


def _compute(args: Namespace, inputs: Inputs) -> Audit:
    rows = read_claims(args.claims, args.claim, list(inputs.files), args.columns)
    return audit(inputs.qrels, inputs.runs, rows, conventions=args.conventions)


COMMAND = result_command(
    _compute,
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
