"""Files as bytes and lines: opened, decompressed, and read in chunks of whole lines."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import re
import shutil
import stat
import sys
import tempfile
import weakref
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from permed_measures.errors import InputError, short_repr
from permed_measures.escaping import pluralize
from permed_measures.progress import step
from permed_measures.provenance import STDIN

T = TypeVar("T")
MARK = b"\xef\xbb\xbf"
"""The byte order mark; it is one only at the start of a file."""
_CHUNK = 1 << 23
"""Bytes of a large file at a time; of a smaller one a 16th, so that memory follows the size of the file."""
_TEXT = 1 << 20
"""Bytes that are lines of text at a time."""
_LONGEST_LINE, _JSON_LINE, _EMPTY = 1 << 26, 1 << 30, 1 << 20
"""Bytes that a line may have, one that a whole JSON file may be, and empty lines one after the other: a small
compressed file can hold any number of them."""
_TYPES = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"PK\3\4": "ZIP",
    b"PAR1": "Parquet",
} | {
    bytes([first]) + b"\x2a\x4d\x18": "zstd"  # a frame that readers skip
    for first in range(0x50, 0x60)
}


def _open_zstd(file: BinaryIO) -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd  # only here: most runs are not compressed
    return zstd.open(file)


def _open_zip(file: BinaryIO) -> Any:
    """Open the one file in a ZIP file."""
    archive = zipfile.ZipFile(file)
    names = [each.filename for each in archive.infolist() if not each.is_dir()]
    if "[Content_Types].xml" in names:
        raise InputError("a spreadsheet, which is not read", hint="Save the sheet as CSV")
    if len(names) != 1:
        problem = f"a ZIP file of {pluralize(len(names), 'file')}, of which one can be read"
        raise InputError(problem, hint="Unpack it, and name one of its files")
    return archive.open(names[0])


_OPENERS: dict[str | None, Callable[[BinaryIO], Any]] = {
    "gzip": gzip.open,
    "zstd": _open_zstd,
    "bzip2": bz2.open,
    "xz": lzma.open,
    "ZIP": _open_zip,
}


_UTF_8 = "Save it as UTF-8, such as by iconv -f {} -t UTF-8 IN > OUT"
_UTF_16 = "UTF-16 in place of UTF-8", _UTF_8.format("UTF-16")
_UNPACK = "Unpack it, and name one of its files"
_NOT_TEXT = {
    b"\xff\xfe": _UTF_16,
    b"\xfe\xff": _UTF_16,
    b"ARROW1": ("an Arrow file, which is not read", "Write it as Parquet"),
    b"\x04\x22\x4d\x18": ("compressed by lz4, which is not read", "Decompress it, such as by unlz4"),
    b"7z\xbc\xaf\x27\x1c": ("a 7z archive, which is not read", _UNPACK),
    b"Rar!": ("a RAR archive, which is not read", _UNPACK),
    b"\x89HDF": ("an HDF5 file, which is not read", "Write it as Parquet or CSV"),
    b"\x93NUMPY": ("an array of numpy, which is not read", "Write it as CSV, with the ids"),
    b"SQLite format 3\0": ("a database of SQLite, which is not read", "Write a table of it as CSV"),
    **{
        b"\x80" + bytes([protocol]): (
            "a pickle of Python, which is not read: it could run any code",
            "Write its content by permed_measures.write_run or write_qrels",
        )
        for protocol in range(2, 6)
    },
}
"""What is met in place of text, by its first bytes; and what to do."""
_TAR = ("a tar archive, which is not read", _UNPACK)


def check_path(path: Path) -> None:
    """Raise InputError for a path that no file can have."""
    if "\0" in str(path):
        raise InputError("a path may not hold a NUL", where=short_repr(str(path)))


class Source:
    """A file that may be compressed, or a pipe, or standard input."""

    def __init__(self, path: Path) -> None:
        check_path(path)
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
        """Whether this is a Parquet file, or a folder of its parts."""
        return self._type == "Parquet"

    @property
    def parts(self) -> list[Path]:
        """The files whose bytes these are: one, or those of a folder of Parquet parts."""
        return list(self._state)

    @property
    def size(self) -> int:
        """The number of bytes, compressed if it is."""
        return sum(size for size, *_ in self._state.values())

    @cached_property
    def _state(self) -> dict[Path, tuple[int, int, int]]:
        """The files with size, time and number when they were first looked at."""
        return _state_of((self.content.is_dir() and parquet_parts(self.content)) or [self.content])

    @cached_property
    def _type(self) -> str | None:
        return _type_of(self.parts[0])

    def check_unchanged(self) -> None:
        """Raise InputError if the file was cut, or grew, since it was first looked at."""
        if _state_of(self._state) != self._state:
            problem = "the file has changed while it was read"
            raise InputError(problem, where=str(self.path), hint="Read it again when it is complete")

    def chunks(self, size: int | None = None) -> Iterator[tuple[int, int, bytes]]:
        """Yield the number of the first line, how many end, and about `size` bytes, to the end of a line."""
        size = size or min(_CHUNK, max(_TEXT, self.size >> 4))
        first, empty = 1, 0
        try:
            with (
                self.parts[0].open("rb") as file,
                _OPENERS.get(self._type, nullcontext)(file) as content,
                step(f"reading {self.path.name}", self.size) as advance,
            ):
                before = 0
                self._check_beginning(content.read(512))
                content.seek(0)
                if content.read(len(MARK)) != MARK:
                    content.seek(0)
                while data := content.read(size):
                    data += self._rest_of_line(content, data, first)
                    n_lines = data.count(b"\n")
                    yield first, n_lines, data
                    empty = empty + len(data) if data.isspace() else 0
                    if empty > _EMPTY:
                        raise self._error(f"more than {_EMPTY >> 20} MB of empty lines", first + n_lines)
                    first += n_lines
                    advance(file.tell() - before)  # of a compressed file the compressed bytes
                    before = file.tell()
        except InputError as error:
            error.where = error.where or str(self.path)
            raise
        except Exception as error:  # each decompressor has its own
            if self._type is None:
                raise
            problem = f"cannot be decompressed as {self._type} ({error})"
            raise InputError(problem, where=str(self.path)) from None
        self.check_unchanged()

    def _check_beginning(self, data: bytes) -> None:
        """Raise InputError for what is no text, by its first bytes."""
        found = next((said for beginning, said in _NOT_TEXT.items() if data.startswith(beginning)), None)
        if data[257:262] == b"ustar":
            found = _TAR
        if found is not None:
            raise InputError(found[0], where=self.location(1), hint=found[1])

    def _rest_of_line(self, content: BinaryIO, data: bytes, first: int) -> bytes:
        start = data[data.rfind(b"\n") + 1 :].lstrip()
        most = _JSON_LINE if start.startswith((b"{", b"[")) else _LONGEST_LINE
        rest = content.readline(most)
        if len(rest) == most:
            problem = f"a line of more than {most >> 20} MB"
            raise self._error(problem, first + data.count(b"\n"))
        return rest

    def _error(self, problem: str, line: int) -> InputError:
        return InputError(
            problem, where=self.location(line), hint="No run or qrels have such; correct the file"
        )

    def read(self) -> bytes:
        """Return the whole content."""
        return b"".join(data for _, _, data in self.chunks())

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield the number and the text of each line."""
        for first, _, chunk in self.chunks(_TEXT):
            yield from self.lines_of(chunk, first)

    def lines_of(self, chunk: bytes, first: int) -> Iterator[tuple[int, str]]:
        """Yield the number and the text of each line of a chunk that begins with line `first`."""
        try:
            # Neither the chunk nor its text is copied: a single line may be a GB of JSON.
            text = str(memoryview(chunk)[: -1 if chunk.endswith(b"\n") else None], "utf-8")
            if (place := chunk.find(b"\0")) < 0:
                yield from enumerate(text.split("\n"), start=first)
                return
            problem, hint = "a NUL, which no text has", f"The file is damaged, or in UTF-16. {_UTF_16[1]}"
        except UnicodeDecodeError as error:
            place, problem = error.start, f"not UTF-8 text ({error.reason})"
            hint = _UTF_8.format("LATIN1")
        line = first + chunk.count(b"\n", 0, place)
        raise InputError(problem, where=self.location(line), hint=hint)

    def location(self, line: int | None) -> str:
        """Return ``file:line`` for the line of this number, or the file if it is about no line."""
        return f"{self.path}" if line is None else f"{self.path}:{line}"


def _state_of(files: Iterable[Path]) -> dict[Path, tuple[int, int, int]]:
    states = ((path, path.stat()) for path in files)
    return {path: (state.st_size, state.st_mtime_ns, state.st_ino) for path, state in states}


def _type_of(path: Path) -> str | None:
    with path.open("rb") as file:
        first = file.read(5)
    return next((name for magic, name in _TYPES.items() if first.startswith(magic)), None)


def parquet_parts(folder: Path) -> list[Path]:
    """Return the parts of a folder that is one table in Parquet, as Spark and Hive write it; else nothing.

    There are only files of Parquet in it, beside what begins with ``.`` or ``_``; they are called ``part-…``
    or ``000000_0``, or lie in folders ``key=value``, or ``_SUCCESS`` stands beside them.
    """
    inside = sorted(folder.iterdir())
    visible = [each for each in inside if not each.name.startswith((".", "_"))]
    is_written = any(each.name in ("_SUCCESS", "_temporary") for each in inside)
    parts: list[Path] = []
    for each in visible:
        is_part = is_written or "=" in folder.name or re.match(_PART, each.name)
        found = parquet_parts(each) if each.is_dir() and "=" in each.name else []
        if each.is_file() and is_part and _type_of(each) == "Parquet":
            found = [each]
        if not found:
            return []
        parts += found
    if parts and Path(folder, "_temporary") in inside:
        problem = "the parts of this folder are still being written, or their job failed (found _temporary)"
        raise InputError(problem, where=str(folder))
    return parts


_PART = r"part[-.]\d|\d{6}_\d"


def cache_by_mtime(read: Callable[[Path], T]) -> Callable[[Path], T]:
    """Let a function of a file read it again only if it has changed."""
    read_version = lru_cache(lambda path, *_: read(path))

    def read_cached(path: Path) -> T:
        status = path.stat()
        return read_version(path, status.st_mtime_ns, status.st_size, status.st_ino)

    return read_cached
