"""Compare bounds of unprinted measures with all rankings of few documents, and with random runs."""

import csv
import io
import json
import os
import random
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from commands import run_cli
from effort import effort
from scipy.optimize import linprog
from simulations.bounds import at_random, deep_learning, litsearch, trec8

import permed_measures as pm
from permed_measures.feasibility.unprinted import _rounded
from permed_measures.published_tables.claims import parse_claims

NUMBERS = [1, 1, 2, 3, 3, 3, 2, 1]
"""The number of relevant documents of each query."""
QRELS = {f"q{i}": {f"d{j}": 1 for j in range(n)} for i, n in enumerate(NUMBERS)}


def by_hand(name, ranks, n_relevant):
    """Compute a measure of a ranking from the ranks of its relevant documents."""
    kind, _, k = name.partition("@")
    within = [rank for rank in ranks if not k or rank <= int(k)]
    if kind == "Rprec":
        return sum(rank <= n_relevant for rank in ranks) / n_relevant
    if kind == "P":
        return len(within) / int(k)
    if kind == "R":
        return len(within) / n_relevant
    if kind == "RR":
        return 1 / min(within) if within else 0.0
    if kind == "AP":
        return sum((i + 1) / rank for i, rank in enumerate(within)) / n_relevant
    ideal = range(1, (min(n_relevant, int(k)) if k else n_relevant) + 1)
    gains = [sum(1 / np.log2(rank + 1) for rank in some) for some in (within, ideal)]
    return gains[0] / gains[1]


def ends_of(claim):
    """Find the minimum and maximum that print as a claim; for P and Rprec they are counts of hits."""
    kind, _, k = claim.name.partition("@")
    if kind not in ("P", "Rprec"):
        return claim.rounding_or_truncation.ends
    total = len(NUMBERS) * int(k or 6)
    hits = [n / total for n in range(total + 1) if n / total in claim.rounding_or_truncation]
    return hits[0], hits[-1]


def by_all_rankings(row, hidden, deepest):
    """Find the minimum and maximum of a measure over all mixtures of rankings that have a row."""
    [claims] = parse_claims([row])
    columns, query = [], []
    for i, n_relevant in enumerate(NUMBERS):
        for n in range(n_relevant + 1):
            for ranks in combinations(range(1, deepest + 1), n):
                columns.append([by_hand(name, ranks, n_relevant) for name in [*row, hidden]])
                query.append(i)
    values, ends = np.array(columns).T / len(NUMBERS), [*map(ends_of, claims)]
    found = []
    for sign in (1, -1):
        solved = linprog(
            sign * values[-1],
            A_ub=np.vstack([values[:-1], -values[:-1]]),
            b_ub=[*(high for _, high in ends), *(-low for low, _ in ends)],
            A_eq=np.equal.outer(range(len(NUMBERS)), query).astype(float),
            b_eq=np.ones(len(NUMBERS)),
        )
        found.append(sign * solved.fun if solved.status == 0 else None)
    return found


def bound_of(row, hidden, qrels=QRELS, **options):
    [found] = pm.possible(qrels, row, bound=hidden, **options).bounds.found
    return found


PRINTED = {
    "R@2": ["nDCG@3", "RR@3"],
    "AP@3": ["nDCG@4", "RR@2"],
    "nDCG@2": ["AP(rel=1)@4", "RR@3"],
    "RR@4": ["nDCG@2"],
    "AP": ["nDCG@4", "RR@2"],
    "Rprec": ["P@2", "nDCG@4"],
    "nDCG@4": ["Rprec", "P@1"],
    "P@4": ["Rprec", "AP(rel=1)@5"],
}


@pytest.mark.parametrize("hidden", PRINTED)
@pytest.mark.parametrize("depth", [None, 3])
def test_bounds_are_those_of_all_rankings(hidden, depth):
    """Only AP goes on below rank 4, as far as all documents can stand below the others."""
    rng = np.random.default_rng(len(hidden))
    deepest = depth or 7
    for _ in range(effort(1, 4)):
        lists = [sorted(rng.choice(deepest, rng.integers(n + 1), replace=False) + 1) for n in NUMBERS]
        printed = PRINTED[hidden]
        means = [
            np.mean(
                [by_hand(name.replace("(rel=1)", ""), *each) for each in zip(lists, NUMBERS, strict=True)]
            )
            for name in printed
        ]
        row = {name: f"{mean:.3f}" for name, mean in zip(printed, means, strict=True)}
        plain = {name.replace("(rel=1)", ""): text for name, text in row.items()}
        low, high = by_all_rankings(plain, hidden, deepest)
        found = bound_of(row, hidden, depth=depth)
        assert low - 1.1e-4 <= found.low <= low + 1e-9
        assert high - 1e-9 <= found.high <= high + 1.1e-4


@pytest.mark.filterwarnings("ignore::permed_measures.PermedWarning")
def test_rows_of_random_runs_lie_within_their_bounds():
    tally = at_random(random.Random(3), effort(3, 9))
    assert (tally.missed, tally.wrong) == (0, 0)
    assert np.mean(tally.widths) < 0.7


def test_r_precision_of_a_paper_may_be_of_strict_labels():
    """Of three documents of grade 2 and four relevant ones, one or two are within the first R ranks."""
    qrels = {"q": {"a": 2, "b": 2, "c": 2, "d": 1}}
    for text, ok in (("0.3333", True), ("0.2500", True), ("0.5000", True), ("0.2000", False)):
        assert pm.possible(qrels, {"P@1": "1.0000", "R-Prec": text}).ok == ok
    assert not pm.possible(qrels, {"P@1": "1.0000", "Rprec(rel=2)": "0.2500"}).ok


def test_few_digits_say_less():
    widths = []
    for text in ("0.7", "0.70", "0.7000"):
        found = bound_of({"nDCG@3": text}, "nDCG@2")
        widths.append(found.high - found.low)
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > widths[1] + 0.01


def test_counts_make_bounds_narrower():
    """P@1 over eight queries has steps of 1/8: 0.6 to 0.7 is 5/8."""
    found = bound_of({"P@1": "0.63"}, "Success@1")
    assert (found.low, found.high) == pytest.approx((5 / 8, 5 / 8), abs=1e-9)


def test_a_measure_that_is_printed_lies_where_it_is_printed():
    """Also without a cutoff, if the ranks below all searched ones are bounded separately."""
    found = bound_of({"MAP": "0.4000", "nDCG": "0.5000"}, "AP(rel=1)")
    assert 0.3998 < found.low < found.high < 0.4002
    assert bound_of({"nDCG": "0.5000"}, "AP").high > 0.45


def test_graded_labels_and_every_usual_convention_count():
    """MAP may be half of it where grades are 1 and 2; a name that says how it is computed is not."""
    qrels = {f"q{i}": {"a": 2, "b": 1, "c": 1} for i in range(10)}
    loose, whole, ours = (
        bound_of({name: "0.3000"}, "AP@10", qrels) for name in ("MAP@10", "AP(rel=1)@10", "GradedAP@10")
    )
    assert (whole.low, whole.high) == pytest.approx((0.3, 0.3), abs=3e-4)
    assert loose.low == pytest.approx(whole.low)
    assert loose.high == pytest.approx(ours.high)
    assert ours.high > 0.4


def test_negative_grades_of_a_measure_that_uses_them():
    qrels = {f"q{i}": {"a": 2, "b": 1, "c": -1} for i in range(10)}
    run = {query: {"c": 3.0, "a": 2.0, "b": 1.0} for query in qrels}
    hidden = "VariantNDCG(negative='keep')@3"
    true = pm.calc_aggregate([hidden, "nDCG@3"], qrels, run)
    keep, usual = true.values()
    found = bound_of({"nDCG@3": f"{usual:.4f}"}, hidden, qrels)
    assert found.low <= keep <= found.high
    assert found.high - found.low < 0.5


def test_percent_is_read_both_ways_where_nobody_knows():
    """0.9 beside 53.57 may be in percent or not."""
    rows = {"one": {"RR@1": "0.9"}, "other": {"RR@1": "53.57"}}
    one, other = pm.possible(QRELS, rows, bound="RR@1").bounds.found
    assert one.low < 0.01
    assert one.high > 0.89
    assert other.low == pytest.approx(0.5357, abs=1e-3)


# --- depth ---


def test_a_run_of_few_documents_limits_what_goes_on_below():
    row = {"P(rel=1)@1": "0.50"}
    deep, shallow = bound_of(row, "AP"), bound_of(row, "AP", depth=1)
    assert deep.high > shallow.high
    assert bound_of(row, "AP", depth=7).high <= deep.high
    assert bound_of(row, "AP", depth=np.int64(1)) == shallow
    none = bound_of({"R(rel=1)@5": "1.00"}, "AP", depth=1)
    assert none.low is none.high is None
    assert none.why == "no run with at most 1 document for each query has its numbers, computed as usual"
    assert bound_of({"R(rel=1)@5": "1.00"}, "AP", depth=3).why == ""


@pytest.mark.parametrize("depth", [0, -1, 2.5, True])
def test_a_depth_is_a_number_of_documents(depth):
    with pytest.raises(pm.InputError, match="depth must be a whole number of at least 1"):
        pm.possible(QRELS, {"P@1": "0.5"}, bound="R@2", depth=depth)
    with pytest.raises(pm.InputError, match="the depth of runs is only for bounds"):
        pm.possible(QRELS, {"P@1": "0.5"}, depth=10)


def test_the_depth_is_said():
    row = {"nDCG@3": "0.500"}
    assert "returns any number of documents for each query" in said(row, bound="R@2")
    assert "returns at most 100 documents for each query" in said(row, bound="R@2", depth=100)


def said(row, qrels=QRELS, **options):
    return " ".join(str(pm.possible(qrels, row, **options)).split())


# --- rows without bounds ---


def test_a_row_that_no_run_has_is_refuted_without_bounds():
    result = pm.possible(QRELS, {"P@1": "0.0000", "RR@3": "0.9000"}, bound=["R@2", "AP"])
    assert not result.ok
    assert {(each.low, each.high, each.why) for each in result.bounds.found} == {
        (None, None, "no run has its numbers")
    }
    assert "No bounds of row: no run has its numbers." in " ".join(str(result).split())


def test_a_row_that_is_not_computed_as_usual_is_named_as_it_is():
    """MAP counts grade 2 alone, P counts both: the advice of the message is followed."""
    qrels = {f"q{i}": {"a": 2, "b": 1, "c": 1} for i in range(10)}
    row = {"P@3": "1.0000", "MAP@3": "0.3333"}
    assert pm.possible(qrels, row).ok
    found = bound_of(row, "RR(rel=2)@3", qrels)
    assert found.low is None
    assert found.why.endswith("name measures as they were computed, such as AP(rel=2)@10")
    named = bound_of({"P@3": "1.0000", "AP(rel=2)@3": "0.3333"}, "RR(rel=2)@3", qrels)
    assert (named.low, named.high) == pytest.approx((1 / 3, 1 / 3), abs=2e-4)


def test_too_many_lists_make_bounds_wider_or_none(monkeypatch):
    row, exact = {"nDCG@4": "0.500", "RR@4": "0.600"}, {}
    for hidden in ("AP@4", "R@4"):
        exact[hidden] = bound_of(row, hidden)
        assert "may be wider" not in said(row, bound=hidden)
    monkeypatch.setattr("permed_measures.feasibility.bounds.MOST_STEPS", 30)
    for hidden, narrow in exact.items():
        wide = bound_of(row, hidden)
        assert wide.low <= narrow.low + 1e-4
        assert wide.high >= narrow.high - 1e-4
        assert wide.high - wide.low > narrow.high - narrow.low
        assert "1 bound may be wider than necessary, but never too narrow" in said(row, bound=hidden)
    qrels = {query: {**docs, "n": -1} for query, docs in QRELS.items()}
    found = bound_of(row, "VariantNDCG(negative='keep')@4", qrels)
    assert found.why == "there are too many rankings to search in some seconds"


def test_without_effort_bounds_are_wider(monkeypatch):
    row = {"nDCG@4": "0.500", "R@4": "0.604"}
    narrow = bound_of(row, "AP@4")
    monkeypatch.setattr("permed_measures.feasibility.unprinted._BUDGET", 1)
    wide = bound_of(row, "AP@4")
    assert wide.low <= narrow.low <= narrow.high <= wide.high
    assert wide != narrow
    assert "1 bound may be wider than necessary" in said(row, bound="AP@4")


def test_a_claim_that_takes_too_many_lists_is_left_out(monkeypatch):
    """A measure that negative grades can lower must be searched down to its cutoff."""
    monkeypatch.setattr("permed_measures.feasibility.bounds.MOST_STEPS", 60)
    qrels = {query: {**docs, "n": -1} for query, docs in QRELS.items()}
    row = {"P(rel=1)@1": "0.50", "VariantNDCG(negative='keep')@9": "0.40"}
    found = bound_of(row, "Success@1", qrels)
    assert (found.low, found.high) == pytest.approx((0.5, 0.5), abs=1e-4)
    assert "1 bound may be wider than necessary" in said(row, qrels, bound="Success@1")


@pytest.mark.parametrize(
    "measure", ["Bpref", "Rprec(judged_only=True)", "ERR@10", "nDCG(judged_only=True)@10"]
)
def test_what_has_no_formula_is_refused(measure):
    with pytest.raises(pm.MeasureError, match="no bounds are known for"):
        pm.possible(QRELS, {"P@1": "0.5"}, bound=measure)


def test_a_measure_that_is_not_defined_on_the_qrels_is_refused():
    qrels = {f"q{i}": {"a": 3, "b": 1} for i in range(5)}
    with pytest.raises(pm.MeasureError, match="max_rel") as refused:
        pm.possible(qrels, {"P@1": "0.4"}, bound="GradedAP@10")
    assert "max_rel=3" in refused.value.hint
    assert bound_of({"P@1": "0.4"}, "GradedAP(max_rel=3)@10", qrels).high < 1


def test_notes_say_what_a_measure_does_on_these_labels():
    assert "max_rel=1" in " ".join(pm.possible(QRELS, {"P@1": "0.5"}, bound="GradedAP@10").notes)
    assert not pm.possible(QRELS, {"P@1": "0.5"}, bound="GradedAP(max_rel=1)@10").notes


# --- the order of rows ---

ROWS = {
    "low": {"nDCG@3": "0.300", "R@3": "0.396"},
    "mid": {"nDCG@3": "0.310", "R@3": "0.396"},
    "high": {"nDCG@3": "0.800"},
}


def test_rows_are_in_order_where_their_bounds_do_not_meet():
    bounds = pm.possible(QRELS, ROWS, bound="nDCG@2").bounds
    low, mid, high = bounds.found
    assert low.high < high.low
    assert low.high > mid.low
    assert [tuple(order)[1:] for order in bounds.orders()] == [
        ("low", "mid", "cannot be told"),
        ("high", "low", "surely above"),
        ("high", "mid", "surely above"),
    ]
    text = said(ROWS, bound="nDCG@2")
    assert "nDCG@2: the order of 2 of 3 pairs is sure." in text
    assert "nDCG@2 high low and mid 0." in text
    assert "Surely above: the bounds of two rows do not meet." in text
    assert "Where the bounds of two rows meet, their order cannot be told." in text
    pair = {name: ROWS[name] for name in ("low", "high")}
    assert "cannot be told" not in said(pair, bound="nDCG@2")
    assert "Surely above" not in said({name: ROWS[name] for name in ("low", "mid")}, bound="nDCG@2")
    assert "surely" not in said(ROWS["low"], bound="nDCG@2")


def test_rows_of_two_parts_of_a_file_have_no_order(tmp_path):
    (tmp_path / "t.md").write_text(
        "| run | nDCG@3 |\n|---|---|\n| a | 0.900 |\n| b | 0.100 |\n\nAnother table:\n\n"
        "| run | nDCG@3 |\n|---|---|\n| c | 0.900 |\n| d | 0.200 |\n"
    )
    orders = pm.possible(QRELS, tmp_path / "t.md", bound="R@3").bounds.orders()
    assert [(order.row, order.other) for order in orders] == [("a", "b"), ("c", "d")]


@pytest.mark.parametrize(
    ("value", "low", "high"),
    [(0.12341, "0.1234", "0.1235"), (0.5, "0.5000", "0.5000"), (0.0, "0.0000", "0.0000"), (None, "—", "—")],
)
def test_ends_are_rounded_outwards(value, low, high):
    assert (_rounded(value, up=False), _rounded(value, up=True)) == (low, high)


# --- reports ---


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"{query} 0 {doc} {grade}" for query, docs in QRELS.items() for doc, grade in docs.items()]
    (tmp_path / "qrels").write_text("\n".join(lines) + "\n")
    (tmp_path / "table.md").write_text(
        "| run | nDCG@3 | R@3 |\n|---|---|---|\n| low | 0.300 | 0.396 |\n| mid | 0.310 | 0.396 |\n"
        "| high_with_a_long_name_as_papers_have | 0.800 | 0.896 |\n"
    )


ASKED = ("possible", "qrels", "--claims", "table.md", "--bound", "nDCG@2", "--bound", "first=AP@3")


@pytest.mark.usefixtures("table")
def test_the_command_shows_bounds_in_80_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    stdout, _ = run_cli(*ASKED, "--depth", "50")
    assert max(map(len, stdout.splitlines())) <= 80
    text = " ".join(stdout.split())
    assert "at most 50 documents for each query" in text
    assert "nDCG@2: the order of 2 of 3 pairs is sure." in text
    assert "first: the order of" in text
    assert "Bounds" not in run_cli(*ASKED[:4])[0]


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize("form", ["markdown", "latex", "html", "tsv", "jsonl"])
def test_every_format_has_the_bounds(form):
    stdout, _ = run_cli(*ASKED, "--format", form)
    assert stdout.count("first") >= 3  # rows


@pytest.mark.usefixtures("table")
def test_other_programs_get_bounds_and_orders():
    content = json.loads(run_cli(*ASKED, "--format", "json")[0])
    result = pm.possible("qrels", "table.md", bound={"nDCG@2": "nDCG@2", "first": "AP@3"})
    assert [(each["measure"], each["row"]) for each in content["bounds"]] == [
        (each.measure, each.row) for each in result.bounds.found
    ]
    assert [*content["bounds"][0]] == ["row", "measure", "low", "high", "why"]
    assert content["bounds"] == [each._asdict() for each in result.bounds.found]
    assert content["orders"][1] == {
        "measure": "nDCG@2",
        "row": "high_with_a_long_name_as_papers_have",
        "other": "low",
        "verdict": "surely above",
    }
    assert len(content["orders"]) == 6
    assert content["depth"] is None
    assert any("any number of documents" in each for each in content["provenance"]["conventions"])
    lines = [*csv.DictReader(io.StringIO(run_cli(*ASKED, "--format", "csv")[0]))]
    assert [float(each["low"]) for each in lines] == [each["low"] for each in content["bounds"]]
    assert result.to_polars().to_dicts() == content["bounds"]
    assert "bounds" not in json.loads(run_cli(*ASKED[:4], "--format", "json")[0])


@pytest.mark.usefixtures("table")
def test_bounds_and_differences_are_two_tables():
    both = (*ASKED, "--differences")
    assert {"bounds", "orders", "differences"} <= json.loads(run_cli(*both, "--format", "json")[0]).keys()
    text = run_cli(*both)[0]
    assert "at least" in text
    assert "p at most" in text
    with pytest.raises(pm.InputError, match="bounds and differences are two tables"):
        run_cli(*both, "--format", "csv")
    for one in (ASKED, (*ASKED[:4], "--differences")):
        assert run_cli(*one, "--format", "csv")[0].count("\n") > 3


@pytest.mark.usefixtures("table")
def test_several_measures_are_named_one_by_one():
    with pytest.raises(pm.MeasureError, match="--bound takes one measure") as refused:
        run_cli(*ASKED[:4], "--bound", "R@1,R@2")
    advised = refused.value.hint.removeprefix("Name one at a time: ").split()
    stdout, _ = run_cli(*ASKED[:4], *advised, "--format", "csv")
    assert {line.split(",")[1] for line in stdout.splitlines()[1:]} == {"R@1", "R@2"}


# --- real runs ---


@pytest.mark.thorough
@pytest.mark.skipif("PERMED_DATA" not in os.environ, reason="needs PERMED_DATA")
def test_measures_of_public_runs_lie_within_their_bounds():
    data = Path(os.environ["PERMED_DATA"])
    _, tally = next(litsearch(data))  # nDCG@10 from P@10, R@20 and nDCG@20
    assert (tally.n, tally.missed, tally.sure, tally.pairs, tally.wrong) == (7, 0, 21, 21, 0)
    assert np.mean(tally.widths) < 0.0207
    _, tally = next(deep_learning(data, "dl19"))
    assert (tally.n, tally.missed, tally.wrong) == (2, 0, 0)
    _, text = next(trec8(data, every=60))
    assert text.startswith("0 of 3 bounds missed")


def test_a_row_over_other_queries_has_bounds_by_their_qrels_only(tmp_path):
    """The table says of one row that it is about four of the eight queries."""
    table = tmp_path / "table.md"
    table.write_text("| run | queries | P@1 |\n|---|---|---|\n| all | 8 | 0.500 |\n| some | 4 | 0.500 |\n")
    every, some = pm.possible(QRELS, table, bound="RR@10").bounds.found
    assert every.low == pytest.approx(0.5, abs=0.01)
    why = "its means are over 4 queries, and the qrels have 8; give their qrels"
    assert (some.low, some.high, some.why) == (None, None, why)
    of_some = {query: QRELS[query] for query in [*QRELS][:4]}
    [bound] = [each for each in pm.possible(of_some, table, bound="RR@10").bounds.found if each.row == "some"]
    assert bound.low == pytest.approx(0.5, abs=0.01)
