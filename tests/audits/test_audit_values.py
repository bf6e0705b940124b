"""Every convention that an audit computes has the value of plain loops."""

import math
import random
from dataclasses import replace

import cases
import polars as pl
import pytest
from audit_helpers import AP, DEFAULT
from audit_loops import (
    ALL_SETTINGS,
    CLAIMS,
    FAMILY,
    Plain,
    choices_for,
    computed,
    conversations,
    every_convention,
    is_off,
    means_something,
    n_changes,
    rarely_tried,
    small_case,
)
from effort import effort

import permed_measures as pm
from permed_measures.audits.conventions import COMMUNITY, Setting
from permed_measures.audits.levels import LevelChoice
from permed_measures.audits.options import (
    Discount,
    Documents,
    Gain,
    Ideal,
    LabelPolicy,
    QuerySet,
    RecallBase,
    SelfMatch,
)
from permed_measures.engine.ranks import TieBreak
from permed_measures.papers.claims import parse_claims
from permed_measures.results.report import FORMATS


@pytest.mark.parametrize("seed", range(effort(3, 15)))
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
                cutoffs = audited.claim.cutoffs
                cutoff = rng.choice([each for each in cutoffs if not is_off(measure, cutoffs, each)])
                expected = plain.mean(measure, setting, choice, cutoff)
                match = computed(audited, setting, choice, cutoff)
                assert match.value == pytest.approx(expected, abs=1e-9, nan_ok=True), (
                    setting,
                    choice,
                    cutoff,
                )
                assert (match.setting, match.choice, match.cutoff) == (setting, choice, cutoff)


@pytest.mark.filterwarnings("ignore::permed_measures.PermedWarning")  # of runs without judged documents
@pytest.mark.parametrize("seed", range(effort(3, 20)))
def test_rare_conventions_have_the_values_of_plain_loops(seed):
    """And what is not tried has none."""
    rng = random.Random(seed)
    qrels, run = conversations(*small_case(rng))
    other = dict(rng.sample(list(run.items()), max(1, len(run) - 1)))
    groups = {query: rng.choice("ab") for query in qrels if rng.random() < 0.8}
    plain = Plain(qrels, run, [other], groups)
    claims = dict.fromkeys(CLAIMS, "0.5000")
    row, _ = pm.audit(qrels, {"a": run, "b": other}, {"a": claims, "b": claims}, by=groups).rows
    n_known = 0
    for audited, measure in zip(row.claims, CLAIMS.values(), strict=True):
        every = list(rarely_tried(measure, plain, audited.claim.cutoffs))
        for setting, choice, cutoff in rng.sample(every, min(len(every), 150)):
            match = computed(audited, setting, choice, cutoff)
            known = means_something(setting, plain)
            expected = plain.mean(measure, setting, choice, cutoff) if known else math.nan
            assert match.value == pytest.approx(expected, abs=1e-9, nan_ok=True), (setting, choice, cutoff)
            n_known += not math.isnan(expected)
    assert n_known > 100
    strict = Setting(labels=LabelPolicy.STRICT, queries=QuerySet.WITH_HIT)  # two rare values at once
    assert math.isnan(computed(row.claims[0], strict, AP, 5).value)


@pytest.mark.parametrize("seed", range(effort(1, 3)))
def test_all_conventions_are_tried_and_all_that_print_the_digits_are_matches(seed):
    rng = random.Random(seed)
    qrels, run = small_case(rng)
    plain = Plain(qrels, run)
    for name, measure in [("MAP@5", "AP"), ("nDCG@5", "nDCG"), ("R@4", "R")]:
        cutoffs = (4,) if measure == "R" else (5, None)
        tried = every_convention(measure, plain, cutoffs)
        values = {convention: plain.mean(measure, *convention) for convention in tried}
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
        assert audited.n_tried >= sum(not math.isnan(value) for value in values.values())
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
    claims = dict.fromkeys(effort(["MAP@5", "P@3"], CLAIMS), "0.5000")
    [expected] = pm.audit(qrels, run, claims).rows
    make = cases.FORMS[form]
    given = make(cases.rows_of(qrels), "relevance"), make(cases.rows_of(run), "score")
    [row] = pm.audit(*given, claims).rows
    for ours, theirs in zip(row.claims, expected.claims, strict=True):
        assert ours.choices == theirs.choices
        for setting in rng.sample(ALL_SETTINGS, 12):
            for choice in ours.choices:
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
    for form in FORMATS:
        assert result.to(form)


def nearness(name, measure, plain, number):
    """Return by printed number how near it is, and by how few changes from the default it is made."""
    found = {}
    cutoffs = parse_claims([{name: "0.5"}])[0][0].cutoffs
    for setting, choice, cutoff in every_convention(measure, plain, cutoffs):
        value = plain.mean(measure, setting, choice, cutoff)
        if not math.isnan(value):
            changes = (
                n_changes(setting, DEFAULT)
                + n_changes(choice, COMMUNITY.choice(FAMILY[measure]))
                + (cutoff != cutoffs[0])
            )
            least = found.get(f"{value:.3f}", (math.inf, math.inf))
            found[f"{value:.3f}"] = (min(least[0], abs(value - number)), min(least[1], changes))
    return found


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
@pytest.mark.parametrize("labels", [LabelPolicy.GRADES, LabelPolicy.POOL])
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
                if is_off(kind, audited.claim.cutoffs, cutoff):
                    continue
                match = computed(audited, replace(DEFAULT, labels=labels), choice, cutoff)
                between = kind in ("P", "R", "RR") and choice.level % 1  # which ir_measures does not take
                capped = kind == "R" and choice.base is RecallBase.MIN
                if kind == "F1" or between or capped or only_here(choice, plain, labels):
                    assert match.measure is None
                    continue
                measure = pm.parse_measure(str(match.measure))
                assert measure == match.measure
                [value] = pm.calc_aggregate([measure], plain.qrels[labels], run).values()
                assert match.value == pytest.approx(value, abs=1e-12), match


@pytest.mark.parametrize("tiny", [1e-3, 1e-46], ids=["small", "0 as a float32"])
def test_scores_of_0_are_left_out_alike_in_mappings_and_frames(tiny):
    rng = random.Random(0)
    scores = [2.0, 1.0, 1.0, tiny, tiny, 0.0, 0.0, -1.0]
    qrels = {f"q{i}": {f"d{j}": rng.randrange(3) for j in range(8)} for i in range(9)}
    run = {q: dict(zip(rng.sample(list(docs), 8), scores, strict=True)) for q, docs in qrels.items()}
    rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
    frame = pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")
    plain = Plain(qrels, run)
    for form in (run, frame):
        [claim] = pm.audit(qrels, form, {"MAP@5": "0.5"}).rows[0].claims
        for ties in (TieBreak.TREC, TieBreak.INPUT):
            setting = Setting(ties, documents=Documents.POSITIVE)
            value = claim.at(setting, COMMUNITY.choice("ap"), 5).value
            assert value == pytest.approx(plain.mean("AP", setting, COMMUNITY.choice("ap"), 5))
    high = {query: {doc: score + 2 for doc, score in docs.items()} for query, docs in run.items()}
    [claim] = pm.audit(qrels, high, {"MAP@5": "0.5"}).rows[0].claims
    kept = Setting(TieBreak.TREC, documents=Documents.POSITIVE)
    assert (
        claim.at(kept, COMMUNITY.choice("ap"), 5).value == claim.at(DEFAULT, COMMUNITY.choice("ap"), 5).value
    )
