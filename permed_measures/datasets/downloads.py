"""The files that are downloaded: from where, by which hash, and what to do if that fails."""

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
from permed_measures.escaping import pluralize
from permed_measures.inputs.sources import cache_by_mtime
from permed_measures.progress import DELAY

_HUB = "https://huggingface.co"


def home() -> Path:
    """Return the folder of ir_datasets, where downloaded files are kept."""
    import ir_datasets  # whose import loads the catalogue, which needs this module as a whole

    return Path(ir_datasets.util.home_path())


@dataclass(frozen=True)
class RemoteFile:
    """A file that is downloaded when it is first needed, and then kept in ir_datasets' folder.

    ir_datasets downloads it, and tries again where the network fails. Size and hash are checked after the
    download, and once in each process that uses the file. Of several processes that need it at once, one
    downloads it, and the others wait. The environment variable ``HF_ENDPOINT`` may name a
    mirror of huggingface.co, as its own library has it.

    Attributes
    ----------
    name : str
        Where it is kept, from ir_datasets' folder.
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
        """Return where the file is or will be."""
        return home() / self.name

    def path(self) -> Path:
        """Return the file; it is downloaded if it is not there.

        Raises
        ------
        InputError
            If it cannot be downloaded, or is not the right file; the message names the file, where to put it
            and its hash.
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
        """Download the file, unless another process does: then wait for that one."""
        if not _MAY_DOWNLOAD.get():
            raise _not_here(f"{self.name} is", str(path))
        url = self.url.replace(_HUB, (os.environ.get("HF_ENDPOINT") or _HUB).rstrip("/"))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with _alone(path):
                if not path.exists():  # another process may have put it there by now
                    self._fetch(url, path)
        except (OSError, RuntimeError) as error:  # those of requests; too little space
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
        """Download the file into a folder beside its place, check it, and put it there."""
        from ir_datasets.util import Download

        with tempfile.TemporaryDirectory(prefix=".download-", dir=path.parent) as folder:
            part = Path(folder, path.name)
            Download([_source(url)], cache_path=str(part), size_hint=self.size).path()
            if difference := self._difference(part):
                raise OSError(difference)
            _put(part, path)

    def _difference(self, path: Path) -> str:
        """Return how a file differs from the published one; empty if it does not."""
        if (size := path.stat().st_size) != self.size:
            return f"it has {size:,} bytes in place of {self.size:,}"
        found = _sha256(path)
        return "" if found == self.sha256 else f"its SHA-256 is {found} in place of {self.sha256}"


@cache_by_mtime
def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


_PINS = tomllib.loads(Path(__file__).with_name("downloads.toml").read_text("utf-8"))

REMOTE_FILES = {name: RemoteFile(name, **pin) for name, pin in _PINS.items()}
"""The files that are downloaded, by where they are kept."""


def files_of(folder: str) -> list[RemoteFile]:
    """Return the files that are kept in a folder of ir_datasets' folder."""
    return [file for name, file in REMOTE_FILES.items() if name.startswith(f"{folder}/")]


# --- several processes at once -----------------------------------------------------------------------

_LONGEST_WAIT = 600.0
"""After how many seconds a process that waits for another one downloads a file itself."""
_EACH_WAIT = 0.1
"""How many seconds pass between two looks at the lock."""


def _source(url: str) -> Any:
    """Return ir_datasets' download of an address, where an error that the server answers is no content."""
    from ir_datasets.util import RequestsDownload

    class Source(RequestsDownload):  # type: ignore[misc]
        def _iter_response_data(self, response: Any, *rest: Any) -> Any:
            response.raise_for_status()
            return super()._iter_response_data(response, *rest)

    return Source(url)


def _put(part: Path, path: Path) -> None:
    """Put a complete file in its place; a file that stands there is kept, since others may read it."""
    try:
        os.link(part, path)
    except FileExistsError:
        pass
    except OSError:  # this file system has no hard links
        if not path.exists():
            part.replace(path)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Let one process at a time download a file; the others wait, but at most `_LONGEST_WAIT` seconds.

    The lock is one of the system, and ends with the process that holds it, however that ends. Where the
    system has none (on Windows, in some network file systems) nobody waits: each process downloads the file,
    and the first that has it puts it there.
    """
    lock = path.with_name(f".{path.name}.lock")
    descriptor = _acquired(lock, path)
    try:
        yield
    finally:
        if descriptor is not None:
            with suppress(OSError):
                lock.unlink()  # while nobody else has it
            os.close(descriptor)


def _acquired(lock: Path, path: Path) -> int | None:
    """Return the descriptor of a lock file that is locked; None if it cannot be locked, or not in time."""
    began, is_said = time.monotonic(), False
    while (waited := time.monotonic() - began) < _LONGEST_WAIT:
        try:
            return _lock(lock)
        except BlockingIOError:
            if waited >= DELAY and not is_said:
                is_said = True
                longest = pluralize(round(_LONGEST_WAIT / 60), "minute")
                problem = f"{path}: another process downloads this file; waiting for it, at most {longest}"
                warn(problem, path=path)
            time.sleep(_EACH_WAIT)
        except OSError:
            break
    return None


def _lock(lock: Path) -> int:
    """Return the descriptor of a lock file that is locked; raise BlockingIOError if another one has it."""
    if sys.platform == "win32":
        raise OSError("there is no flock")
    import fcntl

    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Who had it has removed the file by now, and a third process may have made another one.
        if not os.path.samestat(os.fstat(descriptor), lock.stat()):
            raise BlockingIOError
    except (BlockingIOError, FileNotFoundError):
        os.close(descriptor)
        raise BlockingIOError from None
    except OSError:  # there are no locks
        os.close(descriptor)
        lock.unlink(missing_ok=True)
        raise
    return descriptor


# --- nothing may be downloaded -----------------------------------------------------------------------

_MAY_DOWNLOAD = ContextVar("may files be downloaded", default=True)


def _not_here(what: str, where: str = "") -> InputError:
    problem = f"{what} not on this machine, and nothing that a record names is downloaded unasked"
    hint = "Allow it: --download, in Python download=True; or name the qrels: --qrels QRELS"
    return InputError(problem, where=where, hint=hint)


@contextmanager
def without_downloads(name: str) -> Iterator[None]:
    """Raise InputError where the qrels of a data set, read in this block, would have to be downloaded."""
    if _is_list_missing(name) or _is_missing(load(name).qrels_handler(), set()):
        raise _not_here(f"the data set {name!r} is")
    token = _MAY_DOWNLOAD.set(False)
    try:
        yield
    finally:
        _MAY_DOWNLOAD.reset(token)


def _is_list_missing(name: str) -> bool:
    """Return whether ir_datasets would download the list of a family of data sets to load one by its id.

    It knows most data sets without a list; those of clirmatrix are too many.
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
    """Return whether what ir_datasets reads begins with a download that was not made.

    Its files are objects that hold each other: what is unpacked holds the archive, the archive its addresses.
    """
    from ir_datasets.util import Download, DownloadConfig
    from ir_datasets.util.download import LocalDownload

    if id(part) in seen or isinstance(part, (str, bytes, Path, type)) or part is None:
        return False
    seen.add(id(part))
    if isinstance(part, (list, tuple, dict)):
        return any(_is_missing(each, seen) for each in (part.values() if isinstance(part, dict) else part))
    inside = getattr(part, "__dict__", {})
    kept = (inside.get(name) for name in ("_cache_path", "_path", "_extract_path", "extract_path"))
    if not type(part).__module__.startswith("ir_datasets.") or any(
        each is not None and Path(each).is_absolute() and Path(each).exists() for each in kept
    ):
        return False
    if isinstance(part, type(DownloadConfig)):  # downloads by name, made when they are asked for
        return True
    if isinstance(part, Download):
        return not any(isinstance(each, LocalDownload) and each.path(False).exists() for each in part.mirrors)
    return any(_is_missing(each, seen) for each in inside.values())
