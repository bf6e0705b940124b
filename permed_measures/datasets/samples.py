"""The ids of the data sets, and the files of the packaged sample."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

NAMES = (
    "medcorpus",
    *(f"medcorpus/turn/{turn}" for turn in range(1, 7)),
    "litsearch",
    *(f"litsearch/{part}" for part in ("broad", "specific", "inline", "author")),
    "permed-sample",
    "permed-sample/literature",
)
"""The ids of the data sets."""

SAMPLE_FOLDER = Path(__file__).parent / "sample"


class Sample(NamedTuple):
    """A part of the packaged sample: synthetic, written for this package, no medical evidence.

    Attributes
    ----------
    name : str
        ``medical`` (turns of conversations, grades -1 to 2) or ``literature`` (single questions, binary).
    queries, qrels : Path
        The files of its queries and its labels.
    runs : dict of str to Path
        Rankings of it by BM25, TF-IDF and LSA.
    """

    name: str
    queries: Path
    qrels: Path
    runs: dict[str, Path]


SAMPLES = tuple(
    Sample(
        name,
        SAMPLE_FOLDER / name / "queries.jsonl",
        SAMPLE_FOLDER / name / "query_to_texts.jsonl",
        {system: SAMPLE_FOLDER / "runs" / f"{name}-{system}.jsonl" for system in ("bm25", "tfidf", "lsa")},
    )
    for name in ("medical", "literature")
)
"""The two parts of ``permed-sample``."""
