"""Arguments and options that several commands have."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer
from ir_measures.measures import Measure

from permed_measures.cli.arguments import Order, Rewriting
from permed_measures.cli.messages import tell
from permed_measures.engine.judgments import Judgments
from permed_measures.measures.definitions import LITSEARCH, MEDCORPUS
from permed_measures.measures.parsing import parse_measure

PRESETS = {"medcorpus": MEDCORPUS, "litsearch": LITSEARCH}

Preset = StrEnum("Preset", {name: name for name in PRESETS})  # type: ignore[misc]

Qrels = Annotated[
    str,
    typer.Argument(help="A qrels file, a data set id of ir_datasets, or the folder of a data set."),
]
Runs = Annotated[
    list[str], typer.Argument(metavar="RUN...", help="Run files, or folders of them: FILE or NAME=FILE.")
]
MeasureNames = Annotated[
    list[str] | None,
    typer.Option("-m", "--measure", help="A measure, such as GradedAP@10. Can be repeated."),
]
PresetName = Annotated[Preset | None, typer.Option("--preset", help="The measures of a benchmark.")]
ByOrder = Annotated[
    Order, typer.Option("--order", help="Rank lists by their scores, or take the order of the list.")
]
QueryIds = Annotated[
    Rewriting | None,
    typer.Option("--query-ids", help="Rewrite the query ids of the runs so that they match the qrels."),
]


def chosen_measures(preset: Preset | None, measures: list[str] | None) -> list[Measure] | None:
    """Return the measures of the preset, then those named one by one; None if there are none."""
    chosen = [*(PRESETS[preset] if preset else ()), *(measures or ())]
    return list(dict.fromkeys(map(parse_measure, chosen))) or None


def default_measures(judgments: Judgments) -> list[Measure]:
    """Return the measures of the benchmark whose grades these are."""
    name = "medcorpus" if len(judgments.grade) and judgments.grade.max() > 1 else "litsearch"
    tell(f"note: no measure was named; using those of --preset {name}")
    return list(PRESETS[name])
