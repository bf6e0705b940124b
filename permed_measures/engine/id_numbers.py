"""Ids as numbers in their order: numpy sorts integers many times as fast as strings are sorted."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from permed_measures.engine.inputs import text_id
from permed_measures.engine.judgments import Ints

if TYPE_CHECKING:
    import polars as pl

_WORD = 8
"""Bytes of an id that are compared at once, as one integer."""

_FIRST_BYTES = np.array([(1 << 64) - (1 << 64 - 8 * n) for n in range(_WORD + 1)], np.uint64)
"""The bits of the first 0, 1, … bytes of a word."""

_SIGN, _LAST_BYTE = np.uint64(1 << 63), np.uint64(0xFF)


def id_numbers(*parts: list[str] | pl.Series) -> Ints:
    """Return a number for each id of all parts: equal where ids are, and in the order of their code points.

    That is the order of their UTF-8 bytes. Where eight bytes hold an id without what all begin with, they are
    its number.

    Examples
    --------
    >>> numbers = id_numbers(["d10", "d9"], ["e", "d10"])
    >>> np.argsort(numbers, kind="stable").tolist(), bool(numbers[0] == numbers[3])
    ([0, 3, 1, 2], True)
    """
    joined = "\0".join([*map(_joined, parts), *[""] * _WORD])
    text = np.frombuffer(joined.encode("utf-8", "surrogatepass"), np.uint8)
    end = np.flatnonzero(text == 0)[: 1 - _WORD]
    if len(end) != sum(map(len, parts)):  # an id has a NUL itself
        return _by_python(list(map(text_id, chain.from_iterable(parts))))
    start = np.zeros_like(end)
    np.add(end[:-1], 1, out=start[1:])
    length = end - start
    longest = int(length.max())
    if longest > _WORD:
        common = _common(text, start, int(length.min()))
        start, longest = start + common, longest - common
    if longest > _WORD:
        return _by_words(text, start, end)
    word = _words(text, start, end) ^ _SIGN  # unsigned integers, in the order of signed ones
    return word.view(np.int64) >> 8 * (_WORD - longest)


def _joined(ids: list[str] | pl.Series) -> str:
    if not isinstance(ids, list):
        text: str = ids.str.join("\0").item()
        return text
    try:
        return "\0".join(ids)
    except TypeError:  # some are integers
        return "\0".join(map(text_id, ids))


def _by_python(ids: list[str]) -> Ints:
    numbers = {text: number for number, text in enumerate(sorted(set(ids)))}
    return np.fromiter(map(numbers.__getitem__, ids), np.int64, len(ids))


def _common(text: NDArray[np.uint8], start: Ints, shortest: int) -> int:
    """Return the number of bytes that all ids begin with."""
    for n in range(shortest):
        here = text[start + n]
        if (here != here[0]).any():
            return n
    return shortest


def _words(text: NDArray[np.uint8], start: Ints, end: Ints) -> NDArray[np.uint64]:
    """Return the next bytes of each id as a number in their order, zeros after its end."""
    at_each_byte = np.ndarray(len(text) - _WORD + 1, ">u8", text, strides=(1,))
    return at_each_byte[start].astype(np.uint64) & _FIRST_BYTES.take(end - start, mode="clip")


def _by_words(text: NDArray[np.uint8], start: Ints, end: Ints) -> Ints:
    """Return how many ids are before each: sorted by one word, those that are still equal by the next."""
    before, rest = np.zeros(len(start), np.int64), np.arange(len(start))
    while len(rest):
        word = _words(text, start[rest], end[rest])
        order = np.argsort(word)
        order = order[_stable_order(before[rest[order]])]
        rest, word = rest[order], word[order]
        old = _begins(before[rest])
        new = old | _begins(word)
        before[rest] += _latest(new) - _latest(old)
        alone = new & np.append(new[1:], True)
        rest = rest[~alone & (word & _LAST_BYTE).astype(np.bool_)]  # a word that ends in 0 is the last
        start[rest] += _WORD
    return before


def _stable_order(values: Ints) -> Ints:
    """Return the stable order, by 16 bits at a time: numpy sorts these by radix."""
    order = np.argsort(values.astype(np.uint16), kind="stable")
    if values.max() >> 16:
        order = order[np.argsort((values[order] >> 16).astype(np.uint16), kind="stable")]
    return order


def _begins(values: Ints | NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return where a new value begins."""
    begins = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=begins[1:])
    return begins


def _latest(begins: NDArray[np.bool_]) -> Ints:
    """Return the latest place that begins something, at each place."""
    places = np.flatnonzero(begins)
    return places.repeat(np.diff(places, append=len(begins)))
