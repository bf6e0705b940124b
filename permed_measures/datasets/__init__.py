"""Data sets: the packaged sample, and the qrels of any data set that ir_datasets knows."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from permed_measures.errors import InputError

__all__ = ["SAMPLES", "Sample", "load_qrels"]

_FOLDER = Path(__file__).parent / "sample"


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


def _sample(name: str) -> Sample:
    runs = {system: _FOLDER / "runs" / f"{name}-{system}.jsonl" for system in ("bm25", "tfidf", "lsa")}
    return Sample(name, _FOLDER / name / "query_to_texts.jsonl", runs)


SAMPLES = (_sample("medical"), _sample("literature"))
"""The two parts of ``permed-sample``."""


def load_qrels(dataset_id: str) -> Any:
    """Return the qrels of a data set of ir_datasets, as a list of namedtuples.

    Raises
    ------
    InputError
        If ir_datasets does not know the id, has no qrels for it, or cannot load them.
    """
    import ir_datasets

    try:
        dataset = ir_datasets.load(dataset_id)
    except KeyError:
        raise InputError(
            f"{dataset_id!r} is neither a file nor the id of a data set of ir_datasets"
        ) from None
    if not dataset.has_qrels():
        raise InputError(
            f"the data set {dataset_id!r} of ir_datasets has no qrels", hint="Name a file of qrels"
        )
    try:
        return list(dataset.qrels_iter())
    except (RuntimeError, OSError) as error:
        raise InputError(
            f"the qrels of {dataset_id!r} cannot be loaded by ir_datasets ({error.args[0]!s:.100})",
            hint="Check the network, or name a file of qrels",
        ) from error
