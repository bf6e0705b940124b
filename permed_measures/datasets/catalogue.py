"""The data sets: MedCorpus, LitSearch, the packaged sample, and the user's own folders."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ir_datasets
from ir_datasets.datasets.base import Dataset
from ir_datasets.util import MetadataComponent

from permed_measures.datasets import readers
from permed_measures.datasets.downloads import FILES, home, official_litsearch
from permed_measures.datasets.handlers import Docs, Qrels, Queries, count
from permed_measures.datasets.records import ConversationQuery, LitSearchDoc, LitSearchQuery, TitledDoc
from permed_measures.datasets.samples import SAMPLE_FOLDER, SAMPLES
from permed_measures.errors import InputError

_TEXTS = tomllib.loads(Path(__file__).with_name("catalogue.toml").read_text("utf-8"))

GRADED, BINARY = (
    {int(grade): text for grade, text in _TEXTS["grades"][kind].items()} for kind in ("graded", "binary")
)
"""The meaning of each grade."""


def _conversations(
    queries: Callable[[], Path], labels: Callable[[], Path | None], definitions: dict[int, str] = GRADED
) -> tuple[Queries, Qrels]:
    """Return the turns and their judgments."""
    return (
        Queries(ConversationQuery, lambda: readers.read_turns(queries())),
        Qrels(lambda: readers.read_labels(labels(), queries()), definitions, lambda: labels() or queries()),
    )


def _medcorpus() -> dict[str, list[Any]]:
    queries, qrels = _conversations(
        FILES["medcorpus/queries.jsonl"].path, FILES["medcorpus/query_to_texts.jsonl"].path
    )
    docs = Docs("medcorpus", TitledDoc, _medcorpus_corpus, readers.read_documents)
    sets: dict[str, list[Any]] = {"medcorpus": [docs, queries, qrels]}
    for turn in range(1, 7):
        of_turn = queries.where(_is_turn(turn))
        sets[f"medcorpus/turn/{turn}"] = [docs, of_turn, qrels.of(of_turn)]
    return sets


def _is_turn(number: int) -> Callable[[ConversationQuery], bool]:
    return lambda query: query.turn_number == number


def _medcorpus_corpus() -> list[Path]:
    path = home() / "medcorpus" / "corpus.jsonl"
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
    labels = FILES["litsearch/query_to_texts.jsonl"].path
    qrels = Qrels(lambda: readers.read_labels(labels(), _LITSEARCH_QUERIES.path()), BINARY, labels)
    files = partial(official_litsearch, "corpus_clean")
    here = partial(official_litsearch, "corpus_clean", download=False)
    papers = readers.read_papers, "en", readers.read_titles, here
    docs = Docs("litsearch", LitSearchDoc, files, *papers)
    sets: dict[str, list[Any]] = {"litsearch": [docs, queries, qrels]}
    for name, keep in _PARTS.items():
        part = queries.where(keep)
        sets[f"litsearch/{name}"] = [docs, part, qrels.of(part)]
    return sets


_LITSEARCH_QUERIES = FILES["litsearch/queries.jsonl"]

_PARTS: dict[str, Callable[[LitSearchQuery], bool]] = {
    "broad": lambda query: str(query.specificity) == "broad",
    "specific": lambda query: str(query.specificity) == "specific",
    "inline": lambda query: str(query.query_set).startswith("inline"),
    "author": lambda query: str(query.query_set).startswith("manual"),
}


def _questions(official: bool = False) -> list[LitSearchQuery]:
    """Return the questions, with attributes if the official file is there or `official` asks for it."""
    turns = readers.read_turns(_LITSEARCH_QUERIES.path())
    files = official_litsearch("query", download=official)
    if not files:
        return [LitSearchQuery(turn.query_id, turn.text) for turn in turns]
    attributes = readers.read_attributes(files[0], (turn.text for turn in turns))
    return [LitSearchQuery(turn.query_id, turn.text, *attributes[turn.text]) for turn in turns]


def _sample() -> dict[str, list[Any]]:
    docs = Docs(
        "permed-sample", TitledDoc, lambda: [SAMPLE_FOLDER / "corpus.jsonl"], readers.read_documents, "en"
    )
    sets: dict[str, list[Any]] = {}
    names = ("permed-sample", "permed-sample/literature")
    for name, sample, grades in zip(names, SAMPLES, (GRADED, BINARY), strict=True):
        queries = sample.qrels.with_name("queries.jsonl")
        sets[name] = [docs, *_conversations(partial(Path, queries), partial(Path, sample.qrels), grades)]
    return sets


DATASETS: dict[str, list[Any]] = {**_medcorpus(), **_litsearch(), **_sample()}
"""Documents, queries and qrels of each data set."""


def _dataset(name: str, handlers: list[Any]) -> Dataset:
    whole = name.partition("/")[0]
    counts = _TEXTS["counts"].get(whole, {})
    if whole != name and counts:
        counts = {"docs": counts["docs"]}
    return _documented(name, handlers, _TEXTS["texts"][whole], counts)


def _documented(name: str, handlers: list[Any], texts: dict[str, str], counts: dict[str, int]) -> Dataset:
    parts = Dataset(*handlers, SimpleNamespace(documentation=lambda: dict(texts)))
    provider = SimpleNamespace(get_metadata=partial(count, parts, counts))
    return Dataset(MetadataComponent(name, parts, provider), parts)


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
    docs = [] if corpus is None else [Docs(name, TitledDoc, lambda: [corpus], readers.read_documents)]
    texts = {"pretty_name": name, "desc": f"The data set in {path}."}
    return _documented(name, [*docs, turns, qrels], texts, {})


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
    for name, handlers in DATASETS.items():
        if name not in known:
            ir_datasets.registry.register(name, _dataset(name, handlers))


_register()  # here, because importing ir_datasets above may have led here before anything was defined
