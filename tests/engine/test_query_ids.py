"""Query ids that name the same queries in different ways."""

import random

import polars as pl
import pytest

import permed_measures as pm
from permed_measures.engine.inputs import Batches
from permed_measures.engine.query_ids import REWRITINGS


def test_a_litsearch_run_that_counts_from_1_is_refused():
    qrels = {str(n): {"a": 1} for n in range(1, 4)}
    run = {f"litsearch_{n:03}": {"a": 1.0} for n in range(1, 4)}
    with pytest.raises(pm.InputError, match="litsearch_003 would be beyond the last one"):
        pm.match_query_ids(run, qrels, "litsearch")
    shorter = {f"litsearch_{n:03}": {"a": 1.0} for n in range(1, 3)}
    assert list(pm.match_query_ids(shorter, qrels, "litsearch")) == ["2", "3"]


def plain_prefix(run_ids, qrels_ids):
    """Return what the rewriting must find, by trying every prefix of the first ids."""

    def joined(longer, shorter):
        for n in range(1, max(map(len, longer[:3]), default=0)):
            ends = {query_id[n - 1 : n + 1] for query_id in longer[:3] if query_id[n:] in shorter}
            may_end = any(len(each) == 2 and not each.isdigit() and not each.isalpha() for each in ends)
            if may_end and len({query_id[:n] for query_id in longer}) == 1:
                yield [(query_id, query_id[n:]) for query_id in longer if query_id[n:] in shorter]

    candidates = [[(query_id, query_id) for query_id in run_ids if query_id in qrels_ids]]
    candidates += joined(run_ids, qrels_ids)
    candidates += [[(short, long) for long, short in pairs] for pairs in joined(qrels_ids, run_ids)]
    return dict(max(candidates, key=len))


def test_prefixes_are_those_of_a_plain_search():
    rng = random.Random(4)
    found = 0
    for _ in range(3000):
        pool = ["".join(rng.choices("a1-_b2", k=rng.randint(1, 4))) for _ in range(rng.randint(1, 5))]
        prefix = "".join(rng.choices("a1-_", k=rng.randint(0, 3)))
        sides = [
            list(dict.fromkeys(pool)),
            [prefix + each for each in dict.fromkeys(pool[: rng.randint(1, 5)])],
        ]
        rng.shuffle(sides)
        expected = plain_prefix(*sides)
        assert REWRITINGS["prefix"](*sides) == expected
        found += any(ours != theirs for ours, theirs in expected.items())
    assert found > 500


PAIRS = [
    ("permed", ["topic_001_turn_1", "topic_001_turn_2"], ["topic_001_1", "topic_001_2", "x_1"]),
    ("litsearch", ["litsearch_000", "litsearch_011"], ["1", "12", "3"]),
    ("prefix", ["litsearch-1", "litsearch-11"], ["1", "11"]),
    ("prefix", ["beir/q1", "beir/q2"], ["q1", "q2", "q7"]),
]


@pytest.mark.parametrize(("rewriting", "ours", "theirs"), PAIRS)
@pytest.mark.parametrize("turned", [False, True])
def test_query_ids_are_rewritten_in_every_form_of_run_and_both_ways(rewriting, ours, theirs, turned):
    if turned:
        ours, theirs = theirs[: len(ours)], ours
    run = {query_id: {"a": 1.0 + n} for n, query_id in enumerate(ours)}
    qrels = {query_id: {"a": 1} for query_id in theirs}
    expected = dict(zip(theirs, run.values(), strict=False))
    rows = [(q, d, s) for q, docs in run.items() for d, s in docs.items()]
    frame = pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")
    assert pm.match_query_ids(run, qrels, rewriting) == expected
    assert list(run) == ours
    for form in (frame, frame.to_pandas(), frame.to_arrow()):
        found = pm.match_query_ids(form, qrels, rewriting)
        assert found.nested() == expected
    found = pm.match_query_ids(Batches([frame[:1], frame[1:]]), qrels, rewriting)
    assert isinstance(found, Batches)
    assert found.nested() == found.nested() == expected
    for form in (run, frame, Batches([frame])):
        matched = pm.match_query_ids(form, qrels, rewriting)
        assert pm.calc_aggregate(["NumRet"], qrels, matched) == pm.calc_aggregate(["NumRet"], qrels, expected)
    assert REWRITINGS[rewriting](ours, theirs) == dict(zip(ours, theirs, strict=False))


@pytest.mark.parametrize(("rewriting", "ours", "theirs"), PAIRS)
@pytest.mark.parametrize("turned", [False, True])
def test_a_run_without_a_shared_query_is_told_how_its_ids_would_meet(rewriting, ours, theirs, turned):
    if turned:
        ours, theirs = theirs[: len(ours)], ours
    run, qrels = ({query_id: {"a": 1} for query_id in ids} for ids in (ours, theirs))
    with pytest.warns(pm.NoSharedQueryWarning) as caught:
        pm.calc_aggregate(["P@1"], qrels, run)
    assert str(caught[0].message).endswith(
        f"; every value is that of an empty run. {ours[0]!r} is {theirs[0]!r} if the ids are rewritten: "
        f"--query-ids {rewriting} on the command line, "
        f"permed_measures.match_query_ids(run, qrels, {rewriting!r}) in Python"
    )


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(["11", "12"], ["1", "2"]), (["1", "2"], ["11", "12"]), (["q1"], ["1q1x"]), (["ab"], ["b"])],
)
def test_a_prefix_never_ends_within_a_number_or_a_word(ours, theirs):
    run, qrels = ({query_id: {"a": 1} for query_id in ids} for ids in (ours, theirs))
    assert REWRITINGS["prefix"](ours, theirs) == {}
    with pytest.raises(
        pm.InputError, match="no query id of the run meets the qrels when rewritten by 'prefix'"
    ):
        pm.match_query_ids(run, qrels, "prefix")
    with pytest.warns(pm.NoSharedQueryWarning, match="every value is that of an empty run$"):
        pm.calc_aggregate(["P@1"], qrels, run)


@pytest.mark.parametrize(
    ("rewriting", "ours", "theirs", "message"),
    [
        (
            "permed",
            ["t_turn_1", "t_1"],
            ["t_1"],
            "of the run name one query when rewritten (found 't_turn_1' and",
        ),
        (
            "permed",
            ["t_1"],
            ["t_turn_1", "t_1"],
            "two query ids of the qrels name one query when rewritten (found",
        ),
        (
            "litsearch",
            ["litsearch_0", "litsearch_00"],
            ["1"],
            "of the run name one query when rewritten (found",
        ),
        (
            "litsearch",
            ["1"],
            ["1", "litsearch_000"],
            "(found '1' and 'litsearch_000'). Remove one of the two, or",
        ),
        ("prefix", ["x"], ["1"], "when rewritten by 'prefix' (found 'x' in the run, '1' in the qrels)"),
        ("suffix", ["x"], ["1"], "a rewriting must be one of permed, litsearch, prefix (found 'suffix')"),
    ],
)
def test_ids_that_cannot_be_rewritten_are_refused(rewriting, ours, theirs, message):
    run, qrels = ({query_id: {"a": 1} for query_id in ids} for ids in (ours, theirs))
    with pytest.raises(pm.InputError) as error:
        pm.match_query_ids(run, qrels, rewriting)
    assert message in str(error.value)


@pytest.mark.parametrize(
    "run_ids",
    [
        ["s_01_1", "s_01_2", "s_02_1"],  # "s_01_" is no prefix of all
        ["litsearch_000", "litsearch_0000"],  # two would become one
    ],
)
@pytest.mark.parametrize("streamed", [False, True])
def test_no_rewriting_is_suggested_that_would_be_refused(run_ids, streamed):
    qrels = {"1": {"a": 1}, "2": {"a": 1}}
    run = {query_id: {"x": 1.0} for query_id in run_ids}
    rows = [(query_id, "x", 1.0) for query_id in run_ids]
    frame = pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")
    with pytest.warns(pm.PermedWarning) as caught:
        pm.calc_aggregate("P@1", qrels, Batches([frame]) if streamed else run)
    assert "rewritten" not in str(caught[0].message)
