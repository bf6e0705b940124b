"""Queries, qrels and documents in the form that ir_datasets asks for; files are read when they are needed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import ir_datasets
from ir_datasets.formats import BaseDocs, BaseQrels, BaseQueries, GenericQrel
from ir_datasets.indices import DEFAULT_DOCSTORE_OPTIONS, PickleLz4FullStore

from permed_measures.datasets.downloads import home
from permed_measures.engine.inputs import Nested


class Queries(BaseQueries):  # type: ignore[misc]
    """Queries that are read when they are needed.

    `read` returns them, and `complete` returns them with every field filled, if that may need another file.
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
        """Return the queries with every field filled."""
        return self._complete()

    def queries_cls(self) -> type:
        return self._kind

    def queries_lang(self) -> str:
        return "en"

    def where(self, keep: Callable[[Any], bool]) -> Queries:
        """Return some of the queries, with every field filled."""
        return Queries(self._kind, lambda: [query for query in self._complete() if keep(query)])


class Qrels(BaseQrels):  # type: ignore[misc]
    """Judgments that are read when they are needed.

    `read` returns them as ``{query_id: {doc_id: relevance}}``, and `path` their file; `definitions` says what
    each grade means.
    """

    def __init__(
        self, read: Callable[[], Nested], definitions: dict[int, str], path: Callable[[], Path]
    ) -> None:
        self._read, self._definitions, self._path = read, definitions, path

    def qrels_iter(self) -> Iterator[GenericQrel]:
        for query_id, documents in self.qrels_nested().items():
            for doc_id, relevance in documents.items():
                yield GenericQrel(query_id, doc_id, relevance)

    def qrels_nested(self) -> Nested:
        """Return the judgments as nested dicts, with queries that have none: these count, and score 0."""
        return self._read()

    def qrels_defs(self) -> dict[int, str]:
        return dict(self._definitions)

    def qrels_cls(self) -> type:
        return GenericQrel  # type: ignore[no-any-return]

    def qrels_path(self) -> Path:
        """Return the file of all judgments."""
        return self._path()

    def of(self, queries: Queries) -> Qrels:
        """Return the judgments of some queries."""

        def read() -> Nested:
            qrels = self._read()
            ids = [query.query_id for query in queries.queries_iter()]
            return {query_id: qrels[query_id] for query_id in ids if query_id in qrels}

        return Qrels(read, self._definitions, self._path)


class Docs(BaseDocs):  # type: ignore[misc]
    """Documents that are read when they are needed; the first look-up builds an index.

    `name` is the data set, in whose folder the index is kept. `files` returns the files, or raises an error
    that says how to get them; `read` yields their documents. A `lang` of None means several languages.
    `titles` yields id, title and text of each document, and `here` returns the files if they are on this
    machine, where `read` and `files` would do more than that.
    """

    def __init__(
        self,
        name: str,
        kind: type,
        files: Callable[[], list[Path]],
        read: Callable[[list[Path]], Iterator[Any]],
        lang: str | None = None,
        titles: Callable[[list[Path]], Iterator[tuple[str, str, str]]] | None = None,
        here: Callable[[], list[Path]] | None = None,
    ) -> None:
        self._name, self._kind, self._files, self._read, self._lang = name, kind, files, read, lang
        self._titles, self._here = titles or read, here or files

    @ir_datasets.util.use_docstore  # type: ignore[untyped-decorator]
    def docs_iter(self) -> Iterator[Any]:
        """Yield the documents; ``[start:stop]`` gives some of them."""
        return self._read(self._files())

    def docs_store(
        self, field: str = "doc_id", options: Any = DEFAULT_DOCSTORE_OPTIONS
    ) -> PickleLz4FullStore:
        """Return the index that finds documents by id."""
        files = self._files()
        return PickleLz4FullStore(
            path=str(home() / self._name / f"docs-{_fingerprint(files)}.pklz4"),
            init_iter_fn=lambda: self._read(files),
            data_cls=self._kind,
            lookup_field=field,
            index_fields=["doc_id"],
            options=options,
        )

    def titles(self) -> Iterator[tuple[str, str, str]]:
        """Yield id, title and text of each document, if that needs no download: else none, or an error."""
        return self._titles(self._here())

    def docs_cls(self) -> type:
        return self._kind

    def docs_namespace(self) -> str:
        """Return the name of the collection that the ids belong to."""
        return self._name

    def docs_lang(self) -> str | None:
        return self._lang


def _fingerprint(files: list[Path]) -> str:
    """Return a hash of samples of the files, so that the index of files that were replaced is not used."""
    digest = hashlib.md5(usedforsecurity=False)
    for path in files:
        size = path.stat().st_size
        with path.open("rb") as file:
            for start in (0, size // 2, max(size - _SAMPLE_SIZE, 0)):
                file.seek(start)
                digest.update(file.read(_SAMPLE_SIZE))
        digest.update(str(size).encode())
    return digest.hexdigest()[:12]


_SAMPLE_SIZE = 1 << 16
"""Bytes that are read at the beginning, in the middle and at the end of a file."""


def count(dataset: Any, known: dict[str, int], _: str, entity: Any) -> dict[str, int]:
    """Return the number of records as ir_datasets' metadata have it, counted if it is not known."""
    kind = str(ir_datasets.EntityType(entity).value)
    if kind in known:
        return {"count": known[kind]}
    return {"count": sum(1 for _ in getattr(dataset, f"{kind}_iter")())}
