"""Claims: loose names, full names, digits, percent, and texts that are not claims."""

import math
from collections import Counter
from decimal import Decimal

import numpy as np
import pytest

import permed_measures as pm
from permed_measures.conventions.named import COMMUNITY
from permed_measures.conventions.options import with_value
from permed_measures.datasets import SAMPLES
from permed_measures.published_tables import cells, claims
from permed_measures.published_tables.cells import printed_in
from permed_measures.published_tables.claims import parse_claims

ANY_DEPTH = (None, 10, 100, 1000)


LOOSE = [
    ("ndcg", "nDCG", ANY_DEPTH),
    ("nDCG@10", "nDCG", (10, None)),
    (" p@5 ", "P", (5,)),
    ("mrr", "RR", ANY_DEPTH),
    ("coverage 10", "Success", (10,)),
    ("nDCG (10)", "nDCG", (10, None)),
    ("MAP@all", "AP", (None,)),
    ("hit@10 (%)", "Success", (10,)),
    ("cosine_accuracy@1", "Success", (1,)),
    ("ndcg_burges@10", "nDCG", (10, None)),
    ("R_cap@10", "R", (10,)),
    ("nDCG\uff20\uff11\uff10", "nDCG", (10, None)),
    ("P@1\uff08%\uff09", "P", (1,)),
    ("**MAP@10**", "AP", (10, None)),
    ("NDCG@1k", "nDCG", (1000, None)),
    ("MRR@10(dev)", "RR", (10, None)),
    ("Precision (k=10)", "P", (10,)),
    ("准确率\uff2010", "P", (10,)),
    ("归一化折损累计增益@10 ↑", "nDCG", (10, None)),
    ("前10命中率", "Success", (10,)),
    ("F1@10", "F1", ((10, 10),)),
    ("F-measure (20)", "F1", ((20, 20),)),
    ("F1", "F1", tuple((k, k) for k in (10, 1, 3, 5, 20, 50, 100))),
]


@pytest.mark.parametrize(("name", "measure", "cutoffs"), LOOSE)
def test_loose_names_are_read(name, measure, cutoffs):
    [[claim]] = parse_claims([{name: "0.5"}])
    assert (claim.name, claim.measure, claim.cutoffs, claim.is_fully_specified) == (
        name,
        measure,
        cutoffs,
        False,
    )


@pytest.mark.parametrize(
    "name",
    [
        "VariantNDCG(negative='keep')@10",
        "GradedAP(norm='ideal')@10",
        "P(judged_only=True)@5",
        "Rprec",
        "QMeasure@10",
        "RBP(rel=1,p=0.5)@20",
        "IPrec@0.1",
        "NumRet",
        ("bpref", "Bpref"),
        ("R-Prec", "Rprec"),
        ("qmeasure@10", "QMeasure@10"),
        ("gradedap(norm='ideal')@10", "GradedAP(norm='ideal')@10"),
        ("Q度量@10", "QMeasure@10"),
    ],
)
def test_measures_that_are_written_out_are_taken_as_they_are(name):
    qrels, run = pm.read_qrels(SAMPLES[0].qrels), pm.read_run(SAMPLES[0].runs["bm25"])
    name, typed = name if isinstance(name, tuple) else (name, name)
    measure = pm.parse_measure(typed)
    [value] = pm.calc_aggregate([measure], qrels, run).values()
    text = f"{value:.0f}" if typed.startswith("Num") else f"{value:.4f}"
    result = pm.audit(qrels, run, {name: text})
    [trial] = result.trials
    assert trial.claim.is_fully_specified
    assert result.answers[0].changes == []
    assert trial.value(result.answers[0].convention) == pytest.approx(value, abs=1e-12)
    assert trial.measure_string(result.answers[0].convention) == str(measure)


def test_a_number_above_1_is_read_in_percent_and_as_it_stands():
    """2.00 is AP without a denominator, or 2 % as AP at grade 2: one query of 50 has such a document."""
    qrels = {f"q{i}": {"a": 1 + (i == 0), "b": 1} for i in range(50)}
    run = {query: {"a": 2.0, "b": 1.0} for query in qrels}
    [trial] = pm.audit(qrels, run, {"MAP@10": "2.00"}).trials
    undivided, strict = (
        with_value(COMMUNITY.with_cutoffs([trial]), *each)
        for each in (("denominator", "none"), ("level", 2.0))
    )
    assert (trial.prints(undivided), trial.prints(strict)) == (True, True)
    assert [round(trial.value(each), 9) for each in (undivided, strict)] == [2.0, 0.02]
    for text in ("2.00%", "0.0200"):
        [trial] = pm.audit(qrels, run, {"MAP@10": text}).trials
        assert (trial.prints(undivided), trial.prints(strict)) == (False, True)
    result = pm.audit(qrels, run, {"MAP@10": "2.00", "MAP@1": "1.00"})
    assert result.answers[0].options["denominator"] == "none"


def test_f1_may_have_the_cutoffs_of_p_and_r_beside_it():
    [row] = parse_claims([{"P@10": "0.5", "R@20": "0.4", "F1@10": "0.4"}])
    assert [claim.cutoffs for claim in row] == [(10,), (20,), ((10, 10), (10, 20))]


def test_a_number_below_1_is_in_percent_too_where_others_of_the_table_are():
    """P@1 is 1.5 percent in one row and 0.5 in the other."""
    qrels = {f"q{i}": {"a": 1} for i in range(200)}
    runs = {name: {f"q{i}": {"a": 1.0} for i in range(n)} for name, n in (("more", 3), ("less", 1))}
    result = pm.audit(qrels, runs, {"more": {"P@1": "1.5"}, "less": {"P@1": "0.5"}})
    assert [answer.name for answer in result.answers][:1] == ["ir_measures"]
    assert [trial.claim.percent for trial in result.trials] == [True, True]
    assert not pm.audit(qrels, runs, {"more": {"P@1": "1.5"}, "less": {"P@1": "0.6"}}).ok
    assert not pm.audit(qrels, runs["less"], {"P@1": "0.5"}).ok
    counts = pm.audit(qrels, runs["less"], {"P@1": "0.5%", "NumRet": "1", "R@1": "0.005"})
    assert [claim.claim.percent for claim in counts.trials] == [True, False, False]
    assert counts.ok


@pytest.mark.parametrize("text", ["0.0000", "0%", "-0.5", "-50"])
def test_a_claim_of_0_or_less_that_nothing_prints_has_nearest_values(text):
    result = pm.audit({"q1": {"a": 1}}, {"q1": {"a": 1.0}}, {"P@1": text, "MAP@1": text})
    assert not result.ok
    assert len(result.nearest) == 2


@pytest.mark.parametrize(
    ("value", "number", "decimals", "percent"),
    [
        ("0.9044", "0.9044", 4, False),
        (0.57, "0.57", 2, False),
        (0.5357, "0.5357", 4, False),
        (Decimal("0.5357"), "0.5357", 4, False),
        (1, "1", 0, False),
        ("90.44%", "0.9044", 4, True),
        ("0.5%", "0.005", 3, True),
        ("100", "1", 2, True),
        ("-0.0123", "-0.0123", 4, False),
        (".5357", "0.5357", 4, False),
        ("1e-3", "0.001", 3, False),
        (1e-05, "0.00001", 5, False),
        ("0.123456789012345", "0.123456789012345", 15, False),
        ("0.5357 ‡*", "0.5357", 4, False),
        ("53.57%*", "0.5357", 4, True),
        ("▲0.5357", "0.5357", 4, False),
        ("53,57 %", "0.5357", 4, True),
        ("0.5357 ± 0.01", "0.5357", 4, False),
    ],
)
def test_numbers_are_read(value, number, decimals, percent):
    [[claim]] = parse_claims([{"MAP@10": value}])
    assert (claim.value, claim.decimals, claim.percent) == (Decimal(number), decimals, percent)


def test_numbers_that_are_no_texts_have_the_digits_of_the_longest_of_the_table():
    rows = parse_claims([{"MAP@10": 0.57, "R@5": "0.5"}, {"P@1": 0.9279}])
    found = [(claim.text, claim.decimals) for row in rows for claim in row]
    assert found == [("0.5700", 4), ("0.5", 1), ("0.9279", 4)]


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        ({}, "there are no claims; give them as {'MAP@10': 0.5357}"),
        (
            {"MPA@10": 0.5},
            "'MPA@10' (there is no measure 'MPA'). Did you mean 'MAP'?",
        ),
        ({"VariantNDCG(gain='cube')@10": 0.5}, "gain"),
        ({"P": 0.5}, "P needs a cutoff (found 'P'). Write P@10"),
        ({"MAP@10": "high"}, "claim 'MAP@10': a claim must be a number (found 'high')"),
        ({"MAP@10": "5 of 7"}, "a claim must be a number (found '5 of 7'). Write it as 0.5357 or 53.57%"),
        ({"MAP@10": "[0.51, 0.53]"}, "a claim must be a number (found '[0.51, 0.53]')"),
        ({"MAP@10": "0.1234567890123456"}, "a claim can have at most 15 digits after the point"),
        ({"MAP@10": "\u0660.\u0665"}, "claim 'MAP@10': a claim must be a number"),
        ({"MAP (%)": "150"}, "claim 'MAP (%)': a value is at most 1, or 100 percent (found '150')"),
        ({"NumRet": "1000000000001"}, "claim 'NumRet': a count is at most 1,000,000,000,000 (found '1"),
        ({"P@all": 0.5}, "P needs a cutoff (found 'P@all'). Write P@10"),
        ({"nDCG (0)": 0.5}, "a cutoff must be at least 1 (found 'nDCG (0)')"),
        ({"R-Prec@10": 0.5}, "Rprec has no parameter 'cutoff'"),
        ({"↑": 0.5}, "no measure is known by the name ''"),
        ({"MAP@10": math.nan}, "claim 'MAP@10': a claim must be a number (found nan)"),
        ({"MAP@10": True}, "claim 'MAP@10': a claim must be a number (found True)"),
        ({"MAP@10": "100.1"}, "claim 'MAP@10': a value is at most 1, or 100 percent (found '100.1')"),
        ({10: 0.5}, "the name of a claim must be a string (found 10)"),
        ([("MAP@10", 0.5)], "claims must be a mapping, such as {'MAP@10': 0.5357}, or a path (found list)"),
        (None, "claims must be a mapping, such as {'MAP@10': 0.5357}, or a path (found NoneType)"),
    ],
)
def test_what_is_wrong_with_a_claim_is_said(claims, message):
    with pytest.raises(pm.PermedError) as caught:
        pm.audit({"q1": {"a": 1}}, {"q1": {"a": 1.0}}, claims)
    assert message in str(caught.value)


def test_the_largest_count_may_be_claimed():
    [[claim]] = parse_claims([{"NumRet": "1000000000000"}])
    assert claim.value == 10**12


def test_a_claim_of_0_beside_one_in_percent_is_read_without_a_warning():
    qrels, run = {f"q{i}": {"a": 1} for i in range(4)}, {f"q{i}": {"b": 2.0, "a": 1.0} for i in range(4)}
    result = pm.audit(qrels, run, {"P@1": "0", "MAP@10": "50%", "hit@2": "100"})  # warnings are errors
    assert result.ok
    [[zero]] = parse_claims([{"P@1": "0"}])
    assert (zero.distance(np.array([0.0])), zero.distance(np.array([0.5]))) == (0, 1)
    [[half]] = parse_claims([{"P@1": "0.5"}])
    assert half.distance(np.array([0.7, np.nan, 0.4])) == pytest.approx(0.2)
    assert half.distance(np.array([1.0])) == half.distance(np.array([0.25])) == 0.5


@pytest.mark.parametrize(
    ("text", "value", "slip"),
    [
        ("0.1481", 0.14819, "cut off, not rounded, this gives 0.1481"),
        ("14.82%", 0.148146, "rounded twice, this gives 14.82%"),
        ("0.1481", 0.1483, ""),
        ("0.301", 0.30199999999999994, ""),  # 151 of 500, added up
        ("0.302", 0.30299999999999994, ""),
        ("0.301", 0.3019999, "cut off, not rounded, this gives 0.301"),
        ("-0.301", -0.30199999999999994, ""),
        ("-0.301", -0.3019, "cut off, not rounded, this gives -0.301"),
        ("0.301", -0.3019, ""),
        ("0.302", 0.3025, "cut off, not rounded, this gives 0.302"),
        ("0.303", 0.30245, "rounded twice, this gives 0.303"),
        ("0.303", 0.30244, ""),
    ],
)
def test_a_slip_of_rounding_is_named(text, value, slip):
    [[claim]] = parse_claims([{"P@1": text}])
    assert claim.rounding_error_kind(value) == slip


def test_each_number_of_a_file_is_parsed_once(tmp_path, monkeypatch):
    rows = [f"run {n},0.5{n}1,0.4{n}2" for n in range(4)]
    (tmp_path / "paper.csv").write_text("\n".join(["run,P@1,MAP@10", *rows]))
    parsed = Counter()

    def parse(text):
        parsed[text] += 1
        return printed_in(text)

    for module in (cells, claims):
        monkeypatch.setattr(module, "printed_in", parse)
    result = pm.possible({"q": {"a": 1}}, tmp_path / "paper.csv")
    assert [claim.text for claim in result.rows[-1].claims] == ["0.531", "0.432"]
    assert [parsed[text] for text in ("0.531", "0.432", "0.521", "0.422")] == [1, 1, 1, 1]
