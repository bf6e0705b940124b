"""Our values against pytrec_eval's, and the report of it."""

import ast
import json
import math
import os
import random
import shutil
import subprocess
import warnings
from dataclasses import fields
from importlib.metadata import version

import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pytest
from cases import random_case
from commands import run_cli, run_main, run_python
from effort import effort

import permed_measures as pm
from permed_measures import crosschecks
from permed_measures.crosschecks import DEFAULT_MEASURES, MeasureAgreement
from permed_measures.engine.judgments import divide, sums
from permed_measures.engine.kernels import KERNELS

QRELS = {"q1": {"a": 2, "b": 1, "c": 0, "d": 1}, "q2": {"a": 1, "e": 0}}
RUN = {"q1": {"b": 4.0, "x": 3.0, "a": 2.0, "c": 1.0}, "q2": {"e": 2.0, "a": 1.0}}
TIED = {"q1": {"a": 1.0, "b": 1.0, "x": 1.0, "y": 0.5}, "q2": {"a": 2.0, "e": 2.0}}
GRADED = pm.GradedAP @ 10


def row_of(measure, qrels=QRELS, run=RUN):
    [row] = pm.crosscheck(qrels, run, [measure]).rows
    return row


def said(result):
    return " ".join(str(result).split())


def test_all_default_measures_agree_on_random_cases():
    rng = random.Random(4)
    compared = 0
    for _ in range(effort(20, 50)):
        qrels, run = random_case(rng)
        qrels = {q: {d: min(int(g), 2) for d, g in docs.items()} for q, docs in qrels.items()}
        if not set(qrels) & set(run):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pm.PermedWarning)
            result = pm.crosscheck(qrels, run)
        assert result.ok, str(result)
        assert [row.measure for row in result.rows] == list(DEFAULT_MEASURES)
        assert all((row.verdict == "agrees") == (row.measure != GRADED) for row in result.rows), str(result)
        compared += sum(row.queries for row in result.rows)
    assert compared > effort(700, 1800)


NAMED_OTHERWISE = """F1@3 F1(rel=2)@2 F1(judged_only=True)@5
    Coverage@1 Coverage(rel=2) nDCG(dcg='exp-log2')@10 VariantNDCG(judged_only=True)@3
    RR@1 AP(rel=2)@3 VariantNDCG(gain='linear') IPrec@0.25 SetF(beta=0.5) nDCG(gains={1:3,2:1})@2 NumRet"""


@pytest.mark.parametrize("measure", NAMED_OTHERWISE.split())
def test_what_pytrec_eval_has_under_any_name_agrees(measure):
    row = row_of(measure)
    assert (row.verdict, row.queries) == ("agrees", 2)
    assert row.largest_difference <= 1e-12
    assert row.value == pytest.approx(row.pytrec_eval)


ABSENT = "pytrec_eval does not have it"
MEMORY = "pytrec_eval reserves memory up to the highest gain, here above 2,000"


@pytest.mark.parametrize(
    ("measure", "reason", "grade"),
    [
        *((name, ABSENT, 1) for name in ("GradedAP@10", "QMeasure(beta=0)", "GAP", "Judged@10", "ERR@10")),
        *(
            (name, ABSENT, 1)
            for name in ("RBP(rel=1)", "VariantNDCG(discount='jk')", "Coverage(rel=1.5)", "F1(rel=1.5)@3")
        ),
        ("IPrec@0.333", "pytrec_eval takes two digits", 1),
        ("Coverage(rel=0)", "pytrec_eval takes a rel from 1 to 2147483647", 1),
        ("nDCG(gains={1:0.5})", "pytrec_eval takes whole gains only", 1),
        ("AP", "pytrec_eval takes whole grades only", 1.5),
        ("nDCG@5", MEMORY, 2001),
        ("nDCG@5", MEMORY, 2**40),
        ("nDCG(dcg='exp-log2')@5", MEMORY, 40),
    ],
)
def test_what_is_not_compared_is_said_and_does_not_count_as_agreement(measure, reason, grade):
    qrels = {"q": {"a": grade, "b": 0}}
    result = pm.crosscheck(qrels, {"q": {"a": 1.0}}, [measure])
    [row] = result.rows
    assert (row.verdict, row.reason, result.ok) == ("not compared", reason, True)
    assert math.isnan(row.pytrec_eval)
    assert (row.queries, row.differing) == (0, 0)
    assert said(result).startswith("No measure was compared")
    assert f"Not compared: {measure} ({reason})." in said(result)


def test_the_highest_grade_that_is_compared():
    assert row_of("nDCG@5", {"q": {"a": 2000, "b": 1}}, {"q": {"b": 1.0}}).verdict == "agrees"


# --- it can fail -----------------------------------------------------------------------------------


def test_a_wrong_denominator_is_named(monkeypatch):
    def over_found(rankings, *, cutoff, rel, judged_only):
        hits = rankings.relevant(rel, cutoff, judged_only)
        found = sums(hits.query, None, rankings.n_queries)
        return divide(sums(hits.query, hits.found / hits.rank, rankings.n_queries), found)

    monkeypatch.setitem(KERNELS, "AP", over_found)
    result = pm.crosscheck(QRELS, RUN, ["AP@10", "P@1"])
    assert not result.ok
    wrong, right = result.rows
    assert (wrong.verdict, right.verdict) == ("differs", "agrees")
    assert (wrong.differing, wrong.query_id, wrong.values) == (1, "q1", pytest.approx((5 / 6, 5 / 9)))
    assert said(result).startswith("pytrec_eval differs on 1 of 2 measures, on 2 queries")
    assert "Expected: the mean over all orders of equal scores, each as likely." in said(result)
    worst = "AP@10 differs on 1 of 2 queries, most on 'q1': ours 0.833333, pytrec_eval 0.555556"
    assert worst in said(result)
    [[table], *_] = (each.tables for each in result.report().sections)
    assert [row[0].text for row in table.rows] == ["AP@10"]  # only what differs
    assert "Agrees: P@1." in said(result)
    assert not pm.crosscheck(QRELS, RUN, ["RR"]).report().sections[0].tables


@pytest.mark.parametrize(
    ("qrels", "run", "measure"),
    [
        ({"q": {"a": 1}}, {"z": {"a": 1.0}}, "RR"),
        ({"q": {"a": -1}}, {"q": {"a": 1.0}}, "RR"),
        ({"q": {"a": 1}}, {"q": {"a": 1.0}}, "Bpref(rel=3)"),
    ],
)
@pytest.mark.filterwarnings("ignore::permed_measures.PermedWarning")
def test_agreement_needs_a_query_that_both_computed(qrels, run, measure):
    result = pm.crosscheck(qrels, run, [measure])
    [row] = result.rows
    assert (row.reason, row.queries) == ("there is no query that both compute", 0)
    assert said(result).startswith("No measure was compared.")
    both = pm.crosscheck({**qrels, "r": {"a": 2}}, {**run, "r": {"a": 1.0}}, [measure, "P@1"])
    assert [each.verdict for each in both.rows] == ["agrees", "agrees"]
    least = both.rows[0].queries
    assert least == 1
    numbers = "1 query" if both.rows[1].queries == 1 else "1 to 2 queries"
    assert said(both).startswith(f"pytrec_eval agrees on 2 measures, on {numbers} (largest difference 0)")


def test_equal_values_agree_however_little_is_tolerated(monkeypatch):
    monkeypatch.setattr(crosschecks, "AGREEMENT", 0.0)
    assert row_of("P@1").verdict == "agrees"


def test_what_is_said_of_all_runs_is_said_once():
    line = "crosscheck permed-sample permed-sample/runs -m P@1 -m AP@10"
    status, out, _ = run_main(*line.split())
    assert (status, out.count("Agrees: P@1 and AP@10."), out.count("─")) == (0, 1, 0)
    assert out.count("Ties, ") == 1  # only bm25 has scores whose order matters
    assert len(out.splitlines()) < 12


# --- ties ------------------------------------------------------------------------------------------


def test_the_range_of_ties_is_that_worked_by_hand():
    """Check the range: q1 has a (2), b (1) and x tied at the top, q2 has a (1) and e (0).

    trec_eval ranks x b a y, so RR is 1/2, and e before a, 1/2. Best: 1 and 1; worst: x or e first, 1/2.
    """
    row = row_of("RR", run=TIED)
    assert (row.value, row.ties) == (0.5, (0.5, 1.0))
    row = row_of("P@1", run=TIED)
    assert (row.value, row.ties) == (0.0, (0.0, 1.0))


def test_the_mean_over_orders_is_that_worked_by_hand():
    """Check the mean: of q1 the first is relevant with 2/3, else the second; of q2 each is first with 1/2."""
    assert row_of("RR", run=TIED).ties_expected == pytest.approx(((2 / 3 + 1 / 6) + (1 / 2 + 1 / 4)) / 2)
    assert row_of("P@1", run=TIED).ties_expected == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert row_of("NumRet", run=TIED).ties_expected == 6  # the sum of a count, as its value
    assert row_of("infAP", run=TIED).ties_expected is None
    assert row_of("infAP").ties_expected == row_of("infAP").value  # no scores are equal
    result = pm.crosscheck(QRELS, TIED, ["RR", "P@1", "infAP"])
    orders = "Ties, the least and the most over the orders of equal scores"
    found = [f"{row.ties[0]:.4f} to {row.ties[1]:.4f}" for row in result.rows]
    said_of_each = f"RR {found[0]} (0.7917), P@1 {found[1]} (0.5833) and infAP {found[2]}*"
    assert f"{orders}, in parentheses the mean over all of them: {said_of_each}." in said(result)
    assert "in parentheses" not in said(pm.crosscheck(QRELS, TIED, ["infAP"]))


def test_a_star_says_that_other_orders_may_go_beyond():
    qrels, run = {"q": {"a": 1, "b": 2, "c": 2}}, {"q": dict.fromkeys("abcx", 1.0)}
    result = pm.crosscheck(qrels, run, ["GradedAP@3", "AP"])
    assert [row.ties_exact for row in result.rows] == [False, True]
    note = "*: as ranked, lowest and highest grade first; other orders may go beyond"
    assert note in said(result)
    assert note not in said(pm.crosscheck(qrels, run, ["AP", "GradedAP"]))
    assert "Ties, the least and the most over the orders of equal scores, in parentheses" in said(result)
    assert "orders of equal scores" not in said(pm.crosscheck(QRELS, RUN))  # there are none


# --- what pytrec_eval cannot take ------------------------------------------------------------------


def test_queries_that_pytrec_eval_cannot_take_are_scored_by_us_alone(monkeypatch):
    qrels = {"bad": {"d": -1, "e": -2}, "good": {"d": 1}, "empty": {"d": 1}, "missing": {"d": 1}}
    run = {"bad": {"d": 1.0}, "good": {"d": 1.0}, "empty": {}, "unjudged": {"x": 1.0}}
    result = pm.crosscheck(qrels, run)
    assert (result.ok, result.n_queries, result.alone) == (True, 4, 3)
    assert {row.queries for row in result.rows if row.measure != GRADED} == {1}
    assert "4 judged queries, 3 of them scored by us alone" in str(result)
    assert pm.crosscheck({"q": {"d": 0}}, {"q": {"d": 1.0}}, ["P@1"]).alone == 0  # it takes grades of 0 alone
    empty = {"q": {"d": 1}, "none": {}}, {"q": {"d": 1.0}, "none": {"d": 1.0}}
    assert pm.crosscheck(*empty, ["P@1"]).alone == 1
    # Of bpref also those without a document of the level or one below; of other measures these count.
    given, compute = [], ir_measures.pytrec_eval.iter_calc
    monkeypatch.setattr(
        ir_measures.pytrec_eval, "iter_calc", lambda *args: (given.append(len(args[1])), compute(*args))[1]
    )
    assert [row.queries for row in pm.crosscheck(QRELS, RUN, ["Bpref(rel=3)", "P(rel=3)@1"]).rows] == [1, 2]
    assert given == [1, 2]


@pytest.mark.parametrize(
    ("grade", "measures", "alone"),
    [
        (1.5, None, 3),
        (1, ["GradedAP@10", "GAP"], 3),
        (1, ["GradedAP@10", "RR"], 1),
        (1, None, 1),
        (1.5, ["P@1"], 3),
    ],
)
def test_where_no_measure_is_compared_all_queries_are_scored_by_us_alone(grade, measures, alone):
    qrels = {"a": {"d": grade}, "b": {"d": 1, "e": 0}, "not in the run": {"d": 1}}
    result = pm.crosscheck(qrels, {"a": {"d": 7.5}, "b": {"d": 9.25}}, measures)
    assert result.alone == alone
    assert f"3 judged queries, {alone} of them scored by us alone" in str(result)


HAZARDS = """
import warnings, permed_measures as pm
warnings.simplefilter("ignore")
fine, fine_run = {"d": 1, "e": 0}, {"d": 2.0, "e": 1.0}
cases = [
    ({"q": {"d": -1}}, {"q": {"d": 1.0}}),
    ({"a": fine, "q": {"d": -2}}, {"a": fine_run, "q": {"d": 1.0}}),
    ({"q": fine}, {"q": {}}),
    ({"no query": fine}, {"no query": fine_run}),
    ({"a": fine, "no_query": fine}, {"a": fine_run, "no_query": fine_run}),
    ({"a\\0b": fine, "a\\0c": fine}, {"a\\0b": fine_run, "a\\0c": fine_run}),
    ({"q": {"d\\0b": 1, "d": 2}}, {"q": {"d\\0b": 1.0, "d": 2.0}}),
    ({"q": fine}, {"q": {"\\ud800": 1.0, "d": 0.5}}),
    ({"\\ud800": fine}, {"\\ud800": fine_run}),
    ({"q": {"d": 10**6}}, {"q": {"d": 1.0}}),
    ({"q": {"d": 2**62}}, {"q": {"d": 1.0}}),
    ({"q": {"d": -(2**70), "e": 1}}, {"q": {"d": 1.0, "e": 0.5}}),
]
measures = ["AP", "nDCG", "nDCG@5", "Bpref", "Bpref(rel=1000000)", "IPrec@0.0"]
for qrels, run in cases:
    for _ in range(3):
        result = pm.crosscheck(qrels, run, measures)
        assert result.ok, str(result)
print(len(cases))
"""


def test_no_known_hazard_ends_the_process():
    assert run_python(HAZARDS) == "12\n"


def test_ids_and_numbers_of_other_types_are_converted():
    qrels = {1: {10: np.int64(1), 11: np.int32(0)}}
    run = pd.DataFrame({"query_id": [1, 1], "doc_id": [10, 11], "score": np.float32([1, 2])})
    for given in (run, pl.from_pandas(run), {1: {10: np.float32(1), 11: 2}}):
        result = pm.crosscheck(qrels, given, ["AP", "nDCG@10"])
        assert result.ok
        assert [row.queries for row in result.rows] == [1, 1]


def test_without_a_measure_there_is_nothing_to_compare():
    with pytest.raises(pm.InputError, match="there is no measure to compare"):
        pm.crosscheck(QRELS, RUN, [])


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("qrels", "run", "n_queries"),
    [
        ("litsearch/query_to_texts.jsonl", "litsearch/runs/bm25.jsonl", 597),
        ("medcorpus/query_to_texts.jsonl", "medcorpus/query_to_texts.jsonl", 3440),
    ],
)
def test_real_data_agree(data, qrels, run, n_queries):
    result = pm.crosscheck(pm.read_qrels(data / qrels), pm.read_run(data / run))
    compared = [row for row in result.rows if row.measure != GRADED]
    assert all(row.verdict == "agrees" for row in compared), str(result)
    assert max(row.largest_difference for row in compared) <= 1e-12
    assert {row.queries for row in compared} == {n_queries - result.alone}


# --- report ----------------------------------------------------------------------------------------


def test_a_frame_has_a_row_for_each_measure():
    result = pm.crosscheck(QRELS, RUN, ["P@1", "GradedAP@10"])
    frame = result.to_polars()
    assert {*frame.columns} == {each.name for each in fields(MeasureAgreement)} - {"ties", "values"} | {
        *("verdict", "ties_low", "ties_high")
    }
    assert frame["measure"].to_list() == ["P@1", "GradedAP@10"]
    assert frame["pytrec_eval"].to_list() == [0.5, None]
    assert repr(result) == "<CrossCheck: pytrec_eval agrees on 1 measure, 2 judged queries: P@1, GradedAP@10>"


def test_json_says_where_its_numbers_come_from(tmp_path):
    qrels, run = tmp_path / "qrels", tmp_path / "run.trec"
    qrels.write_text("q1 0 a 1\n")
    run.write_text("q1 Q0 a 1 2 t\nq1 Q0 b 2 2 t\n")
    stdout, _ = run_cli(
        "crosscheck", qrels, run, f"again={run}", "-m", "P@1", "-m", "Judged@5", "--format", "json"
    )
    content = json.loads(stdout, parse_constant=pytest.fail)
    assert [each["run"] for each in content["runs"]] == ["run", "again"]
    expected = pm.crosscheck(pm.read_qrels(qrels), pm.read_run(run), ["P@1", "Judged@5"])
    assert content["runs"][0]["measures"] == expected.to_polars().to_dicts()
    assert (content["runs"][0]["queries"], content["runs"][0]["alone"]) == (1, 0)
    assert content["provenance"]["versions"]["pytrec-eval-terrier"] == version("pytrec-eval-terrier")


IN_GERMAN = """
import locale, permed_measures as pm
locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
qrels, run = {"q": {"a": 1, "b": 1}, "r": {"a": 1}}, {"q": {"x": 3.5, "a": 2.5}, "r": {"a": 1.5}}
measures = ["IPrec@0.25", "SetF(beta=0.5)", "SetF(beta=2.0)", "AP", "nDCG@10"]
def said():
    return {str(row.measure): row.reason or row.verdict for row in pm.crosscheck(qrels, run, measures).rows}
print(said())
assert pm.crosscheck(qrels, run).ok
locale.setlocale(locale.LC_NUMERIC, "C")
print({*said().values()})
"""


@pytest.mark.skipif(not shutil.which("localedef"), reason="localedef makes the locale")
def test_decimals_are_not_compared_where_the_locale_writes_them_with_a_comma(tmp_path):
    made = ["localedef", "-i", "de_DE", "-f", "UTF-8", tmp_path / "de_DE.UTF-8"]
    if subprocess.run(made, capture_output=True, check=False).returncode > 1:
        pytest.skip("there are no sources of locales")
    lines = run_python(IN_GERMAN, env={**os.environ, "LOCPATH": str(tmp_path)}).splitlines()
    found = ast.literal_eval(lines[0])
    reason = (
        "pytrec_eval reads decimals by the locale of the process, which writes them with ','; "
        "locale.setlocale(locale.LC_NUMERIC, 'C') lets it compare this measure"
    )
    assert [found[name] for name in ("IPrec@0.25", "SetF(beta=0.5)")] == [reason] * 2
    assert [found[name] for name in ("SetF(beta=2.0)", "AP", "nDCG@10")] == ["agrees"] * 3
    assert lines[1] == "{'agrees'}"


def test_what_has_no_decimals_is_compared_in_any_locale(monkeypatch):
    monkeypatch.setattr(crosschecks, "localeconv", lambda: {"decimal_point": ","})
    rows = pm.crosscheck(QRELS, RUN).rows
    assert [str(row.measure) for row in rows if "the locale" in row.reason] == ["IPrec@0.1"]
    assert {row.verdict for row in rows if row.measure.NAME in ("AP", "SetF", "nDCG", "P")} == {"agrees"}
