"""Query ids that name the same queries in different ways."""

import polars as pl
import pytest
from cases import rows_of

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
            "of the run name one query when rewritten (found 't_turn",
        ),
        ("permed", ["t_1"], ["t_turn_1", "t_1"], "of the qrels name one query when rewritten (found 't_1' "),
        ("litsearch", ["1"], ["1", "litsearch_000"], "'litsearch_000'). Remove one of the two, or leave"),
        ("litsearch", ["litsearch_001", "litsearch_003"], ["1", "2", "3"], "litsearch_003 would be beyond"),
        ("permed", ["x"], ["1"], "when rewritten by 'permed' (found 'x' in the run, '1' in the qrels)"),
        ("suffix", ["x"], ["1"], "a rewriting must be one of permed, litsearch (found 'suffix')"),
        (["permed"], ["x"], ["1"], "a rewriting must be one of permed, litsearch (found ['permed'])"),
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
