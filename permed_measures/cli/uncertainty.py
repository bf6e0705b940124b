"""The command that says how sure a number is: uncertainty."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from permed_measures.cli import arguments
from permed_measures.errors import InputError
from permed_measures.markup import counted


def uncertainty(
    context: typer.Context,
    qrels: arguments.Qrels,
    runs: arguments.Runs,
    measures: arguments.MeasureNames = None,
    preset: arguments.PresetName = None,
    rel: arguments.Rel = None,
    clusters: arguments.Clusters = None,
    label_error: Annotated[
        str | None,
        typer.Option(
            metavar="P|QRELS",
            help="The probability that a label is wrong, or other qrels of some of the documents.",
        ),
    ] = None,
    grades: Annotated[
        str | None,
        typer.Option(
            metavar="G,G",
            help="The grades that an unjudged document may have; by default all from 0 to the highest.",
        ),
    ] = None,
    draws: Annotated[int, typer.Option(help="How often the labels are drawn.", min=1)] = 1000,
    seed: arguments.Seed = 0,
    level: arguments.Level = 0.95,
    format_: arguments.Format = None,
    output: arguments.Output = None,
    digits: arguments.Digits = None,
    order: arguments.Order = "score",
    query_ids: arguments.QueryIds = None,
) -> None:
    """Show how sure each mean is: other topics, ties, unjudged documents, wrong labels.

    The topics of a data set with conversations count by whole conversations.
    """
    from permed_measures.cli.inputs import find_runs, measures_asked, origin_of, reading
    from permed_measures.cli.output import format_of, put_report
    from permed_measures.uncertainties.uncertainty import uncertainty as pm_uncertainty

    files = find_runs(runs)
    form = format_of(format_, output, [Path(qrels), *files.values()], digits)
    other = _label_error(label_error)
    with reading(qrels, files, order, query_ids) as inputs:
        result = pm_uncertainty(
            inputs.source,
            inputs.runs,
            measures_asked(preset, measures, rel, inputs),
            clusters,
            other,
            draws,
            seed,
            _grades(grades),
            level,
        )
    report = replace(result, origin=origin_of(context, files)).report(digits)
    put_report(report, form, output, counted(len(files), "run"))


def _label_error(text: str | None) -> float | str | None:
    """Return a probability, or the qrels that were named."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def _grades(text: str | None) -> list[float] | None:
    """Return the numbers between commas."""
    if text is None:
        return None
    try:
        return [float(each) for each in text.split(",")]
    except ValueError:
        raise InputError(
            f"grades must be numbers with commas between (found {text!r})", hint="Such as 0,1,2"
        ) from None
