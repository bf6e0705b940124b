"""Query ids that name the same queries in different ways."""

import json
import re
import shlex

import polars as pl
import pytest
from cases import rows_of
from commands import run_main

import permed_measures as pm
from permed_measures.engine.query_ids import suggestion
from permed_measures.engine.tables import Table


def qrels_of(*query_ids):
    return {query_id: {"a": 1} for query_id in query_ids}


def run_of(*query_ids):
    return {query_id: {"a": 1.0 + n} for n, query_id in enumerate(query_ids)}


def frame_of(run):
    return pl.DataFrame(rows_of(run), schema=["query_id", "doc_id", "score"], orient="row")


@pytest.mark.parametrize(
    ("rewriting", "ours", "theirs"),
    [
        ("permed", ["topic_001_turn_1", "topic_001_turn_2"], ["topic_001_1", "topic_001_2"]),
        ("litsearch", ["litsearch_000", "litsearch_011"], ["1", "12"]),
    ],
)
@pytest.mark.parametrize("turned", [False, True])
def test_query_ids_are_rewritten_in_every_form_of_run_and_both_ways(rewriting, ours, theirs, turned):
    ours, theirs = (theirs, ours) if turned else (ours, theirs)
    run, qrels = run_of(*ours), qrels_of(*theirs, "x_1")
    with pytest.warns(pm.NoSharedQueryWarning) as caught:
        pm.calc_aggregate(["P@1"], qrels, run)
    assert str(caught[0].message).endswith(
        f"; every value is that of an empty run. {ours[0]!r} is {theirs[0]!r} if the ids are rewritten: "
        f"--query-ids {rewriting} on the command line, "
        f"permed_measures.match_query_ids(run, qrels, {rewriting!r}) in Python"
    )
    frame = frame_of(run)
    assert pm.match_query_ids(run, qrels, rewriting) == run_of(*theirs)
    assert list(run) == ours
    for form in (frame, frame.to_pandas(), frame.to_arrow(), Table([frame[:1], frame[1:]], "score")):
        found = pm.match_query_ids(form, qrels, rewriting)
        assert isinstance(found, Table)
        assert found.nested() == found.nested() == run_of(*theirs)


@pytest.mark.parametrize(
    ("rewriting", "ours", "theirs", "message"),
    [
        (
            "permed",
            ["t_turn_1", "t_1"],
            ["t_1"],
            "of the run become one query when rewritten (found 't_turn",
        ),
        (
            "permed",
            ["t_1"],
            ["t_turn_1", "t_1"],
            "of the qrels become one query when rewritten (found 't_1' ",
        ),
        ("litsearch", ["1"], ["1", "litsearch_000"], "'litsearch_000'). Remove one of the two, or leave"),
        ("litsearch", ["litsearch_001", "litsearch_003"], ["1", "2", "3"], "litsearch_003 would be beyond"),
        ("permed", ["x"], ["1"], "when rewritten by 'permed' (found 'x' in the run, '1' in the qrels)"),
        ("suffix", ["x"], ["1"], "one of permed, litsearch, or s/PATTERN/TEXT/ (found 'suffix'). Such as"),
        (["permed"], ["x"], ["1"], "one of permed, litsearch, or s/PATTERN/TEXT/ (found ['permed'])"),
        ("s/x/", ["x"], ["1"], "or s/PATTERN/TEXT/ (found 's/x/')"),
        ("s/(/1/", ["x"], ["1"], "'s/(/1/' is not a substitution by a regular expression (missing )"),
        (
            r"s/x/\1/",
            ["x"],
            ["1"],
            "is not a substitution by a regular expression (invalid group reference 1",
        ),
        ("s/[xy]/1/", ["x", "y"], ["1"], "of the run become one query when rewritten (found 'x' and 'y')"),
        ("s/a/b/", ["x"], ["1"], "matches the qrels when rewritten by 's/a/b/' (found 'x' in the run, '1'"),
    ],
)
def test_ids_that_cannot_be_rewritten_are_refused(rewriting, ours, theirs, message):
    qrels, run = qrels_of(*theirs), run_of(*ours)
    for form in (run, Table([frame_of(run)[:1], frame_of(run)[1:]], "score")):
        with pytest.raises(pm.InputError) as error:
            pm.calc_aggregate("P@1", qrels, pm.match_query_ids(form, qrels, rewriting))
        assert message in str(error.value)


def test_the_first_two_ids_that_become_one_are_named_in_the_order_of_the_rows():
    ids = [f"t{turn}_{n}" for turn in ("_turn", "") for n in range(50)]
    qrels = qrels_of(*ids[50:])
    for run in (run_of(*ids), frame_of(run_of(*ids))):
        with pytest.raises(pm.InputError, match="found 't_turn_0' and 't_0'"):
            pm.calc_aggregate("P@1", qrels, pm.match_query_ids(run, qrels, "permed"))


def test_litsearch_s_questions_are_not_refused_where_the_first_is_known_or_the_last_is_absent():
    for ours, expected in [
        (["litsearch_000", "litsearch_003"], ["1", "litsearch_003"]),
        (["litsearch_001", "litsearch_002"], ["2", "3"]),
    ]:
        assert list(pm.match_query_ids(run_of(*ours), qrels_of("1", "2", "3"), "litsearch")) == expected


def test_no_rewriting_is_suggested_that_would_make_two_ids_one():
    with pytest.warns(pm.PermedWarning, match="every value is that of an empty run$"):
        pm.calc_aggregate("P@1", qrels_of("1", "2"), run_of("litsearch_000", "litsearch_0000"))


def test_no_rewriting_is_suggested_by_which_ids_would_be_beyond_the_last():
    assert suggestion(["litsearch_000"], ["1", "2"]).startswith("'litsearch_000' is '1' if the ids are ")
    assert suggestion(["litsearch_001", "litsearch_002"], ["1", "2"]) == ""


@pytest.mark.parametrize(
    ("rule", "ours", "theirs"),
    [
        ("s/^q-0*//", ["q-07", "q-10"], ["7", "10"]),
        ("s/-turn/_/", ["topic_1-turn1", "topic_1-turn2"], ["topic_1_1", "topic_1_2"]),
        ("s/^Q/q/", ["Q1", "Q2"], ["q1", "q2"]),
        ("s/^/00/", ["1", "2"], ["001", "002"]),
        ("s|^msmarco/||", ["msmarco/1", "msmarco/2"], ["1", "2"]),
        (r"s/\.0$//", ["301.0", "302.0"], ["301", "302"]),
        ("s/$/_en/", ["1", "2"], ["1_en", "2_en"]),
    ],
)
def test_a_substitution_is_named_where_it_makes_all_ids_meet_and_then_they_do(rule, ours, theirs):
    run, qrels = run_of(*ours), qrels_of(*theirs)
    hint = suggestion(ours, theirs)
    assert hint.startswith(f"{ours[0]!r} is {theirs[0]!r} if the ids are rewritten: --query-ids ")
    assert f"match_query_ids(run, qrels, {rule!r}) in Python" in hint
    assert shlex.split(hint.partition("--query-ids ")[2].partition(" on the command line")[0]) == [rule]
    for form in (run, frame_of(run)):
        found = pm.match_query_ids(form, qrels, rule)
        assert getattr(found, "nested", lambda found=found: found)() == run_of(*theirs)


def test_groups_of_a_substitution_and_other_marks_than_a_slash():
    run, qrels = run_of("1-a", "2-b"), qrels_of("a_1", "b_2")
    assert pm.match_query_ids(run, qrels, r"s|^(\d+)-(\w+)$|\2_\1|") == run_of("a_1", "b_2")


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (["x", "y"], ["1", "2"]),  # which have nothing in common
        (["q1"], ["1"]),  # which is one, and like many others
        (["test-1", "test-2"], ["1", "3"]),  # of which not all would meet
        (["q1", "1"], ["1"]),  # of which two would become one
    ],
)
def test_no_substitution_is_named_where_ids_would_not_all_meet(ours, theirs):
    assert suggestion(ours, theirs) == ""


def test_the_command_takes_the_rule_that_its_message_names(tmp_path):
    (tmp_path / "q.qrels").write_text("topic_1_2 0 a 1\ntopic_1_3 0 b 1\n")
    (tmp_path / "r.trec").write_text("topic_1-t2 Q0 a 1 1 x\ntopic_1-t3 Q0 b 1 1 x\n")
    typed = ["evaluate", tmp_path / "q.qrels", tmp_path / "r.trec", "-m", "P@1", "--format", "json"]
    status, _, message = run_main(*typed)
    assert status == 2
    [rule] = shlex.split(re.search(r"--query-ids (\S+) on the command line", message)[1])
    [content] = json.loads(run_main(*typed, "--query-ids", rule)[1])
    assert content["metrics"] == {"P@1": 1.0}
