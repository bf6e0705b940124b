"""Compare bounds with all rankings of a few documents: every mean that can be reached."""

import random
from functools import cache
from itertools import permutations, product

import numpy as np
import pytest
from audit_loops import convention_of
from effort import effort
from scipy.optimize import linprog

from permed_measures.conventions.evaluate import values_of_queries
from permed_measures.conventions.options import CUTOFF_OF
from permed_measures.conventions.per_query import LabelledRanking
from permed_measures.conventions.ranking_variants import label_policies
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.feasibility.bounds import AttainableMeans, Interval
from permed_measures.feasibility.candidates import candidate_conventions, shared_by_all
from permed_measures.feasibility.rows import _PREPARING, Conventions, RowBudget
from permed_measures.published_tables.claims import parse_claims

GRADES = [(2, 1, 1, -1), (1, 1), (2,), (2, 2, 1, 0), (1, 0), (0, -1), (1, 1)]
"""The grades of the documents of each query."""
DEEPEST = 6
"""The longest list: every document can stand below the largest cutoff."""


def qrels_of(grades):
    return {f"q{i}": {f"d{j}": grade for j, grade in enumerate(each)} for i, each in enumerate(grades)}


def rankings_of(n_documents, deepest):
    """Yield each placement of some documents on the first ranks."""
    for n in range(n_documents + 1):
        for documents in permutations(range(n_documents), n):
            for ranks in product(range(1, deepest + 1), repeat=n):
                if list(ranks) == sorted(set(ranks)):
                    yield dict(zip((f"d{j}" for j in documents), ranks, strict=True))


@cache
def all_rankings(grades, policy, deepest):
    """Make the labels of a policy, all rankings of each query, and the query of each ranking."""
    qrels, run = {}, {}
    for q, of_query in enumerate(grades):
        for i, ranks in enumerate(rankings_of(len(of_query), deepest)):
            by_rank = {rank: doc for doc, rank in ranks.items()}
            longest = max(by_rank, default=1)
            qrels[f"{q}_{i:06}"] = {f"d{j}": grade for j, grade in enumerate(of_query)}
            run[f"{q}_{i:06}"] = {by_rank.get(r, f"x{r}"): -float(r) for r in range(1, longest + 1)}
    policies = {each.policy: each for each in label_policies(Judgments.of(qrels))}
    labels = policies[policy]
    query = np.array([int(each.partition("_")[0]) for each in labels.judgments.query_ids])
    return labels, JudgedRankings.of(labels.judgments, run), query


def reachable(grades, convention, claims, deepest):
    """Compute the values of all rankings: for each query an array with a row for each ranking."""
    labels, rankings, query = all_rankings(tuple(grades), shared_by_all(convention)["labels"], deepest)
    columns = []
    for claim in claims:
        options = convention[claim.measure]
        rank = options[CUTOFF_OF + claim.name]
        columns.append(values_of_queries(claim.measure, rank, options, LabelledRanking(labels, rankings)))
    values = np.stack(columns, axis=1)
    return [np.unique(values[query == q], axis=0) for q in range(len(grades))]


class Example:
    """Some queries, a convention, and the values of all rankings of each query."""

    def __init__(self, grades, convention, claims, deepest=DEEPEST):
        policies = label_policies(Judgments.of(qrels_of(grades)))
        group = Conventions(policies).group(convention, claims)
        self.rankings = group.rankings
        self.points = reachable(grades, convention, claims, deepest)

    def best(self, direction):
        """Return the largest weighted sum of means of all rankings."""
        return np.mean([(points @ direction).max() for points in self.points])

    def end(self, measure, sign, intervals):
        """Return the least or the most of a measure given the others, of all mixtures."""
        n = len(self.points)
        columns = np.concatenate(self.points) / n
        one_each = np.repeat(np.eye(n), [len(points) for points in self.points], axis=1)
        others = [j for j in range(len(intervals)) if j != measure]
        solved = linprog(
            -sign * columns[:, measure],
            A_ub=np.vstack([columns[:, others].T, -columns[:, others].T]),
            b_ub=[intervals[j].high for j in others] + [-intervals[j].low for j in others],
            A_eq=one_each,
            b_eq=np.ones(n),
        )
        assert solved.status == 0
        return -sign * solved.fun


def row_of(names):
    [claims] = parse_claims([dict.fromkeys(names, "0.5")])
    return claims


def every_convention(names):
    """Make the claims of a row, and the conventions with bounds that count all queries."""
    claims = row_of(names)
    policies = label_policies(Judgments.of(qrels_of(GRADES)))
    found = [
        each
        for each in candidate_conventions(claims, policies)
        if {options["queries"] for options in each.values()} == {"qrels"}
    ]
    conventions = Conventions(policies)
    return claims, [each for each in found if conventions.group(each, claims)]


def deeper_than_exact(convention, claims):
    """Check whether several measures go on below all searched ranks; then bounds are wider."""
    return [convention[claim.measure][CUTOFF_OF + claim.name] for claim in claims].count(None) > 1


ROWS = [
    *(("P@1", "MAP@3", "nDCG@3"), ("MAP@3", "R@2", "MRR@3"), ("hit@2", "P@1", "nDCG@3"), ("MAP@3",)),
    (
        "GradedAP(gains={1:0,2:1})@3",
        "P(rel=2)@1",
        "AP(rel=2)@3",
    ),  # grade 1 adds nothing, but counts
    ("VariantNDCG(negative='keep')@3", "nDCG@3", "P@1"),  # negative grades count for one of them
]


@pytest.mark.parametrize("names", ROWS, ids=str)
def test_the_best_rankings_are_those_of_all_rankings(names):
    rng = np.random.default_rng(0)
    claims, conventions = every_convention(names)
    for convention in random.Random(1).sample(conventions, min(effort(5, 999), len(conventions))):
        example, n = Example(GRADES, convention, claims), len(claims)
        directions = np.vstack([rng.normal(size=(10, n)), np.eye(n), -np.eye(n)])
        sums, means = example.rankings.best(directions)
        exact = np.array([example.best(direction) for direction in directions])
        assert (sums >= exact - 1e-12).all(), convention
        assert np.abs((means * directions).sum(axis=1) - sums).max() < 1e-12
        if not deeper_than_exact(convention, claims):
            assert np.abs(sums - exact).max() < 1e-12, convention


CHOSEN = {
    "AP": {},
    "half of AP": {"weights": "half"},
    "ideal uncut": {"denominator": "min", "ideal": "uncut"},
}


@pytest.mark.parametrize("name", CHOSEN)
def test_ranges_hold_all_that_can_be_reached_and_little_more(name):
    claims = row_of(("P@1", "MAP@3", "nDCG@3"))
    example = Example(GRADES, convention_of(claims, CHOSEN[name]), claims)
    rng = np.random.default_rng(1)
    for _ in range(effort(2, 4)):
        means = np.mean([points[rng.integers(len(points))] for points in example.points], axis=0)
        intervals = [Interval(value - 5e-5, value + 5e-5) for value in means.tolist()]
        for j, given in enumerate(AttainableMeans(example.rankings, intervals).ranges([1e-4] * 3)):
            low, high = (example.end(j, sign, intervals) for sign in (-1, 1))
            assert given.low <= low + 1e-9
            assert given.high >= high - 1e-9
            assert given.low >= low - 4.1e-4
            assert given.high <= high + 4.1e-4
            assert given.low <= means[j] <= given.high


def test_what_no_mixture_reaches_is_called_impossible_close_to_the_edge(monkeypatch):
    claims = row_of(("P@1", "MAP@3", "nDCG@3"))
    example = Example(GRADES, convention_of(claims), claims)
    free = [Interval(0.4, 0.5), Interval(0, 1), Interval(0.5, 0.52)]
    edge = example.end(1, 1, free)
    for step, possible in ((1e-5, False), (-1e-5, True)):
        intervals = [free[0], Interval(edge + step, edge + step + 0.01), free[2]]
        ranges = AttainableMeans(example.rankings, intervals).ranges([1e-4] * 3)
        met = [given.meets(each) for given, each in zip(ranges, intervals, strict=True)]
        assert all(met) is possible
        assert AttainableMeans(example.rankings, intervals).refuted() is not possible
    monkeypatch.setattr("permed_measures.feasibility.bounds._ROUNDS", 0)
    assert AttainableMeans(example.rankings, intervals).refuted() is False  # what is not shown is not said


@pytest.mark.parametrize("levels", [(1,), (1, 2)], ids=str)
def test_grades_that_fill_all_ranks_may_be_counted_together(levels):
    """With three documents each of grades 1 and 2, only the number of relevant ones above a rank counts."""
    grades = [(2, 2, 2, 1, 1, 1), (2, 1), (2, 2, 1, 1)]
    claims = row_of(("P@1", "MAP@2", "nDCG@2"))
    weights = "binary" if len(levels) > 1 else "half"
    convention = convention_of(claims, {"weights": weights, "level": float(levels[-1])})
    example = Example(grades, convention, claims, deepest=3)
    n_states = {1: 3 + 4 + 3, 2: 6 + 4 + 6}[len(levels)]
    assert len(example.rankings.lists.of_class) == n_states
    for direction in np.random.default_rng(4).normal(size=(30, 3)):
        assert example.rankings.best(direction[None])[0][0] == pytest.approx(example.best(direction))


@pytest.mark.parametrize("most", [0, 40, 100, 10_000])
def test_with_too_many_states_fewer_ranks_are_looked_at(monkeypatch, most):
    """The ranks below are bounded separately, so the sums may be too high, never too low."""
    monkeypatch.setattr("permed_measures.feasibility.bounds.MOST_STEPS", most)
    claims = row_of(("P@1", "MAP@3", "nDCG@3"))
    losing = Example(GRADES, convention_of(claims, {"negative": "keep"}), claims).rankings
    assert (losing is not None) == (most == 10_000)  # negative grades lose down to the cutoff
    example = Example(GRADES, convention_of(claims), claims)
    if not most:
        assert example.rankings is None
        return
    assert len(example.rankings.values) == {40: 1, 100: 2, 10_000: 3}[most]
    for direction in np.random.default_rng(5).normal(size=(30, 3)):
        found = example.rankings.best(direction[None])[0][0]
        assert found >= example.best(direction) - 1e-12
        if most == 10_000:
            assert found == pytest.approx(example.best(direction))


def test_deep_lists_are_bounded_by_what_may_stand_below():
    """Only the ranks of AP below all other cutoffs are not searched one by one."""
    claims = row_of(["MAP", "P@10"])
    policies = label_policies(Judgments.of(qrels_of([[1] * 300] * 3)))
    rankings = Conventions(policies).group(convention_of(claims), claims).rankings
    assert len(rankings.values) == 10
    assert AttainableMeans(rankings, [Interval(0, 1)] * 2).ranges([1e-4] * 2)[0].high == pytest.approx(1)
    [given, _] = AttainableMeans(rankings, [Interval(0, 1), Interval(0, 0)]).ranges([1e-4] * 2)
    most = sum(j / (10 + j) for j in range(1, 301)) / 300  # all of them right below rank 10
    assert given.high == pytest.approx(most, abs=5e-4)


@pytest.mark.parametrize(
    ("names", "depth"),
    [
        *((["MAP@3"], 1), (["MAP"], 1), (["MAP@3", "P@2"], 2), (["MAP", "P@2"], 2), (["MAP", "nDCG"], 20)),
        *((["MAP", "nDCG", "P@2"], 2), (["VariantNDCG(negative='keep')@3", "P@1"], 3)),
    ],
)
def test_so_many_ranks_are_looked_at_one_by_one(names, depth):
    """One measure may go on below, without negative weights; if more have no end, 20 ranks are searched."""
    claims = row_of(names)
    group = Conventions(label_policies(Judgments.of(qrels_of(GRADES)))).group(convention_of(claims), claims)
    assert len(group.rankings.values) == depth


def test_intervals_meet_where_they_have_a_number_in_common():
    one, empty = Interval(0.5, 0.5), Interval(0.6, 0.5)
    assert (one.is_empty, empty.is_empty) == (False, True)
    for other, meets in ((one, True), (Interval(0, 0.5), True), (Interval(0.5, 1), True), (empty, False)):
        assert one.meets(other) is other.meets(one) is meets
    assert not one.meets(Interval(0, 0.4))
    assert not Interval(0, 0.4).meets(one)


def test_means_that_are_counts_are_told_by_what_they_are_parts_of():
    """With 2 and 3 relevant documents recall has steps of 1/6; with 1 to 12 it has too many steps."""

    def total(name, grades, **options):
        claims = row_of([name])
        policies = label_policies(Judgments.of(qrels_of(grades)))
        group = Conventions(policies).group(convention_of(claims, options), claims)
        [told] = group.ranges(claims)
        return told.total

    assert [total(name, [(1, 1), (1, 1, 1)]) for name in ("R@5", "P@5", "hit@5", "MRR@5", "MAP@5")] == [
        *(6 * 2, 5 * 2, 2, None, None)
    ]
    assert [total("R@2", [(1, 1), (1, 1, 1)], recall=each) for each in ("min", "any")] == [2 * 2, 2]
    assert total("R@5", [(1, 1), (0, 0)]) == 2 * 2
    assert total("R@20", [(1,) * n for n in (16, 9, 5, 7)]) == 5040 * 4
    assert total("R@20", [(1,) * n for n in (16, 9, 5, 7, 11)]) is None


def test_an_end_that_matters_is_found_to_a_fiftieth_of_a_digit():
    claims, unit, rng = row_of(("P@1", "MAP@3", "nDCG@3")), 0.03, np.random.default_rng(2)
    example = Example(GRADES, convention_of(claims), claims)
    for _ in range(effort(2, 20)):
        means = np.mean([points[rng.integers(len(points))] for points in example.points], axis=0)
        for j in range(3):
            intervals = [Interval(value - unit / 2, value + unit / 2) for value in means.tolist()]
            edge = example.end(j, 1, intervals)
            intervals[j] = Interval(edge + 0.03 * unit, edge + unit)
            assert not AttainableMeans(example.rankings, intervals).ranges([unit] * 3)[j].meets(intervals[j])


def test_every_end_of_a_range_takes_an_equal_part_of_the_effort(monkeypatch):
    claims = row_of(("P@1", "MAP@3", "nDCG@3"))
    rankings = Example(GRADES, convention_of(claims), claims).rankings
    intervals, ends, most, end = (
        [Interval(0.3, 0.7)] * 3,
        [],
        AttainableMeans._upper_bounds,
        AttainableMeans._end,
    )

    def counted(search, *arguments):
        ends.append(0)
        return end(search, *arguments)

    def also_counted(search, weights):
        ends[-1:] = [ends[-1] + len(weights)] if ends else []
        return most(search, weights)

    monkeypatch.setattr(AttainableMeans, "_end", counted)
    monkeypatch.setattr(AttainableMeans, "_upper_bounds", also_counted)
    wide, exact = (
        AttainableMeans(rankings, intervals).ranges([1e-9] * 3, effort)
        for effort in (6 * rankings.n_steps, np.inf)
    )
    assert max(ends[:6]) < min(ends[6:])
    assert all(a.low <= b.low and a.high >= b.high for a, b in zip(wide, exact, strict=True))
    assert wide != exact


def test_what_a_group_takes_of_the_effort_of_a_row_is_gone_for_the_next(monkeypatch):
    [claims] = parse_claims([{"P@1": "0.3", "MAP@3": "0.9", "nDCG@3": "0.2"}])
    conventions = Conventions(label_policies(Judgments.of(qrels_of(GRADES))))
    first, second = (
        conventions.group(convention_of(claims, options), claims) for options in ({}, CHOSEN["half of AP"])
    )
    monkeypatch.setattr("permed_measures.feasibility.bounds._PROGRAMME", 0)
    monkeypatch.setattr("permed_measures.feasibility.rows.BUDGET", 1.5 * _PREPARING * first.rankings.n_steps)
    row = RowBudget(claims)
    monkeypatch.setattr(row, "_effort_of_parts", 0)
    assert row.limits(first)[0].refuted
    assert row.effort <= 0.5 * _PREPARING * first.rankings.n_steps
    assert row.limits(second)[0].refuted is None
    assert RowBudget(claims).limits(second)[0].refuted
