"""The command compare."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import fields, replace
from pathlib import Path

from permed_measures.cli.arguments import (
    ASKED_MEASURES,
    CLEANING,
    CLUSTERS,
    DIGITS,
    HUMAN,
    LEVEL,
    QRELS,
    READING,
    RESAMPLES,
    RUNS,
    SEED,
    WRITING,
)
from permed_measures.cli.inputs import cleaning_of, find_runs, measures_asked, origin_of, reading
from permed_measures.cli.messages import print_message, warnings_as_notes
from permed_measures.cli.output import format_of, write_report
from permed_measures.cli.parsing import ADVANCED, STATISTICS, Command, option, repeatable
from permed_measures.comparisons.compare import Comparison, compare
from permed_measures.comparisons.plots.drawing import PLOT_ENDINGS, matplotlib, save_plot
from permed_measures.comparisons.plots.forest import plot_forest
from permed_measures.comparisons.results import TESTS, Options
from permed_measures.comparisons.tests import CORRECTIONS, MAX_T
from permed_measures.markup import counted


def run(args: Namespace) -> None:
    """Compare runs."""
    files = find_runs(args.runs)
    read = [Path(args.qrels), *files.values()]
    form = format_of(args, read, others=dict.fromkeys(PLOT_ENDINGS, "figure"))
    if form == "figure":
        matplotlib()  # before any work: an error where it is missing
    names = ["baseline", "clusters", *(each.name for each in fields(Options))]
    asked = {name: getattr(args, name) for name in [*names, "human"]} | {"tests": args.tests or [TESTS[0]]}
    with reading(args.qrels, files, args.order, args.query_ids, cleaning_of(args)) as inputs:
        chosen = measures_asked(args, inputs)
        result = compare(inputs.source, inputs.runs, chosen, by=args.by, **asked)
    origin = origin_of(args, files)
    result = replace(result, origin=origin, digits=args.digits, all_pairs=args.all_pairs)
    if form == "figure":
        _write_figure(result, args.output)
    else:
        write_report(result.report(), form, args.output, f"{len(files):,} runs")


def _write_figure(result: Comparison, output: Path) -> None:
    """Write the forest plot to a file, and say so."""
    matplotlib().use("agg")  # no window
    with warnings_as_notes():
        save_plot(plot_forest(result)[0], output)
    print_message(f"{output}: figure of {counted(len(result.paired.values), 'run')}")


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
            "A test to run: randomization (by default), t-test or wilcoxon. Can be repeated.",
            choices=TESTS,
        ),
        HUMAN,
        *WRITING,
        option(ADVANCED, "--equivalence-margin D", "Also test whether a difference is within ± D."),
        option(ADVANCED, "--detect D", "Say how many queries a difference of D needs."),
        *(RESAMPLES, SEED, LEVEL),
        *(DIGITS, *READING, *CLEANING),
    ],
    examples=[
        "permed-sample permed-sample/runs --baseline bm25",
        "medcorpus runs/ -m GradedAP@10 --output table.tex",
    ],
    details="A folder of runs gives one table. Of a data set with conversations, tests and intervals "
    "resample whole conversations.",
)
