"""Titles of documents: of those that are on this machine, without a download."""

import polars as pl
import pytest

from permed_measures.comparison.queries import titles_of
from permed_measures.datasets import load


def test_titles_of_litsearch_are_read_where_its_files_are(home):
    papers = {
        "corpusid": [1, 2, 3],
        "title": ["One\n of  two", None, None],
        "abstract": ["a", "b" * 300, None],
    }
    folder = home / "litsearch" / "corpus_clean"
    folder.mkdir(parents=True)
    for part in range(6):
        pl.DataFrame(papers)[part : part + 1].write_parquet(folder / f"full-0000{part}-of-00006.parquet")
    assert titles_of(load("litsearch"), {"1", "2", "3", "4"}) == {"1": "One of two", "2": "b" * 199 + "…"}


@pytest.mark.usefixtures("offline")
def test_nothing_is_downloaded_and_a_damaged_corpus_has_none(home):
    for qrels in (load("litsearch"), load("medcorpus"), load("vaswani"), {"q": {"d1": 1}}):
        assert titles_of(qrels, {"d1"}) == {}
    (home / "medcorpus").mkdir(parents=True)
    (home / "medcorpus" / "corpus.jsonl").write_text("{")
    assert titles_of(load("medcorpus"), {"d1"}) == {}
