"""Whether the numbers of a record still come out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ir_measures.measures import Measure

from permed_measures import __version__
from permed_measures.datasets.loading import runs_by_name
from permed_measures.datasets.samples import SAMPLE_FOLDER
from permed_measures.engine.inputs import QrelsLike, RunLike
from permed_measures.errors import InputError, PermedError, PermedWarning, shown
from permed_measures.files.provenance import Origin, provenance
from permed_measures.markup import counted
from permed_measures.records.changes import NOTHING, TOLERANCE, Difference, compared
from permed_measures.records.record import Record, checked, described, is_record, read_record
from permed_measures.records.record import record as record_of
from permed_measures.results.report import Report, Result, Section

_SHOWN = 12
"""The number of differences that are printed."""


@dataclass(frozen=True)
class Verification(Result):
    """The outcome for one record; ``print`` shows it.

    Attributes
    ----------
    name : str
        The file of the record.
    differences : list of Difference
        What is not as recorded.
    not_checked : list of str
        The fields that cannot be computed again, such as ``created`` and ``versions``.
    error : str
        Why nothing could be computed again; empty if it could.
    is_read : bool
        Whether the record and its files could be read.
    n_values : int
        The number of values of queries that were computed again.
    notes : list of str
    measures : list of Measure
    origin : Origin
        The record and the files that were read.
    """

    name: str
    differences: list[Difference] = field(default_factory=list)
    not_checked: list[str] = field(default_factory=list)
    error: str = ""
    is_read: bool = True
    n_values: int = 0
    notes: list[str] = field(default_factory=list)
    measures: list[Measure] = field(default_factory=list, repr=False)
    origin: Origin = field(default_factory=Origin, repr=False)

    @property
    def ok(self) -> bool:
        """Whether everything that was computed again is as recorded."""
        return not self.differences and not self.error

    def report(self) -> Report:
        """Say what differs, and what was not checked."""
        return verified([self])

    def _texts(self) -> list[str]:
        if self.ok:
            texts = [f"reproduced: {counted(self.n_values, 'value')} computed again, none differs"]
        else:
            texts = [f"not computed again: {self.error}"] if self.error else ["not reproduced"]
        texts += list(map(str, self.differences[:_SHOWN]))
        more = len(self.differences) - _SHOWN
        texts += [f"and {counted(more, 'more difference')}: --format json has all"] if more > 0 else []
        texts += [f"not checked: {', '.join(self.not_checked)}"] if self.not_checked else []
        return [*texts, *(f"note: {note}" for note in self.notes)]

    def content(self) -> dict[str, Any]:
        """Return what the JSON has of the outcome; where one of two values is missing, so is its field."""
        return {
            "record": self.name,
            "reproduced": self.ok,
            "values": self.n_values,
            "error": self.error or None,
            "differences": [
                {name: value for name, value in each._asdict().items() if value is not NOTHING}
                for each in self.differences
            ],
            "not_checked": self.not_checked,
            "notes": self.notes,
        }


def verified(found: Sequence[Verification]) -> Report:
    """Report the outcomes of records: a section for each."""
    return Report(
        counted(len(found), "record"),
        sections=[Section(each.name, texts=each._texts()) for each in found],
        data=lambda: [
            {**each.content(), "provenance": provenance(each.measures, each.origin)} for each in found
        ],
        rows=lambda: map(_row, found),
    )


def _row(found: Verification) -> dict[str, Any]:
    """Return the outcome of a record in a line."""
    lists = {"differences": [each.key for each in found.differences], "not_checked": found.not_checked}
    content = {**found.content(), "notes": found.notes, **lists}
    return {name: "; ".join(each) if isinstance(each, list) else each for name, each in content.items()}


def verify(
    record: str | os.PathLike[str] | Record,
    qrels: QrelsLike | None = None,
    run: Mapping[str, RunLike] | RunLike | None = None,
    folder: str | os.PathLike[str] | None = None,
) -> Verification:
    """Compute the numbers of a record again, and say what differs.

    Parameters
    ----------
    record : path or Record
    qrels : QrelsLike, optional
        If left out, the data set or the file that the record names.
    run : path or other form of a run, or a mapping of them by name, optional
        Likewise. A mapping needs the names of the record; a single run is taken for a record of one.
    folder : path, optional
        Where the files are that a record names: its paths begin there, or the files stand there. If left out,
        the folder of the record. Nothing outside it is read but what `qrels` and `run` are, data sets, and
        the packaged sample.

    Returns
    -------
    Verification
        ``ok`` if everything that can be computed again is the same: the hashes of the files and the labels,
        the options, measures and conventions, the means, the values of all queries, ceilings, judged shares,
        tests. With the version that made the record numbers must be equal to the last bit, with another
        within 1e-9; texts may then differ, which ``not_checked`` says.

    Raises
    ------
    InputError
        If the file is no record, or the qrels or a run cannot be found.

    Examples
    --------
    >>> from permed_measures.records.record import record
    >>> qrels, run = {"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}
    >>> made = record(qrels, {"mine": run}, ["RR"])
    >>> verify(made, qrels, {"mine": run}).ok
    True
    >>> made["runs"][0]["metrics"]["RR"] = 0.51
    >>> print(verify(made, qrels, {"mine": run}).differences[1])
    runs.mine.metrics.RR: recorded 0.51, computed 0.5
    """
    recorded = checked(record, "record") if isinstance(record, Record) else read_record(record)
    name = recorded.source or "record"
    files = _Files(recorded, name, Path(folder or Path(name).parent))
    runs = files.runs(run)
    found_qrels = files.qrels() if qrels is None else qrels
    error, remade = "", recorded
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PermedWarning)  # whoever made the record has seen it
        try:
            remade = record_of(found_qrels, runs, recorded.measures, created=False, **recorded["options"])
        except PermedError as problem:
            error = str(problem)
            remade = Record({**recorded, "inputs": described(Origin.of(found_qrels, runs))})
    differences, not_checked = compared(recorded, remade)
    n_values = 0 if error else len(recorded["query_ids"]) * len(recorded.measures) * len(runs)
    notes = []
    if recorded.version != __version__:
        notes = [f"made by version {recorded.version}, this is {__version__}: within {TOLERANCE:g} is equal"]
    origin = replace(Origin.of(found_qrels, runs), others={"record": Path(name)} if recorded.source else {})
    return Verification(
        name, differences, not_checked, error, True, n_values, notes, recorded.measures, origin
    )


@dataclass(frozen=True)
class _Files:
    """The files that a record names: regular ones in its folder, or in the packaged sample."""

    record: Record
    name: str
    folder: Path

    def qrels(self) -> str:
        """Return the qrels: the id of a data set, or where the file or folder is."""
        named = self.record["qrels"]
        if "dataset" in named and not os.path.lexists(named["dataset"]) and named["dataset"] != "-":
            return str(named["dataset"])
        return self._find(named.get("path", ""), "qrels", "--qrels FILE")

    def runs(self, given: Any) -> dict[str, Any]:
        """Return the runs by the names of the record."""
        names = self.record.runs
        if given is None:
            paths = {each.get("name"): each.get("path", "") for each in self.record.inputs("run")}
            return {
                name: self._find(paths.get(name, ""), f"run {name!r}", "--run NAME=FILE") for name in names
            }
        named = runs_by_name(given)
        if set(names) <= set(named):
            return {name: named[name] for name in names}
        if len(names) == len(named) == 1:
            return dict(zip(names, named.values(), strict=True))
        expected = f"the record has the runs {', '.join(map(repr, names))}"
        raise InputError(expected, where=self.name, hint="Name a file for each: NAME=FILE")

    def _find(self, path: str, what: str, option: str) -> str:
        """Return where a file is: where its path leads from the folder, or in the folder itself."""
        places = [self.folder / path, self.folder / Path(path).name] if path not in ("", "-") else []
        for place in places:
            if any(_is_in(place, folder) for folder in (self.folder, SAMPLE_FOLDER)):
                return str(place)
        problem = f"there is no file {shown(path)} for the {what} in the folder {str(self.folder)!r}"
        hint = f"Name it: {option}, or the folder where the paths begin: --folder FOLDER"
        raise InputError(problem, where=self.name, hint=hint)


def _is_in(path: Path, folder: Path) -> bool:
    """Return whether this is a regular file in a folder, or a folder of them; no link may lead out."""
    try:
        inside = path.resolve().is_relative_to(folder.resolve())
        files = [each for each in path.iterdir() if not each.is_dir()] if path.is_dir() else [path]
        return inside and all(
            each.is_file() and each.resolve().is_relative_to(folder.resolve()) for each in files
        )
    except (OSError, ValueError, RuntimeError):  # a name that no file can have, links in a circle
        return False


# --- many records ------------------------------------------------------------------------------------


def verify_all(
    paths: Iterable[Path], qrels: QrelsLike | None, run: Any, folder: Path | None
) -> Iterator[Verification]:
    """Yield the outcome of each record, and of each file of a folder that ends in .json or begins like one.

    A record that cannot be read, or whose files cannot be found, has an ``error``, and the others follow.
    """
    for path in paths:
        for file in _records_in(path):
            origin = Origin(others={"record": file})
            try:
                yield verify(file, qrels, run, folder)
            except PermedError as error:
                problem = str(error).removeprefix(f"{file}: ")
                yield Verification(str(file), error=problem, is_read=False, origin=origin)
            except OSError as error:
                problem = error.strerror or str(error)
                yield Verification(str(file), error=problem, is_read=False, origin=origin)


def _records_in(path: Path) -> list[Path]:
    """Return the records of a folder, or the path itself."""
    if not path.is_dir():
        return [path]
    found = sorted(each for each in path.iterdir() if each.suffix == ".json" or is_record(each))
    if not found:
        raise InputError("there is no record in this folder", where=str(path))
    return found
