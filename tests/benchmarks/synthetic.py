"""Synthetic runs and judgments for the benchmarks: in memory, and in files of any size."""

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

Nested = dict[str, dict[str, Any]]


class Shape(NamedTuple):
    """How large a run is, and how many of its documents are judged."""

    queries: int
    depth: int
    judged: int
    most_hits: int  # judged documents that are retrieved, of one query
    mean_hits: float
    scores: int | None = None  # how many different ones a query has; all if None
    digits: bool = False  # whether every other document id is a number as text

    def part(self, share: float) -> "Shape":
        """Return the same with a share of the queries."""
        return self._replace(queries=max(1, int(self.queries * share)))

    def __str__(self) -> str:
        """Describe it for a table."""
        scores = f", {self.scores} scores" if self.scores else ""
        digits = ", numbers as ids" if self.digits else ""
        return (
            f"{self.queries:,} \N{MULTIPLICATION SIGN} {self.depth:,}, {self.judged} judged{scores}{digits}"
        )


SHAPES = {
    "6980x1000": Shape(6980, 1000, 6, 6, 1),
    "3000x1000": Shape(3000, 1000, 6, 6, 1),
    "3440x100": Shape(3440, 100, 8, 6, 3),
    "3440x100-digits": Shape(3440, 100, 8, 6, 3, digits=True),
    "50x1000": Shape(50, 1000, 500, 500, 400),
    "50x1000-digits": Shape(50, 1000, 500, 500, 400, digits=True),
    "50x1000-ties": Shape(50, 1000, 500, 500, 400, 31),
    "1x10": Shape(1, 10, 4, 4, 3),
}
"""As large as a run on MS MARCO's small development set, a part of it, MedCorpus, a TREC track, one query."""

DEPTH = 1000
_CORPUS = 8_800_000
_QUERIES = 1000


def make(shape: Shape) -> tuple[Nested, Nested]:
    """Return qrels and a run, the same at each call."""
    rng = np.random.default_rng(1)
    hits = rng.binomial(shape.most_hits, shape.mean_hits / shape.most_hits, shape.queries).tolist()
    run = random_run(shape.queries, shape.depth, shape.scores)
    qrels = qrels_with_hits(run, hits, shape.judged)
    return (_with_digits(qrels), _with_digits(run)) if shape.digits else (qrels, run)


def _with_digits(nested: Nested) -> Nested:
    """Return the same with ids such as 8841823 and m12, in strings of their own, as files give them."""
    return {
        query_id: {_digits(doc_id): number for doc_id, number in docs.items()}
        for query_id, docs in nested.items()
    }


def _digits(doc_id: str) -> str:
    number = int(doc_id[1:]) + (_CORPUS if doc_id[0] == "x" else 0)
    return str(number) if number % 2 else f"m{number}"


def random_run(queries: int, depth: int, scores: int | None = None, seed: int = 1) -> Nested:
    """Return a run with random documents, and with so many different scores per query."""
    rng = np.random.default_rng(seed)
    run = {}
    for query in range(queries):
        ids = [f"d{i}" for i in rng.choice(_CORPUS, depth, replace=False).tolist()]
        values = np.sort(rng.random(depth))[::-1]
        values = values * 30 if scores is None else np.floor(values * scores)
        run[f"q{query}"] = dict(zip(ids, values.tolist(), strict=True))
    return run


def qrels_with_hits(run: Nested, hits: list[int], judged: int = 0) -> Nested:
    """Return qrels of which so many documents per query are retrieved, and at least one more is not."""
    rng = np.random.default_rng(2)
    qrels = {}
    for n_hits, (query_id, docs) in zip(hits, run.items(), strict=True):
        ids = list(docs)
        found = [ids[i] for i in rng.choice(len(ids), n_hits, replace=False)]
        documents = [*found, *(f"x{i}" for i in range(max(judged - n_hits, 1)))]
        qrels[query_id] = dict(zip(documents, rng.integers(0, 3, len(documents)).tolist(), strict=True))
    return qrels


def columns_of(run: Nested) -> dict[str, list[Any]]:
    """Return the rows of a run as columns."""
    return {
        "query_id": [query_id for query_id, docs in run.items() for _ in docs],
        "doc_id": [doc_id for docs in run.values() for doc_id in docs],
        "score": [score for docs in run.values() for score in docs.values()],
    }


def write_qrels(qrels: Nested, path: Path) -> None:
    """Write judgments as a TREC file."""
    rows = ((q, d, grade) for q, docs in qrels.items() for d, grade in docs.items())
    path.write_text("".join(f"{q} 0 {d} {grade}\n" for q, d, grade in rows))


@cache
def _ids_of_the_corpus() -> pl.Series:
    return pl.select("d" + pl.int_range(_CORPUS).cast(pl.String)).to_series()


def write_large(run: Path, qrels: Path, n_rows: int) -> None:
    """Write a run of any size, DEPTH documents per query, and two judgments per query: one was retrieved.

    The run is a Parquet file if its name ends so, else a TREC file. It is made in parts: memory stays small.
    """
    ids = _ids_of_the_corpus()
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
