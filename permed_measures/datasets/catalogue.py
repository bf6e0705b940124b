"""The data sets: MedCorpus, LitSearch and the packaged sample."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ir_datasets
from ir_datasets.datasets.base import Dataset

from permed_measures.datasets import readers
from permed_measures.datasets.downloads import FILES, files_of, home
from permed_measures.datasets.handlers import Docs, Papers, Qrels, Queries
from permed_measures.datasets.records import ConversationQuery, LitSearchQuery, TitledDoc
from permed_measures.datasets.samples import SAMPLE_FOLDER, SAMPLES
from permed_measures.errors import InputError

_DATA = tomllib.loads(Path(__file__).with_name("catalogue.toml").read_text("utf-8"))

_GRADED, _BINARY = (
    {int(grade): text for grade, text in _DATA["grades"][kind].items()} for kind in ("graded", "binary")
)

Handlers = tuple[Docs, Queries, Qrels]


def _labels(path: Callable[[], Path], definitions: dict[int, str]) -> Qrels:
    return Qrels(lambda: readers.read_labels(path()), definitions)


def _turns(path: Callable[[], Path]) -> Queries:
    return Queries(ConversationQuery, lambda: readers.read_queries(path()))


def _medcorpus() -> Handlers:
    return (
        Docs("medcorpus", TitledDoc, _medcorpus_corpus, readers.read_documents, n_documents=92_703),
        _turns(FILES["medcorpus/queries.jsonl"].path),
        _labels(FILES["medcorpus/query_to_texts.jsonl"].path, _GRADED),
    )


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


def _litsearch() -> Handlers:
    return (
        Papers(),
        Queries(LitSearchQuery, _questions, lambda: _questions(complete=True)),
        _labels(FILES["litsearch/query_to_texts.jsonl"].path, _BINARY),
    )


def _questions(complete: bool = False) -> list[LitSearchQuery]:
    """Return the questions, with attributes if the official file is there or they must be `complete`."""
    turns = readers.read_queries(FILES["litsearch/queries.jsonl"].path())
    [official] = files_of("litsearch/query")
    if not (complete or official.cache_path().exists()):
        return [LitSearchQuery(turn.query_id, turn.text) for turn in turns]
    attributes = readers.read_attributes(official.path())
    if any(turn.text not in attributes for turn in turns):
        raise InputError("this file has other queries than LitSearch's", where=str(official.cache_path()))
    return [LitSearchQuery(turn.query_id, turn.text, *attributes[turn.text]) for turn in turns]


def _samples() -> list[Handlers]:
    files = [SAMPLE_FOLDER / "corpus.jsonl"]
    docs = Docs("permed-sample", TitledDoc, lambda: files, readers.read_documents, "en")
    return [
        (docs, _turns(_always(sample.queries)), _labels(_always(sample.qrels), definitions))
        for sample, definitions in zip(SAMPLES, (_GRADED, _BINARY), strict=True)
    ]


def _always(path: Path) -> Callable[[], Path]:
    return lambda: path


def _with_parts(name: str, whole: Handlers) -> dict[str, Handlers]:
    docs, queries, qrels = whole
    found = {name: whole}
    for part, (field, values) in _DATA["parts"].get(name, {}).items():
        some = queries.where(field, values)
        found[f"{name}/{part}"] = (docs, some, qrels.of(some))
    return found


_MEDICAL, _LITERATURE = _samples()

DATASETS: dict[str, Handlers] = {
    **_with_parts("medcorpus", _medcorpus()),
    **_with_parts("litsearch", _litsearch()),
    "permed-sample": _MEDICAL,
    "permed-sample/literature": _LITERATURE,
}
"""Documents, queries and qrels of each data set."""


def _dataset(handlers: tuple[Any, ...], texts: dict[str, str]) -> Dataset:
    return Dataset(*handlers, SimpleNamespace(documentation=lambda: dict(texts)))


# --- registration ----------------------------------------------------------------------------------


def _register() -> None:
    """Make the data sets known to ir_datasets; an id that it has already is left as it is."""
    known = set(ir_datasets.registry)
    for name, handlers in DATASETS.items():
        if name not in known:
            texts = _DATA["texts"][name.partition("/")[0]]
            ir_datasets.registry.register(name, _dataset(handlers, texts))


_register()  # here, because importing ir_datasets above may have led here before anything was defined
