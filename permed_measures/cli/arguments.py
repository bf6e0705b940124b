"""Arguments of the command line: qrels that are files or data sets, runs that are files or folders."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from permed_measures.cli.messages import tell
from permed_measures.cli.progress import ProgressBar
from permed_measures.datasets import NAMES, load, qrels_of
from permed_measures.engine.inputs import Batches, FileRun
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.query_ids import REWRITINGS, renamed
from permed_measures.errors import InputError
from permed_measures.files.read import load as load_file
from permed_measures.markup import counted

T = TypeVar("T")


class Order(StrEnum):
    """What ranks a list."""

    SCORE = "score"
    LIST = "list"


Rewriting = StrEnum("Rewriting", {name: name for name in REWRITINGS})  # type: ignore[misc]


# --- qrels -------------------------------------------------------------------------------------------


class LoadedQrels(NamedTuple):
    """Qrels, and the data set that they belong to, if any."""

    qrels: Any
    dataset: Any


def load_qrels(argument: str) -> LoadedQrels:
    """Read the qrels of a file, or of a data set by its id or folder."""
    path = Path(argument)
    if argument in NAMES and path.is_file():
        tell(f"note: {argument} is a file here, and is used instead of the data set of this name")
    if path.is_dir() or not (path.exists() or path.is_symlink() or path.suffix):
        dataset = load(argument)
        return LoadedQrels(qrels_of(dataset, argument), dataset)
    return LoadedQrels(load_file(path, "qrels").table, None)


# --- runs --------------------------------------------------------------------------------------------


def find_runs(arguments: list[str]) -> dict[str, Path]:
    """Return the run files by name: what stands before the =, or the name of the file; of a folder all."""
    files: dict[str, Path] = {}
    for name, file in [each for argument in arguments for each in _files(argument)]:
        if name in files:
            raise InputError(
                f"two runs are named {name!r} ({files[name]} and {file})",
                hint="Name them: NAME=FILE NAME=FILE",
            )
        files[name] = file
    return files


def _files(argument: str) -> list[tuple[str, Path]]:
    """Return the files of an argument with their names."""
    if Path(argument).is_dir():
        return _in_folder(Path(argument))
    name, equals, file = argument.partition("=")
    if not equals or Path(argument).exists():
        name, file = _run_name(Path(argument)), argument
    if not name or not file:
        raise InputError(f"a run is FILE or NAME=FILE (found {argument!r})")
    return [(name, Path(file))]


def _in_folder(folder: Path) -> list[tuple[str, Path]]:
    """Return the files of a folder with their names, except hidden ones."""
    inside = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    files = [path for path in inside if path.is_file()]
    if not files:
        raise InputError("no run file in this folder", where=str(folder))
    if len(files) < len(inside):
        others = [path.name for path in inside if path not in files]
        tell(f"note: {folder}: ignored (not files): {', '.join(others)}")
    return [(_run_name(path), path) for path in files]


_RUN_ENDINGS = (".trec", ".run", ".res", ".txt", ".jsonl", ".json", ".csv", ".tsv", ".parquet", "")


def _run_name(path: Path) -> str:
    """Return the name of a file without the ending of its format: a dot may be part of the name."""
    name = path.name.removesuffix(".gz").removesuffix(".zst")
    return next(name.removesuffix(each) for each in _RUN_ENDINGS if name.endswith(each))


class RunFiles(Mapping[str, Any]):
    """Runs by name, each read when it is asked for: one is held at a time.

    Parameters
    ----------
    files : dict of str to Path
    judgments : Judgments
        Their query ids are those that the query ids of the runs are rewritten to.
    order : Order
    rewriting : Rewriting or None
        How query ids are rewritten.
    bar : ProgressBar
    """

    def __init__(
        self,
        files: dict[str, Path],
        judgments: Judgments,
        order: Order,
        rewriting: Rewriting | None,
        bar: ProgressBar,
    ) -> None:
        self._files, self._judgments = files, judgments
        self._order, self._rewriting, self._bar = order, rewriting, bar

    def __getitem__(self, name: str) -> FileRun | Batches:
        """Read a run; it knows its file, so that errors about it name that."""
        path = self._files[name]
        loaded = load_file(path, "run", order=self._order, progress=self._bar.of(path.name))
        if loaded.labels:
            tell(f"note: {path} holds {loaded.labels}: the order of its lines is taken as the run")
        for note in loaded.notes:
            tell(f"note: {note}")
        table: Any = loaded.table if self._rewriting is None else self._rewrite(loaded.table, path)
        if isinstance(table, Batches):
            table.path = path
            return table
        return FileRun(table, path)

    def _rewrite(self, table: Any, path: Path) -> Any:
        """Rewrite the query ids of a run so that they meet the qrels, and say so."""
        try:
            run, renaming = renamed(table, self._judgments, str(self._rewriting))
        except InputError as error:
            raise InputError(error.problem, where=error.where or str(path), hint=error.hint) from None
        changed = [f"{old!r} to {new!r}" for old, new in renaming.items() if old != new]
        if changed:
            tell(f"note: {path}: rewrote {counted(len(changed), 'query id')} (the first: {changed[0]})")
        return run

    def map(self, function: Callable[[Any], T]) -> dict[str, T]:
        """Call a function on each run, and return the results by name."""
        return {name: function(run) for name, run in self.items()}

    def __contains__(self, name: object) -> bool:
        """Return whether there is a run of this name, which is not read for that."""
        return name in self._files

    def __iter__(self) -> Iterator[str]:
        """Return the names, in the order of the arguments."""
        return iter(self._files)

    def __len__(self) -> int:
        """Return the number of runs."""
        return len(self._files)
