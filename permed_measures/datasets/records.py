"""The queries and documents of the data sets."""

# Without `from __future__ import annotations`: ir_datasets and PyTerrier look for fields whose type is str.

from enum import IntEnum
from typing import NamedTuple


class ConversationQuery(NamedTuple):
    """A turn of a conversation.

    Attributes
    ----------
    query_id : str
        ``<conversation_id>_<turn_number>`` in MedCorpus.
    text : str
        The question of this turn.
    conversation_id : str
        The conversation; turns of one are not independent of each other.
    turn_number : int
        From 1.
    history : tuple of str
        The texts of the turns before.
    """

    query_id: str
    text: str
    conversation_id: str
    turn_number: int
    history: tuple[str, ...]

    def default_text(self) -> str:
        """Return the text of the turn."""
        return self.text


class Specificity(IntEnum):
    """How many papers answer a question of LitSearch: some twenty (broad) or a few (specific)."""

    BROAD = 0
    SPECIFIC = 1

    def __str__(self) -> str:
        """Return ``broad`` or ``specific``."""
        return self.name.lower()


class LitSearchQuery(NamedTuple):
    """A question of LitSearch; the attributes are None where the official query file is not there.

    Attributes
    ----------
    query_id : str
        ``1`` to ``597``.
    text : str
    query_set : str or None
        ``inline_acl``, ``inline_nonacl`` (written by a model from a citation), ``manual_acl`` or
        ``manual_iclr`` (written by an author of the paper).
    specificity : Specificity or None
        0 broad, 1 specific.
    quality : int or None
        1 or 2, by an expert's annotation.
    """

    query_id: str
    text: str
    query_set: str | None
    specificity: Specificity | None
    quality: int | None

    def default_text(self) -> str:
        """Return the text of the question."""
        return self.text


class TitledDoc(NamedTuple):
    """A document with a title.

    Attributes
    ----------
    doc_id, title, text : str
    """

    doc_id: str
    title: str
    text: str

    def default_text(self) -> str:
        """Return title and text."""
        return f"{self.title} {self.text}"


class LitSearchDoc(NamedTuple):
    """A paper of LitSearch.

    Attributes
    ----------
    doc_id : str
        The Semantic Scholar corpus id.
    title, abstract, full_paper : str
    citations : tuple of str
        The corpus ids of the papers that it cites.
    """

    doc_id: str
    title: str
    abstract: str
    citations: tuple[str, ...]
    full_paper: str

    def default_text(self) -> str:
        """Return title and abstract."""
        return f"{self.title} {self.abstract}"
