"""LitSearch: its labels, and the attributes and papers of the official Parquet files."""

import hashlib
import os
import shutil
from dataclasses import replace

import ir_datasets
import polars as pl
import pytest
from commands import run_python
from data_files import lines_of

import permed_measures as pm
from permed_measures.datasets.downloads import REMOTE_FILES
from permed_measures.datasets.readers import LitSearchDoc


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
PAPERS = pl.DataFrame(
    {
        "corpusid": range(10, 22),
        "title": [f"Title {number}" for number in range(10, 22)],
        "abstract": [None, *(f"Abstract {number}" for number in range(11, 22))],
        "citations": [[], *([number + 1, number + 2] for number in range(11, 22))],
        "full_paper": [f"Everything about {number}" for number in range(10, 22)],
    },
    schema_overrides={"citations": pl.List(pl.Int64)},
)
QUESTIONS = "query/full-00000-of-00001.parquet"
DOCUMENTS = [
    LitSearchDoc(str(number), title, abstract or "", tuple(map(str, citations)), text)
    for number, title, abstract, citations, text in PAPERS.rows()
]


def attributes_of(query_id):
    """Return query set, specificity and quality, as the made Parquet file has them."""
    number = int(query_id)
    return SETS[number % 4], ("broad", "specific")[number // 4 % 2], 1 + number // 8 % 2


def write_official(folder, monkeypatch, questions=()):
    """Write Parquet files as princeton-nlp/LitSearch has them, and pin their sizes and hashes."""
    frames = {f"corpus_clean/full-{part:05}-of-00006.parquet": PAPERS[2 * part :][:2] for part in range(6)}
    if questions:
        rows = [
            (sets, question, int(specificity == "specific"), quality)
            for query_id, question in questions
            for sets, specificity, quality in [attributes_of(query_id)]
        ]
        names = ["query_set", "query", "specificity", "quality"]
        frames[QUESTIONS] = pl.DataFrame(rows, schema=names, orient="row").sample(
            fraction=1, shuffle=True, seed=5
        )
    for name, frame in frames.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        frame.write_parquet(path)
        file, content = REMOTE_FILES[f"litsearch/{name}"], path.read_bytes()
        pinned = replace(file, size=len(content), sha256=hashlib.sha256(content).hexdigest())
        monkeypatch.setitem(REMOTE_FILES, f"litsearch/{name}", pinned)
    return folder


@pytest.fixture
def cache(data, home):
    """Return a folder of ir_datasets with the queries and labels of LitSearch."""
    shutil.copytree(data / "litsearch", home / "litsearch", ignore=lambda *_: ["runs"])
    return home / "litsearch"


@pytest.fixture
def questions(cache):
    return [(line["query_id"], line["query"]) for line in lines_of(cache / "queries.jsonl")]


def test_official_files_are_downloaded_when_they_are_needed(cache, questions, server, tmp_path, monkeypatch):
    folder, litsearch = write_official(tmp_path, monkeypatch, questions), ir_datasets.load("litsearch")
    base = "/datasets/princeton-nlp/LitSearch/resolve/9573fb284a1026c998df47024b888a163f0f0e25/"
    for path in folder.glob("*/*.parquet"):
        server.files[f"{base}{path.relative_to(folder).as_posix()}"] = path.read_bytes()
    monkeypatch.setenv("HF_ENDPOINT", server.url)
    assert {query[2:] for query in litsearch.queries_iter()} == {(None, None, None)}
    assert server.asked == []
    broad = list(ir_datasets.load("litsearch/broad").queries_iter())
    assert broad
    assert all(attributes_of(query.query_id)[1] == "broad" for query in broad)
    assert server.asked == [f"{base}{QUESTIONS}"]
    queries = list(ir_datasets.load("litsearch").queries_iter())
    assert [query[2:] for query in queries] == [attributes_of(n) for n in range(1, 598)]
    assert list(litsearch.docs_iter()) == DOCUMENTS
    assert server.asked[1:] == [f"{base}corpus_clean/full-{part:05}-of-00006.parquet" for part in range(6)]
    assert litsearch.docs_store().get("13") == DOCUMENTS[3]
    assert len(server.asked) == 7
    assert (cache / QUESTIONS).exists()


@pytest.mark.parametrize(
    ("names", "keeps"),
    [
        (("broad", "specific"), (lambda a: a[1] == "broad", lambda a: a[1] == "specific")),
        (("inline", "author"), (lambda a: a[0].startswith("inline"), lambda a: a[0].startswith("manual"))),
    ],
)
@pytest.mark.usefixtures("offline")
def test_the_parts_of_litsearch_are_partitions(cache, questions, monkeypatch, names, keeps):
    write_official(cache, monkeypatch, questions)
    whole = ir_datasets.load("litsearch")
    parts = [ir_datasets.load(f"litsearch/{name}") for name in names]
    for part, keep in zip(parts, keeps, strict=True):
        ids = [query.query_id for query in whole.queries_iter() if keep(attributes_of(query.query_id))]
        assert [query.query_id for query in part.queries_iter()] == ids
        assert list(dict.fromkeys(qrel.query_id for qrel in part.qrels_iter())) == ids
        assert part.queries_count() == len(ids)
    assert sum(part.queries_count() for part in parts) == 597
    assert sorted(qrel for part in parts for qrel in part.qrels_iter()) == sorted(whole.qrels_iter())


def test_questions_of_another_data_set_are_refused(cache, questions, monkeypatch):
    write_official(cache, monkeypatch, [*questions[1:], (1, "Another question?")])
    with pytest.raises(pm.InputError) as error:
        list(ir_datasets.load("litsearch").queries_iter())
    assert str(error.value) == f"{cache / QUESTIONS}: this file has other queries than LitSearch's"


@pytest.mark.usefixtures("offline")
def test_the_papers_of_litsearch_are_read_and_looked_up(home, monkeypatch):
    write_official(home / "litsearch", monkeypatch)
    dataset = ir_datasets.load("litsearch")
    assert list(dataset.docs_iter()[1:3]) == DOCUMENTS[1:3]
    found = dataset.docs_store().get_many(["10", "21", "99"])
    assert found == {"10": DOCUMENTS[0], "21": DOCUMENTS[-1]}
    assert DOCUMENTS[1].default_text() == "Title 11 Abstract 11"


FORKED = """
import os, signal, sys
from pathlib import Path
import polars as pl
from permed_measures.datasets import readers
from permed_measures.errors import InputError

path = Path(sys.argv[1])
rows = {"query": "q", "query_set": "s", "specificity": 1, "quality": 2}
rows |= {"corpusid": 3, "title": "t", "abstract": "a"}
pl.DataFrame({name: [value] for name, value in rows.items()}).write_parquet(path)
print(readers.read_attributes(path), list(readers.read_titles([path])))
if os.fork():
    os.wait()
    os._exit(0)
signal.alarm(60)  # a process that hangs ends
for read in (lambda: readers.read_attributes(path), lambda: list(readers.read_titles([path]))):
    try:
        print(read(), flush=True)
    except InputError as error:
        print(str(error)[:34], flush=True)
os._exit(0)
"""


@pytest.mark.filterwarnings("ignore:.*fork")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_does_not_wait_for_ever_for_attributes_and_titles(tmp_path):
    read, *refused = run_python(FORKED, tmp_path / "rows.parquet").splitlines()
    assert read == "{'q': ('s', 'specific', 2)} [('3', 't', 'a')]"
    assert refused == ["polars would hang in this process,"] * 2
