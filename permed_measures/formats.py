"""The file formats that are known: how each is recognised, and what a line of it says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from permed_measures.inputs import number, text_id

__all__ = ["FORMATS", "Format", "Line", "Said"]


class Line(NamedTuple):
    """A line to be read.

    Attributes
    ----------
    content : dict or list of str
        The JSON object, or the columns.
    row : int
        Which line it is, from 0.
    wanted : {'qrels', 'run'}
        What the file is read as.
    """

    content: Any
    row: int
    wanted: str


class Said(NamedTuple):
    """What one line says: documents of a query, with their numbers (None: the list has no scores)."""

    query_id: str
    documents: list[tuple[str, float | int | None]]


@dataclass(frozen=True)
class Format:
    """A file format.

    Attributes
    ----------
    name : str
        What messages call it.
    holds : {'qrels', 'run'}
        What it says; a format that `doubles` can be read as the other too.
    shape : str
        What a line looks like, for messages.
    recognise : callable
        Whether the first line (a JSON object, or a list of columns) is of this format.
    read : callable
        Returns what a line says; raises KeyError, TypeError or ValueError if it cannot.
    lists : bool
        A line holds the whole list of its query, best first.
    doubles : bool
        Labels whose order is a run, or a run that lists the relevant documents.
    """

    name: str
    holds: str
    shape: str
    recognise: Callable[[Any], bool]
    read: Callable[[Line], Said]
    lists: bool = False
    doubles: bool = False

    @property
    def is_json(self) -> bool:
        """Whether a line is a JSON object."""
        return self.shape.startswith("{")


# --- what a line of each format says ---------------------------------------------------------------


def _read_trec_qrels(line: Line) -> Said:
    query_id, _, doc_id, relevance = line.content
    return Said(query_id, [(doc_id, _parse_number(relevance, "relevance"))])


def _read_trec_run(line: Line) -> Said:
    query_id, _, doc_id, _, score, _, *_ = line.content  # trec_eval too ignores what follows the sixth column
    return Said(query_id, [(doc_id, _parse_number(score, "score", (float,)))])


def _parse_number(text: str, what: str, kinds: tuple[type[float], ...] = (int, float)) -> float | int:
    if "_" in text:  # Python would read 1_0 as 10
        raise ValueError(f"a {what} must be a number (found {text!r})")
    for kind in kinds:
        try:
            return number(kind(text), what, place="")
        except ValueError:
            continue
    raise ValueError(f"a {what} must be a number (found {text!r})")


def _read_medcorpus(line: Line) -> Said:
    query_id = f"{text_id(line.content['conversation_id'])}_{text_id(line.content['turn_id'])}"
    relevance = _json_number(line.content["rel"], "relevance") if line.wanted == "qrels" else None
    return Said(query_id, [(text_id(line.content["doc_id"]), relevance)])


def _read_ground_truth(line: Line) -> Said:
    return Said(
        text_id(line.content["query_id"]),
        [(text_id(doc_id), 1) for doc_id in _list(line.content, "relevant_texts")],
    )


def _read_permed_results(line: Line) -> Said:
    key = "ranked_results" if "ranked_results" in line.content else "results"
    return Said(text_id(line.content["query_id"]), [_result(item) for item in _list(line.content, key)])


def _result(item: Any) -> tuple[str, float | None]:
    if not isinstance(item, dict):
        return text_id(item), None
    score = item.get("score")
    return text_id(item["text_id"]), None if score is None else float(_json_number(score, "score"))


def _read_litsearch(line: Line) -> Said:
    query_id = text_id(line.content.get("query_id", line.row + 1))
    key, value = ("corpusids", 1) if line.wanted == "qrels" else ("retrieved", None)
    return Said(query_id, [(text_id(doc_id), value) for doc_id in _list(line.content, key)])


def _json_number(value: Any, what: str) -> float | int:
    if isinstance(value, bool):
        raise ValueError(f"a {what} must be a number (found {value!r})")
    return number(value, what, place="")


def _list(content: dict[str, Any], key: str) -> list[Any]:
    items = content[key]
    if not isinstance(items, list):
        raise ValueError(f"{key} must be a list (found {items!r:.60})")
    return items


def _has(*keys: str) -> Callable[[Any], bool]:
    return lambda first: isinstance(first, dict) and set(keys) <= first.keys()


FORMATS = (
    Format(
        "MedCorpus labels",
        "qrels",
        '{"conversation_id": ..., "turn_id": ..., "doc_id": ..., "rel": ...}',
        _has("conversation_id", "turn_id", "doc_id", "rel"),
        _read_medcorpus,
        doubles=True,
    ),
    Format(
        "PerMed ground truth or LitSearch labels",
        "qrels",
        '{"query_id": ..., "relevant_texts": [ids]}',
        _has("query_id", "relevant_texts"),
        _read_ground_truth,
        lists=True,
    ),
    Format(
        "PerMed results",
        "run",
        '{"query_id": ..., "ranked_results" or "results": [{"text_id": ..., "score": ...}]}',
        lambda first: _has("query_id", "ranked_results")(first) or _has("query_id", "results")(first),
        _read_permed_results,
        lists=True,
    ),
    Format(
        "LitSearch results",
        "run",
        '{"query_id": ..., "query": ..., "corpusids": [ids], "retrieved": [ids]}',
        _has("retrieved"),
        _read_litsearch,
        lists=True,
        doubles=True,
    ),
    Format(
        "TREC qrels",
        "qrels",
        "query iteration document relevance",
        lambda first: isinstance(first, list) and len(first) == 4,
        _read_trec_qrels,
    ),
    Format(
        "TREC run",
        "run",
        "query Q0 document rank score tag",
        lambda first: isinstance(first, list) and len(first) >= 6,
        _read_trec_run,
    ),
)
"""The file formats that are told apart, by the first line that says something."""
