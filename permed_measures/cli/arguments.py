"""The arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path

from permed_measures.cli.parsing import (
    ADVANCED,
    INPUT,
    MEASURES,
    OUTPUT,
    STATISTICS,
    argument,
    number,
    one_of,
    repeatable,
    whole_number,
)
from permed_measures.engine.query_ids import REWRITINGS
from permed_measures.measures.definitions import LITSEARCH, MEDCORPUS
from permed_measures.results.report import FORMATS

PRESETS = {"medcorpus": MEDCORPUS, "litsearch": LITSEARCH}

QRELS = argument(
    INPUT,
    "qrels",
    metavar="QRELS",
    help="A qrels file, a data set id of ir_datasets, or the folder of a data set.",
)
RUNS = argument(
    INPUT,
    "runs",
    nargs="+",
    metavar="RUN",
    help="Run files, or folders of them: FILE or NAME=FILE; - is standard input.",
)

MEASURE_OPTIONS = (
    repeatable(
        MEASURES,
        "-m",
        "--measure",
        dest="measures",
        metavar="MEASURE",
        help="A measure: GradedAP@10, map, ndcg_cut_10. Can be repeated; NAME=MEASURE gives it a heading.",
    ),
    argument(
        MEASURES,
        "--preset",
        type=one_of(PRESETS),
        metavar="NAME",
        help="The measures of a benchmark: medcorpus, litsearch.",
    ),
    argument(
        MEASURES,
        "--rel",
        type=number,
        metavar="GRADE",
        help="The lowest relevant grade, if a measure names none.",
    ),
)

ORDER = argument(
    ADVANCED,
    "--order",
    type=one_of(["score", "list"]),
    default="score",
    metavar="score|list",
    help="Rank lists by their scores (by default) or as listed.",
)
QUERY_IDS = argument(
    ADVANCED,
    "--query-ids",
    type=one_of(REWRITINGS),
    metavar="HOW",
    help="Rewrite the query ids of the runs to match the qrels: permed, litsearch or prefix.",
)

CLUSTERS = argument(
    STATISTICS,
    "--clusters",
    metavar="FIELD|REGEX|none",
    help="Queries that belong together; of a data set its conversation_id.",
)
RESAMPLES = argument(
    ADVANCED,
    "--resamples",
    type=whole_number(1),
    default=50_000,
    metavar="N",
    help="Number of random sign patterns: 50000.",
)
SEED = argument(ADVANCED, "--seed", type=whole_number(0), default=0, metavar="N", help="Random seed: 0.")
LEVEL = argument(
    ADVANCED,
    "--level",
    type=number,
    default=0.95,
    metavar="P",
    help="Level of the confidence intervals: 0.95.",
)

CLAIM_OPTIONS = (
    repeatable(
        INPUT,
        "--claim",
        metavar="NAME=VALUE",
        help="A published number, such as MAP@10=0.5357. Can be repeated.",
    ),
    argument(
        INPUT,
        "--claims",
        type=Path,
        metavar="FILE",
        help="Tables as a paper prints them: a Markdown, LaTeX, HTML or CSV file.",
    ),
    argument(
        INPUT,
        "--decimals",
        type=whole_number(0, 15),
        metavar="N",
        help="Number of digits after the point, as published.",
    ),
)

FORMAT = argument(
    OUTPUT, "--format", type=one_of(FORMATS), metavar="FORMAT", help=f"One of {', '.join(FORMATS)}."
)
OUTPUT_FILE = argument(
    OUTPUT,
    "--output",
    type=Path,
    metavar="FILE",
    help="Write to this file. Its ending chooses the format, unless --format does.",
)
DIGITS = argument(
    ADVANCED,
    "--digits",
    type=whole_number(0, 17),
    metavar="N",
    help="Number of decimals of values in tables.",
)
CAPTION = argument(
    ADVANCED,
    "--caption",
    metavar="TEXT",
    help="The beginning of the caption in latex and markdown.",
)
COLUMNS = repeatable(
    ADVANCED,
    "--columns",
    metavar="HEADINGS|all|FILE.csv",
    help="Columns of the table, such as P@1,ignored; by default the informative ones that fit. "
    "A CSV file has other columns: run,method,latency.",
)
RECORD = argument(
    ADVANCED,
    "--record",
    type=Path,
    metavar="FILE",
    help="Write a record too, a JSON file for verify.",
)
