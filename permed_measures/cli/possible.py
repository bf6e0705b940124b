"""The command that needs no run: possible."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from permed_measures.cli import arguments
from permed_measures.markup import counted


def possible(
    context: typer.Context,
    qrels: arguments.Qrels,
    claim: arguments.Claim = None,
    claims: arguments.Claims = None,
    decimals: arguments.Decimals = None,
    queries: Annotated[
        int | None,
        typer.Option(
            help="Number of queries of the means, if those that the run lacks were left out.", min=1
        ),
    ] = None,
    format_: arguments.Format = None,
    output: arguments.Output = None,
    every: Annotated[
        bool, typer.Option("--all", help="Show every convention in a line; CSV and JSON always have them.")
    ] = False,
) -> None:
    """Say which conventions cannot have given a published row, whatever the run; exit status 1 if none can.

    Each number limits the others: this needs the qrels, and no run. Exit status 0 if for every row some
    convention is not refuted, 1 if all are for one.
    """
    from permed_measures.cli.inputs import origin_of, reading
    from permed_measures.cli.output import format_of, put_report
    from permed_measures.limits.possible import possible as pm_possible
    from permed_measures.papers.tables import read_claims

    form = format_of(format_, output, [Path(qrels), *([claims] if claims else [])])
    rows = read_claims(claims, claim or [], ["row"])
    with reading(qrels, {}, "score", None) as inputs:
        result = pm_possible(inputs.qrels, rows, decimals, queries=queries)
    origin = replace(origin_of(context, {}), others={"claims": claims} if claims else {})
    report = replace(result, origin=origin).report(every)
    put_report(report, form, output, counted(len(result.rows), "row"))
    if not result.ok:
        raise typer.Exit(1)
