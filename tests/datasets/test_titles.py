"""Titles of documents: of those that are on this machine, without a download."""

from types import SimpleNamespace

import polars as pl
import pytest

from permed_measures.datasets import from_folder, load
from permed_measures.datasets.titles import titles_of
from permed_measures.errors import InputError

DOWNLOADS = "permed_measures.datasets.downloads"


def test_titles_of_litsearch_are_read_where_its_files_are(tmp_path, monkeypatch):
    papers = {
        "corpusid": [1, 2, 3],
        "title": ["One\n of  two", None, None],
        "abstract": ["a", "b" * 300, None],
    }
    (tmp_path / "corpus_clean").mkdir()
    pl.DataFrame(papers).write_parquet(tmp_path / "corpus_clean" / "part.parquet")
    monkeypatch.setenv("PERMED_LITSEARCH_DIR", str(tmp_path))
    found = titles_of(load("litsearch"), {"1", "2", "3", "4"})
    assert found == {"1": "One of two", "2": "b" * 199 + "…"}


def test_nothing_is_downloaded(monkeypatch):
    for place in ("ir_datasets.util.download.RequestsDownload.stream", f"{DOWNLOADS}.RemoteFile._download"):
        monkeypatch.setattr(place, lambda *_: pytest.fail("a download"))
    for name in ("litsearch", "medcorpus", "vaswani", "cranfield", "msmarco-passage/dev/small"):
        assert titles_of(load(name), {"1"}) == {}


def test_a_folder_without_corpus_or_with_a_damaged_one_has_none(tmp_path):
    line = '{"query_id": "t_turn_1", "query": "why?", "history": [], "ground_truth": ["d1"]}'
    (tmp_path / "queries.jsonl").write_text(line)
    assert titles_of(from_folder(tmp_path, "titles-none"), {"d1"}) == {}
    (tmp_path / "corpus.jsonl").write_text("{")
    dataset = load(str(tmp_path))
    with pytest.raises(InputError):
        list(dataset.docs_iter())
    assert titles_of(dataset, {"d1"}) == {}
    assert titles_of({"q": {"d1": 1}}, {"d1"}) == {}


def test_the_index_of_another_data_set_is_used_once_it_is_built():
    document = SimpleNamespace(doc_id="1", title="", default_text=lambda: "how it begins")
    store = SimpleNamespace(built=lambda: True, get_many_iter=lambda ids: [document] * len(ids))
    docs = SimpleNamespace(docs_path=lambda force=True: force, docs_store=lambda: store)
    dataset = SimpleNamespace(docs_handler=lambda: docs)
    assert titles_of(dataset, {"1"}) == {"1": "how it begins"}
    assert titles_of(SimpleNamespace(irds_ref=lambda: dataset), {"1"}) == {"1": "how it begins"}
    store.built = lambda: False
    assert titles_of(dataset, {"1"}) == {}
