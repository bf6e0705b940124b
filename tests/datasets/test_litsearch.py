"""LitSearch: its labels, and the attributes and papers of the official Parquet files."""

import functools
import hashlib
import random
import shutil
import warnings
from dataclasses import replace

import ir_datasets
import polars as pl
import pytest
from data_files import evaluate, kept, lines_of
from ir_measures import P

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
    return SETS[number % 4], number // 4 % 2, 1 + number // 8 % 2


@functools.cache
def question_rows(path):
    rows = []
    for line in lines_of(path):
        query_set, specificity, quality = attributes_of(line["query_id"])
        rows.append(
            {
                "query_set": query_set,
                "query": line["query"],
                "specificity": specificity,
                "quality": quality,
                "corpusids": [line["query_id"]],
            }
        )
    random.Random(5).shuffle(rows)
    return rows


def write_official(folder, rows=None, papers=None, layout="folders"):
    """Write Parquet files with the names and columns of princeton-nlp/LitSearch."""
    for name in ("query", "corpus_clean") if layout == "folders" else (".",):
        (folder / name).mkdir(parents=True, exist_ok=True)
    if rows is not None:
        name = "query/full-00000-of-00001.parquet" if layout == "folders" else "query.parquet"
        pl.DataFrame(rows).write_parquet(folder / name)
    if papers is not None:
        parts = [papers[2 * part : 2 * part + 2] for part in range(6)] if layout == "folders" else [papers]
        for part, content in enumerate(parts):
            name = (
                f"corpus_clean/full-{part:05}-of-00006.parquet"
                if layout == "folders"
                else "corpus_clean.parquet"
            )
            schema = {
                "corpusid": pl.Int64,
                "title": pl.String,
                "abstract": pl.String,
                "citations": pl.List(pl.Int64),
                "full_paper": pl.String,
            }
            pl.DataFrame(content, schema=schema).write_parquet(folder / name)
    return folder


@pytest.fixture
def rows(real):
    return [dict(row) for row in question_rows(real / "litsearch" / "queries.jsonl")]


def check_attributes():
    queries = list(ir_datasets.load("litsearch").queries_iter())
    assert len(queries) == 597
    for query in queries:
        assert query[2:] == attributes_of(query.query_id)


@pytest.mark.parametrize("layout", ["folders", "files"])
def test_official_files_give_each_question_its_attributes(rows, tmp_path, monkeypatch, layout):
    monkeypatch.setenv(
        "PERMED_LITSEARCH_DIR", str(write_official(tmp_path / "official", rows, PAPERS, layout))
    )
    check_attributes()
    assert [doc.doc_id for doc in ir_datasets.load("litsearch").docs_iter()] == [
        str(paper["corpusid"]) for paper in PAPERS
    ]


@pytest.fixture
def mirror(rows, data, home, server, tmp_path, monkeypatch):
    """Return a server with official files, whose sizes and hashes are the pinned ones."""
    monkeypatch.undo()  # the real home and no network
    monkeypatch.setenv("IR_DATASETS_HOME", str(home))
    monkeypatch.setenv("IR_DATASETS_DL_DISABLE_PBAR", "true")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("PERMED_LITSEARCH_DIR", f"{server.url}/main/")
    shutil.copytree(data / "litsearch", home / "litsearch", ignore=lambda *_: ["runs"])
    official = write_official(tmp_path / "official", rows, PAPERS)
    for name, file in FILES.items():
        below = name.removeprefix("litsearch/")
        if below.startswith(("query/", "corpus_clean/")):
            content = server.files[f"/main/{below}"] = (official / below).read_bytes()
            pinned = replace(file, size=len(content), sha256=hashlib.sha256(content).hexdigest())
            monkeypatch.setitem(FILES, name, pinned)
    return server


def test_a_mirror_must_have_the_official_files(mirror, home):
    name = "query/full-00000-of-00001.parquet"
    official = mirror.files[f"/main/{name}"]
    mirror.files[f"/main/{name}"] = official[:100] + b"x" + official[101:]
    with pytest.raises(pm.InputError, match=r"cannot be downloaded \(its SHA-256 is"):
        list(ir_datasets.load("litsearch/broad").queries_iter())
    cached = home / "litsearch" / name
    assert not cached.exists()
    cached.write_bytes(mirror.files[f"/main/{name}"])  # put there by hand, or by an earlier version
    with pytest.raises(
        pm.InputError, match="this is not the published file, or not all of it: its SHA-256 is"
    ):
        list(ir_datasets.load("litsearch").queries_iter())


def test_official_files_are_downloaded_when_they_are_needed(mirror):
    server, litsearch = mirror, ir_datasets.load("litsearch")
    assert {query[2:] for query in litsearch.queries_iter()} == {(None, None, None)}
    assert server.asked == []
    broad = list(ir_datasets.load("litsearch/broad").queries_iter())
    assert broad
    assert all(attributes_of(query.query_id)[1] == 0 for query in broad)
    assert server.asked == ["/main/query/full-00000-of-00001.parquet"]
    check_attributes()
    assert [doc.doc_id for doc in litsearch.docs_iter()] == [str(paper["corpusid"]) for paper in PAPERS]
    assert server.asked[1:] == [f"/main/corpus_clean/full-{part:05}-of-00006.parquet" for part in range(6)]
    assert litsearch.docs_store().get("13").title == "Title 13"
    assert len(server.asked) == 7


@pytest.mark.parametrize(
    ("names", "keeps"),
    [
        (("broad", "specific"), (lambda a: a[1] == 0, lambda a: a[1] == 1)),
        (("inline", "author"), (lambda a: a[0].startswith("inline"), lambda a: a[0].startswith("manual"))),
    ],
)
def test_the_parts_of_litsearch_are_partitions(rows, tmp_path, monkeypatch, names, keeps):
    monkeypatch.setenv("PERMED_LITSEARCH_DIR", str(write_official(tmp_path, rows)))
    whole = ir_datasets.load("litsearch")
    parts = [ir_datasets.load(f"litsearch/{name}") for name in names]
    for part, keep in zip(parts, keeps, strict=True):
        ids = [query.query_id for query in whole.queries_iter() if keep(attributes_of(query.query_id))]
        assert [query.query_id for query in part.queries_iter()] == ids
        assert list(dict.fromkeys(qrel.query_id for qrel in part.qrels_iter())) == ids
        assert part.queries_count() == len(ids)
    assert sum(part.queries_count() for part in parts) == 597
    assert sorted(qrel for part in parts for qrel in part.qrels_iter()) == sorted(whole.qrels_iter())


def test_litsearch_by_specificity(rows, data, tmp_path, monkeypatch):
    monkeypatch.setenv("PERMED_LITSEARCH_DIR", str(write_official(tmp_path, rows)))
    path = data / "litsearch" / "runs" / "bm25.jsonl"
    run, dataset = pm.read_run(path), ir_datasets.load("litsearch")
    found = pm.evaluate_by([P @ 10, "R@20"], dataset, run, by="specificity")
    assert list(map(str, found)) == ["broad", "specific"]
    content, _ = evaluate("litsearch", path, "-m", "P@10", "-m", "R@20", "--by", "specificity")
    for value, row in zip(found, content["groups"], strict=True):
        part = ir_datasets.load(f"litsearch/{value}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pm.PermedWarning)
            expected = pm.calc_aggregate([P @ 10, "R@20"], part, run)
        assert found[value] == pytest.approx(expected, abs=1e-12)
        assert row["group"] == str(value)
        assert row["queries"] == part.queries_count()
        for measure, mean in expected.items():
            assert row["metrics"][str(measure)] == pytest.approx(mean, abs=1e-12)


@pytest.mark.usefixtures("real")
def test_litsearch_by_specificity_downloads_what_it_needs(monkeypatch):
    def no_network(*_, **__):
        raise OSError("no network here")

    monkeypatch.setattr("requests.get", no_network)
    with pytest.raises(
        pm.InputError, match=r"full-00000-of-00001\.parquet cannot be downloaded \(no network h"
    ):
        pm.evaluate_by("P@10", ir_datasets.load("litsearch"), {"1": {"202719327": 1.0}}, by="specificity")
    assert pm.calc_aggregate(["P@10"], ir_datasets.load("litsearch"), {"1": {"202719327": 1.0}}) == {
        P @ 10: 0.1 / 597
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda rows: rows[7].update(query="Another question?"),
            "596 of the 597 queries of LitSearch are in this file",
        ),
        (lambda rows: rows.pop(7), "596 of the 597 queries of LitSearch are in this file"),
        (
            lambda rows: rows.append({**rows[7], "query": "One more?"}),
            "597 of the 597 queries of LitSearch are in this file",
        ),
        (lambda rows: rows.append(dict(rows[7])), "is listed twice"),
        (
            lambda rows: [row.pop("quality") for row in rows],
            "there is no column quality (there are query_set, query, specificity, corpusids)",
        ),
        (lambda rows: rows[7].update(specificity=2), "a specificity of 0 or 1"),
        (lambda rows: rows[7].update(specificity=None), "a specificity of 0 or 1"),
        (lambda rows: rows[7].update(quality=None), "a specificity of 0 or 1 and a quality"),
        (lambda rows: rows[7].update(query_set=None), "a query needs a query_set (text)"),
    ],
)
def test_official_questions_that_are_not_those_of_litsearch_are_refused(
    rows, tmp_path, monkeypatch, change, message
):
    text = rows[7]["query"]
    change(rows)
    folder = write_official(tmp_path, rows)
    monkeypatch.setenv("PERMED_LITSEARCH_DIR", str(folder))
    with pytest.raises(pm.InputError) as error:
        list(ir_datasets.load("litsearch").queries_iter())
    found = str(error.value)
    assert found.startswith(f"{folder / 'query' / 'full-00000-of-00001.parquet'}: ")
    assert message in found
    if message == "596 of the 597 queries of LitSearch are in this file":
        assert f"; it lacks {text!r:.100}" in found
    if message == "597 of the 597 queries of LitSearch are in this file":
        assert "; it has another query, 'One more?'" in found
    if message == "is listed twice":
        assert f"{text!r:.80}" in found


@pytest.mark.usefixtures("real")
def test_a_text_file_instead_of_parquet_is_refused(tmp_path, monkeypatch):
    (tmp_path / "query.parquet").write_text("query_set,query\n")
    (tmp_path / "corpus_clean.parquet").write_text("corpusid,title\n")
    monkeypatch.setenv("PERMED_LITSEARCH_DIR", str(tmp_path))
    for read in ("queries_iter", "docs_iter"):
        with pytest.raises(pm.InputError, match=r"\.parquet: cannot be read as Parquet"):
            list(getattr(ir_datasets.load("litsearch"), read)())


@pytest.mark.parametrize("exists", [True, False])
@pytest.mark.usefixtures("real")
def test_a_folder_without_official_files_is_refused(tmp_path, monkeypatch, exists):
    folder = tmp_path if exists else tmp_path / "nothing"
    monkeypatch.setenv("PERMED_LITSEARCH_DIR", str(folder))
    for read, name in (("queries_iter", "query"), ("docs_iter", "corpus_clean")):
        with pytest.raises(pm.InputError) as error:
            getattr(ir_datasets.load("litsearch"), read)()
        assert str(error.value).startswith(f"{folder}: no Parquet files {name}/*.parquet")
        assert "PERMED_LITSEARCH_DIR" in str(error.value)
    assert sum(1 for _ in ir_datasets.load("litsearch").qrels_iter()) == 639


@pytest.mark.parametrize("layout", ["folders", "files"])
@pytest.mark.usefixtures("offline")
def test_the_papers_of_litsearch_are_read_and_looked_up(home, tmp_path, monkeypatch, layout):
    monkeypatch.setenv("PERMED_LITSEARCH_DIR", str(write_official(tmp_path / "a", None, PAPERS, layout)))
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
    assert not kept(home)
    assert list(dataset.docs_iter()[1:3]) == expected[1:3]
    assert list(dataset.docs_iter()) == expected
    assert dataset.docs_store().get("13") == expected[3]
    assert dataset.docs_store().get_many(["10", "21", "99"]) == {"10": expected[0], "21": expected[-1]}
    with pytest.raises(KeyError):
        dataset.docs_store().get("99")
    assert expected[0].default_text() == "Title 10 Abstract 10"
    assert kept(home / "litsearch")


@pytest.mark.usefixtures("offline")
def test_other_papers_in_another_folder_do_not_get_the_index_of_the_first(tmp_path, monkeypatch):
    dataset = ir_datasets.load("litsearch")
    others = [{**paper, "title": f"Other {paper['corpusid']}"} for paper in PAPERS]
    for name, papers, title in (("a", PAPERS, "Title"), ("b", others, "Other"), ("a", None, "Title")):
        monkeypatch.setenv("PERMED_LITSEARCH_DIR", str(write_official(tmp_path / name, None, papers)))
        assert dataset.docs_store().get("12").title == f"{title} 12"
        assert [doc.title for doc in dataset.docs_iter()[1:3]] == [f"{title} 11", f"{title} 12"]


@pytest.mark.usefixtures("offline")
def test_papers_without_a_column_are_refused(tmp_path, monkeypatch):
    pl.DataFrame(PAPERS).drop("citations").write_parquet(tmp_path / "corpus_clean.parquet")
    monkeypatch.setenv("PERMED_LITSEARCH_DIR", str(tmp_path))
    with pytest.raises(
        pm.InputError,
        match=r"corpus_clean\.parquet: there is no column citations \(there are corpusid, title, abstract, ",
    ):
        list(ir_datasets.load("litsearch").docs_iter())
