"""Provide the data sets to PyTerrier, which loads this module by the package's entry point."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyterrier as pt

from permed_measures.datasets import DATASET_IDS, register


class PermedDatasetProvider(pt.datasets.DatasetProvider):
    """Provide ``pt.get_dataset("permed:medcorpus")`` without an import of this package."""

    def __init__(self) -> None:
        register()

    def get_dataset(self, name: str) -> Any:
        """Return the data set with this id."""
        if name not in DATASET_IDS:
            raise KeyError(name)
        return pt.get_dataset(f"irds:{name}")

    def list_dataset_names(self) -> Iterable[str]:
        """List the ids of the data sets."""
        return list(DATASET_IDS)
