"""Whether two sets of labels rank the runs alike: Kendall's tau-b, and tau_AP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permed_measures.intervals import zero_rounding_noise
from permed_measures.markup import counted

Floats = NDArray[np.float64]

FEWEST = 10
"""On fewer queries (or clusters) nothing is said of the order of runs."""

VERDICTS = {1: "better", 0: "open", -1: "worse"}


@dataclass(frozen=True)
class Order:
    """How the order of runs by the labels of the qrels agrees with that by people's, on a measure.

    Attributes
    ----------
    tau_b, tau_ap : float or None
        None where all runs are equal by one of both.
    exchanged : list of (str, str)
        Runs of which the first is above the other by the labels of the qrels, and below by people's.
    pairs : int
        The number of pairs of runs.
    changed : list of (str, str, str, str)
        Run, baseline, and the verdict by the labels of the qrels and by people's where these differ:
        ``better``, ``worse`` or ``open``.
    verdicts : int
        How many pairs have one; 0 where no test decides.
    """

    tau_b: float | None
    tau_ap: float | None
    exchanged: list[tuple[str, str]]
    pairs: int
    changed: list[tuple[str, str, str, str]] = field(default_factory=list)
    verdicts: int = 0

    @classmethod
    def of(cls, means: Mapping[str, float], people: Mapping[str, float]) -> Order:
        """Compare the order of runs by their means, by the labels of the qrels and by people's."""
        ours, theirs = (np.array([each[run] for run in means]) for each in (means, people))
        pairs = list(combinations(means, 2))
        exchanged = [
            pair if _sign(means, pair) > 0 else pair[::-1]
            for pair in pairs
            if _sign(means, pair) * _sign(people, pair) < 0
        ]
        return cls(tau_b(ours, theirs), tau_ap(ours, theirs), exchanged, len(pairs))


@dataclass(frozen=True)
class Orders:
    """The orders of runs on the queries of which people judged all documents.

    Attributes
    ----------
    queries, runs : int
    of_measures : list of Order
        One for each measure; empty where `reason` says why.
    reason : str
    """

    queries: int
    runs: int
    of_measures: list[Order]
    reason: str = ""


def too_few(n_queries: int, n_units: int, unit: str) -> str:
    """Say why the orders of runs are not compared on so few queries; empty where they are."""
    if n_units >= FEWEST:
        return ""
    units = "" if n_units == n_queries else f" ({counted(n_units, unit)})"
    return (
        f"The orders of the runs by both sets of labels are not compared: people judged all documents of "
        f"{counted(n_queries, 'query')}{units}, and on fewer than {FEWEST} both orders go by which queries "
        "these are, and differ more than the labels make them."
    )


def tau_b(x: Floats, y: Floats) -> float | None:
    """Return Kendall's tau-b; None where all values of one are equal.

    Values within 1e-12 of each other are equal.

    References
    ----------
    Kendall, The treatment of ties in ranking problems, Biometrika 33, 1945.

    Examples
    --------
    >>> tau_b(np.array([3.0, 2.0, 1.0]), np.array([3.0, 1.0, 2.0])).__round__(4)
    0.3333
    """
    a, b = _signs(x), _signs(y)
    both = float(np.sqrt((a != 0).sum() * (b != 0).sum()))
    return float((a * b).sum()) / both if both else None


def tau_ap(x: Floats, truth: Floats) -> float | None:
    r"""Return the AP rank correlation; None where all values of one are equal.

    .. math:: \tau_{AP} = \frac{2}{n - 1} \sum_{i=2}^n \frac{C(i)}{i - 1} - 1

    with C(i) of the items above rank i by x that are above its item by the truth too: what changes at the top
    counts more. Of equal values it is the mean over all their orders.

    References
    ----------
    Yilmaz, Aslam & Robertson, A new rank correlation coefficient for information retrieval, SIGIR 2008;
    Urbano & Marrero, The treatment of ties in AP correlation, ICTIR 2017.

    Examples
    --------
    >>> truth = np.array([4.0, 3.0, 2.0, 1.0])
    >>> tau_ap(truth, truth), tau_ap(-truth, truth)
    (1.0, -1.0)
    >>> at_the_top, at_the_end = np.array([3.0, 4.0, 2.0, 1.0]), np.array([4.0, 3.0, 1.0, 2.0])
    >>> round(tau_ap(at_the_top, truth), 4), round(tau_ap(at_the_end, truth), 4)
    (0.3333, 0.7778)
    """
    a, b = _signs(x), _signs(truth)
    if not a.any() or not b.any():
        return None
    total = 0.0
    for row, right in zip(a, (1 - b) / 2, strict=True):  # 1 where another is above by the truth, 1/2 if equal
        above, equal = int((row < 0).sum()), int((row == 0).sum())
        known = float(right[row < 0].sum())
        # It is the k-th of those that are equal to it as often as any other of them.
        parts = [(known + k / 2) / (above + k) for k in range(equal) if above + k]
        total += sum(parts) / equal
    return 2 * total / (len(x) - 1) - 1


def _signs(values: Floats) -> Floats:
    """Return 1 where the item of the row is above that of the column, -1 where below, 0 where equal."""
    return np.sign(zero_rounding_noise(np.subtract.outer(values, values)))


def _sign(means: Mapping[str, float], pair: Sequence[str]) -> float:
    return float(np.sign(zero_rounding_noise(np.array(means[pair[0]] - means[pair[1]]))))


def orders_json(orders: Orders | None, measures: Sequence[str]) -> Any:
    """Return what the JSON holds of the orders."""
    if orders is None:
        return None
    of_measures = [
        {"measure": measure, **vars(order)}
        for measure, order in zip(measures, orders.of_measures, strict=False)
    ]
    return {"queries": orders.queries, "reason": orders.reason or None, "measures": of_measures}
