"""Columns of counts show the cutoff and the topics; other columns show nothing."""

from decimal import Decimal

import numpy as np
import pytest
from effort import effort
from printing import texts_of

import permed_measures as pm
from permed_measures.published_tables.claims import RoundingInterval, parse_claims
from permed_measures.published_tables.grim import _evidence, wholes_by_part, wholes_in


def column(name, values, digits=4):
    return parse_claims([{name: f"{value:.{digits}f}"} for value in values])


def counts(rng, n, total):
    return rng.integers(1, total, n) / total


@pytest.mark.parametrize(
    ("name", "total", "said"),
    [
        ("P@10", 450, "all 20 rows are multiples of 1/450, as P@9 over 50 topics or P@10 over 45 topics"),
        ("P@10 (%)", 750, "20 rows are multiples of 1/750, as P@15 over 50 topics or P@10 over 75 topics"),
        ("P@10", 250, "all 20 rows are multiples of 1/250, as P@5 over 50 topics or P@10 over 25 topics"),
        ("Success@5", 43, "all 20 rows are multiples of 1/43, as Success over 43 topics"),
        ("P@1", 45, "not a multiple of 1/50: all 20 rows are multiples of 1/45, as P@1 over 45 topics"),
        ("Coverage@10", 50, "Coverage@10: all 20 rows are multiples of 1/50, as Coverage over 50 topics"),
    ],
)  # fmt: skip
def test_a_column_tells_its_cutoff_and_topics(name, total, said):
    values = counts(np.random.default_rng(0), 20, total)
    rows = column(name, 100 * values if "%" in name else values, 2 if "%" in name else 4)
    [whole] = wholes_in(rows, 50)
    assert said in str(whole)


def test_a_value_that_prints_so_may_be_off_by_what_a_sum_may_be():
    printed = RoundingInterval.rounded(Decimal("0.4"), 1)
    off = [0.35 - 1e-9, 0.35 - 1e-13, 0.45 + 1e-13, 0.45 + 1e-9]
    assert [value in printed for value in off] == [False, True, True, False]
    large = RoundingInterval.rounded(Decimal("123456789012.3"), 1)
    assert [value in large for value in (123456789012.3, 123456789012.4)] == [True, False]


@pytest.mark.parametrize("percent", [False, True])
@pytest.mark.parametrize("digits", [2, 3, pytest.param(4, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("total", [50, 250, 500, 597, pytest.param(3440, marks=pytest.mark.thorough)])
def test_numbers_that_can_be_shares_are_those_that_shares_print_as(total, digits, percent):
    """Half of all numbers with three digits are multiples of 1/500: 0.302 is, and 0.301 is not."""
    printed = {text for hits in range(total + 1) for text in texts_of(hits, total, digits, percent)}
    numbers = [n / Decimal(10**digits) for n in range(10**digits + 1)]
    texts = [f"{100 * n:.{digits - 2}f}%" if percent else f"{n:.{digits}f}" for n in numbers]
    claims = parse_claims([{"P@1": text} for text in texts])
    assert {claim.text for [claim] in claims if claim.rounding_or_truncation.counts(total)} == printed


@pytest.mark.parametrize(("total", "digits", "n"), [(500, 3, 501), (597, 4, 926), (250, 4, 251), (50, 2, 51)])
def test_so_many_numbers_can_be_shares(total, digits, n):
    numbers = [
        RoundingInterval.rounding_or_truncation(Decimal(each).scaleb(-digits), digits)
        for each in range(10**digits + 1)
    ]
    assert sum(len(each.counts(total)) > 0 for each in numbers) == n


@pytest.mark.parametrize(
    ("text", "counts"), [("0.301", []), ("0.302", [151]), ("0.999", []), ("1.000", [500])]
)
def test_a_share_is_cut_off_to_no_number_that_is_smaller_by_a_whole_digit(text, counts):
    [[claim]] = parse_claims([{"P@10": text}])
    assert list(claim.rounding_or_truncation.counts(500)) == counts


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("0.3", ["0.3", "0.39999999"], ["0.29999999", "0.4"]),
        ("-0.3", ["-0.3", "-0.39999999"], ["-0.29999999", "-0.4"]),
        ("0.0", ["0", "0.09999999", "-0.09999999"], ["0.1", "-0.1"]),
    ],
)
def test_numbers_are_cut_off_towards_0(text, inside, outside):
    printed = RoundingInterval.cut(Decimal(text), 1)
    assert [float(value) in printed for value in inside] == [True] * len(inside)
    assert [float(value) in printed for value in outside] == [False] * len(outside)


def test_what_a_sum_is_off_by_does_not_cut_off_a_digit():
    """0.1 + 0.2 is a little above 0.3, and its negative, plus 0.6, a little below."""
    below = 0.6 - (0.1 + 0.2)
    assert below < 0.3
    assert below not in RoundingInterval.cut(Decimal("0.2"), 1)
    assert below in RoundingInterval.rounded(Decimal("0.3"), 1)


def test_a_column_that_is_as_its_heading_says_need_not_be_likelier_than_that():
    """Four rows are just enough."""
    values = [12 / 250, 77 / 250, 131 / 250, 208 / 250]
    assert [whole.total for whole in wholes_in(column("P@5", values), 50)] == [250]
    assert list(wholes_in(column("P@5", values[1:]), 50)) == []


@pytest.mark.parametrize(("topics", "told"), [(44, [44]), (45, [])])
def test_numbers_must_be_a_thousand_times_likelier_by_a_whole(topics, told):
    """Three numbers with four digits; each has the odds 9,900 to 45 or 46, among 9,999 totals."""
    values = [7 / topics, 17 / topics, 31 / topics]
    assert [whole.total for whole in wholes_in(column("Success@5", values), 50)] == told


def test_numbers_in_the_middle_may_print_as_two():
    """With two digits, 2 and 6 of 8 hits print as one number; 1, 3, 5 and 7 may print as two."""
    totals = np.arange(1, 41)
    printed = [RoundingInterval.rounded(Decimal(n) / 100, 2) for n in range(101)]
    n_printed = np.array([sum(len(each.counts(total)) > 0 for each in printed) for total in totals])
    evidence = _evidence(parse_claims([{"P@1": "0.00"}])[0], totals)
    assert evidence == pytest.approx(np.log(0.99 * 100 / n_printed + 0.01))


def test_columns_of_one_table_are_over_the_same_topics():
    """750 alone may be P@10 over 75 topics too, and 225 P@5 over 45; with 5,000 beside it, it is not."""
    rng = np.random.default_rng(1)
    named = {"P@10": 750, "P@100": 5000}
    rows = [
        a + b for a, b in zip(*(column(name, counts(rng, 60, n)) for name, n in named.items()), strict=True)
    ]
    assert [(whole.total, whole.topics) for whole in wholes_in(rows, 50)] == [(750, (50,)), (5000, (50,))]
    assert [(whole.total, whole.topics) for whole in wholes_in(rows, 45)] == [(750, (50,)), (5000, (50,))]


def test_columns_below_different_headings_are_told_apart():
    """Together they would seem to be over 150 topics, because all are multiples of 1/1,500."""
    rng = np.random.default_rng(7)
    parts = {"A": column("P@10", counts(rng, 20, 500)), "B": column("P@10", counts(rng, 20, 750))}
    rows = [(part, row) for part, of_part in parts.items() for row in of_part]
    assert [whole.topics for whole in wholes_in([row for _, row in rows], 50)] == [(50, 150)]
    for order in (rows, rows[::-1]):
        printed = [(part, None, row) for part, row in order]
        found = {str(whole).partition(":")[0]: whole.topics for whole in wholes_by_part(printed, 50)}
        assert found == {"P@10 of A": (50,), "P@10 of B": (50, 75)}


def test_rows_that_say_their_topics_are_counted_over_these():
    """The qrels have 60 topics; without the number in the table, 50 or 75 topics would be reported."""
    rng = np.random.default_rng(11)
    rows = column("P@10", counts(rng, 20, 750))
    [told] = wholes_by_part((("", None, row) for row in rows), 60)
    assert (told.heading_total, told.total, told.matches_heading) == (600, 750, False)
    [as_said] = wholes_by_part((("", 75, row) for row in rows), 60)
    assert (as_said.heading_total, as_said.total, as_said.matches_heading) == (750, 750, True)


@pytest.mark.parametrize(("cutoff", "topics", "digits"), [(10, 43, 4), (5, 50, 4), (10, 93, 4), (1, 61, 3)])
def test_numbers_that_were_cut_are_over_the_topics_of_the_heading(cutoff, topics, digits):
    """If the numbers were rounded, the best total would be another one, with thousands of topics."""
    for seed in range(effort(5, 25)):
        total = cutoff * topics
        values = counts(np.random.default_rng(seed), 60, total)
        for noise in (0, 1e-9):  # 0.29 * 100 is cut to 28
            cut = np.floor(values * 10**digits * (1 - noise)) / 10**digits
            wholes = list(wholes_in(column(f"P@{cutoff}", cut, digits), topics))
            assert all(whole.matches_heading for whole in wholes)


def test_a_column_that_was_cut_tells_its_topics_too():
    values = np.floor(1e4 * counts(np.random.default_rng(0), 40, 430)) / 1e4
    [whole] = wholes_in(column("P@10", values), 50)
    assert (whole.total, whole.topics, whole.is_cut) == (430, (43,), True)
    assert "all 40 rows are multiples of 1/430 if they were cut and not rounded, as P@10 over 43" in str(
        whole
    )
    noisy = [f"{value:.4f}" for value in values] + ["0.4999"]  # 215 of 430, and a little less by the sum
    [whole] = wholes_in(parse_claims([{"P@10": text} for text in noisy]), 50)
    assert "all 41 rows are multiples of 1/430 if they were cut" in str(whole)
    [whole] = wholes_in(column("P@10", counts(np.random.default_rng(0), 40, 430)), 50)
    assert (whole.total, "cut" in str(whole)) == (430, False)


def test_a_mistyped_number_does_not_hide_the_others():
    rows = column("P@10", [*counts(np.random.default_rng(2), 30, 500), 0.3067])
    [whole] = wholes_in(rows, 50)
    assert (whole.total, str(whole)) == (
        500,
        "P@10: 30 of 31 rows are multiples of 1/500 (not 0.3067), as P@10 over 50 topics",
    )


@pytest.mark.parametrize(
    ("n", "said"), [(3, "0.3067, 0.1467 and 0.4533"), (5, "0.3067, 0.1467, 0.4533 and 2 more")]
)
def test_numbers_that_are_no_whole_numbers_are_named_up_to_three(n, said):
    others = [0.3067, 0.1467, 0.4533, 0.7733, 0.9467][:n]
    [whole] = wholes_in(column("P@10", [*counts(np.random.default_rng(2), 60, 500), *others]), 50)
    assert f" of {60 + n} rows are multiples of 1/500 (not {said}), as P@10" in str(whole)


@pytest.mark.parametrize(
    ("name", "values", "digits"),
    [
        ("P@10", counts(np.random.default_rng(3), 3, 750), 4),  # three rows are too few
        ("P@10", counts(np.random.default_rng(3), 200, 750), 2),  # each number with two digits is one of 750
        ("nDCG@10", counts(np.random.default_rng(3), 200, 750), 4),
        ("P@10", [0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2], 4),  # one number, however often
    ],
)
def test_nothing_is_said_where_the_numbers_do_not_tell(name, values, digits):
    assert list(wholes_in(column(name, values, digits), 50)) == []


def test_arbitrary_columns_have_no_total_and_true_ones_no_other():
    """At most 1 of 1,000 may."""
    rng = np.random.default_rng(4)
    for _ in range(effort(15, 75)):
        k, n, rows = (int(rng.choice(each)) for each in ([1, 5, 10], [43, 50, 200], [2, 5, 15, 60]))
        digits, low = int(rng.choice([2, 3, 4])), rng.uniform(0, 0.9)
        assert list(wholes_in(column(f"P@{k}", rng.random(rows), digits), n)) == []
        assert list(wholes_in(column(f"P@{k}", low + rng.random(rows) / 10, digits), n)) == []
        assert all(
            each.matches_heading for each in wholes_in(column(f"P@{k}", counts(rng, rows, k * n), digits), n)
        )


@pytest.mark.thorough
def test_the_audit_says_so_of_a_column_that_nothing_explains():
    """The column is P@15 under the heading P@10; a real P@10 is not reported."""
    rng = np.random.default_rng(5)
    qrels = {f"q{n}": {f"d{doc}": 1 for doc in rng.choice(60, 20, replace=False)} for n in range(50)}
    runs = {
        f"run{n}": {
            q: {f"d{doc}": -float(rank) for rank, doc in enumerate(rng.permutation(60))} for q in qrels
        }
        for n in range(9)
    }
    values = [pm.calc_aggregate(["P@15"], qrels, run).popitem()[1] for run in runs.values()]
    others = counts(rng, 9, 500)  # P@10 of other runs, as the heading says
    said = []
    for column in (values, others):
        table = {name: {"P@10": f"{value:.4f}"} for name, value in zip(runs, column, strict=True)}
        said.append(pm.audit(qrels, runs, table).counts)
    [[line], nothing] = said
    assert "all 9 rows are multiples of 1/750, as P@15 over 50 topics or P@10 over 75 topics" in line
    assert nothing == []


@pytest.mark.parametrize(("digits", "told"), [(9, [500]), (10, [])])
def test_numbers_with_up_to_nine_digits_tell(digits, told):
    rows = column("P@10", counts(np.random.default_rng(2), 8, 500), digits)
    assert [whole.total for whole in wholes_in(rows, 50)] == told


def test_0_and_1_tell_nothing():
    rng = np.random.default_rng(6)
    for rows in [*range(3, 8)] * 3:
        values = counts(rng, rows, 750)
        alone, beside = (wholes_in(column("P@10", each), 50) for each in (values, [*values, 0.0, 1.0]))
        assert [each.total for each in alone] == [each.total for each in beside]
