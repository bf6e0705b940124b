"""Lazy frames of polars: runs and qrels that are computed when they are read."""

import random
from itertools import count

import oracle
import polars as pl
import pytest
from cases import rows_of
from effort import effort
from polars.io.plugins import register_io_source

import permed_measures as pm
from permed_measures.engine import tables
from permed_measures.engine.forms import as_mapping_or_batches
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.engine.ranks import TieBreak

NUMBERS = count()


def frame_of(nested, column="score"):
    return pl.DataFrame(rows_of(nested), schema=["query_id", "doc_id", column], orient="row")


def scanned(frame, folder):
    path = folder / f"{next(NUMBERS)}.parquet"
    frame.write_parquet(path, row_group_size=5)
    return pl.scan_parquet(path)


def filtered(frame, _):
    both = [frame.lazy().with_columns(more=more) for more in (0, 1)]
    return pl.concat(both).filter(pl.col("more") == 1)


def cases(rng):
    """Yield qrels and the frame of a run with ties: together, in any order, and none at all."""
    scores = [0.0, -0.0, 1.0, 1.0 + 1e-9, 2.5, float("inf")]
    documents = [f"d{number}" for number in range(30)]
    qrels = {f"q{q}": {d: rng.randrange(-1, 3) for d in rng.sample(documents, 8)} for q in range(4)}
    run = {f"q{q}": {d: rng.choice(scores) for d in rng.sample(documents, 20)} for q in range(1, 6)}
    frame = frame_of(run)
    yield qrels, frame
    yield qrels, frame.sample(fraction=1, shuffle=True, seed=rng.randrange(99))
    yield qrels, frame.clear()


@pytest.mark.parametrize("form", [scanned, filtered])
def test_ranks_are_those_of_a_plain_sort(form, tmp_path, monkeypatch):
    rng = random.Random(7)
    for n_rows in [7, *effort([], [3, 16, 10**6])]:
        monkeypatch.setattr(tables, "_ROWS", n_rows)
        for qrels, frame in cases(rng):
            judgments = Judgments.of(form(frame_of(qrels, "relevance"), tmp_path))
            given, run = form(frame, tmp_path), {}
            for query_id, doc_id, score in frame.iter_rows():
                run.setdefault(query_id, {})[doc_id] = score
            for ties in TieBreak:
                found = JudgedRankings.of(judgments, given, ties)
                ids = [judgments.query_ids[query] for query in found.query]
                assert list(zip(ids, found.rank.tolist(), judgments.ids(found.row), strict=True)) == [
                    (query_id, rank, doc_id)
                    for query_id in sorted(qrels)
                    for rank, doc_id in enumerate(
                        oracle.rank(run.get(query_id, {}), ties.value, qrels[query_id]), 1
                    )
                    if doc_id in qrels[query_id]
                ], ties
                assert found.n_run_queries == len(run)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([1.0, 2.0, None], "row 2: query 'q1', document 'c': missing value in column score"),
        (
            [1.0, float("nan"), 2.0],
            r"row 1: query 'q1', document 'b': a score must be a number \(found nan\)",
        ),
    ],
)
def test_what_is_wrong_is_said_with_the_row(scores, message, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_ROWS", 2)
    run = scanned(
        pl.DataFrame({"query_id": ["q1"] * 3, "doc_id": ["a", "b", "c"], "score": scores}), tmp_path
    )
    with pytest.raises(pm.InputError, match=message):
        pm.calc_aggregate("RR", {"q1": {"a": 1}}, run)


def test_a_run_is_evaluated_while_it_is_read(monkeypatch):
    monkeypatch.setattr(tables, "_ROWS", 100)
    made = []

    def make(columns, *_):
        for number in range(500):
            made.append(number)
            frame = frame_of({f"q{number}": {f"d{d}": 1.0 for d in range(100)}})
            yield frame.select(columns or frame.columns)

    schema = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    frames = iter(as_mapping_or_batches(register_io_source(make, schema=schema), "score"))
    assert len(next(frames)) == 100
    assert len(made) < 100
    assert sum(map(len, frames)) == 49_900
