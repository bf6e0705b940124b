"""Numbers computed by a known convention are explained by it."""

import math
import random
import re
from dataclasses import replace

import pytest
from audit_helpers import AP, binary, graded, plain_graded, printed_as, row_made
from audit_loops import Plain, convention_of, flat, means_something
from effort import effort, seeds

import permed_measures as pm
from permed_measures.auditing.answers import MOST_CHANGES
from permed_measures.auditing.matrix import ClaimMatrix
from permed_measures.auditing.messages import in_two_lines, within_ties
from permed_measures.auditing.search import answers_to
from permed_measures.conventions.named import COMMUNITY, NAMED
from permed_measures.conventions.options import OPTIONS_OF, SHARED, Setting, changes_of
from permed_measures.conventions.records import OPTIONS

MEASURES = {"MAP@10": "AP", "nDCG@5": "nDCG", "P@5": "P", "R@20": "R", "MRR@10": "RR", "hit@5": "Success"}


def near_a_named_one(rng, measures, levels):
    """Draw a convention with up to two changes from a named one; return it with that name."""
    named = rng.choice([each for each in NAMED if all(map(each.has, measures))])
    options = [each for each in OPTIONS if each in SHARED or any(each in OPTIONS_OF[m] for m in measures)]
    changed = rng.sample(options, rng.randint(0, MOST_CHANGES))
    own = {f"{each} of {measure}" for each in changed for measure in measures}
    return named, {
        **{option: value for option, value in flat(named.convention).items() if option not in own},
        **{each: rng.choice(OPTIONS[each].values_for(measures, levels)) for each in changed},
    }


@pytest.mark.parametrize("seed", seeds(4, 30))
def test_a_row_made_near_a_named_convention_is_explained_with_as_few_changes(seed):
    rng, values = random.Random(seed), {}
    while not values or any(math.isnan(value) or abs(value) > 1 for value in values.values()):
        plain = plain_graded(rng.choice([1, 2, 3]))
        names = rng.sample(list(MEASURES), rng.choice([1, 2, 3]))
        named, how = near_a_named_one(rng, [MEASURES[name] for name in names], [1.0, 2.0])
        if all(means_something(MEASURES[name], how, plain) for name in names):
            values = {name: plain.mean(MEASURES[name], how, int(name.split("@")[1])) for name in names}
    result = pm.audit(*graded_of(plain), {name: f"{value:.4f}" for name, value in values.items()})
    answers = answers_to(result.trials)  # the audit adds that one claim may be a typo
    assert all(answer.complete for answer in answers), (names, named.name, how)
    n_changes = len(changes_of(convention_of(result.trials, how), named.with_cutoffs(result.trials)))
    for answer in answers:
        assert answer.n_changes == len(answer.changes) <= n_changes
        for trial in answer.trials:
            own = answer.convention[trial.measure]
            value = plain.mean(trial.measure, own, trial.cutoff(answer.convention))
            assert trial.value(answer.convention) == pytest.approx(value, abs=1e-9)
            assert f"{value:.4f}" == trial.claim.text or abs(value - float(trial.claim.text)) < 6e-5
    assert str(result)


def graded_of(plain):
    return plain.qrels["grades"], plain.run


@pytest.mark.parametrize("named", effort(NAMED[::8], NAMED), ids=lambda each: each.name)
def test_claims_of_a_named_convention_are_explained_by_its_name(named):
    levels = [options["level"] for options in named.convention.values() if "level" in options]
    plain = plain_graded(max(2, int(max(levels))))
    names = {name: measure for name, measure in MEASURES.items() if named.has(measure)}
    result = pm.audit(*graded_of(plain), row_made(plain, flat(named.convention), names=names))
    assert result.ok
    assert named.name in [answer.name for answer in result.answers]
    assert all(answer.changes == [] for answer in result.answers)
    assert named.name in str(result)
    others = [answer.named.name for answer in result.best[1:]]
    [equal] = [each.texts for each in result.report().sections if each.heading == "Equally good"] or [[]]
    assert equal == in_two_lines(others)


@pytest.mark.parametrize(
    ("name", "cutoff", "change", "said"),
    [
        ("MAP", 10, "cutoff of MAP: 10 (not: none)", "AP@10 with binary relevance"),
        ("MAP@10", None, "cutoff of MAP@10: none (not: 10)", "AP with binary relevance"),
    ],
)
def test_a_cutoff_that_the_name_does_not_say_is_a_change(name, cutoff, change, said):
    qrels, runs = binary()
    values = {row: Plain(qrels, run).mean("AP", AP, cutoff) for row, run in runs.items()}
    result = pm.audit(qrels, runs, {row: {name: f"{value:.6f}"} for row, value in values.items()})
    answer = result.answers[0]
    assert (answer.name, answer.changes) == ("ir_measures with 1 change", [change])
    assert answer.sentence().startswith(said)
    assert f"cutoff of {name}" not in answer.equivalents
    assert f"  change: {change}\n" in str(result)


@pytest.mark.parametrize("queries", ["qrels", "both"])
def test_the_sentence_is_right_for_a_table_whose_second_row_lacks_queries(queries):
    qrels, runs = binary()
    whole = {query: dict.fromkeys(docs, 1.0) for query, docs in qrels.items()}
    runs = {"whole": {**whole, **runs["first"]}, "lacking": runs["second"]}
    table = {name: row_made(Plain(qrels, run), {"queries": queries}) for name, run in runs.items()}
    answer = pm.audit(qrels, runs, table).answers[0]
    said = {"qrels": "all 41 queries of the qrels", "both": "the intersection of qrels and run"}[queries]
    assert f"averaged over {said}" in answer.sentence()
    assert not {"qrels", "both"} <= set(answer.equivalents[Setting("queries")])


@pytest.mark.parametrize(
    ("claims", "sentence"),
    [
        (
            {"nDCG@10": "nDCG@10", "NDCG_cut_5": "nDCG@5"},
            "nDCG@10 and nDCG@5 with linear gains, log2 discount, ideal from the qrels",
        ),
        ({"P@10": "P@10", "P@5": "P@5", "P@1": "P@1"}, "P@10, P@5 and P@1"),
        ({"infAP": "infAP"}, "infAP"),
        ({"MAP@10": "AP@10", "R@20": "R@20"}, "AP@10 with binary relevance, divided by R; R@20"),
    ],
)
def test_the_verdict_is_one_sentence_as_a_paper_would_write_it(claims, sentence):
    qrels, run = graded(2)
    values = {name: f"{pm.calc_aggregate([m], qrels, run).popitem()[1]:.6f}" for name, m in claims.items()}
    result = pm.audit(qrels, run, values)
    text = f"{sentence}; averaged over all 37 queries of the qrels"
    assert result.answers[0].sentence() == text
    assert " ".join(str(result).split()).startswith(f"{result.verdict.capitalize()}: {text}. ")


def test_where_all_judged_documents_are_relevant_the_sentence_has_no_weights():
    qrels, run = graded(2)
    row = row_made(Plain(qrels, run), {"labels": "pool"}, 7, {"MAP@10": "AP", "P@10": "P"})
    assert pm.audit(qrels, run, row).best[0].sentence() == (
        "AP@10 divided by R; P@10; averaged over all 37 queries of the qrels; every judged document counts "
        "as relevant, whatever its grade"
    )


def test_nothing_is_said_of_a_measure_that_is_not_explained():
    qrels, run = graded(2)
    row = row_made(Plain(qrels, run), AP, 7)
    result = pm.audit(qrels, run, {**row, "P@10": f"{float(row['P@10']) + 1e-7:.7f}"})
    [answer] = [answer for answer in result.best if answer.named is COMMUNITY]
    assert len(answer.explained) == 2
    assert "P@10" not in re.split("[; ]", answer.sentence())
    assert not {*OPTIONS_OF["P"], "cutoff of P@10"} & {*map(str, answer.equivalents)}


@pytest.mark.parametrize("top", [1, 2])
def test_an_ideal_list_of_ones_is_named_and_explained(top):
    """The script divides by the DCG of k ones; on binary labels its gain equals the default."""
    rng = random.Random(2)
    qrels = {f"q{i}": {f"d{j}": rng.randint(0, top) for j in range(8)} for i in range(30)}
    run = {query: {f"d{j}": rng.random() for j in range(12)} for query in qrels}
    value = Plain(qrels, run).mean("nDCG", {"gain": "binary", "ideal": "full"}, 5)
    result = pm.audit(qrels, run, {"nDCG@5": f"{value:.6f}"})
    assert result.ok
    gains = "linear gains" if top == 1 else "binary gains"
    sentence = f"nDCG@5 with {gains}, log2 discount, ideal of k relevant documents"
    assert result.best[0].sentence().startswith(sentence)


def test_micro_averages_of_p_r_and_f1_and_the_cutoffs_of_f1_are_one_change():
    qrels, run = graded(2)
    plain, names = Plain(qrels, run), {"P@5": "P", "R@5": "R", "F1@5": "F1"}
    micro = {name: plain.mean(measure, {"averaging": "micro"}, 5) for name, measure in names.items()}
    result = pm.audit(qrels, run, {name: f"{value:.5f}" for name, value in micro.items()})
    assert result.best[0].changes == [
        "averaging of P, R, Success and F1: precision and recall of all queries together "
        "(not: the value of each query, then the mean)"
    ]
    two = {
        "P@5": plain.mean("P", {}, 5),
        "R@20": plain.mean("R", {}, 20),
        "F1": plain.mean("F1", {}, (5, 20)),
    }
    answer = pm.audit(qrels, run, {name: f"{value:.5f}" for name, value in two.items()}).best[0]
    assert answer.changes == ["cutoff of F1: 5 for precision, 20 for recall (not: 10)"]
    assert answer.sentence().startswith("P@5; R@20; F1 of P@5 and R@20; averaged over all 37 queries")
    mixed = {name: plain.mean(names[name], {}, 5) for name in ("P@5", "R@5")}
    mixed["F1@5"] = plain.mean("F1", {"f1": "means"}, 5)
    result = pm.audit(qrels, run, {name: f"{value:.5f}" for name, value in mixed.items()})
    sentence = "P@5; R@5; F1@5 of the mean P and the mean R; averaged over all 37 queries of the qrels"
    assert answers_to(result.trials)[0].sentence() == sentence
    [left] = result.exceptions  # for one claim alone, many random numbers would match
    assert left.changes[0].startswith("what F1 is of: F1 of the mean precision")


@pytest.mark.parametrize(
    ("claim", "tied", "within"), [("0.6", True, True), ("0.1", True, False), ("0.6", False, False)]
)
def test_a_number_that_some_order_of_ties_may_give_is_said_to_be_within_them(claim, tied, within):
    scores = {doc: 1.0 if tied else -rank for rank, doc in enumerate("beacd")}
    result = pm.audit({"q": {"c": 1}}, {"q": scores}, {"RR": claim})
    text = f"RR: {claim} is within what the order of equal scores allows, 0.2 to 1.0."
    assert result.ties == [text] * within
    assert (text in " ".join(str(result).split())) == within
    assert not result.ok


@pytest.mark.parametrize(("text", "within"), [("0.1", False), ("0.2", True), ("0.9", True), ("1.0", True)])
def test_both_ends_of_what_ties_allow_are_within_them(text, within):
    """A relevant document in a tie of five can have any rank from 1 to 5; by its id it is third."""
    answer = pm.audit({"q": {"c": 1}}, {"q": dict.fromkeys("beacd", 1.0)}, {"RR": "0.3"}).best[0]
    [trial] = answer.trials
    other = replace(answer, matrix=ClaimMatrix([printed_as(trial, text)], NAMED))
    said = f"RR: {text} is within what the order of equal scores allows, 0.2 to 1.0."
    assert within_ties(other) == [said] * within


@pytest.mark.parametrize(("tied", "said"), [([True], True), ([False], False), ([True, False], False)])
def test_a_rounding_that_one_claim_needs_in_any_order_is_not_called_needless(tied, said):
    """23 of 61 is 0.37705 and prints as 0.3770, or as 0.3771 if it is rounded to five digits before."""
    qrels = {f"q{number}": {"b": 1} for number in range(61)}
    first = {query_id: {"b": 2.0 if number < 23 else 0.0, "a": 1.0} for number, query_id in enumerate(qrels)}
    ties = {**first, "q0": {"a": 1.0, "b": 1.0}, "q60": {"b": 1.0, "c": 1.0}}
    runs = {str(number): ties if each else first for number, each in enumerate(tied)}
    result = pm.audit(qrels, runs, {name: {"P@1": "0.3771"} for name in runs})
    assert result.best[0].options["rounding"] == "five_digits"
    assert ("no rounding is needed then" in " ".join(str(result).split())) == bool(result.ties) == said
