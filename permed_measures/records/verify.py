"""Whether the numbers of a record still come out."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self

from permed_measures import __version__
from permed_measures.comparisons.compare import compare
from permed_measures.engine.inputs import QrelsLike, RunLike
from permed_measures.errors import InputError, PermedError, PermedWarning, shown
from permed_measures.files.provenance import Origin, provenance
from permed_measures.markup import as_json, counted
from permed_measures.records.changes import differences
from permed_measures.records.record import Record, described, read_record
from permed_measures.records.record import record as record_of
from permed_measures.terminal import section, terminal_table

TOLERANCE = 1e-9
"""How far numbers of another version may be from ours."""


_SHOWN = 12
"""The number of differences that are printed."""


class Finding(NamedTuple):
    """A difference: what differs (record, file, convention, number, query), and how."""

    what: str
    text: str


@dataclass(frozen=True)
class Verification:
    """The outcome for one record; ``print`` shows it.

    Attributes
    ----------
    name : str
        The file of the record.
    findings : list of Finding
        What differs, that which causes it first.
    notes : list of str
    checked : int
        The number of values that were computed again.
    """

    name: str
    findings: list[Finding]
    notes: list[str] = field(default_factory=list)
    checked: int = 0

    @property
    def ok(self) -> bool:
        """Whether nothing differs."""
        return not self.findings

    def __str__(self) -> str:
        """Say what differs."""
        if self.ok:
            texts = [f"reproduced: {counted(self.checked, 'value')} computed again, none differs"]
        else:
            texts = [f"{each.what}: {each.text}" for each in self.findings[:_SHOWN]]
            more = len(self.findings) - _SHOWN
            texts += [f"and {counted(more, 'more difference')}: --format json has all"] if more > 0 else []
        return section(self.name, [*texts, *(f"note: {note}" for note in self.notes)])

    @classmethod
    def impossible(cls, name: str, error: Exception) -> Self:
        """Return the outcome for a record that cannot be read or computed."""
        return cls(name, [Finding("record", str(error))])

    def content(self) -> dict[str, Any]:
        """Return what the JSON has."""
        found = [each._asdict() for each in self.findings]
        return {
            "record": self.name,
            "reproduced": self.ok,
            "values": self.checked,
            "findings": found,
            "notes": self.notes,
        }


def verify(
    record: str | os.PathLike[str] | Record,
    qrels: QrelsLike | None = None,
    run: Mapping[str, RunLike] | RunLike | None = None,
) -> Verification:
    """Compute the numbers of a record again, and say what differs.

    Parameters
    ----------
    record : path or Record
    qrels : QrelsLike, optional
        If left out, the file or data set that the record names; a file is looked for where the record says,
        then beside the record.
    run : path or other form of a run, or a mapping of them by name, optional
        Likewise. A mapping needs the names of the record; a single run is taken for a record of one.

    Returns
    -------
    Verification
        ``ok`` if everything is the same: the hashes of the files, the measures and conventions, the options,
        the means, the values of all queries, ceilings, judged shares, tests. With the version that made the
        record numbers must be equal to the last bit, with another within 1e-9.

    Raises
    ------
    InputError
        If the file is no record, or the qrels or a run cannot be found or read.

    Examples
    --------
    >>> from permed_measures.records.record import record
    >>> qrels, run = {"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}
    >>> made = record(qrels, {"mine": run}, ["RR"])
    >>> verify(made, qrels, {"mine": run}).ok
    True
    >>> made["runs"][0]["metrics"]["RR"] = 0.51
    >>> verify(made, qrels, {"mine": run}).findings[1]
    Finding(what='number', text='RR of mine: recorded 0.51, computed 0.5')
    """
    if isinstance(record, Record):
        name, folder, recorded = "record", Path(), record
    else:
        name, folder, recorded = str(record), Path(record).parent, read_record(record)
    made_by = _version_of(recorded)
    notes = [] if made_by == __version__ else [_other_version(made_by)]
    findings = [] if recorded.get("sha256") == recorded.seal else [_EDITED]
    runs = _runs_of(recorded, run, folder)
    found_qrels = _qrels_of(recorded, folder) if qrels is None else qrels
    findings += _files(recorded, _inputs(found_qrels, runs))
    try:
        remade = _remade(recorded, found_qrels, runs)
    except PermedError as error:
        return Verification(name, [*findings, Finding("number", f"cannot be computed: {error}")], notes)
    tolerance = 0.0 if made_by == __version__ else TOLERANCE
    findings += [Finding(*each) for each in dict.fromkeys(differences(recorded, remade, tolerance))]
    n_values = len(remade["query_ids"]) * len(remade["measures"]) * len(remade["runs"])
    return Verification(name, findings, notes, n_values)


_EDITED = Finding("record", "it was edited after it was written: its SHA-256 is not that of its content")


def _version_of(recorded: Record) -> str:
    """Return the version that made a record."""
    try:
        [version] = [
            each.partition("==")[2]
            for each in recorded["platform"]["software"]["libraries"]["python"]
            if each.startswith("permed-measures==")
        ]
    except (KeyError, TypeError, ValueError, AttributeError):
        return "another version"
    return str(version)


def _other_version(version: str) -> str:
    return (
        f"made by permed-measures {version}, and this is {__version__}: numbers may differ by {TOLERANCE:g}"
    )


# --- the files ---------------------------------------------------------------------------------------


def _qrels_of(recorded: Record, folder: Path) -> str:
    """Return the qrels that the record names."""
    named = recorded.get("data", {}).get("test collection", {})
    if "ir_datasets" in named:
        return str(named["ir_datasets"])
    return _found(named.get("qrels", ""), folder, "qrels", "--qrels FILE")


def _runs_of(recorded: Record, given: Any, folder: Path) -> dict[str, Any]:
    """Return the runs by the names of the record."""
    if given is None:
        paths = {each.get("name"): each.get("path") or "" for each in recorded.inputs("run")}
        hint = "--run NAME=FILE"
        return {name: _found(paths.get(name, ""), folder, f"run {name!r}", hint) for name in recorded.runs}
    if isinstance(given, Mapping) and set(recorded.runs) == set(given):
        return {name: given[name] for name in recorded.runs}
    if len(recorded.runs) == 1:
        return dict.fromkeys(recorded.runs, next(iter(given.values())) if _is_named(given) else given)
    raise InputError(
        f"the record has the runs {', '.join(map(repr, recorded.runs))}",
        hint="Name a file for each: NAME=FILE",
    )


def _is_named(given: Any) -> bool:
    """Return whether this is one run by another name."""
    return (
        isinstance(given, Mapping)
        and len(given) == 1
        and isinstance(next(iter(given.values())), (str, os.PathLike))
    )


def _found(path: str, folder: Path, what: str, hint: str) -> str:
    """Return where a file of the record is: where it was, or beside the record."""
    places = [Path(path), folder / path, folder / Path(path).name] if path not in ("", "-") else []
    for place in places:
        if place.exists():
            return str(place)
    looked = f" (looked for {path!r}, also beside the record)" if places else ": the record names no file"
    raise InputError(f"cannot find the {what} of this record{looked}", hint=f"Say where it is: {hint}")


def _inputs(qrels: Any, runs: dict[str, Any]) -> list[dict[str, Any]]:
    """Describe the files as they are now."""
    return described(provenance([], Origin.of(qrels, runs)))


def _files(recorded: Record, now: list[dict[str, Any]]) -> list[Finding]:
    """List files that have changed."""
    findings: list[Finding] = []
    for role in ("qrels", "run"):
        before, after = (
            {
                each.get("name", Path(each.get("path") or "").name if role == "qrels" else ""): each
                for each in inputs
            }
            for inputs in (recorded.inputs(role), [each for each in now if each["role"] == role])
        )
        if role == "qrels" and len(before) == len(after) == 1:  # it may have another name now
            after = dict(zip(before, after.values(), strict=True))
        for name in [*before, *(each for each in after if each not in before)]:
            findings += _file(f"{role} {name}", before.get(name), after.get(name))
    return findings


def _file(name: str, before: dict[str, Any] | None, after: dict[str, Any] | None) -> Iterator[Finding]:
    """Yield what differs in a file."""
    if before is None or after is None:
        if (before or after or {}).get("sha256"):
            yield Finding("file", f"{name} is {'not in the record' if before is None else 'no file now'}")
        return
    if before.get("sha256") != after.get("sha256"):
        hashes = (
            f"{(each.get('sha256') or 'none')[:12]}… ({each.get('bytes') or 0:,} bytes)"
            for each in (before, after)
        )
        yield Finding("file", f"{name} has changed: SHA-256 {' recorded, '.join(hashes)} now")
        return
    for key in ("bytes", "format", "ir_metadata"):
        if before.get(key) != after.get(key):
            yield Finding(
                "file", f"{name}: {key} recorded {shown(before.get(key))}, now {shown(after.get(key))}"
            )


# --- the numbers -------------------------------------------------------------------------------------


def _remade(recorded: Record, qrels: Any, runs: dict[str, Any]) -> Record:
    options = recorded.options
    given = {name: value for name, value in vars(options).items() if name != "comparison"}
    known = inspect.signature(compare).parameters
    comparison = options.comparison
    if comparison is not None and (unknown := [each for each in comparison if each not in known]):
        raise InputError(f"options of a comparison that are not known here: {', '.join(unknown)}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PermedWarning)  # whoever made the record has seen it
        return record_of(qrels, runs, recorded.measures, **given, comparison=comparison, created=False)


# --- many records ------------------------------------------------------------------------------------


def summary(found: list[Verification]) -> str:
    """Lay out a table of what reproduces, for the terminal."""
    rows = [
        [each.name, "yes" if each.ok else "no", f"{each.checked:,}", _first_reason(each)] for each in found
    ]
    headings = ["record", "reproduced", "values", "what differs"]
    return terminal_table(
        [headings[0], headings[1], headings[3], headings[2]], [[a, b, d, c] for a, b, c, d in rows], 3
    )


def _first_reason(found: Verification) -> str:
    if found.ok:
        return ""
    more = f" (and {len(found.findings) - 1:,} more)" if len(found.findings) > 1 else ""
    return f"{found.findings[0].what}: {found.findings[0].text}{more}"


def as_verification_json(found: list[Verification]) -> str:
    """Write an object for each record."""
    return as_json([each.content() for each in found], indent=2) + "\n"
