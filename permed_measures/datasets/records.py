"""The queries and documents of the data sets."""

# Without `from __future__ import annotations`: ir_datasets and PyTerrier look for fields whose type is str.

from typing import NamedTuple


class ConversationQuery(NamedTuple):
    """A turn of a conversation; the turns of one are not independent of each other.

    ``query_id`` is ``<conversation_id>_<turn_number>`` in MedCorpus, with turns numbered from 1. ``history``
    has the texts of the turns before.
    """

    query_id: str
    text: str
    conversation_id: str
    turn_number: int
    history: tuple[str, ...]

    def default_text(self) -> str:
        """Return the text of the turn."""
        return self.text


class LitSearchQuery(NamedTuple):
    """A question of LitSearch; the attributes are None where the official query file is not there.

    ``query_id`` is ``1`` to ``597``. ``query_set`` is ``inline_acl`` or ``inline_nonacl`` (written by a model
    from a citation), ``manual_acl`` or ``manual_iclr`` (written by an author of the paper).
    ``specificity`` is ``broad`` (some twenty papers answer the question) or ``specific`` (a few do).
    ``quality`` is 1 or 2, by an expert's annotation.
    """

    query_id: str
    text: str
    query_set: str | None = None
    specificity: str | None = None
    quality: int | None = None

    def default_text(self) -> str:
        """Return the text of the question."""
        return self.text


class TitledDoc(NamedTuple):
    """A document with a title."""

    doc_id: str
    title: str
    text: str

    def default_text(self) -> str:
        """Return title and text."""
        return f"{self.title} {self.text}"


class LitSearchDoc(NamedTuple):
    """A paper of LitSearch.

    ``doc_id`` is its Semantic Scholar corpus id, and ``citations`` has those of the papers that it cites.
    """

    doc_id: str
    title: str
    abstract: str
    citations: tuple[str, ...]
    full_paper: str

    def default_text(self) -> str:
        """Return title and abstract."""
        return f"{self.title} {self.abstract}"
