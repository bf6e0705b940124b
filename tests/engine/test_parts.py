"""A run in parts: whatever the division and the order of the parts, the rankings are those of the whole."""

import random
import warnings

import numpy as np
import polars as pl
import pytest
from cases import DOCUMENTS, QUERIES, rows_of
from hypothesis import given
from hypothesis import strategies as st

import permed_measures as pm
from permed_measures.engine import judgments as judgments_module
from permed_measures.engine.from_frames import PartHits
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.engine.ranks import TieBreak

SCHEMA = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
SCORES = st.sampled_from([0.0, -0.0, 1.0, 1.00000001, 1.00000002, 2.0**24, 2.0**24 + 1, 1e39, 2e39])


def nested(values):
    documents = st.dictionaries(st.sampled_from(DOCUMENTS), values)
    return st.dictionaries(st.sampled_from(QUERIES[:5]), documents, max_size=4)


def frame_of(rows):
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def ranks_of(judgments, parts, ties, rng):
    """Return the judgment and rank of each hit; the parts are read in another order each time."""

    def in_some_order():
        return rng.sample(list(enumerate(parts)), len(parts))

    hits = [
        PartHits.of(judgments, part, ties, number, by_hash=rng.random() < 0.5)
        for number, part in in_some_order()
    ]
    while len(hits) > 1:  # merged as it comes: two, three or more at a time
        some, hits = hits[: (n := rng.randint(1, len(hits)))], hits[n:]
        hits.insert(rng.randint(0, len(hits)), PartHits.merged(some))
    merged = PartHits.merged(hits)
    counts = [merged.count_before_in(judgments, part, ties, number) for number, part in in_some_order()]
    return merged.of_run(judgments, sum(counts, np.zeros(len(merged.row), np.int64)))


@given(
    qrels=nested(st.integers(-1, 2)),
    run=nested(SCORES),
    ties=st.sampled_from(TieBreak),
    n_parts=st.integers(1, 6),
    rng=st.randoms(use_true_random=False),
)
def test_any_division_in_any_order_gives_the_rankings_of_the_whole(qrels, run, ties, n_parts, rng):
    rows = rows_of(run)
    rng.shuffle(rows)
    cuts = sorted(rng.randrange(len(rows) + 1) for _ in range(n_parts - 1))
    parts = [frame_of(rows[start:end]) for start, end in zip([0, *cuts], [*cuts, None], strict=True)]
    judgments = Judgments.of(qrels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pm.PermedWarning)
        whole = JudgedRankings.of(judgments, frame_of(rows), ties)
    found = ranks_of(judgments, parts, ties, rng)
    expected = sorted(zip(whole.row.tolist(), whole.rank.tolist(), strict=True))
    assert sorted(zip(found.row.tolist(), found.rank.tolist(), strict=True)) == expected
    assert found.retrieved.tolist() == whole.retrieved.tolist()
    assert (len(found.query_ids), found.n_answered) == (whole.n_run_queries, whole.n_answered)


def test_many_parts_are_merged_with_the_same_result():
    rng = random.Random(1)
    run = {query: {f"d{n}": rng.randrange(9) for n in range(100)} for query in QUERIES}
    rows = rows_of(run)
    rng.shuffle(rows)
    judgments = Judgments.of({query: {f"d{n}": n % 3 for n in range(0, 110, 10)} for query in QUERIES})
    parts = [frame_of(rows[start : start + 5]) for start in range(0, len(rows), 5)]
    assert len(parts) > 150
    found = ranks_of(judgments, parts, TieBreak.TREC, rng)
    whole = JudgedRankings.of(judgments, run)
    expected = sorted(zip(whole.row.tolist(), whole.rank.tolist(), strict=True))
    assert sorted(zip(found.row.tolist(), found.rank.tolist(), strict=True)) == expected


def test_parts_know_which_queries_have_rows_in_several():
    judgments = Judgments.of({"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 1}})
    rows = [[("a", "x", 1.0), ("b", "x", 1.0)], [("b", "y", 1.0), ("?", "x", 1.0)], [("?", "y", 1.0)]]
    parts = [PartHits.of(judgments, frame_of(part), TieBreak.TREC, i) for i, part in enumerate(rows)]
    merged = PartHits.merged([PartHits.merged(parts[1:]), parts[0]])
    assert merged.query.tolist() == [0, 1]
    assert merged.retrieved.tolist() == [1, 2]
    assert merged.scattered.tolist() == [False, True]
    assert merged.query_ids == {"a", "b", "?"}
    assert merged.some_ids == (0, ["x", "x"])


def test_a_judged_document_in_two_parts_is_an_error():
    judgments = Judgments.of({"q": {"x": 1}})
    part = frame_of([("q", "x", 1.0)])
    hits = PartHits.merged(PartHits.of(judgments, part, TieBreak.TREC, number) for number in range(2))
    with pytest.raises(pm.InputError, match="query 'q', document 'x': the document is listed 2 times"):
        hits.refuse_duplicates(judgments)


@pytest.mark.parametrize("n_hashes", [1, 2, 7])
def test_documents_that_share_a_hash_are_told_apart(monkeypatch, n_hashes):
    hashed = judgments_module.row_hashes
    monkeypatch.setattr(judgments_module, "row_hashes", lambda *given: hashed(*given) % np.uint64(n_hashes))
    run = {query: {f"d{n}": -float(n) for n in range(20)} for query in QUERIES[:4]}
    judgments = Judgments.of({query: {f"d{n}": 1 for n in range(0, 30, 4)} for query in QUERIES[2:]})
    parts = [frame_of(rows_of(run))]
    found, joined = (
        PartHits.of(judgments, *parts, TieBreak.TREC, by_hash=by_hash) for by_hash in (True, False)
    )
    assert sorted(found.row.tolist()) == sorted(joined.row.tolist())
    assert len(found.row) == 10


@pytest.mark.parametrize("few", [0, 3, 100])
def test_queries_are_found_however_many_there_are(monkeypatch, few):
    monkeypatch.setattr(judgments_module, "_FEW", few)
    judgments = Judgments.of({"b": {"d": 1}, "a": {}})
    assert judgments.queries_of(pl.Series(["b", "x", "a", "b"])).tolist() == [1, -1, 0, 1]
