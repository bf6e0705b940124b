"""The titles of documents of a data set, as far as they are on this machine: nothing is downloaded."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from inspect import signature
from typing import Any

LENGTH = 200
"""Characters of a text that are kept."""


def titles_of(dataset: Any, doc_ids: Collection[str]) -> dict[str, str]:
    """Return the titles of those of these documents that are known; of one without a title, how it begins.

    Examples
    --------
    >>> from permed_measures.datasets import load
    >>> titles_of(load("permed-sample"), ["sample-001", "another"])["sample-001"]
    'Teledermatology for suspected melanoma: agreement of image-based and in-person triage'
    """
    try:
        return {
            str(doc_id): cut(title or text)
            for doc_id, title, text in _documents(dataset, doc_ids)
            if doc_id in doc_ids and (title or text)
        }
    except Exception:  # the corpus is not here, or cannot be read, for whatever reason ir_datasets has
        return {}


def cut(text: str) -> str:
    """Return a text in one line, cut where it is long."""
    text = " ".join(text.split())
    return text if len(text) <= LENGTH else f"{text[: LENGTH - 1].rstrip()}…"


def _documents(dataset: Any, doc_ids: Collection[str]) -> Iterator[tuple[str, str, str]]:
    """Yield id, title and text of documents, those that are asked for among them."""
    if hasattr(dataset, "irds_ref"):  # PyTerrier's data sets hold one of ir_datasets
        dataset = dataset.irds_ref()
    if not hasattr(dataset, "docs_handler"):
        return
    docs = dataset.docs_handler()
    if hasattr(docs, "titles"):  # ours
        yield from docs.titles()
        return
    path = getattr(docs, "docs_path", None)
    if path is None or "force" not in signature(path).parameters:
        return  # to ask for the index of such a corpus may download it
    store = docs.docs_store()
    if hasattr(store, "built") and store.built():  # else it would be downloaded, or indexed
        for document in store.get_many_iter(list(doc_ids)):
            text = document.default_text() if hasattr(document, "default_text") else ""
            yield document.doc_id, getattr(document, "title", "") or "", text
