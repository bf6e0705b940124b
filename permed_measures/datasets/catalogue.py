"""The data sets: MedCorpus, LitSearch, the packaged sample, and the user's own folders."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import ir_datasets
from ir_datasets.datasets.base import Dataset
from ir_datasets.util import MetadataComponent

from permed_measures.datasets import downloads
from permed_measures.datasets.handlers import Counted, Docs, Documentation, Qrels, Queries
from permed_measures.datasets.readers import (
    read_attributes,
    read_documents,
    read_labels,
    read_papers,
    read_questions,
    read_turns,
)
from permed_measures.datasets.records import (
    ConversationQuery,
    LitSearchDoc,
    LitSearchQuery,
    Specificity,
    TitledDoc,
)
from permed_measures.datasets.samples import SAMPLE_FOLDER
from permed_measures.errors import InputError

GRADES = {
    2: "highly relevant: directly addresses the question of the turn",
    1: "partly relevant: related concepts, methods or materials, or the same area of research",
    0: "not relevant: another topic or field",
    -1: "the annotation failed: judged, and not relevant for any measure",
}
BINARY = {1: "a paper that answers the question"}

MEDCORPUS = {
    "pretty_name": "MedCorpus",
    "desc": (
        "Multi-turn medical literature search: 800 conversations of 3 to 6 turns. Each turn is a query. "
        "The labels were made by a language model for the first ten documents of one retriever "
        "(Qwen3-Embedding-0.6B), so a run of another system has unjudged documents, which count as not "
        "relevant: look at Judged@k. 18 labels are -1, where the annotation failed; they are kept. "
        "Turns of one conversation are not independent."
    ),
    "citation": "CLPR: Conversational Literature Personalized Re-ranking, https://github.com/kcisgroup/CLPR",
    "license": "For research purposes only, as its authors say.",
    "data_access": (
        "Queries and labels are downloaded and checked by their SHA-256. The documents are not public: if "
        "you have the file corpus.jsonl, put it into the folder medcorpus of ir_datasets."
    ),
}
LITSEARCH = {
    "pretty_name": "LitSearch",
    "desc": (
        "597 questions for papers on machine learning and language processing, with 639 relevant papers: "
        "1.07 per question, so that P@k can be 1/k at most for nearly all of them. Inline questions were "
        "written by a model from a citation, author questions by an author of the paper; broad ones have "
        "some twenty answers, of which few are known."
    ),
    "citation": (
        "A. Ajith, M. Xia, A. Chevalier, T. Goyal, D. Chen, T. Gao: LitSearch: A Retrieval Benchmark for "
        "Scientific Literature Search. EMNLP 2024, https://arxiv.org/abs/2407.18940"
    ),
    "license": "See https://huggingface.co/datasets/princeton-nlp/LitSearch",
    "data_access": (
        "Queries and labels are downloaded as CLPR has them (ids 1 to 597). Documents (1.26 GB) and the "
        "attributes of the queries come from princeton-nlp/LitSearch when they are needed. All files are "
        "checked by their SHA-256. The environment variable PERMED_LITSEARCH_DIR may name a mirror (a URL) "
        "of the Parquet files, or a folder that has them; the files of such a folder are not checked."
    ),
}
SAMPLE = {
    "pretty_name": "permed-sample",
    "desc": (
        "12 conversations with 48 turns, 20 literature questions and 157 abstracts, all written for this "
        "package: synthetic, for demonstration only, and no medical evidence."
    ),
    "citation": "permed-measures",
    "license": "Apache-2.0",
    "data_access": "Packaged.",
}


def _conversations(
    queries: Callable[[], Path], labels: Callable[[], Path | None], definitions: dict[int, str] = GRADES
) -> tuple[Queries, Qrels]:
    """Return the turns and their judgments."""
    return (
        Queries(ConversationQuery, lambda: read_turns(queries())),
        Qrels(lambda: read_labels(labels(), queries()), definitions, lambda: labels() or queries()),
    )


def _medcorpus() -> dict[str, list[Any]]:
    queries, qrels = _conversations(downloads.MEDCORPUS_QUERIES.path, downloads.MEDCORPUS_LABELS.path)
    docs = Docs("medcorpus", TitledDoc, _medcorpus_corpus, read_documents)
    sets: dict[str, list[Any]] = {"medcorpus": [docs, queries, qrels]}
    for turn in range(1, 7):
        of_turn = queries.where(partial(_is_turn, turn))
        sets[f"medcorpus/turn/{turn}"] = [docs, of_turn, qrels.of(of_turn)]
    return sets


def _is_turn(turn: int, query: ConversationQuery) -> bool:
    return query.turn_number == turn


def _medcorpus_corpus() -> list[Path]:
    path = downloads.home() / "medcorpus" / "corpus.jsonl"
    if not path.exists():
        raise InputError(
            "there is no such file, and the documents of MedCorpus are not public",
            where=str(path),
            hint='If you have them ({"text_id", "title", "text"} per line), put them there; queries and '
            "labels work without them",
        )
    return [path]


def _litsearch() -> dict[str, list[Any]]:
    queries = Queries(LitSearchQuery, _questions, partial(_questions, official=True))
    path = downloads.LITSEARCH_LABELS.path
    qrels = Qrels(lambda: read_labels(path(), downloads.LITSEARCH_QUERIES.path()), BINARY, path)
    files = partial(downloads.official_litsearch, "corpus_clean")
    docs = Docs("litsearch", LitSearchDoc, files, read_papers, lang="en")
    sets: dict[str, list[Any]] = {"litsearch": [docs, queries, qrels]}
    for name, keep in _PARTS.items():
        part = queries.where(keep, complete=True)
        sets[f"litsearch/{name}"] = [docs, part, qrels.of(part)]
    return sets


_PARTS: dict[str, Callable[[LitSearchQuery], bool]] = {
    "broad": lambda query: query.specificity is Specificity.BROAD,
    "specific": lambda query: query.specificity is Specificity.SPECIFIC,
    "inline": lambda query: str(query.query_set).startswith("inline"),
    "author": lambda query: str(query.query_set).startswith("manual"),
}


def _questions(official: bool = False) -> list[LitSearchQuery]:
    """Return the questions, with attributes if the official file is there or `official` asks for it."""
    questions = read_questions(downloads.LITSEARCH_QUERIES.path())
    files = downloads.official_litsearch("query", download=official)
    if not files:
        return questions
    attributes = read_attributes(files[0], (question.text for question in questions))
    return [LitSearchQuery(q.query_id, q.text, *attributes[q.text]) for q in questions]


def _sample() -> dict[str, list[Any]]:
    docs = Docs("permed-sample", TitledDoc, lambda: [SAMPLE_FOLDER / "corpus.jsonl"], read_documents, "en")
    sets: dict[str, list[Any]] = {}
    for name, part in (("permed-sample", "medical"), ("permed-sample/literature", "literature")):
        folder = SAMPLE_FOLDER / part
        queries, qrels = _conversations(
            partial(folder.joinpath, "queries.jsonl"),
            partial(folder.joinpath, "query_to_texts.jsonl"),
            GRADES if part == "medical" else BINARY,
        )
        sets[name] = [docs, queries, qrels]
    return sets


DATASETS = {
    name: (handlers, texts)
    for sets, texts in ((_medcorpus(), MEDCORPUS), (_litsearch(), LITSEARCH), (_sample(), SAMPLE))
    for name, handlers in sets.items()
}
"""The parts of each data set, and the texts about it."""

_COUNTS = {
    "medcorpus": {"docs": 92_703, "queries": 3_440, "qrels": 34_387},
    "litsearch": {"docs": 64_183, "queries": 597, "qrels": 639},
}
"""Counts that are known without the files."""


def _dataset(name: str, handlers: list[Any], texts: dict[str, str]) -> Dataset:
    parts = Dataset(*handlers, Documentation(texts))
    counts = dict(_COUNTS.get(name, {}))
    if "/" in name and (whole := _COUNTS.get(name.partition("/")[0])):
        counts["docs"] = whole["docs"]
    return Dataset(MetadataComponent(name, parts, Counted(parts, counts)), parts)


# --- the user's own folders -------------------------------------------------------------------------

_FOLDERS: dict[str, Path] = {}
"""The folders by the ids under which they were registered."""


def folder(path: str | os.PathLike[str], name: str) -> Dataset:
    """Return the data set in a folder, without registering it."""
    queries = _file(path, "queries.jsonl")
    if queries is None:
        raise InputError(
            "this folder is no data set: it has no file queries.jsonl",
            where=str(path),
            hint="A data set has queries.jsonl, query_to_texts.jsonl and perhaps corpus.jsonl, as MedCorpus "
            "or PerMed's baselines have them",
        )
    labels, corpus = _file(path, "query_to_texts.jsonl"), _file(path, "corpus.jsonl")
    turns, qrels = _conversations(lambda: queries, lambda: labels)
    docs = [] if corpus is None else [Docs(name, TitledDoc, lambda: [corpus], read_documents)]
    texts = {"pretty_name": name, "desc": f"The data set in {path}."}
    return _dataset(name, [*docs, turns, qrels], texts)


def _file(folder: str | os.PathLike[str], name: str) -> Path | None:
    files = (Path(folder, name), Path(folder, f"{name}.gz"))
    return next((file for file in files if file.is_file()), None)


def register_folder(path: str | os.PathLike[str], name: str) -> Dataset:
    """Register a folder; see `permed_measures.datasets.from_folder`."""
    resolved = Path(path).resolve()
    if name in set(ir_datasets.registry):
        if _FOLDERS.get(name) == resolved:
            return ir_datasets.load(name)
        raise InputError(f"there is a data set {name!r} already", hint="Choose another id")
    dataset = folder(resolved, name)
    list(dataset.queries_iter())  # errors in the files are raised now
    list(dataset.qrels_iter())
    ir_datasets.registry.register(name, dataset)
    _FOLDERS[name] = resolved
    return dataset


# --- registration ----------------------------------------------------------------------------------


def _register() -> None:
    """Make the data sets known to ir_datasets; an id that it has already is left as it is."""
    known = set(ir_datasets.registry)
    for name, (handlers, texts) in DATASETS.items():
        if name not in known:
            ir_datasets.registry.register(name, _dataset(name, handlers, texts))


_register()  # here, because importing ir_datasets above may have led here before anything was defined
