"""The first documents of a run, against the plain loops, in every form and however the rows are divided."""

import math
import random

import oracle
import polars as pl
from cases import rows_of
from effort import effort

from permed_measures.comparison.queries import first_documents
from permed_measures.engine.tables import Table

SCORES = [0.0, -0.0, 1.0, 1.0 + 1e-9, 1.0 + 1e-7, 1e39, -1e300, math.inf, -math.inf, 1e-50, 16777217, 3]
DOCUMENTS = ["a", "b", "ab", "a b", "é", "z", "1", "10", "9", "\U0001f600", "\uffff", "中", "B"]


def test_they_are_those_of_a_plain_sort_in_every_form_and_division():
    query_ids = ["q3", "q1", "q0", "another"]
    schema = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    for seed in range(effort(15, 100)):
        rng = random.Random(seed)
        depth, size = rng.choice([1, 2, 3, 10, 20]), rng.randint(1, 20)
        run = {
            f"q{number}": {doc_id: rng.choice(SCORES) for doc_id in rng.sample(DOCUMENTS, rng.randint(0, 13))}
            for number in range(rng.randint(0, 5))
        }
        rows = rows_of(run)
        rng.shuffle(rows)
        frame = pl.DataFrame(rows, schema=schema, orient="row")
        parts = [frame[start : start + size] for start in range(0, len(rows), size)]
        expected = [oracle.rank(run.get(query_id, {}))[:depth] for query_id in query_ids]
        for form in (run, frame, Table(parts, "score"), frame.lazy()):
            assert first_documents(form, query_ids, depth) == expected, (seed, type(form))
