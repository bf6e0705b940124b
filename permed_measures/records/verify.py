"""Check whether the numbers of a record can be reproduced."""

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
from permed_measures.inputs.columns import QrelsLike, RunLike
from permed_measures.inputs.runs import runs_by_name
from permed_measures.measures.headings import alias_notes
from permed_measures.provenance import Origin, provenance, stored
from permed_measures.records.record import Record, as_record, recorded
from permed_measures.results.report import Report, Result, Section, how_made
from permed_measures.tolerances import AGREEMENT
from permed_measures.wording import pluralize


class RecordDifference(NamedTuple):
    """A difference from the record.

    Attributes
    ----------
    part : str
        ``record``, ``qrels``, ``queries``, ``run bm25``, or ``bm25, nDCG@10``.
    text : str
        The difference in words.
    largest : float
        The largest difference of values; 0 for other parts.
    """

    part: str
    text: str
    largest: float = 0.0

    def __str__(self) -> str:
        """Write the difference in a line."""
        return f"{self.part}: {self.text}"


@dataclass(frozen=True)
class Verification(Result):
    """The outcome of verifying a record; ``print`` shows it.

    Attributes
    ----------
    name : str
        The file of the record.
    differences : list of RecordDifference
    n_values : int
        The number of query values that were computed again.
    notes : list of str
    origin : Origin
        The record and the files that were read.
    measures : list of Measure
        The measures, with their names in the record.
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
        """Report the differences, and the measures that have a name of the user."""
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
            provenance=partial(how_made, self.measures, self.origin),
        )


def verify(
    record: str | os.PathLike[str] | Mapping[str, Any],
    qrels: QrelsLike | None = None,
    run: Mapping[str, RunLike] | RunLike | None = None,
    folder: str | os.PathLike[str] | None = None,
    download: bool = False,
) -> Verification:
    """Compute the numbers of a record again, and list the differences.

    Parameters
    ----------
    record : path or Record
        A record, its file, or the content of its JSON as a dict.
    qrels : QrelsLike, optional
        If left out, the data set or the file that the record names.
    run : path or other form of a run, or a mapping of them by name, optional
        If left out, the files that the record names. A mapping needs the names of the record; a single run
        needs no name if the record has one run.
    folder : path, optional
        The folder in which the paths of the record begin, or that has the files themselves. If left out, it
        is the folder of the record. Only regular files are read: those in this folder (if left out, in the
        folder of the record and in the working directory), the packaged sample, and any other file whose
        SHA-256 is in the record.
    download : bool
        Whether a data set that the record names may be downloaded. If false, it is used only if it is on this
        machine.

    Returns
    -------
    Verification
        ``ok`` if the record was not edited, and the labels, the queries, the files of runs, the values of all
        queries and the means are as recorded. Numbers must be equal to the last bit if this version made the
        record, and within 1e-9 if another one did.

    Raises
    ------
    InputError, MeasureError
        If the file is not a record, or the qrels or a run cannot be found or evaluated, or would need a
        download.

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
        warnings_about(None),  # `record` showed these warnings before
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
    from permed_measures.datasets.downloads import without_downloads  # imports ir_datasets, which is slow

    return without_downloads(dataset)


def _differences(recorded: Record, again: Record, tolerance: float) -> Iterator[RecordDifference]:
    """Yield the differences between a record and the same evaluation, made again."""
    yield from mismatches(recorded, again["qrels"]["judgments"], again["query_ids"])
    ids = recorded["query_ids"]
    for run, before in recorded["runs"].items():
        now = again["runs"][run]
        if None not in (before["sha256"], now["sha256"]) and before["sha256"] != now["sha256"]:
            yield RecordDifference(f"run {run}", "the file differs from the recorded one")
        for measure in recorded["measures"]:
            part = f"{run}, {measure}"
            mean, new_mean = before["means"][measure], now["means"][measure]
            if (largest := abs(mean - new_mean)) > tolerance:
                yield RecordDifference(part, f"mean recorded {mean!r}, computed {new_mean!r}", largest)
            if ids == again["query_ids"]:
                yield from _query_differences(
                    part, ids, before["values"][measure], now["values"][measure], tolerance
                )


def mismatches(recorded: Record, judgments: str, query_ids: list[str]) -> Iterator[RecordDifference]:
    """Check whether a record was edited, and whether its labels and queries are these; yield differences."""
    if recorded["sha256"] != recorded.content_hash:
        yield RecordDifference(
            "record", "it was edited after it was written: its sha256 does not match its content"
        )
    if recorded["qrels"]["judgments"] != judgments:
        yield RecordDifference("qrels", "the labels differ from those of the record")
    if recorded["query_ids"] != query_ids:
        missing, new = {*recorded["query_ids"]} - {*query_ids}, {*query_ids} - {*recorded["query_ids"]}
        text = f"missing {short_repr(sorted(missing))}, new {short_repr(sorted(new))}"
        yield RecordDifference("queries", text)


def _query_differences(
    part: str, ids: list[str], before: list[float], now: list[float], tolerance: float
) -> Iterator[RecordDifference]:
    """Count the queries whose values differ, and show the one that differs most."""
    differences = np.abs(np.subtract(before, now))
    if n := int((differences > tolerance).sum()):
        largest = int(differences.argmax())
        queries = f"{n:,} of {pluralize(len(ids), 'query')} differ"
        numbers = f"recorded {before[largest]!r}, computed {now[largest]!r}"
        text = f"{queries}, most {short_repr(ids[largest])}: {numbers}"
        yield RecordDifference(part, text, float(differences[largest]))


@dataclass(frozen=True)
class _Files:
    """Find the files that a record names: regular files in its folders, or files whose hash it has."""

    record: Record
    name: str
    folder: Path | None

    @property
    def dataset(self) -> str | None:
        """The id of the qrels' data set; None if the qrels are a file, or a file of that name exists."""
        name: str | None = self.record["qrels"]["dataset"]
        return None if name is None or os.path.lexists(name) or name == "-" else name

    def qrels(self) -> str:
        """Find the qrels: the id of a data set, or the path of a file or folder."""
        return self.dataset or self._find(self.record["qrels"], "qrels", "--qrels FILE")

    def runs(self, run: Any) -> dict[str, Any]:
        """Match the runs to the names of the record; find their files if none are named."""
        recorded = self.record["runs"]
        if run is None:
            return {
                name: self._find(each, f"run {name!r}", "--run NAME=FILE") for name, each in recorded.items()
            }
        named = runs_by_name(run)
        if set(recorded) <= set(named):
            return {name: named[name] for name in recorded}
        if len(recorded) == len(named) == 1:
            return dict(zip(recorded, named.values(), strict=True))
        expected = f"the record has the runs {', '.join(map(repr, recorded))}"
        raise InputError(expected, where=self.name, hint="Name a file for each: NAME=FILE")

    def _find(self, file: Mapping[str, Any], what: str, option: str) -> str:
        """Find a file of the record: by its path, or by its name in the folder."""
        path, beside = file["path"] or "", Path(self.record.source).parent
        folders = [beside, Path()] if self.folder is None else [self.folder]
        candidates = [folders[0] / path, beside / path, folders[0] / Path(path).name]
        for candidate in candidates if path and path != "-" else ():
            inside = any(_is_in(candidate, folder) for folder in (*folders, SAMPLE_FOLDER))
            if inside or _has_hash(candidate, file["sha256"]):
                return str(candidate)
        named = " or ".join(dict.fromkeys(repr(str(each)) for each in folders))
        problem = f"there is no file {short_repr(path)} for the {what} in the folder {named}"
        if not path:
            problem = f"the record names no file for the {what}"
        hint = f"Name it: {option}, or the folder where the paths begin: --folder FOLDER"
        raise InputError(problem, where=self.name, hint=hint)


def _has_hash(path: Path, expected: str | None) -> bool:
    """Check whether a file has the recorded hash: its content is then known to the author of the record."""
    try:
        return expected is not None and stored(path)["sha256"] == expected
    except (OSError, ValueError):
        return False


def _is_in(path: Path, folder: Path) -> bool:
    """Check whether a path is a regular file in a folder, or a folder of them; no link may lead out of it."""
    try:
        inside = path.resolve().is_relative_to(folder.resolve())
        files = [each for each in path.iterdir() if not each.is_dir()] if path.is_dir() else [path]
        return inside and all(
            each.is_file() and each.resolve().is_relative_to(folder.resolve()) for each in files
        )
    except (OSError, ValueError, RuntimeError):  # an impossible file name, or links in a circle
        return False
