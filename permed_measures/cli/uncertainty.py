"""The command uncertainty."""

from __future__ import annotations

from argparse import Namespace

from permed_measures.cli.arguments import (
    ASKED_MEASURES,
    CLUSTERS,
    DIGITS_OPTION,
    HUMAN,
    LEVEL_OPTION,
    METHODS,
    QRELS,
    READING,
    RUNS,
    SEED_OPTION,
    WRITING,
)
from permed_measures.cli.driver import result_command
from permed_measures.cli.inputs import Inputs, measures_asked
from permed_measures.cli.parsing import ADVANCED, STATISTICS, option
from permed_measures.uncertainty_sources.results import Uncertainty
from permed_measures.uncertainty_sources.uncertainty import uncertainty


def _compute(args: Namespace, inputs: Inputs) -> Uncertainty:
    return uncertainty(
        inputs.qrels,
        inputs.runs,
        measures_asked(args, inputs),
        args.clusters,
        args.label_error,
        args.draws,
        args.seed,
        level=args.level,
        human=args.human,
    )


COMMAND = result_command(
    _compute,
    [
        *(QRELS, RUNS, *ASKED_MEASURES, CLUSTERS),
        option(STATISTICS, "--label-error P", "The probability of a wrong label."),
        HUMAN,
        *WRITING,
        METHODS,
        option(ADVANCED, "--draws N", "Number of random draws of the labels: 1000.", default=1000),
        *(SEED_OPTION, LEVEL_OPTION, DIGITS_OPTION, *READING),
    ],
    examples=["permed-sample permed-sample/runs", "permed-sample permed-sample/runs --label-error 0.1"],
    details="If a data set has conversations, other topics are other whole conversations.",
    report=lambda result, args: result.report(args.digits),
)
