"""The arguments and options that several commands share; light, so that help is quick."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer

MEASURES, STATISTICS, INPUT, OUTPUT = "Measures", "Statistics", "Reading the runs", "Output"
"""The groups of options in the help."""


def _measures_like(incomplete: str) -> list[str]:
    from permed_measures.engine.kernels import KERNELS

    return [name for name in KERNELS if name.startswith(incomplete)]


def format_option(formats: Any) -> Any:
    """Return the option that chooses one of the formats, a ``Literal``."""
    names = ", ".join(get_args(formats))
    return typer.Option("--format", metavar="FORMAT", help=f"One of {names}.", rich_help_panel=OUTPUT)


Qrels = Annotated[
    str,
    typer.Argument(
        metavar="QRELS",
        help="A qrels file, a data set id of ir_datasets, or the folder of a data set.",
        show_default=False,
    ),
]
Runs = Annotated[
    list[str],
    typer.Argument(
        metavar="RUN", help="Run files, or folders of them: FILE or NAME=FILE; - is standard input."
    ),
]

MeasureNames = Annotated[
    list[str] | None,
    typer.Option(
        "-m",
        "--measure",
        metavar="MEASURE",
        help="A measure: GradedAP@10, map, ndcg_cut_10. Can be repeated; NAME=MEASURE gives it a heading.",
        autocompletion=_measures_like,
        rich_help_panel=MEASURES,
    ),
]
PresetName = Annotated[
    Literal["medcorpus", "litsearch"] | None,
    typer.Option("--preset", help="The measures of a benchmark.", rich_help_panel=MEASURES),
]
Rel = Annotated[
    float | None,
    typer.Option(
        metavar="GRADE",
        help="The lowest relevant grade, for measures that take one and do not name their own.",
        rich_help_panel=MEASURES,
    ),
]

Order = Annotated[
    Literal["score", "list"],
    typer.Option(help="Rank lists by their scores, or take the order of the list.", rich_help_panel=INPUT),
]
QueryIds = Annotated[
    Literal["permed", "litsearch", "prefix"] | None,
    typer.Option(
        help="Rewrite the query ids of the runs so that they match the qrels.", rich_help_panel=INPUT
    ),
]

Clusters = Annotated[
    str | None,
    typer.Option(
        metavar="FIELD|REGEX|none",
        help="Queries that belong together. By default the conversation_id of a data set that has it.",
        rich_help_panel=STATISTICS,
    ),
]
Resamples = Annotated[
    int, typer.Option(metavar="N", help="Number of resamples.", min=1, rich_help_panel=STATISTICS)
]
Seed = Annotated[int, typer.Option(metavar="N", help="Random seed.", min=0, rich_help_panel=STATISTICS)]
Level = Annotated[
    float, typer.Option(metavar="P", help="Level of the confidence intervals.", rich_help_panel=STATISTICS)
]

Claim = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help="A published number, such as MAP@10=0.5357. Can be repeated."),
]
Claims = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Tables as a paper prints them: a Markdown, LaTeX, HTML or CSV file."),
]
Decimals = Annotated[
    int | None,
    typer.Option(metavar="N", help="Number of digits after the point, as published.", min=0, max=15),
]

Output = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write to this file. Its ending chooses the format, unless --format does.",
        rich_help_panel=OUTPUT,
    ),
]
Digits = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Number of decimals of values; p-values keep theirs, and JSON has all.",
        min=0,
        max=17,
        rich_help_panel=OUTPUT,
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        metavar="HEADINGS|all|FILE.csv",
        help="Columns of the table, such as P@1,ignored. By default those that say something and fit. "
        "A CSV file has other columns: run,method,latency.",
        rich_help_panel=OUTPUT,
    ),
]
Caption = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help="Put this before the caption, in the formats latex and markdown.",
        rich_help_panel=OUTPUT,
    ),
]
RecordTo = Annotated[
    Path | None,
    typer.Option(
        "--record",
        metavar="FILE",
        help="Write a record too: a JSON file that verify computes again.",
        rich_help_panel=OUTPUT,
    ),
]
