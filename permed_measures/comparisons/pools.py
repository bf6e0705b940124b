"""Comparisons again where runs differ in what is judged of them: on condensed lists, and with bounds.

Condensed lists leave out unjudged documents (Sakai, Alternatives to Bpref, SIGIR 2007). The bounds let all
unjudged documents of both runs within the cutoff have any grade.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from ir_measures.measures import Measure

from permed_measures.budgets.gradings import Floats, Unjudged
from permed_measures.budgets.unjudged import joint_bounds, scale_of
from permed_measures.engine.kernels import KERNELS
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.errors import InputError
from permed_measures.measures.parameters import cutoff_of, values_of
from permed_measures.statistics.differences import PairedRuns
from permed_measures.statistics.pools import UNEQUAL, PoolRow
from permed_measures.statistics.resampling import randomization_test
from permed_measures.statistics.significance import zero_rounding_noise

_DEEPEST = 100
"""The largest cutoff whose bounds are computed."""

_COUNTS = ("Judged", "NumQ", "NumRet", "NumRel")
"""What unjudged documents do not distort."""


def pool_rows(paired: PairedRuns, resamples: int, seed: int) -> list[PoolRow]:
    """Compare the pairs again that differ in what is judged of them, measure by measure."""
    rows = []
    for (number, measure), pair in product(enumerate(paired.measures), paired.pairs if paired.judged else []):
        shares = _share(paired, pair[0], number), _share(paired, pair[1], number)
        if abs(shares[0] - shares[1]) >= UNEQUAL and measure.NAME not in _COUNTS:
            rows.append(_row(paired, number, pair, shares, (resamples, seed)))
    return rows


def every_label_is_relevant(paired: PairedRuns) -> bool:
    """Return whether no label is below what a measure calls relevant."""
    levels = [values_of(measure).get("rel") or 1 for measure in paired.measures]
    rankings = next(iter(paired.rankings.values()))
    return bool((rankings.judgments.grade >= max(levels)).all())


def _row(
    paired: PairedRuns, number: int, pair: tuple[str, str], shares: tuple[float, float], how: tuple[int, int]
) -> PoolRow:
    measure, ours, theirs = paired.measures[number], *(paired.rankings[run] for run in pair)
    condensed = zero_rounding_noise(_condensed(measure, ours) - _condensed(measure, theirs))
    p = randomization_test(condensed[:, None], paired.cluster, *how)[0].p
    difference = float((paired.values[pair[0]][number] - paired.values[pair[1]][number]).mean())
    low, high = _bounds(measure, ours, theirs)
    again = float(condensed.mean()), p
    return PoolRow(*pair, measure, *shares, difference, *again, low=low, high=high)


def _share(paired: PairedRuns, run: str, number: int) -> float:
    return float(paired.judged[run][number].mean())


def _condensed(measure: Measure, rankings: JudgedRankings) -> Floats:
    values: Floats = KERNELS[str(measure.NAME)](rankings.condensed, **values_of(measure))
    return values


def _bounds(
    measure: Measure, ours: JudgedRankings, theirs: JudgedRankings
) -> tuple[float, float] | tuple[None, None]:
    """Return what the difference can be at least and at most."""
    cutoff = cutoff_of(measure)
    try:
        scale = scale_of(ours.judgments)
    except InputError:  # the grades are no scale of whole numbers
        return None, None
    if cutoff is None or cutoff > _DEEPEST:
        return None, None
    run, base = (
        joint_bounds(measure, each, Unjudged.numbers(other, cutoff), scale)
        for each, other in ((ours, theirs), (theirs, ours))
    )
    low, high = float((run.low - base.high).mean()), float((run.high - base.low).mean())
    return (low, high) if np.isfinite([low, high]).all() else (None, None)
