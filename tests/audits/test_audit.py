"""The audit: every convention against plain loops, and what it says of numbers made by a known convention."""

import csv
import html
import json
import math
import random
import re
import sys
from dataclasses import fields, replace
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from functools import cache
from itertools import product

import cases
import numpy as np
import oracle
import pytest
from effort import effort
from typer.testing import CliRunner

import permed_measures as pm
from permed_measures import cli
from permed_measures.audits import options as axes
from permed_measures.audits.choices import APChoice, Choice, LevelChoice, NDCGChoice
from permed_measures.audits.claims import parse_claims
from permed_measures.audits.conventions import COMMUNITY, NAMED, Setting, to_tell
from permed_measures.audits.options import (
    AXES,
    Axis,
    Cutoff,
    Denominator,
    Discount,
    Gain,
    Ideal,
    Labels,
    Negative,
    QuerySet,
    RecallBase,
    SelfMatch,
    Weights,
)
from permed_measures.audits.reports import FORMATS
from permed_measures.audits.run_variants import SETTINGS, place_of
from permed_measures.datasets import SAMPLES
from permed_measures.engine.ranks import TieBreak

MEDICAL, LITERATURE = SAMPLES
PUBLISHED = {
    "keyword": ("0.0112", "0.1583"),
    "bm25": ("0.0534", "0.5683"),
    "neural_embedding": ("0.0529", "0.5844"),
    "single_llm": ("0.0570", "0.5456"),
    "scholarloop_a": ("0.0625", "0.6592"),
}
DEFAULT = Setting()
AP, HALF = APChoice(Denominator.NUM_REL, Weights.BINARY), APChoice(Denominator.NUM_REL, Weights.HALF)


# --- every convention as plain loops -----------------------------------------------------------------


class Plain:
    """Qrels and a run, and the mean of a measure by any convention."""

    def __init__(self, qrels, run):
        self.qrels = {
            Labels.GRADES: qrels,
            Labels.POOL: {query: dict.fromkeys(docs, 1) for query, docs in qrels.items()},
        }
        self.run = run
        self.rankings = {}

    def top(self, labels):
        grades = [grade for docs in self.qrels[labels].values() for grade in docs.values() if grade > 0]
        return max(grades, default=1)

    def levels(self):
        grades = {grade for docs in self.qrels[Labels.GRADES].values() for grade in docs.values()}
        return sorted({1.0, *(float(grade) for grade in grades if grade > 0)})

    def ranking(self, query, setting):
        key = (query, setting.ties, setting.labels, setting.self_match)
        if key not in self.rankings:
            judgments = self.qrels[setting.labels].get(query, {})
            docs = self.run.get(query, {})
            if setting.self_match is SelfMatch.REMOVED:
                docs = {doc: score for doc, score in docs.items() if doc != query}
            order = oracle.rank(docs, setting.ties.value, judgments)
            self.rankings[key] = [(doc, judgments.get(doc)) for doc in order]
        return self.rankings[key]

    def queries(self, setting):
        qrels = self.qrels[setting.labels]
        return {
            QuerySet.QRELS: list(qrels),
            QuerySet.BOTH: [query for query in qrels if query in self.run],
            QuerySet.WITH_RELEVANT: [query for query in qrels if max(qrels[query].values(), default=0) >= 1],
            QuerySet.BOTH_WITH_RELEVANT: [
                q for q in qrels if q in self.run and max(qrels[q].values(), default=0) >= 1
            ],
            QuerySet.RUN: list(self.run),
        }[setting.queries]

    def mean(self, measure, setting, choice, cutoff):
        qrels, top = self.qrels[setting.labels], self.top(setting.labels)
        values = []
        for query in self.queries(setting):
            ranking, judgments = self.ranking(query, setting), qrels.get(query, {})
            values.append(value_of(measure, choice, cutoff, ranking, judgments, top))
        return math.fsum(values) / len(values) if values else math.nan


def value_of(measure, choice, cutoff, ranking, judgments, top):
    """Return the value of one query."""
    if measure == "AP":
        grades = {grade for grade in judgments.values() if grade >= choice.ap_level and grade > 0}
        weight = {
            "binary": lambda _: 1,
            "linear": lambda grade: grade / top,
            "half": lambda grade: grade / 2,
            "exp": lambda grade: (2**grade - 1) / (2**top - 1),
        }[choice.weights.value]
        gains = {grade: weight(grade) for grade in grades}
        norm = choice.denominator.value
        given = {"cutoff": cutoff, "rel": choice.ap_level, "gains": gains, "norm": norm}
        return oracle.graded_average_precision(ranking, judgments, **given)
    if measure == "nDCG":
        params = {each.name: getattr(choice, each.name).value for each in fields(choice)}
        if choice.gain is Gain.BINARY:
            ranking = [(doc, None if grade is None else int(grade >= 1)) for doc, grade in ranking]
            judgments = {doc: int(grade >= 1) for doc, grade in judgments.items()}
            params["gain"] = "linear"
        return oracle.variant_ndcg(ranking, judgments, cutoff=cutoff, **params)
    if measure == "R" and choice.base is RecallBase.MIN:
        found = oracle.found(ranking, cutoff, choice.level, judged_only=False)
        return oracle.ratio(found, min(oracle.num_relevant(judgments, choice.level), cutoff))
    name = {"P": "P", "R": "R", "RR": "RR", "Success": "Success"}[measure]
    return oracle.MEASURES[name](ranking, judgments, cutoff=cutoff, rel=choice.level)


def choices_for(measure, plain, labels=Labels.GRADES):
    """Return all choices that mean something on these labels."""
    levels = plain.levels() if labels is Labels.GRADES else [1.0]  # where all are relevant, there is one
    if measure == "AP":
        found = [APChoice(d, Weights.BINARY, level) for d in Denominator for level in levels]
        found += [APChoice(d, w, 1.0) for d in Denominator for w in Weights if w is not Weights.BINARY]
        return [c for c in found if c.weights is not Weights.HALF or plain.top(labels) <= 2]
    if measure == "nDCG":
        return [
            NDCGChoice(gain, discount, ideal, negative)
            for gain in Gain
            for discount in Discount
            for ideal in Ideal
            for negative in Negative
            if (gain, negative) != (Gain.BINARY, Negative.KEEP)  # gain 1 has no negative grades
        ]
    bases = RecallBase if measure == "R" else [RecallBase.NUM_REL]
    return [LevelChoice(level, base) for level in levels for base in bases]


ALL_SETTINGS = [
    Setting(ties, queries, labels, self_match)
    for ties in TieBreak
    for queries in QuerySet
    for labels in Labels
    for self_match in SelfMatch
]


def small_case(rng):
    """Return qrels and a run that have whatever tells conventions apart."""
    queries = ["q1", "q10", "q2", "9", "ü"]
    grades = rng.choice([[0, 1], [-1, 0, 1, 2], [0, 1, 2, 3], [-2, -1, 0], [0, 0.5, 1, 1.5], [-1, 0, 1, 2]])
    score = rng.choice(cases.SCORES)
    qrels, run = {}, {}
    for query in queries:
        pool = [*cases.DOCUMENTS, query]
        if rng.random() < 0.8:
            judged = rng.sample(pool, rng.randint(1, len(pool)))
            qrels[query] = {doc: rng.choice(grades) for doc in judged}
        if rng.random() < 0.8:
            run[query] = {doc: score(rng) for doc in rng.sample(pool, rng.randint(1, len(pool)))}
    both = rng.choice(queries)
    qrels.setdefault(both, {"d1": rng.choice(grades), both: 1})
    run.setdefault(both, {"d1": 1.0, both: 1.0, "d2": 1.0})
    run["extra"] = {"d1": 1.0}
    if rng.random() < 0.5:
        qrels["none"] = {"d1": 0, "d2": -1 if min(grades) < 0 else 0}
    return qrels, run


CLAIMS = {"MAP@5": "AP", "nDCG@5": "nDCG", "P@3": "P", "R@4": "R", "RR@5": "RR", "hit@2": "Success"}


def computed(audited, setting, choice, cutoff):
    """Return what the audit has for a convention."""
    c, o = audited.table.choices.index(choice), audited.claim.cutoffs.index(cutoff)
    return audited.at(setting, c, o, *place_of(audited.run, setting))


@pytest.mark.parametrize("seed", range(effort(5, 25)))
def test_every_convention_has_the_value_of_plain_loops(seed):
    rng = random.Random(seed)
    qrels, run = small_case(rng)
    plain = Plain(qrels, run)
    [row] = pm.audit(qrels, run, dict.fromkeys(CLAIMS, "0.5000")).rows
    for audited, measure in zip(row.claims, CLAIMS.values(), strict=True):
        assert audited.claim.measure == measure
        for setting in rng.sample(ALL_SETTINGS, 12):
            choices = choices_for(measure, plain, setting.labels)
            for choice in rng.sample(choices, min(len(choices), 6)):
                cutoff = rng.choice(audited.claim.cutoffs)
                expected = plain.mean(measure, setting, choice, cutoff)
                match = computed(audited, setting, choice, cutoff)
                assert match.value == pytest.approx(expected, abs=1e-9, nan_ok=True), match
                assert (match.setting, match.choice, match.cutoff) == (setting, choice, cutoff)


@pytest.mark.parametrize("seed", range(2))
def test_all_conventions_are_tried_and_all_that_print_the_digits_are_matches(seed):
    rng = random.Random(seed)
    qrels, run = small_case(rng)
    plain = Plain(qrels, run)
    for name, measure in [("MAP@5", "AP"), ("nDCG@5", "nDCG"), ("R@4", "R")]:
        values = {
            (setting, choice, cutoff): plain.mean(measure, setting, choice, cutoff)
            for setting in ALL_SETTINGS
            for choice in choices_for(measure, plain, setting.labels)
            for cutoff in ((5, None) if measure == "AP" else (int(name[-1]),))
        }
        target = rng.choice([value for value in values.values() if 0 < value < 1])
        [row] = pm.audit(qrels, run, {name: f"{target:.3f}"}).rows
        [audited] = row.claims
        for convention, value in values.items():
            assert computed(audited, *convention).value == pytest.approx(value, abs=1e-9, nan_ok=True)
        sure = {c for c, value in values.items() if abs(value - float(f"{target:.3f}")) < 0.0005 - 1e-9}
        perhaps = {c for c, value in values.items() if abs(value - float(f"{target:.3f}")) < 0.0005 + 1e-9}
        found = {(match.setting, match.choice, match.cutoff) for match in audited.matches}
        assert sure <= found <= perhaps
        assert len(found) == len(audited.matches) == audited.n_matches
        assert audited.n_tried >= len(values)
        for match in audited.matches:
            assert match.printed == f"{target:.3f}"
        assert audited.simplest in audited.matches


def test_an_empty_query_set_has_no_mean():
    qrels = {"q1": {"a": 0}}
    [row] = pm.audit(qrels, {"q1": {"a": 1.0}}, {"P@1": "0.5"}).rows
    match = computed(row.claims[0], replace(DEFAULT, queries=QuerySet.WITH_RELEVANT), LevelChoice(1.0), 1)
    assert math.isnan(match.value)
    assert [each.printed for each in row.claims[0].nearest] == ["0.0", "1.0"]


@pytest.mark.parametrize("form", cases.FORMS)
def test_every_form_of_qrels_and_run_has_the_same_audit(form):
    rng = random.Random(7)
    qrels, run = small_case(rng)
    claims = dict.fromkeys(CLAIMS, "0.5000")
    [expected] = pm.audit(qrels, run, claims).rows
    make = cases.FORMS[form]
    given = make(cases.rows_of(qrels), "relevance"), make(cases.rows_of(run), "score")
    [row] = pm.audit(*given, claims).rows
    for ours, theirs in zip(row.claims, expected.claims, strict=True):
        assert ours.table.choices == theirs.table.choices
        for setting in rng.sample(ALL_SETTINGS, 12):
            for choice in ours.table.choices:
                a, b = (
                    computed(each, setting, choice, each.claim.cutoffs[0]).value for each in (ours, theirs)
                )
                assert a == pytest.approx(b, abs=1e-12, nan_ok=True)


def test_ids_that_are_integers_are_texts_for_the_document_of_the_query_too():
    qrels, run = {1: {1: 1, 2: 1}}, {1: {1: 3.0, 3: 2.0, 2: 1.0}}
    removed = Setting(self_match=SelfMatch.REMOVED)
    for each in (run, {str(q): docs for q, docs in run.items()}):
        [row] = pm.audit(qrels, each, {"P@1": "0.0"}).rows
        assert computed(row.claims[0], DEFAULT, LevelChoice(1.0), 1).value == 1
        assert computed(row.claims[0], removed, LevelChoice(1.0), 1).value == 0


def test_level_1_is_tried_whatever_the_other_levels():
    grades = [i / 20 for i in range(1, 21)]
    qrels = {"q1": {f"d{i}": grade for i, grade in enumerate(grades)}}
    run = {"q1": {f"d{i}": float(i) for i in range(20)}}
    [row] = pm.audit(qrels, run, {"P@10": "0.1"}).rows
    assert (DEFAULT, LevelChoice(1.0), 10) in [(m.setting, m.choice, m.cutoff) for m in row.claims[0].matches]


@pytest.mark.parametrize("claims", [{"P@1": "1.0"}, {"MAP@10": "1.0"}, {"nDCG@10": "1.0"}])
def test_grades_too_large_for_exponential_gains_do_not_end_the_audit(claims):
    result = pm.audit({"q1": {"a": 1100, "b": 1}}, {"q1": {"a": 2.0, "b": 1.0}}, claims)
    assert result.ok
    for render in FORMATS.values():
        assert render(result)


# --- synthetic claims --------------------------------------------------------------------------------


@cache
def graded(top):
    """Return graded data of depth 50: ties, missing queries, documents with the id of the query."""
    rng = random.Random(top)
    qrels, run = {}, {}
    for i in range(37):
        query = f"q{i}"
        pool = [query, *(f"d{j}" for j in range(119))]
        judged = rng.sample(pool, rng.randint(5, 60))
        grades = [-1, 0] if i in (3, 17) else [-1, 0, 0, 1, 1, *range(2, top + 1)]
        qrels[query] = {doc: rng.choice(grades) for doc in judged}
        if i % 9 != 4:
            docs = rng.sample(pool, 50)
            run[query] = {doc: rng.randrange(25) / 10 + qrels[query].get(doc, 0) / 2 for doc in docs}
    run["extra1"] = run["extra2"] = {"d1": 1.0}
    return qrels, run


@cache
def plain_graded(top):
    return Plain(*graded(top))


def plain_litsearch(data):
    folder = data / "litsearch"
    qrels = pm.read_qrels(folder / "query_to_texts.jsonl")
    return {name: Plain(qrels, pm.read_run(folder / "runs" / f"{name}.jsonl")) for name in PUBLISHED}


@pytest.fixture(scope="module")
def litsearch(data):
    return plain_litsearch(data)


NAMES = {
    "AP": ["MAP@10", "map@20", "MAP", "gradedmap@10", "AP@5"],
    "nDCG": ["nDCG@10", "ndcg_cut_5", "NDCG@20", "ndcg"],
    "P": ["P@10", "P_5", "precision@1"],
    "R": ["R@20", "recall_5", "recall@10"],
    "RR": ["MRR@10", "recip_rank"],
    "Success": ["hit@5", "coverage@10"],
}


def random_claim(rng, plain, measure, setting, choice=None):
    """Return a name, the choice and the cutoff of a number between -1 and 1, and the number."""
    for _ in range(100):
        name = rng.choice(NAMES[measure])
        chosen = choice or rng.choice(choices_for(measure, plain, setting.labels))
        cutoff = rng.choice(parse_claims({name: "0.5"})[0].cutoffs)
        value = plain.mean(measure, setting, chosen, cutoff)
        if abs(value) <= 1:
            return name, chosen, cutoff, value
        choice = None
    raise AssertionError("all values are above 1")


def printed(rng, value):
    """Return a number as somebody might print it."""
    way = rng.randrange(5)
    if way == 0:
        return f"{value:.4f}"
    if way == 1:
        return str(Decimal(str(value)).quantize(Decimal("1.0000"), rounding=ROUND_HALF_UP))
    if way == 2:
        return str(Decimal(str(value)).quantize(Decimal("1.0000"), rounding=ROUND_HALF_EVEN))
    text = f"{value * 100:.2f}"
    return text if way == 3 and abs(float(text)) > 1 else f"{text}%"


def random_setting(rng):
    return rng.choice(ALL_SETTINGS)


def assert_explained(plain, name, text, setting, choice, cutoff):
    [row] = pm.audit(plain.qrels[Labels.GRADES], plain.run, {name: text}).rows
    [audited] = row.claims
    assert row.ok
    assert audited.explained
    matches = [(match.setting, match.choice, match.cutoff) for match in audited.matches]
    assert (setting, choice, cutoff) in matches, (name, text)
    assert {match.printed for match in audited.matches} == {text}


@pytest.mark.parametrize("seed", range(effort(20, 100)))
def test_the_true_convention_of_a_claim_is_among_the_matches_on_litsearch(litsearch, seed):
    rng = random.Random(seed)
    plain = rng.choice(list(litsearch.values()))
    setting, measure = random_setting(rng), rng.choice(list(NAMES))
    name, choice, cutoff, value = random_claim(rng, plain, measure, setting)
    assert_explained(plain, name, printed(rng, value), setting, choice, cutoff)


@pytest.mark.parametrize("seed", range(effort(15, 100)))
def test_the_true_convention_of_a_claim_is_among_the_matches_on_graded_data(seed):
    rng = random.Random(seed)
    plain = plain_graded(3)
    setting, measure = random_setting(rng), rng.choice(list(NAMES))
    name, choice, cutoff, value = random_claim(rng, plain, measure, setting)
    assert_explained(plain, name, printed(rng, value), setting, choice, cutoff)


def test_an_average_precision_that_nothing_divides_may_be_above_1():
    plain = plain_graded(3)
    choice = APChoice(Denominator.NONE, Weights.BINARY, 1.0)
    value = plain.mean("AP", DEFAULT, choice, 10)
    assert value > 1
    assert_explained(plain, "MAP@10", f"{value:.4f}", DEFAULT, choice, 10)


def assert_row_explained(rng, plain, setting):
    claims, true = {}, {}
    for measure in ("AP", "nDCG", rng.choice("PR")):
        name, choice, cutoff, value = random_claim(rng, plain, measure, setting)
        claims[name], true[name] = printed(rng, value), (choice, cutoff)
    result = pm.audit(plain.qrels[Labels.GRADES], plain.run, claims)
    [row] = result.rows
    assert result.ok
    assert row.ok
    assert result.conflicts == []
    for answer in row.answers:
        given = [answer.given(told) for told in answer.claims]
        assert [match.printed for match in given] == list(claims.values())
        for match in given:
            value = plain.mean(match.claim.measure, match.setting, match.choice, match.cutoff)
            assert match.value == pytest.approx(value, abs=1e-9)
            assert match.setting == answer.setting
    for audited in row.claims:
        choice, cutoff = true[audited.claim.name]
        assert computed(audited, setting, choice, cutoff) in audited.matches
    assert str(result)


@pytest.mark.parametrize("seed", range(effort(2, 12)))
def test_a_row_made_by_one_convention_is_explained_on_litsearch(litsearch, seed):
    rng = random.Random(1000 + seed)
    assert_row_explained(rng, rng.choice(list(litsearch.values())), random_setting(rng))


@pytest.mark.parametrize("seed", range(effort(4, 14)))
def test_a_row_made_by_one_convention_is_explained_on_graded_data(seed):
    rng = random.Random(1000 + seed)
    assert_row_explained(rng, plain_graded(rng.choice([1, 2, 3])), random_setting(rng))


ROW = {
    "MAP@10": ("AP", "ap"),
    "nDCG@10": ("nDCG", "ndcg"),
    "P@5": ("P", "level"),
    "R@20": ("R", "level"),
    "MRR@10": ("RR", "level"),
    "hit@1": ("Success", "level"),
}


def row_by(named, plain):
    """Return a row of claims as a convention with a name makes it."""
    return {
        name: f"{plain.mean(m, named.setting, named.choice(family), int(name.split('@')[1])):.4f}"
        for name, (m, family) in ROW.items()
        if named.has(family)
    }


@pytest.mark.parametrize("named", NAMED, ids=lambda named: named.name)
@pytest.mark.parametrize("top", [1, 2])
def test_claims_of_a_named_convention_are_explained_by_its_name(named, top):
    plain = plain_graded(top)
    result = pm.audit(plain.qrels[Labels.GRADES], plain.run, row_by(named, plain))
    assert result.ok
    assert named.name in [answer.name for answer in result.answers]
    for answer in result.answers:
        assert answer.changes == []
        assert answer.setting == answer.named.setting
    assert named.name in str(result)


@pytest.mark.parametrize("named", NAMED, ids=lambda named: named.name)
def test_claims_of_a_named_convention_are_explained_by_its_name_on_litsearch(litsearch, named):
    plain = litsearch["bm25"]
    result = pm.audit(plain.qrels[Labels.GRADES], plain.run, row_by(named, plain))
    assert named.name in [answer.name for answer in result.answers if not answer.changes]


@pytest.mark.parametrize("seed", range(4))
def test_a_mean_of_gdeval_is_explained_by_its_name(seed):
    """It knows a query by its relevant documents, and goes through the run."""
    rng = random.Random(seed)
    documents = [f"d{i}" for i in range(30)]
    qrels = {f"{q}": {doc: rng.choice([0, 1, 2, 3]) for doc in rng.sample(documents, 15)} for q in range(20)}
    qrels |= {f"{q}": dict.fromkeys(documents[:9], 0) for q in (3, 4, 9)}
    run = {f"{q}": {doc: rng.random() for doc in documents} for q in range(5, 25)}
    run["4"] = run["24"]
    values = {}
    for query in run:
        if any(grade > 0 for grade in qrels.get(query, {}).values()):
            ranked = sorted(run[query], key=run[query].__getitem__, reverse=True)[:10]
            gains = [2 ** qrels[query].get(doc, 0) - 1 for doc in ranked]
            ideal = sorted((2**grade - 1 for grade in qrels[query].values()), reverse=True)[:10]
            dcg, best = (sum(g / math.log(i + 2) for i, g in enumerate(each)) for each in (gains, ideal))
            values[query] = dcg / best
    assert len(values) == 14
    result = pm.audit(qrels, run, {"nDCG@10": f"{sum(values.values()) / len(values):.5f}"})
    assert [answer.name for answer in result.answers] == ["gdeval"]
    assert "The mean is taken over the queries of the run that have a relevant document." in str(result)


def test_a_change_of_a_named_convention_is_said():
    plain = plain_graded(2)
    [gdeval] = [named for named in NAMED if named.name == "gdeval"]
    changed = replace(gdeval, choices={"ndcg": replace(gdeval.choice("ndcg"), discount=Discount.ZIPF)})
    result = pm.audit(plain.qrels[Labels.GRADES], plain.run, row_by(changed, plain))
    names = {answer.name: answer.changes for answer in result.answers}
    change = "discount of nDCG: discount 1/i (not: discount 1/log2(i+1))"
    assert names["gdeval with 1 change"] == [change]
    assert f"  change: {change}" in str(pm.audit(*graded(2), row_by(changed, plain)))


# --- the published numbers -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def medcorpus(data):
    labels = data / "medcorpus" / "query_to_texts.jsonl"
    claims = {"NDCG@10": 0.9044, "MAP@10": 0.5357, "P@1": 0.9279}
    return pm.audit(pm.read_qrels(labels), pm.read_run(labels), claims)


def test_medcorpus_numbers_are_made_by_the_standard_of_permed(medcorpus):
    assert medcorpus.ok
    assert medcorpus.conflicts == []
    answer = medcorpus.answers[0]
    assert (answer.name, answer.changes) == ("PerMed standard", [])
    assert answer.choices == {
        "ndcg": NDCGChoice(Gain.EXP, Discount.LOG2, Ideal.QRELS, Negative.KEEP),
        "ap": HALF,
        "level": LevelChoice(1),
    }
    given = [answer.given(told) for told in answer.claims]
    assert [str(match.measure) for match in given] == [
        "VariantNDCG(negative='keep')@10",
        "GradedAP@10",
        "P@1",
    ]
    assert [match.printed for match in given] == ["0.9044", "0.5357", "0.9279"]
    assert [match.value for match in given] == pytest.approx([0.904408875772, 0.535731969113, 0.927906976744])


def test_medcorpus_audit_says_what_would_be_printed_otherwise(medcorpus):
    answer = medcorpus.answers[0]
    otherwise = [
        (axis, value, told.claim.claim.name, match.printed) for axis, value, told, match in answer.otherwise()
    ]
    assert ("negative", Negative.ZERO, "NDCG@10", "0.9045") in otherwise
    assert "  0.9045 for NDCG@10, with negative grades in nDCG: negative grades gain 0\n" in str(medcorpus)


def test_medcorpus_audit_says_what_makes_no_difference(medcorpus):
    alike = medcorpus.answers[0].alike()
    assert alike["denominator"] == [Denominator.NUM_REL, Denominator.MIN, Denominator.NUM_REL_RET]
    assert alike["cutoff of MAP@10"] == [Cutoff(10), Cutoff(None)]
    assert "negative" not in alike
    assert "gain" not in alike
    [line] = [line for line in str(medcorpus).splitlines() if line.startswith("  denominator of AP: ")]
    said = (
        "the number of relevant documents / the smaller of that number and the cutoff / "
        "the number of relevant documents found within the cutoff; to tell, it takes a query with more "
        "relevant documents than the cutoff; or a relevant document that is not found within the cutoff"
    )
    assert said in line
    text = str(medcorpus)
    for part in ("VariantNDCG(negative='keep')@10", "GradedAP@10", "PerMed standard", "all 3,440 queries"):
        assert part in text
    assert "AP is weighted by relevance (g/2: 1.0 for grade 2, 0.5 for grade 1) and divided by" in text
    assert re.search(r"(?:\d\d|[5-9]),\d{3} conventions were computed", text)


def litsearch_audit(litsearch, **changed):
    claims = {name: dict(zip(("P@10", "R@20"), texts, strict=True)) for name, texts in PUBLISHED.items()}
    for name, row in changed.items():
        claims[name].update(row)
    qrels = litsearch["bm25"].qrels[Labels.GRADES]
    return pm.audit(qrels, {name: plain.run for name, plain in litsearch.items()}, claims)


def test_litsearch_numbers_are_explained_by_the_default(litsearch):
    result = litsearch_audit(litsearch)
    assert result.ok
    assert result.conflicts == []
    answer = result.answers[0]
    assert (answer.name, answer.setting) == ("ir_measures", DEFAULT)
    assert answer.choices == {"level": LevelChoice(1, RecallBase.NUM_REL)}
    assert answer.differences_from_default() == []
    assert "all 597 queries of the qrels" in answer.sentence()
    for row in result.rows:
        given = [answer.given(told) for told in answer.claims if told.row is row]
        assert row.ok
        assert [str(match.measure) for match in given] == ["P@10", "R@20"]
        assert [match.printed for match in given] == list(PUBLISHED[row.name])
    assert "One convention explains all claims: ir_measures\n" in str(result)


def test_litsearch_sentence_says_what_recall_is_divided_by(litsearch):
    result = litsearch_audit(litsearch)
    assert "recall over all relevant documents" in result.answers[0].sentence()


@pytest.mark.parametrize("name", PUBLISHED)
@pytest.mark.parametrize("column", [0, 1])
@pytest.mark.parametrize("step", ["0.0001", "-0.0001"])
def test_a_claim_altered_in_its_last_digit_is_not_explained(litsearch, name, column, step):
    plain, measure = litsearch[name], ("P@10", "R@20")[column]
    altered = dict(zip(("P@10", "R@20"), PUBLISHED[name], strict=True))
    altered[measure] = str(Decimal(PUBLISHED[name][column]) + Decimal(step))
    result = pm.audit(plain.qrels[Labels.GRADES], plain.run, altered)
    assert not result.ok
    audited = result.rows[0].claims[column]
    assert not audited.explained
    assert audited.matches == []
    assert audited.simplest is None
    assert audited.nearest[0].printed == PUBLISHED[name][column]
    assert audited.nearest[0].setting == DEFAULT
    assert f"prints {measure} as {altered[measure]}; nearest\n  {PUBLISHED[name][column]}, {measure}" in str(
        result
    )


def test_an_altered_claim_has_exit_status_1(data, tmp_path):
    folder, table = data / "litsearch", tmp_path / "claims.csv"
    rows = [",".join([name, *texts]) for name, texts in PUBLISHED.items()]
    table.write_text("\n".join(["run,P@10,R@20", *rows]))
    arguments = [folder / "query_to_texts.jsonl", *(folder / "runs" / f"{name}.jsonl" for name in PUBLISHED)]
    stdout = audit_cli(*arguments, "--claims", table)
    assert "One convention explains all claims: ir_measures\n" in stdout
    table.write_text(table.read_text().replace("0.0529", "0.0528"))
    stdout = audit_cli(*arguments, "--claims", table, status=1)
    assert "prints neural_embedding, P@10 as 0.0528; nearest\n  0.0529, P@10" in stdout


# --- tables that were not made in one way --------------------------------------------------------------


@cache
def binary():
    """Return binary labels, some of them 0, and two runs that lack queries."""
    rng = random.Random(5)
    qrels, runs = {}, {"first": {}, "second": {}}
    for i in range(41):
        query = f"q{i}"
        qrels[query] = {f"d{j}": int(rng.random() < 0.4) for j in rng.sample(range(40), 12)}
        for missing, run in enumerate(runs.values(), start=2):
            if i % 7 != missing:
                run[query] = {f"d{j}": rng.random() for j in rng.sample(range(40), 20)}
    return qrels, runs


def row_made(plain, setting, ap, digits=4):
    return {
        "MAP@10": f"{plain.mean('AP', setting, ap, 10):.{digits}f}",
        "P@10": f"{plain.mean('P', setting, LevelChoice(1.0), 10):.{digits}f}",
        "nDCG@10": f"{plain.mean('nDCG', setting, COMMUNITY.choice('ndcg'), 10):.{digits}f}",
    }


@pytest.mark.parametrize(
    ("setting", "ap", "title", "values"),
    [
        (DEFAULT, HALF, "weights of AP", ("1 for each relevant document", "its grade over 2")),
        (
            Setting(queries=QuerySet.BOTH),
            AP,
            "query set",
            ("all queries of the qrels", "the queries of the qrels that the run has"),
        ),
        (
            Setting(labels=Labels.POOL),
            AP,
            "label policy",
            ("grades as they are, negative ones not relevant", "every judged document relevant"),
        ),
    ],
)
def test_rows_that_were_made_differently_are_found(setting, ap, title, values):
    qrels, runs = binary()
    first, second = (Plain(qrels, run) for run in runs.values())
    result = pm.audit(
        qrels, runs, {"first": row_made(first, DEFAULT, AP), "second": row_made(second, setting, ap)}
    )
    assert not result.ok
    assert result.answers == []
    assert [row.ok for row in result.rows] == [True, True]
    head, conflict = result.conflicts
    assert head == "The rows were made differently: no single convention fits all of them"
    [answer] = result.exceptions
    [row] = {told.row.name for told in answer.explained}
    [change] = answer.changes
    usual, other = values if row == "second" else values[::-1]
    assert change.startswith(f"{title}: {other} (not: {usual}")
    assert conflict.startswith(f"{row}, ")
    assert f": made differently, by {change}" in conflict
    assert f"{head}\n  {conflict}\n" in str(result)
    assert json.loads(FORMATS["json"](result))["conflicts"] == result.conflicts
    assert title in FORMATS["markdown"](result)


def test_rows_whose_recall_is_divided_differently_are_found():
    qrels, runs = binary()
    made = zip(runs, (RecallBase.NUM_REL, RecallBase.MIN), strict=True)
    claims = {
        name: {
            f"R@{k}": f"{Plain(qrels, runs[name]).mean('R', DEFAULT, LevelChoice(1.0, b), k):.4f}"
            for k in (2, 3)
        }
        for name, b in made
    }
    result = pm.audit(qrels, runs, claims)
    assert [row.ok for row in result.rows] == [True, True]
    assert not result.ok
    head, conflict = result.conflicts
    assert head == "The rows were made differently: no single convention fits all of them"
    assert conflict == (
        "second, R@2, R@3: made differently, by denominator of recall: recall over the smaller of "
        "their number and the cutoff (not: recall over all relevant documents)"
    )


def test_rows_that_were_made_in_one_way_have_no_conflict():
    qrels, runs = binary()
    for setting in (DEFAULT, Setting(queries=QuerySet.BOTH), Setting(labels=Labels.POOL)):
        claims = {name: row_made(Plain(qrels, run), setting, HALF) for name, run in runs.items()}
        result = pm.audit(qrels, runs, claims)
        assert result.ok
        assert result.conflicts == []


def test_litsearch_with_half_of_average_precision_in_one_row_is_found(litsearch):
    claims = {
        name: {"MAP@10": f"{plain.mean('AP', DEFAULT, HALF if name == 'bm25' else AP, 10):.4f}"}
        for name, plain in litsearch.items()
    }
    qrels = litsearch["bm25"].qrels[Labels.GRADES]
    result = pm.audit(qrels, {name: plain.run for name, plain in litsearch.items()}, claims)
    assert not result.ok
    assert all(row.ok for row in result.rows)
    _, conflict = result.conflicts
    assert conflict.startswith(
        "bm25, MAP@10: made differently, by weights of AP: its grade over 2 (not: 1 for"
    )
    assert "on binary labels that is half of AP" in conflict
    [answer] = result.exceptions
    assert [str(answer.given(told).measure) for told in answer.claims] == ["GradedAP@10"]
    assert [told.row.name for told in result.best[0].explained] == [name for name in claims if name != "bm25"]


def test_a_row_that_nothing_explains_is_told_from_the_others():
    qrels, runs = binary()
    claims = {"first": row_made(Plain(qrels, runs["first"]), DEFAULT, AP), "second": {"P@10": "0.99999"}}
    result = pm.audit(qrels, runs, claims)
    assert [row.ok for row in result.rows] == [True, False]
    assert not result.ok
    assert result.conflicts == []
    assert "No convention prints second, P@10 as 0.99999; nearest" in str(result)


def test_claims_that_are_explained_one_by_one_but_not_together():
    qrels, runs = binary()
    plain = Plain(qrels, runs["first"])
    claims = row_made(plain, DEFAULT, AP)
    claims["P@10"] = row_made(plain, Setting(queries=QuerySet.BOTH), AP)["P@10"]
    result = pm.audit(qrels, runs["first"], claims)
    assert not result.ok
    assert all(claim.explained for claim in result.rows[0].claims)
    head, conflict = result.conflicts
    assert head == "The numbers were made differently: no single convention fits all of them"
    assert conflict == (
        "P@10: made differently, by query set: the queries of the qrels that the run has "
        "(not: all queries of the qrels)"
    )


@pytest.mark.parametrize(
    ("text", "ours", "slip"),
    [
        ("0.14815", "0.14815", ""),
        ("14.82%", "14.81%", "rounded twice it is 14.82%"),
        ("0.1482", "0.1481", "rounded twice it is 0.1482"),
        ("15.0%", "14.8%", ""),
        ("0.1852", "0.1481", ""),
    ],
)
def test_a_slip_of_rounding_is_said(text, ours, slip):
    """P@1 is 4/27, which is 0.14815 with five digits; 5/27 is 0.1852."""
    qrels = {f"q{i}": {"a": 1} for i in range(27)}
    run = {query: {"a" if i < 4 else "b": 1.0} for i, query in enumerate(qrels)}
    result = pm.audit(qrels, run, {"P@1": text, "R@1": "0.1481"})
    assert result.ok == (text == "0.14815")
    line = f"  {ours}, P@1: as by default" + (f"; {slip}" if slip else "")
    assert (line in str(result).splitlines()) != result.ok
    assert ("it is" in str(result)) == bool(slip)


def test_a_number_that_is_cut_off_is_said():
    qrels = {f"q{i}": {"a": 1} for i in range(3)}
    run = {query: {"a" if i < 2 else "b": 1.0} for i, query in enumerate(qrels)}
    assert "  0.667, P@1: as by default; cut off, not rounded, it is 0.666" in str(
        pm.audit(qrels, run, {"P@1": "0.666"})
    )
    assert str(pm.audit(qrels, run, {"NumRet": "999999999999." + "1" * 15}))


def test_a_slip_of_rounding_is_said_of_what_another_convention_explains():
    """P@1 is 12/83 or 0.1446 of all queries, and 0.15 of those in the run."""
    qrels = {f"q{i}": {"a": 1} for i in range(83)}
    run = {f"q{i}": {"a" if i < 12 else "b": 1.0} for i in range(80)}
    others = {"R@1": "0.1446", "MRR": "0.1446"}
    conflict = pm.audit(qrels, run, {"P@1": "0.15", **others}).conflicts[1]
    assert conflict.startswith("P@1: made differently, by query set: ")
    assert conflict.endswith("; or P@1 is 0.14: rounded twice it is 0.15")
    assert "rounded" not in pm.audit(qrels, run, {"P@1": "0.150", **others}).conflicts[1]


def test_an_open_claim_is_shown_as_it_is_by_the_convention_of_the_others():
    plain = plain_graded(2)
    qrels, run = graded(2)
    [permed] = [named for named in NAMED if named.name == "PerMed standard"]
    claims = row_by(permed, plain)
    true = claims["MAP@10"]
    result = pm.audit(qrels, run, {**claims, "MAP@10": "0.9876"})
    assert f"  {true}, GradedAP@10: by the convention of the others" in str(result).splitlines()
    assert "by the convention of the others" not in str(pm.audit(qrels, run, {"MAP@10": "0.9876"}))


def test_a_change_that_would_print_otherwise_is_said_once_for_a_column():
    qrels, run = graded(2)
    rng = random.Random(3)
    runs = {f"run {i}": {q: {d: rng.random() for d in docs} for q, docs in run.items()} for i in range(6)}
    table = {name: row_made(Plain(qrels, each), DEFAULT, AP, 5) for name, each in runs.items()}
    text = str(pm.audit(qrels, runs, table))
    lines = text[text.index("It would print") :].split("\nMakes no")[0].splitlines()[1:]
    said = [re.fullmatch(r"  \S+ for run \d, (\S+), with (.*)", line).groups() for line in lines]
    assert len(set(said)) == len(said)
    assert [[name for name, _ in said].count(name) for name in table["run 0"]] == [3] * len(table["run 0"])


def test_changes_of_an_axis_that_print_the_same_share_a_line():
    qrels = {f"q{i}": {"a": int(i < 4)} for i in range(5)}
    run = {query: {"a": 1.0} for query in qrels}
    line = (
        "  1.0 for P@1, with query set: the queries that have a relevant document / "
        "the queries of the run that have a relevant document"
    )
    assert line in str(pm.audit(qrels, run, {"P@1": "0.8"})).splitlines()


def test_a_run_without_claims_is_left_out_and_claims_without_a_run_are_an_error():
    qrels, runs = binary()
    claims = {"first": row_made(Plain(qrels, runs["first"]), DEFAULT, AP)}
    assert [row.name for row in pm.audit(qrels, runs, claims).rows] == ["first"]
    with pytest.raises(pm.InputError, match="found none named 'third', but 'first', 'second'"):
        pm.audit(qrels, runs, {**claims, "third": {"P@10": 0.5}})
    many = {f"q{i}": {"a": 1.0} for i in range(4000)}
    with pytest.raises(pm.InputError, match=r"none named 'first', but 'q0', .*'q9', \.\.\.\)$"):
        pm.audit(qrels, many, claims)
    with pytest.raises(pm.InputError, match=r"several rows of claims need runs by name \(found list\)"):
        pm.audit(qrels, list(runs.values()), claims)


@pytest.mark.parametrize("name", ["first", "second"])
@pytest.mark.parametrize("measure", ["MAP@10", "P@10", "nDCG@10"])
@pytest.mark.parametrize("ap", [AP, APChoice(Denominator.MIN, Weights.BINARY)])
def test_one_altered_digit_in_a_table_is_no_conflict(name, measure, ap):
    qrels, runs = binary()
    claims = {
        each: row_made(Plain(qrels, run), Setting(queries=QuerySet.BOTH), ap, 7) for each, run in runs.items()
    }
    true = claims[name][measure]
    claims[name][measure] = str(Decimal(true) + Decimal("0.0000001"))
    result = pm.audit(qrels, runs, claims)
    assert not result.ok
    assert [row.ok for row in result.rows] == [row != name for row in runs]
    assert result.conflicts == []
    [exception] = result.exceptions
    assert exception.explained == []
    assert [(told.row.name, told.claim.claim.name) for told in exception.claims] == [(name, measure)]
    assert len(result.best[0].explained) == 5
    assert (result.best[0].setting.queries, result.best[0].choices["ap"]) == (QuerySet.BOTH, ap)
    text = str(result)
    assert "One convention explains 5 of 6 claims: " in text
    assert "made differently" not in text
    unexplained = f"No convention prints {name}, {measure} as {claims[name][measure]}; nearest\n  {true}, "
    assert unexplained in text


@pytest.mark.parametrize(
    ("queries", "said"),
    [
        (QuerySet.QRELS, "The mean is taken over all 41 queries of the qrels."),
        (QuerySet.BOTH, "The mean is taken over the queries of the qrels that the run has."),
    ],
)
def test_the_sentence_is_right_for_a_table_whose_second_row_lacks_queries(queries, said):
    qrels, runs = binary()
    whole = {query: dict.fromkeys(docs, 1.0) for query, docs in qrels.items()}
    runs = {"whole": {**whole, **runs["first"]}, "lacking": runs["second"]}
    setting = Setting(queries=queries)
    result = pm.audit(
        qrels, runs, {name: row_made(Plain(qrels, run), setting, AP) for name, run in runs.items()}
    )
    assert result.ok
    assert result.answers[0].setting.queries is queries
    assert said in result.answers[0].sentence()
    assert not {QuerySet.QRELS, QuerySet.BOTH} <= set(result.answers[0].alike()["queries"])


def row_of_ap(qrels, run, name, cutoff, choice=AP):
    return {name: f"{Plain(qrels, run).mean('AP', DEFAULT, choice, cutoff):.6f}"}


@pytest.mark.parametrize(
    ("name", "cutoff", "change", "said"),
    [
        ("MAP", 10, "cutoff of MAP: 10 (not: none)", "MAP is computed within rank 10."),
        ("MAP@10", None, "cutoff of MAP@10: none (not: 10)", "MAP@10 is computed without a cutoff."),
    ],
)
def test_a_cutoff_that_the_name_does_not_say_is_a_change(name, cutoff, change, said):
    qrels, runs = binary()
    result = pm.audit(qrels, runs, {row: row_of_ap(qrels, run, name, cutoff) for row, run in runs.items()})
    assert result.ok
    answer = result.answers[0]
    assert (answer.name, answer.changes, answer.cutoffs) == (
        "ir_measures with 1 change",
        [change],
        {name: cutoff},
    )
    assert answer.differences_from_default() == [change]
    assert said in answer.sentence()
    assert "cutoff" not in answer.alike()
    assert f"  change: {change}\n" in str(result)
    usual = pm.audit(
        qrels, runs, {row: row_of_ap(qrels, run, name, 30 - (cutoff or 20)) for row, run in runs.items()}
    )
    assert "computed" not in usual.answers[0].sentence()


def test_a_column_whose_rows_have_different_cutoffs_is_found():
    qrels, runs = binary()
    claims = {
        "first": row_of_ap(qrels, runs["first"], "MAP", 10),
        "second": row_of_ap(qrels, runs["second"], "MAP", None),
    }
    result = pm.audit(qrels, runs, claims)
    assert [row.ok for row in result.rows] == [True, True]
    assert not result.ok
    assert (result.best[0].changes, [told.row.name for told in result.best[0].explained]) == ([], ["second"])
    assert result.conflicts[1:] == ["first, MAP: made differently, by cutoff of MAP: 10 (not: none)"]
    claims["third"] = claims["first"]
    claims = {name: {"MAP@10": row["MAP"]} for name, row in claims.items()}
    result = pm.audit(qrels, {**runs, "third": runs["first"]}, claims)
    assert result.conflicts[1:] == ["second, MAP@10: made differently, by cutoff of MAP@10: none (not: 10)"]


@pytest.mark.parametrize(
    "names", [("MAP", "MAP@10"), ("MAP@10", "MAP"), ("MRR", "P@5"), ("P@5", "mrr", "R@5")]
)
def test_names_of_one_family_may_have_several_cutoffs_to_try(names):
    qrels, runs = binary()
    measures = {"MAP": "AP@10", "MAP@10": "AP@10", "MRR": "RR@10", "mrr": "RR@10", "P@5": "P@5", "R@5": "R@5"}
    values = pm.calc_aggregate([measures[name] for name in names], qrels, runs["first"])
    claims = {name: f"{values[pm.parse_measure(measures[name])]:.6f}" for name in names}
    answer = pm.audit(qrels, runs["first"], claims).answers[0]
    assert answer.named is COMMUNITY
    loose = [name for name in names if name in ("MAP", "MRR", "mrr")]
    assert answer.changes == [f"cutoff of {name}: 10 (not: none)" for name in loose]


def test_an_exception_is_told_against_the_cutoff_of_the_others():
    qrels, runs = binary()
    runs = {**runs, "third": {query: dict(sorted(docs.items())) for query, docs in runs["first"].items()}}
    for docs in runs["third"].values():
        docs.update({doc: -score for doc, score in docs.items()})
    claims = {name: row_of_ap(qrels, run, "MAP@10", None) for name, run in runs.items()}
    assert pm.audit(qrels, runs, claims).conflicts == []
    claims["third"] = row_of_ap(qrels, runs["third"], "MAP@10", 10)
    result = pm.audit(qrels, runs, claims)
    assert result.best[0].changes == ["cutoff of MAP@10: none (not: 10)"]
    assert result.conflicts[1:] == ["third, MAP@10: made differently, by cutoff of MAP@10: 10 (not: none)"]


def test_an_exception_keeps_the_cutoff_of_the_others_where_it_makes_no_difference():
    qrels, runs = binary()
    short = {query: dict(list(docs.items())[:8]) for query, docs in runs["first"].items()}
    claims = {name: row_of_ap(qrels, run, "MAP@10", None) for name, run in runs.items()}
    claims["short"] = row_of_ap(qrels, short, "MAP@10", None, HALF)
    result = pm.audit(qrels, {**runs, "short": short}, claims)
    [exception] = result.exceptions
    assert exception.changes == ["weights of AP: its grade over 2 (not: 1 for each relevant document)"]
    assert exception.cutoffs == {"MAP@10": None}


def test_a_change_of_cutoff_counts_as_much_as_another():
    """MAP@1 is 1 without its cutoff, or divided by min(R, 1), but a half as ir_measures has it."""
    qrels, run = {"q1": {"a": 1, "b": 1}}, {"q1": {"a": 2.0, "b": 1.0}}
    result = pm.audit(qrels, run, {"MAP@1": "1.0000"})
    assert [answer.changes for answer in result.best] == [[] for _ in result.best]
    names = [answer.name for answer in result.best]
    assert "sentence-transformers" in names
    assert "ir_measures" not in names
    result = pm.audit(qrels, run, {"MAP@1": "1.0000", "nDCG@1": "1.0000", "MAP": "1.0000", "MAP@2": "1.0000"})
    assert result.best[0].complete


def test_no_answer_is_a_choice_that_means_nothing_on_these_labels():
    qrels, run = graded(3)  # where g/2 would be above 1
    p = Plain(qrels, run).mean("P", DEFAULT, LevelChoice(1.0), 10)
    result = pm.audit(qrels, run, {"P@10": f"{p:.6f}", "MAP@10": "0.0123457"})
    for answer in result.best:
        assert len(answer.explained) == 1
        assert not any(math.isnan(answer.given(told).value) for told in answer.claims)


def test_a_row_that_mixes_conventions_names_the_axis():
    qrels, runs = graded(2)[0], graded(2)[1]
    plain = Plain(qrels, runs)
    claims = {
        "MAP@5": plain.mean("AP", DEFAULT, AP, 5),
        "MAP@10": plain.mean("AP", DEFAULT, AP, 10),
        "MAP@20": plain.mean("AP", DEFAULT, HALF, 20),
        "P@5": plain.mean("P", DEFAULT, LevelChoice(1.0), 5),
        "P@10": plain.mean("P", Setting(labels=Labels.POOL), LevelChoice(1.0), 10),
        "nDCG@10": plain.mean("nDCG", DEFAULT, replace(COMMUNITY.choice("ndcg"), gain=Gain.EXP), 10),
        "nDCG@5": plain.mean("nDCG", DEFAULT, COMMUNITY.choice("ndcg"), 5),
        "nDCG@20": plain.mean("nDCG", DEFAULT, COMMUNITY.choice("ndcg"), 20),
    }
    result = pm.audit(qrels, runs, {name: f"{value:.6f}" for name, value in claims.items()})
    assert not result.ok
    assert all(claim.explained for claim in result.rows[0].claims)
    assert (result.best[0].name, len(result.best[0].explained)) == ("ir_measures", 5)
    head, *conflicts = result.conflicts
    assert head == "The numbers were made differently: no single convention fits all of them"
    assert conflicts == [
        "MAP@20, nDCG@10: made differently, by weights of AP: its grade over the highest grade (not: 1 for "
        "each relevant document); gain of nDCG: gain 2^g - 1 (not: gain g)",
        "P@10: made differently, by label policy: every judged document relevant "
        "(not: grades as they are, negative ones not relevant)",
    ]


def test_relevance_levels_of_ap_and_p_are_told_apart():
    qrels, run = graded(2)
    plain = Plain(qrels, run)
    strict = APChoice(Denominator.NUM_REL, Weights.BINARY, 2.0)
    claims = {
        "MAP@10": f"{plain.mean('AP', DEFAULT, strict, 10):.6f}",
        "P@10": f"{plain.mean('P', DEFAULT, LevelChoice(1.0), 10):.6f}",
    }
    answer = pm.audit(qrels, run, claims).answers[0]
    [change] = answer.changes
    assert change == "relevance level of AP: relevant from grade 2 on (not: relevant from grade 1 on)"
    assert "AP is binary (relevant from grade 2 on)" in answer.sentence()
    assert "documents of grade 1 or more are relevant for P" in answer.sentence()


def nearness(name, measure, plain, number):
    """Return by printed number how near it is, and by how few changes from the default it is made."""
    found = {}
    for setting in ALL_SETTINGS:
        for choice in choices_for(measure, plain, setting.labels):
            for cutoff in parse_claims({name: "0.5"})[0].cutoffs:
                value = plain.mean(measure, setting, choice, cutoff)
                if not math.isnan(value):
                    changes = (
                        n_changes(setting, DEFAULT)
                        + n_changes(choice, COMMUNITY.choice(FAMILY[measure]))
                        + (cutoff != parse_claims({name: "0.5"})[0].cutoffs[0])
                    )
                    least = found.get(f"{value:.3f}", (math.inf, math.inf))
                    found[f"{value:.3f}"] = (min(least[0], abs(value - number)), min(least[1], changes))
    return found


FAMILY = {"AP": "ap", "nDCG": "ndcg", **dict.fromkeys(("P", "R", "RR", "Success"), "level")}


def n_changes(a, b):
    """Return in how many axes two values differ."""
    return sum(getattr(a, each.name) != getattr(b, each.name) for each in fields(a))


@pytest.mark.parametrize("seed", range(effort(1, 3)))
@pytest.mark.parametrize(("name", "measure"), [("MAP@3", "AP"), ("nDCG@5", "nDCG"), ("R@4", "R")])
def test_the_nearest_values_have_their_simplest_conventions(seed, name, measure):
    rng = random.Random(seed)
    qrels, run = small_case(rng)
    plain = Plain(qrels, run)
    values = nearness(name, measure, plain, 0.457)
    values.pop("0.457", None)
    [claim] = pm.audit(qrels, run, {name: "0.4567891"}).rows[0].claims
    nearest = {match.printed: match for match in claim.nearest}
    assert len(nearest) == len(claim.nearest) <= 3
    assert [abs(m.value - 0.4567891) for m in claim.nearest] == sorted(
        abs(m.value - 0.4567891) for m in claim.nearest
    )
    for match in claim.nearest:
        assert plain.mean(measure, match.setting, match.choice, match.cutoff) == pytest.approx(match.value)
    [claim] = pm.audit(qrels, run, {name: "0.457"}).rows[0].claims
    expected = sorted(values, key=lambda text: values[text][0])[:3]
    assert [match.printed for match in claim.nearest] == expected
    for match in claim.nearest:
        changes = n_changes(match.setting, DEFAULT) + n_changes(
            match.choice, COMMUNITY.choice(FAMILY[measure])
        )
        changes += match.cutoff != claim.claim.cutoffs[0]
        assert changes == values[match.printed][1]


def test_a_number_above_1_is_read_in_percent_and_as_it_stands():
    """2.00 is AP that nothing divides, and in percent AP at grade 2: one query of 50 has such a document."""
    qrels = {f"q{i}": {"a": 1 + (i == 0), "b": 1} for i in range(50)}
    run = {query: {"a": 2.0, "b": 1.0} for query in qrels}
    [claim] = pm.audit(qrels, run, {"MAP@10": "2.00"}).rows[0].claims
    found = {(match.choice, round(match.value, 9)) for match in claim.matches if match.setting == DEFAULT}
    assert (APChoice(Denominator.NONE, Weights.BINARY), 2.0) in found
    assert (APChoice(Denominator.NUM_REL, Weights.BINARY, 2.0), 0.02) in found
    assert {match.printed for match in claim.matches} == {"2.00"}
    for text, value in [("2.00%", 0.02), ("0.0200", 0.02)]:
        [claim] = pm.audit(qrels, run, {"MAP@10": text}).rows[0].claims
        assert {round(match.value, 9) for match in claim.matches} == {value}
    result = pm.audit(qrels, run, {"MAP@10": "2.00", "MAP@1": "1.00"})
    assert result.answers[0].choices["ap"].denominator is Denominator.NONE


def test_a_number_below_1_is_in_percent_too_where_others_of_the_table_are():
    """P@1 is 1.5 percent in one row and 0.5 in the other."""
    qrels = {f"q{i}": {"a": 1} for i in range(200)}
    runs = {name: {f"q{i}": {"a": 1.0} for i in range(n)} for name, n in (("more", 3), ("less", 1))}
    result = pm.audit(qrels, runs, {"more": {"P@1": "1.5"}, "less": {"P@1": "0.5"}})
    assert [answer.name for answer in result.answers][:1] == ["ir_measures"]
    assert [row.claims[0].claim.percent for row in result.rows] == [True, True]
    assert not pm.audit(qrels, runs, {"more": {"P@1": "1.5"}, "less": {"P@1": "0.6"}}).ok
    assert not pm.audit(qrels, runs["less"], {"P@1": "0.5"}).ok
    counts = pm.audit(qrels, runs["less"], {"P@1": "0.5%", "NumRet": "1", "R@1": "0.005"})
    assert [claim.claim.percent for claim in counts.rows[0].claims] == [True, False, False]
    assert counts.ok


def test_a_row_in_percent_is_explained_as_one_of_fractions():
    qrels, runs = binary()
    row = row_made(Plain(qrels, runs["first"]), Setting(queries=QuerySet.BOTH), AP, 6)
    percent = {name: f"{Decimal(text) * 100:.4f}" for name, text in row.items()}
    results = [pm.audit(qrels, runs["first"], claims) for claims in (row, percent)]
    assert all(result.ok for result in results)
    assert [answer.name for answer in results[0].answers] == [answer.name for answer in results[1].answers]
    assert [claim.n_matches for claim in results[0].rows[0].claims] == [
        claim.n_matches for claim in results[1].rows[0].claims
    ]
    assert [line.split()[1] for line in str(results[1]).splitlines()[1:4]] == list(percent.values())


@pytest.mark.parametrize("text", ["0", "0.0", "0.0000", "0%", "-0.5", "-50%", "-50"])
def test_a_claim_of_0_or_less_that_nothing_prints_has_nearest_values(text):
    result = pm.audit({"q1": {"a": 1}}, {"q1": {"a": 1.0}}, {"P@1": text, "MAP@1": text})
    assert not result.ok
    assert all(claim.nearest for claim in result.rows[0].claims)


@pytest.mark.parametrize(
    ("name", "words"), [("MAP@10", ("AP",)), ("nDCG@10", ("nDCG", "DCG")), ("P@10", ("relevant for", " P"))]
)
def test_nothing_is_said_of_a_family_that_is_not_explained(name, words):
    qrels, runs = graded(2)
    row = row_made(Plain(qrels, runs), DEFAULT, AP, 7)
    row[name] = str(Decimal(row[name]) + Decimal("0.0000001"))
    result = pm.audit(qrels, runs, row)
    [answer] = [answer for answer in result.best if answer.named is COMMUNITY]
    assert not answer.complete
    assert len(answer.explained) == 2
    family = parse_claims({name: "0.5"})[0].family
    axes_of_it = {each.name for each in fields(COMMUNITY.choice(family))} | {f"cutoff of {name}"}
    for word in words:
        assert word not in answer.sentence()
    assert not any(text.startswith(rf"\mathrm{{{words[-1]}}}") for text in answer.latex())
    assert not axes_of_it & set(answer.alike())
    assert name not in {told.claim.claim.name for _, _, told, _ in answer.otherwise()}
    assert len(answer.latex()) == (2 if name == "P@10" else 1)
    whole = pm.audit(qrels, runs, row_made(Plain(qrels, runs), DEFAULT, AP, 7)).answers[0]
    assert all(word in whole.sentence() for word in words[:1])


@pytest.mark.parametrize(
    ("claims", "start"),
    [
        ({"nDCG@10": "nDCG@10"}, "nDCG has gain g, discount"),
        ({"P@10": "P@10"}, "Documents of grade 1 or more"),
        ({"infAP": "infAP"}, "infAP is as its definition says"),
        ({"MAP@10": "AP@10"}, "AP is binary"),
    ],
)
def test_a_sentence_begins_with_a_capital_but_for_a_name(claims, start):
    qrels, run = graded(2)
    values = {name: f"{pm.calc_aggregate([m], qrels, run).popitem()[1]:.6f}" for name, m in claims.items()}
    sentence = pm.audit(qrels, run, values).answers[0].sentence()
    assert sentence.startswith(start)
    assert ". The mean is taken over all 37 queries of the qrels." in sentence


# --- the joint answer by brute force -------------------------------------------------------------------


def tiny(rng):
    """Return qrels and two runs of a few queries, with ties, missing queries and negative grades."""
    grades = rng.choice([[0, 1], [-1, 0, 1, 2]])
    queries = ["q1", "q2", "q3"]
    qrels = {query: {f"d{i}": rng.choice(grades) for i in rng.sample(range(6), 4)} for query in queries}
    qrels["q1"]["q1"], qrels["q1"]["d0"] = 1, max(grades)
    runs = {}
    for name in ("first", "second"):
        kept = rng.sample([*queries, "extra"], 3)
        runs[name] = {
            query: {doc: rng.randrange(4) / 2 for doc in rng.sample(["q1", *(f"d{i}" for i in range(6))], 5)}
            for query in kept
        }
        runs[name].setdefault("q1", {"d0": 1.0, "d1": 1.0})
    return qrels, runs


class Brute:
    """Every combination of setting, choices and cutoffs, and which claims each prints."""

    def __init__(self, plains, claims):
        first = next(iter(plains.values()))
        names = list(dict.fromkeys(name for _, name in claims))
        measures = {name: parse_claims({name: "0.5"})[0] for name in names}
        self.usual = {name: claim.cutoffs[0] for name, claim in measures.items()}
        families = list(dict.fromkeys(claim.family for claim in measures.values()))
        self.combinations = []
        for setting in ALL_SETTINGS:
            per_family = []
            for family in families:
                kind = {"ap": "AP", "ndcg": "nDCG", "level": "R"}[family]
                per_family.append([(family, choice) for choice in choices_for(kind, first, setting.labels)])
            for chosen in product(*per_family):
                choices = dict(chosen)
                for cutoffs in product(*(measures[name].cutoffs for name in names)):
                    by_name = dict(zip(names, cutoffs, strict=True))
                    printed = {
                        (row, name): abs(
                            self.value(plains[row], measures[name], setting, choices, by_name[name])
                            - float(text)
                        )
                        <= 0.5e-3 + 1e-9
                        for (row, name), text in claims.items()
                    }
                    self.combinations.append((setting, choices, by_name, printed))

    @cache  # noqa: B019 (one for each test)
    def cached(self, plain, measure, setting, choice, cutoff):
        return plain.mean(measure, setting, choice, cutoff)

    def value(self, plain, claim, setting, choices, cutoff):
        choice = choices[claim.family]
        if isinstance(choice, LevelChoice) and claim.measure != "R":
            choice = replace(choice, base=RecallBase.NUM_REL)
        return self.cached(plain, claim.measure, setting, choice, cutoff)

    def best(self, claims, setting, choices, cutoffs):
        """Return the most of these claims that can be explained, and by how few changes from a convention."""
        return max(
            (
                sum(printed[claim] for claim in claims),
                -n_changes(s, setting)
                - sum(n_changes(choice, choices[family]) for family, choice in c.items())
                - sum(cutoff != cutoffs[name] for name, cutoff in k.items()),
            )
            for s, c, k, printed in self.combinations
        )


@pytest.mark.parametrize("seed", range(effort(3, 7)))
def test_the_joint_answer_is_that_of_a_search_over_all_conventions(seed):
    rng = random.Random(seed)
    qrels, runs = tiny(rng)
    plains = {name: Plain(qrels, run) for name, run in runs.items()}
    names = [{"MAP@2": "AP", "P@2": "P"}, {"nDCG@3": "nDCG", "R@2": "R"}][seed % 2]
    if seed > 7:
        names = {"MAP@2": "AP", "MAP@1": "AP"}
    made = {}
    for row, plain in plains.items():
        setting = rng.choice(ALL_SETTINGS) if row == "first" or seed > 3 else setting  # noqa: F821
        for name, measure in names.items():
            key = (row if seed > 5 else "first", name)
            choice, cutoff = made.get(key, (None, None))[:2]
            if choice is None:
                choice = rng.choice(choices_for(measure, plain, setting.labels))
                cutoff = rng.choice(parse_claims({name: "0.5"})[0].cutoffs)
            value = plain.mean(measure, setting, choice, cutoff)
            made[row, name] = (choice, cutoff, 0.1234 if math.isnan(value) or abs(value) > 1 else value)
    claims = {key: f"{value:.3f}" for key, (_, _, value) in made.items()}
    brute = Brute(plains, claims)
    table = {row: {name: claims[row, name] for name in names} for row in runs}
    result = pm.audit(qrels, runs, table)
    best = {}
    for named in NAMED:
        families = {parse_claims({name: "0.5"})[0].family for name in names}
        if all(named.has(family) for family in families):
            best[named.name] = brute.best(list(claims), named.setting, named.choices, brute.usual)
    most = max(best.values())
    assert {answer.named.name for answer in result.best} == {
        name for name, each in best.items() if each == most
    }
    assert result.ok == (most[0] == len(claims))
    for answer in result.best:
        assert (len(answer.explained), -len(answer.changes)) == most
        [printed] = [
            printed
            for setting, choices, cutoffs, printed in brute.combinations
            if (setting, choices, cutoffs) == (answer.setting, answer.choices, answer.cutoffs)
        ]
        explained = {(told.row.name, told.claim.claim.name) for told in answer.explained}
        assert explained == {key for key, yes in printed.items() if yes}
    main = result.best[0]
    for exception in result.exceptions:
        keys = [(told.row.name, told.claim.claim.name) for told in exception.claims]
        expected = brute.best(keys, main.setting, main.choices, main.cutoffs)
        assert (len(exception.explained), -len(exception.changes)) == expected
        assert expected[0] in (0, len(keys))
    left = {key for key in claims if key not in {(t.row.name, t.claim.claim.name) for t in main.explained}}
    assert {(t.row.name, t.claim.claim.name) for e in result.exceptions for t in e.claims} == left
    for row in result.rows:
        keys = [(row.name, name) for name in names]
        assert row.ok == any(all(p[key] for key in keys) for *_, p in brute.combinations)


# --- names and numbers ---------------------------------------------------------------------------------


ANY_DEPTH = (None, 10, 100, 1000)


@pytest.mark.parametrize(
    ("name", "measure", "cutoffs"),
    [
        ("ndcg", "nDCG", ANY_DEPTH),
        ("NDCG_cut_10", "nDCG", (10,)),
        ("nDCG@10", "nDCG", (10,)),
        ("ndcg 10", "nDCG", (10,)),
        ("map", "AP", ANY_DEPTH),
        ("MAP@10", "AP", (10, None)),
        ("map_cut_10", "AP", (10, None)),
        ("gradedmap@10", "AP", (10, None)),
        ("GradedAP@10", "AP", (10, None)),
        ("P_10", "P", (10,)),
        ("precision@10", "P", (10,)),
        ("P@1", "P", (1,)),
        (" p@5 ", "P", (5,)),
        ("recall_20", "R", (20,)),
        ("R@20", "R", (20,)),
        ("mrr", "RR", ANY_DEPTH),
        ("MRR@10", "RR", (10,)),
        ("recip_rank", "RR", ANY_DEPTH),
        ("hit@10", "Success", (10,)),
        ("hits@10", "Success", (10,)),
        ("hit_rate@10", "Success", (10,)),
        ("success_5", "Success", (5,)),
        ("coverage@10", "Success", (10,)),
        ("Coverage@10", "Success", (10,)),
        ("nDCG (10)", "nDCG", (10,)),
        ("P (5)", "P", (5,)),
        ("MAP@all", "AP", (None,)),
        ("nDCG@all", "nDCG", (None,)),
        ("MAP ↑", "AP", ANY_DEPTH),
        ("P@1↑", "P", (1,)),
        ("recall@20 ↓", "R", (20,)),
        ("NDCG@10 (%)", "nDCG", (10,)),
        ("NDCG@10 [in %]", "nDCG", (10,)),
        ("P@1 (%) ↑", "P", (1,)),
        ("P@1 ↑ (%)", "P", (1,)),
        ("hit@10%", "Success", (10,)),
        ("Accuracy@1", "Success", (1,)),
        ("cosine_accuracy@1", "Success", (1,)),
        ("dot_map@100", "AP", (100, None)),
        ("cos_sim_ndcg@10", "nDCG", (10,)),
        ("ndcg_burges@10", "nDCG", (10,)),
        ("R_cap@10", "R", (10,)),
        ("Success rate@10", "Success", (10,)),
        ("hit ratio@10", "Success", (10,)),
        ("nDCG\uff20\uff11\uff10", "nDCG", (10,)),
        ("nDCG\u2081\u2080", "nDCG", (10,)),
        ("P@1\uff08%\uff09", "P", (1,)),
        ("**MAP@10**", "AP", (10, None)),
        ("P@1*", "P", (1,)),
    ],
)
def test_loose_names_are_read(name, measure, cutoffs):
    [claim] = parse_claims({name: "0.5"})
    assert (claim.name, claim.measure, claim.cutoffs, claim.is_fixed) == (name, measure, cutoffs, False)
    qrels, run = graded(2)
    assert pm.audit(qrels, run, {name: "0.5000"}).n_tried > 100


@pytest.mark.parametrize(
    "name",
    [
        "VariantNDCG(negative='keep')@10",
        "VariantNDCG(discount='zipf')",
        "GradedAP(norm='ideal')@10",
        "AP(rel=2)@10",
        "nDCG(dcg='exp-log2')@10",
        "P(judged_only=True)@5",
        "ERR@10",
        "Rprec",
        "GAP@10",
        "QMeasure@10",
        "RBP(rel=1,p=0.5)@20",
        "Bpref",
        "infAP",
        "IPrec@0.1",
        "SetF",
        "Judged@10",
        "NumRet",
        "NumRel",
        "NumRet(rel=1)",
        "NumQ",
        ("bpref", "Bpref"),
        ("BPREF ↑", "Bpref"),
        ("R-Prec", "Rprec"),
        ("rprec", "Rprec"),
        ("R-Precision", "Rprec"),
        ("r_precision", "Rprec"),
        ("INFAP", "infAP"),
        ("err@10", "ERR@10"),
        ("iprec@0.1", "IPrec@0.1"),
        ("qmeasure@10", "QMeasure@10"),
        ("gradedap(norm='ideal')@10", "GradedAP(norm='ideal')@10"),
        ("numq", "NumQ"),
    ],
)
def test_measures_that_are_written_out_are_taken_as_they_are(name):
    qrels, run = graded(2)
    name, typed = name if isinstance(name, tuple) else (name, name)
    measure = pm.parse_measure(typed)
    [value] = pm.calc_aggregate([measure], qrels, run).values()
    text = f"{value:.0f}" if typed.startswith("Num") else f"{value:.4f}"
    result = pm.audit(qrels, run, {name: text})
    [audited] = result.rows[0].claims
    assert audited.claim.is_fixed
    match = audited.at(DEFAULT, 0, 0, *place_of(audited.run, DEFAULT))
    assert match.value == pytest.approx(value, abs=1e-12)
    assert match.measure == measure
    assert result.ok
    assert match in audited.matches
    assert audited.simplest.setting == DEFAULT


@pytest.mark.parametrize("name", ["GradedAP(gains={2: 1})@5", "QMeasure(gains={2: 1})@5"])
def test_a_measure_that_has_no_gain_for_a_label_policy_is_tried_on_the_others(name):
    qrels, run = {"q1": {"a": 2, "b": 0}}, {"q1": {"b": 2.0, "a": 1.0}}
    [value] = pm.calc_aggregate([name], qrels, run).values()
    assert pm.audit(qrels, run, {name: f"{value:.4f}"}).ok


@pytest.mark.parametrize(
    ("value", "number", "decimals", "percent"),
    [
        ("0.9044", "0.9044", 4, False),
        ("0.570", "0.570", 3, False),
        (" 0.570 ", "0.570", 3, False),
        (0.57, "0.57", 2, False),
        (0.5357, "0.5357", 4, False),
        (np.float64(0.5357), "0.5357", 4, False),
        (Decimal("0.5357"), "0.5357", 4, False),
        (1, "1", 0, False),
        (0, "0", 0, False),
        ("1.0000", "1.0000", 4, False),
        ("90.44", "0.9044", 4, True),
        ("90.44%", "0.9044", 4, True),
        ("90.44 %", "0.9044", 4, True),
        (90.44, "0.9044", 4, True),
        ("0.5%", "0.005", 3, True),
        ("100", "1", 2, True),
        ("100.0%", "1", 3, True),
        ("-0.0123", "-0.0123", 4, False),
        (".5357", "0.5357", 4, False),
        ("1e-3", "0.001", 3, False),
        (1e-05, "0.00001", 5, False),
        ("0.5357*", "0.5357", 4, False),
        ("0.5357†", "0.5357", 4, False),
        ("0.5357 ‡*", "0.5357", 4, False),
        ("**0.5357**", "0.5357", 4, False),
        ("__0.5357__", "0.5357", 4, False),
        ("53.57 %", "0.5357", 4, True),
        ("53.57%*", "0.5357", 4, True),
        ("**53.57**%", "0.5357", 4, True),
        ("▲0.5357", "0.5357", 4, False),
    ],
)
def test_numbers_are_read(value, number, decimals, percent):
    [claim] = parse_claims({"MAP@10": value})
    assert (claim.value, claim.decimals, claim.percent) == (Decimal(number), decimals, percent)


@pytest.mark.parametrize(("value", "number"), [("90.44", "0.9044"), ("0.57", "0.0057"), ("90.44%", "0.9044")])
@pytest.mark.parametrize("name", ["NDCG@10 (%)", "NDCG@10 [%]", "MAP@10 (in %) ↑", "P@1%"])
def test_a_number_under_a_title_with_a_percent_sign_is_in_percent(name, value, number):
    [claim] = parse_claims({name: value})
    assert (claim.value, claim.percent, claim.other) == (Decimal(number), True, None)
    assert (claim.name, claim.text) == (name, value)
    assert claim.prints(float(number)) == value


def test_a_title_with_a_percent_sign_is_no_number_above_1():
    qrels, run = {f"q{i}": {"a": 1} for i in range(200)}, {"q0": {"a": 1.0}}
    assert pm.audit(qrels, run, {"P@1 (%)": "0.5"}).ok
    assert not pm.audit(qrels, run, {"P@1": "0.5"}).ok


@pytest.mark.parametrize("text", ["0.3333*", "**0.3333**", "0.3333†", ".3333", "33.33 %"])
def test_marks_around_a_number_do_not_matter(files, text):
    assert "ir_measures" in audit_cli("qrels", "one.trec", "--claim", f"P@1={text}")
    (files / "claims.csv").write_text(f"run,P@1 ↑\none,{text}\n")
    assert "ir_measures" in audit_cli("qrels", "one.trec", "--claims", "claims.csv")


@pytest.mark.parametrize("cell", ["", " ", "-", "–", "—", "n/a", "N/A", "NA", "na"])  # noqa: RUF001
def test_a_cell_without_a_number_is_empty(files, cell):
    (files / "claims.csv").write_text(f"run,P@1,RR\none,0.3333,0.3333\ntwo,{cell},0.6667\n")
    stdout = audit_cli("qrels", "one.trec", "two.trec", "--claims", "claims.csv", "--format", "json")
    assert [len(row["claims"]) for row in json.loads(stdout)["rows"]] == [2, 1]


def test_numbers_of_single_precision_have_their_own_digits():
    [claim] = parse_claims({"MAP@10": np.float32(0.5357)})
    assert (claim.value, claim.decimals) == (Decimal("0.5357"), 4)


def test_numbers_that_are_no_texts_have_the_digits_of_the_longest():
    claims = parse_claims({"MAP@10": 0.57, "P@1": 0.9279, "R@5": "0.5"})
    assert [claim.decimals for claim in claims] == [4, 4, 1]
    assert [claim.text for claim in claims] == ["0.5700", "0.9279", "0.5"]
    qrels, runs = binary()
    rows = pm.audit(qrels, runs, {"first": {"P@10": 0.57, "R@10": "0.1"}, "second": {"P@10": 0.9279}}).rows
    assert [[claim.claim.decimals for claim in row.claims] for row in rows] == [[4, 1], [4]]


def test_decimals_say_how_many_digits_were_printed():
    qrels, run = graded(2)
    [p] = pm.calc_aggregate(["P@10"], qrels, run).values()
    for decimals in (0, 1, 2, 3, 5):
        number = round(p, decimals)
        for value in (number, f"{number:.{decimals}f}"):
            result = pm.audit(qrels, run, {"P@10": value}, decimals=decimals)
            assert result.rows[0].claims[0].claim.decimals == decimals
            assert result.ok
    shown = pm.audit(qrels, run, {"P@10": 0.5}, decimals=4).rows[0].claims[0].claim
    assert (shown.text, shown.decimals) == ("0.5000", 4)
    assert pm.audit(qrels, run, {"P@10": 0.19}, decimals=1).ok
    assert not pm.audit(qrels, run, {"P@10": 0.19}, decimals=8).rows[0].claims[0].explained


@pytest.mark.parametrize(
    ("hits", "queries", "up", "even"),
    [(1, 8, "0.13", "0.12"), (3, 8, "0.38", "0.38"), (5, 8, "0.63", "0.62"), (1, 16, "0.063", "0.062")],
)
def test_exact_ties_are_rounded_up_and_to_even(hits, queries, up, even):
    qrels = {f"q{i}": {"a": 1} for i in range(queries)}
    run = {f"q{i}": {"a" if i < hits else "b": 1.0} for i in range(queries)}
    for text in (up, even):
        percent = f"{Decimal(text).scaleb(2):f}%"
        for claim in (text, percent):
            result = pm.audit(qrels, run, {"P@1": claim})
            assert result.ok, claim
            assert (DEFAULT, LevelChoice(1.0)) in [
                (m.setting, m.choice) for m in result.rows[0].claims[0].matches
            ]
    wrong = f"{float(up) + 10 ** -(len(up) - 2):.{len(up) - 2}f}"
    assert not pm.audit(qrels, run, {"P@1": wrong}).ok


def test_a_match_at_an_exact_tie_is_shown_as_it_was_printed():
    qrels = {f"q{i}": {"a": 1} for i in range(8)}
    run = {f"q{i}": {"a" if i < 1 else "b": 1.0} for i in range(8)}
    for text in ("0.12", "0.13"):
        result = pm.audit(qrels, run, {"P@1": text})
        [row] = result.rows
        assert {match.printed for match in row.claims[0].matches} == {text}
        assert [result.answers[0].given(told).printed for told in result.answers[0].claims] == [text]
        assert text not in [match.printed for match in row.claims[0].nearest]


def test_sums_that_are_not_exact_do_not_hide_a_tie():
    """P@10 over 16 queries is a multiple of 1/160: half of them end in 5 at the fifth digit."""
    missed = []
    for relevant in range(1, 160, 2):
        qrels = {f"q{i}": {f"d{j}": 1 for j in range(10)} for i in range(16)}
        spread = [(relevant + i) // 16 for i in range(16)]
        run = {
            f"q{i}": {f"{'d' if j < spread[i] else 'x'}{j}": float(-j) for j in range(10)} for i in range(16)
        }
        exact = Decimal(relevant) / 160
        for rounding in (ROUND_HALF_UP, ROUND_HALF_EVEN):
            text = str(exact.quantize(Decimal("1.0000"), rounding=rounding))
            if not pm.audit(qrels, run, {"P@10": text}).ok:
                missed.append((relevant, text))
    assert missed == []


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        ({}, "there must be a claim, such as {'MAP@10': 0.5357} (found none)"),
        ({"MPA@10": 0.5}, "no measure is known by the name 'MPA@10'"),
        ({"MPA@10": 0.5}, "Did you mean 'MAP@10'?"),
        ({"": 0.5}, "no measure is known by the name ''"),
        ({"@10": 0.5}, "no measure is known by the name '@10'"),
        ({"10": 0.5}, "no measure is known by the name '10'"),
        ({"nDCG@ten": 0.5}, "no measure is known by the name 'nDCG@ten'"),
        ({"nDCG@-1": 0.5}, "nDCG@-1"),
        ({"VariantNDCG(gain='cube')@10": 0.5}, "gain"),
        ({"P@0": 0.5}, "a cutoff must be at least 1 (found 'P@0')"),
        ({"MAP@0": 0.5}, "a cutoff must be at least 1 (found 'MAP@0')"),
        ({"P": 0.5}, "P needs a cutoff (found 'P'). Write P@10"),
        ({"recall": 0.5}, "R needs a cutoff (found 'recall'). Write recall@10"),
        ({"hits": 0.5}, "Success needs a cutoff (found 'hits'). Write hits@10"),
        ({"MAP@10": "high"}, "claim 'MAP@10': a claim must be a number (found 'high')"),
        ({"MAP@10": ""}, "claim 'MAP@10': a claim must be a number (found '')"),
        ({"MAP@10": "%"}, "claim 'MAP@10': a claim must be a number (found '%')"),
        (
            {"MAP@10": "0,5357"},
            "claim 'MAP@10': a claim must have a decimal point, not a comma (found '0,5357'). Write 0.5357",
        ),
        ({"MAP@10": "53,57 %"}, "not a comma (found '53,57 %'). Write 53.57"),
        ({"MAP@10": "1,234.5"}, "a claim must be a number (found '1,234.5'). Write it as 0.5357 or 53.57%"),
        ({"MAP@10": "0_5"}, "claim 'MAP@10': a claim must be a number (found '0_5')"),
        ({"MAP@10": "\u0660.\u0665"}, "claim 'MAP@10': a claim must be a number"),
        ({"MAP@10": "-"}, "claim 'MAP@10': a claim must be a number (found '-')"),
        ({"MAP@10": "0.53 ± 0.01"}, "a claim must be a number (found '0.53 ± 0.01'). Write it as 0.5357 or"),
        ({"MAP (%)": "150"}, "claim 'MAP (%)': a value is at most 1, or 100 percent (found '150')"),
        ({"NumRet": "1e30"}, "claim 'NumRet': a count is at most 1,000,000,000,000 (found '1e30')"),
        ({"P@all": 0.5}, "P needs a cutoff (found 'P@all'). Write P@10"),
        ({"recall@ALL": 0.5}, "R needs a cutoff (found 'recall@ALL'). Write recall@10"),
        ({"nDCG (0)": 0.5}, "a cutoff must be at least 1 (found 'nDCG (0)')"),
        ({"nDCG (k)": 0.5}, "no measure is known by the name 'nDCG (k)'"),
        ({"R-Prec@10": 0.5}, "Rprec has no parameter 'cutoff'"),
        ({"↑": 0.5}, "no measure is known by the name ''"),
        ({"MAP@10": "nan"}, "claim 'MAP@10': a claim must be a number (found 'nan')"),
        ({"MAP@10": "inf"}, "claim 'MAP@10': a claim must be a number (found 'inf')"),
        ({"MAP@10": math.nan}, "claim 'MAP@10': a claim must be a number (found nan)"),
        ({"MAP@10": math.inf}, "claim 'MAP@10': a claim must be a number (found inf)"),
        ({"MAP@10": None}, "claim 'MAP@10': a claim must be a number (found None)"),
        ({"MAP@10": True}, "claim 'MAP@10': a claim must be a number (found True)"),
        ({"MAP@10": [0.5]}, "claim 'MAP@10': a claim must be a number (found [0.5])"),
        ({"MAP@10": "535.7"}, "claim 'MAP@10': a value is at most 1, or 100 percent (found '535.7')"),
        ({"MAP@10": 535.7}, "claim 'MAP@10': a value is at most 1, or 100 percent (found 535.7)"),
        ({10: 0.5}, "10"),
        ([("MAP@10", 0.5)], "claims must be a mapping, such as {'MAP@10': 0.5357} (found list)"),
        (None, "claims must be a mapping, such as {'MAP@10': 0.5357} (found NoneType)"),
    ],
)
def test_what_is_wrong_with_a_claim_is_said(claims, message):
    with pytest.raises(pm.PermedError) as caught:
        pm.audit({"q1": {"a": 1}}, {"q1": {"a": 1.0}}, claims)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "text", ["0." + "1234567890" * 2, "0." + "1234567890" * 5, "1e-400", "0." + "0" * 60]
)
def test_a_number_of_many_digits_is_read_or_refused(text):
    try:
        result = pm.audit({"q1": {"a": 1}}, {"q1": {"a": 1.0}}, {"P@1": text})
    except pm.PermedError:
        return
    assert isinstance(result.ok, bool)
    assert str(result)


@pytest.mark.parametrize("decimals", [-1, 40, 1.5, "4"])
def test_decimals_that_are_none_are_refused(decimals):
    with pytest.raises(pm.PermedError):
        pm.audit({"q1": {"a": 1}}, {"q1": {"a": 1.0}}, {"P@1": 1.0}, decimals=decimals)


# --- the command ---------------------------------------------------------------------------------------


def audit_cli(*arguments, status=0):
    """Return stdout of the command in this process."""
    result = CliRunner().invoke(cli.app, ["audit", *map(str, arguments)])
    error = result.exception
    if error is not None and not isinstance(error, SystemExit):
        raise error
    assert result.exit_code == status, result.output
    return result.stdout


@pytest.fixture
def refused(monkeypatch, capsys):
    """Return what runs the command on bad input, and returns its message."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["permed-measures", "audit", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            cli.main()
        stdout, stderr = capsys.readouterr()
        assert (caught.value.code, stdout) == (2, "")
        return stderr

    return run


@pytest.fixture
def files(tmp_path, monkeypatch):
    (tmp_path / "qrels").write_text("q1 0 a 2\nq1 0 b 1\nq1 0 c 0\nq2 0 d 1\nq3 0 e 0\n")
    (tmp_path / "one.trec").write_text("q1 Q0 b 1 3 t\nq1 Q0 x 2 2 t\nq1 Q0 a 3 1 t\n")
    (tmp_path / "two.trec").write_text("q1 Q0 a 1 3 t\nq2 Q0 d 1 3 t\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


ONE, TWO = {"P@1": "0.3333", "RR": "0.3333"}, {"P@1": "0.6667", "RR": "0.6667"}


def test_claims_are_given_one_by_one(files):  # noqa: ARG001
    stdout = audit_cli("qrels", "one.trec", "--claim", "P@1=0.3333", "--claim", "RR = 0.3333")
    assert stdout.splitlines()[0].split() == ["claim", "published", "computed", "measure", "conventions"]
    shown, count = stdout.splitlines()[1].rsplit("P@1", 1)
    assert shown.split() == ["P@1", "0.3333", "0.3333"]
    assert re.fullmatch(r"\s+\d+ of \d+", count)
    assert "One convention explains all claims: ir_measures\n" in stdout
    stdout = audit_cli("qrels", "one.trec", "--claim", "P@1=0.3334", status=1)
    assert "prints P@1 as 0.3334; nearest\n  0.3333, P@1" in stdout


def test_a_written_out_measure_with_an_equals_sign_is_a_claim(files):  # noqa: ARG001
    assert "P(rel=2)@1" in audit_cli("qrels", "two.trec", "--claim", "P(rel=2)@1=0.3333")


def test_claims_are_given_in_a_file(files):
    table = files / "claims.csv"
    text = "run,P@1,RR\none,0.3333,0.3333\n\ntwo, 0.6667 ,\n"
    for content in (text.encode(), b"\xef\xbb\xbf" + text.encode(), text.replace("\n", "\r\n").encode()):
        table.write_bytes(content)
        stdout = audit_cli("qrels", "one.trec", "two.trec", "--claims", table, "--format", "json")
        rows = json.loads(stdout)["rows"]
        shown = [(row["run"], claim["claim"], claim["published"]) for row in rows for claim in row["claims"]]
        assert shown == [("one", "P@1", "0.3333"), ("one", "RR", "0.3333"), ("two", "P@1", "0.6667")]
    stdout = audit_cli("qrels", "x=one.trec", "--claim", "P@1=0.3333")
    table.write_text("run,P@1\n1,0.3333\n")
    assert "ir_measures" in audit_cli("qrels", "1=one.trec", "--claims", table)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "run,P@1\none,0.3333\n",
            "claims.csv: there must be a row of claims for each run (found none for 'two')",
        ),
        ("run,P@1\none,0.3333\ntwo,\n", "there must be a row of claims for each run (found none for 'two')"),
        ("", "claims.csv: there must be a row of claims for each run (found none for 'one')"),
        (
            "run;P@1\none;0.3333\ntwo;0.6667\n",
            "claims.csv:1: the header must name the runs and then the measures, with commas between "
            "(found 'run;P@1')",
        ),
        ("run\tP@1\none\t0.3333\ntwo\t0.6667\n", "with commas between (found 'run\\tP@1')"),
        ("run\none\n", "claims.csv:1: the header must name the runs and then the measures"),
        ("run,P@1\n", "claims.csv: there must be a row of claims for each run (found none for 'one')"),
        (
            "run,P@1\none,0.3333\nthree,0.5\n",
            "claims.csv:3: a row must begin with one of the runs one, two, each once (found 'three')",
        ),
        ("run,P@1\none,0.3333\none,0.3333\n", "claims.csv:3: a row must begin with one of the runs"),
        (
            "run,P@1\none,0.3333,0.5\n",
            "claims.csv:2: a row must have as many cells as the header (found 3, not 2)",
        ),
        (
            "run,P@1,RR\none,0.3333\n",
            "claims.csv:2: a row must have as many cells as the header (found 2, not 3)",
        ),
        ("run,P@1\none,good\ntwo,0.5\n", "claim 'P@1': a claim must be a number (found 'good')"),
        ("run,PP@1\none,0.5\ntwo,0.5\n", "no measure is known by the name 'PP@1'"),
        ("run,P@1,P@1\none,0.3333,0.5\ntwo,0.5,0.5\n", "P@1"),
        ('run,P@1\n"one,0.3333\ntwo,0.5\n', "claims.csv"),
        ('run,P@1\n"one"x,0.3333\ntwo,0.5\n', "claims.csv"),
        ("run,P@1\nönè,0.3333\n".encode("latin-1"), "claims.csv"),
    ],
)
def test_what_is_wrong_with_a_file_of_claims_is_said(files, refused, text, message):
    (files / "claims.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    stderr = refused("qrels", "one.trec", "two.trec", "--claims", "claims.csv")
    assert message in stderr
    assert stderr.startswith("error: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["one.trec"], "published numbers must be given by --claim or by --claims (one of the two)"),
        (["one.trec", "--claim", "P@1=0.5", "--claims", "claims.csv"], "by --claim or by --claims (one of"),
        (["one.trec", "two.trec", "--claim", "P@1=0.5"], "--claim is about one run (found 2). Give a row"),
        (["one.trec", "--claim", "P@1"], "a claim reads NAME=VALUE, each name once (found 'P@1')"),
        (["one.trec", "--claim", "P@1=0.5", "--claim", "P@1=0.6"], "each name once (found 'P@1=0.6')"),
        (["one.trec", "--claim", "P@1="], "a claim must be a number (found '')"),
        (["one.trec", "--claim", "=0.5"], "no measure is known by the name ''"),
        (["one.trec", "--claim", "P=0.5"], "P needs a cutoff"),
        (["one.trec", "--claims", "none.csv"], "error: none.csv: No such file or directory"),
        (["none.trec", "--claim", "P@1=0.5"], "error: none.trec: No such file or directory"),
        (["one.trec", "--claim", "P@1=0.5", "--format", "xml"], "Invalid value for '--format'"),
        (["one.trec", "--claim", "P@1=0.5", "--decimals", "-1"], "Invalid value for '--decimals'"),
        (["foreign", "--claim", "P@1=0.5"], "error: foreign: the run and the qrels share no query"),
        (["one.trec", "one.trec", "--claim", "P@1=0.5"], "two runs are named 'one'"),
    ],
)
def test_what_is_wrong_is_one_message_and_status_2(files, refused, arguments, message):
    (files / "foreign").write_text("x1 Q0 d1 1 2.5 t\n")
    (files / "claims.csv").write_text("run,P@1\none,0.3333\n")
    assert message in refused("qrels", *arguments)


def test_json_holds_the_audit_of_the_library(files):  # noqa: ARG001
    qrels, run = pm.read_qrels("qrels"), pm.read_run("one.trec")
    for claims, status in [({"P@1": "0.3333", "MAP@10": "0.2778"}, 0), ({"P@1": "0.3334"}, 1)]:
        result = pm.audit(qrels, run, claims)
        given = [part for name, value in claims.items() for part in ("--claim", f"{name}={value}")]
        content = json.loads(
            audit_cli("qrels", "one.trec", *given, "--format", "json", status=status),
            parse_constant=pytest.fail,
        )
        assert (content["ok"], content["n_tried"]) == (result.ok, result.n_tried)
        assert [each["name"] for each in content["best"]] == [each.named.name for each in result.best]
        assert [each["changes"] for each in content["best"]] == [each.changes for each in result.best]
        assert [each["complete"] for each in content["best"]] == [result.ok for _ in result.best]
        assert len(content["exceptions"]) == len(result.exceptions) == (not result.ok)
        [row], [expected] = content["rows"], result.rows
        assert row["run"] == "one"
        assert row["ok"] == expected.ok
        for claim, audited in zip(row["claims"], expected.claims, strict=True):
            assert (claim["claim"], claim["published"]) == (audited.claim.name, audited.claim.text)
            assert (claim["explained"], claim["n_matches"]) == (audited.explained, audited.n_matches)
            assert [(m["printed"], m["value"]) for m in claim["nearest"]] == [
                (m.printed, m.value) for m in audited.nearest
            ]
            assert (claim["simplest"] is None) == (audited.simplest is None)
            if audited.simplest is not None:
                assert claim["simplest"]["measure"] == str(audited.simplest.measure)
                assert claim["simplest"]["queries"] == audited.simplest.setting.queries.value
        if result.ok:
            assert content["sentence"] == result.answers[0].sentence()
            assert content["latex"] == result.answers[0].latex()
        else:
            assert (content["sentence"], content["latex"]) == (None, [])


@pytest.mark.parametrize("name", ["a|b<c", "$a|b<c", "[a](b)*c*_d_`e`", "a\\|b", "<script>"])
@pytest.mark.parametrize("value", ["0.6667", "0.6668"])
def test_markdown_escapes_the_names_of_runs(files, name, value):  # noqa: ARG001
    runs = ["--claims", "claims.csv"]
    with open("claims.csv", "w", newline="") as file:  # noqa: PTH123
        csv.writer(file).writerows([["run", "P@1", "RR"], [name, "0.3333", "0.3333"], ["two", value, value]])
    arguments = ["qrels", f"{name}=one.trec", "two.trec", *runs, "--format"]
    status = int(value == "0.6668")
    markdown = audit_cli(*arguments, "markdown", status=status)
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + 4
    for row in rows:
        assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 7
    assert "<" not in markdown
    for line in markdown.splitlines():
        if not line.startswith(("|", "- $")):
            assert not re.search(r"(?<!\\)(?:\\\\)*\|", line), line
    cells = re.split(r"(?<!\\) \| ", rows[2][2:-2])
    assert html.unescape(re.sub(r"\\(.)", r"\1", cells[0])) == name
    assert json.loads(audit_cli(*arguments, "json", status=status))["rows"][0]["run"] == name
    assert name in audit_cli(*arguments, "table", status=status)


def test_table_is_the_text_of_the_audit(files):  # noqa: ARG001
    qrels, run = pm.read_qrels("qrels"), pm.read_run("one.trec")
    stdout = audit_cli("qrels", "one.trec", "--claim", "P@1=0.3333", "--format", "table")
    assert stdout == f"{pm.audit(qrels, run, {'P@1': '0.3333'})}\n"


def test_decimals_of_the_command_are_those_of_the_library(files):  # noqa: ARG001
    audit_cli("qrels", "one.trec", "--claim", "P@1=0.3", "--decimals", "1")
    audit_cli("qrels", "one.trec", "--claim", "P@1=0.3", "--decimals", "4", status=1)


def test_query_ids_are_rewritten_if_asked_for(files, refused):
    (files / "labels").write_text("topic_001_1 0 a 1\n")
    (files / "ranked").write_text("topic_001_turn_1 Q0 a 1 1 t\n")
    arguments = ["labels", "ranked", "--claim", "P@1=1.0"]
    assert "--query-ids permed" in refused(*arguments)
    assert "ir_measures" in audit_cli(*arguments, "--query-ids", "permed")


def test_qrels_may_be_the_id_of_a_data_set():
    run = MEDICAL.runs["bm25"]
    [value] = pm.calc_aggregate(["GradedAP@10"], pm.read_qrels(MEDICAL.qrels), pm.read_run(run)).values()
    stdout = audit_cli("permed-sample", run, "--claim", f"MAP@10={value:.4f}")
    assert "GradedAP@10" in stdout
    assert stdout == audit_cli(MEDICAL.qrels, run, "--claim", f"MAP@10={value:.4f}")


def test_a_large_run_that_is_read_in_batches_has_the_same_audit(files, monkeypatch):  # noqa: ARG001
    arguments = ["qrels", "one.trec", "--claim", "P@1=0.3333", "--claim", "MAP=0.2778"]
    expected = audit_cli(*arguments)
    monkeypatch.setattr("permed_measures.files.read._LARGE", 0)
    assert audit_cli(*arguments) == expected


# --- conventions as data -------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [*Axis.__subclasses__(), TieBreak], ids=lambda axis: axis.__name__)
def test_every_value_of_an_axis_says_what_it_means_and_who_does_it(axis):
    assert len({axes.says(value) for value in axis}) == len(axis)
    for value in axis:
        assert axes.says(value).strip()
        assert axes.who(value).strip()


AXIS_OF = {
    "ties": TieBreak,
    "queries": QuerySet,
    "labels": Labels,
    "self_match": SelfMatch,
    "denominator": Denominator,
    "weights": Weights,
    "gain": Gain,
    "discount": Discount,
    "ideal": Ideal,
    "negative": Negative,
    "base": RecallBase,
}


def test_every_axis_has_a_title_and_what_tells_its_values_apart():
    for kind in (Setting, APChoice, NDCGChoice, LevelChoice):
        for each in fields(kind):
            assert AXES[each.name].strip()
    assert len(set(AXES.values())) == len(AXES)
    for axis, kind in AXIS_OF.items():
        for value in set(kind) - {DEFAULT.queries}:
            assert all(to_tell(axis, value, {"AP", "nDCG", "R"}, DEFAULT, {"ap": HALF}) or [""])
    for axis in ("level", "ap_level"):
        assert all(to_tell(axis, 2.0, {"AP", "nDCG", "R"}, DEFAULT, {"ap": HALF}) or [""])


@pytest.mark.parametrize(
    ("ours", "other", "text"),
    [
        (QuerySet.QRELS, QuerySet.BOTH, "judged queries that the run lacks"),
        (QuerySet.BOTH, QuerySet.BOTH_WITH_RELEVANT, "judged queries without relevant documents"),
        (QuerySet.BOTH, QuerySet.RUN, "queries of the run without judgments"),
        (QuerySet.WITH_RELEVANT, QuerySet.BOTH_WITH_RELEVANT, "judged queries that the run lacks"),
    ],
)
def test_what_tells_two_query_sets_apart(ours, other, text):
    for a, b in ((ours, other), (other, ours)):
        assert to_tell("queries", b, {"P"}, Setting(queries=a), {}) == (text,)


@pytest.mark.parametrize("named", NAMED, ids=lambda named: named.name)
def test_every_named_convention_has_its_texts(named):
    assert named.name.strip()
    assert named.source.strip()
    assert [each.name for each in NAMED].count(named.name) == 1
    for family, choice in named.choices.items():
        assert isinstance(choice, Choice)
        assert choice.sentence({"P"}, pooled=False).strip()
        assert bool(choice.latex()) == (family != "level")


def test_the_conventions_of_the_issue_have_names():
    names = " ".join(named.name for named in NAMED)
    for name in (
        "ir_measures",
        "trec_eval, pytrec_eval",
        "trec_eval -c",
        "gdeval",
        "ranx",
        "BEIR",
        "MTEB",
        "sentence-transformers",
        "PerMed standard",
        "hits found",
        "LitSearch",
        "tweet-search lab",
        "top-3 note",
    ):
        assert name in names


def test_every_setting_is_tried():
    assert len(set(SETTINGS)) == len(SETTINGS)
    assert {replace(setting, queries=q) for setting in SETTINGS for q in QuerySet} == set(ALL_SETTINGS)


def only_here(choice, plain, labels):
    """Return whether no measure has these gains: 1 for each of several grades, and something unusual."""
    if getattr(choice, "gain", None) is not Gain.BINARY:
        return False
    usual = (choice.discount, choice.ideal) == (Discount.LOG2, Ideal.QRELS)
    grades = {grade for docs in plain.qrels[labels].values() for grade in docs.values() if grade > 0}
    return grades != {1} and (not usual or any(grade % 1 for grade in grades))


@pytest.mark.parametrize(
    "grades", [[0, 1], [-1, 0, 1, 2], [-1, 0, 1, 2, 3], [0, 2], [0, 4], [0, 0.5, 1, 1.5], [0], [-1, 3]]
)
@pytest.mark.parametrize("labels", Labels)
def test_the_measure_of_every_choice_parses_back_and_has_its_value(grades, labels):
    rng = random.Random(3)
    documents = [f"d{i}" for i in range(15)]
    qrels = {f"q{i}": {d: rng.choice(grades) for d in rng.sample(documents, 9)} for i in range(5)}
    run = {f"q{i}": {d: rng.randrange(9) / 2 for d in rng.sample(documents, 12)} for i in range(4)}
    plain = Plain(qrels, run)
    [row] = pm.audit(qrels, run, dict.fromkeys(CLAIMS, "0.5000")).rows
    for audited, kind in zip(row.claims, CLAIMS.values(), strict=True):
        for choice in choices_for(kind, plain, labels):
            for cutoff in audited.claim.cutoffs:
                match = computed(audited, replace(DEFAULT, labels=labels), choice, cutoff)
                between = kind in ("P", "R", "RR") and choice.level % 1  # which ir_measures does not take
                capped = kind == "R" and choice.base is RecallBase.MIN
                if between or capped or only_here(choice, plain, labels):
                    assert match.measure is None
                    continue
                measure = pm.parse_measure(str(match.measure))
                assert measure == match.measure
                [value] = pm.calc_aggregate([measure], plain.qrels[labels], run).values()
                assert match.value == pytest.approx(value, abs=1e-12), match


def test_sentence_and_latex_differ_between_choices():
    for measure, top in [("AP", 2), ("AP", 3), ("nDCG", 2)]:
        choices = choices_for(measure, plain_graded(top))
        assert len({choice.sentence({measure}, pooled=False) for choice in choices}) == len(choices)
        assert len({choice.latex() for choice in choices}) == len(choices)
    levels = choices_for("R", plain_graded(3))
    assert len({choice.sentence({"R"}, pooled=False) for choice in levels}) == len(levels)
