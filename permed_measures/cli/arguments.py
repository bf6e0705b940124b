"""The arguments and options that several commands share."""

from __future__ import annotations

from permed_measures.cli.parsing import (
    ADVANCED,
    INPUT,
    MEASURES_GROUP,
    OUTPUT,
    STATISTICS,
    argument,
    option,
    repeatable,
)
from permed_measures.engine.query_ids import REWRITINGS
from permed_measures.inputs.read import DUPLICATES
from permed_measures.measures.definitions import PRESETS
from permed_measures.results.prose import PROSE_FORMATS
from permed_measures.results.report import FORMATS

QRELS = argument("qrels", "QRELS", "A qrels file, or a data set id of ir_datasets.")
RUNS = argument("runs", "RUN", "Run files or folders: FILE or NAME=FILE; - is stdin.", nargs="+")
ASKED_MEASURES = (
    repeatable(
        MEASURES_GROUP,
        "-m, --measure MEASURE",
        f"GradedAP@10, map, ndcg_cut_10; or what a benchmark reports: {', '.join(PRESETS)}. Can be "
        "repeated, or stand after RUN; NAME=MEASURE names it.",
        dest="measures",
    ),
    option(MEASURES_GROUP, "--rel GRADE", "The lowest relevant grade, if a measure names none."),
)
CLAIMS = (
    repeatable(INPUT, "--claim NAME=VALUE", "A published number, such as MAP@10=0.5357. Can be repeated."),
    option(INPUT, "--claims FILE", "Tables as a paper prints them: a Markdown, LaTeX, HTML or CSV file."),
    option(INPUT, "--columns NAME", "Of these tables, only the columns below this heading: a data set."),
)

CLUSTERS = option(STATISTICS, "--clusters FIELD|REGEX|none", "Queries to resample together: conversations.")
HUMAN = option(STATISTICS, "--human QRELS", "Human labels of a random sample, to correct means.")
RESAMPLES_OPTION = option(ADVANCED, "--resamples N", "Number of random sign patterns: 50000.", default=50_000)
SEED_OPTION = option(ADVANCED, "--seed N", "Random seed: 0.", default=0)
LEVEL_OPTION = option(ADVANCED, "--level P", "Confidence level of intervals and ranks: 0.95.", default=0.95)

FORMAT = option(OUTPUT, "--format FORMAT", f"{', '.join(FORMATS)}.", choices=FORMATS)
_LATEX_OPTIONS = (
    option(OUTPUT, "--label LABEL", "Label of a LaTeX table: main becomes tab:main.", default=""),
    option(OUTPUT, "--caption TEXT", "Its caption: text, or LaTeX if it has \\ or $.", default=""),
)
METHODS = option(
    OUTPUT,
    "--methods FORMAT",
    "Print the methods for a paper: text, markdown, latex or bibtex. A table.tex has them beside it.",
    choices=PROSE_FORMATS,
    nargs="?",
    const="text",
)
WRITING = (
    FORMAT,
    option(OUTPUT, "--output FILE", "Write to a file; its ending chooses the format."),
    *_LATEX_OPTIONS,
)
DRAWING = (
    FORMAT,
    option(
        OUTPUT, "--output FILE", "Write a file; its ending chooses the format, or a figure: .pdf, .png, .svg."
    ),
    *_LATEX_OPTIONS,
)
DIGITS_OPTION = option(ADVANCED, "--digits N", "Number of decimals in tables.", choices=range(18))
TABLES = (
    option(OUTPUT, "--percent", "Write means in percent: 67.88 for 0.6788."),
    option(OUTPUT, "--no-judged", "Leave out Judged@k."),
    DIGITS_OPTION,
)
"""Options for tables of means."""
CONVENTIONS = option(ADVANCED, "--conventions FILE", "Try the conventions of a TOML file too.")

ORDER = option(ADVANCED, "--order score|list", "Rank lists by scores, or as listed.", default="score")
READING = (
    ORDER,
    option(
        ADVANCED,
        "--query-ids RULE",
        f"Rewrite query ids of runs: by {', '.join(REWRITINGS)}, or s/PATTERN/TEXT/.",
    ),
)
CLEANING = (
    option(
        ADVANCED,
        f"--duplicates {'|'.join(DUPLICATES)}",
        "If a document is listed twice, keep this row.",
        default=DUPLICATES[0],
    ),
    option(
        ADVANCED,
        "--max-passage TEXT",
        "Passage ids are DOC+TEXT+PASSAGE: keep the best.",
        default="",
    ),
    option(ADVANCED, "--ignore-self", "Leave out a document that has the id of its query."),
    option(ADVANCED, "--subset NAME", "The subset of a file of MTEB.", default=""),
)
"""Options that change runs while they are read."""
