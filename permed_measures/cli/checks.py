"""Commands that check numbers: crosscheck, audit."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from permed_measures.audits.claim_files import read_claims
from permed_measures.cli.arguments import Order, RunFiles, find_runs, load_qrels
from permed_measures.cli.messages import warnings_as_notes
from permed_measures.cli.options import (
    ByOrder,
    MeasureNames,
    PresetName,
    Qrels,
    QueryIds,
    Runs,
    chosen_measures,
)
from permed_measures.cli.progress import progress
from permed_measures.engine.judgments import Judgments
from permed_measures.markup import one_line


class AuditFormat(StrEnum):
    """Output formats of audit."""

    TABLE = "table"
    JSON = "json"
    MARKDOWN = "markdown"


def crosscheck(
    qrels: Qrels,
    runs: Runs,
    measures: MeasureNames = None,
    preset: PresetName = None,
    order: ByOrder = Order.SCORE,
    query_ids: QueryIds = None,
) -> None:
    """Compare our values with pytrec_eval's, query by query; exit status 1 if any differs.

    By default, the measures of the presets and others that papers often report are compared. Measures that
    pytrec_eval does not have are compared by an identity, which the table shows.
    """
    from permed_measures.crosschecks.check import crosscheck as pm_crosscheck

    files = find_runs(runs)
    with warnings_as_notes(), progress() as bar:
        judged = load_qrels(qrels).qrels
        check = partial(pm_crosscheck, judged, measures=chosen_measures(preset, measures))
        results = RunFiles(files, Judgments.of(judged), order, query_ids, bar).map(check)
    for name, result in results.items():
        print(f"{one_line(name)}\n\n{result}\n")
    if not all(result.ok for result in results.values()):
        raise typer.Exit(1)


def audit(
    qrels: Qrels,
    runs: Runs,
    claim: Annotated[
        list[str] | None,
        typer.Option("--claim", help="A published number, such as 'MAP@10=0.5357'. Can be repeated."),
    ] = None,
    claims: Annotated[
        Path | None,
        typer.Option("--claims", help="A CSV file with a row for each run: its name, then the numbers."),
    ] = None,
    decimals: Annotated[
        int | None, typer.Option(help="Number of digits after the point, as published.", min=0, max=15)
    ] = None,
    format_: Annotated[AuditFormat, typer.Option("--format", help="Output format.")] = AuditFormat.TABLE,
    order: ByOrder = Order.SCORE,
    query_ids: QueryIds = None,
) -> None:
    """Find the conventions that give published numbers; exit status 1 if none explains all of them.

    Measures can be written in many ways: map@10, NDCG_cut_10, mrr, hit@10, coverage@10. Numbers above 1 or
    with % are percentages.
    """
    from permed_measures.audits.audit import audit as pm_audit
    from permed_measures.audits.reports import AUDIT_FORMATS

    files = find_runs(runs)
    rows = read_claims(claims, claim or [], list(files))
    with warnings_as_notes(), progress() as bar:
        judged = load_qrels(qrels).qrels
        run_files = RunFiles(files, Judgments.of(judged), order, query_ids, bar)
        result = pm_audit(judged, run_files, rows, decimals)
    print(AUDIT_FORMATS[format_](result), end="")
    if not result.ok:
        raise typer.Exit(1)
