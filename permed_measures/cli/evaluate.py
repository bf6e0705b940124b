"""The command evaluate."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from permed_measures.cli import collections
from permed_measures.cli.arguments import (
    ASKED_MEASURES,
    CLEANING,
    DRAWING,
    METHODS,
    READING,
    RUNS,
    TABLES,
)
from permed_measures.cli.inputs import Inputs, cleaning_of, find_runs, measures_asked, origin_of, reading
from permed_measures.cli.messages import print_message
from permed_measures.cli.output import (
    FIGURE,
    FIGURES,
    check_record,
    format_of,
    write_figure,
    write_methods,
    write_record,
    write_report,
)
from permed_measures.cli.parsing import ADVANCED, STATISTICS, Command, argument, option
from permed_measures.engine.evaluator import PermedEvaluator
from permed_measures.engine.groups import Groups, clusters_of
from permed_measures.errors import InputError
from permed_measures.escaping import pluralize
from permed_measures.experiment import Experiment
from permed_measures.plots.panels import draw_means
from permed_measures.provenance import Origin
from permed_measures.results.evaluation_report import evaluation_report
from permed_measures.results.evaluations import Evaluations, with_judged


def run(args: Namespace) -> None:
    """Evaluate runs."""
    if not args.runs and args.qrels.endswith(".toml"):
        collections.run(args)
        return
    if not args.runs:
        raise InputError("no run was named", hint="Name files of runs after the qrels")
    files = find_runs(args.runs)
    check_record(args, files.values())
    form = format_of(args, files.values(), FIGURES)
    _check_together(args, form)
    with reading(args, files) as inputs:
        groups = None
        if args.by is not None:
            groups = Groups.of(inputs.judgments.query_ids, args.by, inputs.dataset)
        chosen = measures_asked(args, inputs)
        evaluator = PermedEvaluator(with_judged(chosen), inputs.judgments)
        inputs.notes.extend(evaluator.notes())
        evaluations, notes = Experiment(evaluator, inputs.runs, Origin()).evaluate_all()
    for note in groups.notes() if groups else ():
        print_message(f"note: {note}")
    origin = origin_of(args, files)
    result = Evaluations(
        chosen, evaluations, args.by_query, groups, args.macro, not args.no_judged, origin, notes
    )
    about = pluralize(len(files), "run")
    report = evaluation_report(result, args.digits, args.percent)
    if form == FIGURE:
        _write_means(result, inputs, args.output, about)
        write_methods(report, form, args)
    else:
        write_report(report, form, args, about, result.all_notes())
    if args.record is not None:
        write_record(args, result)


def _write_means(result: Evaluations, inputs: Inputs, output: Path, about: str) -> None:
    """Plot the means to a file; the clusters of the intervals are those of the data set."""
    name, cluster, _ = clusters_of(inputs.judgments.query_ids, None, inputs.dataset)
    n = len(result.measures)  # further values, such as Judged@k, come after the measures asked for
    values = {run: found.values[:n] for run, found in result.evaluations.items()}
    write_figure(lambda: draw_means(result.measures, values, cluster, name), output, about)
    for note in result.all_notes():
        print_message(f"note: {note}")


def _check_together(args: Namespace, form: str) -> None:
    """Refuse options that do not go together."""
    by_groups = args.by is not None
    for wrong, problem, hint in (
        (
            form == FIGURE and (by_groups or args.by_query),
            "a figure of evaluate has the means over all queries",
            "Leave out --by and --by-query, or write a table",
        ),
        (by_groups and args.by_query, "--by and --by-query exclude each other", "Leave out one of them"),
        (
            args.record is not None and cleaning_of(args),
            "a record needs runs as they are in their files",
            "Change the run with convert, and record the new file",
        ),
        (args.macro and not by_groups, "--macro needs --by", "Name the groups, such as --by conversation_id"),
    ):
        if wrong:
            raise InputError(problem, hint=hint)


QRELS_OR_COLLECTIONS = argument(
    "qrels",
    "QRELS",
    "A qrels file, or a data set id of ir_datasets; without RUN, a TOML file of several collections.",
)

COMMAND = Command(
    run,
    [
        *(QRELS_OR_COLLECTIONS, RUNS._replace(keywords={**RUNS.keywords, "nargs": "*"}), *ASKED_MEASURES),
        option(STATISTICS, "--by-query", "Print the values of each query."),
        option(
            STATISTICS,
            "--by FIELD|REGEX",
            "Print the mean of each group of queries, by turn_number, conversation_id, specificity or "
            "another FIELD of a data set's queries, or by what a REGEX with one group finds in their ids.",
        ),
        option(STATISTICS, "--macro", "With --by: print the mean of the groups' means, not each group."),
        *(*DRAWING, METHODS, *TABLES, *READING, *CLEANING),
        option(ADVANCED, "--record FILE", "Write a record too, a JSON file for verify."),
    ],
    examples=["permed-sample permed-sample/runs", "permed-sample permed-sample/runs --by turn_number"],
    details="Files can be TREC, BEIR, MTEB, MedCorpus, PerMed, LitSearch, CSV or Parquet files; the format "
    "is recognised by the content.",
)
