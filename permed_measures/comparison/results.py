"""The result of a comparison: tests of each pair of runs on each measure, with corrected p-values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ir_measures.measures import Measure

from permed_measures.comparison.overlap import PERSISTENCE
from permed_measures.comparison.paired import PairedRuns
from permed_measures.comparison.tests import MAX_T, SignificanceTest
from permed_measures.corrections import CORRECTIONS
from permed_measures.datasets import find
from permed_measures.errors import InputError, check_choice, check_int
from permed_measures.escaping import pluralize
from permed_measures.human_labels.agreement import Agreement, Orders
from permed_measures.human_labels.corrected import Corrected
from permed_measures.intervals import check_level, percent
from permed_measures.measures.headings import headings_of
from permed_measures.provenance import Origin
from permed_measures.results.report import DescribedResult, Report
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


@dataclass(frozen=True, eq=False)
class Comparison(DescribedResult):
    """The result of a comparison; ``print`` shows it as the command does.

    ``to_polars`` and ``to_pandas`` give a row for each pair and measure.

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
    reported : callable
        The function that builds the report: findings, means, differences, and how they were computed.
    by : str
        Name of the groups of queries; empty without groups.
    groups : dict of group to Comparison
        The comparison on each group of queries; the p-values of all groups are corrected together.
    origin : Origin or None
        The sources of the qrels and the runs.
    dataset : optional
        The data set of the qrels in ir_datasets, with the texts and fields of its queries.
    runs : mapping of str to run
        The runs as given; a page reads their documents from them.
    digits : int or None
        Number of decimals of means and differences; if None, tables have four (two in percent), and CSV all.
    in_percent : bool
        Whether tables and sentences have means in percent, and differences in percentage points.
    shows_judged : bool
        Whether tables have Judged@k.
    agreement : Agreement or None
        Agreement of the qrels with people's labels, if a sample of them was given.
    orders : Orders or None
        The order of three or more runs by both sets of labels.
    critical : float or None
        With max-T, the critical value of T for the simultaneous intervals.
    all_pairs : bool
        Whether tables show the differences of every pair, however many there are. Pages, CSV and JSON always
        have them.
    persistence : float
        The p of the rank-biased overlap of two runs, which a page shows.
    """

    rows: list[ComparisonRow]
    measures: list[Measure]
    baseline: str | None
    options: TestOptions
    families: dict[str, int]
    notes: list[str]
    paired: PairedRuns = field(repr=False)
    reported: Callable[[Comparison], Report] = field(repr=False)
    by: str = ""
    groups: dict[Any, Comparison] = field(default_factory=dict, repr=False)
    origin: Origin | None = field(default=None, repr=False)
    dataset: Any = field(default=None, repr=False)
    runs: Mapping[str, Any] = field(default_factory=dict, repr=False)
    digits: int | None = None
    in_percent: bool = False
    shows_judged: bool = True
    agreement: Agreement | None = None
    orders: Orders | None = None
    critical: float | None = None
    all_pairs: bool = False
    persistence: float = PERSISTENCE

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to pickle, with the id of a data set: ir_datasets' objects cannot be pickled."""
        has_id = hasattr(self.dataset, "dataset_id")
        return {**vars(self), "dataset": self.dataset.dataset_id() if has_id else self.dataset}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the pickled state, and find the data set by its id."""
        dataset = state["dataset"]
        vars(self).update(state, dataset=find(dataset) if isinstance(dataset, str) else dataset)

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
        return Style.of(self.digits, self.in_percent)

    @property
    def level_in_percent(self) -> str:
        """The level of the intervals, such as ``95%``."""
        return percent(self.options.level)

    def rows_of(self, measure: int) -> list[ComparisonRow]:
        """Return the rows of a measure, by its number."""
        n = len(self.paired.pairs)
        return self.rows[measure * n : (measure + 1) * n]

    def sections(self) -> Iterator[tuple[str, Comparison]]:
        """Yield the groups, then the whole, each with its label."""
        yield from ((str(value), group) for value, group in self.groups.items())
        yield ("(all)" if self.by else "", self)

    def report(self) -> Report:
        """Build the report: findings, means, differences, and how they were computed."""
        return self.reported(self)

    def to(
        self,
        form: str = "table",
        digits: int | None = None,
        all_pairs: bool | None = None,
        *,
        in_percent: bool | None = None,
        shows_judged: bool | None = None,
        label: str = "",
        caption: str = "",
    ) -> str:
        """Write the comparison in a form for a paper, a browser or another program.

        Parameters
        ----------
        form : {'table', 'markdown', 'latex', 'html', 'csv', 'tsv', 'json', 'jsonl'}
            The first four have the findings, the means with the best in bold, the second best underlined and
            marks of significance, and the differences. The others have all numbers, not rounded. A ``table``
            is as wide as the terminal.
        digits : int, optional
            Number of decimals of means and differences in tables and sentences; if left out four, or two in
            percent.
        all_pairs : bool, optional
            Whether ``table``, ``markdown`` and ``latex`` show the differences of every pair if more than 15
            pairs are compared and no run is the baseline. The other forms always have them.
        in_percent : bool, optional
            Whether tables and sentences have means in percent, and differences in percentage points.
        shows_judged : bool, optional
            Whether tables have Judged@k, the share of the first k documents that are judged.
        label, caption : str
            Label and caption of the first LaTeX table, as in `Report.to`.

        Raises
        ------
        InputError
            If the form is unknown, or `digits` is below 0.
        """
        digits = None if digits is None else check_int("digits", digits, 0)
        asked = {"digits": digits, "all_pairs": all_pairs}
        asked |= {"in_percent": in_percent, "shows_judged": shows_judged}
        chosen: Any = {name: value for name, value in asked.items() if value is not None}
        return replace(self, **chosen).report().to(form, label=label, caption=caption)

    def __repr__(self) -> str:
        """Name the runs and the measures."""
        runs, queries = ", ".join(self.paired.values), pluralize(self.n_queries, "query")
        against = f"baseline {self.baseline}" if self.baseline else "every pair"
        return f"<Comparison of {runs} ({against}) on {queries}: {', '.join(self.headings.values())}>"


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
