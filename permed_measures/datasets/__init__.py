"""Data sets for ir_datasets, PyTerrier and the command line: MedCorpus, LitSearch and the packaged sample.

They are registered as soon as anything imports ir_datasets. Importing it here would take longer than all the
rest, and it has no entry points; so an import hook registers them.

>>> import ir_datasets
>>> import permed_measures
>>> dataset = ir_datasets.load("permed-sample")
>>> dataset.queries_count(), dataset.qrels_count(), dataset.docs_count()
(48, 478, 157)
>>> next(dataset.queries_iter()).turn_number
1
"""

from __future__ import annotations

import importlib
import sys
import warnings
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from permed_measures.errors import (
    InputError,
    PermedWarning,
    cache_dir_error,
    dataset_load_error,
    did_you_mean,
    short_repr,
)

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


DATASET_IDS = (
    "medcorpus",
    *(f"medcorpus/turn/{turn}" for turn in range(1, 7)),
    "litsearch",
    *(f"litsearch/{part}" for part in ("broad", "specific", "inline", "author")),
    "permed-sample",
    "permed-sample/literature",
)
"""The ids of the package's data sets."""

SAMPLE_FOLDER = Path(__file__).parent / "sample"


class Sample(NamedTuple):
    """A part of the packaged sample: synthetic texts, written for this package; not medical evidence.

    Attributes
    ----------
    name : str
        ``medical`` (turns of conversations, grades -1 to 2) or ``literature`` (single questions, binary).
    queries, qrels : Path
        The files of its queries and its labels.
    runs : dict of str to Path
        Rankings by BM25, TF-IDF and LSA.
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

# --- registration -----------------------------------------------------------------------------------


def register() -> None:
    """Register the data sets with ir_datasets; a second call changes nothing.

    If ir_datasets already has an id, that data set is kept.
    """
    importlib.import_module("permed_measures.datasets.catalogue")  # it registers them at its end


def register_when_imported() -> None:
    """Register the data sets as soon as ir_datasets is imported; immediately if it has been."""
    module = sys.modules.get("ir_datasets")
    if module is not None and hasattr(module, "main_cli"):  # main_cli is defined last: the import is complete
        _register_or_warn()
    else:
        sys.meta_path.insert(0, _ImportHook())


def _register_or_warn() -> None:
    """Register the data sets; turn an error into a warning, so that imports of either package succeed."""
    try:
        register()
    except Exception as error:
        warnings.warn(
            f"the data sets of permed-measures are not registered with ir_datasets ({type(error).__name__}: "
            f"{error}). Call permed_measures.datasets.register() to see the whole error",
            PermedWarning,
            stacklevel=2,
        )


class _ImportHook:
    """Find ir_datasets by the other finders, and register the data sets once it is loaded."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return the spec of ir_datasets with a loader that registers; None for any other module."""
        if fullname != "ir_datasets":
            return None
        own = sys.meta_path.index(self) if self in sys.meta_path else -1
        finders = (finder for finder in sys.meta_path[own + 1 :] if hasattr(finder, "find_spec"))
        specs = (finder.find_spec(fullname, path, target) for finder in finders)
        spec = next((candidate for candidate in specs if candidate is not None), None)
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def execute_and_register(module: ModuleType) -> None:
            execute(module)
            if module.__name__ == fullname:  # the loader of a zip file also loads other modules
                _register_or_warn()

        spec.loader.exec_module = execute_and_register  # type: ignore[method-assign]
        return spec


# --- loading ----------------------------------------------------------------------------------------


def load(dataset: str) -> Dataset:
    """Load a data set of ir_datasets with qrels, by its id.

    Raises
    ------
    InputError
        If ir_datasets does not know the id, or has no qrels for it.
    """
    loaded = find(dataset)
    if loaded is None:
        problem = f"{short_repr(dataset)} is not the id of a data set of ir_datasets"
        raise InputError(problem, hint=did_you_mean(dataset, DATASET_IDS) or OURS)
    return loaded


OURS = "Ours are medcorpus, litsearch, permed-sample and parts of them"


def find(dataset: str) -> Dataset | None:
    """Load a data set with qrels, by its id; None if ir_datasets does not know it."""
    try:
        import ir_datasets

        register()
    except (OSError, RuntimeError) as error:  # its folder cannot be created, or there is no home folder
        raise cache_dir_error(error) from None
    try:
        loaded = ir_datasets.load(dataset)
    except KeyError:
        return None
    except (OSError, RuntimeError) as error:  # ir_datasets downloads a list for some families of data sets
        raise dataset_load_error(dataset, error) from error
    if not loaded.has_qrels():
        raise InputError(f"the data set {dataset!r} of ir_datasets has no qrels", hint="Name a file of qrels")
    return loaded
