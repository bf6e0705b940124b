"""pytrec_eval: which of its measures is one of ours, and its values for the queries that it can take.

It is C code that checks little. With pytrec-eval-terrier 0.5.11 each of these ends the process, hangs it or
gives values from memory that is not its own (``tests/fuzz_pytrec_eval.py`` finds them): a cutoff of 0; a
query with negative grades only, or with nothing retrieved; the query ids ``no query`` and ``no_query``,
which it uses itself; an id with a NUL, or that is no valid Unicode; large grades (its memory grows with the
highest grade, its time with the square); bpref at a relevance level more than one above the highest grade.
Numbers other than Python's own are a TypeError.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import ir_measures
from ir_measures.measures import Measure

from permed_measures.measures.parameters import values_of

HIGHEST_GRADE = 2_000
"""Grades above this are not given to pytrec_eval; here its nDCG takes a millisecond per query."""

HIGHEST_REL = 2**31 - 1
"""A relevance level is a C int."""

Labels = Mapping[str, int]
Scores = Mapping[str, float]


# --- measures ----------------------------------------------------------------------------------------

ABSENT = "pytrec_eval does not have it"


class Equivalent(NamedTuple):
    """A measure of pytrec_eval, and what makes it the same as one of ours.

    Attributes
    ----------
    measure : Measure
        That ir_measures asks pytrec_eval for.
    gains : mapping of int to int
        Grades that take the place of others.
    threshold : float
        Values below this are 0.
    """

    measure: Measure
    gains: Mapping[int, int] = {}
    threshold: float = 0.0


def equivalent_of(measure: Measure, grades: list[float], longest: int) -> Equivalent | str:
    """Return the measure of pytrec_eval that has the same values, or why there is none.

    Parameters
    ----------
    measure : Measure
    grades : list of float
        Of the qrels.
    longest : int
        The length of the longest list.
    """
    if any(grade != int(grade) for grade in grades):
        return "pytrec_eval takes whole grades only"
    given = values_of(measure)
    found = (
        _EQUIVALENT[str(measure.NAME)](measure, given, grades, longest)
        if measure.NAME in _EQUIVALENT
        else _itself(measure)
    )
    if isinstance(found, str):
        return found
    if max([*grades, *found.gains.values()], default=0) > HIGHEST_GRADE:
        return f"pytrec_eval reserves memory up to the highest gain, here above {HIGHEST_GRADE:,}"
    if not 1 <= (values_of(found.measure).get("rel") or 1) <= HIGHEST_REL or given.get("rel") == 0:
        return f"pytrec_eval takes a rel from 1 to {HIGHEST_REL}"
    return found


def _itself(measure: Measure) -> Equivalent | str:
    return Equivalent(measure) if ir_measures.pytrec_eval.supports(measure) else ABSENT


def _success(_: Measure, given: dict[str, Any], __: list[float], longest: int) -> Equivalent | str:
    """Coverage is success; without a cutoff, that of the longest list."""
    if given["rel"] != int(given["rel"]):
        return ABSENT
    return Equivalent(ir_measures.Success(**{**given, "cutoff": given["cutoff"] or max(longest, 1)}))


def _reciprocal_rank(_: Measure, given: dict[str, Any], *__: Any) -> Equivalent:
    """RR@k is RR, but 0 where the first relevant document is below rank k."""
    cutoff = given.pop("cutoff")
    return Equivalent(ir_measures.RR(**given), threshold=(1 - 1e-12) / cutoff if cutoff else 0.0)


def _iprec(measure: Measure, given: dict[str, Any], *_: Any) -> Equivalent | str:
    return (
        Equivalent(measure)
        if round(given["recall"], 2) == given["recall"]
        else "pytrec_eval takes two digits"
    )


def _ndcg(_: Measure, given: dict[str, Any], grades: list[float], __: int) -> Equivalent | str:
    """Exp-gain nDCG is nDCG on grades 2^g - 1; negative grades stay as they are."""
    gains = given.get("gains") or {}
    if not all(isinstance(gain, int) for gain in gains.values()):
        return "pytrec_eval takes whole gains only"
    if given["dcg"] == "exp-log2":
        highest = math.ceil(math.log2(HIGHEST_GRADE)) + 1  # of which the gain is refused already
        gains = {int(grade): 2 ** min(int(grade), highest) - 1 for grade in grades if grade >= 0}
    same = {"judged_only": given["judged_only"], **({"cutoff": given["cutoff"]} if given["cutoff"] else {})}
    return Equivalent(ir_measures.nDCG(**same), gains)


def _variant_ndcg(
    measure: Measure, given: dict[str, Any], grades: list[float], longest: int
) -> Equivalent | str:
    if (given["discount"], given["ideal"], given["negative"]) != ("log2", "qrels", "zero"):
        return ABSENT
    dcg = {"exp": "exp-log2", "linear": "log2"}[given["gain"]]
    return _ndcg(measure, {**given, "dcg": dcg}, grades, longest)


_EQUIVALENT: dict[str, Callable[[Measure, dict[str, Any], list[float], int], Equivalent | str]] = {
    "Coverage": _success,
    "RR": _reciprocal_rank,
    "IPrec": _iprec,
    "nDCG": _ndcg,
    "VariantNDCG": _variant_ndcg,
}
"""Measures that pytrec_eval has under another name, or not in every form."""


# --- values ------------------------------------------------------------------------------------------


def pytrec_values(
    measure: Measure, qrels: Mapping[str, Labels], run: Mapping[str, Scores]
) -> dict[str, float]:
    """Return pytrec_eval's value for each query that it can take and where it does not divide 0 by 0.

    ``ir_measures.pytrec_eval`` must support the measure, with a cutoff of at least 1 and a rel up to
    HIGHEST_REL; no score may be NaN.
    """
    level = values_of(measure).get("rel") or 1
    safe = [
        query_id
        for query_id, labels in qrels.items()
        if can_take(labels, run.get(query_id, {}))
        and (measure.NAME != "Bpref" or level <= max(labels.values()) + 1)
    ]
    names = {f"q{number}": query_id for number, query_id in enumerate(safe)}
    # Negative grades are alike to trec_eval; as -1 they fit its integers.
    labels = {name: {d: max(g, -1) for d, g in qrels[q].items()} for name, q in names.items()}
    scores = {name: {d: float(s) for d, s in run[q].items()} for name, q in names.items()}
    metrics = ir_measures.pytrec_eval.iter_calc([measure], labels, scores)
    return {names[m.query_id]: m.value for m in metrics if m.value == m.value}


def can_take(labels: Labels, scores: Scores) -> bool:
    """Return whether a query can be given to pytrec_eval."""
    highest = max(labels.values(), default=-1)
    return bool(scores) and 0 <= highest <= HIGHEST_GRADE and _is_text(labels) and _is_text(scores)


def _is_text(ids: Iterable[str]) -> bool:
    text = "".join(ids)
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text
