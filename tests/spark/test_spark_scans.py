"""What is made of Spark's two scans: here plain loops are in their place, so that it needs no Spark."""

from collections import defaultdict
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from cases import rows_of
from hypothesis import given
from strategies import CASES

import permed_measures as pm
from permed_measures.engine import from_spark
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.matching import match_dict
from permed_measures.engine.ranks import TieBreak


class Rows(list):
    """Rows of a run, and what is asked of a frame of Spark."""

    selectExpr = select = limit = lambda self, *_: self  # noqa: N815 - Spark's name

    def collect(self):
        return [(doc_id,) for _, doc_id, _ in self]


def scan(rows, key_of, **keys):
    """Return the sums of the rows with equal keys as what Spark returns."""
    groups = defaultdict(list)
    for row in rows:
        groups[key_of(*row)].append(row)
    sums = [
        (*key, len(group), sum(hash(row) % 2**31 for row in group), max(row[2] for row in group), 0)
        for key, group in groups.items()
    ]
    schema = {**keys, "n_rows": pl.Int64, "hash": pl.Int64, "score": pl.Float64, "n_wrong": pl.Int64}
    return SimpleNamespace(toArrow=pl.DataFrame(sums, schema=schema, orient="row").to_arrow)


def first_scan(judgments, rows):
    places = {(query_id, doc_id): (row,) for query_id, doc_id, row in judgments.frame.rows()}
    return scan(rows, lambda query_id, doc_id, _: places.get((query_id, doc_id), (-1,)), row=pl.Int64)


def second_scan(rows, hits):
    table = {
        query_id: (list(zip(*lists, strict=True)), first) for query_id, *lists, first in hits.table.rows()
    }

    def slot_of(query_id, doc_id, score):
        if query_id not in table:
            return -1, query_id
        ranked, first = table[query_id]
        return first + sum(hit >= (float(np.float32(score)), doc_id) for hit in ranked), ""

    return scan(rows, slot_of, slot=pl.Int64, name=pl.String)


def found_by_scans(judgments, rows, *more_rows):
    """Return the hits; with `more_rows` the second scan has other rows than the first."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(from_spark, "judged_rows", first_scan)
        patch.setattr(from_spark, "counted_rows", lambda rows, hits: second_scan([*rows, *more_rows], hits))
        return from_spark.find_in_spark(judgments, Rows(rows), TieBreak.TREC)


@pytest.mark.filterwarnings("ignore:overflow encountered")
@given(case=CASES)
def test_ranks_and_counts_are_those_in_memory(case):
    judgments, run = Judgments.of(case[0]), case[1]
    expected = match_dict(judgments, run, TieBreak.TREC, None)
    found = found_by_scans(judgments, [(*row[:2], float(row[2])) for row in rows_of(run)])
    ranks = [dict(zip(each.row.tolist(), each.rank.tolist(), strict=True)) for each in (found, expected)]
    assert ranks[0] == ranks[1]
    np.testing.assert_array_equal(found.retrieved, expected.retrieved)
    assert found.query_ids == set(expected.query_ids)


def test_two_scans_of_other_rows_and_a_judged_document_twice_are_errors():
    judgments, rows = Judgments.of({"q": {"a": 1, "b": 1}}), [("q", "a", 2.0), ("q", "b", 2.0)]
    with pytest.raises(pm.InputError, match=r"\(two scans: 2 rows and then 3 rows, not the same ones\)"):
        found_by_scans(judgments, rows, ("q", "c", 1.0))
    with pytest.raises(pm.InputError, match=r"^query 'q', document 'b': the document is listed twice"):
        found_by_scans(judgments, [*rows, ("q", "b", 3.0)])
    assert found_by_scans(judgments, rows[:1]).row.tolist() == [0]


def test_a_warning_has_ids_of_documents_or_of_queries_where_none_is_judged():
    judgments = Judgments.of({"q": {"a": 1}})
    assert found_by_scans(judgments, [("q", "x", 1.0)]).some_ids == ["x"]
    assert found_by_scans(judgments, [("r", "x", 1.0), ("p", "x", 1.0)]).some_ids == ["p", "r"]
