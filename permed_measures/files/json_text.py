"""JSON in which no key may stand twice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from permed_measures.errors import shown

_DECODE = json.JSONDecoder().raw_decode


def json_object(text: str) -> dict[str, Any]:
    """Return the JSON object that a text is, or raise ValueError; no key may stand in it twice."""
    content: dict[str, Any]
    content, end = _DECODE(text)
    if end < len(text):
        json.loads(text)  # which says what is wrong
    if type(content) is not dict:
        raise ValueError("no JSON object")
    n_more = text.count(":") - len(content)
    if n_more and n_more > _keys_in_lists(content):  # a text has a colon, or a key stands twice
        content = json.loads(text, object_pairs_hook=_object)
    if "\\" in text:
        _check_characters(text, content)
    return content


def _keys_in_lists(content: dict[str, Any]) -> int:
    """Return the number of keys of the objects in the lists of an object."""
    lists = (value for value in content.values() if type(value) is list)
    return sum(sum(map(len, items)) for items in lists if set(map(type, items)) == {dict})


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content: dict[str, Any] = {}
    for key, value in pairs:
        if key in content:
            raise ValueError(f"{shown(key)} is listed twice")
        content[key] = value
    return content


def _check_characters(text: str, content: Any) -> None:
    if "\\ud" in text.lower():  # half of a character, perhaps without the other
        try:
            json.dumps(content, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError("half of a Unicode character") from None


def json_queries(text: str) -> Iterator[tuple[str, Any]]:
    """Yield the queries; MTEB has them under subset and split, beside a description of the model."""
    content = json.loads(text, object_pairs_hook=tuple)  # arrays are lists, so tuples are objects
    _check_characters(text, content)
    if not isinstance(content, tuple):
        raise ValueError("no JSON object")
    if all(key != "mteb_model_meta" for key, _ in content):
        return iter(content)
    subsets = [value for key, value in content if key != "mteb_model_meta"]
    splits = [split for subset in subsets if isinstance(subset, tuple) for _, split in subset]
    if len(splits) != 1 or not isinstance(splits[0], tuple):
        raise ValueError(f"{len(splits)} subsets and splits of MTEB, of which one can be read")
    return iter(splits[0])
