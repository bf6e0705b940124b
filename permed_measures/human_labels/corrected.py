"""Correct means and differences by people's labels of a sample of the documents that a model judged.

Prediction-powered inference starts from the model's labels of all documents, and adds the mean difference
between people's and the model's values in the sample.
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
from permed_measures.human_labels.agreement import Agreement, grades_by, relabelled
from permed_measures.intervals import critical_of, difference_range, sums_of
from permed_measures.measures.parameters import values_of
from permed_measures.measures.specs import range_of
from permed_measures.tolerances import SUM_NOISE
from permed_measures.wording import plural, pluralize

_MIN_UNITS = 3
"""The smallest sample with an estimate."""

FEW_CHANGED = 10
"""If people's labels change fewer units, an interval covers the truth less often than its level says.

In simulations (``tests/simulations/people.py``) the interval of level 95% contained the truth in 85% of the
samples with one changed value, in 92% with 2 to 4, in 93.8% with 5 to 9, and in 94.3% to 94.6% with more. The
model had people's labels in 90%, 70% or none of the queries. With 20 queries and labels that differ in 30% of
them, 6 values change.
"""


@dataclass(frozen=True)
class Corrected:
    """The estimate of a mean, or of a difference of two means, by people's labels.

    Attributes
    ----------
    value : float or None
        The estimate; None if there is a `reason` against one.
    interval : (float, float) or None
    alone : (float, float) or None
        The interval by people's labels alone.
    weight : float
        The weight λ of the model's labels, from 0 (they do not count) to 1.
    sampled, units : int
        Number of units that people judged, and of all units.
    unit : {'query', 'document'}
    more : int or None
        Number of further units that people must judge to halve the interval.
    few_changed : bool
        Whether the interval may cover the truth less often than its level says, because people's labels
        change the values of fewer than `FEW_CHANGED` units of the sample.
    binary : bool
        Whether the values have one size besides 0, as those of P@1. The interval is then Bonett and Price's,
        else Student's.
    reason : str
        Why there is no estimate, or no interval.
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
    binary: bool = False
    reason: str = ""


@dataclass(frozen=True, eq=False)
class RunUnderBothLabels:
    """A run evaluated by the labels of the qrels and by people's labels.

    Attributes
    ----------
    measures : list of Measure
    rankings : JudgedRankings
    values : ndarray, shape (n_measures, n_queries)
        By the labels of the qrels.
    by_people : ndarray, shape (n_measures, n_queries)
        By people's labels, on the queries that people judged as a whole.
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
        The grade by people of each judged document; NaN if they did not judge it.
    agreement : Agreement
    whole : bool
        Whether people judged all documents or none of each query.
    queries : ndarray of bool, shape (n_queries,)
        The queries of which people judged all documents.
    notes : list of str
    """

    grades: Floats
    agreement: Agreement
    whole: bool
    queries: Bools
    notes: list[str]

    @classmethod
    def of(cls, human: Any, judgments: Judgments) -> People:
        """Match people's judgments with the documents of other judgments.

        Raises
        ------
        InputError
            If they share no document.
        """
        by_people = Judgments.of(human)
        grades = grades_by(judgments, by_people)
        agreement, known = Agreement.of(judgments.grade, grades), ~np.isnan(grades)
        if not agreement.n:
            problem = "human has no document that the qrels judge with a grade of 0 or more"
            raise InputError(problem, hint="Check the ids of queries and documents")
        n_known = np.bincount(judgments.query[known], minlength=judgments.n_queries)
        n_all = np.bincount(judgments.query, minlength=judgments.n_queries)
        whole = bool(((n_known == 0) | (n_known == n_all)).all())
        n_left = len(by_people.grade) - int(known.sum())
        left = (
            [f"people: {pluralize(n_left, 'document')} left out that the qrels do not judge"]
            if n_left
            else []
        )
        return cls(grades, agreement, whole, (n_known == n_all) & (n_all > 0), left)

    def evaluate_both(
        self, measures: list[Measure], rankings: JudgedRankings, values: Floats
    ) -> RunUnderBothLabels:
        """Evaluate a run by people's labels too; `values` are its values by the labels of the qrels."""
        by_people = values
        if self.queries.any():
            known = np.where(np.isnan(self.grades), rankings.judgments.grade, self.grades)
            by_people = evaluated(measures, relabelled(rankings, known)).values
        return RunUnderBothLabels(measures, rankings, values, by_people)

    def ppi_estimates(
        self, run: RunUnderBothLabels, level: float, baseline: RunUnderBothLabels | None = None
    ) -> Iterator[Corrected]:
        r"""Estimate each mean over the same queries if people had judged all documents that the model judged.

        .. math:: \hat\theta = \lambda \bar f_N + \frac1n \sum_{i \in s} (y_i - \lambda f_i), \qquad
           \hat V = \left(\frac1n - \frac1N\right) s^2_{y - \lambda f}

        where :math:`f_i` is the value of each of N units by the model's labels, and :math:`y_i` the value by
        people's labels of the n units in the sample s. :math:`\lambda` is the slope of y on f in the sample,
        cut to 0 to 1; it minimises the variance (PPI++; Cochran's regression estimator). The interval is
        Student's with n - 2 degrees of freedom.

        Parameters
        ----------
        run : RunUnderBothLabels
        level : float
        baseline : RunUnderBothLabels, optional
            If given, estimate the differences run - baseline instead of means: f and y are differences too.

        Notes
        -----
        If people judged all documents or none of each query, the units are queries, and s is assumed to be a
        simple random sample of the queries. This holds for every measure.

        Otherwise the units are the documents within the cutoff that the model judged; for a difference, only
        the documents that one of both runs alone has there. s is assumed to be a simple random sample of
        them: each is equally likely, whatever its label. The estimate is then unbiased for P@k, a sum over
        documents. Other measures have no estimate, because the label of one document changes the gain of
        another. If people judged all of these documents of some queries, and none of the other queries, the
        units are queries again, without the queries that have no such document and add 0 by any labels.

        If all values are 0 or 1, as for documents in P@k, or -1, 0 or 1, the interval is Bonett and Price's:
        the variance adds one unit labelled too high and one labelled too low to the sample, and the quantile
        is the normal one. A sample without such units does not prove that there are none.

        If no labels of the other units can give the estimate, there is no estimate; this hardly happens with
        a random sample that is not small. Intervals are cut to the possible values.

        The interval is for these queries, and not for other queries.

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
        for index, measure in enumerate(run.measures):
            if self.whole:
                model, people = run.values[index], run.by_people[index]
                if baseline:
                    model, people = model - baseline.values[index], people - baseline.by_people[index]
                yield estimate(model, people, self.queries, level, *ranges(measure))
            else:
                signed = {1: run.rankings} | ({-1: baseline.rankings} if baseline else {})
                yield self._from_documents(measure, signed, level)

    def _from_documents(self, measure: Measure, signed: dict[int, JudgedRankings], level: float) -> Corrected:
        """Estimate the signed sum of the P@k of rankings from documents, or from whole queries."""
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
        by_model, by_people = (share * (grades >= params["rel"]) for grades in (grade, people))
        values = np.stack([by_model, by_people, np.minimum(share, 0), np.maximum(share, 0)], axis=1)
        query = np.unique(judgments.query[unit], return_inverse=True)[1]
        n_known, n_all = np.bincount(query, known), np.bincount(query)
        sampled, name = known, "document"
        if ((n_known == 0) | (n_known == n_all)).all() and n_known.max(initial=0) > 1:
            values, sampled, name = sums_of(values, query), n_known > 0, "query"
        by_model, by_people, minimum, maximum = values.T * len(values)
        return estimate(by_model, by_people, sampled, level, minimum, maximum, name)


def estimate(
    model: Floats,
    people: Floats,
    sampled: Bools,
    level: float,
    minimum: Floats | float = -np.inf,
    maximum: Floats | float = np.inf,
    unit: str = "query",
) -> Corrected:
    """Estimate the mean of people's values of all units from those of a sample.

    Parameters
    ----------
    model : ndarray, shape (n_units,)
        The value of each unit by the model's labels.
    people : ndarray, shape (n_units,)
        The value of each unit by people's labels; ignored outside the sample.
    sampled : ndarray of bool, shape (n_units,)
    level : float
    minimum, maximum : float, or ndarray of shape (n_units,)
        The range of a unit's value over all possible labels.
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

    f, y, n, total = model[sampled], people[sampled], int(sampled.sum()), len(model)
    if n < _MIN_UNITS:
        return Corrected(sampled=n, units=total, unit=unit, reason=f"too few labels of people: {n}")
    sizes = np.abs([*model, *y])
    largest = float(sizes.max())
    added = 2 if np.isin(sizes, [0.0, largest]).all() else 0
    varies = float(((f - f.mean()) ** 2).sum())
    slope = float(((f - f.mean()) * (y - y.mean())).sum()) / varies if varies > 0 else 0.0
    weight = min(max(slope, 0.0), 1.0)

    def half_width(weight: float, lost: int, m: int) -> float:
        """Compute half the width of the interval of m units with the same variance, for n - lost degrees."""
        rest = y - weight * f
        squares = float(((rest - rest.mean()) ** 2).sum())
        variance = (squares * m / n + added * largest**2) / (m + added) if added else squares / (n - lost)
        quantile = float(ndtri((1 + level) / 2)) if added else critical_of(level, m - lost + 1)
        return quantile * float(np.sqrt(variance / (m + added) * (1 - m / total)))

    lowest, highest = (float(np.where(sampled, people, bound).mean()) for bound in (minimum, maximum))

    def within(value: float) -> float:
        return min(max(value, lowest), highest)

    value, half = float((y - weight * f).mean() + weight * model.mean()), half_width(weight, 2, n)
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
    middle, half_alone = float(y.mean()), half_width(0.0, 1, n)
    alone = within(middle - half_alone), within(middle + half_alone)
    more = bisect_left(range(n, total), True, key=lambda m: half_width(weight, 2, m) <= half / 2)
    few = not added and n < total and int((np.abs(y - f) > noise).sum()) < FEW_CHANGED
    return Corrected(value, ends, alone, weight, n, total, unit, more, few, bool(added))
