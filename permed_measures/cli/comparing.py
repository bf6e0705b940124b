"""Commands that compare runs: compare, reranking."""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from permed_measures.cli import arguments
from permed_measures.cli.messages import tell, warnings_as_notes
from permed_measures.errors import InputError
from permed_measures.files.whole import write_whole
from permed_measures.reports.comparison import COMPARISON_ENDINGS, COMPARISON_FORMATS
from permed_measures.statistics.significance import CORRECTIONS

Correction = StrEnum("Correction", {name: name for name in CORRECTIONS})  # type: ignore[misc]
Format = StrEnum("Format", {name: name for name in COMPARISON_FORMATS})  # type: ignore[misc]

_ENDINGS = ", ".join(COMPARISON_ENDINGS)


def compare(
    context: typer.Context,
    qrels: arguments.Qrels,
    runs: arguments.Runs,
    baseline: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The run to compare with; by default every pair is compared."),
    ] = None,
    measures: arguments.MeasureNames = None,
    preset: arguments.PresetName = None,
    by: Annotated[
        str | None,
        typer.Option(metavar="FIELD|REGEX", help="Compare by group of queries too, as evaluate does."),
    ] = None,
    clusters: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD|REGEX|none",
            help="Queries that belong together. By default the conversation_id of a data set that has it.",
        ),
    ] = None,
    correction: Annotated[Correction, typer.Option(help="Multiple-testing correction.")] = Correction("holm"),  # noqa: B008
    resamples: Annotated[
        int, typer.Option(help="Number of resamples of the randomization test and the bootstrap.", min=1)
    ] = 10_000,
    seed: Annotated[int, typer.Option(help="Random seed of the resamples.", min=0)] = 0,
    level: Annotated[float, typer.Option(help="Level of the confidence intervals.")] = 0.95,
    format_: Annotated[
        Format | None, typer.Option("--format", help="Output format; by default a table.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            help=f"Write to this file. Its ending ({_ENDINGS}) chooses the format, unless --format does."
        ),
    ] = None,
    order: arguments.Order = "score",
    query_ids: arguments.QueryIds = None,
) -> None:
    """Compare runs: differences, intervals and tests, as a table for a terminal, a paper or a browser.

    A folder of runs gives one table. Turns of a conversation are not independent: for a data set with
    conversations, tests and intervals resample whole conversations.
    """
    from permed_measures.comparisons.compare import compare as pm_compare

    files = arguments.find_runs(runs)
    form = str(format_) if format_ else _format_of(output)
    if output is not None:  # checked before the work is done
        _check_output(output, [Path(qrels), *files.values()])
    with arguments.reading(qrels, files, order, query_ids) as inputs:
        chosen = arguments.chosen_measures(preset, measures) or arguments.default_measures(inputs)
        result = pm_compare(
            inputs.qrels if inputs.dataset is None else inputs.dataset,
            inputs.runs,
            chosen,
            baseline,
            clusters,
            str(correction),
            resamples=resamples,
            seed=seed,
            level=level,
            by=by,
        )
    result = replace(result, origin=arguments.origin_of(context, files))
    # A file is as wide as it needs to be, and has no bold letters.
    with warnings_as_notes(), redirect_stdout(sys.stdout if output is None else io.StringIO()):
        text = COMPARISON_FORMATS[form](result)
    if output is None:
        print(text, end="")
        return
    write_whole(output, text.encode(errors="backslashreplace"))
    tell(f"{output}: {form} of {len(files):,} runs")


def _format_of(output: Path | None) -> str:
    ending = output.suffix.lower() if output else ".txt"
    if ending not in COMPARISON_ENDINGS:
        raise InputError(
            f"the ending {ending!r} means no format",
            where=str(output),
            hint=f"End the name in {_ENDINGS}, or choose the format: --format",
        )
    return COMPARISON_ENDINGS[ending]


def _check_output(output: Path, read: list[Path]) -> None:
    if not output.parent.is_dir():
        raise InputError(f"there is no folder {str(output.parent)!r} to write into", where=str(output))
    if output.is_file() and any(path.is_file() and output.samefile(path) for path in read):
        raise InputError("the output would overwrite the qrels or a run", where=str(output))


def reranking(
    qrels: arguments.Qrels,
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="The run that was reranked.")],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="The reranked run.")],
    measure: Annotated[
        str, typer.Option("-m", "--measure", metavar="MEASURE", help="The measure of gains and losses.")
    ] = "nDCG@10",
    top: Annotated[
        int, typer.Option(help="Number of queries to list with the largest gains and losses.", min=0)
    ] = 5,
    rel: Annotated[float, typer.Option(help="The lowest grade of a relevant document.")] = 1,
    judged_only: Annotated[
        bool, typer.Option("--judged-only", help="Count pairs of judged documents only.")
    ] = False,
    order: arguments.Order = "score",
    query_ids: arguments.QueryIds = None,
) -> None:
    """Show what a reranking changed: ranks of relevant documents, pairs of documents, queries."""
    from permed_measures.comparisons.reranking import reranking as pm_reranking

    with arguments.reading(qrels, {"before": before, "after": after}, order, query_ids) as inputs:
        runs = inputs.runs["before"], inputs.runs["after"]
        result = pm_reranking(inputs.judgments, *runs, measure, inputs.dataset, top, rel, judged_only)
    print(result)
