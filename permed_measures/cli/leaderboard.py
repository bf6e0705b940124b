"""The command leaderboard."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace

from permed_measures.cli.arguments import (
    ASKED_MEASURES,
    CLUSTERS,
    DIGITS,
    QRELS,
    READING,
    RESAMPLES,
    RUNS,
    SEED,
    WRITING,
)
from permed_measures.cli.inputs import find_runs, measures_asked, origin_of, reading
from permed_measures.cli.output import format_of, write_report
from permed_measures.cli.parsing import Command
from permed_measures.markup import counted
from permed_measures.records.leaderboard import leaderboard


def run(args: Namespace) -> None:
    """Order runs by the first measure."""
    files = find_runs(args.runs)
    form = format_of(args, files.values())
    with reading(args, files) as inputs:
        chosen = measures_asked(args, inputs)
        board = leaderboard(inputs.qrels, inputs.runs, chosen, args.clusters, args.resamples, args.seed)
    board = replace(board, origin=origin_of(args, files))
    report = board.report(args.digits)
    write_report(report, form, args, counted(len(board.entries), "run"))


COMMAND = Command(
    run,
    [
        *(QRELS, RUNS),
        *(*ASKED_MEASURES, CLUSTERS, *WRITING, RESAMPLES, SEED, DIGITS, *READING),
    ],
    examples=["permed-sample permed-sample/runs", "permed-sample permed-sample/runs -m GradedAP@10"],
)
