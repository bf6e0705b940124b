"""Whether the numbers of a record still come out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from ir_measures.measures import Measure

from permed_measures import __version__
from permed_measures.datasets import SAMPLE_FOLDER
from permed_measures.errors import InputError, short_repr, warnings_about
from permed_measures.escaping import pluralize
from permed_measures.inputs.columns import QrelsLike, RunLike
from permed_measures.inputs.runs import runs_by_name
from permed_measures.measures.headings import alias_notes
from permed_measures.provenance import Origin, provenance, stored
from permed_measures.records.record import Record, as_record, recorded
from permed_measures.results.report import Report, Result, Section, how_made
from permed_measures.tolerances import AGREEMENT


class RecordDifference(NamedTuple):
    """What is not as recorded.

    Attributes
    ----------
    part : str
        ``record``, ``qrels``, ``queries``, ``run bm25``, or ``bm25, nDCG@10``.
    text : str
        What differs.
    largest : float
        Of values, the largest difference.
    """

    part: str
    text: str
    largest: float = 0.0

    def __str__(self) -> str:
        """Say it in a line."""
        return f"{self.part}: {self.text}"


@dataclass(frozen=True)
class Verification(Result):
    """The outcome for one record; ``print`` shows it.

    Attributes
    ----------
    name : str
        The file of the record.
    differences : list of Difference
    n_values : int
        The number of values of queries that were computed again.
    notes : list of str
    origin : Origin
        The record and the files that were read.
    measures : list of Measure
        With the names that the record gives them.
    """

    name: str
    differences: list[RecordDifference]
    n_values: int
    notes: list[str] = field(default_factory=list)
    origin: Origin = field(default_factory=Origin, repr=False)
    measures: list[Measure] = field(default_factory=list, repr=False)

    @property
    def ok(self) -> bool:
        """Whether everything is as recorded."""
        return not self.differences

    def report(self) -> Report:
        """Say what differs, and which measures have another name than their own."""
        again = f"reproduced: {pluralize(self.n_values, 'value')} computed again, none differs"
        notes = [f"note: {note}" for note in self.notes]
        texts = [again if self.ok else "not reproduced", *map(str, self.differences)]
        rows = self.differences or [RecordDifference("record", again)]
        return Report(
            self.name,
            sections=[Section(self.name, texts=[*texts, *alias_notes(self.measures), *notes])],
            data=lambda: {
                "record": self.name,
                "reproduced": self.ok,
                "values": self.n_values,
                "largest_difference": max((each.largest for each in self.differences), default=0.0),
                "differences": list(map(str, self.differences)),
                "notes": self.notes,
                "provenance": provenance(self.measures, self.origin),
            },
            rows=lambda: [each._asdict() for each in rows],
            how=partial(how_made, self.measures, self.origin),
        )


def verify(
    record: str | os.PathLike[str] | Mapping[str, Any],
    qrels: QrelsLike | None = None,
    run: Mapping[str, RunLike] | RunLike | None = None,
    folder: str | os.PathLike[str] | None = None,
    download: bool = False,
) -> Verification:
    """Compute the numbers of a record again, and say what differs.

    Parameters
    ----------
    record : path or Record
        Or what the JSON of a record holds, as a dict.
    qrels : QrelsLike, optional
        If left out, the data set or the file that the record names.
    run : path or other form of a run, or a mapping of them by name, optional
        Likewise. A mapping needs the names of the record; a single run is taken for a record of one.
    folder : path, optional
        Where the files are that a record names: its paths begin there, or the files stand there. If left out,
        its paths begin in the folder of the record. Of what a record names only regular files are read: those
        in this folder (if left out, in that of the record and in the working directory), the packaged sample,
        and elsewhere a file whose SHA-256 the record has.
    download : bool
        Whether a data set that the record names may be downloaded. Without it one is used that is on this
        machine.

    Returns
    -------
    Verification
        ``ok`` if the record was not edited, and labels, queries, files of runs, the values of all queries and
        the means are as recorded. With the version that made the record numbers must be equal to the last
        bit, with another within 1e-9.

    Raises
    ------
    InputError, MeasureError
        If the file is no record, the qrels or a run cannot be found, would have to be downloaded, or cannot
        be evaluated.

    Examples
    --------
    >>> from permed_measures.records.record import record
    >>> qrels, run = {"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}
    >>> made = record(qrels, {"mine": run}, ["RR"])
    >>> verify(made, qrels, {"mine": run}).ok
    True
    >>> made["runs"]["mine"]["means"]["RR"] = 0.51
    >>> print(verify(made, qrels, {"mine": run}).differences[1])
    mine, RR: mean recorded 0.51, computed 0.5
    """
    before = as_record(record)
    name, options = before.source or "record", before["options"]
    files = _Files(before, name, None if folder is None else Path(folder))
    runs = files.runs(run)
    found_qrels = files.qrels() if qrels is None else qrels
    foreign = None if download or qrels is not None else files.dataset
    with (
        warnings_about(None),  # whoever made the record has seen them
        _without_downloads(foreign) if foreign else nullcontext(),
    ):
        again = recorded(found_qrels, runs, before.measures, **options, created=False)
    is_same = before.version == __version__
    differences = list(_differences(before, again, 0.0 if is_same else AGREEMENT))
    n_values = len(again["query_ids"]) * len(again["measures"]) * len(runs)
    made_by = f"made by version {before.version}, this is {__version__}: within {AGREEMENT:g} is equal"
    origin = Origin.of(found_qrels, runs)._replace(
        others={"record": Path(name)} if before.source else {},
        options={option.replace("_", "-"): value for option, value in options.items()},
    )
    return Verification(name, differences, n_values, [] if is_same else [made_by], origin, before.measures)


def _without_downloads(dataset: str) -> AbstractContextManager[None]:
    from permed_measures.datasets.downloads import without_downloads  # which imports ir_datasets

    return without_downloads(dataset)


def _differences(recorded: Record, again: Record, tolerance: float) -> Iterator[RecordDifference]:
    """Yield what differs between a record and the same evaluation made again."""
    yield from unlike(recorded, again["qrels"]["judgments"], again["query_ids"])
    ids = recorded["query_ids"]
    for run, before in recorded["runs"].items():
        now = again["runs"][run]
        if None not in (before["sha256"], now["sha256"]) and before["sha256"] != now["sha256"]:
            yield RecordDifference(f"run {run}", "the file is not that of the record")
        for measure in recorded["measures"]:
            part = f"{run}, {measure}"
            mean, new_mean = before["means"][measure], now["means"][measure]
            if (largest := abs(mean - new_mean)) > tolerance:
                yield RecordDifference(part, f"mean recorded {mean!r}, computed {new_mean!r}", largest)
            if ids == again["query_ids"]:
                yield from _of_queries(
                    part, ids, before["values"][measure], now["values"][measure], tolerance
                )


def unlike(recorded: Record, judgments: str, query_ids: list[str]) -> Iterator[RecordDifference]:
    """Yield where a record was edited, or is of other labels than those with a hash and query ids."""
    if recorded["sha256"] != recorded.seal:
        yield RecordDifference(
            "record", "it was edited after it was written: sha256 is not that of its content"
        )
    if recorded["qrels"]["judgments"] != judgments:
        yield RecordDifference("qrels", "the labels are not those of the record")
    if recorded["query_ids"] != query_ids:
        gone, new = {*recorded["query_ids"]} - {*query_ids}, {*query_ids} - {*recorded["query_ids"]}
        yield RecordDifference("queries", f"gone {short_repr(sorted(gone))}, new {short_repr(sorted(new))}")


def _of_queries(
    part: str, ids: list[str], before: list[float], now: list[float], tolerance: float
) -> Iterator[RecordDifference]:
    """Say how many values of queries differ, and which one most."""
    apart = np.abs(np.subtract(before, now))
    if n := int((apart > tolerance).sum()):
        most = int(apart.argmax())
        queries = f"{n:,} of {pluralize(len(ids), 'query')} differ"
        text = f"{queries}, most {short_repr(ids[most])}: recorded {before[most]!r}, computed {now[most]!r}"
        yield RecordDifference(part, text, float(apart[most]))


@dataclass(frozen=True)
class _Files:
    """The files that a record names: regular ones in its folders, or those whose hash it has."""

    record: Record
    name: str
    folder: Path | None

    @property
    def dataset(self) -> str | None:
        """The id of the data set that the qrels are, if they are one; what exists is a file."""
        name: str | None = self.record["qrels"]["dataset"]
        return None if name is None or os.path.lexists(name) or name == "-" else name

    def qrels(self) -> str:
        """Return the qrels: the id of a data set, or where the file or folder is."""
        return self.dataset or self._find(self.record["qrels"], "qrels", "--qrels FILE")

    def runs(self, given: Any) -> dict[str, Any]:
        """Return the runs by the names of the record."""
        recorded = self.record["runs"]
        if given is None:
            return {
                name: self._find(each, f"run {name!r}", "--run NAME=FILE") for name, each in recorded.items()
            }
        named = runs_by_name(given)
        if set(recorded) <= set(named):
            return {name: named[name] for name in recorded}
        if len(recorded) == len(named) == 1:
            return dict(zip(recorded, named.values(), strict=True))
        expected = f"the record has the runs {', '.join(map(repr, recorded))}"
        raise InputError(expected, where=self.name, hint="Name a file for each: NAME=FILE")

    def _find(self, file: Mapping[str, Any], what: str, option: str) -> str:
        """Return where a file is: where its path leads, or in a folder itself."""
        path, beside = file["path"] or "", Path(self.record.source).parent
        folders = [beside, Path()] if self.folder is None else [self.folder]
        places = [folders[0] / path, beside / path, folders[0] / Path(path).name]
        for place in places if path and path != "-" else ():
            inside = any(_is_in(place, folder) for folder in (*folders, SAMPLE_FOLDER))
            if inside or _has_hash(place, file["sha256"]):
                return str(place)
        named = " or ".join(dict.fromkeys(repr(str(each)) for each in folders))
        problem = f"there is no file {short_repr(path)} for the {what} in the folder {named}"
        if not path:
            problem = f"the record names no file for the {what}"
        hint = f"Name it: {option}, or the folder where the paths begin: --folder FOLDER"
        raise InputError(problem, where=self.name, hint=hint)


def _has_hash(path: Path, expected: str | None) -> bool:
    """Return whether whoever made the record had this file: it tells nobody anything new."""
    try:
        return expected is not None and stored(path)["sha256"] == expected
    except (OSError, ValueError):
        return False


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
