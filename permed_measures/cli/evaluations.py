"""The command evaluate."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from permed_measures.cli import arguments
from permed_measures.cli.messages import tell
from permed_measures.errors import InputError
from permed_measures.markup import counted

Format = Literal["table", "markdown", "latex", "html", "csv", "tsv", "jsonl", "json"]
_WITHOUT_NOTES = ("csv", "tsv", "jsonl")


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
    format_: Annotated[Format | None, arguments.format_option(Format)] = None,
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
    from permed_measures.cli.inputs import (
        chosen_measures,
        columns_of,
        default_measures,
        find_runs,
        origin_of,
        reading,
    )
    from permed_measures.cli.output import (
        format_of,
        put,
        refuse_caption,
        refuse_digits,
        refuse_headings,
        refuse_record,
        write_record,
    )
    from permed_measures.engine.evaluator import PermedEvaluator
    from permed_measures.engine.groups import Groups
    from permed_measures.results.evaluation_report import evaluation_report
    from permed_measures.results.evaluations import Evaluations, with_judged
    from permed_measures.results.report import FORMATS
    from permed_measures.results.run_notes import run_notes

    if by is not None and by_query:
        raise InputError("--by and --by-query exclude each other", hint="Leave out one of them")
    if macro and by is None:
        raise InputError("--macro needs --by", hint="Name the groups, such as --by conversation_id")
    files = find_runs(runs)
    refuse_record(record, output, [Path(qrels), *files.values()])
    form = format_of(format_, output, FORMATS, [Path(qrels), *files.values()])
    refuse_caption(caption, form)
    refuse_digits(digits, form)
    headings, texts = columns_of(columns)
    if texts and (by_query or by is not None):
        hint = "Leave out --by and --by-query"
        raise InputError("a file of --columns goes with one row for each run", hint=hint)
    refuse_headings(headings, form)
    with reading(qrels, files, order, query_ids) as inputs:
        judgments = inputs.judgments
        groups = Groups.of(judgments.query_ids, by, inputs.dataset) if by is not None else None
        chosen = chosen_measures(preset, measures, rel, inputs)
        chosen = chosen or default_measures(rel, inputs)
        evaluator = PermedEvaluator(with_judged(chosen), judgments)
        inputs.notes.extend(evaluator.notes())

        evaluations, notes = {}, {}
        for name in files:
            run = inputs.runs[name]
            found = evaluator.evaluate(run)
            notes[name] = run_notes(name, found.rankings)
            rankings = replace(found.rankings)  # without what the measures shared
            evaluations[name] = replace(found, rankings=rankings)
    for note in groups.notes() if groups else ():
        tell(f"note: {note}")
    origin = origin_of(context, files)
    result = Evaluations(chosen, evaluations, by_query, groups, macro, origin, texts, notes)
    report = evaluation_report(result, digits, headings, caption or "")
    for note in [*result.all_notes(), *report.notes] if form in _WITHOUT_NOTES else ():
        tell(f"note: {note}")
    put(lambda: report.to(form), output, f"{form} of {counted(len(files), 'run')}")
    if record is not None:
        how = {"by": by, "macro": macro, "order": order, "query_ids": query_ids}
        write_record(record, result, how)
