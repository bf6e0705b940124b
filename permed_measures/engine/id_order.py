"""The order of ids, as numbers: numpy sorts integers many times as fast as strings are sorted."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.engine.inputs import text_id
from permed_measures.engine.judgments import Ints

if TYPE_CHECKING:
    import polars as pl

    Part = list[str] | pl.Series

_WORD = 8
"""Bytes of an id that are compared at once, as one integer."""

_FIRST_BYTES = np.array([(1 << 64) - (1 << 64 - 8 * n) for n in range(_WORD + 1)], np.uint64)
"""The bits of the first 0, 1, … bytes of a word."""

_SIGN, _LAST_BYTE = np.uint64(1 << 63), np.uint64(0xFF)
LARGEST = (1 << 63) - 1
"""The largest integer that is sorted."""


class Ids(NamedTuple):
    """Ids as bytes, which stand in the order of their code points.

    Attributes
    ----------
    text : ndarray of uint8
        The UTF-8 bytes of all ids, and more zeros than a word has after the last.
    start, end : ndarray of int64, shape (n_ids,)
        Where each begins, after what all begin with, and where it ends.
    """

    text: NDArray[np.uint8]
    start: Ints
    end: Ints

    @classmethod
    def of(cls, parts: Callable[[], Iterable[Part]], n_ids: int) -> Ids:
        """Return the ids of all parts, of which there are so many; they may be asked for twice.

        Lists should be short: then their ids stay in the cache until they are done with.
        """
        joined = "\0".join([*map(_joined, parts()), *[""] * _WORD])
        text = np.frombuffer(joined.encode("utf-8", "surrogatepass"), np.uint8)
        end = np.flatnonzero(text == 0)[: 1 - _WORD]
        if len(end) != n_ids:  # an id has a NUL itself
            return _by_python(list(map(text_id, chain.from_iterable(parts()))))
        start = np.zeros_like(end)
        np.add(end[:-1], 1, out=start[1:])
        length = end - start
        if length.max() > _WORD:
            start += _common(text, start, int(length.min()))
        return cls(text, start, end)

    @property
    def longest(self) -> int:
        """The most bytes of an id."""
        return int((self.end - self.start).max())

    def words(self) -> NDArray[np.uint64]:
        """Return the first bytes of each id as a number in their order, zeros after its end."""
        at_each_byte = np.ndarray(len(self.text) - _WORD + 1, ">u8", self.text, strides=(1,))
        first_bytes = _FIRST_BYTES.take(self.end - self.start, mode="clip")
        return at_each_byte[self.start].astype(np.uint64) & first_bytes

    def numbers(self, group: Ints) -> Ints:
        """Return a number for each id: in each group equal where ids are, and in their order.

        Numbers of different groups are not to be compared.

        Examples
        --------
        >>> numbers = Ids.of(lambda: [["d10", "d9"], ["e", "d10"]], 4).numbers(np.array([0, 0, 0, 0]))
        >>> np.argsort(numbers, kind="stable").tolist(), bool(numbers[0] == numbers[3])
        ([0, 3, 1, 2], True)
        """
        if self.longest <= _WORD:  # unsigned integers, in the order of signed ones
            return (self.words() ^ _SIGN).view(np.int64) >> 8 * (_WORD - self.longest)
        twice = Ids(self.text, np.tile(self.start, 2), np.tile(self.end, 2))
        return twice.count_before(np.tile(group, 2), np.ones(len(group), np.bool_))

    def count_before(self, group: Ints, among: NDArray[np.bool_], descending: bool = False) -> Ints:
        """Count, for each of the first ids, those of the others that are before it in its group.

        Ids are compared by their first bytes, as many as there is room for beside the group. Only those that
        are equal so far are compared by their next bytes.

        Parameters
        ----------
        group : ndarray of int64, shape (n_ids,)
        among : ndarray of bool, shape (n_first,)
            Whether each of the first ids is also one of the others, once.
        descending : bool, default False
            Whether the highest id is the first.

        Examples
        --------
        >>> ids = Ids.of(lambda: [["d9"], ["d9", "d10", "d8"]], 4)
        >>> ids.count_before(np.array([7, 7, 7, 7]), np.array([True]))
        array([2])
        """
        n, sizes = len(among), np.bincount(group[len(among) :], minlength=1 + group.max())
        word, n_bytes = self.words(), _WORD
        lowest, highest = int(word.min()), int(word.max())
        while len(sizes) * (highest - lowest + 1) > LARGEST:
            n_bytes, lowest, highest = n_bytes - 1, lowest >> 8, highest >> 8
        word >>= np.uint64(8 * (_WORD - n_bytes))
        by = np.uint64(highest) - word if descending else word - np.uint64(lowest)
        key = group * (highest - lowest + 1) + by.view(np.int64)
        order, others = np.argsort(key[:n]), np.sort(key[n:])  # in order, they are found twice as fast
        place = np.empty(n, np.int64)
        place[order] = np.searchsorted(others, key[order])
        before = place - (np.cumsum(sizes) - sizes)[group[:n]]
        if self.longest > n_bytes:
            again = others.take(place + among, mode="clip") == key[:n]
            again &= (place + among < len(others)) & ((word[:n] & _LAST_BYTE) > 0)  # 0: the id has ended
            if again.any():
                which = np.flatnonzero(again)
                equal, number = np.unique(key[which], return_inverse=True)
                of_others = np.searchsorted(equal, key[n:])
                same = np.flatnonzero(equal.take(of_others, mode="clip") == key[n:])
                ids = self._after(n_bytes, np.concatenate([which, n + same]))
                group = np.concatenate([number, of_others[same]])
                before[which] += ids.count_before(group, among[which], descending)
        return before

    def _after(self, n_bytes: int, which: Ints) -> Ids:
        """Return some of the ids without their first bytes."""
        return Ids(self.text, self.start[which] + n_bytes, self.end[which])


def _joined(ids: Part) -> str:
    if not isinstance(ids, list):
        text: str = ids.str.join("\0").item()
        return text
    try:
        return "\0".join(ids)
    except TypeError:  # some are integers
        return "\0".join(map(text_id, ids))


def _by_python(ids: list[str]) -> Ids:
    """Return numbers in the order of the ids, as bytes."""
    numbers = {text: number for number, text in enumerate(sorted(set(ids)))}
    words = np.fromiter(map(numbers.__getitem__, ids), ">u8", len(ids))
    text = np.append(words, [0] * _WORD).astype(">u8").view(np.uint8)
    start = np.arange(0, _WORD * len(ids), _WORD)
    return Ids(text, start, start + _WORD)


def _common(text: NDArray[np.uint8], start: Ints, shortest: int) -> int:
    """Return the number of bytes that all ids begin with."""
    for n in range(shortest):
        here = text[start + n]
        if (here != here[0]).any():
            return n
    return shortest
