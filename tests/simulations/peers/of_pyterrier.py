"""PyTerrier's tests of experiments, with our provider before all others of ir_measures.

    python tests/simulations/peers/of_pyterrier.py FOLDER [theirs]

FOLDER is a copy of github.com/terrier-org/pyterrier at the version that is installed. Instead of Terrier,
which needs Java and a download, bm25s ranks the documents among the tests' files, so that means written in
the tests are others. With ``theirs`` ir_measures keeps the order of its providers: what fails then is no
matter of ours.
"""

import functools
import re
import sys
from pathlib import Path

import bm25s
import ir_measures
import pandas as pd
import pyterrier as pt
from checks import run_unittests
from of_ir_measures import OURS

METHODS = {"BM25": "lucene", "DPH": "bm25+", "PL2": "bm25l"}
"""What takes the place of Terrier's weighting models."""


class Vaswani:
    """The collection in the folder of the tests."""

    def __init__(self, folder):
        self.folder = folder

    def get_topics(self):
        text = (self.folder / "query-text.trec").read_text()
        found = re.findall(r"<num>(\d+)</num><title>\s*(.*?)\s*</title>", text, re.DOTALL)
        return pd.DataFrame([(qid, query.lower()) for qid, query in found], columns=["qid", "query"])

    def get_qrels(self):
        lines = [line.split() for line in (self.folder / "qrels").read_text().splitlines()]
        return pd.DataFrame([(q, d, int(n)) for q, _, d, n in lines], columns=["qid", "docno", "label"])


@functools.cache
def index(folder, wmodel):
    """Return the ids of the documents, and what ranks them."""
    text = (folder / "corpus" / "doc-text.trec").read_text()
    documents = dict(re.findall(r"<DOCNO>(\d+)</DOCNO>\s*(.*?)\s*</DOC>", text, re.DOTALL))
    model = bm25s.BM25(method=METHODS[wmodel])
    model.index(bm25s.tokenize([*documents.values()], show_progress=False), show_progress=False)
    return [*documents], model


class Retriever(pt.Transformer):
    """The first documents by bm25s, where Terrier's `Retriever` stood."""

    def __init__(self, folder, wmodel):
        self.wmodel = wmodel
        self.ids, self.model = index(folder, wmodel)

    def __repr__(self):
        return f"TerrierRetr({self.wmodel})"

    def transform(self, topics):
        pt.validate.query_frame(topics, ["query"])
        rows = []
        for qid, query in topics[["qid", "query"]].itertuples(index=False):
            tokens = bm25s.tokenize(query, return_ids=False, show_progress=False)
            found, scores = self.model.retrieve(tokens, k=1000, show_progress=False)
            rows += [
                (qid, query, self.ids[i], rank, score)
                for rank, (i, score) in enumerate(zip(found[0], scores[0], strict=True))
                if score > 0
            ]
        return pd.DataFrame(rows, columns=["qid", "query", "docno", "rank", "score"])


def main(folder, is_theirs):
    """Replace what needs Java, put our provider first, and run the tests."""
    vaswani = Vaswani(folder / "tests" / "fixtures" / "vaswani_npl")
    pt.java.started = lambda: True
    pt.IndexFactory.of = lambda _: vaswani.folder
    pt.terrier.Retriever = Retriever
    pt.get_dataset = pt.datasets.get_dataset = lambda _: vaswani
    if not is_theirs:
        # Measures that a test defines stay with their provider, the first.
        ir_measures.DefaultPipeline.providers.insert(1, OURS)
    files = [file.name for file in sorted((folder / "tests").glob("test_experiment*.py"))]
    run_unittests(folder / "tests", files, folder, [(pd.testing, "assert_frame_equal")]).report()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] == ["theirs"])
