"""How far two sets of labels agree: on grades, by kappa and alpha, and on the order of runs, by tau."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from permed_measures.arrays import Floats
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.escaping import pluralize
from permed_measures.intervals import zero_rounding_noise


@dataclass(frozen=True, eq=False)
class Agreement:
    """How the labels of people and those of the qrels agree.

    Attributes
    ----------
    levels : ndarray, shape (n_levels,)
        The grades, ascending.
    counts : ndarray, shape (n_levels, n_levels)
        How many documents have a grade in the qrels (row) and one by people (column).
    left_out : int
        How many have a grade below 0 in the qrels or by people, as of labels that failed.
    """

    levels: Floats
    counts: Floats
    left_out: int = 0

    @classmethod
    def of(cls, labels: Floats, people: Floats) -> Agreement:
        """Count the pairs of grades of some documents; NaN is no grade."""
        both = (labels >= 0) & (people >= 0)
        left_out = int((~np.isnan(labels) & ~np.isnan(people)).sum() - both.sum())
        levels = np.unique([labels[both], people[both]])
        n = len(levels)
        row, column = (np.searchsorted(levels, each[both]) for each in (labels, people))
        counts = np.bincount(row * n + column, minlength=n * n).reshape(n, n).astype(np.float64)
        return cls(levels, counts, left_out)

    @property
    def n(self) -> int:
        """The number of documents."""
        return int(self.counts.sum())

    @property
    def agreed(self) -> float:
        """The share of documents with the same grade."""
        return float(np.trace(self.counts)) / self.n

    @property
    def higher(self) -> float:
        """The share of documents with a higher grade in the qrels than by people."""
        return float(np.tril(self.counts, -1).sum()) / self.n

    @property
    def lower(self) -> float:
        """The share of documents with a lower grade in the qrels than by people."""
        return float(np.triu(self.counts, 1).sum()) / self.n

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa."""
        return chance_corrected(self.counts, 1 - np.eye(len(self.levels)))

    @property
    def quadratic_kappa(self) -> float | None:
        """Cohen's kappa with squared differences of grades as weights."""
        return chance_corrected(self.counts, np.subtract.outer(self.levels, self.levels) ** 2)

    @property
    def alpha(self) -> float | None:
        """Krippendorff's alpha for ordinal data."""
        return krippendorffs_alpha(self.counts)


def chance_corrected(counts: Floats, weights: Floats) -> float | None:
    """Return Cohen's weighted kappa of a table of counts; None where all labels are one grade.

    One minus the weighted disagreements over those of independent labels with the same margins.

    References
    ----------
    Cohen, A Coefficient of Agreement for Nominal Scales, Educational and Psychological Measurement 20, 1960;
    Weighted kappa, Psychological Bulletin 70, 1968.

    Examples
    --------
    >>> chance_corrected(np.array([[20.0, 5.0], [10.0, 15.0]]), 1 - np.eye(2))
    0.4
    """
    by_chance = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    expected = float((weights * by_chance).sum())
    return 1 - float((weights * counts).sum()) / expected if expected > 0 else None


def krippendorffs_alpha(counts: Floats) -> float | None:
    """Return Krippendorff's alpha for ordinal data of a table of counts; None where all are one grade.

    The difference of two grades is the square of how many labels lie between them, half of their own
    included. Both labels of a document count in both directions, and pairs by chance are without replacement.

    References
    ----------
    Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011.

    Examples
    --------
    >>> round(krippendorffs_alpha(np.array([[5.0, 1.0], [3.0, 1.0]])), 3)  # his section B, binary data
    0.095
    """
    pairs = counts + counts.T
    n_labels = pairs.sum(axis=0)
    middle = np.cumsum(n_labels) - n_labels / 2
    difference = np.subtract.outer(middle, middle) ** 2
    by_chance = (np.outer(n_labels, n_labels) - np.diag(n_labels)) / (n_labels.sum() - 1)
    expected = float((difference * by_chance).sum())
    return 1 - float((difference * pairs).sum()) / expected if expected > 0 else None


def grades_by(judgments: Judgments, others: Judgments) -> Floats:
    """Return the grades that other judgments have of the same documents, NaN where they have none."""
    theirs = _by_document(others)
    return np.array([theirs.get(document, np.nan) for document in _by_document(judgments)], np.float64)


def relabelled(rankings: JudgedRankings, grade: Floats) -> JudgedRankings:
    """Return the rankings with other grades of the same documents."""
    return replace(rankings, judgments=replace(rankings.judgments, grade=grade))


def _by_document(judgments: Judgments) -> dict[tuple[str, str], float]:
    """Return the grade of each query and document, in the order of the judgments."""
    queries = (judgments.query_ids[number] for number in judgments.query.tolist())
    documents = zip(queries, judgments.documents, strict=True)
    return dict(zip(documents, judgments.grade.tolist(), strict=True))


FEWEST = 10
"""On fewer queries (or clusters) nothing is said of the order of runs."""

_VERDICTS = {1: "better", 0: "open", -1: "worse"}


@dataclass(frozen=True)
class OrderAgreement:
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
    changed: list[tuple[str, str, str, str]]
    verdicts: int

    @classmethod
    def of(
        cls,
        means: Mapping[str, float],
        people: Mapping[str, float],
        verdicts: Mapping[tuple[str, str], int],
        by_people: Mapping[tuple[str, str], int],
    ) -> OrderAgreement:
        """Compare orders by means, and verdicts, by the labels of the qrels and by people's.

        Verdicts are by pair of run and baseline: 1 better, 0 open, -1 worse.
        """
        ours, theirs = (np.array([each[run] for run in means]) for each in (means, people))
        pairs = list(combinations(means, 2))
        exchanged = [
            pair if _sign(means, pair) > 0 else pair[::-1]
            for pair in pairs
            if _sign(means, pair) * _sign(people, pair) < 0
        ]
        changed = [
            (*pair, _VERDICTS[verdict], _VERDICTS[by_people[pair]])
            for pair, verdict in verdicts.items()
            if verdict != by_people[pair]
        ]
        taus = tau_b(ours, theirs), tau_ap(ours, theirs)
        return cls(*taus, exchanged, len(pairs), changed, len(verdicts))


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
    of_measures: list[OrderAgreement]
    reason: str = ""


def too_few(n_queries: int, n_units: int, unit: str) -> str:
    """Say why the orders of runs are not compared on so few queries; empty where they are."""
    if n_units >= FEWEST:
        return ""
    units = "" if n_units == n_queries else f" ({pluralize(n_units, unit)})"
    return (
        f"The orders of the runs by both sets of labels are not compared: people judged all documents of "
        f"{pluralize(n_queries, 'query')}{units}, and on fewer than {FEWEST} both orders go by which queries "
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
