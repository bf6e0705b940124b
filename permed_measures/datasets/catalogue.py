"""Define the data sets for ir_datasets: MedCorpus, LitSearch and the sample; files are read on demand."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ir_datasets
from ir_datasets.datasets.base import Dataset
from ir_datasets.formats import BaseDocs, BaseQrels, BaseQueries, GenericQrel
from ir_datasets.indices import DEFAULT_DOCSTORE_OPTIONS, PickleLz4FullStore

from permed_measures.datasets import SAMPLE_FOLDER, SAMPLES, readers
from permed_measures.datasets.downloads import REMOTE_FILES, files_of, home
from permed_measures.datasets.readers import ConversationQuery, LitSearchDoc, LitSearchQuery, TitledDoc
from permed_measures.engine.tables import Nested
from permed_measures.errors import InputError

# --- handlers of ir_datasets ------------------------------------------------------------------------


class Queries(BaseQueries):  # type: ignore[misc]
    """Queries that are read on demand.

    `read` reads them. `complete` reads them with every field filled, if that may need another file.
    """

    def __init__(
        self,
        kind: type,
        read: Callable[[], Sequence[Any]],
        complete: Callable[[], Sequence[Any]] | None = None,
    ) -> None:
        self._kind, self._read, self._complete = kind, read, complete or read

    def queries_iter(self) -> Iterator[Any]:
        return iter(self._read())

    def queries_complete(self) -> Sequence[Any]:
        """Read the queries with every field filled."""
        return list(self._complete())

    def queries_count(self) -> int:
        return len(self._read())

    def queries_cls(self) -> type:
        return self._kind

    def queries_lang(self) -> str:
        return "en"

    def where(self, field: str, values: list[str]) -> Queries:
        """Select the queries that have one of these values in a field, with every field filled."""
        return Queries(self._kind, partial(self._select, field, values))

    def _select(self, field: str, values: list[str]) -> list[Any]:
        return [query for query in self._complete() if str(getattr(query, field)) in values]


class DatasetQrels(BaseQrels):  # type: ignore[misc]
    """Judgments that are read on demand.

    `path` returns the file, and `definitions` has the meaning of each grade. With `queries`, only the
    judgments of these queries are included.
    """

    def __init__(
        self, path: Callable[[], Path], definitions: dict[int, str], queries: Queries | None = None
    ) -> None:
        self._path, self._definitions, self._queries = path, definitions, queries

    def qrels_path(self) -> Path:
        return self._path()

    def qrels_iter(self) -> Iterator[GenericQrel]:
        for query_id, documents in self.qrels_nested().items():
            for doc_id, relevance in documents.items():
                yield GenericQrel(query_id, doc_id, relevance)

    def qrels_nested(self) -> Nested:
        """Read the judgments as nested dicts; queries without judgments are included, as they score 0."""
        qrels = readers.read_labels(self._path())
        if self._queries is None:
            return qrels
        ids = [query.query_id for query in self._queries.queries_iter()]
        return {query_id: qrels[query_id] for query_id in ids if query_id in qrels}

    def qrels_defs(self) -> dict[int, str]:
        return dict(self._definitions)

    def qrels_count(self) -> int:
        return sum(map(len, self.qrels_nested().values()))

    def of(self, queries: Queries) -> DatasetQrels:
        """Select the judgments of these queries."""
        return DatasetQrels(self._path, self._definitions, queries)


class Docs(BaseDocs):  # type: ignore[misc]
    """Documents that are read on demand; the first lookup by id builds an index.

    `name` is the data set; its folder keeps the index. `files` returns the files, or raises an error with
    advice how to get them; `read` yields their documents. A `lang` of None means several languages.
    `n_documents` is the number of documents, if it is known without the files.
    """

    def __init__(
        self,
        name: str,
        kind: type,
        files: Callable[[], list[Path]],
        read: Callable[[list[Path]], Iterator[Any]],
        lang: str | None = None,
        n_documents: int | None = None,
    ) -> None:
        self._name, self._kind, self._files, self._read = name, kind, files, read
        self._lang, self._n_documents = lang, n_documents

    @ir_datasets.util.use_docstore  # type: ignore[untyped-decorator]
    def docs_iter(self) -> Iterator[Any]:
        """Yield the documents; ``[start:stop]`` selects a range of them."""
        return self._read(self._files())

    def docs_count(self) -> int:
        return self._n_documents or sum(1 for _ in self.docs_iter())

    def docs_store(
        self, field: str = "doc_id", options: Any = DEFAULT_DOCSTORE_OPTIONS
    ) -> PickleLz4FullStore:
        """Return the index of documents by id; replaced files get a new index."""
        files = self._files()
        states = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
        version = hashlib.sha256(repr(states).encode()).hexdigest()[:12]
        return PickleLz4FullStore(
            path=str(home() / self._name / f"docs-{version}.pklz4"),
            init_iter_fn=lambda: self._read(files),
            data_cls=self._kind,
            lookup_field=field,
            index_fields=["doc_id"],
            options=options,
        )

    def titles(self) -> Iterator[tuple[str, str, str]]:
        """Yield id, title and text of each document, without a download; missing files are an error."""
        return ((doc_id, title, text) for doc_id, title, text, *_ in self._read(self._files()))

    def docs_cls(self) -> type:
        return self._kind

    def docs_namespace(self) -> str:
        """Return the name of the collection that the ids belong to."""
        return self._name

    def docs_lang(self) -> str | None:
        return self._lang


class Papers(Docs):
    """The documents of LitSearch."""

    def __init__(self) -> None:
        super().__init__("litsearch", LitSearchDoc, self._downloaded, readers.read_papers, "en", 64_183)

    def _downloaded(self) -> list[Path]:
        return [file.path() for file in files_of("litsearch/corpus_clean")]

    def titles(self) -> Iterator[tuple[str, str, str]]:
        """Yield id, title and abstract of each paper, without a download; missing files are an error."""
        return readers.read_titles(file.cache_path() for file in files_of("litsearch/corpus_clean"))


# --- the data sets ----------------------------------------------------------------------------------

_DATA = tomllib.loads(Path(__file__).with_name("catalogue.toml").read_text("utf-8"))

_GRADE_MEANINGS, _BINARY_MEANINGS = (
    {int(grade): text for grade, text in _DATA["grades"][kind].items()} for kind in ("graded", "binary")
)

Handlers = tuple[Docs, Queries, DatasetQrels]


def _turns(path: Callable[[], Path]) -> Queries:
    return Queries(ConversationQuery, partial(_turns_in, path))


def _turns_in(path: Callable[[], Path]) -> list[ConversationQuery]:
    return readers.read_queries(path())


def _medcorpus() -> Handlers:
    return (
        Docs("medcorpus", TitledDoc, _medcorpus_corpus, readers.read_documents, n_documents=92_703),
        _turns(REMOTE_FILES["medcorpus/queries.jsonl"].path),
        DatasetQrels(REMOTE_FILES["medcorpus/query_to_texts.jsonl"].path, _GRADE_MEANINGS),
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
        Queries(LitSearchQuery, _questions, partial(_questions, complete=True)),
        DatasetQrels(REMOTE_FILES["litsearch/query_to_texts.jsonl"].path, _BINARY_MEANINGS),
    )


def _questions(complete: bool = False) -> list[LitSearchQuery]:
    """Read the questions, with attributes if `complete` or if the official file is cached."""
    turns = readers.read_queries(REMOTE_FILES["litsearch/queries.jsonl"].path())
    [official] = files_of("litsearch/query")
    if not (complete or official.cache_path().exists()):
        return [LitSearchQuery(turn.query_id, turn.text) for turn in turns]
    attributes = readers.read_attributes(official.path())
    if any(turn.text not in attributes for turn in turns):
        raise InputError("this file has other queries than LitSearch's", where=str(official.cache_path()))
    return [LitSearchQuery(turn.query_id, turn.text, *attributes[turn.text]) for turn in turns]


def _samples() -> list[Handlers]:
    files = [SAMPLE_FOLDER / "corpus.jsonl"]
    docs = Docs("permed-sample", TitledDoc, partial(list, files), readers.read_documents, "en")
    return [
        (docs, _turns(partial(Path, sample.queries)), DatasetQrels(partial(Path, sample.qrels), definitions))
        for sample, definitions in zip(SAMPLES, (_GRADE_MEANINGS, _BINARY_MEANINGS), strict=True)
    ]


def _with_parts(name: str, whole: Handlers) -> dict[str, Handlers]:
    docs, queries, qrels = whole
    datasets = {name: whole}
    for part, (field, values) in _DATA["parts"].get(name, {}).items():
        selected = queries.where(field, values)
        datasets[f"{name}/{part}"] = (docs, selected, qrels.of(selected))
    return datasets


_MEDICAL, _LITERATURE = _samples()

DATASETS: dict[str, Handlers] = {
    **_with_parts("medcorpus", _medcorpus()),
    **_with_parts("litsearch", _litsearch()),
    "permed-sample": _MEDICAL,
    "permed-sample/literature": _LITERATURE,
}
"""Documents, queries and qrels of each data set."""


# --- registration ----------------------------------------------------------------------------------


def _register() -> None:
    """Register the data sets with ir_datasets; ids that it already has do not change."""
    known = set(ir_datasets.registry)
    for name, handlers in DATASETS.items():
        if name not in known:
            texts = partial(dict[str, str], _DATA["texts"][name.partition("/")[0]])
            ir_datasets.registry.register(name, Dataset(*handlers, SimpleNamespace(documentation=texts)))


_register()  # at the end: the import of ir_datasets above may import this module before it is complete
