"""Records: what a number depends on, and the values of all queries, in one JSON file."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from ir_measures.measures import Measure

from permed_measures.comparisons.compare import Comparison, compare
from permed_measures.datasets.loading import loaded_qrels, loaded_runs
from permed_measures.engine.evaluator import PermedEvaluator
from permed_measures.engine.groups import Groups
from permed_measures.engine.inputs import QrelsLike, RunLike
from permed_measures.errors import InputError, shown
from permed_measures.files.inspection import format_name, ir_metadata_of
from permed_measures.files.provenance import Origin, provenance
from permed_measures.files.sources import Source
from permed_measures.files.whole import write_whole
from permed_measures.markup import as_json, counted
from permed_measures.measures.headings import name_of
from permed_measures.measures.parameters import named
from permed_measures.measures.parsing import MeasuresLike, measures_of, parse_measure
from permed_measures.records.options import Options
from permed_measures.reports.comparison import comparison_content
from permed_measures.reports.evaluation import Report, with_judged

FORM = "permed-measures record 1"
"""How a record begins; the number changes when older versions could no longer read it."""

_UNSEALED = ("created", "sha256")
"""The fields that the hash of a record is not of."""


class Record(dict[str, Any]):
    """The content of a record, as JSON has it.

    Its fields are described by the JSON schema `schema`. ``sha256`` is the hash of all other fields but
    ``created``: whatever is edited afterwards is noticed.
    """

    @property
    def seal(self) -> str:
        """The SHA-256 of the content, which ``sha256`` was when the record was made."""
        content = {name: value for name, value in self.items() if name not in _UNSEALED}
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()

    @property
    def measures(self) -> list[Measure]:
        """The measures, with the user's names."""
        parsed = ((parse_measure(each["measure"]), each.get("heading")) for each in self["measures"])
        return [named(measure, heading) if heading else measure for measure, heading in parsed]

    @property
    def runs(self) -> list[str]:
        """The names of the runs."""
        return [run["run"] for run in self["runs"]]

    @property
    def options(self) -> Options:
        """How it was made."""
        return Options(**{**self["options"], "comparison": self["options"].get("comparison")})

    def values(self, run: str, measure: Measure | str) -> np.ndarray[Any, np.dtype[np.float64]]:  # type: ignore[override]
        """Return the value of each query, in the order of ``query_ids``."""
        [content] = [each for each in self["runs"] if each["run"] == run]
        return np.array(content["values"][measure if isinstance(measure, str) else name_of(measure)], float)

    def inputs(self, role: str) -> list[dict[str, Any]]:
        """Return the files of a role: ``qrels`` or ``run``."""
        return [each for each in self.get("inputs", ()) if each["role"] == role]

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
    query_ids : {'permed', 'litsearch', 'prefix'}, optional
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
    options = Options(by, macro, order, query_ids, comparison)
    given = runs_by_name(runs)
    origin = Origin.of(qrels, given)
    loaded = loaded_qrels(qrels)
    read = loaded_runs(given, order, query_ids, loaded)
    asked = measures_of(measures, rel)
    evaluator = PermedEvaluator(with_judged(asked), loaded)
    judgments = evaluator.judgments
    groups = Groups.of(judgments.query_ids, by, loaded) if by is not None else None
    evaluations = {name: evaluator.evaluate(read[name]) for name in read}
    report = Report(asked, evaluations, groups=groups, macro=macro, origin=origin)
    compared = None if comparison is None else compare(loaded, read, asked, by=by, **comparison)
    return assembled(report, options, compared, created)


def runs_by_name(runs: Mapping[str, RunLike] | RunLike) -> dict[str, Any]:
    """Return runs by name; that of a single one is the name of its file, or ``run``."""
    if isinstance(runs, (str, os.PathLike)):
        return {Path(runs).name.partition(".")[0]: runs}
    if isinstance(runs, Mapping) and runs and not all(map(_is_table, runs.values())):
        return dict(runs)
    return {"run": runs}


def _is_table(run: Any) -> bool:
    """Return whether this is the table of a query, ``{doc_id: score}``, and not a run."""
    return isinstance(run, Mapping) and not any(isinstance(each, Mapping) for each in run.values())


def assembled(report: Report, options: Options, compared: Comparison | None, created: bool) -> Record:
    """Put a record together."""
    if options.comparison is not None:
        options = replace(options, comparison=_options_of_compare(options.comparison))
    origin = report.origin or Origin()
    first = next(iter(report.evaluations.values()))
    about = provenance(report.measures, origin)
    kept = {name: value for name, value in vars(options).items() if name != "comparison" or value is not None}
    content = {
        "record": FORM,
        "platform": {"software": {"libraries": {"python": _libraries(about["versions"])}}},
        "implementation": {"executable": {"cmd": command_of(report, options)}},
        "data": {"test collection": _test_collection(origin)},
        "research goal": {"evaluation": _evaluation(report, compared)},
        "inputs": described(about),
        "options": _as_read(kept),
        "measures": about["measures"],
        "conventions": about["conventions"],
        "query_ids": first.rankings.judgments.query_ids,
        "runs": list(_runs(report)),
        **({"comparison": comparison_content(compared)} if compared else {}),
    }
    made = Record(_as_read(content))
    if created:
        made["created"] = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    made["sha256"] = made.seal
    return made


def _options_of_compare(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that `compare` takes, of those of a command, which may have hyphens."""
    known = set(signature(compare).parameters) - {"qrels", "runs", "measures", "by", "rel"}
    options = {name.replace("-", "_"): value for name, value in given.items() if value is not None}
    return {name: value for name, value in options.items() if name in known}


def _as_read(content: Any) -> Any:
    """Return content as it will be when it has been written and read again."""
    return json.loads(json.dumps(content))


def _libraries(versions: Mapping[str, str | None]) -> list[str]:
    return [f"{name}=={version}" for name, version in versions.items() if version]


def _test_collection(origin: Origin) -> dict[str, str]:
    """Name the test collection in the terms of ir_metadata."""
    if not origin.qrels:
        return {}
    is_file = origin.qrels == "-" or os.path.lexists(origin.qrels)
    return {"name": Path(origin.qrels).name, "qrels" if is_file else "ir_datasets": origin.qrels}


def _evaluation(report: Report, compared: Comparison | None) -> dict[str, Any]:
    """Say what was measured and tested, in the terms of ir_metadata."""
    found: dict[str, Any] = {"reported measures": list(map(name_of, report.measures))}
    if compared is not None:
        tests = dict.fromkeys(test for row in compared.rows for test in row.tests)
        found["baseline"] = list(dict.fromkeys(baseline for _, baseline in compared.paired.pairs))
        found["significance test"] = [
            {"name": test, "correction method": compared.correction} for test in tests
        ]
    return found


def described(about: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the inputs of a provenance, with the format of each file and the header that it may have."""
    return [_described(each) for each in about.get("inputs", ())]


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


def _runs(report: Report) -> Iterator[dict[str, Any]]:
    """Yield the values of each run."""
    for content in report.objects():
        evaluation = report.evaluations[content["run"]]
        rows = zip(evaluation.measures, evaluation.values.tolist(), strict=True)
        yield {**content, "values": {name_of(m): row for m, row in rows if m in report.measures}}


def command_of(report: Report, options: Options) -> str:
    """Return the command that makes the numbers again."""
    origin, compared = report.origin or Origin(), options.comparison
    parts = ["permed-measures", "evaluate" if compared is None else "compare", origin.qrels or "QRELS"]
    parts += [f"{name}={origin.runs.get(name, 'RUN')}" for name in report.evaluations]
    for measure in report.measures:
        name = name_of(measure)
        parts += ["-m", str(measure) if name == str(measure) else f"{name}={measure}"]
    given = {name: value for name, value in vars(options).items() if name != "comparison"}
    for name, value in {**given, **(compared or {})}.items():
        if value not in (None, False, [], vars(Options()).get(name)):
            parts += _typed(f"--{name.replace('_', '-')}", value)
    return shlex.join(parts)


def _typed(option: str, value: Any) -> Sequence[str]:
    """Return an option as it is typed."""
    if value is True:
        return [option]
    several = value if isinstance(value, (list, tuple)) else [value]
    return [part for each in several for part in (option, str(each))]


# --- reading -----------------------------------------------------------------------------------------


def schema() -> dict[str, Any]:
    """Return the JSON schema of a record (draft 2020-12)."""
    found: dict[str, Any] = json.loads((files("permed_measures.records") / "schema.json").read_text("utf-8"))
    return found


def read_record(path: str | os.PathLike[str]) -> Record:
    """Read a record.

    Raises
    ------
    InputError
        If the file is no record, or lacks a field.
    OSError
        If it cannot be opened.
    """
    try:
        content = json.loads(Path(path).read_bytes())
    except (ValueError, RecursionError) as error:
        raise InputError(f"this is no record: it is no JSON ({error})", where=str(path)) from None
    form = content.get("record") if isinstance(content, dict) else None
    if form != FORM:
        hint = "Records are written by evaluate --record FILE and compare --record FILE"
        raise InputError(
            f"this is no record (found {shown(form)} as its field 'record')", where=str(path), hint=hint
        )
    found = Record(content)
    for name, kind in _FIELDS.items():
        if not isinstance(found.get(name), kind):
            raise InputError(
                f"the field {name!r} of the record must be {_KINDS[kind]} (found {shown(found.get(name))})",
                where=str(path),
            )
    _refuse_uneven(found, path)
    return found


_KINDS = {dict: "an object", list: "a list"}
_FIELDS = {"inputs": list, "options": dict, "measures": list, "query_ids": list, "runs": list}


def _refuse_uneven(found: Record, path: str | os.PathLike[str]) -> None:
    """Refuse values that are not those of the queries and measures."""
    try:
        names = list(map(name_of, found.measures))
        lengths = {len(run["values"][name]) for run in found["runs"] for name in names}
        wrong = set(map(type, found["query_ids"])) - {str} or lengths - {len(found["query_ids"])}
        _ = found.options
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"this record lacks something ({type(error).__name__}: {error})", where=str(path)
        ) from None
    if wrong:
        raise InputError("the values of this record are not one for each query", where=str(path))


def is_record(path: Path) -> bool:
    """Return whether a file begins like a record."""
    try:
        with path.open("rb") as file:
            return FORM.rstrip("1234567890").encode() in file.read(200)
    except OSError:
        return False
