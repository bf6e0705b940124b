"""Make the rankings (``runs/``) of the packaged sample data set ``permed-sample``.

This script needs ``bm25s`` and ``scikit-learn``, which the package itself does not need. Run it from the
root of the repository with ``python tests/make_sample_runs.py``. It is deterministic: the same data and
the same library versions give the same files.

Three systems rank the documents (title and text) of the corpus for each part of the data set:

- ``bm25``: BM25 (``bm25s``) with the text of the turn alone,
- ``tfidf``: TF-IDF cosine similarity with the turn preceded by the earlier turns of its conversation,
- ``lsa``: latent semantic analysis (64 dimensions) with the same query text as ``tfidf``.

The medical runs are in the PerMed result format (one line per turn, with scores), the literature runs in
the LitSearch result format (one line per query, without scores). Only documents with a score above 0 are
listed, 20 at most.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import bm25s
import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

SAMPLE = Path(__file__).resolve().parent.parent / "permed_measures" / "datasets" / "sample"
TOP_K = 20
DECIMALS = 6
LSA_DIMENSIONS = 64
SEED = 0

Row = dict[str, Any]
Ranking = list[tuple[str, float]]
Scores = NDArray[np.float64]
Scorer = Callable[[str], Scores]


def read_jsonl(path: Path) -> list[Row]:
    """Read a JSON Lines file.

    Parameters
    ----------
    path : Path
        The file to read.

    Returns
    -------
    list of dict
        One dictionary per line.
    """
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_jsonl(path: Path, rows: Iterable[Row]) -> None:
    """Write dictionaries to a JSON Lines file.

    Parameters
    ----------
    path : Path
        The file to write; its folder is made when missing.
    rows : iterable of dict
        One dictionary per line.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text("".join(lines), encoding="utf-8", newline="\n")


def make_bm25_scorer(texts: Sequence[str]) -> Scorer:
    """Index the texts with BM25.

    Parameters
    ----------
    texts : sequence of str
        The documents.

    Returns
    -------
    callable
        Maps a query to the scores of all documents.
    """
    index = bm25s.BM25()
    index.index(bm25s.tokenize(list(texts), stopwords="en", show_progress=False), show_progress=False)

    def score(query: str) -> Scores:
        tokens = bm25s.tokenize(query, stopwords="en", return_ids=False, show_progress=False)[0]
        known = [token for token in tokens if token in index.vocab_dict]
        if not known:
            return np.zeros(len(texts))
        return np.asarray(index.get_scores(known), dtype=np.float64)

    return score


def make_tfidf_scorer(texts: Sequence[str]) -> Scorer:
    """Index the texts with TF-IDF vectors, compared by their cosine.

    Parameters
    ----------
    texts : sequence of str
        The documents.

    Returns
    -------
    callable
        Maps a query to the scores of all documents.
    """
    vectorizer = TfidfVectorizer(stop_words="english", sublinear_tf=True)
    matrix = vectorizer.fit_transform(texts)

    def score(query: str) -> Scores:
        return np.asarray((matrix @ vectorizer.transform([query]).T).toarray().ravel())

    return score


def make_lsa_scorer(texts: Sequence[str]) -> Scorer:
    """Index the texts with latent semantic analysis, compared by their cosine.

    Parameters
    ----------
    texts : sequence of str
        The documents.

    Returns
    -------
    callable
        Maps a query to the scores of all documents.
    """
    vectorizer = TfidfVectorizer(stop_words="english", sublinear_tf=True)
    svd = TruncatedSVD(n_components=LSA_DIMENSIONS, algorithm="arpack", random_state=SEED)
    matrix = normalize(svd.fit_transform(vectorizer.fit_transform(texts)))

    def score(query: str) -> Scores:
        return np.asarray(matrix @ normalize(svd.transform(vectorizer.transform([query])))[0])

    return score


def rank(doc_ids: Sequence[str], scores: Scores) -> Ranking:
    """Order documents by score, equal scores by document identifier, both descending.

    Parameters
    ----------
    doc_ids : sequence of str
        The identifiers of all documents.
    scores : ndarray
        The scores, in the order of the identifiers.

    Returns
    -------
    list of (str, float)
        The best documents with a rounded score above 0, and that score.
    """
    rounded = (round(float(score), DECIMALS) for score in scores)
    scored = [(doc_id, score) for doc_id, score in zip(doc_ids, rounded, strict=True) if score > 0]
    return sorted(scored, key=lambda pair: (pair[1], pair[0]), reverse=True)[:TOP_K]


def list_turn_queries(conversation: Row, with_history: bool) -> list[tuple[str, str]]:
    """List the queries of a conversation.

    Parameters
    ----------
    conversation : dict
        One line of ``medical/queries.jsonl``.
    with_history : bool
        Whether the texts of the earlier turns precede that of the turn.

    Returns
    -------
    list of (str, str)
        Query identifier and query text of each turn.
    """
    texts = [turn["text"] for turn in conversation["turns"]]
    queries = []
    for position, turn in enumerate(conversation["turns"]):
        query_id = f"{conversation['conversation_id']}_{turn['turn_id']}"
        text = " ".join(texts[: position + 1]) if with_history else turn["text"]
        queries.append((query_id, text))
    return queries


def make_medical_run(
    conversations: Sequence[Row], doc_ids: Sequence[str], scorer: Scorer, with_history: bool
) -> list[Row]:
    """Rank the documents for every turn, in the PerMed result format.

    Parameters
    ----------
    conversations : sequence of dict
        The lines of ``medical/queries.jsonl``.
    doc_ids : sequence of str
        The identifiers of all documents.
    scorer : callable
        Maps a query to the scores of all documents.
    with_history : bool
        Whether the query includes the earlier turns of the conversation.

    Returns
    -------
    list of dict
        One line per turn.
    """
    rows = []
    for conversation in conversations:
        for query_id, text in list_turn_queries(conversation, with_history):
            ranking = rank(doc_ids, scorer(text))
            results = [{"text_id": doc_id, "score": score} for doc_id, score in ranking]
            rows.append({"query_id": query_id, "ranked_results": results})
    return rows


def make_literature_run(
    queries: Sequence[Row], relevant: dict[int, list[str]], doc_ids: Sequence[str], scorer: Scorer
) -> list[Row]:
    """Rank the documents for every stand-alone query, in the LitSearch result format.

    Parameters
    ----------
    queries : sequence of dict
        The lines of ``literature/queries.jsonl``.
    relevant : dict
        The identifiers of the relevant documents of each query.
    doc_ids : sequence of str
        The identifiers of all documents.
    scorer : callable
        Maps a query to the scores of all documents.

    Returns
    -------
    list of dict
        One line per query.
    """
    return [
        {
            "query_id": query["query_id"],
            "query": query["query"],
            "corpusids": relevant[query["query_id"]],
            "retrieved": [doc_id for doc_id, _ in rank(doc_ids, scorer(query["query"]))],
        }
        for query in queries
    ]


def main() -> None:
    """Rank both parts of the data set with each system and write the six runs."""
    corpus = read_jsonl(SAMPLE / "corpus.jsonl")
    doc_ids = [doc["doc_id"] for doc in corpus]
    texts = [f"{doc['title']} {doc['text']}" for doc in corpus]
    conversations = read_jsonl(SAMPLE / "medical" / "queries.jsonl")
    queries = read_jsonl(SAMPLE / "literature" / "queries.jsonl")
    labels = read_jsonl(SAMPLE / "literature" / "query_to_texts.jsonl")
    relevant = {row["query_id"]: row["relevant_texts"] for row in labels}
    scorers = {
        "bm25": make_bm25_scorer(texts),
        "tfidf": make_tfidf_scorer(texts),
        "lsa": make_lsa_scorer(texts),
    }
    for name, scorer in scorers.items():
        medical = make_medical_run(conversations, doc_ids, scorer, with_history=name != "bm25")
        write_jsonl(SAMPLE / "runs" / f"medical-{name}.jsonl", medical)
        literature = make_literature_run(queries, relevant, doc_ids, scorer)
        write_jsonl(SAMPLE / "runs" / f"literature-{name}.jsonl", literature)


if __name__ == "__main__":
    main()
