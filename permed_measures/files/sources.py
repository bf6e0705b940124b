"""Files as bytes and lines: opened, decompressed, and read in chunks of whole lines."""

from __future__ import annotations

import gzip
import os
import shutil
import stat
import sys
import tempfile
import weakref
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from permed_measures.engine.inputs import STDIN
from permed_measures.errors import InputError

T = TypeVar("T")
MARK = b"\xef\xbb\xbf"
"""The byte order mark; it is one only at the start of a file."""
_CHUNK = 1 << 23
_TEXT = 1 << 20
"""Bytes that are lines of text at a time."""
_HEAD = 1 << 16
"""Bytes that are enough to recognise most formats."""
_TYPES = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"PAR1": "Parquet"} | {
    bytes([first]) + b"\x2a\x4d\x18": "zstd"  # a frame that readers skip
    for first in range(0x50, 0x60)
}


def _open_zstd(file: BinaryIO) -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd  # only here: most runs are not compressed
    return zstd.open(file)


_OPENERS: dict[str | None, Callable[[BinaryIO], Any]] = {"gzip": gzip.open, "zstd": _open_zstd}


class Source:
    """A file that may be compressed, or a pipe, or standard input."""

    def __init__(self, path: Path) -> None:
        self.path = STDIN if str(path) == "-" else path

    @cached_property
    def content(self) -> Path:
        """Where the bytes are: the file itself, or a temporary copy of a pipe, which is read to its end."""
        try:
            status = os.fstat(0) if self.path == STDIN else self.path.stat()
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from None
        if any(is_other(status.st_mode) for is_other in (stat.S_ISCHR, stat.S_ISBLK, stat.S_ISSOCK)):
            raise InputError("only files and pipes can be read, no device or socket", where=str(self.path))
        # Standard input is a pipe even if it is a file: not every system can open it again from its start.
        return self._copied() if stat.S_ISFIFO(status.st_mode) or self.path == STDIN else self.path

    def _copied(self) -> Path:
        copied, name = tempfile.mkstemp(prefix="permed-measures-")
        weakref.finalize(self, Path(name).unlink, missing_ok=True)
        # Opening waits for who writes; a file object would warn if Ctrl-C came then.
        pipe = os.dup(0) if self.path == STDIN else os.open(self.path, os.O_RDONLY)
        try:
            with os.fdopen(pipe, "rb") as content, os.fdopen(copied, "wb") as copy:
                shutil.copyfileobj(content, copy)
        except OSError as error:
            problem = f"{error.strerror} in {tempfile.gettempdir()}, where a pipe is kept while it is read"
            raise OSError(error.errno, problem, str(self.path)) from None
        return Path(name)

    @property
    def is_parquet(self) -> bool:
        """Whether this is a Parquet file."""
        return self._type == "Parquet"

    @cached_property
    def size(self) -> int:
        """The number of bytes, compressed if it is."""
        return self.content.stat().st_size

    @cached_property
    def _type(self) -> str | None:
        with self.content.open("rb") as file:
            first = file.read(4)
        return next((name for magic, name in _TYPES.items() if first.startswith(magic)), None)

    def chunks(self, size: int | None = None) -> Iterator[bytes]:
        """Yield about `size` bytes at a time, to the end of a line."""
        size = size or _CHUNK
        try:
            with self.content.open("rb") as file, _OPENERS.get(self._type, nullcontext)(file) as content:
                if content.read(len(MARK)) != MARK:
                    content.seek(0)
                while data := content.read(size) + content.readline():
                    yield data
        except Exception as error:  # each decompressor has its own
            if self._type is None:
                raise
            problem = f"cannot be decompressed as {self._type} ({error})"
            raise InputError(problem, where=str(self.path)) from None

    def read(self) -> bytes:
        """Return the whole content."""
        return b"".join(self.chunks())

    def lines(self, size: int | None = None) -> Iterator[tuple[int, str]]:
        """Yield the number and the text of each line."""
        first = 1
        for chunk in self.chunks(size or _TEXT):
            yield from self.lines_of(chunk, first)
            first += chunk.count(b"\n")

    def head(self) -> Iterator[tuple[int, str]]:
        """Yield the lines as `lines` does, to look at the first."""
        return self.lines(_HEAD)

    def lines_of(self, chunk: bytes, first: int) -> Iterator[tuple[int, str]]:
        """Yield the number and the text of each line of a chunk that begins with line `first`."""
        try:
            text = chunk.decode()
        except UnicodeDecodeError as error:
            line = first + chunk.count(b"\n", 0, error.start)
            raise InputError(f"not UTF-8 text ({error.reason})", where=self.location(line)) from None
        yield from enumerate(text.removesuffix("\n").split("\n"), start=first)

    def location(self, line: int | None) -> str:
        """Return ``file:line`` for the line of this number, or the file if it is about no line."""
        return f"{self.path}" if line is None else f"{self.path}:{line}"


def cached(read: Callable[[Path], T]) -> Callable[[Path], T]:
    """Let a function of a file read it again only if it has changed."""
    read_version = lru_cache(maxsize=16)(lambda path, *_: read(path))

    def read_cached(path: Path) -> T:
        status = path.stat()
        return read_version(path, status.st_mtime_ns, status.st_size, status.st_ino)

    return read_cached
