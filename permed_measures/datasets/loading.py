"""Qrels and runs that are given by name: the path of a file, or for qrels the id of a data set."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from permed_measures.datasets.import_hook import NAMES
from permed_measures.engine.forms import as_mapping_or_frames, is_spark_frame
from permed_measures.engine.inputs import STDIN, FileRun, QrelsLike, RunLike
from permed_measures.engine.tables import Frames
from permed_measures.errors import InputError, MeasureError, files_beside, nearest, shown, warn
from permed_measures.files.sources import check_path
from permed_measures.measures.parsing import parse_measure

if TYPE_CHECKING:
    from ir_datasets import Dataset

    from permed_measures.engine.judgments import Judgments
    from permed_measures.files.cleaning import Cleaning


def load(dataset: str) -> Dataset:
    """Load a data set; see `permed_measures.datasets.load`."""
    import ir_datasets

    from permed_measures.datasets import catalogue  # noqa: F401 - which registers the data sets

    try:
        loaded = ir_datasets.load(dataset)
    except KeyError:
        raise InputError(
            f"{shown(dataset)} is neither a file nor the id of a data set of ir_datasets",
            hint=nearest(dataset, [*NAMES, *files_beside(Path(dataset))])
            or "Ours are medcorpus, litsearch, permed-sample and parts of them",
        ) from None
    if not loaded.has_qrels():
        raise InputError(f"the data set {dataset!r} of ir_datasets has no qrels", hint="Name a file of qrels")
    return loaded


@contextmanager
def without_downloads(dataset: str) -> Iterator[None]:
    """Raise InputError where the qrels of a data set, read in this block, would have to be downloaded."""
    handler = load(dataset).qrels_handler()
    from permed_measures.datasets import downloads  # which ir_datasets has loaded by now

    with downloads.without_downloads(dataset, handler):
        yield


def loaded_qrels(qrels: QrelsLike | Judgments) -> Any:
    """Return the qrels of a file, or the data set of an id; qrels in another form as they are."""
    if is_spark_frame(qrels):
        return as_mapping_or_frames(cast(Any, qrels), "relevance")
    if not isinstance(qrels, (str, os.PathLike)):
        return qrels
    path = _found(qrels)
    if path is None:
        return _loaded_dataset(os.fspath(qrels))
    from permed_measures.files.read import load

    return load(path, "qrels").table


def _loaded_dataset(name: str) -> Dataset:
    try:
        return load(name)
    except InputError:
        if _is_measure(name):
            raise InputError(f"expected qrels (found the measure {name})", hint=_ORDER) from None
        if Path(name).suffix or ":" in name:
            raise _no_file(Path(name)) from None
        raise


_ORDER = "calc_aggregate takes measures, qrels and a run, others take compare(qrels, runs, measures)"


def _is_measure(text: str) -> bool:
    try:
        return bool(parse_measure(text))
    except MeasureError:
        return False


def loaded_run(
    run: RunLike,
    order: str = "score",
    rewriting: str | None = None,
    qrels: QrelsLike | Judgments | None = None,
    labels: dict[str, Any] | None = None,
    cleaning: Cleaning | None = None,
) -> Any:
    """Return the run of a file, with `rewriting` by the query ids of the qrels; another form as it is.

    What the file is as qrels can be given as `labels`, so that it is read once.
    """
    if isinstance(run, (str, os.PathLike)):
        from permed_measures.files.cleaning import Cleaning
        from permed_measures.files.read import load

        path = existing(run)
        loaded = load(path, "run", order=order, labels=labels, cleaning=cleaning or Cleaning())
        for note in filter(None, [loaded.labels, *loaded.notes]):
            warn(note, path=path)
        run = with_path(loaded.table, path)
    if rewriting is None:
        return run
    from permed_measures.engine.query_ids import renamed

    return renamed(run, qrels, rewriting)


def loaded_runs(runs: Mapping[str, RunLike], **how: Any) -> Mapping[str, Any]:
    """Return runs by name, each as `loaded_run` returns it, read when it is asked for."""
    given = runs.values() if isinstance(runs, dict) else ()  # another mapping reads what it returns
    has_files = any(isinstance(run, (str, os.PathLike)) for run in given)
    return lazy_runs(runs, partial(loaded_run, **how)) if has_files or how.get("rewriting") else runs


def lazy_runs(runs: Mapping[str, Any], read: Callable[[Any], Any]) -> Mapping[str, Any]:
    """Return runs by name, each read by a function when it is asked for."""
    return _LazyRuns(runs, read)


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
    name = Path(run).name.removesuffix(".gz").removesuffix(".zst")
    return next(name.removesuffix(each) for each in _RUN_ENDINGS if name.endswith(each))


def runs_by_name(runs: Mapping[str, RunLike] | RunLike) -> Mapping[str, Any]:
    """Return runs by name; that of a single one is the name of its file, or ``run``.

    Examples
    --------
    >>> list(runs_by_name("runs/bm25.jsonl")), list(runs_by_name({"q": {"d": 1.0}}))
    (['bm25'], ['run'])
    """
    if not isinstance(runs, Mapping):
        return {run_name(runs): runs}
    if not isinstance(runs, dict):
        return runs  # each is read when it is asked for
    some = next((each for each in runs.values() if not isinstance(each, Mapping) or each), None)
    if isinstance(some, Mapping):  # the first that is not empty: the documents of a query, or a run?
        some = next(iter(some.values()))
        return dict(runs) if isinstance(some, Mapping) else {"run": runs}
    return {"run": runs} if some is None else dict(runs)


class _LazyRuns(Mapping[str, Any]):
    def __init__(self, runs: Mapping[str, Any], read: Callable[[Any], Any]) -> None:
        self._runs, self._read = runs, read

    def __getitem__(self, name: str) -> Any:
        return self._read(self._runs[name])

    def __contains__(self, name: object) -> bool:
        return name in self._runs  # which is not read for that

    def __iter__(self) -> Iterator[str]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)


def with_path(run: Any, path: Path | None) -> Any:
    """Return the run of a file, which knows the file, so that errors and warnings name it."""
    known = run if isinstance(run, Frames) else FileRun(run)
    known.path = path
    return known


def existing(name: str | os.PathLike[str]) -> Path:
    """Return the path of a file, or raise an error that says what else may have been meant."""
    if (path := _found(name)) is None:
        raise _no_file(Path(name))
    return path


def _found(name: str | os.PathLike[str]) -> Path | None:
    """Return the path of a file or folder if there is one; ``-`` is standard input."""
    if str(name) == "-":
        return STDIN
    check_path(Path(name))
    return Path(name) if os.path.lexists(name) else None


def _no_file(path: Path) -> InputError:
    """Return the error for a file that is not there; an ending alone, which many share, is not alike."""
    beside = map(Path, files_beside(path))
    hint = nearest(path.name, (each.name for each in beside if nearest(path.stem[:100], [each.stem])))
    if path.as_posix() in NAMES:
        hint = "This is the id of a data set, and only qrels can be one"
    where = str(path)
    if re.match("[a-z][a-z0-9+]+:/", where, re.IGNORECASE):  # one letter is a drive of Windows
        where, hint = where.replace(":/", "://", 1), "Only files are read: download it first"
    return InputError("No such file or directory", where=f"{where:.200}", hint=hint)
