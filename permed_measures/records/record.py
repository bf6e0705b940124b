"""Records: what a number depends on, and the values of all queries, in one JSON file."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from ir_measures.measures import Measure

from permed_measures.comparisons.compare import Comparison, compare
from permed_measures.comparisons.report import comparison_content
from permed_measures.datasets.loading import loaded_qrels, loaded_runs, runs_by_name
from permed_measures.engine.evaluator import PermedEvaluator
from permed_measures.engine.groups import Groups
from permed_measures.engine.inputs import QrelsLike, RunLike
from permed_measures.engine.judgments import Judgments
from permed_measures.errors import InputError, MeasureError, shown
from permed_measures.files.inspection import format_name, ir_metadata_of
from permed_measures.files.provenance import Origin, provenance
from permed_measures.files.sources import Source
from permed_measures.files.whole import write_whole
from permed_measures.markup import as_json, counted, finite
from permed_measures.measures.headings import name_of
from permed_measures.measures.parameters import with_alias
from permed_measures.measures.parsing import MeasuresLike, measures_of, parse_measure
from permed_measures.records.fields import check_fields, schema
from permed_measures.results.evaluations import Evaluations, evaluated, objects, with_judged

FORM = "permed-measures record 2"
"""How a record begins; the number changes when other versions could not read it."""

_UNSEALED = ("created", "sha256")
"""The fields that the hash of a record is not of."""


class Record(dict[str, Any]):
    """The content of a record, as JSON has it.

    Its fields are described by the JSON schema ``fields.schema()``. ``sha256`` is the hash of all other
    fields but ``created``: whatever is edited afterwards is noticed. `source` is the file that it was read
    from.
    """

    source = ""

    @property
    def seal(self) -> str:
        """The SHA-256 of the content, which ``sha256`` was when the record was made."""
        content = {name: value for name, value in self.items() if name not in _UNSEALED}
        return _hash(json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False))

    @property
    def measures(self) -> list[Measure]:
        """The measures, with the user's names."""
        parsed = ((parse_measure(each["measure"]), each.get("heading")) for each in self["measures"])
        return [with_alias(measure, heading) if heading else measure for measure, heading in parsed]

    @property
    def runs(self) -> list[str]:
        """The names of the runs."""
        return [run["run"] for run in self["runs"]]

    @property
    def version(self) -> str:
        """The version of permed-measures that made it."""
        return str(self["versions"]["permed-measures"])

    def values_of(self, run: str, measure: Measure) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return the value of each query, in the order of ``query_ids``."""
        [content] = [each for each in self["runs"] if each["run"] == run]
        names = {each: name_of(each) for each in self.measures}
        return np.array(content["values"][names[measure]], float)

    def inputs(self, role: str) -> list[dict[str, Any]]:
        """Return the files of a role: ``qrels`` or ``run``."""
        return [each for each in self["inputs"] if each["role"] == role]

    def to_json(self) -> str:
        """Write it as JSON: the same inputs give the same text, but for ``created``."""
        return as_json(self, indent=1, allow_nan=False) + "\n"

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file, whole or not at all."""
        write_whole(Path(path), self.to_json().encode(errors="backslashreplace"))

    def __repr__(self) -> str:
        """Name the runs and the measures."""
        measures = ", ".join(map(name_of, self.measures))
        return f"<Record of {', '.join(self.runs)} on {counted(len(self['query_ids']), 'query')}: {measures}>"


def record(
    qrels: QrelsLike,
    runs: Mapping[str, RunLike] | RunLike,
    measures: MeasuresLike,
    *,
    rel: float | None = None,
    by: str | None = None,
    macro: bool = False,
    order: str = "score",
    query_ids: str | None = None,
    comparison: Mapping[str, Any] | None = None,
    created: bool = True,
) -> Record:
    """Evaluate runs, and keep what the numbers depend on, and the values of all queries.

    Parameters
    ----------
    qrels : QrelsLike
        The path of a file or the id of a data set, so that `verify` finds it again; any other form too.
    runs : mapping of str to RunLike, or path
        Runs by name; one path is named like the file.
    measures, rel
        As in `calc_aggregate`.
    by, macro
        As in `evaluate_by`; `by` is a field or a pattern.
    order : {'score', 'list'}
        As in `read_run`.
    query_ids : {'permed', 'litsearch'}, optional
        As in `match_query_ids`.
    comparison : mapping, optional
        Compare the runs too, with these options of `compare`, such as ``{"baseline": "bm25"}``.
    created : bool
        Whether to say when it was made. Without it, the same inputs give the same bytes.

    Returns
    -------
    Record
        A dict. ``write(path)`` writes it as JSON, `verify` recomputes it.

    Raises
    ------
    MeasureError, InputError
        As for an evaluation or a comparison.

    Examples
    --------
    >>> found = record({"q": {"a": 1}}, {"mine": {"q": {"b": 2.0, "a": 1.0}}}, ["RR"], created=False)
    >>> found
    <Record of mine on 1 query: RR>
    >>> found["runs"][0]["metrics"], found["runs"][0]["values"]
    ({'RR': 0.5}, {'RR': [0.5]})
    """
    options: dict[str, Any] = {"by": by, "macro": macro, "order": order, "query_ids": query_ids}
    if comparison is not None:
        options["comparison"] = dict(comparison)
    check_fields(options, schema()["properties"]["options"])
    given = runs_by_name(runs)
    origin = Origin.of(qrels, given)
    loaded = loaded_qrels(qrels)
    read = loaded_runs(given, order=order, rewriting=query_ids, qrels=loaded)
    asked = measures_of(measures, rel)
    evaluator = PermedEvaluator(with_judged(asked), loaded)
    judgments = evaluator.judgments
    groups = Groups.of(judgments.query_ids, by, loaded) if by is not None else None
    evaluations, notes = evaluated(evaluator, read)
    found = Evaluations(asked, evaluations, groups=groups, macro=macro, origin=origin, notes=notes)
    compared = None if comparison is None else compare(loaded, read, asked, by=by, **comparison)
    return assembled(found, options, compared, created)


def assembled(
    found: Evaluations, options: Mapping[str, Any], compared: Comparison | None, created: bool
) -> Record:
    """Put a record together.

    Parameters
    ----------
    found : Evaluations
    options : mapping
        ``by``, ``macro``, ``order`` and ``query_ids``, and as ``comparison`` those of `compare`.
    compared : Comparison or None
        If the runs were compared.
    created : bool
        Whether to say when it was made.
    """
    origin = found.origin or Origin()
    about = provenance(found.measures, origin)
    judgments = next(iter(found.evaluations.values())).rankings.judgments
    content = {
        "record": FORM,
        "versions": {name: version for name, version in about["versions"].items() if version},
        "qrels": {**_place(origin), "judgments": hash_of(judgments)},
        "inputs": described(origin),
        "options": options,
        "measures": about["measures"],
        "conventions": about["conventions"],
        "query_ids": judgments.query_ids,
        "runs": list(_runs(found)),
        **({"comparison": finite(comparison_content(compared))} if compared else {}),
    }
    made = Record(json.loads(json.dumps(content)))  # as it will be when it has been written and read again
    if created:
        made["created"] = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    made["sha256"] = made.seal
    check_fields(made, schema())
    return made


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def hash_of(judgments: Judgments) -> str:
    """Return the SHA-256 of query, document and grade of all judgments, whatever file they are from."""
    queries = (judgments.query_ids[number] for number in judgments.query.tolist())
    rows = sorted(zip(queries, judgments.documents, judgments.grade.tolist(), strict=True))
    return _hash(json.dumps(rows))


def _place(origin: Origin) -> dict[str, str]:
    """Say where the qrels are: a file or a folder, or the id of a data set."""
    is_file = origin.qrels == "-" or os.path.lexists(origin.qrels)
    return {"path" if is_file else "dataset": origin.qrels} if origin.qrels else {}


def described(origin: Origin) -> list[dict[str, Any]]:
    """Return the files of qrels and runs, with the format of each and the header that it may have."""
    return list(map(_described, provenance([], origin).get("inputs", ())))


def _described(given: dict[str, Any]) -> dict[str, Any]:
    if not given.get("path") or given.get("sha256") is None:
        return given
    source = Source(Path(given["path"]))
    try:
        header = ir_metadata_of(source) if given["role"] == "run" else []
        form = format_name(source, given["role"])
    except InputError:  # what was a run is none any more: the hash says so
        return given
    return {**given, "format": form, **({"ir_metadata": header} if header else {})}


def _runs(found: Evaluations) -> Iterator[dict[str, Any]]:
    """Yield the values of each run."""
    for content in objects(found):
        evaluation = found.evaluations[content["run"]]
        rows = zip(evaluation.measures, evaluation.values.tolist(), strict=True)
        content.pop("columns", None)  # the user's own
        values = {name_of(m): row for m, row in rows if m in found.measures}
        yield {**content, "notes": [*found.notes.get(content["run"], ())], "values": values}


# --- reading -----------------------------------------------------------------------------------------

_MOST_BYTES = 1 << 28


def read_record(path: str | os.PathLike[str]) -> Record:
    """Read a record.

    Raises
    ------
    InputError
        If the file is no record: the message names the first field that is wrong.
    OSError
        If it cannot be opened.
    """
    where = str(path)
    if Path(path).exists() and not Path(path).is_file():
        raise InputError("this is no record: it is no regular file", where=where)
    if (size := Path(path).stat().st_size) > _MOST_BYTES:
        raise InputError(f"records have at most {_MOST_BYTES:,} bytes (found {size:,})", where=where)
    try:
        content = json.loads(Path(path).read_bytes(), parse_int=_whole)
    except (ValueError, RecursionError) as error:
        raise InputError(f"this is no record: it is no JSON ({error})", where=where) from None
    found = checked(content, where)
    found.source = where
    return found


def _whole(digits: str) -> int | float:
    """Return a whole number; one that is too long for any field as a float, without the time it takes."""
    return int(digits) if len(digits) <= 20 else float(digits)


def checked(content: Any, where: str) -> Record:
    """Return the content as a record, or raise InputError for the first field that is wrong."""
    form = content.get("record") if isinstance(content, dict) else None
    if form != FORM:
        hint = "Records are written by evaluate --record FILE and compare --record FILE"
        if isinstance(form, str) and form.startswith(_ANY_FORM):
            hint = "Another version made it: make it again, or verify it with that version"
        raise InputError(f"this is no {FORM} (its field 'record' is {shown(form)})", where=where, hint=hint)
    check_fields(content, schema(), where)
    found = Record(content)
    try:
        names = list(map(name_of, found.measures))
    except MeasureError as error:
        raise InputError(f"measures: {error.problem}", where=where, hint=error.hint) from None
    for what, each in (("measures", names), ("runs", found.runs)):
        if len(set(each)) < len(each):
            raise InputError(f"{what} must have different names (found {shown(each)})", where=where)
    for run in found["runs"]:
        key, values = f"runs.{run['run']}.values", run["values"]
        if set(values) != set(names):
            raise InputError(f"{key} must be of {shown(names)} (found {shown(list(values))})", where=where)
        for name, row in values.items():
            if len(row) != len(found["query_ids"]):
                expected = f"must have one for each of {counted(len(found['query_ids']), 'query')}"
                raise InputError(f"{key}.{name} {expected} (found {len(row):,})", where=where)
    return found


_ANY_FORM = FORM.rstrip("0123456789")


def as_record(given: Any) -> Record | None:
    """Return the record that this is, or that is in this file; None for anything else."""
    if isinstance(given, (str, os.PathLike)) and is_record(Path(given)):
        return read_record(given)
    return given if isinstance(given, Record) else None


def is_record(path: Path) -> bool:
    """Return whether a regular file begins like a record."""
    try:
        if not path.is_file():  # a pipe can be read only once
            return False
        with path.open("rb") as file:
            return _ANY_FORM.encode() in file.read(200)
    except (OSError, ValueError):
        return False
