"""What the values of a run do not tell: equal scores, ids that hardly meet, qrels in the place of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from permed_measures.engine.forms import as_mapping_or_batches
from permed_measures.engine.inputs import Batches, RunLike
from permed_measures.engine.rankings import JudgedRankings

if TYPE_CHECKING:
    import polars as pl

_FIRST = 10
_FEW = 0.02
"""The share of judged documents below which ids may not be those of the qrels.

Of the public LitSearch runs, whose queries have one to two judged documents, the weakest retrieves one judged
document in six; a run whose query ids are off by one, one in 200.
"""

_ENOUGH = 10
"""Documents from which on it is hardly by chance that none or all are judged, in the order of the qrels."""


def run_notes(name: str, run: RunLike, rankings: JudgedRankings) -> list[str]:
    """Return what should stand beside the values of a run: facts with their numbers, in sentences.

    Parameters
    ----------
    name : str
    run : RunLike
        A mapping, a frame or batches, which are gone through again until two scores of a query differ.
    rankings : JudgedRankings
        Of this run, all ranks.

    Returns
    -------
    list of str
        Where all scores of each query are equal; where hardly any document is judged; where the run retrieves
        judged documents alone, all those with a grade above 0, in the order of the qrels or of their grades.

    Examples
    --------
    >>> from permed_measures.engine.judgments import Judgments
    >>> qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}
    >>> print(*run_notes("mine", run, JudgedRankings.of(Judgments.of(qrels), run)), sep="; ")
    run 'mine': in each query all scores are equal, so that documents are ranked by id, descending
    """
    said = [*_equal_scores(run), *_few_judged(rankings), *_like_qrels(rankings)]
    return [f"run {name!r}: {each}" for each in said]


def _equal_scores(run: RunLike) -> Iterator[str]:
    if all_scores_equal(run):
        yield "in each query all scores are equal, so that documents are ranked by id, descending"


def _few_judged(rankings: JudgedRankings) -> Iterator[str]:
    """Say how few documents are judged; of queries for which something is retrieved."""
    n_first = int(np.minimum(rankings.retrieved, _FIRST).sum())
    n_judged = int((rankings.retrieved[rankings.judgments.query] > 0).sum())
    first, found = len(rankings.within(_FIRST).row), len(rankings.row)
    if n_first >= _ENOUGH and first < _FEW * n_first and found < _FEW * n_judged:
        yield (
            f"of {n_first:,} documents within the first {_FIRST}, {_are(first)} judged, and of {n_judged:,} "
            f"judged documents, {_are(found)} retrieved; compare the ids of run and qrels"
        )


def _like_qrels(rankings: JudgedRankings) -> Iterator[str]:
    """Say if a run has all that is relevant, nothing unjudged, and an order that is one of the qrels."""
    n_retrieved, grade = int(rankings.retrieved.sum()), rankings.judgments.grade
    n_relevant = int((grade > 0).sum())
    some_unjudged = len(rankings.row) < n_retrieved
    if n_retrieved < _ENOUGH or some_unjudged or (rankings.grade > 0).sum() < n_relevant:
        return
    same_query = rankings.query[1:] == rankings.query[:-1]
    places = (np.diff(rankings.judgments.order[rankings.row]), -np.diff(rankings.grade))
    for steps, order in zip(places, ("of the qrels", "of their grades"), strict=True):
        if (steps[same_query] >= 0).all():
            yield (
                f"all {n_retrieved:,} documents are judged, in the order {order}, and all {n_relevant:,} "
                "with a grade above 0 are retrieved, as in a run that was made from the qrels"
            )
            return


def _are(n: int) -> str:
    return f"{n:,} {'is' if n == 1 else 'are'}"


def all_scores_equal(run: RunLike) -> bool:
    """Return whether within each query all scores are equal as float32, of two documents or more somewhere.

    It stops at the first query that has two scores.
    """
    table = as_mapping_or_batches(run, "score")
    if isinstance(table, Mapping):
        return _equal_within(np.fromiter(each.values(), np.float64, len(each)) for each in table.values())
    return _equal_in_frames(table if isinstance(table, Batches) else [table])


def _equal_within(scores: Iterable[NDArray[np.float64]]) -> bool:
    several = False
    for each in map(_as_ranked, scores):
        if len(each) and each.min() < each.max():
            return False
        several = several or len(each) > 1
    return several


def _as_ranked(scores: NDArray[np.float64]) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):  # beyond float32 is infinite, as in an evaluation
        return scores.astype(np.float32)


def _equal_in_frames(frames: Iterable[pl.DataFrame]) -> bool:
    """Return the same for frames; the rows of a query may stand in several."""
    import polars as pl

    known: dict[str, float] = {}
    several = False
    for frame in frames:
        score = pl.col("score").cast(pl.Float32, strict=False)
        rows = frame.lazy().group_by("query_id").agg(low=score.min(), high=score.max(), n=pl.len())
        for query_id, low, high, n in rows.collect().iter_rows():
            several = several or n > 1 or query_id in known
            if low < high or known.setdefault(query_id, low) != low:
                return False
    return several
