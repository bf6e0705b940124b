"""Judgments and runs for the tests of Spark, and runs in Parquet files."""

import random
import warnings

import numpy as np
import polars as pl
from cases import random_case, random_measure, rows_of

import permed_measures as pm
from permed_measures.engine.evaluator import PermedEvaluator
from permed_measures.engine.ranks import TieBreak

SCHEMA = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}


def many_cases(n_cases=60):
    """Return qrels and a run of many queries, and a measure of each kind and more."""
    rng, qrels, run = random.Random(0), {}, {}
    for number in range(n_cases):
        for whole, part in zip((qrels, run), random_case(rng), strict=True):
            whole.update({f"{number} {query}": docs for query, docs in part.items()})
    return qrels, run, list(dict.fromkeys(random_measure(rng) for _ in range(150)))


def scattered(run):
    """Return the rows of a run in an order without order."""
    rows = random.Random(0).sample(rows_of(run), sum(map(len, run.values())))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def parquet(spark, frame, folder, n_files):
    """Write a frame as so many files, some perhaps without rows; return it as Spark reads them."""
    folder.mkdir()
    cuts = [len(frame) * number // n_files for number in range(n_files + 1)]
    for number in range(n_files):
        frame[cuts[number] : cuts[number + 1]].write_parquet(folder / f"part-{number:03}.parquet")
    return spark.read.parquet(str(folder))


def values_of(measures, qrels, run, ties=TieBreak.TREC):
    """Return all values, whatever is warned of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pm.PermedWarning)
        return PermedEvaluator(measures, qrels, ties).evaluate(run)


def assert_same(found, expected):
    """Assert that two evaluations are the same to the last bit, and know the same of the run."""
    np.testing.assert_array_equal(found.values, expected.values)
    ours, theirs = found.rankings, expected.rankings
    np.testing.assert_array_equal(ours.rank, theirs.rank)
    np.testing.assert_array_equal(ours.row, theirs.row)
    np.testing.assert_array_equal(ours.retrieved, theirs.retrieved)
    assert (ours.n_run_queries, ours.n_shared) == (theirs.n_run_queries, theirs.n_shared)
