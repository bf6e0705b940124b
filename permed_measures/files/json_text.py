"""JSON in which no key may stand twice."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
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
    if not _has_all_keys(text, [content]):
        content = json.loads(text, object_pairs_hook=_object)
    if "\\u" in text:
        _check_characters(text, content)
    return content


_DIVIDER = "\x7f"
_DIVIDED = f',"{_DIVIDER}",'


def usual_objects(texts: Sequence[str]) -> Sequence[dict[str, Any] | None]:
    """Return the JSON objects that texts are, decoded together, which is faster; Nones if one may be unusual.

    What divides them stands in none of them, so that each text is one value.
    """
    unknown = [None] * len(texts)
    together = _DIVIDED.join(texts)
    if "\\u" in together or together.count(_DIVIDED) >= len(texts):
        return unknown
    try:
        values = json.loads(f"[{together}]")
    except (ValueError, RecursionError):
        return unknown
    contents = values[::2]
    is_divided = len(contents) == len(texts) == values.count(_DIVIDER) + 1
    if not is_divided or set(map(type, contents)) != {dict}:
        return unknown
    return contents if _has_all_keys(together, contents) else unknown


_KEY_END = re.compile(r'"\s*:')


def _has_all_keys(text: str, contents: Sequence[dict[str, Any]]) -> bool:
    """Return whether no key of the objects, and of those in their lists, was lost, as far as can be told.

    There are no more keys in a text than colons, and no more than quotes before a colon.
    """
    n_keys = sum(map(len, contents))
    if text.count(":") == n_keys:
        return True
    for value in chain.from_iterable(content.values() for content in contents):
        if type(value) is list and set(map(type, value)) == {dict}:
            n_keys += sum(map(len, value))
    return text.count(":") == n_keys or len(_KEY_END.findall(text)) == n_keys


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        repeated, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise ValueError(f"{shown(repeated)} is listed twice")
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
