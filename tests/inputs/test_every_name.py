"""Every layout with every name that its columns and keys may have, whole and in chunks.

The files are written from rows that are known, so that what must come out needs no reader. The names stand
here once more; a name that the package takes and no file here has is an error.
"""

import io
import json
import random
import warnings
from contextlib import ExitStack
from itertools import product
from unittest import mock

import polars as pl
import pytest
from effort import THOROUGH

import permed_measures as pm
from permed_measures.inputs import columns, formats, scan, sources
from permed_measures.inputs import read as reading

QUERIES = (
    *("query_id", "qid", "q_id", "query-id", "queryid", "topic_id", "question_id", "caseId"),
    *("topic", "id", "_id", "query"),
)
DOCUMENTS = (
    *("doc_id", "docno", "doc-id", "docid", "corpus_id", "corpus-id", "corpusid", "text_id", "pid"),
    *("passage_id", "document_id", "id", "_id"),
)
NUMBERS = {"qrels": ("relevance", "label", "rel", "rating", "grade"), "run": ("score", "rank")}
LISTS = {
    "run": (
        *("ranked_results", "reranked_results", "results", "retrieved", "retrieved_ids"),
        *("retrievedCorpusIds", "ranking", "hits", "candidates", "ctxs"),
    ),
    "qrels": ("relevant_texts", "corpusids", "ground_truth", "relevant_docs", "positive_passages", "ratings"),
}
READ = {"qrels": pm.read_qrels, "run": pm.read_run}


def test_these_are_all_names():
    known = {
        ours: {name for group in groups for name in group} for ours, groups in columns.COLUMN_NAMES.items()
    }
    assert known["query_id"] == {name.lower() for name in QUERIES}
    assert known["doc_id"] == set(DOCUMENTS)
    assert known["relevance"] == set(NUMBERS["qrels"])
    assert known["score"] | known["rank"] == set(NUMBERS["run"])
    assert {kind: set(names) for kind, names in formats.LISTS.items()} == {
        kind: {name.lower() for name in names} for kind, names in LISTS.items()
    }
    assert {*formats.PLAIN_FORMATS} == {name for name, *_ in PLAIN}
    assert {each.name for each in formats.Layout} == {"COLUMNS", "TABLE", "JSON_LINES", "ARRAY", "JSON"}


# --- rows ----------------------------------------------------------------------------------------------

IDS = ("a1", "7", "x-2", "é", "00", "n.5", "b_3")


def made(rng, kind):
    """Return lists of documents with grades, or with scores that fall: ``{query: [(document, number)]}``."""
    lists = {}
    for query_id in rng.sample(IDS, rng.randint(2, 4)):
        documents = rng.sample(IDS, rng.randint(1, 5))
        numbers = [rng.randint(0, 3) for _ in documents]
        if kind == "run":
            numbers = sorted((rng.randint(1, 99) + 0.5 for _ in documents), reverse=True)
        lists[query_id] = list(zip(documents, numbers, strict=True))
    return lists


def by_rank(lists):
    """Return what ranks alone say: the score minus the rank, from 1."""
    return {q: {d: -float(rank) for rank, (d, _) in enumerate(docs, 1)} for q, docs in lists.items()}


def spelled(rng, name):
    """Return a name as it stands, or in capitals."""
    return rng.choice([name, name, name.upper(), name.title()])


def rows_of(lists, value):
    """Return query, document and number of each row; of a rank its place, from 1."""
    for query_id, docs in lists.items():
        for rank, (doc_id, number) in enumerate(docs, 1):
            yield query_id, doc_id, rank if value == "rank" else number


def delimited(delimiter):
    def write(rng, names, rows):
        order = rng.sample(range(3), 3)
        lines = [delimiter.join(str(row[place]) for place in order) for row in [names, *rows]]
        return "".join(f"{line}\n" for line in lines).encode()

    return write


def json_lines(_, names, rows):
    return "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows).encode()


def json_array(_, names, rows):
    return json.dumps([dict(zip(names, row, strict=True)) for row in rows]).encode()


def parquet(_, names, rows):
    file = io.BytesIO()
    pl.DataFrame(rows, schema=names, orient="row").write_parquet(file)
    return file.getvalue()


ROWS = {
    **{name: delimited(name) for name in (",", "\t", ";", " ")},
    "JSON lines": json_lines,
    "array": json_array,
    "Parquet": parquet,
}


def row_files():
    """Yield the kind, layout and names of each file that has a row for each document.

    Names of the query and of the document stand in every pair, as one may be the other; those of the numbers
    with every query.
    """
    rng = random.Random(1)
    for kind, layout, query in product(READ, ROWS, QUERIES):
        documents = [
            each for each in DOCUMENTS if not {query, each} <= {"id", "_id"}
        ]  # both are the document
        pairs = [(each, rng.choice(NUMBERS[kind])) for each in documents]
        pairs += [(rng.choice(documents), each) for each in NUMBERS[kind]]
        for document, value in pairs:
            if (kind, query, document, value) != ("run", "query-id", "corpus-id", "score"):  # BEIR's qrels
                yield kind, layout, query, document, value
    yield from (("qrels", layout, "query-id", "corpus-id", "score") for layout in ROWS)


def write_rows(rng, kind, layout, query, document, value):
    lists = made(rng, kind)
    is_beir = value == "score" and kind == "qrels"
    names = [name if is_beir else spelled(rng, name) for name in (query, document, value)]
    data = ROWS[layout](rng, names, list(rows_of(lists, value)))
    return data, by_rank(lists) if value == "rank" else {q: dict(docs) for q, docs in lists.items()}


# --- lists ---------------------------------------------------------------------------------------------

ITEMS = ("ids", "objects", "numbers", "ranks")


def list_files():
    """Yield what is needed for each file with a list of documents for each query.

    The names of queries and of documents do not meet in one object: each stands with every list.
    """
    for kind in READ:
        for key, items in product(LISTS[kind], ITEMS[: 4 if kind == "run" else 3]):
            for layout, query in product(("JSON lines", "array"), QUERIES):
                if query != "query" or key not in ("retrieved", "corpusids"):  # there it is the text
                    yield kind, layout, query, key, items, "doc_id"
            for document in DOCUMENTS if items != "ids" else ():
                yield kind, "JSON lines", "query_id", key, items, document


def item_of(rng, items, document, kind, rank, doc_id, number):
    """Return a document of a list, and the number that it has there."""
    if items == "ids":
        return doc_id, None
    name = spelled(rng, document)
    if items == "objects":
        return {name: doc_id}, None
    if items == "ranks":
        return {name: doc_id, "rank": rank}, -float(rank)
    return {name: doc_id, rng.choice(NUMBERS[kind][:1] if kind == "run" else NUMBERS[kind]): number}, number


def listed(rng, kind, items, document):
    """Return lists of items by query, and what must be read of them."""
    lists, expected = {}, {}
    for query_id, docs in made(rng, kind).items():
        lists[query_id], expected[query_id] = [], {}
        for rank, (doc_id, number) in enumerate(docs, 1):
            item, value = item_of(rng, items, document, kind, rank, doc_id, number)
            lists[query_id].append(item)
            missing = 1 if kind == "qrels" else -float(rank)
            expected[query_id][doc_id] = missing if value is None else value
    return lists, expected


def write_lists(rng, kind, layout, query, key, items, document):
    lists, expected = listed(rng, kind, items, document)
    names = spelled(rng, query), spelled(rng, key)
    return ROWS[layout](rng, names, list(lists.items())), expected


# --- one object, and columns without a header ------------------------------------------------------------


def object_files():
    """Yield what is needed for each file that is one object of all queries."""
    for kind in READ:
        yield kind, "", "", ""
        for items, document, key in product(
            ITEMS[: 4 if kind == "run" else 3], DOCUMENTS, ("", *LISTS[kind])
        ):
            if items != "ids" or document == "doc_id":
                yield kind, items, document, key


def write_object(rng, kind, items, document, key):
    if not items:
        expected = {q: dict(docs) for q, docs in made(rng, kind).items()}
        return json.dumps(expected, indent=rng.choice([None, 1])).encode(), expected
    lists, expected = listed(rng, kind, items, document)
    return json.dumps({key: lists} if key else lists).encode(), expected


def graded(rng, kind):
    """Write lists of grades in ranked order, which are qrels and run at once."""
    grades = {q: [rng.choice([0, 1, None]) for _ in docs] for q, docs in made(rng, kind).items()}
    named = {q: {f"d{n}": grade for n, grade in enumerate(each, 1)} for q, each in grades.items()}
    run = {q: {d: -float(rank) for rank, d in enumerate(docs, 1)} for q, docs in named.items()}
    qrels = {q: {d: grade for d, grade in docs.items() if grade is not None} for q, docs in named.items()}
    return json.dumps(grades).encode(), run if kind == "run" else qrels


PLAIN = [
    ("TREC qrels", "qrels", "{q} 0 {d} {n}", False),
    ("TREC run", "run", "{q} Q0 {d} {rank} {n} tag", False),
    ("pairs", "qrels", "{q} {d}", "pairs"),
    ("grades", "qrels", "{q} {d} {n}", False),
    ("levels", "qrels", "{q} {d} L{n}", False),
    ("ranks", "run", "{q} {d} {rank}", "ranks"),
    ("scores", "run", "{q} {d} {n}", False),
    ("ranks and scores", "run", "{q} {d} {rank} {n}", False),
]
"""What `PLAIN_FORMATS` of the package calls the columns, the kind, a line, and what its numbers are not."""


def write_plain(rng, kind, _, delimiter, line, numbers):
    lists = {f"q1{q}": [(f"d1{d}", n) for d, n in docs] for q, docs in made(rng, kind).items()}
    lists["q2"] = [("d1", 2 if kind == "qrels" else 2.5), ("d2", 1 if kind == "qrels" else 1.5)]
    text = ""
    for query_id, docs in lists.items():
        for rank, (doc_id, number) in enumerate(docs, 1):
            text += line.format(q=query_id, d=doc_id, n=number, rank=rank).replace(" ", delimiter) + "\n"
    expected = {q: dict(docs) for q, docs in lists.items()}
    if numbers == "pairs":
        expected = {q: dict.fromkeys(docs, 1) for q, docs in expected.items()}
    return text.encode(), by_rank(lists) if numbers == "ranks" else expected


FILES = {
    "rows": (write_rows, list(row_files())),
    "lists": (write_lists, list(list_files())),
    "one object": (write_object, list(object_files())),
    "grades": (graded, [("qrels",), ("run",)] * 5),
    "columns": (
        write_plain,
        [(kind, name, d, line, n) for (name, kind, line, n), d in product(PLAIN, (" ", "\t", ",", ";"))],
    ),
}


# --- all of them -----------------------------------------------------------------------------------------


def in_chunks(rng):
    """Read a small file as a large one is, in chunks of any size."""
    sizes = {
        (reading, "_LARGE_FILE"): [0],
        (scan, "_ROWS_PER_BATCH"): [1, 3],
        (scan, "_ROWS_AS_OBJECTS"): [1, 2],
    }
    sizes |= {(sources, "_CHUNK"): [1, 9, 40], (sources, "_TEXT"): [1, 9, 40]}
    limits = ExitStack()
    for (module, name), some in sizes.items():
        limits.enter_context(mock.patch.object(module, name, rng.choice(some)))
    return limits


@pytest.mark.parametrize("name", FILES)
def test_every_name_is_read_in_every_layout(name, tmp_path):
    write, files = FILES[name]
    rng, path = random.Random(name), tmp_path / "file"
    for kind, *how in files if THOROUGH else rng.sample(files, min(len(files), 60)):
        data, expected = write(rng, kind, *how)
        path.write_bytes(data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pm.PermedWarning)
            whole = READ[kind](path)
            with in_chunks(rng):
                parts = READ[kind](path)
        for found in (whole, parts):
            assert found == expected, (kind, how, data)
            assert [list(docs) for docs in found.values()] == [list(docs) for docs in expected.values()]
