"""Before and after reranking: how relevant documents moved, which pairs were put right, who gained."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.comparisons.changes import QueryChange, Reranking
from permed_measures.comparisons.moves import (
    Ints,
    Pairs,
    count_pairs,
    moves_of,
    rank_of_judgments,
    ranks_of_all,
    within,
)
from permed_measures.datasets.loading import loaded_qrels, loaded_run
from permed_measures.engine.evaluator import PermedEvaluator
from permed_measures.engine.forms import as_mapping, irds_of, with_string_ids
from permed_measures.engine.inputs import Nested, QrelsLike, RunLike
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.tables import Frames
from permed_measures.errors import InputError, check_whole_number
from permed_measures.files.provenance import Origin
from permed_measures.measures.parameters import cutoff_of
from permed_measures.measures.parsing import MeasuresLike, measures_of
from permed_measures.named_runs import naming, notes_of


def reranking(
    qrels: QrelsLike | Judgments,
    before: RunLike,
    after: RunLike,
    measure: MeasuresLike = "nDCG@10",
    top: int = 5,
    rel: float = 1,
    judged_only: bool = False,
    names: tuple[str, str] = ("before", "after"),
) -> Reranking:
    """Say what a reranking changed: ranks of relevant documents, pairs of documents, queries.

    Parameters
    ----------
    qrels : QrelsLike
        Judgments in any form.
    before, after : RunLike
        The run that was reranked, and the result; in any form.
    measure : Measure or str, or a dict of its name to it
        The measure that queries gain and lose in.
    top : int, at least 0
        Number of queries to list with the largest gains, and with the largest losses.
    rel : float
        The grade from which a document is relevant, also for a measure that does not name its own.
    judged_only : bool
        Whether pairs are of judged documents only. Otherwise unjudged ones, which no measure takes as
        relevant, are the lower ones of pairs too: where only relevant documents are judged, as in LitSearch,
        there are no others.
    names : (str, str)
        What the two runs are called in texts and errors.

    Returns
    -------
    Reranking

    Raises
    ------
    MeasureError, InputError
        As for an evaluation; also if the qrels have no query, `top` is no whole number from 0 on, or `rel` is
        nan.

    Notes
    -----
    Ranks are those among all documents retrieved, ties as in every evaluation. A grade below 0 is that of a
    document without relevance: in pairs it counts as 0. Queries with equal changes are in ascending order of
    their ids. P-imp@k is the share of pairs put right, of the pairs whose documents are both within the first
    k ranks of both runs, k the cutoff of the measure: the measure of CLPR's memory ablation, in which pairs
    that are right in both runs count below the line too. A query that a run lacks scores 0, and its relevant
    documents are not retrieved; the notes say how many there are.

    Examples
    --------
    >>> from permed_measures.comparisons.reranking import reranking
    >>> first = {"q": {"c": 3.0, "b": 2.0, "a": 1.0}}
    >>> second = {"q": {"a": 3.0, "c": 2.0, "b": 1.0}}
    >>> result = reranking({"q": {"a": 2, "b": 1, "c": 0}}, first, second, "RR")
    >>> result.moves.up, result.moves.down, result.moves.mean
    (1, 1, 0.5)
    >>> result.pairs
    Pairs(put_right=2, broken=0, still_right=0, still_wrong=1)
    """
    origin, qrels = Origin.of(qrels, {names[0]: before, names[1]: after}), loaded_qrels(qrels)
    before, after = loaded_run(before), loaded_run(after)
    _check_options(top, rel, names)
    evaluator = _evaluator(measure, rel, qrels)
    judgments = evaluator.judgments
    both = None if judged_only else (_nested(names[0], before), _nested(names[1], after))
    runs = zip(names, both or (before, after), strict=True)
    first, second = (_ranked(evaluator, name, run) for name, run in runs)
    change = np.round(second.values - first.values, 12)  # so that rounding does not order equal changes
    gained = np.argsort(-change, kind="stable")[: (change > 0).sum()]
    lost = np.argsort(change, kind="stable")[: (change < 0).sum()]
    ranked = ranks_of_all(judgments, *both) if both else (judgments, first.rank, second.rank)
    pairs = count_pairs(*ranked)
    [asked] = evaluator.measures
    k = cutoff_of(asked)
    early = count_pairs(ranked[0], *(within(k, rank) for rank in ranked[1:]))
    texts = _texts(irds_of(qrels), set(judgments.query_ids))
    rows = zip(judgments.query_ids, first.values.tolist(), second.values.tolist(), strict=True)
    changes = [QueryChange(query_id, texts.get(query_id), *values) for query_id, *values in rows]
    return Reranking(
        measure=asked,
        before=float(first.values.mean()),
        after=float(second.values.mean()),
        n_gained=len(gained),
        n_lost=len(lost),
        n_unchanged=len(change) - len(gained) - len(lost),
        moves=moves_of(first.rank, second.rank, judgments.grade >= rel),
        pairs=Pairs(*pairs.sum(axis=0).tolist()),
        early=Pairs(*early.sum(axis=0).tolist()),
        cutoff=k,
        gained=[changes[q] for q in gained[:top]],
        lost=[changes[q] for q in lost[:top]],
        by_query=[Pairs(*counts) for counts in pairs.tolist()],
        notes=[*evaluator.notes(), *first.notes, *second.notes],
        queries=changes,
        names=names,
        origin=origin,
    )


def _check_options(top: int, rel: float, names: tuple[str, str]) -> None:
    check_whole_number("top", top, 0)
    if names[0] == names[1]:
        raise InputError(f"the two runs need different names (found {names[0]!r} twice)")
    if math.isnan(rel):
        raise InputError(f"rel must be a number (found {rel!r})")


def _evaluator(measure: MeasuresLike, rel: float, qrels: QrelsLike | Judgments) -> PermedEvaluator:
    """Return what evaluates the one measure on qrels that have a query."""
    measures = measures_of(measure, None if rel == 1 else rel)
    if len(measures) != 1:
        raise InputError(f"reranking takes one measure (found {len(measures)})")
    evaluator = PermedEvaluator(measures, qrels)
    if not evaluator.judgments.n_queries:
        raise InputError("the qrels have no query")
    return evaluator


class _Ranked(NamedTuple):
    """A run: its value on each query, the rank of each judgment, and notes."""

    values: NDArray[np.float64]
    rank: Ints
    notes: list[str]


def _ranked(evaluator: PermedEvaluator, name: str, run: RunLike) -> _Ranked:
    with naming(name):
        evaluation = evaluator.evaluate(run)
    [values], rankings = evaluation.values, evaluation.rankings
    return _Ranked(values, rank_of_judgments(rankings), notes_of(name, rankings, evaluator.measures))


def _nested(name: str, run: RunLike) -> Nested:
    """Return a run as a mapping, which can be read twice."""
    with naming(name):
        if isinstance(run, Frames):
            return run.nested()
        return with_string_ids(as_mapping(run, "score"), "query ids")


def _texts(dataset: Any, wanted: set[str]) -> dict[str, str]:
    """Look up the texts of these queries, of a data set that has them."""
    if not hasattr(dataset, "queries_iter"):
        return {}
    return {
        query.query_id: query.default_text() if hasattr(query, "default_text") else query.text
        for query in dataset.queries_iter()
        if query.query_id in wanted
    }
