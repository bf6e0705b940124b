"""Test surely significant differences against adversarial runs, and the reasons for all others."""

import csv
import io
import json
import os
import re
from decimal import Decimal
from math import inf, sqrt
from pathlib import Path

import numpy as np
import pytest
from commands import run_cli
from scipy.optimize import linprog
from scipy.stats import t as student
from scipy.stats import ttest_rel
from simulations.differences import at_random, trec8

import permed_measures as pm
from permed_measures.comparison.tests import t_test
from permed_measures.corrections import CORRECTIONS
from permed_measures.engine.groups import factorized
from permed_measures.feasibility.differences import Units, _rounded_up, least_t

CORNERS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
"""The values of two runs for a query: mixtures of these make D² as large as possible."""


def adversary(higher, lower, n):
    """Compute t for the mixture of values with the largest mean of D² that the means allow."""
    inside = np.array([[x, y] for x in np.linspace(0, 1, 6) for y in np.linspace(0, 1, 6)])
    values = np.vstack([CORNERS, inside])
    squares = (values[:, 0] - values[:, 1]) ** 2
    found = linprog(
        -squares, A_eq=np.vstack([np.ones(len(values)), values.T]), b_eq=[1, higher, lower], method="highs"
    )
    variance = -found.fun - (higher - lower) ** 2
    return sqrt(n - 1) * (higher - lower) / sqrt(variance) if variance > 1e-12 else inf


@pytest.mark.parametrize("n", [2, 50, 3440])
def test_no_mixture_of_values_has_a_smaller_t_and_one_has_it(n):
    rng = np.random.default_rng(n)
    for lower, higher in np.sort(rng.random((40, 2)), axis=1).tolist():
        assert adversary(higher, lower, n) == pytest.approx(least_t(higher, lower, Units(n, n)), rel=1e-7)


def of_counts(both, first, second, neither):
    """Make the values of two runs, 0 or 1, from the number of queries of each kind."""
    return np.repeat(CORNERS[[3, 2, 1, 0]], [both, first, second, neither], axis=0).T


@pytest.mark.parametrize(("both", "first", "second", "neither"), [(0, 30, 12, 58), (40, 35, 25, 0)])
def test_the_bound_is_reached_by_runs_of_hits_that_exclude_each_other(both, first, second, neither):
    x, y = of_counts(both, first, second, neither)
    assert least_t(x.mean(), y.mean(), Units(100, 100)) == pytest.approx(ttest_rel(x, y).statistic, rel=1e-12)


def test_the_bound_by_clusters_is_reached_where_turns_of_a_conversation_are_alike():
    x, y = np.repeat(of_counts(0, 30, 12, 58), 3, axis=1)
    [found] = t_test((x - y)[:, None], np.repeat(np.arange(100), 3))
    assert least_t(x.mean(), y.mean(), Units(300, 100, 3)) == pytest.approx(found.statistic, rel=1e-12)


def random_pair(rng, n):
    """Draw the values of two runs: hits or any values, near each other or not."""
    kind, lift = rng.integers(4), rng.uniform(-0.5, 0.5)
    x = rng.beta(*rng.uniform(0.1, 3, 2), n)
    y = np.clip(x + lift + rng.normal(0, 0.1, n), 0, 1) if kind % 2 else rng.beta(*rng.uniform(0.1, 3, 2), n)
    return (np.round(x), np.round(y)) if kind > 1 else (x, y)


@pytest.mark.parametrize("is_in_clusters", [False, True])
def test_no_pair_of_runs_has_a_smaller_t(is_in_clusters):
    rng, n_near = np.random.default_rng(5), 0
    for _ in range(300):
        n = int(rng.integers(2, 200))
        x, y = random_pair(rng, n)
        cluster = factorized(rng.integers(0, n, n)) if is_in_clusters else np.arange(n)
        sizes = np.bincount(cluster)
        [found] = t_test((x - y)[:, None], cluster)
        if found.statistic:
            bound = least_t(*sorted((x.mean(), y.mean()), reverse=True), Units(n, len(sizes), sizes.max()))
            assert abs(found.statistic) >= bound - 1e-9
            n_near += bound > 1
    assert n_near > 50


def test_without_difference_variance_or_a_second_unit():
    assert least_t(0.5, 0.5, Units(10, 10)) == 0
    assert least_t(0.4, 0.5, Units(10, 10)) == 0
    assert least_t(0.9, 0.1, Units(1, 1)) == 0
    assert least_t(1.0, 0.0, Units(10, 10)) == inf


def adversary_below(ceilings, higher, lower):
    """Compute the largest mean of D² over mixtures, in each query, of the corners below its ceiling."""
    n, corners = len(ceilings), np.array([corner * c for c in ceilings for corner in CORNERS])
    of_query = np.kron(np.eye(n), np.ones(4))
    found = linprog(
        -((corners[:, 0] - corners[:, 1]) ** 2) / n,
        A_eq=np.vstack([of_query, corners.T / n]),
        b_eq=[*np.ones(n), higher, lower],
        method="highs",
    )
    return -found.fun


def test_ceilings_of_queries_give_the_largest_squares():
    rng = np.random.default_rng(8)
    for _ in range(60):
        ceilings = np.sort(rng.choice([0, 0.1, 0.2, 0.5, 0.8, 1], int(rng.integers(2, 12))))[::-1]
        lower, higher = np.sort(rng.random(2) * ceilings.mean()).tolist()
        if higher > lower:
            squares = adversary_below(ceilings, higher, lower)
            t = (higher - lower) * sqrt(99 / (squares - (higher - lower) ** 2))
            assert least_t(higher, lower, Units(100, 100), ceilings) == pytest.approx(t, rel=1e-6)


# --- tables ---


def qrels_of(n, grade=0):
    return {f"q{i}": {"a": 1, "b": grade} for i in range(n)}


def pairs_of(claims, n=200, qrels=None):
    found = pm.possible(qrels or qrels_of(n), claims, differences=True).differences
    return {(each.measure, each.row, each.other): each for each in found.pairs}


def rows(*numbers, measure="P@1"):
    return {f"r{i}": {measure: number} for i, number in enumerate(numbers)}


def test_random_tables_are_never_surely_where_the_test_on_runs_is_not():
    rng, n_surely, n_not = np.random.default_rng(6), 0, 0
    for _ in range(12):
        n, digits = int(rng.integers(20, 400)), int(rng.integers(2, 5))
        runs = np.round(rng.random((4, n)) < rng.uniform(0.05, 0.95, (4, 1)))
        texts = [f"{each:.{digits}f}" for each in runs.mean(axis=1)]
        found = pm.possible(qrels_of(n), rows(*texts), differences=True).differences.pairs
        p = [ttest_rel(runs[int(each.row[1])], runs[int(each.other[1])]).pvalue for each in found]
        exact = CORRECTIONS["holm"](np.nan_to_num(p, nan=1.0))
        for each, of_runs in zip(found, exact.tolist(), strict=True):
            assert each.p_at_most >= of_runs - 1e-9
            n_surely += each.verdict == "surely significant"
            n_not += of_runs <= 0.05
    assert 0 < n_surely < n_not


def test_the_p_of_a_pair_is_that_of_the_least_favourable_means_after_holm():
    pairs = pairs_of(rows("0.9000", "0.5000", "0.5100"))
    t = [
        least_t(0.9 - 5.5e-5, 0.5 + 1e-4, Units(200, 200)),
        least_t(0.9 - 5.5e-5, 0.51 + 1e-4, Units(200, 200)),
    ]
    first, second, third = pairs.values()
    assert first.p_at_most == pytest.approx(3 * 2 * student.sf(t[0], 199), rel=1e-6)
    assert second.p_at_most == pytest.approx(2 * 2 * student.sf(t[1], 199), rel=1e-6)
    assert (first.verdict, second.verdict) == ("surely significant", "surely significant")
    assert (third.verdict, third.why) == ("not decided", "cannot be told from the means")
    assert third.p_at_most > 0.8
    assert (first.difference, third.difference) == (0.4, -0.01)


@pytest.mark.parametrize(
    ("one", "two", "verdict"),
    [
        ("0.2", "0.1", "not decided"),
        ("0.2000", "0.1000", "surely significant"),
        ("0.2000", "0.1", "not decided"),
    ],
)
def test_fewer_digits_say_less(one, two, verdict):
    [pair] = pairs_of(rows(one, two), n=150).values()
    assert pair.verdict == verdict
    assert pair.difference == float(Decimal(one) - Decimal(two))


def test_holm_counts_all_pairs():
    [pair] = pairs_of(rows("0.1450", "0.0700")).values()
    assert pair.verdict == "surely significant"
    pairs = pairs_of(rows("0.1450", "0.0700", "0.1100"))
    assert {each.verdict for each in pairs.values()} == {"not decided"}


@pytest.mark.parametrize(
    ("measure", "numbers", "n", "grade", "why"),
    [
        ("P@1", ("0.90", "0.10"), 1, 0, "a t-test needs two queries"),
        ("P@1", ("0.90", "0.90"), 200, 0, "the means may be the same"),
        ("P@1", ("0.9", "0.8"), 200, 0, "the means may be the same"),
        ("P@1", ("0.90", "0.87"), 200, 0, "cannot be told from the means"),
        ("GradedAP(norm='none')@10", ("0.9", "0.1"), 200, 0, "is not known to be from 0 to 1 for each query"),
        ("VariantNDCG(negative='keep')@10", ("0.9", "0.1"), 200, 0, "is not known to be from 0 to 1"),
        ("nDCG@10", ("-0.5", "0.9"), 200, 0, "nDCG@10 -0.5 is not the mean of any run"),
        ("nDCG@10", ("90.1", "10.2"), 200, 0, "nDCG@10 90.1 may be above 1 if it is not normalized; if"),
        ("nDCG@10", ("0.90", "0.10"), 200, -1, "if these grades gain nothing, call it VariantNDCG@10"),
    ],
)
def test_what_is_not_decided_is_not_and_why(measure, numbers, n, grade, why):
    [pair] = pairs_of(rows(*numbers, measure=measure), qrels=qrels_of(n, grade)).values()
    assert pair.verdict == "not decided"
    assert why in pair.why


@pytest.mark.parametrize(
    ("measure", "numbers", "grade"),
    [
        ("nDCG@10", ("90.1%", "10.2%"), 0),
        ("nDCG@10 (%)", ("90.1", "10.2"), 0),
        ("P@10", ("90.1", "10.2"), 0),
        ("VariantNDCG@10", ("0.90", "0.10"), -1),
        ("nDCG@10", ("0.90", "0.10"), 0),
        ("MAP", ("0.90", "0.10"), -1),
    ],
)
def test_what_a_reason_advises_is_decided(measure, numbers, grade):
    [pair] = pairs_of(rows(*numbers, measure=measure), qrels=qrels_of(200, grade)).values()
    assert (pair.verdict, pair.why) == ("surely significant", "")


def test_the_least_favourable_reading_counts():
    """0.9 beside 53.57 may be in percent or not."""
    [pair] = pairs_of({"r0": {"P@1": "0.9"}, "r1": {"P@1": "53.57"}}).values()
    assert (pair.verdict, pair.why) == ("not decided", "the means may be the same")


def test_a_measure_that_is_named_whole_has_its_ceilings():
    """With one relevant document P@10 is at most 0.1 if it is divided by 10; a loose name may not be."""
    [loose] = pairs_of(rows("0.0700", "0.0500", measure="P@10")).values()
    assert loose.verdict == "not decided"
    [whole] = pairs_of(rows("0.0700", "0.0500", measure="P(rel=1)@10")).values()
    assert whole.verdict == "surely significant"
    hits = np.vstack([np.r_[np.ones(140), np.zeros(60)], np.r_[np.zeros(100), np.ones(100)]]) / 10
    p = ttest_rel(*hits).pvalue  # of hits that exclude each other as far as they can
    assert p <= whole.p_at_most <= 1.5 * p
    [above] = pairs_of(rows("0.2000", "0.0500", measure="P(rel=1)@10")).values()
    assert above.why == "P(rel=1)@10 0.2000 is not the mean of any run"


def test_conversations_of_a_data_set_are_one_unit_each():
    claims = rows("0.9375", "0.5625")
    result = pm.possible("permed-sample", claims, differences=True)
    units = result.differences.units
    assert units.name == "conversation_id"
    assert units.n_units < units.n_queries == result.n_queries
    [pair] = result.differences.pairs
    assert pair.p_at_most > pairs_of(claims, n=units.n_queries)["P@1", "r0", "r1"].p_at_most
    text = " ".join(str(result).split())
    assert f"at most {units.largest} in each" in text
    assert "cluster-robust t-test" in text


def test_only_rows_of_one_measure_and_one_part_of_a_file_are_pairs(tmp_path):
    assert [*pairs_of({"a": {"P@1": "0.9", "MAP": "0.5"}, "b": {"P@1": "0.1"}})] == [("P@1", "a", "b")]
    (tmp_path / "t.md").write_text(
        "| run | P@1 |\n|---|---|\n| a | 0.90 |\n| b | 0.10 |\n\nAnother table:\n\n"
        "| run | P@1 |\n|---|---|\n| c | 0.90 |\n| d | 0.20 |\n"
    )
    found = pm.possible(qrels_of(200), tmp_path / "t.md", differences=True).differences
    assert [(each.row, each.other) for each in found.pairs] == [("a", "b"), ("c", "d")]


@pytest.mark.parametrize("claims", [{"P@1": "0.5"}, {"a": {"P@1": "0.5"}, "b": {"MAP": "0.5"}}])
def test_a_row_alone_has_no_differences(claims):
    with pytest.raises(pm.InputError, match="differences need two rows with a number of the same measure"):
        pm.possible(qrels_of(9), claims, differences=True)


# --- reports ---


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [
        f"{query} 0 {doc} {grade}" for query, docs in qrels_of(200).items() for doc, grade in docs.items()
    ]
    (tmp_path / "qrels").write_text("\n".join(lines) + "\n")
    (tmp_path / "table.md").write_text(
        "| run | P@1 |\n|---|---|\n| bm25 | 0.500 |\n| ours | **0.900** |\n| theirs | 0.510 |\n"
    )


ASKED = ("possible", "qrels", "--claims", "table.md", "--differences")


@pytest.mark.usefixtures("table")
def test_the_command_says_what_is_sure_in_80_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    stdout, _ = run_cli(*ASKED)
    assert max(map(len, stdout.splitlines())) <= 80
    lines = [" ".join(line.split()) for line in stdout.splitlines()]
    assert "P@1: 2 of 3 pairs surely significant." in lines
    assert "P@1 bm25 ours surely -0.4 0.0001" in lines
    assert any(line.startswith("P@1 bm25 theirs cannot be told -0.01 0.") for line in lines)
    text = " ".join(lines)
    assert "for any two runs with these means over the same queries (200 queries), if each" in text
    assert "two-sided paired t-test at 0.05 after Holm's correction" in text
    assert "not significant" not in text
    assert "Differences" not in run_cli(*ASKED[:-1])[0]


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize("form", ["markdown", "latex", "html", "tsv", "jsonl"])
def test_every_format_has_the_pairs(form):
    stdout, _ = run_cli(*ASKED, "--format", form)
    assert stdout.count("surely") >= 2  # two pairs


@pytest.mark.usefixtures("table")
def test_other_programs_get_every_pair():
    content = json.loads(run_cli(*ASKED, "--format", "json")[0])
    first, second, _ = content["differences"]
    assert first.items() >= {"measure": "P@1", "row": "bm25", "other": "ours", "difference": -0.4}.items()
    assert (first["verdict"], second["verdict"]) == ("surely significant", "not decided")
    assert first["p_at_most"] < 1e-6
    assert second["why"] == "cannot be told from the means"
    assert any("any two runs" in each for each in content["provenance"]["conventions"])
    lines = [*csv.DictReader(io.StringIO(run_cli(*ASKED, "--format", "csv")[0]))]
    assert [*lines[0]] == ["measure", "row", "other", "difference", "verdict", "p_at_most", "why"]
    assert [each["verdict"] for each in lines] == [each["verdict"] for each in content["differences"]]
    result = pm.possible("qrels", "table.md", differences=True)
    assert result.to_polars().to_dicts() == content["differences"]
    assert "differences" not in json.loads(run_cli(*ASKED[:-1], "--format", "json")[0])


def test_the_report_says_why_a_measure_is_not_decided():
    claims = {f"r{i}": {"P@1": each, "nDCG@10": each} for i, each in enumerate(("0.90", "0.10"))}
    text = " ".join(str(pm.possible(qrels_of(200, -1), claims, differences=True)).split())
    assert (
        "Not decided: nDCG@10 may be below 0: some programs keep the negative grades of the qrels; if" in text
    )
    assert "nDCG@10: 0 of 1 pair surely significant." in text
    assert "Not decided" not in str(pm.possible(qrels_of(200), claims, differences=True))


def test_ids_that_look_like_turns_are_noted():
    turns = {f"{i}_{turn}": {"a": 1} for i in range(100) for turn in (1, 2)}
    text = " ".join(str(pm.possible(turns, rows("0.90", "0.10"), differences=True)).split())
    assert "queries are treated as independent; if '0_1' and '0_2' are turns of one conversation" in text
    assert "independent" not in str(pm.possible(turns, rows("0.90", "0.10")))
    advised = re.search(r"set clusters to '(\S+)'", text)[1]
    result = pm.possible(turns, rows("0.90", "0.10"), differences=True, clusters=advised)
    assert (result.differences.units.n_units, result.differences.units.largest) == (100, 2)
    assert "independent" not in str(result)


@pytest.mark.usefixtures("table")
def test_clusters_are_those_of_differences():
    assert "in each" not in " ".join(run_cli(*ASKED)[0].split())
    text = " ".join(run_cli(*ASKED, "--clusters", "(.+).$")[0].split())
    assert "at most 10 in each" in text
    with pytest.raises(pm.InputError, match="clusters are only for the test of differences"):
        run_cli(*ASKED[:-1], "--clusters", "(.+).$")


def test_the_guide_says_how_far_rows_are_apart():
    """Another test runs its commands, with those of the other pages."""
    path = Path(__file__).parents[2] / "notebooks" / "guide" / "what-tables-tell.md"
    page = " ".join(path.read_text(encoding="utf-8").split())
    said = re.search(
        r"differ by 0\.1417, and m is 0\.2875\..* t is at least ([\d.]+) over the 3,440 turns, "
        r"and at least ([\d.]+) over the 800 conversations of at most six turns\..*"
        r"differ by 0\.0032, and t is at least ([\d.]+) over the turns",
        page,
    )
    higher, turns, conversations = 0.9271 - 1e-4, Units(3440, 3440), Units(3440, 800, 6)
    bounds = [
        *(least_t(higher, 0.7854 + 1e-4, units) for units in (turns, conversations)),
        least_t(higher, 0.9239 + 1e-4, turns),
    ]
    for bound, number in zip(bounds, map(float, said.groups()), strict=True):
        assert bound - 0.1 < number <= bound


def test_many_pairs_are_summed_up_and_the_clearest_shown():
    result = pm.possible(qrels_of(200), rows(*(f"0.{i}0" for i in range(1, 9))), differences=True)
    text = str(result)
    n_surely = sum(each.verdict == "surely significant" for each in result.differences.pairs)
    assert f"P@1: {n_surely} of 28 pairs surely significant." in text
    assert "The 20 pairs with the smallest p are shown; CSV and JSON have all." in text
    assert text.count("\nP@1 ") == 20


@pytest.mark.parametrize(
    ("p", "text"), [(1e-9, "0.0001"), (0.00321, "0.0033"), (0.05004, "0.0501"), (None, "—")]
)
def test_a_bound_of_p_is_rounded_up(p, text):
    assert _rounded_up(p) == text


# --- simulations ---


@pytest.mark.thorough
def test_random_pairs_are_never_falsely_sure(capsys):
    at_random(300)
    assert re.search(r"all +\d+ pairs +\d+ by runs +[1-9]\d* surely +0 falsely", capsys.readouterr().out)


@pytest.mark.thorough
@pytest.mark.skipif("PERMED_DATA" not in os.environ, reason="needs PERMED_DATA")
def test_rows_of_trec_8_are_never_falsely_sure(capsys):
    trec8(Path(os.environ["PERMED_DATA"]), every=8)
    assert re.search(r"all +544 pairs +\d+ by runs +[1-9]\d* surely +0 falsely", capsys.readouterr().out)
