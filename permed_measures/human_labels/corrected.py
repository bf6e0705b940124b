"""What a mean, or a difference, would be by the labels of people, who judged a sample of what a model judged.

Prediction-powered inference: the model's labels of everything, corrected by how far they are from people's
where both are known.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from ir_measures.measures import Measure

from permed_measures.arrays import Bools, Floats
from permed_measures.engine.evaluator import evaluated
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.errors import InputError
from permed_measures.escaping import plural, pluralize
from permed_measures.human_labels.agreement import Agreement, grades_by, relabelled
from permed_measures.intervals import critical_of, difference_range, range_of, sums_of
from permed_measures.measures.parameters import values_of
from permed_measures.tolerances import SUM_NOISE

_MIN_UNITS = 3
"""Of fewer units in the sample there is no interval."""

FEW_CHANGED = 10
"""Where people's labels change the values of fewer units, an interval has the truth less often than it says.

In simulations (``tests/simulations/people.py``) the interval of level 95% had it in 85% of the samples with
one changed value, in 92% with 2 to 4, in 93.8% with 5 to 9, and in 94.3% to 94.6% with more. The model had
people's labels in 90%, 70% or none of the queries. Of 20 queries of which 30% differ, 6 change.
"""


@dataclass(frozen=True)
class Corrected:
    """A mean, or a difference of two, as it would be by people's labels.

    Attributes
    ----------
    value : float or None
        The estimate; None where there is none, and `reason` says why.
    interval : (float, float) or None
    alone : (float, float) or None
        The interval by people's labels alone.
    weight : float
        How much the model's labels count: from 0, not at all, to 1.
    sampled, units : int
        How many units people judged, and how many there are.
    unit : {'query', 'document'}
    more : int or None
        How many more units people must judge to halve the interval.
    few_changed : bool
        Whether the interval may have the truth less often than it says, since people's labels change the
        values of fewer than `FEW_CHANGED` units of the sample.
    reason : str
    """

    value: float | None = None
    interval: tuple[float, float] | None = None
    alone: tuple[float, float] | None = None
    weight: float = 0.0
    sampled: int = 0
    units: int = 0
    unit: str = "query"
    more: int | None = None
    few_changed: bool = False
    reason: str = ""


@dataclass(frozen=True, eq=False)
class Labelled:
    """A run by the labels of the qrels and by those of people.

    Attributes
    ----------
    measures : list of Measure
    rankings : JudgedRankings
    values, by_people : ndarray, shape (n_measures, n_queries)
        By people's labels where they judged whole queries.
    """

    measures: list[Measure]
    rankings: JudgedRankings
    values: Floats
    by_people: Floats


@dataclass(frozen=True, eq=False)
class People:
    """People's labels of some documents of judgments.

    Attributes
    ----------
    grades : ndarray, shape (n_judged,)
        By row of the judgments; NaN where people have none.
    agreement : Agreement
    whole : bool
        Whether of each query people judged all documents, or none.
    queries : ndarray of bool, shape (n_queries,)
        Of which queries people judged all documents.
    notes : list of str
    """

    grades: Floats
    agreement: Agreement
    whole: bool
    queries: Bools
    notes: list[str]

    @classmethod
    def of(cls, human: Any, judgments: Judgments) -> People:
        """Compare people's judgments with others.

        Raises
        ------
        InputError
            If they share no document.
        """
        theirs = Judgments.of(human)
        grades = grades_by(judgments, theirs)
        agreement, known = Agreement.of(judgments.grade, grades), ~np.isnan(grades)
        if not agreement.n:
            problem = "human has no document that the qrels judge with a grade of 0 or more"
            raise InputError(problem, hint="Check the ids of queries and documents")
        n_known = np.bincount(judgments.query[known], minlength=judgments.n_queries)
        n_all = np.bincount(judgments.query, minlength=judgments.n_queries)
        whole = bool(((n_known == 0) | (n_known == n_all)).all())
        n_left = len(theirs.grade) - int(known.sum())
        left = (
            [f"people: {pluralize(n_left, 'document')} left out that the qrels do not judge"]
            if n_left
            else []
        )
        return cls(grades, agreement, whole, (n_known == n_all) & (n_all > 0), left)

    def on(self, measures: list[Measure], rankings: JudgedRankings, values: Floats) -> Labelled:
        """Look at a run; `values` are those by the labels of the qrels, of shape (n_measures, n_queries)."""
        by_people = values
        if self.queries.any():
            known = np.where(np.isnan(self.grades), rankings.judgments.grade, self.grades)
            by_people = evaluated(measures, relabelled(rankings, known)).values
        return Labelled(measures, rankings, values, by_people)

    def corrected(self, run: Labelled, level: float, baseline: Labelled | None = None) -> Iterator[Corrected]:
        r"""Yield what each mean would be if people had judged all that the model judged, of the same queries.

        .. math:: \hat\theta = \lambda \bar f_N + \frac1n \sum_{i \in s} (y_i - \lambda f_i), \qquad
           \hat V = \left(\frac1n - \frac1N\right) s^2_{y - \lambda f}

        with the value :math:`f_i` of each of N units by the model's labels and :math:`y_i` by people's of the
        n units in the sample s. :math:`\lambda` is the slope of y on f in the sample, from 0 to 1: the choice
        of least variance (PPI++; Cochran's regression estimator). The interval is Student's with n - 2
        degrees of freedom.

        Parameters
        ----------
        run : Labelled
        level : float
        baseline : Labelled, optional
            If given, not the means but their differences run - baseline: f and y are differences too.

        Notes
        -----
        If of each query people judged all documents that the model judged, or none, the units are queries,
        and s is assumed to be a simple random sample of the queries. It holds for every measure.

        Otherwise the units are the documents within the cutoff that the model judged, of a difference those
        that only one of both runs has there, and s is assumed to be a simple random sample of these, each as
        likely as any other, whatever its label. The estimate is then unbiased for P@k, a sum over documents;
        other measures, in which the label of one document changes what another one counts, have none. If
        people judged all of these documents of some queries, and none of others, the units are queries again:
        those that have such documents, since others add 0 by any labels.

        Where all values are 0 or 1, as of documents in P@k, or -1, 0 or 1, the interval is Bonett and
        Price's: a unit labelled too high and one labelled too low are added to the sample for the variance,
        and the quantile is the normal one. A sample without any such unit is no proof that there are none.

        Where the estimate is a value that no labels of the other units can give, there is none: a sample that
        is random and not small hardly gives one. Intervals are cut to the values that are possible.

        Nothing is said of other queries.

        References
        ----------
        Angelopoulos, Bates, Fannjiang, Jordan & Zrnic, Prediction-powered inference, Science 382, 2023;
        Angelopoulos, Duchi & Zrnic, PPI++, 2023; Oosterhuis, Jagerman, Qin, Wang & Bendersky, Reliable
        confidence intervals for information retrieval evaluation using generative A.I., KDD 2024; Cochran,
        Sampling Techniques, 1977, chapter 7; Bonett & Price, Adjusted Wald confidence interval for a
        difference of binomial proportions based on paired data, Journal of Educational and Behavioral
        Statistics 37, 2012.
        """
        ranges = difference_range if baseline else range_of
        for number, measure in enumerate(run.measures):
            if self.whole:
                ours, people = run.values[number], run.by_people[number]
                if baseline:
                    ours, people = ours - baseline.values[number], people - baseline.by_people[number]
                yield estimate(ours, people, self.queries, level, *ranges(measure))
            else:
                signed = {1: run.rankings} | ({-1: baseline.rankings} if baseline else {})
                yield self._of_documents(measure, signed, level)

    def _of_documents(self, measure: Measure, signed: dict[int, JudgedRankings], level: float) -> Corrected:
        """Estimate the sum of the P@k of rankings, each by its sign, from documents or from whole queries."""
        params = values_of(measure)
        if measure.NAME != "P" or params["judged_only"]:
            return Corrected(reason="people judged parts of queries, which is enough for P@k only")
        judgments, counted_as = signed[1].judgments, np.zeros(len(self.grades))
        for sign, rankings in signed.items():
            counted_as[rankings.within(params["cutoff"]).row] += sign
        unit = np.flatnonzero(counted_as)
        grade, people = judgments.grade[unit], self.grades[unit]
        known = ~np.isnan(people)
        share = counted_as[unit] / params["cutoff"] / judgments.n_queries  # of the mean
        ours, theirs = (share * (each >= params["rel"]) for each in (grade, people))
        values = np.stack([ours, theirs, np.minimum(share, 0), np.maximum(share, 0)], axis=1)
        query = np.unique(judgments.query[unit], return_inverse=True)[1]
        n_known, n_all = np.bincount(query, known), np.bincount(query)
        sampled, name = known, "document"
        if ((n_known == 0) | (n_known == n_all)).all() and n_known.max(initial=0) > 1:
            values, sampled, name = sums_of(values, query), n_known > 0, "query"
        ours, theirs, least, most = values.T * len(values)
        return estimate(ours, theirs, sampled, level, least, most, name)


def estimate(
    ours: Floats,
    people: Floats,
    sampled: Bools,
    level: float,
    least: Floats | float = -np.inf,
    most: Floats | float = np.inf,
    unit: str = "query",
) -> Corrected:
    """Estimate the mean of people's values of all units from those of a sample.

    Parameters
    ----------
    ours : ndarray, shape (n_units,)
        The value of each unit by the model's labels.
    people : ndarray, shape (n_units,)
        By people's; only those of the sample count.
    sampled : ndarray of bool, shape (n_units,)
    level : float
    least, most : float, or ndarray of shape (n_units,)
        What the value of a unit can be by any labels.
    unit : str

    Examples
    --------
    >>> model, people = np.array([0.5, 0.4, 0.3, 1, 1]), np.array([1, 1, 0.9, np.nan, np.nan])
    >>> round(estimate(model, people, np.arange(5) < 3, 0.95).value, 4)
    1.0867
    >>> estimate(model, people, np.arange(5) < 3, 0.95, 0, 1).reason
    'no labels of the other queries give the estimate: by chance, or since the sample is not random'
    """
    from scipy.special import ndtri

    f, y, n, total = ours[sampled], people[sampled], int(sampled.sum()), len(ours)
    if n < _MIN_UNITS:
        return Corrected(sampled=n, units=total, unit=unit, reason=f"too few labels of people: {n}")
    sizes = np.abs([*ours, *y])
    largest = float(sizes.max())
    added = 2 if np.isin(sizes, [0.0, largest]).all() else 0
    varies = float(((f - f.mean()) ** 2).sum())
    slope = float(((f - f.mean()) * (y - y.mean())).sum()) / varies if varies > 0 else 0.0
    weight = min(max(slope, 0.0), 1.0)

    def reach(weight: float, lost: int, m: int) -> float:
        """Return half the width of the interval of m units that vary as these n, with n - lost degrees."""
        rest = y - weight * f
        square = float(((rest - rest.mean()) ** 2).sum())
        variance = (square * m / n + added * largest**2) / (m + added) if added else square / (n - lost)
        quantile = float(ndtri((1 + level) / 2)) if added else critical_of(level, m - lost + 1)
        return quantile * float(np.sqrt(variance / (m + added) * (1 - m / total)))

    lowest, highest = (float(np.where(sampled, people, end).mean()) for end in (least, most))

    def within(value: float) -> float:
        return min(max(value, lowest), highest)

    value, half = float((y - weight * f).mean() + weight * ours.mean()), reach(weight, 2, n)
    beyond, noise = abs(value - within(value)), SUM_NOISE * max(largest, 1)
    if beyond > noise:
        by_chance = ": by chance, or since the sample is not random"
        surely = ", nor any value of its interval: the sample is not random"
        reason = f"no labels of the other {plural(unit)} give the estimate"
        reason += surely if beyond > half + noise else by_chance
        return Corrected(sampled=n, units=total, unit=unit, reason=reason)
    value = within(value)
    ends = within(value - half), within(value + half)
    if ends[0] == ends[1] and n < total:
        return Corrected(value, None, None, weight, n, total, unit, reason="no variance in the sample")
    middle, half_alone = float(y.mean()), reach(0.0, 1, n)
    alone = within(middle - half_alone), within(middle + half_alone)
    more = bisect_left(range(n, total), True, key=lambda m: reach(weight, 2, m) <= half / 2)
    few = not added and n < total and int((np.abs(y - f) > noise).sum()) < FEW_CHANGED
    return Corrected(value, ends, alone, weight, n, total, unit, more, few)
