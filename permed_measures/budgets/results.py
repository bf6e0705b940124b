"""The error budget of numbers: a row for each run and measure, and how sure the order of the runs is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ir_measures.measures import Measure

from permed_measures.budgets.gradings import Floats
from permed_measures.budgets.label_errors import LabelErrors
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
        The least and the most over the orders of equal scores.
    unjudged : (float, float) or None
        The least and the most over all ways to grade the unjudged documents within the cutoff.
    labels : (float, float) or None
        What it could be if labels are wrong as often as was said; None unless that was said.
    exact : bool
        Whether both ends of `unjudged` are reached; otherwise no value lies beyond them.
    judged : float
        The share of the retrieved documents within the cutoff that are judged: Judged@k.
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
    exact: bool
    judged: float
    reasons: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Pair:
    """Two runs, the better one first, and how often they keep this order.

    Attributes
    ----------
    measure : Measure
    better, worse : str
    difference : float
    kept : mapping of str to float or None
        For ``interval`` and ``labels`` the share of the draws; for ``ties`` and ``unjudged`` 1 where the two
        ranges are apart, and None where they meet: then the order may change, and nothing says how often. The
        ranges of ``unjudged`` are those where documents of the other run may be relevant too, in R and in the
        ideal list.
    """

    measure: Measure
    better: str
    worse: str
    difference: float
    kept: Mapping[str, float | None]


@dataclass(frozen=True)
class Place:
    """The place of a run among all, and the best and the worst that each source of uncertainty leaves it."""

    measure: Measure
    run: str
    place: int
    ranges: Mapping[str, tuple[int, int]]


@dataclass(frozen=True)
class Order:
    """How sure the order of several runs is.

    Attributes
    ----------
    pairs : list of Pair
        All pairs: measures in their order, then runs.
    places : list of Place
    tau : mapping of Measure to mapping of str to float
        Kendall's tau of the order of the runs with that of the draws, its mean; for ``ties`` and ``unjudged``
        the least that it can be.
    """

    pairs: list[Pair]
    places: list[Place]
    tau: Mapping[Measure, Mapping[str, float]]


@dataclass(frozen=True, eq=False)
class BudgetResult:
    """The error budget of the means of some runs.

    Attributes
    ----------
    rows : list of BudgetRow
        Runs in their order, then measures.
    measures : list of Measure
    order : Order or None
        None with one run.
    n_queries, n_clusters : int
        Queries of the qrels; independent units: clusters, or queries without clusters.
    clusters : str
        What the clusters are; empty without any.
    level : float
        Of `interval` and `labels`.
    resamples, label_draws, seed : int
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
    order: Order | None
    n_queries: int
    n_clusters: int
    clusters: str
    level: float
    resamples: int
    label_draws: int
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
