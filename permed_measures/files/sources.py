"""Files as bytes and lines: opened, decompressed, and cut into chunks of whole lines."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, NamedTuple

from permed_measures.errors import InputError

ProgressCallback = Callable[[float], None]
"""Is told which share of a file has been read."""

HEAD = 1 << 16
"""Bytes that are enough to tell what a file is."""
_CHUNK = 1 << 24
_PARQUET = b"PAR1"
_ZSTD, _GZIP = b"\x28\xb5\x2f\xfd", b"\x1f\x8b"
_NAMES = {_ZSTD: "zstd", _GZIP: "gzip"}


class Chunk(NamedTuple):
    """Whole lines of a file, and the number of bytes before them."""

    start: int
    data: bytes


class Source:
    """A file that may be compressed; its first bytes tell.

    Parameters
    ----------
    path : Path
    progress : callable, optional
        Is told the share that was read, from 0 to 1, now and then.
    """

    def __init__(self, path: Path, progress: ProgressCallback | None = None) -> None:
        self.path = path
        self.progress = progress or (lambda _: None)

    def starts_with(self, magic: bytes) -> bool:
        """Return whether these are the first bytes of the file, which is not decompressed for that."""
        with self._file() as file:
            return file.read(len(magic)) == magic

    @property
    def is_parquet(self) -> bool:
        """Whether this is a Parquet file."""
        return self.starts_with(_PARQUET)

    @cached_property
    def size(self) -> int:
        """The bytes of the file; decompressed there are more."""
        with self._file() as file:
            return file.seek(0, os.SEEK_END)

    @cached_property
    def _compression(self) -> str | None:
        return next((name for magic, name in _NAMES.items() if self.starts_with(magic)), None)

    @cached_property
    def _piped(self) -> bytes | None:
        """The content of what can be read only once, such as a pipe."""
        return None if self.path.is_file() else self.path.read_bytes()

    def _file(self) -> BinaryIO:
        return self.path.open("rb") if self._piped is None else io.BytesIO(self._piped)

    def for_polars(self) -> Path | BinaryIO:
        """Return what polars can read the file from."""
        return self.path if self._piped is None else io.BytesIO(self._piped)

    @cached_property
    def _unzstd(self) -> bytes:
        """The content of a zstd file: polars decompresses it, as if it were a table of one column."""
        import polars as pl

        with self._file() as file:
            data = file.read()
        try:
            frame = pl.read_csv(data, has_header=False, separator="\x01", quote_char=None, infer_schema=False)
        except pl.exceptions.PolarsError as error:
            raise OSError(str(error)) from None
        return "\n".join(frame.to_series().fill_null("").to_list()).encode()

    def _open(self) -> tuple[BinaryIO, BinaryIO]:
        """Return the decompressed content, and the file itself to see how far it was read."""
        if self._compression == "zstd":
            content = io.BytesIO(self._unzstd)
            return content, content
        file = self._file()
        return (gzip.open(file) if self._compression == "gzip" else file), file  # type: ignore[return-value]

    def chunks(self, size: int | None = None) -> Iterator[Chunk]:
        """Yield the content in chunks of about `size` bytes of whole lines."""
        start = 0
        try:
            content, file = self._open()
            with file:
                total = file.seek(0, os.SEEK_END) or 1
                file.seek(0)
                while data := _whole_lines(content, size or _CHUNK):
                    chunk = Chunk(start, data)
                    start += len(data)
                    yield chunk
                    self.progress(file.tell() / total)
        except (OSError, EOFError, zlib.error) as error:
            if self._compression is None:
                raise
            problem = f"cannot be decompressed as {self._compression} ({error})"
            raise InputError(problem, where=str(self.path)) from None

    def lines(self, size: int | None = None) -> Iterator[tuple[int, str]]:
        """Yield the index and the text of each line."""
        yield from self.lines_of_all(self.chunks(size), 0)

    def lines_of_all(self, chunks: Iterable[Chunk], first: int) -> Iterator[tuple[int, str]]:
        """Yield the index and the text of each line of chunks that begin with line `first`."""
        for chunk in chunks:
            yield from self.lines_of(chunk, first)
            first += chunk.data.count(b"\n")

    def lines_of(self, chunk: Chunk, first: int) -> Iterator[tuple[int, str]]:
        """Yield the index and the text of each line of a chunk that begins with line `first`."""
        try:
            text = chunk.data.decode("utf-8" if chunk.start else "utf-8-sig")
        except UnicodeDecodeError as error:
            line = first + chunk.data.count(b"\n", 0, error.start)
            raise InputError(f"must be UTF-8 text (found {error.reason})", where=self.place(line)) from None
        yield from enumerate(text.removesuffix("\n").split("\n"), start=first)

    def place(self, line: int | None) -> str:
        """Return ``file:line`` for the line of this index, or the file if it is about no line."""
        return f"{self.path}" if line is None else f"{self.path}:{line + 1}"


def _whole_lines(content: BinaryIO, size: int) -> bytes:
    """Read about `size` bytes, up to the end of a line."""
    if isinstance(content, gzip.GzipFile):
        return content.read(size) + content.readline()
    start = content.tell()
    content.seek(start + size)
    content.readline()
    end = content.tell()
    content.seek(start)
    return content.read(end - start)  # not joined with the end of the line: that would copy it all
