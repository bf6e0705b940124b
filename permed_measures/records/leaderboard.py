"""Order runs in one table, and test which of them are significantly below the first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from ir_measures.measures import Measure
from numpy.typing import NDArray

from permed_measures.comparison.compare import Comparison, compared
from permed_measures.comparison.paired import PairedRuns
from permed_measures.comparison.results import TestOptions
from permed_measures.comparison.tables import p_or_dash
from permed_measures.comparison.tests import (
    MAX_T,
    Randomized,
    min_attainable_p,
    n_patterns,
    randomize,
    sign_patterns,
)
from permed_measures.engine.groups import By
from permed_measures.errors import check_int
from permed_measures.experiment import Experiment, check_nonempty
from permed_measures.inputs.columns import QrelsLike, RunLike
from permed_measures.intervals import check_level, percent
from permed_measures.measures.headings import check_headings, headings_of
from permed_measures.measures.parsing import MeasuresLike, measures_of
from permed_measures.measures.specs import is_count
from permed_measures.provenance import Origin, provenance
from permed_measures.results.evaluation_report import highest
from permed_measures.results.evaluations import (
    BEST,
    Evaluations,
    evaluation_records,
    objects,
    with_judged,
)
from permed_measures.results.report import Report, Result, Section, how_made, titled
from permed_measures.results.table import Cell, Style, Table, competition_rank
from permed_measures.tolerances import STATISTIC
from permed_measures.wording import pluralize


class LeaderboardEntry(NamedTuple):
    """A run of a leaderboard.

    Attributes
    ----------
    rank : int
        1 + the number of runs with a higher mean.
    run : str
    p : float or None
        The p-value of its difference from the first run, adjusted for all pairs of runs; None for the first.
    rank_least, rank_most : int
        The best and the worst rank that it may have: see `rank_ranges`.
    values : dict of str to float
        The mean of each measure.
    is_below : bool
        Whether it is significantly below the first run.
    """

    rank: int
    run: str
    p: float | None
    rank_least: int
    rank_most: int
    values: dict[str, float]
    is_below: bool = False

    @property
    def ranks(self) -> str:
        """The ranks that it may have, as a range in text."""
        ends = dict.fromkeys([str(self.rank_least), str(self.rank_most)])
        return "\N{EN DASH}".join(ends)


@dataclass(frozen=True)
class Leaderboard(Result):
    """Runs by their mean of the first measure; ``print`` shows the table.

    ``to_polars`` and ``to_pandas`` give a row for each run.

    Attributes
    ----------
    entries : list of LeaderboardEntry
        The runs, best first.
    finding : str
        Which runs are significantly below the first.
    about : str
        The test of the runs, in words.
    evaluations : Evaluations
        The evaluations of the runs; the first measure orders them.
    experiment : Experiment
        The qrels and the runs as given.
    paired : PairedRuns
        The values of each query by each run; without pairs for one run.
    options : TestOptions
        The options of the test.
    origin : Origin or None
        The command and its files.
    notes : list of str
        Notes on the measures and the clusters.
    """

    entries: list[LeaderboardEntry]
    finding: str
    about: str
    evaluations: Evaluations = field(repr=False, compare=False)
    experiment: Experiment = field(repr=False, compare=False)
    paired: PairedRuns = field(repr=False, compare=False)
    options: TestOptions = field(repr=False)
    origin: Origin | None = field(default=None, repr=False)
    notes: list[str] = field(default_factory=list)

    @cached_property
    def comparison(self) -> Comparison | None:
        """The comparison of every pair of runs on the measure that orders them; None for one run.

        It is computed on first use, because its rows have more than the p-values of the table.
        """
        if not self.paired.pairs:
            return None
        [tested] = compared(self.experiment, [self.paired], self.options, None)
        return tested

    def report(self, digits: int | None = None, in_percent: bool = False) -> Report:
        """Report the runs by rank, with the ranks that they may have, p-values and means.

        `digits` is the number of decimals; if left out four, or two in percent.
        """
        evaluations, seed = self.evaluations, self._seed
        style = Style.of(digits, in_percent)
        queries = [note for run in evaluations.evaluations for note in evaluations.notes_on_queries(run)]
        return Report(
            titled(self.origin, len(self.entries), evaluations.queries(self.entries[0].run)["judged"]),
            [*self._first(style), f"{self.finding[:1].upper()}{self.finding[1:]}."],
            [Section(tables=[self._table(style)])],
            [*queries, *self.notes],
            self._content,
            self._rows,
            partial(how_made, evaluations.columns, self.origin, seed, _REQUIRED_PACKAGES),
            evaluations.all_notes(),
        )

    @property
    def _seed(self) -> int | None:
        """The seed of the test; None for one run."""
        return self.options.seed if self.paired.pairs else None

    def _first(self, style: Style) -> list[str]:
        """Name the run or runs with the highest mean of the measure that orders them."""
        evaluations = self.evaluations
        [measure, heading] = evaluations.measures[0], headings_of(evaluations.measures)[0]
        means = {run: [each.aggregated[measure]] for run, each in evaluations.evaluations.items()}
        return highest([heading], means, style, [heading] if is_count(measure) else [])

    def _table(self, style: Style) -> Table:
        """Lay out a row for each run, and one for an ideal ranking if its means are below 1."""
        result, ideal = self.evaluations, self.evaluations.ideal.aggregated
        means = [each.aggregated for each in result.evaluations.values()]
        columns = [result.cells(each, [of_run[each] for of_run in means], style) for each in result.shown]
        runs = [[*_cells_of(each), *cells] for each, *cells in zip(self.entries, *columns, strict=True)]
        texts = [result.text_of_best(measure, ideal.get(measure), style) for measure in result.shown]
        best = [[*map(Cell, ["", BEST, "", "", *texts])]]
        return Table(
            ["rank", "run", "p", "ranks", *result.headings(result.shown)],
            [runs, best] if result.ceilings else [runs],
            2,
            f"Means{style.unit} over {result.about()}",
            [
                *result.explanations(),
                f"Rank: by {headings_of(result.measures)[0]}",
                *[f"p: {self.about}", self._about_ranks()] * bool(self.about),
            ],
            result.droppable,
            "leaderboard",
        )

    def _about_ranks(self) -> str:
        """Explain the ranks that a run may have."""
        level = percent(self.options.level)
        return (
            f"Ranks: those that a run may have, of all runs at once with a probability of {level}: from 1 + "
            "how many runs are significantly above it, to how many are not significantly below it"
        )

    def _content(self) -> dict[str, Any]:
        """Collect the content of the JSON: for each run that of `evaluate`, with its rank and p-value."""
        numbers = zip(self.entries, objects(self.evaluations), strict=True)
        return {
            "finding": self.finding,
            "about": self.about,
            "runs": [
                {**_places(each), **content, "notes": self.evaluations.notes_on(each.run)}
                for each, content in numbers
            ],
            "notes": self.notes,
            "provenance": provenance(self.evaluations.measures, self.origin, self._seed, _REQUIRED_PACKAGES),
        }

    def _rows(self) -> Iterator[dict[str, Any]]:
        """Yield a record of each run: rank, p-value and means."""
        for entry, row in zip(self.entries, evaluation_records(self.evaluations), strict=True):
            yield {**_places(entry), **row}


_TEST = "randomization"
_REQUIRED_PACKAGES = ("scipy",)
"""The packages whose versions can change p-values."""


def _places(entry: LeaderboardEntry) -> dict[str, Any]:
    """Collect the fields of an entry that come before its means."""
    return {name: getattr(entry, name) for name in _PLACES}


_PLACES = ("rank", "ranks", "rank_least", "rank_most", "p")


def _cells_of(entry: LeaderboardEntry) -> list[Cell]:
    """Make the cells before the means of a run."""
    p = Cell("" if entry.p is None else p_or_dash(entry.p), value=entry.p)
    ranks = Cell(entry.ranks, value=entry.rank_least)
    return [Cell(str(entry.rank), value=entry.rank), Cell(entry.run), p, ranks]


def rank_ranges(n_runs: int, better: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Compute the range of ranks that each run may have.

    Parameters
    ----------
    n_runs : int
    better : ndarray of int64, shape (n, 2)
        Pairs of run numbers; the first run of a pair is significantly better than the second, in a test of
        all pairs at once.

    Returns
    -------
    list of (int, int)
        For each run: 1 + the number of runs better than it, and the number of runs (itself included) that it
        is not better than. Unless a decision is false, the true rank lies in this range; for equal runs all
        ranks that they share do.

    References
    ----------
    Al Mohamad, Goeman & van Zwet, Simultaneous Confidence Intervals for Ranks with Application to Ranking
    Institutions, Biometrics 78, 2022.

    Examples
    --------
    >>> rank_ranges(3, np.array([[0, 2]]))
    [(1, 2), (1, 3), (2, 3)]
    """
    below, above = (np.bincount(each, minlength=n_runs) for each in better.T)
    return list(zip((1 + above).tolist(), (n_runs - below).tolist(), strict=True))


_STATISTICS = 1_000_000_000
"""The number of statistics to draw if no number of sign patterns is named: it takes a few seconds."""
_MOST_SIGN_PATTERNS, _FEWEST = 50_000, 1_000
"""The number of sign patterns for few runs, and the smallest number for many runs."""


def resamples_of(n_runs: int) -> int:
    """Choose the number of sign patterns for the test of all pairs of runs.

    It is 50,000 for up to 200 runs, and falls for more runs, because pairs grow as the square of the runs.

    Examples
    --------
    >>> resamples_of(200), resamples_of(500), resamples_of(5000)
    (50000, 8016, 1000)
    """
    pairs = max(n_runs * (n_runs - 1) // 2, 1)
    return min(max(_STATISTICS // pairs, _FEWEST), _MOST_SIGN_PATTERNS)


def leaderboard(
    qrels: QrelsLike,
    runs: Mapping[str, RunLike] | RunLike,
    measures: MeasuresLike,
    clusters: By | None = None,
    resamples: int | None = None,
    seed: int = 0,
    level: float = 0.95,
) -> Leaderboard:
    """Order runs by the mean of a measure, and test which are below the first.

    Parameters
    ----------
    qrels : QrelsLike
    runs : mapping of str to RunLike
        Runs by name; one path is named like the file.
    measures : Measure or str, or an iterable of them
        The first orders the runs.
    clusters : str, mapping or callable, optional
        As in `compare`.
    resamples : int, optional
        The number of sign patterns of the randomization test. If left out 50,000, or fewer for more than
        200 runs: 2,002 for 1,000 runs. A note says so.
    seed : int
    level : float
        The probability that the ranks of all runs hold. A difference is significant if p is below 1 - level.

    Returns
    -------
    Leaderboard
        The randomization test over whole clusters compares every pair of runs, with step-down max-T for all
        pairs at once (`randomize`), because the same values decide which run is first. A run is below the
        first if p < 1 - level.

    Raises
    ------
    MeasureError, InputError
        As for an evaluation.

    Examples
    --------
    >>> qrels = {f"q{i}": {"a": 1} for i in range(8)}
    >>> runs = {"old": {q: {"b": 2.0, "a": 1.0} for q in qrels}, "new": {q: {"a": 1.0} for q in qrels}}
    >>> board = leaderboard(qrels, runs, "RR")
    >>> [(each.rank, each.run, each.values) for each in board.entries]
    [(1, 'new', {'RR': 1.0}), (2, 'old', {'RR': 0.5})]
    >>> board.finding
    'significantly below new (p < 0.05): old'
    """
    asked = measures_of(measures)
    check_headings(_PLACES, asked)
    if resamples is not None:
        resamples = check_int("resamples", resamples, 1)
    check_level(level)
    alpha = round(1 - level, 12)
    experiment = Experiment.of(qrels, runs, with_judged(asked))
    check_nonempty(experiment.judgments, asked, "order by", runs if isinstance(runs, Mapping) else [runs])
    options = TestOptions((_TEST,), MAX_T, resamples or resamples_of(len(experiment.runs)), seed, level)
    evaluations = _best_first(asked, experiment)
    unit, cluster, notes = experiment.clusters(clusters)
    notes = [*experiment.evaluator.notes(), *notes]
    paired, tested = _paired(evaluations, unit, cluster, notes), None
    if paired.pairs:
        sums, columns = paired.sums(paired.n_clusters), paired.pair_columns()
        tested = randomize(sums, columns, options.resamples, seed, level)
        if resamples is None:
            notes = [*notes, *_note_of_fewer(paired, options.resamples)]
    entries = _entries(evaluations, tested, alpha)
    finding = _finding(entries, min_attainable_p(paired.n_clusters, options.resamples), alpha)
    about = _about(paired, options)
    origin = experiment.origin
    return Leaderboard(entries, finding, about, evaluations, experiment, paired, options, origin, notes)


def _note_of_fewer(paired: PairedRuns, resamples: int) -> list[str]:
    """Note that there are fewer sign patterns than for few runs, and how to use more."""
    if resamples == _MOST_SIGN_PATTERNS or n_patterns(paired.n_clusters, resamples):
        return []
    return [
        f"p: each of {pluralize(len(paired.pairs), 'pair')} of runs is tested with {resamples:,} random sign "
        f"patterns; for more, which take longer, add --resamples {_MOST_SIGN_PATTERNS}, or "
        f"resamples={_MOST_SIGN_PATTERNS} in Python"
    ]


def _best_first(asked: list[Measure], experiment: Experiment) -> Evaluations:
    """Evaluate the runs, and order them by the first measure."""
    by_run, notes = experiment.evaluate_all()
    ordered = sorted(by_run.items(), key=lambda item: -round(float(item[1].values[0].mean()), 12))
    return Evaluations(asked, dict(ordered), notes=notes)


def _entries(result: Evaluations, tested: Randomized | None, alpha: float) -> list[LeaderboardEntry]:
    """Make the entries with ranks and p-values; the first pairs of the test are those with the first run."""
    means = [each.aggregated[result.measures[0]] for each in result.evaluations.values()]
    adjusted = tested.adjusted[: len(means) - 1].tolist() if tested else []
    below = [p < alpha for p in adjusted]
    return [
        LeaderboardEntry(
            competition_rank(own, means), content["run"], p, *ranks, content["metrics"], is_below
        )
        for content, own, p, ranks, is_below in zip(
            objects(result),
            means,
            [None, *adjusted],
            rank_ranges(len(means), _better(len(means), tested, alpha)),
            [False, *below],
            strict=True,
        )
    ]


def _better(n_runs: int, tested: Randomized | None, alpha: float) -> NDArray[np.int64]:
    """List the pairs of run numbers in which the first run is significantly better than the second."""
    pairs = np.stack(np.triu_indices(n_runs, 1), axis=1)  # earlier, later
    if tested is None:
        return pairs[:0]
    significant = (tested.adjusted < alpha) & (np.abs(tested.statistic) > STATISTIC)
    is_later_better = tested.statistic[significant] > 0
    pairs = pairs[significant]
    return np.where(is_later_better[:, None], pairs[:, ::-1], pairs)


def _paired(result: Evaluations, unit: str, cluster: NDArray[np.int64], notes: list[str]) -> PairedRuns:
    """Pair all runs on the measure that orders them, with the better one as the baseline."""
    runs = result.evaluations
    return PairedRuns(
        result.measures[:1],
        next(iter(runs.values())).rankings.judgments.query_ids,
        {name: each.values[:1] for name, each in runs.items()},
        [(later, earlier) for earlier, later in combinations(runs, 2)],
        unit,
        cluster,
        notes,
        rankings={name: each.rankings for name, each in runs.items()},
    )


def _about(paired: PairedRuns, options: TestOptions) -> str:
    """Describe how p-values are computed; empty for one run."""
    if not paired.pairs:
        return ""
    patterns = sign_patterns(paired.n_clusters, paired.unit, options.resamples)
    named = f" ({paired.clusters})" * (paired.clusters not in ("", "clusters"))  # these have no name
    seed = "" if n_patterns(paired.n_clusters, options.resamples) else f", seed {options.seed}"
    return (
        "of the difference from the first run, by the randomization test with max-T over all pairs of runs; "
        f"{patterns}{named}{seed}"
    )


def _finding(entries: Sequence[LeaderboardEntry], min_p: float, alpha: float) -> str:
    """Name the runs that are significantly below the first; `min_p` is the smallest possible p-value."""
    below = [entry.run for entry in entries if entry.is_below]
    if len(entries) == 1:
        return "there is only one run, so nothing to compare"
    if min_p >= alpha:
        return f"no difference can be significant here: the smallest possible p is {min_p:.4f}"
    return f"significantly below {entries[0].run} (p < {alpha:g}): {', '.join(below) or 'no run'}"
