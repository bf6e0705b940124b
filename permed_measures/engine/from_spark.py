"""The judged documents of a run that is a PySpark frame: which of two ways finds them."""

from __future__ import annotations

from typing import Any

from permed_measures.engine.forms import columns_of
from permed_measures.engine.from_spark_joins import BY_ID, find_by_joins
from permed_measures.engine.from_spark_workers import find_in_workers
from permed_measures.engine.inputs import SparkRun, where
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.ranks import RunHits, TieBreak
from permed_measures.errors import InputError


def find_in_spark(judgments: Judgments, run: SparkRun, ties: TieBreak) -> RunHits:
    """Find the judged documents of a PySpark frame.

    Spark itself finds and counts them, in two scans. The rows go to Python workers if one scan may be enough,
    since the rows of each query are said to stand in one partition, and for ties that go by more than ids.

    Parameters
    ----------
    judgments : Judgments
    run : SparkRun
    ties : TieBreak
        The order of the input is that of the partitions, as ``collect`` returns the rows.

    Raises
    ------
    InputError
        As for any run; also if the second scan finds other rows than the first, and for judgments that are
        too large for the workers of Spark Connect.
    """
    rows = typed_rows(run.frame, "score")
    if run.strict:
        _refuse_duplicates(rows)
    if ties in BY_ID and not run.partitioned_by_query:
        return find_by_joins(judgments, rows, ties)
    if run.partitioned_by_query and not ties.by_position:  # workers divide a partition between queries
        rows = rows.sortWithinPartitions("query_id")
    return find_in_workers(judgments, rows, ties)


_ID_TYPES = {"string", "char", "varchar", "byte", "short", "integer", "long"}
_NUMBER_TYPES = {"byte", "short", "integer", "long", "float", "double", "decimal", "boolean"}


def typed_rows(frame: Any, column: str) -> Any:
    """Return query_id, doc_id (strings) and `column` (double) of a PySpark frame."""
    columns = []
    for ours, theirs in columns_of(frame.columns, column).items():
        if frame.columns.count(theirs) > 1:
            raise InputError(f"the frame has two columns {theirs}", hint="Select the one that is meant")
        kind = frame.schema[theirs].dataType
        is_number = ours == column
        if is_number and kind.typeName() not in _NUMBER_TYPES:
            problem = f"column {theirs} must hold numbers (found {kind.simpleString()})"
            raise InputError(problem, hint="Cast it to double")
        if not is_number and kind.typeName() not in _ID_TYPES:
            raise InputError(
                f"ids must be strings or integers (found {kind.simpleString()} in column {theirs})",
                hint="Convert ids to strings before evaluating, so that nothing is rounded",
            )
        columns.append(frame[theirs].cast("double" if is_number else "string").alias(ours))
    return frame.select(*columns)


def _refuse_duplicates(rows: Any) -> None:
    """Raise InputError for a document, judged or not, that is listed twice: this shuffles the run."""
    twice = rows.groupBy("query_id", "doc_id").count().filter("count > 1")
    for found in twice.orderBy("query_id", "doc_id").limit(1).collect():
        problem = f"the document is listed {found[2]} times"
        raise InputError(problem, where=where(found[0], found[1]), hint="Remove all rows but one")
