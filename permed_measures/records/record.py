"""Write and read records: JSON files with the values of all queries and everything they depend on."""

from __future__ import annotations

import copy
import datetime
import hashlib
import json
import math
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ir_measures.measures import Measure

from permed_measures.datasets import SAMPLE_FOLDER
from permed_measures.engine.evaluator import Evaluation
from permed_measures.engine.judgments import Judgments
from permed_measures.errors import InputError, MeasureError, check_choice, did_you_mean, short_repr
from permed_measures.escaping import as_json
from permed_measures.experiment import Experiment, check_nonempty
from permed_measures.inputs.columns import QrelsLike, RunLike
from permed_measures.inputs.runs import runs_by_name
from permed_measures.inputs.write import write_whole
from permed_measures.measures.descriptions import ORDERS
from permed_measures.measures.headings import name_of
from permed_measures.measures.parameters import with_alias
from permed_measures.measures.parsing import MeasuresLike, parse_measure
from permed_measures.provenance import Origin, provenance
from permed_measures.results.evaluations import Evaluations
from permed_measures.wording import pluralize

FORM = "permed-measures record 4"
"""The format of a record; the number changes when other versions cannot read it."""

_UNSEALED = ("created", "sha256")
"""The fields that the hash of a record leaves out."""


class Record(dict[str, Any]):
    """The content of a record, as in its JSON.

    ``sha256`` is the hash of all other fields except ``created``, so that later edits are noticed. `source`
    is the file of the record; paths in the record begin in its folder.
    """

    source = ""

    @property
    def content_hash(self) -> str:
        """The SHA-256 of the content; it equals ``sha256`` unless the record was edited."""
        content = {name: value for name, value in self.items() if name not in _UNSEALED}
        return _hash(json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False))

    @property
    def measures(self) -> list[Measure]:
        """The measures, with the user's names."""
        parsed = ((name, parse_measure(text)) for name, text in self["measures"].items())
        return [with_alias(each, name) if name_of(each) != name else each for name, each in parsed]

    @property
    def version(self) -> str:
        """The version of permed-measures that made it."""
        return str(self["versions"]["permed-measures"])

    def to_json(self) -> str:
        """Write the record as JSON. The same inputs give the same text, except for ``created``."""
        return as_json(self, indent=1, allow_nan=False) + "\n"

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the record to a file, whole or not at all; its paths then begin in the file's folder."""
        relocated = self._relocated(Path(path).parent)
        write_whole(Path(path), relocated.to_json().encode(errors="backslashreplace"))

    def _relocated(self, folder: Path) -> Record:
        """Copy the record with paths that begin in a folder; an edited record keeps its wrong hash."""
        relocated, is_intact = copy.deepcopy(self), self["sha256"] == self.content_hash
        begin, end = (os.path.realpath(each) for each in (Path(self.source).parent, folder))
        for file in (relocated["qrels"], *relocated["runs"].values()):
            if file["path"] and file["path"] != "-":
                file["path"] = _relative(Path(begin, file["path"]), end)
        if is_intact:
            relocated["sha256"] = relocated.content_hash
        return relocated

    def __repr__(self) -> str:
        """Name the runs and the measures."""
        queries = pluralize(len(self["query_ids"]), "query")
        measures = (f"{k} ({text})" if k != text else k for k, text in self["measures"].items())
        return f"<Record of {', '.join(self['runs'])} on {queries}: {', '.join(measures)}>"


def _relative(path: Path, folder: str) -> str:
    """Make a path relative to a folder; keep a path in the packaged sample or on another drive."""
    try:
        return str(path) if path.is_relative_to(SAMPLE_FOLDER) else os.path.relpath(path, folder)
    except ValueError:
        return str(path)


def record(
    qrels: QrelsLike,
    runs: Mapping[str, RunLike] | RunLike,
    measures: MeasuresLike,
    *,
    order: str = "score",
    query_ids: str | None = None,
    created: bool = True,
) -> Record:
    """Evaluate runs, and record the values of all queries and everything they depend on.

    Parameters
    ----------
    qrels : QrelsLike
        Best the path of a file or the id of a data set, so that `verify` finds it again.
    runs : mapping of str to RunLike, or path
        Runs by name; one path is named like the file.
    measures : MeasuresLike
        As in `calc_aggregate`.
    order : {'score', 'list'}
        As in `read_run`.
    query_ids : str, optional
        As in `match_query_ids`.
    created : bool
        Whether to record the time. Without it, the same inputs give the same bytes.

    Returns
    -------
    Record
        A dict. ``write(path)`` writes it as JSON, `verify` recomputes it.

    Raises
    ------
    MeasureError, InputError
        As for an evaluation; also if the qrels have no query, or there is no measure.

    Examples
    --------
    >>> found = record({"q": {"a": 1}}, {"mine": {"q": {"b": 2.0, "a": 1.0}}}, ["RR"], created=False)
    >>> found
    <Record of mine on 1 query: RR>
    >>> found["runs"]["mine"]["means"], found["runs"]["mine"]["values"]
    ({'RR': 0.5}, {'RR': [0.5]})
    """
    return recorded(qrels, runs_by_name(runs), measures, order, query_ids, created)


def recorded(
    qrels: QrelsLike,
    runs: Mapping[str, Any],
    measures: MeasuresLike,
    order: str,
    query_ids: str | None,
    created: bool,
) -> Record:
    """Evaluate named runs, and make their record; see `record`."""
    check_choice("order", order, ORDERS)
    experiment = Experiment.of(qrels, runs, measures)
    how = {"order": order, "rewriting": query_ids, "qrels": experiment.judgments}
    result = Evaluations(experiment.measures, dict(experiment.evaluate(**how)), origin=experiment.origin)
    return make_record(result, order, query_ids, created)


def make_record(result: Evaluations, order: str, query_ids: str | None, created: bool = True) -> Record:
    """Make the record of an evaluation; see `record`."""
    origin = result.origin or Origin()
    judgments = next(iter(result.evaluations.values())).rankings.judgments
    check_nonempty(judgments, result.measures, "record")
    is_file = origin.qrels == "-" or os.path.lexists(origin.qrels)
    about = provenance([], Origin(qrels=origin.qrels, runs=origin.runs))
    inputs = about.get("inputs", ())
    qrels: dict[str, Any] = next((each for each in inputs if each["role"] == "qrels"), {})
    files = {each["name"]: each for each in inputs if each is not qrels}
    made = Record(
        record=FORM,
        created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds") if created else None,
        versions={name: version for name, version in about["versions"].items() if version},
        options={"order": order, "query_ids": query_ids},
        qrels={
            "path": origin.qrels if is_file else None,
            "dataset": None if is_file else origin.qrels or None,
            "sha256": qrels.get("sha256") if is_file else None,
            "judgments": hash_of(judgments),
        },
        measures={name_of(measure): str(measure) for measure in result.measures},
        query_ids=list(judgments.query_ids),
        runs={
            name: _run_fields(evaluation, result.measures, files.get(name, {}))
            for name, evaluation in result.evaluations.items()
        },
    )
    made["sha256"] = made.content_hash
    return made


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def hash_of(judgments: Judgments) -> str:
    """Hash the query, document and grade of all judgments, independent of their file and order."""
    queries = (judgments.query_ids[number] for number in judgments.query.tolist())
    rows = sorted(zip(queries, judgments.documents, judgments.grade.tolist(), strict=True))
    return _hash(json.dumps(rows))


def _run_fields(evaluation: Evaluation, measures: list[Measure], file: Mapping[str, Any]) -> dict[str, Any]:
    """Collect the fields of a run for a record."""
    rows, means = (
        dict(zip(evaluation.measures, evaluation.values.tolist(), strict=True)),
        evaluation.aggregated,
    )
    return {
        "path": file.get("path"),
        "sha256": file.get("sha256"),
        "means": {name_of(measure): float(means[measure]) for measure in measures},
        "values": {name_of(measure): rows[measure] for measure in measures},
    }


# --- reading -----------------------------------------------------------------------------------------

_MOST_BYTES = 1 << 28


def is_record(source: object) -> bool:
    """Check whether an object is a record, or the path of a file with the field `record`."""
    if isinstance(source, Mapping):
        return isinstance(source.get("record"), str)
    if not isinstance(source, (str, os.PathLike)) or not Path(source).is_file():
        return False
    with Path(source).open("rb") as file:
        first = next(filter(bytes.strip, file), b"")
        first += file.read(4)
        encoding = json.detect_encoding(first)  # a byte-order mark or UTF-16, as `read_record` accepts
        begins = first.decode(encoding, "ignore").lstrip().startswith("{")
        if not begins or os.fstat(file.fileno()).st_size > _MOST_BYTES:
            return False
        text = (first + file.read()).decode(encoding, "ignore")
        return re.search(r'"record"\s*:\s*"permed-measures', text) is not None


def as_record(source: object) -> Record:
    """Read and check a record, from a file or from the content of its JSON."""
    if isinstance(source, (str, os.PathLike)):
        return read_record(source)
    if isinstance(source, Mapping):
        return _checked(source, getattr(source, "source", ""))
    hint = "Name its file, or make one: record(qrels, runs, measures)"
    problem = f"this is not a record (found {type(source).__name__} {short_repr(source)})"
    raise InputError(problem, hint=hint)


def read_record(path: str | os.PathLike[str]) -> Record:
    """Read a record from a file, and check its fields.

    Raises
    ------
    InputError
        If the file is not a record; the message names the first wrong field.
    OSError
        If the file cannot be opened.
    """
    where = str(path)
    if Path(path).exists() and not Path(path).is_file():
        raise InputError("this is not a record: it is not a regular file", where=where)
    if (size := Path(path).stat().st_size) > _MOST_BYTES:
        raise InputError(f"records have at most {_MOST_BYTES:,} bytes (found {size:,})", where=where)
    try:
        content = json.loads(Path(path).read_bytes(), parse_int=float)  # every number field is a float
    except (ValueError, RecursionError) as error:
        raise InputError(f"this is not a record: it is not JSON ({error})", where=where) from None
    return _checked(content, where)


def _checked(content: Any, source: str) -> Record:
    """Check the content of a file, and make a record of it; raise InputError for the first wrong field."""
    where = source or "record"
    form = content.get("record") if isinstance(content, Mapping) else None
    if form != FORM:
        hint = "Records are written by evaluate --record FILE"
        if isinstance(form, str) and form.startswith(_ANY_FORM):
            hint = "Another version made it: make it again, or verify it with that version"
        raise InputError(
            f"this is not a {FORM} (its field 'record' is {short_repr(form)})", where=where, hint=hint
        )
    _check_shape(content, _RECORD, where)
    record = Record(content)
    record.source = source
    try:
        names = set(map(name_of, record.measures))
    except MeasureError as error:
        raise InputError(f"measures: {error.problem}", where=where, hint=error.hint) from None
    if not names or not record["runs"]:
        raise InputError("this record has no measure or no run", where=where)
    for run, numbers in record["runs"].items():
        rows = numbers["values"].values()
        if not set(numbers["means"]) == set(numbers["values"]) == names:
            raise InputError(f"runs.{run} must have the measures {short_repr(sorted(names))}", where=where)
        if any(len(row) != len(record["query_ids"]) for row in rows):
            expected = f"must have one value for each of {pluralize(len(record['query_ids']), 'query')}"
            raise InputError(f"runs.{run}.values {expected}", where=where)
    return record


_ANY_FORM = FORM.rstrip("0123456789")


# --- fields ------------------------------------------------------------------------------------------

Shape = Any
"""A type, a tuple of types, a list of one shape, or an object with the shape of each field.

If a field's name is ``str``, the object may have any other fields of that shape.
"""

_MAYBE_TEXT = (str, type(None))

_RECORD: Shape = {
    "record": str,
    "created": _MAYBE_TEXT,
    "sha256": str,
    "versions": {"permed-measures": str, str: str},
    "options": {"order": str, "query_ids": _MAYBE_TEXT},
    "qrels": {"path": _MAYBE_TEXT, "dataset": _MAYBE_TEXT, "sha256": _MAYBE_TEXT, "judgments": str},
    "measures": {str: str},
    "query_ids": [str],
    "runs": {
        str: {"path": _MAYBE_TEXT, "sha256": _MAYBE_TEXT, "means": {str: float}, "values": {str: [float]}}
    },
}
"""The shape of a record."""

_FIELD_TYPES = {str: "a text", _MAYBE_TEXT: "a text or null", float: "a finite number"}


def _check_shape(content: Any, shape: Shape, where: str, key: str = "") -> None:
    """Check JSON content against a shape; raise InputError that names the first field that does not fit."""
    expected = "an object" if isinstance(shape, dict) else "a list" if isinstance(shape, list) else ""
    expected = expected or _FIELD_TYPES[shape]
    if not _fits(content, shape):
        raise InputError(f"{key} must be {expected} (found {short_repr(content)})", where=where)
    inside = f"{key}." if key else ""
    if isinstance(shape, list):
        for number, item in enumerate(content):
            _check_shape(item, shape[0], where, f"{inside}{number}")
    if isinstance(shape, dict):
        for name in (each for each in shape if each is not str and each not in content):
            raise InputError(f"{inside}{name} is missing", where=where)
        for name, item in content.items():
            if name not in shape and str not in shape:
                known = did_you_mean(name, list(shape))
                raise InputError(f"{inside}{name} is not a field of a record", where=where, hint=known)
            _check_shape(item, shape.get(name, shape.get(str)), where, f"{inside}{name}")


def _fits(value: Any, shape: Shape) -> bool:
    if shape is float:
        return isinstance(value, float) and math.isfinite(value)
    return isinstance(value, type(shape) if isinstance(shape, (dict, list)) else shape)
