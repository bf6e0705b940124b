"""Write the cases as JSON, with the value by each named convention, to test evaluators in any language."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from permed_measures import __version__
from permed_measures.arrays import Floats
from permed_measures.conventions.named import NamedConvention, conventions_with
from permed_measures.conventions.options import CONVENTION_MEASURES
from permed_measures.conventions.search_space import ConventionSpace, Measurement
from permed_measures.errors import InputError, warnings_about
from permed_measures.identification.cases import FRACTIONS, Case, case_text, cases
from permed_measures.identification.elimination import GRADES, TargetMeasure, convention_value, rounded_mean
from permed_measures.identification.forms import SIGNATURES, USUAL
from permed_measures.identification.identify import IdentifiedConvention
from permed_measures.identification.user_function import supported_meaning
from permed_measures.inputs.write import write_whole
from permed_measures.published_tables.measure_names import strip_heading
from permed_measures.tolerances import NUMBER_OF_FUNCTION

VERSION = 1
"""The version of the format; it grows when readers of the files must change."""
INDEX = "index.json"
USUAL_MEASURES = tuple(f"{measure}@{USUAL}" for measure in CONVENTION_MEASURES)
"""The measures to write if none is named: each measure that has options."""

_FORMAT = {
    "required": "Cases with the value by ir_measures' default; trec_eval -c has the same values.",
    "required[].qrels": "{query: {document: grade}}: grades are whole numbers, also negative ones. A "
    "document with grade 1 or more is relevant.",
    "required[].run": "{query: [{document, score}, ...]}: the order of a list matters if scores are "
    "equal. A query with an empty list is in the run, without results.",
    "required[].value": "The mean over the queries; null if it is not defined: then any answer is right.",
    "required[].traits": "The unusual features of the case; an evaluator that rejects one may skip the case.",
    "default": "The named conventions that give the required values, and how they compute the measure.",
    "alternatives": "Other conventions; those with the same values on all cases share an entry.",
    "alternatives[].values": "{id: value} for the cases whose value differs from the required one; null if "
    "the convention is not defined. On all other cases the required value holds.",
    "tolerance": "The largest allowed difference between an evaluator's number and the value.",
}
"""The descriptions of the keys of a file, for the index."""


class Suite(NamedTuple):
    """The cases of a measure, with the value of each convention.

    Attributes
    ----------
    target : TargetMeasure
    cases : list of Case
    default : ndarray of float64, shape (n_cases,)
        The values by ir_measures' default; NaN where it is not defined.
    same : list of IdentifiedConvention
        The named conventions that give these values, ir_measures' first.
    alternatives : list of (list of IdentifiedConvention, ndarray)
        The other conventions, grouped by equal values, and these values.
    """

    target: TargetMeasure
    cases: list[Case]
    default: Floats
    same: list[IdentifiedConvention]
    alternatives: list[tuple[list[IdentifiedConvention], Floats]]

    @classmethod
    def of(cls, name: str, named: Sequence[NamedConvention]) -> Suite:
        """Compute a measure by each convention on the cases whose grades are whole numbers."""
        target = TargetMeasure(name, *supported_meaning(strip_heading(name)[0]))
        all_cases = cases(SIGNATURES["dicts"], target.cutoffs)
        kept = [each for each in all_cases if FRACTIONS not in each.traits]
        with warnings_about(None):
            quantities = [target.of(each) for each in kept]
            space = ConventionSpace([target.of(GRADES)], named)
            default = np.array([convention_value(each, target.default) for each in quantities])
            values_of = _values_of_bases(space, quantities)
            groups: list[tuple[list[IdentifiedConvention], Floats]] = [([], default)]
            for (convention, options), values in zip(space.bases, values_of, strict=True):
                answer = IdentifiedConvention(convention, options, [], target, True)
                group = next((group for group, known in groups if _are_same(values, known)), None)
                if group is None:
                    groups.append(([answer], values))
                else:
                    group.append(answer)
        return cls(target, kept, default, groups[0][0], groups[1:])

    def text(self) -> str:
        """Write the text of the file: JSON with a line for each case and each entry of conventions."""
        head = {
            "version": VERSION,
            "measure": self.target.name,
            "tolerance": NUMBER_OF_FUNCTION,
            "default": {"conventions": _names(self.same), "definition": self.same[0].sentence()},
        }
        lines = [f"  {json.dumps(key)}: {_json(value)}," for key, value in head.items()]
        required = ",\n".join(f"    {_json(each)}" for each in self._required())
        others = ",\n".join(f"    {_json(each)}" for each in self._alternatives())
        parts = [*lines, f'  "required": [\n{required}\n  ],', f'  "alternatives": [\n{others}\n  ]']
        return "{{\n{}\n}}\n".format("\n".join(parts))

    def _required(self) -> Iterator[dict[str, Any]]:
        for index, (case, value) in enumerate(zip(self.cases, self.default, strict=True)):
            yield {
                "id": _id(index),
                "description": case_text(case),
                "traits": [*case.traits],
                "qrels": {query: _whole(grades) for query, grades in case.qrels.items()},
                "run": {query: _ranked(docs) for query, docs in case.run.items()},
                "value": _or_null(value),
            }

    def _alternatives(self) -> Iterator[dict[str, Any]]:
        for answers, values in self.alternatives:
            different = np.flatnonzero(~_same(values, self.default))
            yield {
                "conventions": _names(answers),
                "definition": answers[0].sentence(),
                "values": {_id(index): _or_null(values[index]) for index in different.tolist()},
            }


def _values_of_bases(space: ConventionSpace[Measurement], quantities: Sequence[Measurement]) -> list[Floats]:
    """Compute the measure on each case by each named convention, rounded by its own rule."""
    if not space.bases:
        return []
    codes = np.array([space.codes(base) for _, base in space.bases])
    values = np.array([space.compute(each, codes) for each in quantities])
    return [
        np.array([rounded_mean(value, quantities[0].measure, base) for value in column.tolist()])
        for column, (_, base) in zip(values.T, space.bases, strict=True)
    ]


def _same(values: Floats, others: Floats) -> np.typing.NDArray[np.bool_]:
    return np.isclose(values, others, rtol=0, atol=NUMBER_OF_FUNCTION, equal_nan=True)


def _are_same(values: Floats, others: Floats) -> bool:
    return bool(_same(values, others).all())


def _names(answers: Sequence[IdentifiedConvention]) -> list[dict[str, str]]:
    return [{"name": each.named.name, "source": each.named.source} for each in answers]


def _id(index: int) -> str:
    return str(index + 1)


def _or_null(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _whole(grades: Mapping[str, float]) -> dict[str, int]:
    return {document: int(grade) for document, grade in grades.items()}


def _ranked(docs: Mapping[str, float]) -> list[dict[str, Any]]:
    return [{"document": document, "score": float(score)} for document, score in docs.items()]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def write_cases(
    folder: str | os.PathLike[str],
    measures: Sequence[str] = (),
    conventions: str | os.PathLike[str] | None = None,
) -> list[Path]:
    """Write the cases on which conventions differ, with their values, as JSON: a file for each measure.

    The files are the same each time. The folder is created if it does not exist; files of these names in it
    are replaced.

    Parameters
    ----------
    folder : path
    measures : sequence of str
        Named as for `identify`; `USUAL_MEASURES` if empty.
    conventions : path, optional
        A TOML file with your own conventions, as for `audit`.

    Returns
    -------
    list of Path
        The files; the last one is the index, which explains their keys.

    Raises
    ------
    InputError
        If the folder has other files, which a reader could take for cases.
    """
    path, measures = Path(folder), [*dict.fromkeys(measures or USUAL_MEASURES)]
    named = conventions_with(conventions)
    files = [_file_of(measure) for measure in measures]
    _check_names(measures, files)
    _check_folder(path, [*files, INDEX])
    suites = [Suite.of(measure, named) for measure in measures]
    texts = {file: each.text() for file, each in zip(files, suites, strict=True)}
    index = {
        "version": VERSION,
        "made_by": f"permed-measures {__version__}",
        "format": _FORMAT,
        "files": [
            {
                "file": file,
                "measure": suite.target.name,
                "n_required": len(suite.cases),
                "n_alternatives": len(suite.alternatives),
            }
            for file, suite in zip(files, suites, strict=True)
        ],
    }
    texts[INDEX] = json.dumps(index, indent=2, ensure_ascii=False) + "\n"
    path.mkdir(exist_ok=True)
    for file, text in texts.items():
        write_whole(path / file, text.encode())
    return [path / file for file in texts]


def _file_of(measure: str) -> str:
    """Make the file name of a measure; characters that some systems forbid become an underscore."""
    return re.sub(r"[^\w@.,=()'-]", "_", measure) + ".json"


def _check_names(measures: Sequence[str], files: Sequence[str]) -> None:
    """Refuse measures whose file names are equal when upper and lower case are the same."""
    known: dict[str, str] = {INDEX: "the index"}
    for measure, file in zip(measures, files, strict=True):
        if (other := known.setdefault(file.lower(), measure)) != measure:
            problem = f"{measure} and {other} would have the same file"
            raise InputError(problem, where=file, hint="Write their cases into two folders")


def _check_folder(folder: Path, files: Sequence[str]) -> None:
    """Refuse a path that is not a folder, has no parent folder, or has files that would not be replaced."""
    if folder.exists() and not folder.is_dir():
        problem = "this is a file, and the cases need a folder"
        raise InputError(problem, where=str(folder), hint="Name another path")
    if not folder.is_dir():
        with suppress(FileNotFoundError):
            folder.stat()  # raises an error for links in a circle
        if not folder.resolve().parent.is_dir():
            raise InputError(f"there is no folder {str(folder.parent)!r} to create it in", where=str(folder))
        return
    others = sorted(each.name for each in folder.iterdir() if each.name not in files)
    if others:
        problem = f"the folder has other files ({others[0]}), and the cases need their own folder"
        raise InputError(problem, where=str(folder), hint="Name a new folder, or empty this one")
