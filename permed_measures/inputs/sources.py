"""Open files, decompress them, and read them in chunks of whole lines."""

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
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import nullcontext
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from permed_measures.errors import InputError, short_repr
from permed_measures.progress import step
from permed_measures.provenance import STDIN
from permed_measures.wording import pluralize

T = TypeVar("T")
MARK = b"\xef\xbb\xbf"
"""The byte order mark; it is skipped only at the start of a file."""
_CHUNK = 1 << 23
"""Maximum size of a chunk in bytes; a smaller file is read in 16 chunks, so that memory follows its size."""
_TEXT = 1 << 20
"""Size in bytes of a chunk that is split into lines; the minimum size of other chunks."""
_LONGEST_LINE, _JSON_LINE, _EMPTY = 1 << 26, 1 << 30, 1 << 20
"""Maximum bytes of a line, of a line of JSON (which may be a whole file), and of consecutive empty lines: a
small compressed file can hold any number of them."""
_TYPES = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"PK\3\4": "ZIP",
    b"PAR1": "Parquet",
} | {
    bytes([first]) + b"\x2a\x4d\x18": "zstd"  # a skippable frame, with which a file may begin
    for first in range(0x50, 0x60)
}


def _open_zstd(file: BinaryIO) -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd  # here, since most runs are not compressed
    return zstd.open(file)


def _open_zip(file: BinaryIO) -> Any:
    """Open the only file in a ZIP file."""
    archive = zipfile.ZipFile(file)
    names = [member.filename for member in archive.infolist() if not member.is_dir()]
    if "[Content_Types].xml" in names:
        raise InputError("a spreadsheet, which is not read", hint="Save the sheet as CSV")
    if len(names) != 1:
        problem = f"a ZIP file with {pluralize(len(names), 'file')}; it must have one"
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
"""Formats that are not text, by their first bytes: a description, and advice."""
_TAR = ("a tar archive, which is not read", _UNPACK)


def check_path(path: Path) -> None:
    """Raise InputError for a path with a NUL, which no file can have."""
    if "\0" in str(path):
        raise InputError("a path may not contain a NUL", where=short_repr(str(path)))


class Source:
    """A file (perhaps compressed), a pipe, or standard input."""

    def __init__(self, path: Path) -> None:
        check_path(path)
        self.path = STDIN if str(path) == "-" else path

    @cached_property
    def content(self) -> Path:
        """The file that holds the bytes: the file itself, or a temporary copy of a pipe."""
        try:
            status = os.fstat(0) if self.path == STDIN else self.path.stat()
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from None
        if any(is_other(status.st_mode) for is_other in (stat.S_ISCHR, stat.S_ISBLK, stat.S_ISSOCK)):
            raise InputError("only files and pipes can be read, not devices or sockets", where=str(self.path))
        # Standard input is copied even if it is a file: not every system can open it again from its start.
        return self._copied() if stat.S_ISFIFO(status.st_mode) or self.path == STDIN else self.path

    def _copied(self) -> Path:
        copied, name = tempfile.mkstemp(prefix="permed-measures-")
        weakref.finalize(self, Path(name).unlink, missing_ok=True)
        # os.open waits for the writer; an open() that Ctrl-C interrupts would leave a warning.
        pipe = os.dup(0) if self.path == STDIN else os.open(self.path, os.O_RDONLY)
        try:
            with os.fdopen(pipe, "rb") as content, os.fdopen(copied, "wb") as copy:
                shutil.copyfileobj(content, copy)
        except OSError as error:
            problem = f"{error.strerror} in {tempfile.gettempdir()}, where a pipe is copied to be read"
            raise OSError(error.errno, problem, str(self.path)) from None
        return Path(name)

    @property
    def is_parquet(self) -> bool:
        """Whether this is a Parquet file, or a folder of Parquet parts."""
        return self._type == "Parquet"

    @property
    def parts(self) -> list[Path]:
        """The files: one, or the parts in a folder of Parquet parts."""
        return list(self._state)

    @property
    def size(self) -> int:
        """The size in bytes, before decompression."""
        return sum(size for size, *_ in self._state.values())

    @cached_property
    def _state(self) -> dict[Path, tuple[int, int, int]]:
        """The files with their size, modification time and inode at the first access."""
        return _state_of((self.content.is_dir() and parquet_parts(self.content)) or [self.content])

    @cached_property
    def _type(self) -> str | None:
        return _type_of(self.parts[0])

    def check_unchanged(self) -> None:
        """Raise InputError if the file has changed since the first access."""
        if _state_of(self._state) != self._state:
            problem = "the file changed while it was read"
            raise InputError(problem, where=str(self.path), hint="Read it again when it is complete")

    def chunks(self, size: int | None = None) -> Iterator[tuple[int, int, bytes]]:
        """Yield chunks of whole lines, about `size` bytes each: first line number, number of lines, bytes."""
        size = size or min(_CHUNK, max(_TEXT, self.size >> 4))
        first, n_empty = 1, 0
        try:
            with (
                self.parts[0].open("rb") as file,
                _OPENERS.get(self._type, nullcontext)(file) as content,
                step(f"reading {self.path.name}", self.size) as advance,
            ):
                position = 0
                self._check_beginning(content.read(512))
                content.seek(0)
                if content.read(len(MARK)) != MARK:
                    content.seek(0)
                while data := content.read(size):
                    data += self._rest_of_line(content, data, first)
                    n_lines = data.count(b"\n")
                    yield first, n_lines, data
                    n_empty = n_empty + len(data) if data.isspace() else 0
                    if n_empty > _EMPTY:
                        raise self._error(f"more than {_EMPTY >> 20} MB of empty lines", first + n_lines)
                    first += n_lines
                    advance(file.tell() - position)  # counts bytes before decompression
                    position = file.tell()
        except InputError as error:
            error.where = error.where or str(self.path)
            raise
        except Exception as error:  # each decompressor has its own exceptions
            if self._type is None:
                raise
            problem = f"cannot be decompressed as {self._type} ({error})"
            raise InputError(problem, where=str(self.path)) from None
        self.check_unchanged()

    def _check_beginning(self, data: bytes) -> None:
        """Raise InputError for a file that is not text, recognised by its first bytes."""
        known = next((entry for beginning, entry in _NOT_TEXT.items() if data.startswith(beginning)), None)
        if data[257:262] == b"ustar":
            known = _TAR
        if known is not None:
            problem, hint = known
            raise InputError(problem, where=self.location(1), hint=hint)

    def _rest_of_line(self, content: BinaryIO, data: bytes, first: int) -> bytes:
        start = data[data.rfind(b"\n") + 1 :].lstrip()
        limit = _JSON_LINE if start.startswith((b"{", b"[")) else _LONGEST_LINE
        rest = content.readline(limit)
        if len(rest) == limit:
            problem = f"a line of more than {limit >> 20} MB"
            raise self._error(problem, first + data.count(b"\n"))
        return rest

    def _error(self, problem: str, line: int) -> InputError:
        return InputError(
            problem, where=self.location(line), hint="No run or qrels have such lines; correct the file"
        )

    def read(self) -> bytes:
        """Read the whole content."""
        return b"".join(data for _, _, data in self.chunks())

    def lines(self) -> Generator[tuple[int, str], None, None]:
        """Yield the number and the text of each line."""
        for first, _, chunk in self.chunks(_TEXT):
            yield from self.lines_of(chunk, first)

    def lines_of(self, chunk: bytes, first: int) -> Iterator[tuple[int, str]]:
        """Yield the number and the text of each line of a chunk that begins with line `first`."""
        try:
            # Neither the chunk nor its text is copied: a single line may be a GB of JSON.
            text = str(memoryview(chunk)[: -1 if chunk.endswith(b"\n") else None], "utf-8")
            if (index := chunk.find(b"\0")) < 0:
                yield from enumerate(text.split("\n"), start=first)
                return
            problem, hint = "a NUL, which no text has", f"The file is damaged, or in UTF-16. {_UTF_16[1]}"
        except UnicodeDecodeError as error:
            index, problem = error.start, f"not UTF-8 text ({error.reason})"
            hint = _UTF_8.format("LATIN1")
        line = first + chunk.count(b"\n", 0, index)
        raise InputError(problem, where=self.location(line), hint=hint)

    def location(self, line: int | None) -> str:
        """Format ``file:line`` for an error message; only the file without a line number."""
        return f"{self.path}" if line is None else f"{self.path}:{line}"


def _state_of(files: Iterable[Path]) -> dict[Path, tuple[int, int, int]]:
    states = ((path, path.stat()) for path in files)
    return {path: (state.st_size, state.st_mtime_ns, state.st_ino) for path, state in states}


def _type_of(path: Path) -> str | None:
    with path.open("rb") as file:
        first = file.read(5)
    return next((name for magic, name in _TYPES.items() if first.startswith(magic)), None)


def parquet_parts(folder: Path) -> list[Path]:
    """List the parts of a folder that is one Parquet table, as Spark and Hive write it; else empty.

    Such a folder has only Parquet files, beside names that begin with ``.`` or ``_``. The files are called
    ``part-…`` or ``000000_0``, or lie in folders ``key=value``, or beside a file ``_SUCCESS``.
    """
    entries = sorted(folder.iterdir())
    visible = [entry for entry in entries if not entry.name.startswith((".", "_"))]
    is_written = any(entry.name in ("_SUCCESS", "_temporary") for entry in entries)
    parts: list[Path] = []
    for entry in visible:
        is_part = is_written or "=" in folder.name or re.match(_PART, entry.name)
        entry_parts = parquet_parts(entry) if entry.is_dir() and "=" in entry.name else []
        if entry.is_file() and is_part and _type_of(entry) == "Parquet":
            entry_parts = [entry]
        if not entry_parts:
            return []
        parts += entry_parts
    if parts and Path(folder, "_temporary") in entries:
        problem = "the parts of this folder are still being written, or their job failed (found _temporary)"
        raise InputError(problem, where=str(folder))
    return parts


_PART = r"part[-.]\d|\d{6}_\d"


def cache_by_mtime(read: Callable[[Path], T]) -> Callable[[Path], T]:
    """Cache a function that reads a file, until the file changes."""
    read_version = lru_cache(lambda path, *_: read(path))

    def read_cached(path: Path) -> T:
        status = path.stat()
        return read_version(path, status.st_mtime_ns, status.st_size, status.st_ino)

    return read_cached
