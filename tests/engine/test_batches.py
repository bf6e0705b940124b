"""Lazy frames of polars and relations of DuckDB: a run is evaluated while it is read."""

import math
from functools import cache

import polars as pl
import pytest
from cases import rows_of
from polars.io.plugins import register_io_source

import permed_measures as pm
from permed_measures.inputs import conversion
from permed_measures.inputs.door import read


@cache
def database():
    """Return a connection, which DuckDB closes when nothing holds it."""
    return pytest.importorskip("duckdb").connect()


@pytest.mark.parametrize(("wrong", "message"), [(None, "missing value"), (math.nan, "a score must be")])
def test_what_is_wrong_is_said_with_the_row(wrong, message, monkeypatch):
    monkeypatch.setattr(conversion, "_ROWS_PER_PART", 2)
    frame = pl.DataFrame({"query_id": ["q1"] * 3, "doc_id": ["a", "b", "c"], "score": [1.0, 2.0, wrong]})
    with pytest.raises(pm.InputError, match=f"row 2: query 'q1', document 'c': {message}"):
        pm.calc_aggregate("RR", {"q1": {"a": 1}}, frame.lazy())


def test_a_run_is_evaluated_while_it_is_read(monkeypatch):
    monkeypatch.setattr(conversion, "_ROWS_PER_PART", 100)
    schema = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    made = []

    def make(columns, *_):
        for number in range(200):
            made.append(number)
            rows = rows_of({f"q{number}": {f"d{d}": 1.0 for d in range(100)}})
            frame = pl.DataFrame(rows, schema=schema, orient="row")
            yield frame.select(columns or frame.columns)

    frames = iter(read(register_io_source(make, schema=schema), "score"))
    assert len(next(frames)) == 100
    assert len(made) < 100
    assert sum(map(len, frames)) == 19_900


def test_a_relation_is_read_in_batches_and_from_its_beginning(monkeypatch):
    monkeypatch.setattr(conversion, "_ROWS_PER_PART", 2048)
    rows = (
        "'q' || i // 100 AS query_id, 'd' || i AS doc_id, (i % 100)::DOUBLE AS score FROM range(50000) t(i)"
    )
    run = database().sql(f"SELECT {rows}")
    if hasattr(run, "execute"):  # before DuckDB 2
        run.execute()
        run.fetchone()
    lengths = [len(frame) for frame in read(run, "score")]
    assert sum(lengths) == 50_000
    assert max(lengths) < 5_000
    qrels = {"q0": {"d98": 1}, "q7": {"d700": 1}}
    for _ in range(2):
        assert list(pm.calc_aggregate(["RR"], qrels, run).values()) == [(1 / 2 + 1 / 100) / 2]


def test_the_connection_is_free_after_an_error(monkeypatch):
    monkeypatch.setattr(conversion, "_ROWS_PER_PART", 2048)  # then most rows are not read
    rows = "'d' || i AS doc_id, if(i = 9, 'nan', '1')::DOUBLE AS score FROM range(50000) t(i)"
    nan = database().sql(f"SELECT 'q' AS query_id, {rows}")
    with pytest.raises(pm.InputError) as error:
        pm.calc_aggregate("RR", {"q": {"a": 1}}, nan)
    assert database().sql("SELECT 1").fetchall() == [(1,)], error
