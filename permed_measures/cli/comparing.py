"""Commands that compare runs: compare, reranking."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from permed_measures.cli import arguments
from permed_measures.errors import InputError

if TYPE_CHECKING:
    from permed_measures.cli.inputs import Inputs
    from permed_measures.comparisons.compare import Comparison
    from permed_measures.results.evaluations import Evaluations

Correction = Literal["max-t", "holm", "bonferroni", "benjamini-hochberg", "none"]
TESTS = ("randomization", "t-test", "wilcoxon")
Test = StrEnum("Test", {name: name for name in TESTS})  # type: ignore[misc]  # typer has no lists of Literal


def compare(
    context: typer.Context,
    qrels: arguments.Qrels,
    runs: arguments.Runs,
    measures: arguments.MeasureNames = None,
    preset: arguments.PresetName = None,
    rel: arguments.Rel = None,
    baseline: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="The run to compare with; can be repeated. By default every pair is compared.",
            rich_help_panel=arguments.STATISTICS,
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD|REGEX",
            help="Compare by group of queries too, as evaluate does.",
            rich_help_panel=arguments.STATISTICS,
        ),
    ] = None,
    clusters: arguments.Clusters = None,
    correction: Annotated[
        Correction | None,
        typer.Option(
            metavar="NAME",
            help="Multiple-testing correction: max-t (by default), holm, bonferroni, benjamini-hochberg "
            "or none.",
            rich_help_panel=arguments.STATISTICS,
        ),
    ] = None,
    tests: Annotated[
        list[Test] | None,
        typer.Option(
            metavar="NAME",
            help="A test to run: randomization (by default), t-test or wilcoxon. Can be repeated.",
            rich_help_panel=arguments.STATISTICS,
        ),
    ] = None,
    format_: arguments.Format = None,
    output: arguments.Output = None,
    family: Annotated[
        Literal["all", "measure"],
        typer.Option(
            metavar="all|measure",
            help="Which p-values are corrected together: all (by default), or those of a measure.",
            show_default=False,
            rich_help_panel=arguments.ADVANCED,
        ),
    ] = "all",
    equivalence_margin: Annotated[
        float | None,
        typer.Option(
            metavar="D",
            help="Also test whether a difference is within ± D.",
            rich_help_panel=arguments.ADVANCED,
        ),
    ] = None,
    detect: Annotated[
        float | None,
        typer.Option(
            metavar="D",
            help="Report how many queries (or clusters) a difference of D needs.",
            rich_help_panel=arguments.ADVANCED,
        ),
    ] = None,
    resamples: arguments.Resamples = 50_000,
    seed: arguments.Seed = 0,
    level: arguments.Level = 0.95,
    columns: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A CSV file of other columns: run,method,latency.",
            rich_help_panel=arguments.ADVANCED,
        ),
    ] = None,
    p_imp: Annotated[
        int | None,
        typer.Option(
            "--p-imp",
            metavar="K",
            help="Add P-imp@K: pairs that a run puts right.",
            min=1,
            rich_help_panel=arguments.ADVANCED,
        ),
    ] = None,
    digits: arguments.Digits = None,
    caption: arguments.Caption = None,
    order: arguments.Order = "score",
    query_ids: arguments.QueryIds = None,
    record: arguments.RecordTo = None,
) -> None:
    """Compare runs: differences, intervals and tests, as a table, a page or a figure.

    A folder of runs gives one table. Turns of a conversation are not independent: for a data set with
    conversations, tests and intervals resample whole conversations.
    """
    from permed_measures.cli.inputs import find_runs, measures_asked, origin_of, reading
    from permed_measures.cli.output import (
        FIGURE,
        format_of,
        put_figure,
        put_report,
        refuse_record,
        write_record,
    )
    from permed_measures.comparisons.compare import compare as pm_compare
    from permed_measures.comparisons.plots.style import matplotlib
    from permed_measures.datasets.loading import existing
    from permed_measures.files.columns import read_columns
    from permed_measures.results.own_columns import check_texts
    from permed_measures.results.report import FORMATS

    files = find_runs(runs)
    read = [Path(qrels), *files.values()]
    refuse_record(record, output, read)
    if p_imp is not None and len(baseline or ()) != 1:
        raise InputError("--p-imp needs one --baseline", hint="Name the run that the others rerank")
    texts = read_columns(existing(columns)) if columns else {}
    check_texts(texts, files)
    form = format_of(format_, output, read, digits, caption, formats=[*FORMATS, FIGURE])
    if form in ("html", FIGURE):
        matplotlib()  # before any work: an error where it is missing
    asked: dict[str, Any] = {"baseline": baseline, "clusters": clusters, "correction": correction}
    asked |= {"tests": [*map(str, tests or TESTS[:1])], "resamples": resamples, "seed": seed}
    asked |= {"level": level, "family": family, "detect": detect}
    asked |= {"equivalence_margin": equivalence_margin}
    with reading(qrels, files, order, query_ids) as inputs:
        chosen = measures_asked(preset, measures, rel, inputs)
        result = pm_compare(inputs.source, inputs.runs, chosen, by=by, **asked)
        recorded = _evaluated_again(inputs, result, by) if record else None
        if p_imp is not None and baseline:
            texts = with_p_imp(texts, p_imp, inputs, baseline[0])
    origin = origin_of(context, files)
    result = replace(result, origin=origin, digits=digits, texts=texts, caption=caption or "")
    if form == FIGURE and output is not None:
        put_figure(result, output)
    else:
        put_report(result.report(), form, output, f"{len(files):,} runs")
    if record is not None and recorded is not None:
        how: dict[str, Any] = {"by": by, "macro": False, "order": order, "query_ids": query_ids}
        how["comparison"] = {name: value for name, value in asked.items() if value not in (None, [], ())}
        write_record(record, replace(recorded, origin=origin), how, result)


def _evaluated_again(inputs: Inputs, result: Comparison, by: str | None) -> Evaluations:
    """Evaluate the runs for a record, which has the values of Judged too."""
    from permed_measures.engine.evaluator import PermedEvaluator
    from permed_measures.engine.groups import Groups
    from permed_measures.results.evaluations import Evaluations, evaluated, with_judged

    groups = Groups.of(result.paired.query_ids, by, inputs.dataset) if by else None
    evaluator = PermedEvaluator(with_judged(result.measures), inputs.judgments)
    evaluations, notes = evaluated(evaluator, inputs.runs)
    return Evaluations(result.measures, evaluations, groups=groups, notes=notes)


def with_p_imp(
    texts: dict[str, dict[str, str]], cutoff: int, inputs: Inputs, baseline: str
) -> dict[str, dict[str, str]]:
    """Add the column of P-imp: each run as a reranking of the baseline."""
    from permed_measures.comparisons.reranking import reranking as pm_reranking
    from permed_measures.results.own_columns import headings_of_texts, texts_of

    found = {}
    for name in inputs.runs:
        share = None
        if name != baseline:
            runs = inputs.runs[baseline], inputs.runs[name]
            changes = pm_reranking(inputs.judgments, *runs, cutoff=cutoff, names=(baseline, name))
            share = changes.early.share_put_right
        others = dict(zip(headings_of_texts(texts), texts_of(texts, name), strict=True))
        found[name] = {**others, f"P-imp@{cutoff}": "" if share is None else f"{share:.4f}"}
    return found


def reranking(
    context: typer.Context,
    qrels: arguments.Qrels,
    before: Annotated[
        str, typer.Argument(metavar="BEFORE", help="The run that was reranked: FILE or NAME=FILE.")
    ],
    after: Annotated[
        str | None,
        typer.Argument(
            metavar="AFTER",
            help="The reranked run. Left out, BEFORE is a LitSearch file that has pre_reranked too.",
            show_default=False,
        ),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(
            "-m",
            "--measure",
            metavar="MEASURE",
            help="The measure of gains and losses, nDCG@10 if left out; NAME=MEASURE gives it a heading.",
            show_default=False,
        ),
    ] = None,
    top: Annotated[
        int, typer.Option(help="Number of queries to list with the largest gains and losses.", min=0)
    ] = 5,
    rel: Annotated[
        float, typer.Option(help="The lowest relevant grade, also for a measure that does not name its own.")
    ] = 1,
    judged_only: Annotated[
        bool, typer.Option("--judged-only", help="Count pairs of judged documents only.")
    ] = False,
    cutoff: Annotated[
        int | None, typer.Option(metavar="K", help="K of P-imp@K; by default that of the measure.", min=1)
    ] = None,
    format_: arguments.Format = None,
    output: arguments.Output = None,
    order: arguments.Order = "score",
    query_ids: arguments.QueryIds = None,
) -> None:
    """Show what a reranking changed: ranks of relevant documents, pairs of documents, queries."""
    from permed_measures.cli.inputs import named_run, origin_of, reading, understood_measures
    from permed_measures.cli.output import format_of, put_report
    from permed_measures.comparisons.reranking import reranking as pm_reranking

    first, file = named_run(before, "before" if after else "pre_reranked")
    second, other = named_run(after, "after") if after else ("retrieved", file)
    files, names = {first: file, second: other}, (first, second)
    form = format_of(format_, output, [Path(qrels), file, other])
    level = None if rel == 1 else rel
    with reading(qrels, files, order, query_ids, "" if after else first) as inputs:
        runs = inputs.runs[first], inputs.runs[second]
        chosen = understood_measures([measure], level, inputs) if measure else "nDCG@10"
        result = pm_reranking(
            inputs.judgments, *runs, chosen, inputs.dataset, top, rel, judged_only, names, cutoff
        )
    result = replace(result, origin=origin_of(context, files))
    put_report(result.report(), form, output, "a reranking")
