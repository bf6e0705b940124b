"""What arguments of the command line name: files, folders, data sets; what is said as they are read."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

from permed_measures.cli.progress import progress
from permed_measures.datasets import NAMES, load, qrels_of
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.query_ids import REWRITINGS, renamed
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.errors import InputError, NoSharedQueryWarning
from permed_measures.files.read import load as load_file
from permed_measures.files.read import read_qrels
from permed_measures.files.sources import ProgressCallback
from permed_measures.markup import counted, one_line

__all__ = [
    "Labels",
    "Order",
    "Rewriting",
    "RunFiles",
    "RunReader",
    "checked",
    "labels_of",
    "notes",
    "runs_named",
    "tell",
]

Order = Enum("Order", {"score": "score", "list": "list"})
Rewriting = Enum("Rewriting", {name: name for name in REWRITINGS})  # type: ignore[misc]


def tell(text: str) -> None:
    """Print a line to stderr; names of files and runs in it cannot control the terminal."""
    print(one_line(text), file=sys.stderr)


@contextmanager
def notes() -> Iterator[None]:
    """Show warnings as notes, each once, and make a run that shares no query with the qrels an error."""
    said: set[str] = set()

    def say(message: Warning | str, *_: Any, **__: Any) -> None:
        if str(message) not in said:
            tell(f"note: {message}")
        said.add(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.simplefilter("error", NoSharedQueryWarning)
        warnings.showwarning = say
        yield


def runs_named(runs: list[str]) -> dict[str, Path]:
    """Return the run files by name: what stands before the =, or the name of the file; of a folder all."""
    named: dict[str, Path] = {}
    for name, file in [each for run in runs for each in _files(run)]:
        if name in named:
            raise InputError(
                f"two runs are named {name!r} ({named[name]} and {file})",
                hint="Name them: NAME=FILE NAME=FILE",
            )
        named[name] = file
    return named


def _files(run: str) -> list[tuple[str, Path]]:
    """Return the files of an argument with their names."""
    if Path(run).is_dir():
        return _in_folder(Path(run))
    name, equals, file = run.partition("=")
    if not equals or Path(run).exists():
        name, file = _name(Path(run)), run
    if not name or not file:
        raise InputError(f"a run is FILE or NAME=FILE (found {run!r})")
    return [(name, Path(file))]


def _in_folder(folder: Path) -> list[tuple[str, Path]]:
    """Return the files of a folder with their names, but for hidden ones."""
    inside = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    found = [path for path in inside if path.is_file()]
    if not found:
        raise InputError("a folder of runs must hold run files (found none)", where=str(folder))
    if len(found) < len(inside):
        others = [path.name for path in inside if path not in found]
        tell(f"note: {folder}: what is no file is not read ({', '.join(others)})")
    return [(_name(path), path) for path in found]


_RUN_ENDINGS = (".trec", ".run", ".res", ".txt", ".jsonl", ".json", ".csv", ".tsv", ".parquet", "")


def _name(path: Path) -> str:
    """Return the name of a file without the ending of its format: a dot may be part of the name."""
    name = path.name.removesuffix(".gz").removesuffix(".zst")
    return next(name.removesuffix(each) for each in _RUN_ENDINGS if name.endswith(each))


class Labels(NamedTuple):
    """Judgments as they were read, and the data set that they are of, if any."""

    qrels: Any
    dataset: Any


def labels_of(qrels: str) -> Labels:
    """Read the judgments of a file, or of a data set by its id or folder."""
    path = Path(qrels)
    if qrels in NAMES and path.is_file():
        tell(f"note: {qrels} is a file here, and is taken rather than the data set of this name")
    if path.is_dir() or (not path.exists() and not path.suffix):
        dataset = load(qrels)
        return Labels(qrels_of(dataset, qrels), dataset)
    return Labels(read_qrels(path), None)


class RunReader(NamedTuple):
    """How run files are read.

    Attributes
    ----------
    order : Order
        Whether scores or the order of a list counts.
    query_ids : Rewriting or None
        How query ids are rewritten.
    judgments : Judgments
        Whose query ids they are to meet.
    """

    order: Order
    query_ids: Rewriting | None
    judgments: Judgments

    def on(self, evaluate: Callable[[Any], Any]) -> Callable[[Path], Any]:
        """Return what evaluates a run file; an error that is about the run as a whole names the file."""

        def evaluate_file(path: Path) -> Any:
            try:
                with progress(path.name) as tick:
                    return evaluate(self._run(path, tick))
            except NoSharedQueryWarning as warning:
                raise InputError(str(warning), where=str(path)) from None

        return evaluate_file

    def _run(self, path: Path, tick: ProgressCallback) -> Any:
        loaded = load_file(path, "run", order=self.order.value, progress=tick)
        if loaded.labels:
            tell(f"note: {path} holds {loaded.labels}: the order of its lines is taken as the run")
        for note in loaded.notes:
            tell(f"note: {note}")
        if self.query_ids is None:
            return loaded.table
        try:
            run, renaming = renamed(loaded.table, self.judgments, self.query_ids.value)
        except InputError as error:
            raise InputError(error.problem, where=str(path), hint=error.hint) from None
        changed = [f"{old!r} to {new!r}" for old, new in renaming.items() if old != new]
        if changed:
            tell(f"note: {path}: rewrote {counted(len(changed), 'query id')} (the first: {changed[0]})")
        return run


class RunFiles(Mapping[str, Any]):
    """Runs by name, each read when it is asked for: one is held at a time."""

    def __init__(self, named: dict[str, Path], read_run: Callable[[Path], Any]) -> None:
        self._named, self._read_run = named, read_run

    def __getitem__(self, name: str) -> Any:
        """Read a run."""
        return self._read_run(self._named[name])

    def __iter__(self) -> Iterator[str]:
        """Return the names, in the order of the arguments."""
        return iter(self._named)

    def __len__(self) -> int:
        """Return how many runs there are."""
        return len(self._named)


def checked(judgments: Judgments) -> Callable[[Any], Any]:
    """Return what gives back a run after a look at it, so that an error in it names its file."""

    def check(run: Any) -> Any:
        JudgedRankings.of(judgments, run)
        return run

    return check
