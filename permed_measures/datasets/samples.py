"""The packaged sample: synthetic, written for this package, no medical evidence."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

SAMPLE_FOLDER = Path(__file__).parent / "sample"


class Sample(NamedTuple):
    """A part of the packaged sample: synthetic, written for this package, no medical evidence.

    Attributes
    ----------
    name : str
        ``medical`` (turns of conversations, grades -1 to 2) or ``literature`` (single questions, binary).
    qrels : Path
        Its label file.
    runs : dict of str to Path
        Rankings of it by BM25, TF-IDF and LSA.
    """

    name: str
    qrels: Path
    runs: dict[str, Path]


SAMPLES = tuple(
    Sample(
        name,
        SAMPLE_FOLDER / name / "query_to_texts.jsonl",
        {system: SAMPLE_FOLDER / "runs" / f"{name}-{system}.jsonl" for system in ("bm25", "tfidf", "lsa")},
    )
    for name in ("medical", "literature")
)
"""The two parts of ``permed-sample``."""
