"""The command that needs no run: possible."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

import typer

from permed_measures.cli import arguments

Format = Literal["table", "json", "markdown"]


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
    format_: Annotated[Format, arguments.format_option(Format)] = "table",
    every: Annotated[
        bool, typer.Option("--all", help="Show every convention in a line; JSON always has them.")
    ] = False,
) -> None:
    """Say which conventions cannot have given a published row, whatever the run; exit status 1 if none can.

    Each number limits the others: this needs the qrels, and no run. Exit status 0 if for every row some
    convention is not refuted, 1 if all are for one.
    """
    from permed_measures.audits.claim_files import read_claims
    from permed_measures.cli.inputs import origin_of, reading
    from permed_measures.limits.possible import possible as pm_possible
    from permed_measures.limits.reports import POSSIBLE_FORMATS

    rows = read_claims(claims, claim or [], ["row"])
    with reading(qrels, {}, "score", None) as inputs:
        result = pm_possible(inputs.qrels, rows, decimals, queries=queries)
    origin = replace(origin_of(context, {}), others={"claims": claims} if claims else {})
    print(POSSIBLE_FORMATS[format_](replace(result, origin=origin), every), end="")
    if not result.ok:
        raise typer.Exit(1)
