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

import json
from pathlib import Path

import bm25s
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

SAMPLE = Path(__file__).resolve().parent.parent / "permed_measures" / "datasets" / "sample"


def read_jsonl(name):
    return [json.loads(line) for line in (SAMPLE / name).read_text(encoding="utf-8").splitlines()]


def write_jsonl(name, rows):
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (SAMPLE / "runs" / name).write_text("".join(lines), encoding="utf-8", newline="\n")


def bm25_scorer(texts):
    index = bm25s.BM25()
    index.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)

    def score(query):
        tokens = bm25s.tokenize(query, stopwords="en", return_ids=False, show_progress=False)[0]
        known = [token for token in tokens if token in index.vocab_dict]
        return np.asarray(index.get_scores(known), np.float64) if known else np.zeros(len(texts))

    return score


def tfidf_scorer(texts):
    vectorizer = TfidfVectorizer(stop_words="english", sublinear_tf=True)
    matrix = vectorizer.fit_transform(texts)
    return lambda query: (matrix @ vectorizer.transform([query]).T).toarray().ravel()


def lsa_scorer(texts):
    vectorizer = TfidfVectorizer(stop_words="english", sublinear_tf=True)
    svd = TruncatedSVD(n_components=64, algorithm="arpack", random_state=0)
    matrix = normalize(svd.fit_transform(vectorizer.fit_transform(texts)))
    return lambda query: (matrix @ normalize(svd.transform(vectorizer.transform([query])))[0]).ravel()


SCORERS = {"bm25": bm25_scorer, "tfidf": tfidf_scorer, "lsa": lsa_scorer}


def turns_of(conversations, with_history):
    """Yield id and text of each turn, perhaps with the texts of the turns before it."""
    for conversation in conversations:
        texts = []
        for turn in conversation["turns"]:
            texts.append(turn["text"])
            text = " ".join(texts) if with_history else turn["text"]
            yield f"{conversation['conversation_id']}_{turn['turn_id']}", text


def main():
    """Rank both parts of the data set with each system and write the six runs."""
    corpus = read_jsonl("corpus.jsonl")
    doc_ids = [doc["doc_id"] for doc in corpus]
    conversations, queries = read_jsonl("medical/queries.jsonl"), read_jsonl("literature/queries.jsonl")
    labels = read_jsonl("literature/query_to_texts.jsonl")
    relevant = {row["query_id"]: row["relevant_texts"] for row in labels}
    for name, scorer_of in SCORERS.items():
        scorer = scorer_of([f"{doc['title']} {doc['text']}" for doc in corpus])

        def ranked(text, scorer=scorer):
            """Return the first documents and their scores; equal scores by document id descending."""
            scores = [round(float(score), 6) for score in scorer(text)]
            return sorted(((s, d) for s, d in zip(scores, doc_ids, strict=True) if s > 0), reverse=True)[:20]

        medical = [
            {"query_id": query_id, "ranked_results": [{"text_id": d, "score": s} for s, d in ranked(text)]}
            for query_id, text in turns_of(conversations, name != "bm25")
        ]
        write_jsonl(f"medical-{name}.jsonl", medical)
        literature = [
            {
                **{"query_id": each["query_id"], "query": each["query"]},
                "corpusids": relevant[each["query_id"]],
                "retrieved": [d for _, d in ranked(each["query"])],
            }
            for each in queries
        ]
        write_jsonl(f"literature-{name}.jsonl", literature)


if __name__ == "__main__":
    main()
