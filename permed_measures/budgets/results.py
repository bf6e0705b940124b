"""The error budget of numbers: a row for each run and measure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ir_measures.measures import Measure

from permed_measures.budgets.label_errors import Floats, LabelErrors
from permed_measures.files.provenance import Origin

Range = tuple[float, float] | None

SOURCES = ("interval", "ties", "unjudged", "labels")
"""Where the uncertainty of a number comes from."""


@dataclass(frozen=True)
class BudgetRow:
    """How sure a number is.

    Attributes
    ----------
    run : str
    measure : Measure
    value : float
        The mean over all queries of the qrels; of counts such as NumRet too, not their sum.
    interval : (float, float) or None
        What it could be on other topics: a confidence interval by queries, or by whole clusters.
    ties : (float, float)
        The least and the most over orders of equal scores.
    unjudged : (float, float) or None
        The least and the most over ways to grade the unjudged documents within the cutoff.
    labels : (float, float) or None
        What it could be if labels are wrong as often as was said; None unless that was said.
    exact : mapping of str to bool
        Whether no order of ties, and no grading of unjudged documents, gives a value beyond ``ties`` and
        ``unjudged``. Some order, some grading gives both ends in any case.
    judged : float or None
        Judged@k, the share of the retrieved documents within the cutoff that are judged: its mean over the
        queries for which something was retrieved; None without any.
    reasons : mapping of str to str
        Why a pair is None, by its name.
    """

    run: str
    measure: Measure
    value: float
    interval: Range
    ties: Range
    unjudged: Range
    labels: Range
    exact: Mapping[str, bool]
    judged: float | None
    reasons: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class BudgetResult:
    """The error budget of the means of some runs.

    Attributes
    ----------
    rows : list of BudgetRow
        Runs in their order, then measures.
    measures : list of Measure
    n_queries, n_clusters : int
        Queries of the qrels; independent units: clusters, or queries without clusters.
    clusters : str
        What the clusters are; empty without any.
    level : float
        Of `interval` and `labels`.
    draws, seed : int
        Of the labels.
    scale : ndarray
        The grades that an unjudged document may have.
    label_errors : LabelErrors or None
    notes : list of str
    origin : Origin or None
    digits : int or None
        Number of decimals; if None, four in tables and all in CSV.
    """

    rows: list[BudgetRow]
    measures: list[Measure]
    n_queries: int
    n_clusters: int
    clusters: str
    level: float
    draws: int
    seed: int
    scale: Floats
    label_errors: LabelErrors | None
    notes: list[str]
    origin: Origin | None = field(default=None, repr=False)
    digits: int | None = None

    @property
    def runs(self) -> list[str]:
        """The names of the runs."""
        return list(dict.fromkeys(row.run for row in self.rows))

    @property
    def sources(self) -> list[str]:
        """The sources of uncertainty that were asked for."""
        return [name for name in SOURCES if name != "labels" or self.label_errors]
