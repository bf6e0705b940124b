"""The titles of documents of our data sets, as far as they are on this machine: nothing is downloaded."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from permed_measures.engine.forms import irds_of

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
    dataset = irds_of(dataset)
    if not hasattr(dataset, "titles"):
        return {}
    try:
        found = [(doc_id, title or text) for doc_id, title, text in dataset.titles() if doc_id in doc_ids]
    except Exception:  # the corpus is not here, or cannot be read
        return {}
    return {doc_id: cut(text) for doc_id, text in found if text}


def cut(text: str) -> str:
    """Return a text in one line, cut where it is long."""
    text = " ".join(text.split())
    return text if len(text) <= LENGTH else f"{text[: LENGTH - 1].rstrip()}…"
