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


class Documentation:
    """The texts about a data set."""

    def __init__(self, texts: dict[str, str]) -> None:
        self._texts = texts

    def documentation(self) -> dict[str, str]:
        """Return the texts by their subject."""
        return dict(self._texts)


class Queries(BaseQueries):  # type: ignore[misc]
    """Queries that are read when they are needed.

    Parameters
    ----------
    kind : type of NamedTuple
    read : callable
        Returns the queries.
    complete : callable, optional
        Returns them with every field filled, if that may need another file.
    """

    def __init__(
        self,
        kind: type,
        read: Callable[[], Sequence[Any]],
        complete: Callable[[], Sequence[Any]] | None = None,
    ) -> None:
        self._kind, self._read, self._complete = kind, read, complete or read

    def queries_iter(self) -> Iterator[Any]:
        """Yield the queries."""
        return iter(self._read())

    def queries_complete(self) -> Sequence[Any]:
        """Return the queries with every field filled."""
        return self._complete()

    def queries_cls(self) -> type:
        """Return the type of a query."""
        return self._kind

    def queries_lang(self) -> str:
        """Return the language."""
        return "en"

    def where(self, keep: Callable[[Any], bool], *, complete: bool = False) -> Queries:
        """Return some of the queries."""
        read = self._complete if complete else self._read
        return Queries(
            self._kind,
            lambda: [query for query in read() if keep(query)],
            lambda: [query for query in self._complete() if keep(query)],
        )


class Qrels(BaseQrels):  # type: ignore[misc]
    """Judgments that are read when they are needed.

    Parameters
    ----------
    read : callable
        Returns ``{query_id: {doc_id: relevance}}``.
    definitions : dict of int to str
        The meaning of each grade.
    path : callable
        Returns the file.
    of : Queries, optional
        Only the judgments of these queries.
    """

    def __init__(
        self,
        read: Callable[[], Nested],
        definitions: dict[int, str],
        path: Callable[[], Path],
        of: Queries | None = None,
    ) -> None:
        self._read, self._definitions, self._path, self._of = read, definitions, path, of

    def qrels_iter(self) -> Iterator[GenericQrel]:
        """Yield the judgments."""
        for query_id, documents in self.qrels_nested().items():
            for doc_id, relevance in documents.items():
                yield GenericQrel(query_id, doc_id, relevance)

    def qrels_nested(self) -> Nested:
        """Return the judgments as nested dicts, with queries that have none: these count, and score 0."""
        qrels = self._read()
        if self._of is None:
            return qrels
        ids = [query.query_id for query in self._of.queries_iter()]
        return {query_id: qrels[query_id] for query_id in ids if query_id in qrels}

    def qrels_defs(self) -> dict[int, str]:
        """Return the meaning of each grade."""
        return dict(self._definitions)

    def qrels_cls(self) -> type:
        """Return the type of a judgment."""
        return GenericQrel  # type: ignore[no-any-return]

    def qrels_path(self) -> Path:
        """Return the file of all judgments."""
        return self._path()

    def of(self, queries: Queries) -> Qrels:
        """Return the judgments of some queries."""
        return Qrels(self._read, self._definitions, self._path, queries)


class Docs(BaseDocs):  # type: ignore[misc]
    """Documents that are read when they are needed; the first look-up builds an index.

    Parameters
    ----------
    name : str
        The data set; the index is kept in its folder.
    kind : type of NamedTuple
    files : callable
        Returns the files, or raises an error that says how to get them.
    read : callable
        Yields the documents of the files.
    lang : str, optional
    """

    def __init__(
        self,
        name: str,
        kind: type,
        files: Callable[[], list[Path]],
        read: Callable[[list[Path]], Iterator[Any]],
        lang: str | None = None,
    ) -> None:
        self._name, self._kind, self._files, self._read, self._lang = name, kind, files, read, lang

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

    def docs_cls(self) -> type:
        """Return the type of a document."""
        return self._kind

    def docs_namespace(self) -> str:
        """Return the name of the collection that the ids belong to."""
        return self._name

    def docs_lang(self) -> str | None:
        """Return the language; None for several."""
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


class Counted:
    """Count the records of a data set, unless the number is known.

    Parameters
    ----------
    dataset : ir_datasets.Dataset
    known : dict of str to int
        Counts of 'docs', 'queries' and 'qrels'.
    """

    def __init__(self, dataset: Any, known: dict[str, int]) -> None:
        self._dataset, self._known = dataset, known

    def get_metadata(self, _: str, entity: Any) -> dict[str, int]:
        """Return the count in the form of ir_datasets' metadata."""
        kind = str(ir_datasets.EntityType(entity).value)
        if kind in self._known:
            return {"count": self._known[kind]}
        return {"count": sum(1 for _ in getattr(self._dataset, f"{kind}_iter")())}
