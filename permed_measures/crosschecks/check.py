"""Our values against pytrec_eval's, query by query; where they differ, why."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from statistics import fmean
from typing import Any

import numpy as np
from ir_measures.measures import Measure
from numpy.typing import NDArray

from permed_measures.crosschecks.identities import Comparison, comparison_of
from permed_measures.crosschecks.pytrec import can_take, pytrec_values
from permed_measures.crosschecks.results import CrossCheck, Row
from permed_measures.datasets.loading import loaded_qrels, loaded_run
from permed_measures.engine.evaluator import PermedEvaluator
from permed_measures.engine.forms import as_mapping
from permed_measures.engine.inputs import FileRun, QrelsLike, RunLike, path_of, with_text_ids
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.ranks import TieBreak
from permed_measures.measures.definitions import LITSEARCH, MEDCORPUS
from permed_measures.measures.parameters import cutoff_of
from permed_measures.measures.parsing import MeasuresLike, measures_of, parse_measure

TOLERANCE = 1e-9
"""The largest difference per query that counts as agreement."""

_COMMON = """AP AP@100 nDCG nDCG@10 nDCG@100 P@5 P@10 R@100 RR Rprec Bpref infAP Success@1 Success@5
SetP SetR SetF IPrec@0.1"""

DEFAULT_MEASURES = tuple(dict.fromkeys([*MEDCORPUS, *LITSEARCH, *map(parse_measure, _COMMON.split())]))
"""Measures that are checked by default: the presets, and what papers report most."""

Grades = dict[str, dict[str, int]]
Scores = dict[str, dict[str, float]]
Values = dict[str, float]


def _our_values(
    measures: list[Measure], qrels: QrelsLike | Judgments, run: Scores, ties: TieBreak = TieBreak.TREC
) -> dict[Measure, Values]:
    evaluation = PermedEvaluator(measures, qrels, ties).evaluate(run)
    ids = evaluation.rankings.judgments.query_ids
    return {
        measure: dict(zip(ids, values.tolist(), strict=True))
        for measure, values in zip(evaluation.measures, evaluation.values, strict=True)
    }


def _their_values(comparison: Comparison, qrels: Grades, run: Scores) -> Values:
    """Return ``{query: value}`` for the queries that pytrec_eval can take."""
    gains = comparison.gains or {}
    mapped = {q: {d: gains.get(g, g) for d, g in docs.items()} for q, docs in qrels.items()}
    return {q: comparison.value(value) for q, value in pytrec_values(comparison.theirs, mapped, run).items()}


_TIES = {ties: f"ties: with equal scores in the order {ties.value!r}" for ties in TieBreak}
"""Why values can differ that agree in another order of ties, in the order in which they are tried."""
_TIES[TieBreak.TREC10] = "float32: with scores compared as float64"


def _cause(measure: Measure, query_id: str, theirs: float, qrels: Grades, run: Scores) -> str:
    """Explain the difference on a query: each cause is tried, not guessed."""
    labels, documents = qrels[query_id], run[query_id]

    def gives_theirs(labels: dict[str, int], ties: TieBreak = TieBreak.TREC) -> bool:
        value = _our_values([measure], {query_id: labels}, {query_id: documents}, ties)[measure][query_id]
        return abs(value - theirs) <= TOLERANCE

    collide = len(set(_as_float32(documents).tolist())) < len(set(documents.values()))
    for ties, text in _TIES.items():
        if (ties is not TieBreak.TREC10 or collide) and gives_theirs(labels, ties):
            return f"{text} we have pytrec_eval's value"
    without = {d: g for d, g in labels.items() if g >= 0}
    for text, changed in ("as unjudged", without), ("as 0", {d: max(g, 0) for d, g in labels.items()}):
        if gives_theirs(changed):
            return f"negative grade: with negative grades {text} we have pytrec_eval's value"
    return "unknown: neither ties, float32 nor negative grades explain it"


def _rows_with_ties(measures: list[Measure], judgments: Judgments, run: Scores) -> Iterator[Row]:
    """Yield a row for each measure, with its mean in three orders of ties; nothing is compared yet."""
    first = _first_tie(judgments, run)
    value, least, most = (
        PermedEvaluator(measures, judgments, ties).evaluate(run).aggregated
        for ties in (TieBreak.TREC, TieBreak.PESSIMISTIC, TieBreak.OPTIMISTIC)
    )
    for measure in measures:
        tied = first <= (cutoff_of(measure) or np.finfo(float).max)
        yield Row(measure, value[measure], least[measure], most[measure], int(tied.sum()))


def _first_tie(judgments: Judgments, run: Scores) -> NDArray[np.float64]:
    """Return the rank at which the first tie of each judged query begins; infinite without one."""
    first = np.full(judgments.n_queries, np.inf)
    for query, query_id in enumerate(judgments.query_ids):
        scores = np.sort(_as_float32(run.get(query_id, {})))[::-1]
        tied = np.flatnonzero(scores[1:] == scores[:-1])
        if len(tied):
            first[query] = tied[0] + 1
    return first


def _as_float32(documents: Mapping[str, float]) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):  # beyond float32 is infinite, as it is in C
        return np.fromiter(documents.values(), np.float64).astype(np.float32)


def crosscheck(
    qrels: QrelsLike, run: RunLike, measures: MeasuresLike | None = None, rel: float | None = None
) -> CrossCheck:
    """Compare our values with pytrec_eval's, query by query.

    Parameters
    ----------
    qrels : QrelsLike
    run : RunLike
    measures : iterable of Measure or str, or one of these, or a dict of name to measure, optional
        Those of the presets and some that papers report often, if left out. Measures that pytrec_eval does
        not have are compared by an identity: GradedAP with all weights 1 is AP, Coverage is Success, exp-gain
        nDCG is nDCG on grades 2^g - 1, RR@k is RR where the first relevant document is within k, GAP with one
        threshold and Q-measure with beta 0 are AP.
    rel : number, optional
        As in `calc_aggregate`.

    Returns
    -------
    CrossCheck
        With ``ok``, ``rows`` and a table as its text. A difference names the query and the cause, which was
        found by trying it: another order of ties, float64 scores, negative grades. Each row also has the
        range that the order of ties spans.

    Raises
    ------
    MeasureError, InputError
        As for an evaluation. What pytrec_eval cannot take, or would crash on, is never given to it.

    Examples
    --------
    >>> result = crosscheck({"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}, ["RR", "GradedAP@10"])
    >>> result.ok, result.rows[0].least, result.rows[0].most
    (True, 0.5, 1.0)
    """
    qrels, run = loaded_qrels(qrels), loaded_run(run)
    labels = _with_text_ids(as_mapping(qrels, "relevance"))
    scores = FileRun(_with_text_ids(as_mapping(run, "score")), path_of(run))
    judgments = Judgments.of(labels)
    chosen = measures_of(DEFAULT_MEASURES if measures is None else measures, rel)
    asked = list(PermedEvaluator(chosen, judgments).measures)
    grades, longest = sorted(set(judgments.grade.tolist())), max(map(len, scores.values()), default=0)
    comparisons = {measure: comparison_of(measure, grades, longest) for measure in asked}
    possible = {m: c for m, c in comparisons.items() if isinstance(c, Comparison)}
    integers = {q: {d: int(g) for d, g in docs.items()} for q, docs in labels.items()} if possible else {}
    ours = _our_values([comparison.ours for comparison in possible.values()], judgments, scores)
    rows = [
        _compared(row, comparisons[row.measure], ours, integers, scores)
        for row in _rows_with_ties(asked, judgments, scores)
    ]
    both = sum(can_take(docs, scores.get(query_id, {})) for query_id, docs in labels.items())
    return CrossCheck(rows, len(labels), len(labels) - both)


def _with_text_ids(nested: Mapping[Any, Mapping[Any, Any]]) -> dict[str, dict[str, Any]]:
    named = with_text_ids(nested, "query ids")
    return {q: dict(with_text_ids(docs, "document ids", query_id=q)) for q, docs in named.items()}


def _compared(
    row: Row, comparison: Comparison | str, values: dict[Measure, Values], qrels: Grades, run: Scores
) -> Row:
    if isinstance(comparison, str):
        return replace(row, verdict=f"not cross-checked: {comparison}")
    ours, theirs = values[comparison.ours], _their_values(comparison, qrels, run)
    differences = {query_id: abs(ours[query_id] - value) for query_id, value in theirs.items()}
    row = replace(
        row,
        compared=_named(comparison),
        verdict="agrees",
        ours=fmean(ours.values()) if ours else math.nan,
        theirs=fmean({**ours, **theirs}.values()) if ours else math.nan,
        largest_difference=max(differences.values(), default=0.0),
        queries=len(theirs),
        differing=sum(difference > TOLERANCE for difference in differences.values()),
        per_query={query_id: (ours[query_id], value) for query_id, value in theirs.items()},
    )
    if not row.differing:
        return row
    query_id = max(differences, key=differences.__getitem__)
    cause = _cause(comparison.ours, query_id, theirs[query_id], qrels, run)
    return replace(row, verdict="differs", query_id=query_id, cause=cause)


def _named(comparison: Comparison) -> str:
    """Describe what was compared: an equation, unless it is one measure on the same grades."""
    exponential = comparison.gains and "gains" not in comparison.ours.params
    if comparison.ours == comparison.theirs and not exponential:
        return str(comparison.ours)
    return f"{comparison.ours} = {comparison.theirs}{' on grades 2^g-1' if exponential else ''}"
