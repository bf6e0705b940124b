"""The arguments and options that several commands share; light, so that help is quick."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

MEASURES, STATISTICS, OUTPUT, ADVANCED = "Measures", "Statistics", "Output", "Advanced"
"""The groups of options in the help; what is rarely used is advanced."""


def _measures_like(incomplete: str) -> list[str]:
    from permed_measures.engine.kernels import KERNELS

    return [name for name in KERNELS if name.startswith(incomplete)]


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
    typer.Option(
        "--preset",
        metavar="NAME",
        help="The measures of a benchmark: medcorpus, litsearch.",
        rich_help_panel=MEASURES,
    ),
]
Rel = Annotated[
    float | None,
    typer.Option(
        metavar="GRADE",
        help="The lowest relevant grade, for measures that do not name their own.",
        rich_help_panel=MEASURES,
    ),
]

Order = Annotated[
    Literal["score", "list"],
    typer.Option(
        metavar="score|list",
        help="Rank lists by their scores (by default), or as listed.",
        show_default=False,
        rich_help_panel=ADVANCED,
    ),
]
QueryIds = Annotated[
    Literal["permed", "litsearch", "prefix"] | None,
    typer.Option(
        metavar="HOW",
        help="Rewrite the query ids of the runs to match the qrels: permed, litsearch or prefix.",
        rich_help_panel=ADVANCED,
    ),
]

Clusters = Annotated[
    str | None,
    typer.Option(
        metavar="FIELD|REGEX|none",
        help="Queries that belong together; of a data set its conversation_id.",
        rich_help_panel=STATISTICS,
    ),
]
Resamples = Annotated[
    int,
    typer.Option(
        metavar="N",
        help="Number of random sign patterns: 50000.",
        show_default=False,
        min=1,
        rich_help_panel=ADVANCED,
    ),
]
Seed = Annotated[
    int,
    typer.Option(metavar="N", help="Random seed: 0.", show_default=False, min=0, rich_help_panel=ADVANCED),
]
Level = Annotated[
    float,
    typer.Option(
        metavar="P",
        help="Level of the confidence intervals: 0.95.",
        show_default=False,
        rich_help_panel=ADVANCED,
    ),
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

Format = Annotated[
    Literal["table", "markdown", "latex", "html", "csv", "tsv", "json", "jsonl"] | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="One of table, markdown, latex, html, csv, tsv, json, jsonl.",
        rich_help_panel=OUTPUT,
    ),
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
        help="Number of decimals of values in tables.",
        min=0,
        max=17,
        rich_help_panel=ADVANCED,
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        metavar="HEADINGS|all|FILE.csv",
        help="Columns of the table, such as P@1,ignored; by default the informative ones that fit. "
        "A CSV file has other columns: run,method,latency.",
        rich_help_panel=ADVANCED,
    ),
]
Caption = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help="What the caption begins with, in the formats latex and markdown.",
        rich_help_panel=ADVANCED,
    ),
]
RecordTo = Annotated[
    Path | None,
    typer.Option(
        "--record",
        metavar="FILE",
        help="Write a record too: a JSON file that verify computes again.",
        rich_help_panel=ADVANCED,
    ),
]
