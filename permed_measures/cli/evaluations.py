"""The command evaluate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from permed_measures.cli import arguments
from permed_measures.cli.messages import tell
from permed_measures.errors import InputError
from permed_measures.markup import counted


def evaluate(
    context: typer.Context,
    qrels: arguments.Qrels,
    runs: arguments.Runs,
    measures: arguments.MeasureNames = None,
    preset: arguments.PresetName = None,
    rel: arguments.Rel = None,
    by_query: Annotated[bool, typer.Option("--by-query", help="Print the values of each query.")] = False,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD|REGEX",
            help="Print the mean of each group of queries, by turn_number, conversation_id, specificity or "
            "another FIELD of a data set's queries, or by what a REGEX with one group finds in their ids.",
        ),
    ] = None,
    macro: Annotated[
        bool, typer.Option("--macro", help="With --by: print the mean of the groups' means, not each group.")
    ] = False,
    order: arguments.Order = "score",
    query_ids: arguments.QueryIds = None,
    format_: arguments.Format = None,
    output: arguments.Output = None,
    digits: arguments.Digits = None,
    caption: arguments.Caption = None,
    columns: arguments.Columns = None,
    record: arguments.RecordTo = None,
) -> None:
    """Evaluate runs: a row per run, with the share of judged documents and the best possible values.

    Files can be TREC, BEIR, MTEB, MedCorpus, PerMed, LitSearch, CSV or Parquet files; the format is
    recognised by the content.
    """
    from permed_measures.cli.inputs import columns_of, find_runs, measures_asked, origin_of, reading
    from permed_measures.cli.output import format_of, put_report, refuse_record, write_record
    from permed_measures.engine.evaluator import PermedEvaluator
    from permed_measures.engine.groups import Groups
    from permed_measures.results.evaluation_report import evaluation_report
    from permed_measures.results.evaluations import Evaluations, evaluated, with_judged

    files = find_runs(runs)
    read = [Path(qrels), *files.values()]
    refuse_record(record, output, read)
    headings, texts = columns_of(columns)
    form = format_of(format_, output, read, digits, caption, headings)
    _refuse_together(by, by_query, macro, bool(texts))
    with reading(qrels, files, order, query_ids) as inputs:
        groups = Groups.of(inputs.judgments.query_ids, by, inputs.dataset) if by is not None else None
        chosen = measures_asked(preset, measures, rel, inputs)
        evaluator = PermedEvaluator(with_judged(chosen), inputs.judgments)
        inputs.notes.extend(evaluator.notes())
        evaluations, notes = evaluated(evaluator, inputs.runs)
    for note in groups.notes() if groups else ():
        tell(f"note: {note}")
    origin = origin_of(context, files)
    result = Evaluations(chosen, evaluations, by_query, groups, macro, origin, texts, notes)
    report = evaluation_report(result, digits, headings, caption or "")
    put_report(report, form, output, counted(len(files), "run"), result.all_notes())
    if record is not None:
        how = {"by": by, "macro": macro, "order": order, "query_ids": query_ids}
        write_record(record, result, how)


def _refuse_together(by: str | None, by_query: bool, macro: bool, has_texts: bool) -> None:
    """Refuse options that do not go together."""
    by_groups = by is not None
    for wrong, problem, hint in (
        (by_groups and by_query, "--by and --by-query exclude each other", "Leave out one of them"),
        (macro and not by_groups, "--macro needs --by", "Name the groups, such as --by conversation_id"),
        (
            has_texts and (by_query or by_groups),
            "a file of --columns goes with one row for each run",
            "Leave out --by and --by-query",
        ),
    ):
        if wrong:
            raise InputError(problem, hint=hint)
