"""The result of a comparison: tests of each pair of runs on each measure, with corrected p-values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from ir_measures.measures import Measure

from permed_measures.comparison.overlap import PERSISTENCE
from permed_measures.comparison.paired import PairedRuns
from permed_measures.comparison.tests import MAX_T, SignificanceTest
from permed_measures.corrections import CORRECTIONS
from permed_measures.errors import InputError, check_choice, check_int
from permed_measures.experiment import Experiment
from permed_measures.human_labels.agreement import Agreement, Orders
from permed_measures.human_labels.corrected import Corrected
from permed_measures.intervals import check_level, percent
from permed_measures.measures.headings import headings_of
from permed_measures.provenance import Origin
from permed_measures.results.table import Style

MARKS = {"‡": 0.01, "†": 0.05}
"""The significance marks, each for p-values below its level."""

MARK_LEVEL = MARKS["†"]
"""A difference is significant if its p-value, adjusted unless there is no correction, is below this level."""

TESTS = {"randomization": "randomization test", "t-test": "t-test", "wilcoxon": "Wilcoxon's test"}
"""The tests and their names in sentences; the first one that was run decides about marks."""


@dataclass(frozen=True)
class ComparisonRow:
    """The comparison of two runs on a measure.

    Attributes
    ----------
    measure : Measure
    run, baseline : str
    mean, baseline_mean : float
        Over all queries of the qrels; counts such as NumRet are averaged too, not summed.
    difference : float
        The mean of the differences run - baseline.
    std_error : float
        Its cluster-robust standard error; 0 if the differences do not vary.
    relative : float or None
        The difference over the absolute value of the baseline's mean; None if that mean is 0.
    interval : (float, float) or None
        Confidence interval of the difference; with max-T simultaneous for all rows. None if the differences
        do not vary.
    wins, ties, losses : int
        Queries on which the run is above the baseline, equal (within 1e-12), below.
    effect_size : float or None
        Cohen's d_z: the difference over the standard deviation of the queries' differences.
    intervals : dict of str to (float, float) or None
        Confidence intervals of ``mean`` and ``baseline_mean``, not simultaneous.
    tests : dict of str to SignificanceTest
        The requested tests, by name; with `equivalence_margin` also ``non-inferiority``, ``non-superiority``
        and ``equivalence``.
    needed : int or None
        With `detect`, the number of queries (or clusters) that one uncorrected t-test at 1 - level needs to
        find that difference with a power of 0.8.
    reasons : dict of str to str
        Why a field is None, by its name: ``interval`` or ``needed``.
    people : Corrected or None
        The difference corrected by people's labels, if a sample of them was given.
    """

    measure: Measure
    run: str
    baseline: str
    mean: float
    baseline_mean: float
    difference: float
    std_error: float
    relative: float | None
    interval: tuple[float, float] | None
    wins: int
    ties: int
    losses: int
    effect_size: float | None
    intervals: dict[str, tuple[float, float] | None]
    tests: dict[str, SignificanceTest]
    needed: int | None
    reasons: dict[str, str]
    people: Corrected | None = None

    @property
    def test(self) -> str:
        """The deciding test, if any: the first of `TESTS` that was run and respects the clusters."""
        return next((name for name in TESTS if name in self.tests and not self.tests[name].naive), "")

    @property
    def p(self) -> float | None:
        """The p-value of the deciding test, adjusted unless there is no correction."""
        return self.tests[self.test].adjusted if self.test else None

    @property
    def outcome(self) -> int:
        """1 where the run is significantly better than its baseline, -1 where worse, 0 otherwise.

        The sign is the direction of the test, which can differ from the sign of the mean difference.
        """
        return self.tests[self.test].direction if self.is_significant else 0

    @property
    def is_significant(self) -> bool:
        """Whether the deciding test finds a difference."""
        return self.p is not None and self.p < MARK_LEVEL

    @property
    def missing(self) -> dict[str, str]:
        """The reasons for missing values, also of tests."""
        return self.reasons | {name: test.reason for name, test in self.tests.items() if test.reason}


def better_pairs(rows: Iterable[ComparisonRow]) -> set[tuple[str, str]]:
    """List the pairs (better run, worse run) that differ significantly, from the rows of a measure."""
    outcomes = [(row.run, row.baseline, row.outcome) for row in rows]
    return {(run, other) if outcome > 0 else (other, run) for run, other, outcome in outcomes if outcome}


class Display(NamedTuple):
    """What tables and sentences of a comparison show, and how.

    Attributes
    ----------
    style : Style
        The format of means and differences.
    shows_judged : bool
        Whether tables have Judged@k.
    all_pairs : bool
        Whether tables show the differences of every pair, however many there are. Pages, CSV and JSON always
        have them.
    """

    style: Style = Style()
    shows_judged: bool = True
    all_pairs: bool = False


@dataclass(frozen=True, eq=False)
class ComparedRuns:
    """The numbers of a comparison, from which its tables, sentences and plots are made.

    Attributes
    ----------
    rows : list of ComparisonRow
        One for each pair of runs and measure: measures in their order, then pairs.
    measures : list of Measure
    baseline : str or None
        None if every pair was compared.
    options : TestOptions
        Tests, correction, resamples, seed, level of the intervals.
    families : dict of str to int
        For each test, the number of p-values that were corrected together.
    notes : list of str
        Notes on the runs, the clusters and the tests.
    paired : PairedRuns
        The values of each query by each run, and the cluster of each query.
    experiment : Experiment
        The qrels and the runs as given; a page reads the documents of the runs and the texts of the queries.
    origin : Origin or None
        The sources of the qrels and the runs, and the command.
    by : str
        Name of the groups of queries; empty without groups.
    groups : dict of group to Comparison
        The comparison on each group of queries; the p-values of all groups are corrected together.
    agreement : Agreement or None
        Agreement of the qrels with people's labels, if a sample of them was given.
    orders : Orders or None
        The order of three or more runs by both sets of labels.
    critical : float or None
        With max-T, the critical value of T for the simultaneous intervals.
    persistence : float
        The p of the rank-biased overlap of two runs, which a page shows.
    display : Display
        What tables and sentences show.
    """

    rows: list[ComparisonRow]
    measures: list[Measure]
    baseline: str | None
    options: TestOptions
    families: dict[str, int]
    notes: list[str]
    paired: PairedRuns = field(repr=False)
    experiment: Experiment = field(repr=False)
    origin: Origin | None = field(default=None, repr=False)
    by: str = ""
    groups: dict[Any, Self] = field(default_factory=dict, repr=False)
    agreement: Agreement | None = None
    orders: Orders | None = None
    critical: float | None = None
    persistence: float = PERSISTENCE
    display: Display = field(default_factory=Display)

    @property
    def n_queries(self) -> int:
        """Number of queries in the qrels."""
        return len(self.paired.query_ids)

    @property
    def n_clusters(self) -> int:
        """Number of independent units: clusters, or queries without clusters."""
        return self.paired.n_clusters

    @property
    def headings(self) -> dict[Measure, str]:
        """The heading of each measure."""
        return dict(zip(self.measures, headings_of(self.measures), strict=True))

    @property
    def test(self) -> str:
        """The deciding test, if any."""
        return self.rows[0].test

    @property
    def tests(self) -> dict[str, SignificanceTest]:
        """The tests of the first row, by name; every row has the same tests."""
        return self.rows[0].tests

    @property
    def every_row(self) -> list[ComparisonRow]:
        """The rows of the groups and of the whole."""
        return [row for _, part in self.sections() for row in part.rows]

    @property
    def style(self) -> Style:
        """The format of means and differences in tables and sentences."""
        return self.display.style

    @property
    def level_in_percent(self) -> str:
        """The level of the intervals, such as ``95%``."""
        return percent(self.options.level)

    def rows_of(self, measure: int) -> list[ComparisonRow]:
        """Return the rows of a measure, by its number."""
        n = len(self.paired.pairs)
        return self.rows[measure * n : (measure + 1) * n]

    def sections(self) -> Iterator[tuple[str, Self]]:
        """Yield the groups, then the whole, each with its label."""
        yield from ((str(value), group) for value, group in self.groups.items())
        yield ("(all)" if self.by else "", self)


@dataclass(frozen=True)
class TestOptions:
    """Options of the tests, validated on creation; see `compare`."""

    tests: tuple[str, ...]
    correction: str
    resamples: int
    seed: int
    level: float
    equivalence_margin: float | None = None
    detect: float | None = None

    def __post_init__(self) -> None:
        """Raise InputError for an invalid option."""
        for name in self.tests:
            check_choice("a test", name, TESTS)
        check_choice("correction", self.correction, [*CORRECTIONS, MAX_T])
        if self.correction == MAX_T and "randomization" not in self.tests:
            raise InputError(
                f"correction {self.correction!r} needs the randomization test",
                hint="Ask for both, or for neither",
            )
        for name in ("equivalence_margin", "detect"):
            _check_positive(name, getattr(self, name))
        for name, minimum in (("resamples", 1), ("seed", 0)):
            object.__setattr__(self, name, check_int(name, getattr(self, name), minimum))
        check_level(self.level)


def _check_positive(name: str, value: float | None) -> None:
    """Raise InputError unless the value is a number above 0, or None."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if value is not None and not (is_number and 0 < value < float("inf")):
        raise InputError(f"{name} must be a number above 0 (found {value!r})", hint="Such as 0.02")
