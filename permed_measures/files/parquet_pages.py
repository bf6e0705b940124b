"""Footer and page headers of a Parquet file, compared before it is decoded.

A wrong size or count makes the decoder ask for memory that there is not, and that ends the whole process. So
counts, sizes and, where the file has them, checksums are compared first, without decoding anything.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO

_DATA_HEADERS = {0: 5, 3: 8}
"""The field of a page header that has the counts, by the type of a data page."""
_DICTIONARY = 2


def is_sound(file: BinaryIO) -> bool:
    """Return whether counts, sizes and checksums of a Parquet file agree."""
    try:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - 8, 0))
        length, magic = struct.unpack("<i4s", file.read(8))
        _require(magic == b"PAR1" and 0 < length <= size - 12)
        file.seek(size - 8 - length)
        footer = _Thrift(file.read(length)).struct()
        groups = footer[4]
        _require(footer[3] == sum(group[3] for group in groups))
        for group in groups:
            for column in group[1]:
                _check_column(file, column[3], group[3], size - 8 - length)
    except (LookupError, TypeError, ValueError, RecursionError, struct.error):
        return False
    return True


def _require(condition: bool) -> None:
    if not condition:
        raise ValueError


def _check_column(file: BinaryIO, column: dict[int, Any], n_rows: int, end_of_pages: int) -> None:
    """Raise ValueError if the pages of a column do not agree with what the footer says of it."""
    path, n_values, uncompressed, compressed = column[3], column[5], column[6], column[7]
    start = min(column[9], column.get(11) or column[9])
    end = start + compressed
    _require(4 <= start <= end <= end_of_pages and uncompressed >= 0)
    _require(n_values == n_rows or len(path) > 1)
    found = 0
    while start < end:
        header, length = _page_header(file, start, end)
        start += length + header[3]
        _require(header[3] >= 0 and start <= end and 0 <= header[2] <= uncompressed)
        if 4 in header:
            file.seek(start - header[3])
            _require(zlib.crc32(file.read(header[3])) == header[4] & 0xFFFFFFFF)
        if header[1] == _DICTIONARY:
            _require(0 <= header[7][1] <= header[2])
        elif header[1] in _DATA_HEADERS:
            counts = header[_DATA_HEADERS[header[1]]]
            _require(counts[1] >= 0)
            found += counts[1]
            if header[1] == 3:
                _require(counts[5] >= 0 <= counts[6] and counts[5] + counts[6] <= min(header[2], header[3]))
    _require(found == n_values)


def _page_header(file: BinaryIO, start: int, end: int) -> tuple[dict[int, Any], int]:
    """Return the header of the page at `start`, and its length; it may have long statistics."""
    for window in (1 << 8, 1 << 24):
        file.seek(start)
        thrift = _Thrift(file.read(min(window, end - start)))
        try:
            return thrift.struct(), thrift.position
        except IndexError:
            continue
    raise ValueError


class _Thrift:
    """Values of Thrift's compact protocol; a struct is a dict by the numbers of its fields."""

    def __init__(self, data: bytes) -> None:
        self._data, self.position = data, 0

    def struct(self) -> dict[int, Any]:
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._integer()
            fields[number] = head & 15 == 1 if head & 15 in (1, 2) else self._value(head & 15)
        return fields

    def _value(self, type_: int) -> Any:
        return _READERS[type_](self)

    def _byte(self) -> int:
        self.position += 1
        return self._data[self.position - 1]

    def _varint(self) -> int:
        value = shift = 0
        while (byte := self._byte()) & 128:
            value |= (byte & 127) << shift
            shift += 7
            _require(shift < 64)
        return value | byte << shift

    def _integer(self) -> int:
        value = self._varint()
        return value >> 1 ^ -(value & 1)

    def _bytes(self, n: int) -> bytes:
        self.position += n
        if self.position > len(self._data):
            raise IndexError
        return self._data[self.position - n : self.position]

    def _list(self) -> list[Any]:
        head = self._byte()
        n = self._varint() if head >> 4 == 15 else head >> 4
        return [self._value(head & 15) for _ in range(n)]

    def _map(self) -> dict[Any, Any]:
        n = self._varint()
        types = self._byte() if n else 0
        return {self._value(types >> 4): self._value(types & 15) for _ in range(n)}


_READERS: dict[int, Callable[[_Thrift], Any]] = {
    **dict.fromkeys((1, 2, 3), _Thrift._byte),
    **dict.fromkeys((4, 5, 6), _Thrift._integer),
    7: lambda thrift: thrift._bytes(8),
    8: lambda thrift: thrift._bytes(thrift._varint()),
    9: _Thrift._list,
    10: _Thrift._list,
    11: _Thrift._map,
    12: _Thrift.struct,
}
"""How a value is read, by the number of its type; a bool in a list is a byte."""
