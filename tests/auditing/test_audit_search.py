"""The answer to several claims equals a plain loop over all conventions near the named ones."""

import math
import random
from itertools import combinations, product
from types import SimpleNamespace

import pytest
from audit_helpers import AP, HALF, binary, graded, plain_graded, printed_as, row_made
from audit_loops import Plain, means_something
from effort import effort, seeds

import permed_measures as pm
from permed_measures.auditing.measured_claims import sample_rows
from permed_measures.auditing.search import answers_to
from permed_measures.conventions.named import NAMED
from permed_measures.conventions.options import CUTOFF_OF, OPTIONS_OF, SHARED
from permed_measures.conventions.records import OPTIONS

NAMES = ("ir_measures", "DPR", "ranx", "gdeval", "PerMed standard")[: effort(3, 5)]
BASES = [named for named in NAMED if named.name in NAMES]


def tiny(rng):
    """Make qrels and two runs of a few queries, with ties, missing queries and negative grades."""
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
    """Yield the conventions that differ from a base in `n` options, by plain loops.

    Measures that share a value change it together.
    """
    groups = [
        (option, {m for m in base if base[m].get(option) == value})
        for option in options
        for value in {base[m][option] for m in base if option in base[m]}
    ]
    for changed in combinations(groups, n):
        for values in product(*(options[option] for option, _ in changed)):
            new = {m: {**base[m]} for m in base}
            for (option, measures), value in zip(changed, values, strict=True):
                for measure in measures:
                    new[measure][option] = value
            if all(new[m][option] != base[m][option] for option, measures in changed for m in measures):
                yield new


def options_of(measures, cutoffs, levels):
    """List the values of each option of a row."""
    mine = [name for name in OPTIONS if name in SHARED or any(name in OPTIONS_OF[m] for m in measures)]
    return {name: OPTIONS[name].values_for(measures, levels) for name in mine} | cutoffs


def explained(trials, plains, convention):
    """List the claims that a convention prints, by plain loops; None if it is not defined for one."""
    found = set()
    for trial in trials:
        plain, claim, own = plains[trial.row], trial.claim, convention[trial.measure]
        if not means_something(claim.measure, own, plain):
            return None
        number = plain.mean(claim.measure, own, own[CUTOFF_OF + claim.name])
        half = 0.0005 + (5e-6 if own["rounding"] == "five_digits" else 0)
        if math.isnan(number):
            return None
        found |= {trial} if abs(number - float(claim.text)) <= half + 1e-12 else set()
    return found


@pytest.mark.parametrize(
    "measures",
    [pytest.param({"MAP@2": "AP"}, marks=pytest.mark.thorough), {"R@2": "R", "P@2": "P"}],
    ids=" ".join,
)
@pytest.mark.parametrize("seed", seeds(1, 2))
def test_the_joint_answer_is_that_of_all_conventions_near_the_named_ones(measures, seed):
    rng = random.Random(f"{measures} {seed}")
    qrels, runs = tiny(rng)
    others = {name: [each for other, each in runs.items() if other != name] for name in runs}
    plains = {name: Plain(qrels, run, others[name]) for name, run in runs.items()}
    trials = pm.audit(qrels, runs, dict.fromkeys(runs, dict.fromkeys(measures, "0.500"))).trials
    trials = [
        printed_as(trial, rng.choice(["0.500", "0.333", "0.250", "0.611", "0.444"])) for trial in trials
    ]
    cutoffs = {CUTOFF_OF + "MAP@2": (2, None)} if "MAP@2" in measures else {}
    options = options_of(
        measures.values(), cutoffs, [1.0, 2.0][: int(plains["first"].top({"labels": "grades"}))]
    )
    best = {}
    for named in (each for each in BASES if all(map(each.has, measures.values()))):
        base = named.with_cutoffs(trials)
        found = ((n, explained(trials, plains, each)) for n in range(3) for each in near(base, options, n))
        best[named.name] = max((len(each), -n) for n, each in found if each is not None)
    answers = answers_to(trials, BASES)
    most = max(best.values())
    assert {each.named.name for each in answers} == {name for name, each in best.items() if each == most}
    for answer in answers:
        assert (len(answer.explained), -answer.n_changes) == most
        assert set(answer.explained) == explained(trials, plains, answer.convention)


ROW = {"MAP@10": "AP", "nDCG@10": "nDCG", "MRR@10": "RR"}
PAIR = {"MAP@10": "AP", "MRR@10": "RR"}


def test_one_measure_has_an_option_for_itself_where_no_convention_explains_a_table():
    """If one convention explains all claims, no measure is set apart."""
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
    assert "queries of RR" not in plain.best[0].options


def test_one_claim_of_a_measure_has_no_option_for_itself():
    """It may be a typo, no matter how many claims of other measures there are."""
    qrels, runs = binary()
    row = row_made(Plain(qrels, runs["first"]), {"queries of RR": "both"}, 7, {**PAIR, "MAP@5": "AP"})
    result = pm.audit(qrels, runs["first"], row)
    assert not result.ok
    assert "for RR alone" not in str(result)


def test_a_large_table_is_searched_on_some_rows_and_said_of_all(monkeypatch):
    """Rows b, e and f are computed differently, c has a typo; a and d are searched, then b."""
    qrels, runs = binary()
    runs = {name: runs["second" if name in "bcf" else "first"] for name in "abcdef"}
    table = {
        name: row_made(Plain(qrels, run), HALF if name in "bef" else AP, 7, PAIR)
        for name, run in runs.items()
    }
    table["c"]["MRR@10"] = "0.9876543"
    for constant, value in (
        ("measured_claims._LARGE_TABLE", 11),
        ("measured_claims._ENOUGH_CLAIMS", 4),
        ("search._FEW_OPEN_CLAIMS", 1),
    ):
        monkeypatch.setattr(f"permed_measures.auditing.{constant}", value)
    result = pm.audit(qrels, runs, table)
    change = "with weights of AP: its grade over 2 (not: 1 for each relevant document)"
    assert result.conflicts[1:] == [f"b, MAP@10, {change}", f"MAP@10 of 2 rows, {change}"]
    status = dict.fromkeys("bef", "made differently") | dict.fromkeys("acd", "explained")
    found = {(each["run"], each["claim"]): each["status"] for each in result.to_polars().to_dicts()}
    assert found == {
        **{(name, "MAP@10"): status[name] for name in runs},
        **{(name, "MRR@10"): "unexplained" if name == "c" else "explained" for name in runs},
    }


@pytest.mark.parametrize(("n", "rows"), [(100, range(50)), (101, [51 * place // 20 for place in range(20)])])
def test_of_more_than_100_claims_those_of_rows_with_about_40_are_looked_at(n, rows):
    claims = [SimpleNamespace(row=f"{number // 2:02}") for number in range(n)]
    assert [int(each.row) for each in sample_rows(claims)] == [row for row in rows for _ in "ab"]
    assert len(sample_rows(claims[:1] * n)) == n  # of one row


def test_progress_is_of_each_named_convention_with_each_number_of_changes(steps_of):
    steps = steps_of("permed_measures.auditing.search")
    result = pm.audit({"q": {"a": 1}}, {"q": {"a": 1.0}}, {"P@1": "0.98765"})
    n = 3 * len(result.best[0].matrix.bases)
    assert steps[0] == ["searching conventions", n, n]


@pytest.mark.parametrize(("most", "ok"), [("DIFFERENT", False), ("LIKELY", True)])
def test_an_option_for_itself_must_hardly_be_chance_where_the_others_need_none(most, ok, monkeypatch):
    """The claims of MAP are certain without it. The limit is then 1 in 100; otherwise it is 1 in 20."""
    monkeypatch.setattr(f"permed_measures.auditing.search.{most}", 0)
    qrels, runs = binary()
    table = {
        name: row_made(Plain(qrels, run), {"queries of RR": "both"}, names=PAIR) for name, run in runs.items()
    }
    assert pm.audit(qrels, runs, table).ok == ok


@pytest.mark.thorough
def test_a_row_with_another_query_set_for_one_measure_is_explained():
    qrels, run = graded(2)
    names = {**ROW, "MRR@5": "RR"}
    row = row_made(plain_graded(2), {"queries of RR": "both"}, names=names)
    result = pm.audit(qrels, run, row)
    assert result.best[0].changes == [
        "query set of RR: the intersection of qrels and run (not: all queries of the qrels)"
    ]
    assert (result.ok, result.verdict) == (True, "certain")


@pytest.mark.thorough
def test_wrong_numbers_of_one_measure_are_not_said_to_be_its_own():
    names = {**ROW, "MRR@5": "RR"}
    row = row_made(plain_graded(2), {"queries of RR": "both"}, names=names)
    wrong = pm.audit(*graded(2), {**row, "MRR@10": "0.4566", "MRR@5": "0.4321"})
    assert not wrong.ok
    assert "for RR alone" not in str(wrong)
