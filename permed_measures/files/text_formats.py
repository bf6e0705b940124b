"""The known text formats, and how each is recognised."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from permed_measures.files import entries
from permed_measures.files.entries import columns_of
from permed_measures.files.formats import Format, Header, Layout


def _is_relevance_row(text: str) -> bool:
    """Return whether a line has nothing but grades, and so many that it is no line of TREC or MS MARCO."""
    columns = columns_of(text)
    is_other = len(columns) in (0, 1, 4, 6) or (len(columns) == 3 and "\t" in text)
    return not is_other and all(re.fullmatch("-?[0-9]", column) for column in columns)


def _has(*keys: str) -> Callable[[dict[str, Any]], bool]:
    return lambda first: set(keys) <= first.keys()


def _is_table(*columns: str, beir: bool = False) -> Callable[[Header], bool]:
    return lambda header: header.has(*columns) and header.is_beir == beir


RANKS_ONLY = "there are no scores: documents are ranked by the column rank"

TEXT_FORMATS = (
    Format(
        "MedCorpus labels",
        Layout.JSON_LINES,
        "qrels",
        '{"conversation_id": ..., "turn_id": ..., "doc_id": ..., "rel": ...}',
        _has("conversation_id", "turn_id", "doc_id", "rel"),
        as_qrels=entries.medcorpus,
        as_run=entries.row_order(entries.medcorpus),
    ),
    Format(
        "PerMed ground truth or LitSearch labels",
        Layout.JSON_LINES,
        "qrels",
        '{"query_id": ..., "relevant_texts": [ids]}',
        _has("query_id", "relevant_texts"),
        as_qrels=entries.listed("relevant_texts", 1, entries.query_id_of),
        as_run=entries.list_order(entries.listed("relevant_texts", 1, entries.query_id_of)),
        lists=True,
    ),
    Format(
        "relevant documents by level",
        Layout.JSON_LINES,
        "qrels",
        '{"query_id": ..., "highly_relevant": [ids], "relevant": [ids]}',
        lambda first: "query_id" in first and not entries.LEVELS.keys().isdisjoint(first),
        as_qrels=entries.levels,
        lists=True,
    ),
    Format(
        "relevance lists",
        Layout.JSON_LINES,
        "qrels",
        '{"query_id": ..., "relevance": [grades in the order of the ranking]}',
        _has("query_id", "relevance"),
        as_qrels=entries.judged_list,
        as_run=entries.list_order(entries.relevance_list),
        lists=True,
    ),
    Format(
        "PerMed results",
        Layout.JSON_LINES,
        "run",
        '{"query_id": ..., "ranked_results" or "results": [{"text_id": ..., "score": ...}]}',
        lambda first: "query_id" in first and ("ranked_results" in first or "results" in first),
        as_run=entries.permed_results,
        lists=True,
    ),
    Format(
        "LitSearch results",
        Layout.JSON_LINES,
        "run",
        '{"query_id": ..., "query": ..., "corpusids": [ids], "retrieved": [ids]}',
        _has("retrieved"),
        as_qrels=entries.listed("corpusids", 1),
        as_run=entries.listed("retrieved", None),
        lists=True,
        qrels_key="corpusids",
        before_reranking=entries.listed("pre_reranked", None),
    ),
    Format(
        "TREC qrels",
        Layout.COLUMNS,
        "qrels",
        "query iteration document relevance",
        lambda text: len(columns_of(text)) == 4,
        as_qrels=entries.trec_qrels,
        as_run=entries.row_order(entries.trec_qrels),
    ),
    Format(
        "TREC run",
        Layout.COLUMNS,
        "run",
        "query Q0 document rank score tag",
        lambda text: len(columns_of(text)) >= 6 and not _is_relevance_row(text),
        as_run=entries.trec_run,
        columns=("query_id", "q0", "doc_id", "rank", "score", "tag"),
    ),
    Format(
        "MS MARCO run",
        Layout.COLUMNS,
        "run",
        "query document rank, with tabs between",
        lambda text: bool(re.fullmatch("[^\t]+\t[^\t]+\t[0-9]+", text)) and len(columns_of(text)) == 3,
        as_run=entries.ms_marco,
        columns=("query_id", "doc_id", "rank"),
    ),
    Format(
        "relevance lists",
        Layout.COLUMNS,
        "qrels",
        "grades in the order of the ranking",
        _is_relevance_row,
        as_qrels=entries.relevance_row,
        as_run=entries.list_order(entries.relevance_row),
        lists=True,
    ),
    Format(
        "BEIR qrels",
        Layout.TABLE,
        "qrels",
        "query-id, corpus-id, score under a header",
        _is_table("relevance", beir=True),
        as_qrels=entries.table_qrels,
        as_run=entries.table_qrels_as_run,
    ),
    Format(
        "CSV or TSV qrels",
        Layout.TABLE,
        "qrels",
        "query_id, doc_id, relevance (or qid, docno, label) under a header",
        _is_table("relevance"),
        as_qrels=entries.table_qrels,
        as_run=entries.table_qrels_as_run,
    ),
    Format(
        "CSV or TSV run",
        Layout.TABLE,
        "run",
        "query_id, doc_id, score (or qid, docno, score) under a header",
        _is_table("score"),
        as_run=entries.table_run,
    ),
    Format(
        "CSV or TSV run",
        Layout.TABLE,
        "run",
        "query_id, doc_id, rank under a header",
        lambda header: header.has_ranks_only,
        as_run=entries.table_ranks,
        note=RANKS_ONLY,
    ),
    Format(
        "BEIR or MTEB JSON",
        Layout.JSON,
        "run",
        "{query_id: {doc_id: number}}",
        lambda _: True,
        as_qrels=entries.json_query(entries.json_relevance),
        as_run=entries.json_query(entries.json_score),
    ),
)
"""The text formats, recognised by the first line that is neither empty nor a comment.

If several fit, one of the kind that is asked for is taken before one that can be read as it, and of several
such the first.
"""
