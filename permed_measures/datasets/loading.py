"""Qrels and runs that are given by name: the path of a file, or for qrels the id of a data set."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from difflib import SequenceMatcher
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from permed_measures.datasets import NAMES
from permed_measures.datasets import load as load_dataset
from permed_measures.engine.forms import as_mapping_or_batches, is_spark_frame
from permed_measures.engine.inputs import STDIN, Batches, FileRun, QrelsLike, RunLike
from permed_measures.errors import InputError, MeasureError, PermedWarning, files_beside, nearest
from permed_measures.measures.parsing import parse_measure

if TYPE_CHECKING:
    from permed_measures.engine.judgments import Judgments


def loaded_qrels(qrels: QrelsLike | Judgments) -> Any:
    """Return the qrels of a file, or the data set of an id or folder; qrels in another form as they are."""
    if is_spark_frame(qrels):
        return as_mapping_or_batches(cast(Any, qrels), "relevance")
    if not isinstance(qrels, (str, os.PathLike)):
        return qrels
    path = _path(qrels)
    if path.is_dir() or not _exists(path):
        try:
            return load_dataset(os.fspath(qrels))
        except InputError as error:
            if _is_measure(os.fspath(qrels)):
                raise InputError(f"expected qrels (found the measure {qrels})", hint=_ORDER) from None
            raise _no_file(path) if path.suffix and not path.is_dir() else error from None
    from permed_measures.files.read import load

    return load(path, "qrels").table


_LONGEST = 256
"""What is longer is no name of a file or a measure."""

_ORDER = "calc_aggregate takes measures, qrels and a run, others take compare(qrels, runs, measures)"


def _is_measure(text: str) -> bool:
    try:
        return len(text) < _LONGEST and bool(parse_measure(text))
    except MeasureError:
        return False


def loaded_run(
    run: RunLike, before_reranking: bool = False, order: str = "score", may_repeat: bool = False
) -> Any:
    """Return the run of a file, perhaps the one before a reranking; a run in another form as it is.

    With `may_repeat`, documents may be listed twice.
    """
    if not isinstance(run, (str, os.PathLike)):
        return run
    from permed_measures.files.read import load

    path = existing(run)
    how: dict[str, Any] = {"before_reranking": before_reranking, "may_repeat": may_repeat}
    loaded = load(path, "run", order=order, **how)
    for note in filter(None, [loaded.labels, *loaded.notes]):
        warnings.warn(note, PermedWarning, stacklevel=3)
    return with_path(loaded.table, path)


def loaded_runs(
    runs: Mapping[str, RunLike],
    order: str = "score",
    rewriting: str | None = None,
    qrels: QrelsLike | Judgments | None = None,
    may_repeat: bool = False,
) -> Mapping[str, Any]:
    """Return runs by name, each read when it is asked for; with query ids as the qrels have them.

    With `may_repeat`, documents may be listed twice.
    """
    read = partial(loaded_run, order=order, may_repeat=may_repeat)
    if rewriting is not None:
        return _LoadedRuns(runs, lambda run: _renamed(read(run), qrels, rewriting))
    if isinstance(runs, dict) and any(isinstance(run, (str, os.PathLike)) for run in runs.values()):
        return _LoadedRuns(runs, read)
    return runs


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


def _renamed(run: Any, qrels: Any, rewriting: str) -> Any:
    from permed_measures.engine.query_ids import renamed

    path = getattr(run, "path", None)
    rewritten = renamed(run, qrels, rewriting).run
    return rewritten if path is None else with_path(rewritten, path)


class _LoadedRuns(Mapping[str, Any]):
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


def with_path(run: Any, path: Path) -> FileRun | Batches:
    """Return the run of a file, which knows the file, so that errors and warnings name it."""
    if not isinstance(run, Batches):
        return FileRun(run, path)
    run.path = path
    return run


def existing(name: str | os.PathLike[str], only_files: bool = False) -> Path:
    """Return the path of a file, or raise an error that says what else may have been meant.

    With `only_files` there is no place for the id of a data set beside it.
    """
    path = _path(name)
    if not _exists(path):
        raise _no_file(path, only_files)
    return path


def _no_file(path: Path, only_files: bool = False) -> InputError:
    hint = nearest(
        path.name, (name for each in files_beside(path) if _is_like(name := Path(each).name, path))
    )
    if path.as_posix() in NAMES:
        hint = "This is the id of a data set"
        hint += ", and here only files are taken" if only_files else ": its qrels come first, then the run"
    return InputError("No such file or directory", where=f"{path!s:.200}", hint=hint)


def _is_like(name: str, path: Path) -> bool:
    """Return whether names are alike without their endings, which many files share."""
    ours, theirs = path.stem.lower(), Path(name).stem.lower()
    return len(ours) < _LONGEST and SequenceMatcher(None, theirs, ours).ratio() >= _ALIKE


_ALIKE = 0.6
"""What difflib takes for a close match."""


def _path(name: str | os.PathLike[str]) -> Path:
    """Return the path that a name means: ``-`` is standard input, and a URL is refused."""
    if str(name) == "-":
        return STDIN
    if _URL.match(os.fspath(name)):
        raise InputError(
            "this is a URL, and only files are read",
            where=re.sub(":/+", "://", os.fspath(name), count=1),
            hint="Download it first, such as by curl -LO URL",
        )
    return Path(name)


def _exists(path: Path) -> bool:
    return path == STDIN or os.path.lexists(path)


_URL = re.compile("[a-z][a-z0-9+]+:/", re.IGNORECASE)
"""A path loses the second slash; one letter is a drive of Windows."""
