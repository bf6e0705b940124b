"""Numbers made by a known convention are explained by it."""

import math
import random
from dataclasses import fields, replace
from decimal import Decimal

import pytest
from audit_helpers import (
    AP,
    DEFAULT,
    NAMES,
    binary,
    graded,
    plain_graded,
    printed,
    random_claim,
    random_setting,
    row_by,
    row_made,
)
from audit_loops import Plain, computed
from effort import effort

import permed_measures as pm
from permed_measures.audits.choices import APChoice
from permed_measures.audits.conventions import COMMUNITY, NAMED, Setting
from permed_measures.audits.levels import LevelChoice
from permed_measures.audits.options import Denominator, Discount, LabelPolicy, QuerySet, Weights
from permed_measures.papers.claims import parse_claims


def assert_explained(plain, name, text, setting, choice, cutoff):
    [row] = pm.audit(plain.qrels[LabelPolicy.GRADES], plain.run, {name: text}).rows
    [audited] = row.claims
    assert row.ok
    assert audited.explained
    matches = [(match.setting, match.choice, match.cutoff) for match in audited.matches]
    assert (setting, choice, cutoff) in matches, (name, text)
    assert {match.printed for match in audited.matches} == {text}


@pytest.mark.parametrize("seed", range(effort(5, 40)))
def test_the_true_convention_of_a_claim_is_among_the_matches_on_litsearch(litsearch, seed):
    rng = random.Random(seed)
    plain = rng.choice(list(litsearch.values()))
    setting, measure = random_setting(rng), rng.choice(list(NAMES))
    name, choice, cutoff, value = random_claim(rng, plain, measure, setting)
    assert_explained(plain, name, printed(rng, value), setting, choice, cutoff)


@pytest.mark.parametrize("seed", range(effort(4, 40)))
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
    result = pm.audit(plain.qrels[LabelPolicy.GRADES], plain.run, claims)
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


@pytest.mark.parametrize("seed", range(effort(1, 8)))
def test_a_row_made_by_one_convention_is_explained_on_litsearch(litsearch, seed):
    rng = random.Random(1000 + seed)
    assert_row_explained(rng, rng.choice(list(litsearch.values())), random_setting(rng))


@pytest.mark.parametrize("seed", range(effort(4, 10)))
def test_a_row_made_by_one_convention_is_explained_on_graded_data(seed):
    rng = random.Random(1000 + seed)
    assert_row_explained(rng, plain_graded(rng.choice([1, 2, 3])), random_setting(rng))


def highest_level(named):
    """Return the highest grade from which on a convention takes documents as relevant."""
    return max(getattr(choice, "ap_level", 1) for choice in named.choices.values())


OF_BINARY_LABELS = [named for named in NAMED if highest_level(named) == 1]


@pytest.mark.parametrize(
    ("named", "top"),
    [
        *((named, 2) for named in effort(NAMED[::4], NAMED)),
        *((named, 1) for named in effort([], OF_BINARY_LABELS)),
    ],
    ids=lambda each: getattr(each, "name", None),
)
def test_claims_of_a_named_convention_are_explained_by_its_name(named, top):
    plain = plain_graded(top)
    result = pm.audit(plain.qrels[LabelPolicy.GRADES], plain.run, row_by(named, plain))
    assert result.ok
    assert named.name in [answer.name for answer in result.answers]
    for answer in result.answers:
        assert answer.changes == []
        assert answer.setting == answer.named.setting
    assert named.name in str(result)


@pytest.mark.parametrize(
    "named", effort(OF_BINARY_LABELS[::4], OF_BINARY_LABELS), ids=lambda named: named.name
)
def test_claims_of_a_named_convention_are_explained_by_its_name_on_litsearch(litsearch, named):
    plain = litsearch["bm25"]
    result = pm.audit(plain.qrels[LabelPolicy.GRADES], plain.run, row_by(named, plain))
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
    assert result.answers[0].name == "gdeval"
    assert all(not answer.changes for answer in result.answers)
    assert "The mean is taken over the queries of the run that have a relevant document." in str(result)


def test_a_change_of_a_named_convention_is_said():
    plain = plain_graded(2)
    [gdeval] = [named for named in NAMED if named.name == "gdeval"]
    changed = replace(gdeval, choices={"ndcg": replace(gdeval.choice("ndcg"), discount=Discount.ZIPF)})
    result = pm.audit(plain.qrels[LabelPolicy.GRADES], plain.run, row_by(changed, plain))
    names = {answer.name: answer.changes for answer in result.answers}
    change = "discount of nDCG: discount 1/i (not: discount 1/log2(i+1))"
    assert names["gdeval with 1 change"] == [change]
    assert f"  change: {change}" in str(pm.audit(*graded(2), row_by(changed, plain)))


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
    assert not {QuerySet.QRELS, QuerySet.BOTH} <= set(result.answers[0].equivalents()["queries"])


def test_no_answer_is_a_choice_that_means_nothing_on_these_labels():
    qrels, run = graded(3)  # where g/2 would be above 1
    p = Plain(qrels, run).mean("P", DEFAULT, LevelChoice(1.0), 10)
    result = pm.audit(qrels, run, {"P@10": f"{p:.6f}", "MAP@10": "0.0123457"})
    for answer in result.best:
        assert len(answer.explained) == 1
        assert not any(math.isnan(answer.given(told).value) for told in answer.claims)


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
    family = parse_claims([{name: "0.5"}])[0][0].family
    options_of_it = {each.name for each in fields(COMMUNITY.choice(family))} | {f"cutoff of {name}"}
    for word in words:
        assert word not in answer.sentence()
    assert not any(text.startswith(rf"\mathrm{{{words[-1]}}}") for text in answer.latex())
    assert not options_of_it & set(answer.equivalents())
    assert name not in {told.claim.name for _, _, told, _ in answer.alternatives()}
    assert len(answer.latex()) == (2 if name == "P@10" else 1)
    whole = pm.audit(qrels, runs, row_made(Plain(qrels, runs), DEFAULT, AP, 7)).answers[0]
    assert all(word in whole.sentence() for word in words[:1])


@pytest.mark.parametrize(
    ("claims", "start"),
    [
        ({"nDCG@10": "nDCG@10"}, "nDCG has gain g, discount"),
        ({"P@10": "P@10"}, "Documents of grade 1 or more"),
        ({"infAP": "infAP"}, "infAP is computed as defined"),
        ({"MAP@10": "AP@10"}, "AP is binary"),
    ],
)
def test_a_sentence_begins_with_a_capital_but_for_a_name(claims, start):
    qrels, run = graded(2)
    values = {name: f"{pm.calc_aggregate([m], qrels, run).popitem()[1]:.6f}" for name, m in claims.items()}
    sentence = pm.audit(qrels, run, values).answers[0].sentence()
    assert sentence.startswith(start)
    assert ". The mean is taken over all 37 queries of the qrels." in sentence
