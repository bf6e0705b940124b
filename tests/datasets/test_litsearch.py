"""LitSearch: its labels, and the attributes and papers of the official Parquet files."""

import functools
import hashlib
import random
import shutil
from dataclasses import replace

import ir_datasets
import polars as pl
import pytest
from data_files import lines_of

import permed_measures as pm
from permed_measures.datasets.downloads import FILES
from permed_measures.datasets.records import LitSearchDoc


def test_litsearch_is_as_the_files_have_it(real):
    dataset = ir_datasets.load("litsearch")
    queries, qrels = list(dataset.queries_iter()), list(dataset.qrels_iter())
    texts = [
        (str(line["query_id"]), line["query"]) for line in lines_of(real / "litsearch" / "queries.jsonl")
    ]
    labels = [
        (str(line["query_id"]), str(doc_id), 1)
        for line in lines_of(real / "litsearch" / "query_to_texts.jsonl")
        for doc_id in line["relevant_texts"]
    ]
    assert [query.query_id for query in queries] == [str(number) for number in range(1, 598)]
    assert [query[:2] for query in queries] == texts
    assert {query[2:] for query in queries} == {(None, None, None)}
    assert list(map(tuple, qrels)) == labels
    assert len(qrels) == 639
    assert {type(qrel.relevance) for qrel in qrels} == {int}


SETS = ("inline_acl", "inline_nonacl", "manual_acl", "manual_iclr")
PAPERS = [
    {
        "corpusid": number,
        "title": f"Title {number}",
        "abstract": f"Abstract {number}" if number != 13 else None,
        "citations": [number + 1, number + 2] if number != 12 else [],
        "full_paper": f"Everything about {number}",
    }
    for number in range(10, 22)
]


def attributes_of(query_id):
    """Return query set, specificity and quality, as the made Parquet file has them."""
    number = int(query_id)
    return SETS[number % 4], ("broad", "specific")[number // 4 % 2], 1 + number // 8 % 2


@functools.cache
def question_rows(path):
    rows = []
    for line in lines_of(path):
        query_set, specificity, quality = attributes_of(line["query_id"])
        rows.append(
            {
                "query_set": query_set,
                "query": line["query"],
                "specificity": int(specificity == "specific"),
                "quality": quality,
                "corpusids": [line["query_id"]],
            }
        )
    random.Random(5).shuffle(rows)
    return rows


PARTS = [PAPERS[2 * part : 2 * part + 2] for part in range(6)]
SCHEMA = {
    "corpusid": pl.Int64,
    "title": pl.String,
    "abstract": pl.String,
    "citations": pl.List(pl.Int64),
    "full_paper": pl.String,
}


def write_official(folder, monkeypatch, rows=None, papers=PARTS):
    """Write Parquet files as princeton-nlp/LitSearch has them, and pin their sizes and hashes."""
    frames = {
        f"corpus_clean/full-{part:05}-of-00006.parquet": pl.DataFrame(content, schema=SCHEMA)
        for part, content in enumerate(papers)
    }
    if rows:
        frames["query/full-00000-of-00001.parquet"] = pl.DataFrame(rows)
    for name, frame in frames.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        frame.write_parquet(path)
        file, content = FILES[f"litsearch/{name}"], path.read_bytes()
        pinned = replace(file, size=len(content), sha256=hashlib.sha256(content).hexdigest())
        monkeypatch.setitem(FILES, f"litsearch/{name}", pinned)
    return folder


@pytest.fixture
def cache(data, home):
    """Return a folder of ir_datasets with the queries and labels of LitSearch."""
    shutil.copytree(data / "litsearch", home / "litsearch", ignore=lambda *_: ["runs"])
    return home / "litsearch"


@pytest.fixture
def rows(cache):
    return [dict(row) for row in question_rows(cache / "queries.jsonl")]


@pytest.fixture
def official(cache, rows, monkeypatch, offline):  # noqa: ARG001
    """Have the official files where they are looked for."""
    return write_official(cache, monkeypatch, rows)


def check_attributes():
    queries = list(ir_datasets.load("litsearch").queries_iter())
    assert len(queries) == 597
    for query in queries:
        assert query[2:] == attributes_of(query.query_id)


def test_official_files_are_downloaded_when_they_are_needed(cache, rows, server, tmp_path, monkeypatch):
    folder, litsearch = write_official(tmp_path, monkeypatch, rows), ir_datasets.load("litsearch")
    base = "/datasets/princeton-nlp/LitSearch/resolve/9573fb284a1026c998df47024b888a163f0f0e25/"
    for path in folder.glob("*/*.parquet"):
        server.files[f"{base}{path.relative_to(folder).as_posix()}"] = path.read_bytes()
    monkeypatch.setenv("HF_ENDPOINT", server.url)
    assert {query[2:] for query in litsearch.queries_iter()} == {(None, None, None)}
    assert server.asked == []
    broad = list(ir_datasets.load("litsearch/broad").queries_iter())
    assert broad
    assert all(attributes_of(query.query_id)[1] == "broad" for query in broad)
    assert server.asked == [f"{base}query/full-00000-of-00001.parquet"]
    check_attributes()
    assert [doc.doc_id for doc in litsearch.docs_iter()] == [str(paper["corpusid"]) for paper in PAPERS]
    assert server.asked[1:] == [f"{base}corpus_clean/full-{part:05}-of-00006.parquet" for part in range(6)]
    assert litsearch.docs_store().get("13").title == "Title 13"
    assert len(server.asked) == 7
    assert (cache / "query" / "full-00000-of-00001.parquet").exists()


@pytest.mark.parametrize(
    ("names", "keeps"),
    [
        (("broad", "specific"), (lambda a: a[1] == "broad", lambda a: a[1] == "specific")),
        (("inline", "author"), (lambda a: a[0].startswith("inline"), lambda a: a[0].startswith("manual"))),
    ],
)
@pytest.mark.usefixtures("official")
def test_the_parts_of_litsearch_are_partitions(names, keeps):
    whole = ir_datasets.load("litsearch")
    parts = [ir_datasets.load(f"litsearch/{name}") for name in names]
    for part, keep in zip(parts, keeps, strict=True):
        ids = [query.query_id for query in whole.queries_iter() if keep(attributes_of(query.query_id))]
        assert [query.query_id for query in part.queries_iter()] == ids
        assert list(dict.fromkeys(qrel.query_id for qrel in part.qrels_iter())) == ids
        assert part.queries_count() == len(ids)
    assert sum(part.queries_count() for part in parts) == 597
    assert sorted(qrel for part in parts for qrel in part.qrels_iter()) == sorted(whole.qrels_iter())


def test_questions_of_another_data_set_are_refused(cache, rows, monkeypatch):
    rows[7].update(query="Another question?")
    folder = write_official(cache, monkeypatch, rows)
    with pytest.raises(pm.InputError) as error:
        list(ir_datasets.load("litsearch").queries_iter())
    path = folder / "query" / "full-00000-of-00001.parquet"
    assert str(error.value) == f"{path}: this file has other queries than LitSearch's"


@pytest.mark.usefixtures("offline")
def test_the_papers_of_litsearch_are_read_and_looked_up(home, monkeypatch):
    write_official(home / "litsearch", monkeypatch)
    expected = [
        LitSearchDoc(
            str(paper["corpusid"]),
            paper["title"],
            paper["abstract"] or "",
            tuple(map(str, paper["citations"])),
            paper["full_paper"],
        )
        for paper in PAPERS
    ]
    dataset = ir_datasets.load("litsearch")
    assert list(dataset.docs_iter()) == expected
    assert list(dataset.docs_iter()[1:3]) == expected[1:3]
    assert dataset.docs_store().get_many(["10", "21", "99"]) == {"10": expected[0], "21": expected[-1]}
    assert expected[0].default_text() == "Title 10 Abstract 10"
