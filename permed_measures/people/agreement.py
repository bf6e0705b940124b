"""How far two sets of labels agree: a table of grades, Cohen's kappa, Krippendorff's alpha."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from permed_measures.engine.judgments import Judgments
from permed_measures.engine.rankings import JudgedRankings

Floats = NDArray[np.float64]


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
    by_chance = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / max(counts.sum(), 1)
    expected = float((weights * by_chance).sum())
    return round(1 - float((weights * counts).sum()) / expected, 12) if expected > 0 else None


def krippendorffs_alpha(counts: Floats) -> float | None:
    """Return Krippendorff's alpha for ordinal data of a table of counts; None where all are one grade.

    The difference of two grades is the square of how many labels lie between them, half of their own
    included. Both labels of a document count in both directions, and pairs by chance are without replacement.

    References
    ----------
    Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011.

    Examples
    --------
    >>> krippendorffs_alpha(np.array([[5.0, 1.0], [3.0, 1.0]]))  # his section B, binary data
    0.095238095238
    """
    pairs = counts + counts.T
    n_labels = pairs.sum(axis=0)
    middle = np.cumsum(n_labels) - n_labels / 2
    difference = np.subtract.outer(middle, middle) ** 2
    by_chance = (np.outer(n_labels, n_labels) - np.diag(n_labels)) / max(n_labels.sum() - 1, 1)
    expected = float((difference * by_chance).sum())
    return round(1 - float((difference * pairs).sum()) / expected, 12) if expected > 0 else None


def grades_by(judgments: Judgments, others: Judgments) -> Floats:
    """Return the grades that other judgments have of the same documents, NaN where they have none."""
    number = {query_id: n for n, query_id in enumerate(others.query_ids)}
    theirs = _by_document(others)
    query = [number.get(query_id, -1) for query_id in judgments.query_ids]
    return np.array(
        [theirs.get((query[q], document), np.nan) for q, document in _by_document(judgments)], np.float64
    )


def relabelled(rankings: JudgedRankings, grade: Floats) -> JudgedRankings:
    """Return the rankings with other grades of the same documents."""
    return replace(rankings, judgments=replace(rankings.judgments, grade=grade))


def _by_document(judgments: Judgments) -> dict[tuple[int, str], float]:
    documents = judgments.ids(np.arange(len(judgments.query))) if len(judgments.query) else []
    return dict(
        zip(zip(judgments.query.tolist(), documents, strict=True), judgments.grade.tolist(), strict=True)
    )
