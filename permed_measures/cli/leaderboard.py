"""The command leaderboard."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace

from permed_measures.cli.arguments import (
    ASKED_MEASURES,
    CLUSTERS,
    LEVEL_OPTION,
    QRELS,
    READING,
    RUNS,
    SEED_OPTION,
    TABLES,
    WRITING,
)
from permed_measures.cli.inputs import find_runs, measures_asked, origin_of, reading
from permed_measures.cli.output import format_of, write_report
from permed_measures.cli.parsing import ADVANCED, Command, option
from permed_measures.escaping import pluralize
from permed_measures.records.leaderboard import leaderboard


def run(args: Namespace) -> None:
    """Order runs by the first measure."""
    files = find_runs(args.runs)
    form = format_of(args, files.values())
    with reading(args, files) as inputs:
        chosen = measures_asked(args, inputs)
        how = {name: getattr(args, name) for name in ("clusters", "resamples", "seed", "level")}
        board = leaderboard(inputs.qrels, inputs.runs, chosen, **how)
    evaluations = replace(board.evaluations, shows_judged=not args.no_judged)
    board = replace(board, origin=origin_of(args, files), evaluations=evaluations)
    report = board.report(args.digits, args.percent)
    write_report(report, form, args, pluralize(len(board.entries), "run"))


_RESAMPLES_OPTION = option(
    ADVANCED, "--resamples N", "Number of random sign patterns: 50000, fewer for more than 200 runs."
)
COMMAND = Command(
    run,
    [
        *(QRELS, RUNS),
        *(
            *ASKED_MEASURES,
            CLUSTERS,
            *WRITING,
            *TABLES,
            _RESAMPLES_OPTION,
            SEED_OPTION,
            LEVEL_OPTION,
            *READING,
        ),
    ],
    examples=["permed-sample permed-sample/runs", "permed-sample permed-sample/runs -m GradedAP@10"],
)
