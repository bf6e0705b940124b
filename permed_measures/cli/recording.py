"""Commands that keep numbers true: verify, gate, leaderboard."""

from __future__ import annotations

import os
from collections import ChainMap
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from permed_measures.cli import arguments
from permed_measures.cli.messages import tell, warnings_as_notes
from permed_measures.errors import InputError
from permed_measures.markup import counted


def verify(
    records: Annotated[list[Path], typer.Argument(metavar="RECORD...", help="Records, or folders of them.")],
    qrels: Annotated[
        str | None, typer.Option(metavar="QRELS", help="The qrels, if they are not where the record says.")
    ] = None,
    run: Annotated[
        list[str] | None,
        typer.Option(metavar="RUN", help="A run, if it is not where the record says: FILE or NAME=FILE."),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            help="Where the paths of a record begin, or its files are; by default the folder of the record. "
            "Files outside it are not read.",
            exists=True,
            file_okay=False,
        ),
    ] = None,
    format_: arguments.Format = None,
) -> None:
    """Compute the numbers of records again, and say what differs, and what cannot be checked.

    Exit status 1 if anything differs, 2 if a record cannot be read or its files are not found.
    """
    from permed_measures.records.verify import verified, verify_all

    given = _runs_of(run)
    with warnings_as_notes():
        found = list(verify_all(records, qrels, given, folder))
    if records == [Path(each.name) for each in found if not each.is_read]:
        raise InputError(found[0].error, where=found[0].name)
    print(verified(found).to(format_ or "table"), end="")
    if not all(each.ok for each in found):
        raise typer.Exit(1 if all(each.is_read for each in found) else 2)


def _runs_of(given: list[str] | None) -> Any:
    """Return the runs by name, or the one that has none."""
    from permed_measures.cli.inputs import find_runs

    if not given:
        return None
    files = find_runs(given)
    is_named = "=" in given[0] and not Path(given[0]).exists()
    return files if is_named or len(files) > 1 else next(iter(files.values()))


def gate(
    qrels: arguments.Qrels,
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run file.")],
    minimum: Annotated[
        list[str] | None,
        typer.Option("--min", metavar="MEASURE=X", help="The least mean of a measure. Can be repeated."),
    ] = None,
    baseline: Annotated[
        Path | None, typer.Option(help="A run, or a record of one, that the run may not fall below.")
    ] = None,
    max_drop: Annotated[
        list[str] | None,
        typer.Option("--max-drop", metavar="MEASURE=X", help="How far a mean may fall. Can be repeated."),
    ] = None,
    significant: Annotated[
        bool | None,
        typer.Option(
            "--significant",
            help="A drop beyond --max-drop counts only if it is significant too. That it is not significant "
            "does not show that it is small: see --non-inferior.",
        ),
    ] = None,
    non_inferior: Annotated[
        bool | None,
        typer.Option(
            "--non-inferior",
            help="Pass only with evidence: if the 95 % interval of the change lies above minus --max-drop.",
        ),
    ] = None,
    clusters: arguments.Clusters = None,
    rules: Annotated[
        Path | None,
        typer.Option(
            help="A TOML file of rules; without any rule here, the table tool.permed-measures.gate "
            "of pyproject.toml."
        ),
    ] = None,
    summary: Annotated[
        Path | None,
        typer.Option(help="Append the table in Markdown to this file, and to $GITHUB_STEP_SUMMARY if set."),
    ] = None,
    format_: arguments.Format = None,
    order: arguments.Order = "score",
    query_ids: arguments.QueryIds = None,
) -> None:
    """Check floors, and drops below a baseline; exit status 1 if a rule is broken.

    Rules that are given here come before those of a file.
    """
    from permed_measures.cli.inputs import named_run, reading
    from permed_measures.records.gate import gate as pm_gate
    from permed_measures.records.rules import read_rules

    given: dict[str, Any] = {
        "min": _limits(minimum),
        "max-drop": _limits(max_drop),
        "baseline": baseline and str(baseline),
    }
    given |= {"significant": significant, "non-inferior": non_inferior, "clusters": clusters}
    given = {name: value for name, value in given.items() if value not in (None, {})}
    project = Path("pyproject.toml")
    if rules is None and not {"min", "max-drop"} & given.keys() and project.is_file():
        rules = project
        tell(f"note: rules of [tool.permed-measures.gate] in {project}")
    asked = {**(read_rules(rules) if rules else {}), **given}
    if not {"min", "max-drop"} & asked.keys():
        hint = "Give --min MEASURE=X, or --baseline FILE with --max-drop MEASURE=X"
        raise InputError("there is no rule to check", hint=hint)
    if "max-drop" in asked and "baseline" not in asked:
        raise InputError("--max-drop needs --baseline", hint="Name a run, or a record of one")
    asked["minimum"] = asked.pop("min", None)
    [(name, file)] = [named_run(run, Path(run).name)]
    with reading(qrels, {name: file}, order, query_ids) as inputs:
        dataset = inputs.source
        options = {key.replace("-", "_"): value for key, value in asked.items()}
        options |= {"order": order, "query_ids": query_ids}
        found = pm_gate(dataset, inputs.runs[name], **options)
    print(found.to(format_ or "table"), end="")
    for place in (
        summary,
        Path(os.environ["GITHUB_STEP_SUMMARY"]) if os.environ.get("GITHUB_STEP_SUMMARY") else None,
    ):
        if place is not None:
            with place.open("a", encoding="utf-8") as file_:
                file_.write(found.to("markdown"))
    if not found.ok:
        raise typer.Exit(1)


def _limits(given: list[str] | None) -> dict[str, float]:
    """Return the limits by measure; the last = is before the number."""
    limits: dict[str, float] = {}
    for text in given or ():
        measure, _, number = text.rpartition("=")
        try:
            limits[measure.strip()] = float(number)
        except ValueError:
            raise InputError(f"a rule is MEASURE=X, such as nDCG@10=0.8 (found {text!r})") from None
        if not measure.strip():
            raise InputError(f"a rule is MEASURE=X, such as nDCG@10=0.8 (found {text!r})")
    return limits


def leaderboard(
    context: typer.Context,
    qrels: arguments.Qrels,
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN...", help="Runs, records of runs, or folders of them: FILE or NAME=FILE."
        ),
    ],
    measures: arguments.MeasureNames = None,
    preset: arguments.PresetName = None,
    rel: arguments.Rel = None,
    clusters: arguments.Clusters = None,
    resamples: arguments.Resamples = 50_000,
    seed: arguments.Seed = 0,
    format_: arguments.Format = None,
    output: arguments.Output = None,
    digits: arguments.Digits = None,
    caption: arguments.Caption = None,
    columns: arguments.Columns = None,
    order: arguments.Order = "score",
    query_ids: arguments.QueryIds = None,
) -> None:
    """Order runs by the first measure, and test which are below the first; records need no run files."""
    from permed_measures.cli.inputs import columns_of, find_runs, measures_asked, origin_of, reading
    from permed_measures.cli.output import format_of, put_report
    from permed_measures.records.leaderboard import leaderboard as pm_leaderboard
    from permed_measures.records.record import is_record

    files = find_runs(runs)
    headings, texts = columns_of(columns)
    form = format_of(format_, output, [Path(qrels), *files.values()], digits, caption, headings)
    records = {name: path for name, path in files.items() if is_record(path)}
    with reading(
        qrels, {name: files[name] for name in files if name not in records}, order, query_ids
    ) as inputs:
        chosen = measures_asked(preset, measures, rel, inputs)
        dataset = inputs.source
        both: ChainMap[str, Any] = ChainMap(records, inputs.runs)  # type: ignore[arg-type]
        how = (clusters, texts, resamples, seed, order, query_ids)
        board = pm_leaderboard(dataset, both, chosen, *how)
    report = replace(board, origin=origin_of(context, files)).report(digits, headings, caption or "")
    put_report(report, form, output, counted(len(board.entries), "run"))
