"""The joint answer to several claims is that of all conventions near the named ones, one by one."""

import math
import random
from itertools import combinations, product

import pytest
from audit_helpers import binary, graded, plain_graded, printed_as, row_made
from audit_loops import Plain, means_something
from effort import effort

import permed_measures as pm
from permed_measures.audits.search import answers_to
from permed_measures.conventions.named import NAMED
from permed_measures.conventions.options import CUTOFF, OPTIONS, OPTIONS_OF, SHARED

NAMES = ("ir_measures", "DPR", "ranx", "gdeval", "PerMed standard")[: effort(3, 5)]
BASES = [named for named in NAMED if named.name in NAMES]


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


def near(base, options, n):
    """Yield the conventions that differ from a base in so many options, by plain loops."""
    for changed in combinations(options, n):
        for values in product(*(options[option] for option in changed)):
            new = dict(zip(changed, values, strict=True))
            if all(base[option] != value for option, value in new.items()):
                yield {**base, **new}


def options_of(measures, cutoffs, levels):
    """Return the values of each option of a row, by a plain list."""
    mine = [name for name in OPTIONS if name in SHARED or any(name in OPTIONS_OF[m] for m in measures)]
    return {name: OPTIONS[name].values_for(measures, levels) for name in mine} | cutoffs


def explained(trials, plains, convention):
    """Return the claims that a convention prints, by plain loops; None if it means nothing for one."""
    found = set()
    for trial in trials:
        plain, claim = plains[trial.row], trial.claim
        own = {name: convention[name] for name in (*SHARED, *OPTIONS_OF[claim.measure])}
        if not means_something(claim.measure, own, plain):
            return None
        number = plain.mean(claim.measure, own, convention.get(CUTOFF + claim.name, 2))
        half = 0.0005 + (5e-6 if convention["rounding"] == "five_digits" else 0)
        if math.isnan(number):
            return None
        found |= {trial} if abs(number - float(claim.text)) <= half + 1e-12 else set()
    return found


@pytest.mark.parametrize(
    "measures",
    [pytest.param({"MAP@2": "AP"}, marks=pytest.mark.thorough), {"R@2": "R", "P@2": "P"}],
    ids=" ".join,
)
@pytest.mark.parametrize("seed", range(effort(1, 2)))
def test_the_joint_answer_is_that_of_all_conventions_near_the_named_ones(measures, seed):
    rng = random.Random(f"{measures} {seed}")
    qrels, runs = tiny(rng)
    others = {name: [each for other, each in runs.items() if other != name] for name in runs}
    plains = {name: Plain(qrels, run, others[name]) for name, run in runs.items()}
    trials = pm.audit(qrels, runs, dict.fromkeys(runs, dict.fromkeys(measures, "0.500"))).trials
    trials = [
        printed_as(trial, rng.choice(["0.500", "0.333", "0.250", "0.611", "0.444"])) for trial in trials
    ]
    cutoffs = {CUTOFF + "MAP@2": (2, None)} if "MAP@2" in measures else {}
    options = options_of(
        measures.values(), cutoffs, [1.0, 2.0][: int(plains["first"].top({"labels": "grades"}))]
    )
    best = {}
    for named in (each for each in BASES if all(map(each.has, measures.values()))):
        base = {option: named.options.get(option, 2) for option in options}
        found = ((n, explained(trials, plains, each)) for n in range(3) for each in near(base, options, n))
        best[named.name] = max((len(each), -n) for n, each in found if each is not None)
    answers = answers_to(trials, BASES)
    most = max(best.values())
    assert {each.named.name for each in answers} == {name for name, each in best.items() if each == most}
    for answer in answers:
        assert (len(answer.explained), -answer.n_changes) == most
        assert set(answer.explained) == explained(trials, plains, answer.options)


ROW = {"MAP@10": "AP", "nDCG@10": "nDCG", "MRR@10": "RR"}
PAIR = {"MAP@10": "AP", "MRR@10": "RR"}


def test_one_measure_has_an_option_for_itself_where_no_convention_explains_a_table():
    """What one convention explains needs none."""
    qrels, runs = binary()
    own = {"queries of RR": "both"}
    made, plain = (
        pm.audit(
            qrels, runs, {name: row_made(Plain(qrels, run), how, names=PAIR) for name, run in runs.items()}
        )
        for how in (own, {})
    )
    assert (made.ok, made.verdict, made.best[0].n_changes) == (True, "certain", 1)
    assert made.best[0].options.items() >= own.items()
    assert "for RR alone, query set: the intersection of qrels and run" in made.best[0].sentence()
    assert "query set of RR: the intersection of qrels and run" in " ".join(str(made).split())
    assert (plain.ok, plain.best[0].n_changes) == (True, 0)
    assert not {*plain.best[0].options} & {*own}


@pytest.mark.thorough
def test_a_row_with_another_query_set_for_one_measure_is_explained():
    qrels, run = graded(2)
    names = {**ROW, "MRR@5": "RR"}
    row = row_made(plain_graded(2), {"queries of RR": "both"}, names=names)
    result = pm.audit(qrels, run, row)
    assert result.best[0].changes == [
        "query set of RR: the intersection of qrels and run (not: as for the other measures)"
    ]
    assert (result.ok, result.verdict) == (True, "certain")


@pytest.mark.thorough
def test_wrong_numbers_of_one_measure_are_not_said_to_be_its_own():
    names = {**ROW, "MRR@5": "RR"}
    row = row_made(plain_graded(2), {"queries of RR": "both"}, names=names)
    wrong = pm.audit(*graded(2), {**row, "MRR@10": "0.4566", "MRR@5": "0.4321"})
    assert not wrong.ok
    assert "for RR alone" not in str(wrong)
