"""DCG as few compute it: ideal lists that are cut elsewhere, and gains averaged over the orders of a tie."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.audits.options import Ideal
from permed_measures.engine.judgments import Ints
from permed_measures.engine.kernels.graded import DISCOUNTS, discounted_gain, gains_of, ideal_rankings
from permed_measures.engine.kernels.shared import divide, sums
from permed_measures.engine.rankings import JudgedRankings

Floats = NDArray[np.float64]


class Spans(NamedTuple):
    """The first and the last rank that each hit could have among the documents with its score."""

    first: Ints
    last: Ints


class Gaining(NamedTuple):
    """How documents gain, by the values of the options."""

    gain: str
    discount: str
    negative: str


def rare_ndcg(
    rankings: JudgedRankings, spans: Spans | None, cutoff: int | None, how: Gaining, ideal: Ideal
) -> Floats:
    """Compute nDCG of each query; with spans, a tied document gains the mean over its possible ranks."""
    if spans is None:
        gained = discounted_gain(rankings.within(cutoff), *how)
    else:
        gained = _averaged(rankings, spans, cutoff, how)
    if ideal is Ideal.FULL:
        return divide(gained, _of_ones(rankings, cutoff, how.discount))
    return divide(gained, discounted_gain(_ideal(rankings, ideal, cutoff), *how))


def _of_ones(rankings: JudgedRankings, cutoff: int | None, discount: str) -> Floats:
    """Return the DCG of a list of ones, as long as the cutoff or else as the list."""
    length = rankings.retrieved if cutoff is None else np.full(rankings.n_queries, cutoff)
    ranks = np.arange(1, int(length.max(initial=0)) + 1, dtype=np.int32)
    total: Floats = np.concatenate([[0.0], np.cumsum(DISCOUNTS[discount](ranks))])[length]
    return total


def _ideal(rankings: JudgedRankings, ideal: Ideal, cutoff: int | None) -> JudgedRankings:
    if ideal is Ideal.UNCUT:
        return rankings.ideal_of_qrels
    if ideal is Ideal.RETURNED:
        best = rankings.ideal_of_qrels.within(cutoff)
        return best.keep(best.rank <= rankings.retrieved[best.query])
    return ideal_rankings(rankings, ideal.value, cutoff).within(cutoff)


def _averaged(rankings: JudgedRankings, spans: Spans, cutoff: int | None, how: Gaining) -> Floats:
    deepest = int(spans.last.max(initial=0))
    discounts = DISCOUNTS[how.discount](np.arange(1, deepest + 1, dtype=np.int32))
    if cutoff is not None:
        discounts[cutoff:] = 0
    before = np.concatenate([[0.0], np.cumsum(discounts)])
    share = (before[spans.last] - before[spans.first - 1]) / (spans.last - spans.first + 1)
    return sums(rankings.query, gains_of(rankings, how.gain, how.negative) * share, rankings.n_queries)
