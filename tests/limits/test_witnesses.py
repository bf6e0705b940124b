"""Runs that show a row to be possible: our engine gives them its numbers, by every convention."""

import json
import random

import pytest
from commands import run_cli
from effort import effort
from limit_rows import COLUMNS, Rows, has_numbers, random_qrels, verdict

import permed_measures as pm
from permed_measures.audits.choices import label_policies
from permed_measures.audits.claims import parse_claims
from permed_measures.engine.judgments import Judgments
from permed_measures.limits.row_conventions import conventions_of
from permed_measures.limits.rows import Conventions, limits_of


def qrels_with_losses(rng):
    """Return graded qrels with negative grades, some queries without anything relevant, and awkward names."""
    qrels = random_qrels(rng, 30, 2, 3)
    for i, docs in enumerate(qrels.values()):
        docs["unjudged-1"] = -1
        if i % 7 == 0:
            docs.update(dict.fromkeys(docs, 0))
    return qrels


ROWS = [
    {"P@1": "0.4667", "MAP@10": "0.2512", "nDCG@10": "0.3904"},
    pytest.param({"hit@5": "0.6333", "MAP": "0.2512", "nDCG": "0.3504"}, marks=pytest.mark.thorough),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: next(iter(row)))
def test_each_run_that_is_found_has_the_numbers(row):
    judgments = Judgments.of(qrels_with_losses(random.Random(7)))
    policies = label_policies(judgments)
    by_policy = {each.policy: each for each in policies}
    [claims] = parse_claims([row])
    conventions, n_shown = Conventions(policies, None), 0
    for each in random.Random(1).sample(conventions_of(claims, policies), effort(4, 12)):
        limits = limits_of(each, claims, conventions)
        if limits and limits.shown:
            n_shown += 1
            assert has_numbers(limits, claims, by_policy[each.setting.labels]), limits.measures
    assert n_shown


def test_a_run_is_found_for_most_rows_that_have_one():
    rows, rng = Rows(random_qrels(random.Random(5), 60, 1, 12)), random.Random(6)
    made = [rows.made(rng, COLUMNS[3]) for _ in range(effort(2, 4))]
    assert {verdict(found[true]) for _, true, found in made} == {"shown"}


QRELS = {f"q{i}": {"a": 1, "b": 1} for i in range(10)}


def test_a_run_evaluates_to_the_row():
    result = pm.possible(QRELS, {"P@1": "0.70", "MAP@10": "0.74"})
    first = result.possible[0]
    assert first.measures == ["P@1", "AP@10"]
    found = pm.calc_aggregate([pm.parse_measure(each) for each in first.measures], QRELS, first.run)
    assert [f"{value:.2f}" for value in found.values()] == ["0.70", "0.74"]
    assert "AP@10: there is a run with these numbers" in str(result)
    assert {each.run for each in result.impossible} <= {None}


def test_what_no_run_shows_is_called_not_refuted():
    result = pm.possible(QRELS, {"P@1": "0.80", "MAP@10": "0.74"}, queries=5)
    assert result.possible
    assert not any(each.shown for each in result.possible)
    assert "AP@10: not refuted, but no run with these numbers was found" in str(result)


def test_a_number_that_only_a_cut_gives_is_shown_by_one_that_is_cut_off():
    qrels = {f"q{i}": {"a": 1} for i in range(7)}
    [limits] = pm.possible(qrels, {"P@1": "0.28"}).possible
    assert (limits.rounded, limits.shown) == (False, True)
    assert sum(next(iter(docs), "") == "a" for docs in limits.run.values()) == 2  # of 7: 0.2857


def test_json_says_of_the_usual_conventions_whether_a_run_was_found(tmp_path):
    path = tmp_path / "qrels"
    path.write_text("".join(f"{query} 0 {doc} 1\n" for query, docs in QRELS.items() for doc in docs))
    stdout, _ = run_cli("possible", path, "--claim", "P@1=0.70", "--claim", "MAP@10=0.74", "--format", "json")
    [row] = json.loads(stdout)["rows"]
    assert {(each["usual"], each["possible"], each["run_found"]) for each in row["conventions"]} >= {
        (True, True, True),
        (False, True, None),
    }
