"""Data sets for ir_datasets, PyTerrier and the command line: MedCorpus, LitSearch and the packaged sample.

They are registered as soon as anything imports ir_datasets, and without importing it: that takes longer than
all the rest, and it has no entry points; hence a hook.

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

# --- registration -----------------------------------------------------------------------------------


def register() -> None:
    """Make the data sets known to ir_datasets; calling it again changes nothing.

    An id that ir_datasets has already is left as it is.
    """
    importlib.import_module("permed_measures.datasets.catalogue")  # which registers them at its end


def register_when_imported() -> None:
    """Register the data sets as soon as ir_datasets is imported; now if it has been."""
    module = sys.modules.get("ir_datasets")
    if module is not None and hasattr(module, "main_cli"):  # defined at its end: it is imported as a whole
        _register_or_warn()
    else:
        sys.meta_path.insert(0, _ImportHook())


def _register_or_warn() -> None:
    """Register the data sets; an error must not break the import of ir_datasets or of this package."""
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
    """Find ir_datasets as the other finders do, and register the data sets once it is loaded."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return the spec of ir_datasets with a loader that registers; None for any other module."""
        if fullname != "ir_datasets":
            return None
        own = sys.meta_path.index(self) if self in sys.meta_path else -1
        finders = (each for each in sys.meta_path[own + 1 :] if hasattr(each, "find_spec"))
        specs = (each.find_spec(fullname, path, target) for each in finders)
        spec = next((each for each in specs if each is not None), None)
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def execute_and_register(module: ModuleType) -> None:
            execute(module)
            if module.__name__ == fullname:  # the loader of a zip file loads other modules as well
                _register_or_warn()

        spec.loader.exec_module = execute_and_register  # type: ignore[method-assign]
        return spec


# --- loading ----------------------------------------------------------------------------------------


def load(dataset: str) -> Dataset:
    """Return a data set of ir_datasets with qrels, by its id.

    Raises
    ------
    InputError
        If ir_datasets does not know the id, or has no qrels for it.
    """
    found = find(dataset)
    if found is None:
        problem = f"{short_repr(dataset)} is not the id of a data set of ir_datasets"
        raise InputError(problem, hint=did_you_mean(dataset, DATASET_IDS) or OURS)
    return found


OURS = "Ours are medcorpus, litsearch, permed-sample and parts of them"


def find(dataset: str) -> Dataset | None:
    """Return a data set with qrels, by its id; None if ir_datasets does not know it."""
    try:
        import ir_datasets

        register()
    except (OSError, RuntimeError) as error:  # no folder can be made in the user's, or there is none
        raise cache_dir_error(error) from None
    try:
        found = ir_datasets.load(dataset)
    except KeyError:
        return None
    except (OSError, RuntimeError) as error:  # of some, ir_datasets downloads a list
        raise dataset_load_error(dataset, error) from error
    if not found.has_qrels():
        raise InputError(f"the data set {dataset!r} of ir_datasets has no qrels", hint="Name a file of qrels")
    return found
