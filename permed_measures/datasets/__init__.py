"""Data sets for ir_datasets, PyTerrier and the command line: MedCorpus, LitSearch and the packaged sample.

They are registered as soon as anything imports ir_datasets:

>>> import ir_datasets
>>> import permed_measures
>>> dataset = ir_datasets.load("permed-sample")
>>> dataset.queries_count(), dataset.qrels_count(), dataset.docs_count()
(48, 478, 157)
>>> next(dataset.queries_iter()).turn_number
1
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from permed_measures.datasets.import_hook import NAMES, SAMPLES, Sample, register, register_when_imported

if TYPE_CHECKING:
    from ir_datasets import Dataset

__all__ = [
    "NAMES",
    "SAMPLES",
    "Sample",
    "load",
    "register",
    "register_when_imported",
]


def __dir__() -> list[str]:
    return sorted(__all__)


def load(dataset: str) -> Dataset:
    """Return a data set of ir_datasets with qrels, by its id.

    Raises
    ------
    InputError
        If ir_datasets does not know the id, or has no qrels for it.
    """
    from permed_measures.datasets.loading import load

    return load(dataset)
