"""Files as bytes and lines: opened, decompressed, and cut into chunks of whole lines."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import stat
import sys
import tempfile
import weakref
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cached_property
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from permed_measures.engine.inputs import STDIN
from permed_measures.errors import InputError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ProgressCallback = Callable[[float], None]
"""Called with the share of a file that has been read, from 0 to 1."""

MARK = b"\xef\xbb\xbf"
"""The byte order mark; it is one only at the start of a file."""
HEAD = 1 << 16
"""Bytes that are enough to recognise most formats, and as many as a pipe may hold."""
_LONGEST_LINE = 1 << 24
_LONGEST_WHOLE = 1 << 30
"""Bytes of a JSON file, which is held as a whole."""
_CHUNK = 1 << 23
_TYPES = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"PAR1": "Parquet"} | {
    bytes([first]) + b"\x2a\x4d\x18": "zstd"  # a frame that readers skip
    for first in range(0x50, 0x60)
}
_TYPES |= dict.fromkeys((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE), "UTF-16")  # as PowerShell's > writes


@contextmanager
def _from_utf16(file: BinaryIO) -> Iterator[BinaryIO]:
    """Give the text as UTF-8, in a temporary file."""
    decode = codecs.getincrementaldecoder("utf-16")().decode
    with tempfile.TemporaryFile() as text:
        while data := file.read(_CHUNK):
            text.write(decode(data).encode())
        text.write(decode(b"", True).encode())
        text.seek(0)
        yield cast(BinaryIO, text)


_OPENERS: dict[str | None, Callable[[Any], Any]] = {
    "gzip": gzip.open,
    "zstd": zstd.open,
    "UTF-16": _from_utf16,
}


class Chunk(NamedTuple):
    """Whole lines of a file, and the number of bytes before them."""

    start: int
    data: bytes


class LongLineError(InputError):
    """A line that is too long to be held; `beginning` is its first part."""

    beginning = b""


class Source:
    """A file that may be compressed, or a pipe, or standard input; `progress` is called while it is read."""

    def __init__(self, path: Path, progress: ProgressCallback | None = None) -> None:
        self.path = STDIN if str(path) == "-" else path
        self.progress = progress or (lambda _: None)

    @property
    def is_parquet(self) -> bool:
        """Whether this is a Parquet file."""
        return self._type == "Parquet"

    def is_larger(self, n_bytes: int) -> bool:
        """Return whether the file has more than so many bytes, compressed if it is."""
        return self._status.st_size > n_bytes if self._pipe is None else bool(self._pipe.read(n_bytes, 1))

    @cached_property
    def _type(self) -> str | None:
        with self.open() as file:
            first = file.read(4)
        return next((name for magic, name in _TYPES.items() if first.startswith(magic)), None)

    @cached_property
    def _status(self) -> os.stat_result:
        """The file as it was when it was first looked at."""
        try:
            status = os.fstat(0) if self.path == STDIN else self.path.stat()
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from None
        is_device = stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode)
        if is_device or stat.S_ISSOCK(status.st_mode):
            what = "a device" if is_device else "a socket"
            this = "standard input" if self.path == STDIN else "this"
            raise InputError(f"{this} is {what}; only files and pipes can be read", where=str(self.path))
        return status

    @cached_property
    def _pipe(self) -> _Pipe | None:
        # Standard input is one even if it is a file: not every system can open it again from its start.
        is_pipe = stat.S_ISFIFO(self._status.st_mode) or self.path == STDIN
        return _Pipe(self.path) if is_pipe else None

    def open(self) -> BinaryIO:
        """Open the file from its start, compressed if it is."""
        if self._pipe is not None:
            return cast(BinaryIO, io.BufferedReader(_PipeView(self._pipe)))
        self._check_unchanged(self.path.stat())
        return self.path.open("rb")

    def for_polars(self) -> Path | BinaryIO:
        """Return a path, or the content of a pipe, for polars to read."""
        with self.open() as file:
            return self.path if self._pipe is None else io.BytesIO(file.read())

    def _check_unchanged(self, status: os.stat_result) -> None:
        """Raise an error if the file was written or replaced since it was first looked at."""
        identity = attrgetter("st_dev", "st_ino", "st_size", "st_mtime_ns")
        if identity(status) != identity(self._status):
            raise InputError(
                "the file has changed since its beginning was first read",
                where=str(self.path),
                hint="Read it again once it is complete",
            )

    def chunks(self, size: int | None = None, whole: bool = False) -> Iterator[Chunk]:
        """Yield chunks of whole lines, of about `size` bytes; a text that is held `whole` may be one line."""
        start, n_chunks = 0, 0
        longest = _LONGEST_WHOLE if whole else _LONGEST_LINE
        try:
            with self.open() as file, _OPENERS.get(self._type, nullcontext)(file) as content:
                while data := _whole_lines(content, min(size or _CHUNK, longest), longest):
                    if not whole:
                        self._check_last_line(data, islice(self.chunks(size), n_chunks))
                    elif start + len(data) > longest:
                        problem = f"a JSON file may have {longest >> 20:,} MiB at most"
                        raise InputError(problem, where=str(self.path), hint="Convert it to TREC or Parquet")
                    yield Chunk(start, data)
                    start += len(data)
                    n_chunks += 1
                    if self._pipe is None:
                        self.progress(min(file.tell() / (self._status.st_size or 1), 1))
                if self._pipe is None:
                    self._check_unchanged(os.fstat(file.fileno()))
        except (OSError, EOFError, zlib.error, zstd.ZstdError, UnicodeDecodeError) as error:
            if self._type is None:
                raise
            done = "decoded" if self._type == "UTF-16" else "decompressed"
            problem = f"cannot be {done} as {self._type} ({error})"
            raise InputError(problem, where=str(self.path)) from None

    def _check_last_line(self, data: bytes, before: Iterable[Chunk]) -> None:
        """Raise an error if the last of these lines is too long; the others are shorter than a chunk."""
        last = data.rfind(b"\n", 0, -1) + 1
        if len(data) - last - data.endswith(b"\n") > _LONGEST_LINE:
            n_lines = sum(chunk.data.count(b"\n") for chunk in before) + data.count(b"\n", 0, last)
            error = LongLineError(
                f"a line may have {_LONGEST_LINE >> 20} MiB at most",
                where=self.place(n_lines),
                hint="Check that this is a file of qrels or of a run",
            )
            error.beginning = data[last : last + HEAD]
            raise error

    def lines(self, size: int | None = None, whole: bool = False) -> Iterator[tuple[int, str]]:
        """Yield the index and the text of each line."""
        yield from self.lines_of_all(self.chunks(size, whole), 0)

    def lines_of_all(self, chunks: Iterable[Chunk], first: int) -> Iterator[tuple[int, str]]:
        """Yield the index and the text of each line of chunks that begin with line `first`."""
        for chunk in chunks:
            yield from self.lines_of(chunk, first)
            first += chunk.data.count(b"\n")

    def lines_of(self, chunk: Chunk, first: int) -> Iterator[tuple[int, str]]:
        """Yield the index and the text of each line of a chunk that begins with line `first`."""
        data = chunk.data if chunk.start else chunk.data.removeprefix(MARK)
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            line = first + data.count(b"\n", 0, error.start)
            raise InputError(f"not UTF-8 text ({error.reason})", where=self.place(line)) from None
        yield from enumerate(text.removesuffix("\n").split("\n"), start=first)

    def place(self, line: int | None) -> str:
        """Return ``file:line`` for the line of this index, or the file if it is about no line."""
        return f"{self.path}" if line is None else f"{self.path}:{line + 1}"


def _whole_lines(content: BinaryIO, size: int, longest: int) -> bytes:
    """Read about `size` bytes, up to the end of a line, or to where the line is too long."""
    if not isinstance(content, io.BufferedReader) or not content.seekable():
        return content.read(size) + content.readline(longest + 1)
    start = content.tell()
    content.seek(start + size)
    content.readline(longest + 1)
    end = content.tell()
    content.seek(start)
    return content.read(end - start)  # not joined with the end of the line: that would copy it all


class _Pipe:
    """A pipe, and a temporary file of what was read from it, so that it can be read again."""

    def __init__(self, path: Path) -> None:
        # A file object would warn if Ctrl-C came before it is closed.
        self._pipe = os.dup(0) if path == STDIN else os.open(path, os.O_RDONLY)
        self._path = path
        self._kept = tempfile.TemporaryFile()  # noqa: SIM115  (closed with the pipe)
        self._size = 0
        self._is_read = False
        weakref.finalize(self, os.close, self._pipe)
        weakref.finalize(self, self._kept.close)

    def read(self, start: int, size: int) -> bytes:
        """Return at most `size` bytes from `start`, none at the end."""
        while start >= self._size and not self._is_read:
            data = os.read(self._pipe, HEAD)
            self._is_read = not data
            self._kept.seek(self._size)
            try:
                self._size += self._kept.write(data)
            except OSError as error:
                place = f"{error.strerror} in {tempfile.gettempdir()}, where a pipe is kept while it is read"
                raise OSError(error.errno, place, str(self._path)) from None
        self._kept.seek(start)
        return self._kept.read(size)


class _PipeView(io.RawIOBase):
    """The content of a pipe, as a file that is read from its start."""

    def __init__(self, pipe: _Pipe) -> None:
        self._pipe = pipe
        self._position = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._pipe.read(self._position, len(buffer))
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)
