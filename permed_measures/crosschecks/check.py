"""Our values against pytrec_eval's, query by query: `crosscheck`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from permed_measures.crosschecks.pytrec import Equivalent, can_take, equivalent_of, pytrec_values
from permed_measures.crosschecks.results import CrossCheck, Row
from permed_measures.datasets.loading import loaded_qrels, loaded_run
from permed_measures.engine.evaluator import Evaluation, PermedEvaluator, aggregated
from permed_measures.engine.forms import as_mapping, with_string_ids
from permed_measures.engine.inputs import FileRun, QrelsLike, RunLike, path_of
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.ties import over_ties
from permed_measures.measures.definitions import LITSEARCH, MEDCORPUS
from permed_measures.measures.parsing import MeasuresLike, measures_of, parse_measure

TOLERANCE = 1e-9
"""The largest difference per query that counts as agreement."""

_COMMON = """AP AP@100 nDCG nDCG@10 nDCG@100 P@5 P@10 R@100 RR Rprec Bpref infAP Success@1 Success@5
SetP SetR SetF IPrec@0.1"""

DEFAULT_MEASURES = tuple(dict.fromkeys([*MEDCORPUS, *LITSEARCH, *map(parse_measure, _COMMON.split())]))
"""Measures that are checked by default: the presets, and what papers report most."""

Grades = dict[str, dict[str, int]]
Scores = dict[str, dict[str, float]]


def crosscheck(
    qrels: QrelsLike, run: RunLike, measures: MeasuresLike | None = None, rel: float | None = None
) -> CrossCheck:
    """Compare our values with pytrec_eval's, query by query.

    Parameters
    ----------
    qrels : QrelsLike
    run : RunLike
    measures : iterable of Measure or str, or one of these, or a dict of name to measure, optional
        Those of the presets and some that papers report often, if left out. Only what is the same measure is
        compared, be it under another name (Coverage is Success, RR@k is RR where the first relevant document
        is within k) or on other grades (exp-gain nDCG is nDCG on grades 2^g - 1). GradedAP, GAP, QMeasure and
        others pytrec_eval does not have; they are not compared.
    rel : number, optional
        As in `calc_aggregate`.

    Returns
    -------
    CrossCheck
        With ``ok``, ``rows`` and a table as its text. Each row also has the range that the order of ties
        spans.

    Raises
    ------
    MeasureError, InputError
        As for an evaluation. What pytrec_eval cannot take, or would crash on, is never given to it.

    Examples
    --------
    >>> result = crosscheck({"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}, ["RR", "GradedAP@10"])
    >>> result.ok, result.rows[0].ties, [row.verdict for row in result.rows]
    (True, (0.5, 1.0), ['agrees', 'not compared'])
    """
    qrels, run = loaded_qrels(qrels), loaded_run(run)
    labels = _with_string_ids(as_mapping(qrels, "relevance"))
    scores = FileRun(_with_string_ids(as_mapping(run, "score")), path_of(run))
    judgments = Judgments.of(labels)
    evaluator = PermedEvaluator(
        measures_of(DEFAULT_MEASURES if measures is None else measures, rel), judgments
    )
    evaluation = evaluator.evaluate(scores)
    *ends, exact = over_ties(evaluation.measures, judgments, scores, evaluation.values)
    low, high = (replace(evaluation, values=values).aggregated for values in ends)
    grades, longest = sorted(set(judgments.grade.tolist())), max(map(len, scores.values()), default=0)
    rows = []
    for (measure, value), known in zip(evaluation.aggregated.items(), exact, strict=True):
        row = Row(measure, value, (low[measure], high[measure]), known)
        equivalent = equivalent_of(measure, grades, longest)
        if isinstance(equivalent, str):
            rows.append(replace(row, reason=equivalent))
        else:
            rows.append(_compared(row, equivalent, evaluation, labels, scores))
    both = sum(can_take(documents, scores.get(query_id, {})) for query_id, documents in labels.items())
    return CrossCheck(rows, len(labels), len(labels) - both)


def _with_string_ids(nested: Mapping[Any, Mapping[Any, Any]]) -> dict[str, dict[str, Any]]:
    named = with_string_ids(nested, "query ids")
    return {q: dict(with_string_ids(docs, "document ids", query_id=q)) for q, docs in named.items()}


def _compared(row: Row, equivalent: Equivalent, evaluation: Evaluation, qrels: Grades, run: Scores) -> Row:
    """Return the row with what pytrec_eval has."""
    values = evaluation.values[evaluation.measures.index(row.measure)].tolist()
    ours = dict(zip(evaluation.rankings.judgments.query_ids, values, strict=True))
    gains = {
        q: {d: equivalent.gains.get(int(g), int(g)) for d, g in docs.items()} for q, docs in qrels.items()
    }
    found = pytrec_values(equivalent.measure, gains, run).items()
    theirs = {query_id: value if value >= equivalent.threshold else 0.0 for query_id, value in found}
    differences = {query_id: abs(ours[query_id] - value) for query_id, value in theirs.items()}
    differing = sum(difference > TOLERANCE for difference in differences.values())
    return replace(
        row,
        pytrec_eval=aggregated([row.measure], np.array([[*{**ours, **theirs}.values()]]))[row.measure],
        largest_difference=max(differences.values(), default=0.0),
        query_id=max(differences, key=differences.__getitem__) if differing else None,
        queries=len(theirs),
        differing=differing,
        per_query={query_id: (ours[query_id], value) for query_id, value in theirs.items()},
    )
