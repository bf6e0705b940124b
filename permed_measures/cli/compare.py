"""The command compare."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any

from permed_measures.cli.arguments import (
    ASKED_MEASURES,
    CLEANING,
    CLUSTERS,
    DRAWING,
    HUMAN,
    LEVEL_OPTION,
    METHODS,
    QRELS,
    READING,
    RESAMPLES_OPTION,
    RUNS,
    SEED_OPTION,
    TABLES,
)
from permed_measures.cli.driver import FilesRead, execute
from permed_measures.cli.inputs import Inputs, find_runs, measures_asked
from permed_measures.cli.output import FIGURE
from permed_measures.cli.parsing import ADVANCED, OUTPUT, STATISTICS, Command, option, repeatable
from permed_measures.comparison.compare import Comparison, compare
from permed_measures.comparison.overlap import PERSISTENCE
from permed_measures.comparison.plots import check_baseline, plot_forest, plot_queries
from permed_measures.comparison.results import TESTS, TestOptions
from permed_measures.comparison.tests import MAX_T
from permed_measures.corrections import CORRECTIONS
from permed_measures.errors import InputError
from permed_measures.results.report import Report


def run(args: Namespace) -> None:
    """Compare runs."""
    files = FilesRead(find_runs(args.runs))
    check = partial(_check, args, len(files.runs))
    execute(args, _compute, files=files, check=check, report=_report, figure=_draw)


def _check(args: Namespace, n_runs: int, form: str) -> None:
    """Refuse options that do not go with the format or with each other."""
    if args.figure and form != FIGURE:
        raise InputError("--figure needs a file for the figure", hint="Such as --output figure.pdf")
    if args.rbo_p != PERSISTENCE and form != "html":
        raise InputError("--rbo-p needs a page", hint="Such as --output page.html")
    if args.figure == "queries":
        check_baseline(args.baseline, n_runs)


def _compute(args: Namespace, inputs: Inputs) -> Comparison:
    names = ["baseline", "clusters", *(each.name for each in fields(TestOptions))]
    asked = {name: getattr(args, name) for name in [*names, "human"]} | {"tests": args.tests or [*TESTS][:1]}
    chosen = measures_asked(args, inputs)
    return compare(inputs.qrels, inputs.runs, chosen, by=args.by, persistence=args.rbo_p, **asked)


def _report(result: Comparison, args: Namespace) -> Report:
    return result.report(args.digits, args.percent, not args.no_judged, args.all_pairs)


def _draw(args: Namespace, result: Comparison) -> list[Any]:
    return _PLOTS[args.figure or "forest"](result)


_PLOTS: dict[str, Callable[[Comparison], list[Any]]] = {"forest": plot_forest, "queries": plot_queries}

COMMAND = Command(
    run,
    [
        *(QRELS, RUNS, *ASKED_MEASURES),
        option(STATISTICS, "--baseline NAME", "The run to compare with; by default all pairs are."),
        option(STATISTICS, "--all-pairs", "Show the differences of more than 15 pairs too."),
        option(STATISTICS, "--by FIELD|REGEX", "Compare by group of queries too, as evaluate does."),
        CLUSTERS,
        option(
            STATISTICS,
            "--correction NAME",
            "Correction for several tests: max-t (by default), holm, bonferroni, benjamini-hochberg or none.",
            choices=[MAX_T, *CORRECTIONS],
        ),
        repeatable(
            STATISTICS,
            "--tests NAME",
            "randomization (default), t-test, wilcoxon; repeat it.",
            choices=TESTS,
        ),
        HUMAN,
        *DRAWING,
        METHODS,
        option(OUTPUT, "--figure NAME", "The figure: forest (by default) or queries.", choices=_PLOTS),
        option(ADVANCED, "--equivalence-margin D", "Also test whether a difference is within ± D."),
        option(ADVANCED, "--detect D", "Queries needed to detect a difference of D."),
        option(ADVANCED, "--rbo-p P", "The p of a page's rank-biased overlap: 0.9.", default=PERSISTENCE),
        *(RESAMPLES_OPTION, SEED_OPTION, LEVEL_OPTION),
        *(*TABLES, *READING, *CLEANING),
    ],
    examples=[
        "permed-sample permed-sample/runs --baseline bm25",
        "permed-sample permed-sample/runs --output table.tex",
    ],
)
