"""Two runs that differ in what is judged of them, compared again."""

from __future__ import annotations

from dataclasses import dataclass

from ir_measures.measures import Measure

UNEQUAL = 0.05
"""The difference in Judged@k from which a comparison is shown again."""


@dataclass(frozen=True)
class PoolRow:
    """A pair of runs that differ in what is judged of them.

    Attributes
    ----------
    run, baseline : str
    measure : Measure
    judged, baseline_judged : float
        Judged@k, with the cutoff of the measure.
    difference : float
    condensed, condensed_p : float or None
        The mean difference on condensed lists, and its p-value of the randomization test, not adjusted.
    low, high : float or None
        No difference lies beyond, whatever grades the unjudged documents of both have; None where that was
        not computed.
    """

    run: str
    baseline: str
    measure: Measure
    judged: float
    baseline_judged: float
    difference: float
    condensed: float
    condensed_p: float | None
    low: float | None
    high: float | None

    @property
    def could_be_the_pools(self) -> bool | None:
        """Whether the bounds leave room for no difference; None where there are none."""
        return None if self.low is None or self.high is None else self.low <= 0 <= self.high
