"""The command evaluate."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from functools import partial

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
from permed_measures.cli.driver import FilesRead, execute
from permed_measures.cli.inputs import Inputs, cleaning_of, find_runs, measures_asked
from permed_measures.cli.output import FIGURE, check_record, write_record
from permed_measures.cli.parsing import ADVANCED, STATISTICS, Command, argument, option
from permed_measures.engine.kernels import notes_on
from permed_measures.errors import InputError
from permed_measures.evaluated import Evaluated, evaluate


def run(args: Namespace) -> None:
    """Evaluate runs."""
    if not args.runs and args.qrels.endswith(".toml"):
        collections.run(args)
        return
    if not args.runs:
        raise InputError("no run was named", hint="Name files of runs after the qrels")
    files = FilesRead(find_runs(args.runs))
    result = execute(
        args,
        _compute,
        files=files,
        check=partial(_check, args, files),
        report=lambda result, args: result.report(args.digits, args.percent),
        figure=lambda _, result: result.plot(),
    )
    if args.record is not None:
        write_record(args, result)


def _compute(args: Namespace, inputs: Inputs) -> Evaluated:
    chosen = measures_asked(args, inputs)
    view = {"by_query": args.by_query, "by": args.by, "macro": args.macro}
    result = evaluate(inputs.qrels, inputs.runs, chosen, **view)
    inputs.notes.extend(notes_on(result.columns, inputs.judgments))
    inputs.notes.extend(result.groups.notes() if result.groups else ())
    return replace(result, shows_judged=not args.no_judged)


def _check(args: Namespace, files: FilesRead, form: str) -> None:
    check_record(args, files.paths)
    _check_together(args, form)


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
