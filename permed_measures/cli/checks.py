"""Commands that check numbers: crosscheck, audit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from permed_measures.cli import arguments
from permed_measures.markup import counted


def crosscheck(
    context: typer.Context,
    qrels: arguments.Qrels,
    runs: arguments.Runs,
    measures: arguments.MeasureNames = None,
    preset: arguments.PresetName = None,
    rel: arguments.Rel = None,
    format_: arguments.Format = None,
    output: arguments.Output = None,
    order: arguments.Order = "score",
    query_ids: arguments.QueryIds = None,
) -> None:
    """Compare our values with pytrec_eval's, query by query; exit status 1 if any differs.

    By default, the measures of the presets and others that papers often report are compared, as far as
    pytrec_eval has them.
    """
    from permed_measures.cli.inputs import chosen_measures, find_runs, origin_of, reading
    from permed_measures.cli.output import format_of, put_report
    from permed_measures.crosschecks import crosscheck as pm_crosscheck
    from permed_measures.crosschecks import crosscheck_report
    from permed_measures.engine.evaluator import PermedEvaluator

    files = find_runs(runs)
    form = format_of(format_, output, [Path(qrels), *files.values()])
    with reading(qrels, files, order, query_ids) as inputs:
        chosen = chosen_measures(preset, measures, rel, inputs)
        inputs.notes.extend(PermedEvaluator(chosen or [], inputs.judgments).notes())
        results = {name: pm_crosscheck(inputs.qrels, inputs.runs[name], chosen, rel) for name in files}
    report = crosscheck_report(results, origin_of(context, files))
    put_report(report, form, output, counted(len(files), "run"))
    if not all(result.ok for result in results.values()):
        raise typer.Exit(1)


def audit(
    context: typer.Context,
    qrels: arguments.Qrels,
    runs: arguments.Runs,
    claim: arguments.Claim = None,
    claims: arguments.Claims = None,
    decimals: arguments.Decimals = None,
    format_: arguments.Format = None,
    output: arguments.Output = None,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", help="Add how surely, alternatives, what these data cannot tell apart, and formulas."
        ),
    ] = False,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD|REGEX", help="Try means by group too; conversations and turns need no option."
        ),
    ] = None,
    order: arguments.Order = "score",
    query_ids: arguments.QueryIds = None,
) -> None:
    """Find the conventions that give published numbers; exit status 1 if none explains all of them.

    Measures can be written in many ways: map@10, NDCG_cut_10, mrr, hit@10, coverage@10. Numbers above 1 or
    with % are percentages.
    """
    from permed_measures.audits.audit import audit as pm_audit
    from permed_measures.cli.inputs import find_runs, origin_of, reading
    from permed_measures.cli.output import format_of, put_report
    from permed_measures.papers.tables import read_claims

    files = find_runs(runs)
    others = [claims] if claims else []
    form = format_of(format_, output, [Path(qrels), *files.values(), *others])
    rows = read_claims(claims, claim or [], list(files))
    with reading(qrels, files, order, query_ids, may_repeat=True) as inputs:
        result = pm_audit(inputs.qrels, inputs.runs, rows, decimals, by=by)
    origin = replace(origin_of(context, files), others={"claims": claims} if claims else {})
    report = replace(result, origin=origin).report(explain or form == "html")
    put_report(report, form, output, counted(len(files), "run"))
    if not result.ok:
        raise typer.Exit(1)
