"""Agreement of two sets of labels: on grades, by kappa and alpha, and on the order of runs, by tau."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from permed_measures.arrays import Floats
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.intervals import zero_rounding_noise
from permed_measures.wording import pluralize


@dataclass(frozen=True, eq=False)
class Agreement:
    """The agreement of people's labels with the labels of the qrels.

    Attributes
    ----------
    levels : ndarray, shape (n_levels,)
        The grades, ascending.
    counts : ndarray, shape (n_levels, n_levels)
        Number of documents with a grade in the qrels (row) and a grade by people (column).
    left_out : int
        Number of documents with a grade below 0 in the qrels or by people, such as failed labels.
    """

    levels: Floats
    counts: Floats
    left_out: int = 0

    @classmethod
    def of(cls, labels: Floats, people: Floats) -> Agreement:
        """Count the pairs of grades of the same documents; NaN means no grade."""
        both = (labels >= 0) & (people >= 0)
        left_out = int((~np.isnan(labels) & ~np.isnan(people)).sum() - both.sum())
        levels = np.unique([labels[both], people[both]])
        n = len(levels)
        row, column = (np.searchsorted(levels, grades[both]) for grades in (labels, people))
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
    """Compute Cohen's weighted kappa of a table of counts; None if all labels are one grade.

    Kappa is one minus the weighted disagreements over the disagreements of independent labels with the same
    margins.

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
    """Compute Krippendorff's alpha for ordinal data from a table of counts; None if all labels are one grade.

    The difference of two grades is the squared number of labels between them, including half of their own
    labels. Each pair of labels counts in both directions, and chance pairs are drawn without replacement.

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
    """Look up the grades of the same documents in other judgments; NaN where they have none."""
    other_grades = _grade_by_document(others)
    documents = _grade_by_document(judgments)
    return np.array([other_grades.get(document, np.nan) for document in documents], np.float64)


def relabelled(rankings: JudgedRankings, grade: Floats) -> JudgedRankings:
    """Replace the grades of the judged documents."""
    return replace(rankings, judgments=replace(rankings.judgments, grade=grade))


def _grade_by_document(judgments: Judgments) -> dict[tuple[str, str], float]:
    """Map each query and document to its grade, in the order of the judgments."""
    queries = (judgments.query_ids[number] for number in judgments.query.tolist())
    documents = zip(queries, judgments.documents, strict=True)
    return dict(zip(documents, judgments.grade.tolist(), strict=True))


FEWEST = 10
"""The smallest number of queries (or clusters) on which orders of runs are compared."""

_VERDICTS = {1: "better", 0: "open", -1: "worse"}


@dataclass(frozen=True)
class OrderAgreement:
    """The agreement of the orders of runs by the labels of the qrels and by people's, on a measure.

    Attributes
    ----------
    tau_b, tau_ap : float or None
        None if all runs are equal by one set of labels.
    exchanged : list of (str, str)
        Pairs of runs: the first is above the second by the labels of the qrels, and below it by people's.
    pairs : int
        The number of pairs of runs.
    changed : list of (str, str, str, str)
        Run, baseline, and two different verdicts, by the labels of the qrels and by people's: ``better``,
        ``worse`` or ``open``.
    verdicts : int
        The number of pairs with a verdict; 0 if no test decides.
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
        """Compare the means of runs, and the verdicts, by the labels of the qrels and by people's.

        The keys of verdicts are pairs of run and baseline; the values are 1 better, 0 open, -1 worse.
        """
        x, y = (np.array([by_run[run] for run in means]) for by_run in (means, people))
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
        taus = tau_b(x, y), tau_ap(x, y)
        return cls(*taus, exchanged, len(pairs), changed, len(verdicts))


@dataclass(frozen=True)
class Orders:
    """The orders of runs on the queries of which people judged all documents.

    Attributes
    ----------
    queries, runs : int
    of_measures : list of OrderAgreement
        One for each measure; empty if there is a `reason` why orders are not compared.
    reason : str
    """

    queries: int
    runs: int
    of_measures: list[OrderAgreement]
    reason: str = ""


def reason_not_compared(n_queries: int, n_units: int, unit: str) -> str:
    """Explain why the orders of runs are not compared on too few queries; empty if they are."""
    if n_units >= FEWEST:
        return ""
    units = "" if n_units == n_queries else f" ({pluralize(n_units, unit)})"
    return (
        f"The orders of the runs by both sets of labels are not compared: people judged all documents of "
        f"{pluralize(n_queries, 'query')}{units}, and on fewer than {FEWEST} both orders depend on the "
        "choice of the queries, and differ more than the labels make them."
    )


def tau_b(x: Floats, y: Floats) -> float | None:
    """Compute Kendall's tau-b; None if all values of one side are equal.

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
    r"""Compute the AP rank correlation; None if all values of one side are equal.

    .. math:: \tau_{AP} = \frac{2}{n - 1} \sum_{i=2}^n \frac{C(i)}{i - 1} - 1

    where C(i) counts the items above rank i by x that the truth ranks above its item too. Changes at the top
    count more. With equal values it is the mean over all their orders.

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
        # In the orders of equal items, this item is the k-th of them equally often for each k.
        parts = [(known + k / 2) / (above + k) for k in range(equal) if above + k]
        total += sum(parts) / equal
    return 2 * total / (len(x) - 1) - 1


def _signs(values: Floats) -> Floats:
    """Compare all items: 1 where the row's item is above the column's, -1 where below, 0 where equal."""
    return np.sign(zero_rounding_noise(np.subtract.outer(values, values)))


def _sign(means: Mapping[str, float], pair: Sequence[str]) -> float:
    return float(np.sign(zero_rounding_noise(np.array(means[pair[0]] - means[pair[1]]))))


def orders_json(orders: Orders | None, measures: Sequence[str]) -> Any:
    """Return the orders in a form for JSON."""
    if orders is None:
        return None
    of_measures = [
        {"measure": measure, **vars(order)}
        for measure, order in zip(measures, orders.of_measures, strict=False)
    ]
    return {"queries": orders.queries, "reason": orders.reason or None, "measures": of_measures}
