"""Several runs: their names, and each is read when it is asked for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from permed_measures.inputs.door import packaged_runs

_RUN_ENDINGS = (".trec", ".run", ".res", ".txt", ".jsonl", ".json", ".csv", ".tsv", ".parquet", "")


def run_name(run: object) -> str:
    """Return what a run is called that was given without a name: its file without the ending of a format.

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
    return next(name.removesuffix(each) for each in _RUN_ENDINGS if name.endswith(each))


def runs_by_name(runs: Any) -> Mapping[str, Any]:
    """Return runs by name, packaged ones as files; that of a single one is the name of its file, or ``run``.

    Examples
    --------
    >>> list(runs_by_name("runs/bm25.jsonl")), list(runs_by_name({"q": {"d": 1.0}}))
    (['bm25'], ['run'])
    """
    if not isinstance(runs, Mapping):
        return dict(_packaged(runs)) or {run_name(runs): runs}
    if not isinstance(runs, dict):
        return runs  # each is read when it is asked for
    some = next((each for each in runs.values() if not isinstance(each, Mapping) or each), None)
    if not runs or (isinstance(some, Mapping) and not isinstance(next(iter(some.values())), Mapping)):
        return {"run": runs}  # the first that is not empty has the documents of a query
    found = {name: list(_packaged(run).values()) for name, run in runs.items()}
    return {name: found[name][0] if len(found[name]) == 1 else run for name, run in runs.items()}


def _packaged(run: object) -> dict[str, Path]:
    """Return the packaged runs that a name stands for."""
    return packaged_runs(os.fspath(run)) if isinstance(run, (str, os.PathLike)) else {}


class LazyRuns(Mapping[str, Any]):
    """Runs by name, each read by a function when it is asked for.

    A dict would hold all runs of a folder in memory together.
    """

    def __init__(self, runs: Mapping[str, Any], read: Callable[[Any], Any]) -> None:
        self._runs, self._read = runs, read

    def __getitem__(self, name: str) -> Any:
        """Read a run."""
        return self._read(self._runs[name])

    def __contains__(self, name: object) -> bool:
        """Return whether there is such a run, which is not read for that."""
        return name in self._runs

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._runs)

    def __len__(self) -> int:
        """Return how many runs there are."""
        return len(self._runs)
