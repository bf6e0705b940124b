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


def id_numbers(group: Ints, *parts: list[str] | pl.Series) -> Ints:
    """Return a number for each id of all parts: in each group equal where ids are, and in their order.

    That is the order of their code points, and of their UTF-8 bytes. Where eight bytes hold an id without
    what all begin with, they are its number. Numbers of different groups are not to be compared.

    Examples
    --------
    >>> numbers = id_numbers(np.array([0, 0, 0, 0]), ["d10", "d9"], ["e", "d10"])
    >>> np.argsort(numbers, kind="stable").tolist(), bool(numbers[0] == numbers[3])
    ([0, 3, 1, 2], True)
    """
    joined = "\0".join([*map(_joined, parts), *[""] * _WORD])
    text = np.frombuffer(joined.encode("utf-8", "surrogatepass"), np.uint8)
    end = np.flatnonzero(text == 0)[: 1 - _WORD]
    if len(end) != len(group):  # an id has a NUL itself
        return _by_python(list(map(text_id, chain.from_iterable(parts))))
    start = np.zeros_like(end)
    np.add(end[:-1], 1, out=start[1:])
    length = end - start
    longest = int(length.max())
    if longest > _WORD:
        common = _common(text, start, int(length.min()))
        start, longest = start + common, longest - common
    if longest > _WORD:
        return _by_words(group, text, start, end)
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


def _by_words(group: Ints, text: NDArray[np.uint8], start: Ints, end: Ints) -> Ints:
    """Return how many ids are before each, by group and id: those that are equal so far by their next bytes.

    A key has what is before in its first bits, and the next bytes in the rest: as many as there is room for.
    """
    sizes = np.bincount(group)
    before, rest = (np.cumsum(sizes) - sizes)[group], np.arange(len(group))
    n_bytes = (64 - len(group).bit_length()) // 8
    bits = np.uint64(8 * n_bytes)
    while len(rest):
        word = _words(text, start[rest], end[rest]) >> (np.uint64(64) - bits)
        key = (before[rest].astype(np.uint64) << bits) | word
        order = np.argsort(key)
        rest, key = rest[order], key[order]
        new = _begins(key)
        before[rest] += _latest(new) - _latest(_begins(key >> bits))
        alone = new & np.append(new[1:], True)
        rest = rest[~alone & (key & _LAST_BYTE).astype(np.bool_)]  # where it is 0 the id has ended
        start[rest] += n_bytes
    return before


def _begins(values: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return where a new value begins."""
    begins = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=begins[1:])
    return begins


def _latest(begins: NDArray[np.bool_]) -> Ints:
    """Return the latest place that begins something, at each place."""
    places = np.flatnonzero(begins)
    return places.repeat(np.diff(places, append=len(begins)))
