"""What is loaded with the package: the ids of the data sets, the packaged sample, and their registration.

The data sets are registered with ir_datasets without importing it: they are there once anything imports it.

The import of ir_datasets takes longer than that of all the rest, and it has no entry points: hence a hook.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from permed_measures.errors import PermedWarning

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
    """Find ir_datasets as Python does, and register the data sets once it is loaded."""

    def find_spec(self, fullname: str, *_: object) -> ModuleSpec | None:
        """Return the spec of ir_datasets with a loader that registers; None for any other module."""
        spec = PathFinder.find_spec(fullname) if fullname == "ir_datasets" else None
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def execute_and_register(module: ModuleType) -> None:
            execute(module)
            if module.__name__ == fullname:  # the loader of a zip file loads other modules as well
                _register_or_warn()

        spec.loader.exec_module = execute_and_register  # type: ignore[method-assign]
        return spec
