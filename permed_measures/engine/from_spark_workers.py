"""The judged documents of a PySpark frame, found in Python: its partitions are the parts of `from_frames`.

The judgments go to the workers, and what they find comes back: the rows of the run stay where they are.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from permed_measures.engine.batches import whole_queries
from permed_measures.engine.forms import checked_frame
from permed_measures.engine.from_frames import PartHits
from permed_measures.engine.judgments import Ints, Judgments
from permed_measures.engine.ranks import RunHits, TieBreak
from permed_measures.errors import InputError

if TYPE_CHECKING:
    import polars as pl

Frames = Iterator[tuple[int, "pl.DataFrame"]]
"""The rows of a partition as numbered parts of the run."""


class _Counts(NamedTuple):
    """Rows of a partition that are ranked before hits, and which hits; the others have none."""

    hit: Ints
    before: Ints


class _Scanned(NamedTuple):
    """What the scan of a partition gives: its rows as a number and a hash, and what was found in them."""

    n_rows: int
    hash: int
    found: Any


def find_in_workers(judgments: Judgments, rows: Any, ties: TieBreak) -> RunHits:
    """Find the judged documents of a PySpark frame of query_id, doc_id and score, under any rule for ties.

    It is scanned once if no judged query has rows in two partitions, and otherwise twice.
    """
    packed = _packed(judgments, rows)
    first = _scan(rows, partial(_find, packed, ties), ties)
    hits = PartHits.merged(part.found for part in first)
    hits.refuse_duplicates(judgments)
    before = np.zeros_like(hits.before)
    if hits.scattered.any():
        asked = replace(hits, query_ids=set())
        again = _scan(rows, partial(_count, packed, pickle.dumps(asked), ties), ties)
        _refuse_changes(first, again, ties)
        for part in again:
            before[part.found.hit] += part.found.before
    return hits.of_run(judgments, before)


_CONNECT_BYTES = 100 << 20
"""Spark Connect takes messages of 128 MB."""


def _packed(judgments: Judgments, frame: Any) -> bytes:
    """Return the judgments for the workers."""
    import polars as pl

    documents = pl.Series(judgments.documents, dtype=pl.String)
    packed = pickle.dumps(replace(judgments, documents=documents), protocol=5)
    if "connect" in type(frame).__module__ and len(packed) > _CONNECT_BYTES:
        size, most = len(packed) >> 20, _CONNECT_BYTES >> 20
        raise InputError(
            f"the judgments take {size:,} MB, and Spark Connect sends workers at most {most} MB",
            hint="Put them into a PySpark frame for permed_measures.spark.evaluate",
        )
    return packed


@lru_cache(maxsize=1)
def _unpacked(packed: bytes) -> Judgments:
    """Return the judgments; a worker keeps them for its next partition."""
    judgments: Judgments = pickle.loads(packed)
    return judgments


def _scan(rows: Any, work: Callable[[Frames], Any], ties: TieBreak) -> list[_Scanned]:
    """Do the work in each partition; return the results by the number of the partition."""
    found = scanned(rows, work, ties).toArrow()
    contents = dict(zip(*(column.to_pylist() for column in found.columns), strict=True))
    results = [pickle.loads(contents[number]) for number in sorted(contents)]
    for result in results:
        if isinstance(result, InputError):
            raise result
    return results


def scanned(rows: Any, work: Callable[[Frames], Any], ties: TieBreak) -> Any:
    """Return a PySpark frame with the number and the result of each partition."""
    on_partition = partial(_on_partition, work, ties.by_position)
    return rows.mapInArrow(on_partition, "number long, content binary")


def _on_partition(work: Callable[[Frames], Any], in_order: bool, batches: Iterator[Any]) -> Iterator[Any]:
    """Do the work on the rows of a partition, in a worker; return errors, for Spark would try again."""
    os.environ.setdefault("POLARS_MAX_THREADS", "1")  # a task of Spark has one core
    import pyarrow as pa
    from pyspark import TaskContext

    context = TaskContext.get()
    number = context.partitionId() if context else 0
    frames = _HashedFrames(batches, number, in_order)
    try:
        result: Any = work(iter(frames))
        result = _Scanned(frames.n_rows, frames.hash, result)
    except InputError as error:
        result = error
        for _ in batches:  # Spark expects that all are taken
            pass
    yield pa.RecordBatch.from_pydict({"number": [number], "content": [pickle.dumps(result)]})


class _HashedFrames:
    """The rows of a partition as numbered frames; and how many there were, and a hash of them.

    The hash does not depend on the order of the rows, unless they are to be `in_order`.
    """

    def __init__(self, batches: Iterator[Any], partition: int, in_order: bool) -> None:
        self._batches, self._partition, self._in_order = batches, partition, in_order
        self.n_rows = self.hash = 0

    def __iter__(self) -> Frames:
        frames = whole_queries(map(self._hashed, _frames(self._batches)), 2 * _ROWS)
        return enumerate(frames, start=self._partition << 32)

    def _hashed(self, frame: pl.DataFrame) -> pl.DataFrame:
        hashes = frame.hash_rows().to_numpy()
        if self._in_order:
            hashes = hashes * np.arange(self.n_rows + 1, self.n_rows + len(frame) + 1, dtype=np.uint64)
        self.n_rows += len(frame)
        self.hash = (self.hash + int(hashes.sum(dtype=np.uint64))) % 2**64
        return frame


_ROWS = 1 << 20
"""Rows that are joined together; Spark's batches have 10,000."""


def _frames(batches: Iterable[Any]) -> Iterator[pl.DataFrame]:
    """Yield the rows of Arrow batches as frames of some size; a missing value or NaN is an error."""
    held, n_rows = [], 0
    for batch in batches:
        held.append(batch)
        n_rows += batch.num_rows
        if n_rows >= _ROWS:
            yield _frame(held)
            held, n_rows = [], 0
    if n_rows:
        yield _frame(held)


def _frame(batches: list[Any]) -> pl.DataFrame:
    import polars as pl
    import pyarrow as pa

    return checked_frame(pl.DataFrame(pa.Table.from_batches(batches)), "score", first_row=None)


def _find(packed: bytes, ties: TieBreak, frames: Frames) -> PartHits:
    """Find the hits in the rows of a partition."""
    judgments = _unpacked(packed)
    return PartHits.merged(PartHits.of(judgments, frame, ties, number) for number, frame in frames)


def _count(packed: bytes, asked: bytes, ties: TieBreak, frames: Frames) -> _Counts:
    """Count the rows of a partition that are ranked before the hits."""
    judgments, hits = _unpacked(packed), pickle.loads(asked)
    before = np.zeros_like(hits.before)
    for number, frame in frames:
        # Unless ties go by it, the second scan may divide the rows otherwise: -1 is no part of the first.
        place = number if ties.by_position else -1
        before += hits.count_before_in(judgments, frame, ties, place)
    hit = np.flatnonzero(before)
    return _Counts(hit, before[hit])


def _refuse_changes(first: list[_Scanned], again: list[_Scanned], ties: TieBreak) -> None:
    """Raise InputError if two scans had different rows, or rows in another order where ties go by it."""
    totals = [
        (sum(part.n_rows for part in scan), sum(part.hash for part in scan) % 2**64)
        for scan in (first, again)
    ]
    if ties.by_position:
        same = [part[:2] for part in first] == [part[:2] for part in again]
    else:
        same = totals[0] == totals[1]
    if not same:
        raise other_rows([n_rows for n_rows, _ in totals])


def other_rows(n_rows: list[int]) -> InputError:
    """Return the error for a run that had other rows at the second scan."""
    counts = " and then ".join(f"{n:,} rows" for n in n_rows)
    return InputError(
        f"the run is not the same each time that it is computed (two scans: {counts}, not the same ones)",
        hint="Write it to a table first, and evaluate that",
    )
