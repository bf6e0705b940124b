"""Lazy frames of polars: a run is evaluated while it is read."""

import polars as pl
import pytest
from cases import rows_of
from polars.io.plugins import register_io_source

import permed_measures as pm
from permed_measures.engine import tables
from permed_measures.engine.forms import as_mapping_or_batches


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
    frame = pl.DataFrame({"query_id": ["q1"] * 3, "doc_id": ["a", "b", "c"], "score": scores})
    frame.write_parquet(tmp_path / "run", row_group_size=2)
    with pytest.raises(pm.InputError, match=message):
        pm.calc_aggregate("RR", {"q1": {"a": 1}}, pl.scan_parquet(tmp_path / "run"))


def test_a_run_is_evaluated_while_it_is_read(monkeypatch):
    monkeypatch.setattr(tables, "_ROWS", 100)
    schema = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    made = []

    def make(columns, *_):
        for number in range(500):
            made.append(number)
            rows = rows_of({f"q{number}": {f"d{d}": 1.0 for d in range(100)}})
            frame = pl.DataFrame(rows, schema=schema, orient="row")
            yield frame.select(columns or frame.columns)

    frames = iter(as_mapping_or_batches(register_io_source(make, schema=schema), "score"))
    assert len(next(frames)) == 100
    assert len(made) < 100
    assert sum(map(len, frames)) == 49_900
