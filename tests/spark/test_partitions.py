"""What the workers of Spark do, done in this process: partitions come in batches, and are cut again."""

import random
from itertools import pairwise

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from spark_runs import assert_same, many_cases, many_measures, scattered, values_of

import permed_measures as pm
from permed_measures.engine import from_spark, from_spark_workers
from permed_measures.engine.inputs import SparkRun
from permed_measures.engine.ranks import TieBreak

QRELS, RUN = many_cases(1, 20)
MEASURES = many_measures(1)[:3]


@pytest.fixture(scope="module", autouse=True)
def no_spark():
    """Take a list of partitions, each a list of Arrow batches, for a frame of Spark."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(from_spark, "typed_rows", lambda partitions, _: partitions)
        patch.setattr(from_spark, "BY_ID", {})  # for which Spark itself does it
        patch.setattr(from_spark_workers, "_scan", scan)
        patch.setattr(from_spark_workers, "_ROWS", 100)
        yield


def scan(partitions, work, ties):
    results = []
    for number, batches in enumerate(partitions):
        frames = from_spark_workers._HashedFrames(iter(batches), number, ties.by_position)
        found = work(iter(frames))
        results.append(from_spark_workers._Scanned(frames.n_rows, frames.hash, found))
    return results


def partitions_of(frame, n_partitions, batch_rows):
    cuts = [len(frame) * number // n_partitions for number in range(n_partitions + 1)]
    parts = [frame[start:end] for start, end in pairwise(cuts)]
    return [part.to_arrow().to_batches(max_chunksize=batch_rows) for part in parts]


@given(
    n_partitions=st.integers(1, 12),
    batch_rows=st.integers(1, 300),
    ties=st.sampled_from(TieBreak),
    seed=st.integers(0, 3),
)
def test_partitions_and_batches_of_any_size_give_the_numbers_of_the_whole(
    n_partitions, batch_rows, ties, seed
):
    frame = scattered(RUN, seed)
    run = SparkRun(partitions_of(frame, n_partitions, batch_rows))
    assert_same(values_of(MEASURES, QRELS, run, ties), values_of(MEASURES, QRELS, frame, ties))


def test_rows_may_come_in_another_order_the_second_time_unless_ties_go_by_it(monkeypatch):
    frame = scattered(RUN)
    expected = values_of(MEASURES, QRELS, frame)

    def in_another_order(partitions, work, ties):
        rows = pl.concat(pl.DataFrame(batch) for part in partitions for batch in part)
        again = rows.sample(fraction=1, shuffle=True, seed=1)
        divided = partitions_of(again, 3, 50) if "_count" in str(work) else partitions
        return scan(divided, work, ties)

    monkeypatch.setattr(from_spark_workers, "_scan", in_another_order)
    run = SparkRun(partitions_of(frame, 5, 100))
    assert_same(values_of(MEASURES, QRELS, run), expected)
    with pytest.raises(pm.InputError, match="not the same each time that it is computed"):
        values_of(MEASURES, QRELS, run, TieBreak.INPUT)


@pytest.mark.parametrize("change", ["a score", "a row less", "a row twice"])
def test_any_change_between_the_scans_is_noticed(monkeypatch, change):
    frame = scattered(RUN)
    row = random.Random(0).randrange(len(frame))
    one = frame[row : row + 1]
    rest = pl.concat([frame[:row], frame[row + 1 :]])
    more = {
        "a score": one.with_columns(pl.col("score") + 1),
        "a row less": one[:0],
        "a row twice": pl.concat([one, one]),
    }
    changed = pl.concat([rest, more[change]])

    def changing(partitions, work, ties):
        return scan(partitions_of(changed, 5, 100) if "_count" in str(work) else partitions, work, ties)

    monkeypatch.setattr(from_spark_workers, "_scan", changing)
    with pytest.raises(pm.InputError, match=r"two scans: [0-9,]+ rows and then [0-9,]+ rows"):
        values_of(MEASURES, QRELS, SparkRun(partitions_of(frame, 5, 100)))


def test_a_partition_whose_queries_stand_together_is_read_once(monkeypatch):
    works = []

    def counted(partitions, work, ties):
        works.append(work)
        return scan(partitions, work, ties)

    monkeypatch.setattr(from_spark_workers, "_scan", counted)
    together = scattered(RUN).sort("query_id", maintain_order=True)
    half = len(together) // 2
    half += (together["query_id"][half:] != together["query_id"][half]).arg_true()[0]
    partitions = [part.to_arrow().to_batches(max_chunksize=10) for part in (together[:half], together[half:])]
    assert_same(
        values_of(MEASURES, QRELS, SparkRun(partitions)),
        values_of(MEASURES, QRELS, RUN),
    )
    assert len(works) == 1
