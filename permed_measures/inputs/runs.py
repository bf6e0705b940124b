"""Name several runs, and read each of them on demand."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from permed_measures.errors import InputError
from permed_measures.inputs.door import packaged_runs

_RUN_ENDINGS = (".trec", ".run", ".res", ".txt", ".jsonl", ".json", ".csv", ".tsv", ".parquet", "")


def run_name(run: object) -> str:
    """Name a run that was given without a name: by its file, without the ending; otherwise "run".

    Examples
    --------
    >>> run_name("runs/bm25.v2.jsonl.gz"), run_name({"q": {"d": 1.0}})
    ('bm25.v2', 'run')
    """
    if not isinstance(run, (str, os.PathLike)):
        return "run"
    name = Path(run).name
    for ending in (".gz", ".zst", ".bz2", ".xz", ".zip"):
        name = name.removesuffix(ending)
    return next(name.removesuffix(ending) for ending in _RUN_ENDINGS if name.endswith(ending))


def runs_by_name(runs: Any) -> Mapping[str, Any]:
    """Map names to runs, with packaged runs as files; name a single run by its file, or ``run``.

    Examples
    --------
    >>> list(runs_by_name("runs/bm25.jsonl")), list(runs_by_name({"q": {"d": 1.0}}))
    (['bm25'], ['run'])
    """
    if not isinstance(runs, Mapping):
        return dict(_packaged(runs)) or {run_name(runs): runs}
    if not isinstance(runs, dict):
        return runs  # a lazy mapping: its runs are read on demand
    value = next((run for run in runs.values() if not isinstance(run, Mapping) or run), None)
    if not runs or (isinstance(value, Mapping) and not isinstance(next(iter(value.values())), Mapping)):
        return {"run": runs}  # the first value that is not empty holds the documents of a query
    return _with_packaged_files(runs)


def named_runs(runs: Any) -> Mapping[str, Any]:
    """Check that runs are a mapping of name to run, and map the names to runs, with packaged runs as files.

    Raises
    ------
    InputError
        If they are not a mapping of names.

    Examples
    --------
    >>> named_runs({"mine": {"q": {"d": 1.0}}, "sample": "permed-sample/runs/bm25"})["sample"].name
    'medical-bm25.jsonl'
    """
    if not isinstance(runs, Mapping) or not all(isinstance(name, str) for name in runs):
        raise InputError(
            f"runs must be a dict {{name: run}} (found {type(runs).__name__} {str(runs)[:80]!r})",
            hint="Give each run a name: {'bm25': 'bm25.trec', ...}",
        )
    return _with_packaged_files(runs) if isinstance(runs, dict) else runs


def _with_packaged_files(runs: Mapping[str, Any]) -> dict[str, Any]:
    """Replace the names of packaged runs by their files."""
    packaged = {name: list(_packaged(run).values()) for name, run in runs.items()}
    return {name: packaged[name][0] if len(packaged[name]) == 1 else run for name, run in runs.items()}


def _packaged(run: object) -> dict[str, Path]:
    """Return the packaged runs with this name; empty for anything else."""
    return packaged_runs(os.fspath(run)) if isinstance(run, (str, os.PathLike)) else {}


class LazyRuns(Mapping[str, Any]):
    """Runs by name, each read by a function on access.

    A dict would hold all runs of a folder in memory at once.
    """

    def __init__(self, runs: Mapping[str, Any], read: Callable[[Any], Any]) -> None:
        self._runs, self._read = runs, read

    def __getitem__(self, name: str) -> Any:
        """Read a run."""
        return self._read(self._runs[name])

    def __contains__(self, name: object) -> bool:
        """Check whether there is a run of this name, without reading it."""
        return name in self._runs

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._runs)

    def __len__(self) -> int:
        """Count the runs."""
        return len(self._runs)
