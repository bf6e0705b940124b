"""Synthetic runs and judgments for the benchmarks: in memory, and in files of any size."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

SHAPES = {
    "PerMed": (3440, 100, 10, 8),
    "MS MARCO": (6980, 1000, 2, 1),
    "TREC": (50, 1000, 500, 400),
}
"""Queries, documents each, judged documents each, and how many of these are retrieved."""

DEPTH = 1000
_CORPUS = 8_800_000
_QUERIES = 1000

Nested = dict[str, dict[str, Any]]


def make(shape: str) -> tuple[Nested, Nested]:
    """Return qrels and a run, the same at each call."""
    queries, depth, judged, retrieved = SHAPES[shape]
    return with_hits([retrieved] * queries, depth, judged - retrieved)


def with_hits(hits: list[int], depth: int, missing: int = 1) -> tuple[Nested, Nested]:
    """Return qrels and a run with so many retrieved judged documents per query, and some that are missing."""
    rng = np.random.default_rng(1)
    qrels, run = {}, {}
    for query, retrieved in enumerate(hits):
        ids = [f"d{i}" for i in rng.choice(_CORPUS, depth, replace=False).tolist()]
        scores = (np.sort(rng.random(depth))[::-1] * 30).tolist()
        run[f"q{query}"] = dict(zip(ids, scores, strict=True))
        found = [ids[i] for i in rng.choice(depth, retrieved, replace=False)]
        documents = [*found, *(f"x{i}" for i in range(missing))]
        qrels[f"q{query}"] = {doc_id: int(rng.integers(0, 3)) for doc_id in documents}
    return qrels, run


def columns_of(run: Nested) -> dict[str, list[Any]]:
    """Return the rows of a run as columns."""
    rows = [(query_id, doc_id, score) for query_id, docs in run.items() for doc_id, score in docs.items()]
    return dict(zip(("query_id", "doc_id", "score"), map(list, zip(*rows, strict=True)), strict=True))


def write_qrels(qrels: Nested, path: Path) -> None:
    """Write judgments as a TREC file."""
    rows = ((q, d, grade) for q, docs in qrels.items() for d, grade in docs.items())
    path.write_text("".join(f"{q} 0 {d} {grade}\n" for q, d, grade in rows))


def write_large(run: Path, qrels: Path, n_rows: int) -> None:
    """Write a run of any size, DEPTH documents per query, and two judgments per query: one was retrieved.

    The run is a Parquet file if its name ends so, else a TREC file. It is made in parts: memory stays small.
    """
    ids = pl.Series([f"d{i}" for i in range(_CORPUS)])
    rng = np.random.default_rng(n_rows)
    schema = pa.schema([("query_id", pa.string()), ("doc_id", pa.string()), ("score", pa.float64())])
    parquet = pq.ParquetWriter(run, schema) if run.suffix == ".parquet" else None
    with run.open("ab") as file, qrels.open("w") as labels:
        for first in range(0, n_rows // DEPTH, _QUERIES):
            n = min(_QUERIES, n_rows // DEPTH - first)
            # Steps below _CORPUS / DEPTH: no document twice in a query. The factor scatters them.
            steps = rng.integers(1, _CORPUS // DEPTH, (n, DEPTH))
            documents = np.cumsum(steps, axis=1) * 7919 % _CORPUS
            query_ids = [f"q{query}" for query in range(first, first + n)]
            frame = pl.DataFrame(
                {
                    "query_id": pl.Series(query_ids).gather(np.repeat(np.arange(n), DEPTH)),
                    "doc_id": ids.gather(documents.ravel()),
                    "score": np.sort(rng.random((n, DEPTH)) * 30, axis=1)[:, ::-1].ravel(),
                }
            )
            hits = documents[np.arange(n), rng.integers(0, DEPTH, n)].tolist()
            labels.writelines(f"{q} 0 d{d} 2\n{q} 0 x 1\n" for q, d in zip(query_ids, hits, strict=True))
            if parquet:
                parquet.write_table(frame.to_arrow().cast(schema))
            else:
                columns = [pl.col("query_id"), pl.lit("Q0"), "doc_id", pl.lit(0).alias("rank"), "score"]
                lines = frame.select(*columns, pl.lit("bm25").alias("tag"))
                lines.write_csv(file, include_header=False, separator=" ", quote_style="never")
    if parquet:
        parquet.close()
