"""Compare runs with a baseline or with each other, query by query, and report the result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from typing import Any

from permed_measures.comparison.findings import (
    corrected_section,
    findings,
)
from permed_measures.comparison.methods import comparison_methods
from permed_measures.comparison.overlap import PERSISTENCE, check_persistence
from permed_measures.comparison.paired import PairedRuns
from permed_measures.comparison.plots import about_marks, forest_plots, panels_of
from permed_measures.comparison.queries import query_details
from permed_measures.comparison.results import MARK_LEVEL, ComparedRuns, ComparisonRow, Display, TestOptions
from permed_measures.comparison.rows import compare_rows, with_human_labels
from permed_measures.comparison.tables import (
    differences_table,
    interval_method,
    judged_notes,
    judged_shares,
    means_table,
    why_no_differences,
)
from permed_measures.comparison.tests import MAX_T, min_attainable_p, n_patterns
from permed_measures.engine.groups import By
from permed_measures.errors import InputError, check_int, short_repr
from permed_measures.experiment import Experiment
from permed_measures.human_labels.agreement import orders_json
from permed_measures.human_labels.corrected import People
from permed_measures.human_labels.tables import agreement_json, flatten, orders_section
from permed_measures.inputs.columns import QrelsLike, RunLike
from permed_measures.inputs.door import read
from permed_measures.intervals import coverage_notes
from permed_measures.measures.headings import check_headings, name_of
from permed_measures.measures.parsing import MeasuresLike
from permed_measures.provenance import provenance
from permed_measures.results.report import DescribedResult, Report, Section, how_made, low_high_fields, titled
from permed_measures.results.table import Style
from permed_measures.wording import grouped, join_names, pluralize


@dataclass(frozen=True, eq=False)
class Comparison(ComparedRuns, DescribedResult):
    """The result of a comparison; ``print`` shows it as the command does.

    ``to_polars`` and ``to_pandas`` give a row for each pair and measure.
    """

    def report(
        self,
        digits: int | None = None,
        in_percent: bool = False,
        shows_judged: bool = True,
        all_pairs: bool = False,
    ) -> Report:
        """Report findings with their cautions, tables, and the plots and queries of a page; see `to`."""
        digits = None if digits is None else check_int("digits", digits, 0)
        shown = replace(self, display=Display(Style.of(digits, in_percent), shows_judged, all_pairs))
        cautions = [note for note in judged_notes(self.paired) if note in self.notes]
        return Report(
            titled(self.origin, len(self.paired.values), self.n_queries),
            findings(shown),
            [
                *_forest(shown),
                Section(tables=[means_table(shown)]),
                _differences(shown),
                *corrected_section(shown),
                *orders_section(self.orders, [*self.headings.values()]),
            ],
            [note for note in self.notes if note not in cautions],
            partial(_data, shown),
            partial(_records, shown),
            partial(how_made, self.measures, self.origin, self.options.seed, ["scipy"]),
            cautions,
            partial(query_details, shown),
            partial(comparison_methods, shown),
        )

    def to(
        self,
        form: str = "table",
        digits: int | None = None,
        all_pairs: bool = False,
        *,
        in_percent: bool = False,
        shows_judged: bool = True,
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
        all_pairs : bool
            Whether ``table``, ``markdown`` and ``latex`` show the differences of every pair if more than 15
            pairs are compared and no run is the baseline. The other forms always have them.
        in_percent : bool
            Whether tables and sentences have means in percent, and differences in percentage points.
        shows_judged : bool
            Whether tables have Judged@k, the share of the first k documents that are judged.
        label, caption : str
            Label and caption of the first LaTeX table, as in `Report.to`.

        Raises
        ------
        InputError
            If the form is unknown, or `digits` is below 0.
        """
        return self.report(digits, in_percent, shows_judged, all_pairs).to(form, label=label, caption=caption)

    def __repr__(self) -> str:
        """Name the runs and the measures."""
        runs, queries = ", ".join(self.paired.values), pluralize(self.n_queries, "query")
        against = f"baseline {self.baseline}" if self.baseline else "every pair"
        return f"<Comparison of {runs} ({against}) on {queries}: {', '.join(self.headings.values())}>"


def compare(
    qrels: QrelsLike,
    runs: Mapping[str, RunLike],
    measures: MeasuresLike,
    baseline: str | None = None,
    clusters: By | None = None,
    correction: str | None = None,
    tests: Iterable[str] | str = "randomization",
    resamples: int = 50_000,
    seed: int = 0,
    level: float = 0.95,
    by: By | None = None,
    rel: float | None = None,
    equivalence_margin: float | None = None,
    detect: float | None = None,
    human: QrelsLike | None = None,
    persistence: float = PERSISTENCE,
) -> Comparison:
    """Compare runs with a baseline or with each other, query by query.

    Parameters
    ----------
    qrels : QrelsLike
        Judgments in any form. A data set of ir_datasets knows the conversation of each query.
    runs : mapping of str to RunLike
        At least two runs, by name.
    measures : Measure or str, or an iterable of them, or a dict of name to measure
    baseline : str, optional
        The run that all others are compared with. Without a baseline every pair is compared, the later run
        against the earlier.
    clusters : str, mapping or callable, optional
        The cluster of each query, as in `evaluate_by`: a field of the data set's queries, a pattern with one
        group for the query ids, ``{query_id: cluster}``, or a function of the query id. If left out, the
        field ``conversation_id`` of a data set that has it; ``"none"`` means no clusters. A query without a
        cluster is a cluster of its own.
    correction : {'max-t', 'holm', 'bonferroni', 'benjamini-hochberg', 'none'}, optional
        Multiple-testing correction over all p-values of a test: pairs times measures. ``max-t`` adjusts the
        p-values of the randomization test by the maximum T over all differences; its intervals are
        simultaneous for all differences. The other tests then have Holm's correction. If left out, ``max-t``,
        or ``holm`` without the randomization test.
    tests : iterable of {'randomization', 't-test', 'wilcoxon'}, or one of these
        If left out, the randomization test.
    resamples : int, at least 1
        Number of resamples of the randomization test.
    seed : int, at least 0
        Seed of numpy.random.default_rng.
    level : float, between 0 and 1
        Level of the confidence intervals.
    by : str, mapping or callable, optional
        Compare on each group of queries too, as in `evaluate_by`: ``"turn_number"``. The p-values of all
        groups are corrected together.
    rel : number, optional
        The lowest relevant grade, for each measure that takes one and does not name its own.
    equivalence_margin : number above 0, optional
        Also test whether the difference is within ± this margin, by two one-sided tests: ``equivalence``.
    detect : number above 0, optional
        A difference; `ComparisonRow.needed` is the number of queries (or clusters) that one uncorrected
        t-test needs to find it.
    human : QrelsLike, optional
        People's labels of a random sample of the queries or documents that a model labelled in the qrels.
        `ComparisonRow.people` is the difference corrected by them, for the same queries (see
        `human_labels.corrected`). With three runs or more, `Comparison.orders` compares the orders of the
        runs by both sets of labels, on the queries of which people judged all documents.
    persistence : float, above 0 and below 1
        The p of the rank-biased overlap of two runs, which a page shows: the probability of going on to the
        next rank.

    Returns
    -------
    Comparison
        A row for each pair and measure.

    Raises
    ------
    MeasureError, InputError
        As for an evaluation, with the name of the run; for fewer than two runs, an unknown baseline, test or
        correction, or clusters that `evaluate_by` cannot group by.

    Warns
    -----
    PermedWarning
        As for an evaluation, with the name of the run.

    Notes
    -----
    Every query of the qrels counts. A run scores 0 on a query that it lacks; `Comparison.notes` counts these
    queries.

    Turns of a conversation are not independent. With clusters the randomization test changes the sign of
    whole clusters, and the t-test and the intervals are cluster-robust. Wilcoxon's test treats queries as
    independent, and is marked ``naive``. Effect size, wins and losses are over queries.

    If all differences are 0, every p is 1 and the effect size is 0. Undefined values are None: a relative
    difference to 0; an interval or a t-test of one query or of differences that do not vary, with a reason.
    Without max-T the intervals are not corrected for their number. An interval may contain 0 although p is
    below 0.05: the p-values of max-T step down, its intervals do not; other intervals are Student's, whatever
    the test. With fewer than 20 clusters coverage may be lower, and a note says so.
    `comparison.tests` and `intervals` give formulas and sources; Holm 1979 and Benjamini & Hochberg 1995
    describe the other corrections.

    Examples
    --------
    >>> from permed_measures.comparison.compare import compare
    >>> qrels = {f"q{i}": {"a": 1} for i in range(4)}
    >>> runs = {"old": {q: {"b": 2.0, "a": 1.0} for q in qrels}, "new": {q: {"a": 1.0} for q in qrels}}
    >>> [row] = compare(qrels, runs, ["RR"], baseline="old", tests="randomization").rows
    >>> row.difference, row.relative, row.wins, row.tests["randomization"].p
    (0.5, 1.0, 4, 0.125)
    """
    if not isinstance(tests, Iterable):
        raise InputError(f"tests must be names of tests (found {short_repr(tests)})")
    asked = tuple(dict.fromkeys([tests] if isinstance(tests, str) else map(str, tests)))
    if correction is None:
        correction = MAX_T if "randomization" in asked else "holm"
    options = TestOptions(asked, correction, resamples, seed, level, equivalence_margin, detect)
    persistence = check_persistence(persistence)
    experiment = Experiment.of(qrels, runs, measures, rel, by_name=True)
    check_headings(["run", "measure"], experiment.measures)
    paired = PairedRuns.of(experiment, baseline, clusters)
    groups = experiment.groups(by)
    if groups and not groups.values:
        raise InputError("by puts no query of the qrels into a group", hint="None and NaN are no groups")
    grouped = paired if groups is None else replace(paired, group=groups.group)
    [whole] = compared(experiment, [grouped], options, baseline)
    whole = replace(whole, notes=[*whole.notes, *judged_notes(paired)], persistence=persistence)
    if human is not None:
        whole = with_human_labels(whole, People.of(read(human, "relevance"), experiment.judgments))
    if groups is None:
        return whole
    check_headings([groups.name], experiment.measures)
    parts = [paired.of_queries(groups.group == number) for number in range(len(groups.values))]
    of_groups = dict(zip(groups.values, compared(experiment, parts, options, baseline), strict=True))
    notes = [*whole.notes, *groups.notes(), *_notes_of_groups(groups.name, of_groups)]
    return replace(whole, by=groups.name, groups=of_groups, notes=notes)


def _notes_of_groups(name: str, groups: Mapping[Any, Comparison]) -> list[str]:
    """List each note of the groups once, with the groups it applies to."""
    values = grouped((note, str(value)) for value, group in groups.items() for note in group.notes)
    return [f"{name} {join_names(each, 5)}: {note}" for note, each in values.items()]


def compared(
    experiment: Experiment, parts: list[PairedRuns], options: TestOptions, baseline: str | None
) -> list[Comparison]:
    """Compare on each set of queries, with one correction over all p-values."""
    rows, families, critical = compare_rows(parts, options)
    return [
        Comparison(
            of_part,
            paired.measures,
            baseline,
            options,
            families,
            [*paired.notes, *_cautions(paired, options, of_part)],
            paired,
            experiment,
            experiment.origin,
            critical=critical,
        )
        for of_part, paired in zip(rows, parts, strict=True)
    ]


def _cautions(paired: PairedRuns, options: TestOptions, rows: list[ComparisonRow]) -> Iterator[str]:
    """Note where there are too few clusters for the tests or the intervals."""
    units = pluralize(paired.n_clusters, paired.unit)
    if (
        "randomization" in options.tests
        and min_attainable_p(paired.n_clusters, options.resamples) >= MARK_LEVEL
    ):
        is_of_units = n_patterns(paired.n_clusters, options.resamples)
        few = units if is_of_units else pluralize(options.resamples, "random sign pattern")
        yield f"randomization: with {few} no p-value is below {MARK_LEVEL}, whatever the runs"
    if any(row.interval for row in rows):
        yield from coverage_notes(paired.n_clusters, paired.unit, options.level, "differences")


def _differences(result: ComparedRuns) -> Section:
    """Return the section of differences; with many pairs only a page shows them by default, collapsed."""
    left_out = why_no_differences(result)
    in_text = Section(note=left_out) if left_out else None
    return Section("Differences", tables=[differences_table(result)], collapsed=True, text_version=in_text)


# --- other programs --------------------------------------------------------------------------------

_RECORDED_OPTIONS = ("correction", "level", "resamples", "seed")


def _records(result: ComparedRuns) -> Iterator[dict[str, Any]]:
    """Yield the numbers and the options of each pair and measure, by group if there are groups."""
    tests = list(result.tests)
    options = {
        "clusters": result.paired.clusters or None,
        **{name: getattr(result.options, name) for name in _RECORDED_OPTIONS},
    }
    for label, part in result.sections():
        for row in part.rows:
            numbers = _flat(row, tests, people=result.agreement is not None) | options
            by = f"{result.by} (group)" if result.by in numbers else result.by
            yield {**({by: label} if by else {}), **numbers}


def _flat(row: ComparisonRow, tests: Sequence[str], people: bool) -> dict[str, Any]:
    """Flatten a row into columns: two for each interval, and three for each test."""
    expanded: dict[str, Callable[[Any], dict[str, Any]]] = {
        "measure": lambda measure: {"measure": name_of(measure)},
        "interval": lambda interval: low_high_fields("", interval),
        "intervals": lambda intervals: (
            low_high_fields("mean_", intervals["mean"])
            | low_high_fields("baseline_mean_", intervals["baseline_mean"])
        ),
        "tests": lambda outcomes: {
            f"{name} {column}": getattr(outcomes[name], column) for name in tests for column in _OF_TESTS
        },
        "reasons": lambda _: {"reasons": "; ".join(f"{k}: {why}" for k, why in row.missing.items()) or None},
        "people": lambda corrected: (
            {f"people_{name}": value for name, value in flatten(corrected).items()} if people else {}
        ),
    }
    columns: dict[str, Any] = {}
    for field in fields(row):
        value = getattr(row, field.name)
        columns |= expanded[field.name](value) if field.name in expanded else {field.name: value}
    return columns


_OF_TESTS = ("p", "adjusted", "statistic")


def _data(result: ComparedRuns) -> dict[str, Any]:
    """Return the content of the JSON."""
    return {
        "baseline": result.baseline,
        "clusters": result.paired.clusters or None,
        **{name: value for name, value in asdict(result.options).items() if name != "tests"},
        "interval_method": interval_method(result) or None,
        "deciding_test": result.test or None,
        **_part(result),
        "by": result.by or None,
        "groups": [
            {"group": value if type(value) in (int, str) else str(value), **_part(group)}
            for value, group in result.groups.items()
        ],
        "agreement": agreement_json(result.agreement) if result.agreement else None,
        "orders": orders_json(result.orders, [*map(name_of, result.measures)]),
        "sentences": findings(result),
        "notes": result.notes,
        "provenance": provenance(result.measures, result.origin, result.options.seed, ["scipy"]),
    }


def _part(result: ComparedRuns) -> dict[str, Any]:
    """Return the JSON fields that groups and the whole share."""
    return {
        "queries": result.n_queries,
        "n_clusters": result.n_clusters,
        "families": result.families,
        "means": {
            run: {name_of(m): float(each.mean()) for m, each in zip(result.measures, values, strict=True)}
            for run, values in result.paired.values.items()
        },
        "judged": judged_shares(result),
        "rows": [{**asdict(row), "measure": name_of(row.measure)} for row in result.rows],
    }


_MAX_RUNS_IN_FOREST = 50
"""The largest number of runs in a readable forest plot."""


def _forest(result: ComparedRuns) -> Iterator[Section]:
    """Yield the forest plots, unless there are too many runs to read them."""
    if len(result.paired.values) <= _MAX_RUNS_IN_FOREST:
        heading = f"Differences to {result.baseline}" if result.baseline else "Means"
        marks = about_marks(result, panels_of(result, range(len(result.measures))))
        note = " ".join(f"{text[0].upper()}{text[1:]}." for text in marks)
        yield Section(heading, note, plots=forest_plots(result))
