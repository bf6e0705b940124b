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
from permed_measures.cli.driver import result_command
from permed_measures.cli.inputs import Inputs, measures_asked
from permed_measures.cli.parsing import ADVANCED, option
from permed_measures.records.leaderboard import Leaderboard, leaderboard


def _compute(args: Namespace, inputs: Inputs) -> Leaderboard:
    how = {name: getattr(args, name) for name in ("clusters", "resamples", "seed", "level")}
    board = leaderboard(inputs.qrels, inputs.runs, measures_asked(args, inputs), **how)
    return replace(board, evaluations=replace(board.evaluations, shows_judged=not args.no_judged))


_RESAMPLES_OPTION = option(
    ADVANCED, "--resamples N", "Number of random sign patterns: 50000, fewer for more than 200 runs."
)
COMMAND = result_command(
    _compute,
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
    report=lambda board, args: board.report(args.digits, args.percent),
)
