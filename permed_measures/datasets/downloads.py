"""Download the files of data sets, and check their hashes; an error explains how to get a file by hand."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from permed_measures.datasets import load
from permed_measures.errors import InputError, cache_dir_error, reason_of, warn
from permed_measures.inputs.sources import cache_by_mtime
from permed_measures.progress import DELAY
from permed_measures.wording import pluralize

_HUB = "https://huggingface.co"


def home() -> Path:
    """Return the folder of ir_datasets, which keeps downloaded files."""
    import ir_datasets  # here: its import loads the catalogue, which needs all of this module

    return Path(ir_datasets.util.home_path())


@dataclass(frozen=True)
class RemoteFile:
    """A file that is downloaded on first use, and then kept in ir_datasets' folder.

    ir_datasets downloads the file, and tries again after network errors. Size and hash are checked after the
    download, and once in each process that uses the file. If several processes need the file at once, one
    downloads it, and the others wait. The environment variable ``HF_ENDPOINT`` may name a mirror of
    huggingface.co, as for the library huggingface_hub.

    Attributes
    ----------
    name : str
        The path of the file within ir_datasets' folder.
    url : str
    size : int
        In bytes.
    sha256 : str
    """

    name: str
    url: str
    size: int
    sha256: str

    def cache_path(self) -> Path:
        """Return the path of the file, downloaded or not."""
        return home() / self.name

    def path(self) -> Path:
        """Return the path of the file; download it if it is missing.

        Raises
        ------
        InputError
            If the file cannot be downloaded, or is not the published one; the message names the address, the
            path and (after a failed download) the hash.
        """
        path = self.cache_path()
        if not path.exists():
            self._download(path)
        if difference := self._difference(path):
            raise InputError(
                f"this is not the published file, or not all of it: {difference}",
                where=str(path),
                hint=f"Delete it, so that it is downloaded again, or put the file from {self.url} there",
            )
        return path

    def _download(self, path: Path) -> None:
        """Download the file; if another process does so already, wait for it."""
        if not _MAY_DOWNLOAD.get():
            raise _not_here(f"{self.name} is", str(path))
        url = self.url.replace(_HUB, (os.environ.get("HF_ENDPOINT") or _HUB).rstrip("/"))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with _alone(path):
                if not path.exists():  # another process may have downloaded it meanwhile
                    self._fetch(url, path)
        except (OSError, RuntimeError) as error:  # errors of requests, or a full disk
            if getattr(error, "filename", None):
                raise cache_dir_error(error) from error
            answered = getattr(error, "response", None) is not None
            raise InputError(
                f"{url} cannot be downloaded ({reason_of(error)})",
                where=str(path),
                hint=f"{'Try it later' if answered else 'Check the network'}, or download it by hand and put "
                f"it there (its SHA-256 is {self.sha256})",
            ) from error

    def _fetch(self, url: str, path: Path) -> None:
        """Download the file into a temporary folder beside `path`, check it, and move it to `path`."""
        from ir_datasets.util import Download

        with tempfile.TemporaryDirectory(prefix=".download-", dir=path.parent) as folder:
            part = Path(folder, path.name)
            Download([_source(url)], cache_path=str(part), size_hint=self.size).path()
            if difference := self._difference(part):
                raise OSError(difference)
            _put(part, path)

    def _difference(self, path: Path) -> str:
        """Describe how a file differs from the published one; empty if it does not."""
        if (size := path.stat().st_size) != self.size:
            return f"it has {size:,} bytes in place of {self.size:,}"
        sha256 = _sha256(path)
        return "" if sha256 == self.sha256 else f"its SHA-256 is {sha256} in place of {self.sha256}"


@cache_by_mtime
def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


_PINS = tomllib.loads(Path(__file__).with_name("downloads.toml").read_text("utf-8"))

REMOTE_FILES = {name: RemoteFile(name, **pin) for name, pin in _PINS.items()}
"""The downloadable files, by their path within ir_datasets' folder."""


def files_of(folder: str) -> list[RemoteFile]:
    """List the files in a folder within ir_datasets' folder."""
    return [file for name, file in REMOTE_FILES.items() if name.startswith(f"{folder}/")]


# --- several processes at once -----------------------------------------------------------------------

_LONGEST_WAIT = 600.0
"""Seconds after which a waiting process downloads the file itself."""
_EACH_WAIT = 0.1
"""Seconds between two attempts to get the lock."""


def _source(url: str) -> Any:
    """Create ir_datasets' download of an address; unlike its own, it raises an error for an HTTP error."""
    from ir_datasets.util import RequestsDownload

    class Source(RequestsDownload):  # type: ignore[misc]
        def _iter_response_data(self, response: Any, *rest: Any) -> Any:
            response.raise_for_status()
            return super()._iter_response_data(response, *rest)

    return Source(url)


def _put(part: Path, path: Path) -> None:
    """Move a complete file to `path`; keep a file that is already there, as other processes may read it."""
    try:
        os.link(part, path)
    except FileExistsError:
        pass
    except OSError:  # this file system has no hard links
        if not path.exists():
            part.replace(path)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Let one process at a time download a file; the others wait, at most `_LONGEST_WAIT` seconds.

    The lock belongs to the operating system, and ends with the process that holds it, even after a crash.
    Without such locks (on Windows, in some network file systems) each process downloads the file, and the
    first complete one is kept.
    """
    lock = path.with_name(f".{path.name}.lock")
    descriptor = _acquired(lock, path)
    try:
        yield
    finally:
        if descriptor is not None:
            with suppress(OSError):
                lock.unlink()  # before close, while this process still holds the lock
            os.close(descriptor)


def _acquired(lock: Path, path: Path) -> int | None:
    """Lock a file, waiting if necessary; return its descriptor, None if it cannot be locked in time."""
    began, is_warned = time.monotonic(), False
    while (waited := time.monotonic() - began) < _LONGEST_WAIT:
        try:
            return _lock(lock)
        except BlockingIOError:
            if waited >= DELAY and not is_warned:
                is_warned = True
                longest = pluralize(round(_LONGEST_WAIT / 60), "minute")
                problem = f"{path}: another process downloads this file; waiting for it, at most {longest}"
                warn(problem, path=path)
            time.sleep(_EACH_WAIT)
        except OSError:
            break
    return None


def _lock(lock: Path) -> int:
    """Lock a file and return its descriptor; raise BlockingIOError if another process holds the lock."""
    if sys.platform == "win32":
        raise OSError("there is no flock")
    import fcntl

    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # The previous holder may have removed this file, and a third process created a new one.
        if not os.path.samestat(os.fstat(descriptor), lock.stat()):
            raise BlockingIOError
    except (BlockingIOError, FileNotFoundError):
        os.close(descriptor)
        raise BlockingIOError from None
    except OSError:  # the file system has no locks
        os.close(descriptor)
        lock.unlink(missing_ok=True)
        raise
    return descriptor


# --- without downloads -------------------------------------------------------------------------------

_MAY_DOWNLOAD = ContextVar("may files be downloaded", default=True)


def _not_here(what: str, where: str = "") -> InputError:
    problem = f"{what} not on this machine, and nothing that a record names is downloaded unasked"
    hint = "Allow it: --download, in Python download=True; or name the qrels: --qrels QRELS"
    return InputError(problem, where=where, hint=hint)


@contextmanager
def without_downloads(name: str) -> Iterator[None]:
    """Forbid downloads during the block; raise InputError if the qrels of a data set need one."""
    if _is_list_missing(name) or _is_missing(load(name).qrels_handler(), set()):
        raise _not_here(f"the data set {name!r} is")
    token = _MAY_DOWNLOAD.set(False)
    try:
        yield
    finally:
        _MAY_DOWNLOAD.reset(token)


def _is_list_missing(name: str) -> bool:
    """Check whether ir_datasets would download the list of a family of data sets to load one by its id.

    Most data sets need no list; the many of clirmatrix do.
    """
    try:
        from ir_datasets import registry
        from ir_datasets.util import DownloadConfig
    except (OSError, RuntimeError) as error:
        raise cache_dir_error(error) from None
    family = name.partition("/")[0]
    if name in registry or "downloads" not in DownloadConfig.contents().get(family, ()):
        return False
    return _is_missing(DownloadConfig.context(family, home() / family)["downloads"], set())


def _is_missing(part: Any, seen: set[int]) -> bool:
    """Check whether an object of ir_datasets depends on a file that is not downloaded yet.

    Its objects for files are nested: an unpacked file holds its archive, and the archive its addresses.
    """
    from ir_datasets.util import Download, DownloadConfig
    from ir_datasets.util.download import LocalDownload

    if id(part) in seen or isinstance(part, (str, bytes, Path, type)) or part is None:
        return False
    seen.add(id(part))
    if isinstance(part, (list, tuple, dict)):
        items = part.values() if isinstance(part, dict) else part
        return any(_is_missing(item, seen) for item in items)
    attributes = getattr(part, "__dict__", {})
    cached = (attributes.get(name) for name in ("_cache_path", "_path", "_extract_path", "extract_path"))
    if not type(part).__module__.startswith("ir_datasets.") or any(
        path is not None and Path(path).is_absolute() and Path(path).exists() for path in cached
    ):
        return False
    if isinstance(part, type(DownloadConfig)):  # a collection of downloads, which are created on access
        return True
    if isinstance(part, Download):
        return not any(
            isinstance(mirror, LocalDownload) and mirror.path(False).exists() for mirror in part.mirrors
        )
    return any(_is_missing(value, seen) for value in attributes.values())
