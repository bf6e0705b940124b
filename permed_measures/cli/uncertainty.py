"""The command uncertainty."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace

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
from permed_measures.cli.inputs import find_runs, measures_asked, origin_of, reading
from permed_measures.cli.output import format_of, write_report
from permed_measures.cli.parsing import ADVANCED, STATISTICS, Command, option
from permed_measures.escaping import pluralize
from permed_measures.uncertainty_sources.uncertainty import uncertainty


def run(args: Namespace) -> None:
    """Show the uncertainty of each mean."""
    files = find_runs(args.runs)
    form = format_of(args, files.values())
    with reading(args, files) as inputs:
        result = uncertainty(
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
    report = replace(result, origin=origin_of(args, files)).report(args.digits)
    write_report(report, form, args, pluralize(len(files), "run"))


COMMAND = Command(
    run,
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
)
