"""The files that are downloaded: from where, by which hash, and what to do if that fails."""

from __future__ import annotations

import glob
import hashlib
import logging
import os
import threading
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from permed_measures.datasets.readers import cached
from permed_measures.errors import InputError, reason_of

_ABANDONED = 3600
"""Seconds after which an unfinished download that nobody has written to belongs to no running process."""


def home() -> Path:
    """Return the folder of ir_datasets, where downloaded files are kept."""
    import ir_datasets

    return Path(ir_datasets.util.home_path())


@dataclass(frozen=True)
class RemoteFile:
    """A file that is downloaded when it is first needed, and then kept in ir_datasets' folder.

    Size and hash are checked after the download, and once in each process that uses the file.

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
        from ir_datasets.util import Download

        from permed_measures.datasets.http_download import HttpDownload

        part = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.part")  # nobody else's
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _remove_abandoned(path)
            with without_logs():
                Download([HttpDownload(self.url, self.size)], part).path()
            if difference := self._difference(part):
                raise OSError(difference)
            part.replace(path)
        except (OSError, RuntimeError) as error:
            raise InputError(
                f"{self.url} cannot be downloaded ({reason_of(error)})",
                where=str(path),
                hint="Check the network, or download it by hand and put it there (its SHA-256 is "
                f"{self.sha256})",
            ) from error
        finally:
            part.unlink(missing_ok=True)

    def _difference(self, path: Path) -> str:
        """Return how a file differs from the published one; empty if it does not."""
        if (size := path.stat().st_size) != self.size:
            return f"it has {size:,} bytes in place of {self.size:,}"
        found = _sha256(path)
        return "" if found == self.sha256 else f"its SHA-256 is {found} in place of {self.sha256}"


@contextmanager
def without_logs() -> Iterator[None]:
    """Keep from stderr what ir_datasets logs about downloads in this thread: the error at the end says it."""
    thread = threading.get_ident()
    logger = logging.getLogger("ir_datasets")

    def is_told(record: logging.LogRecord) -> bool:
        return record.thread != thread or not record.getMessage().startswith(_LOGGED)

    logger.addFilter(is_told)
    try:
        yield
    finally:
        logger.removeFilter(is_told)


_LOGGED = ("Download failed", "download error", "[starting]", "[finished]", "[error]")
"""How these messages begin; others, such as the terms of use, are shown."""


@cached
def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _remove_abandoned(path: Path) -> None:
    """Remove what killed processes have left of this download."""
    for part in path.parent.glob(f".{glob.escape(path.name)}.*.part*"):
        with suppress(FileNotFoundError):  # another process was faster
            if time.time() - part.stat().st_mtime > _ABANDONED:
                part.unlink()


_PINS = tomllib.loads(Path(__file__).with_name("downloads.toml").read_text("utf-8"))

FILES = {name: RemoteFile(name, **pin) for name, pin in _PINS.items()}
"""The files that are downloaded, by where they are kept."""


def official_litsearch(configuration: str, *, download: bool = True) -> list[Path]:
    """Return the Parquet files of a configuration of princeton-nlp/LitSearch, 'query' or 'corpus_clean'.

    The environment variable PERMED_LITSEARCH_DIR may name a URL that they are below; such a mirror must have
    the very same files, by size and hash. It may also name a folder: its files may be split otherwise, and
    are not checked by hash. Without `download` the list is empty if they are not on this machine.
    """
    source = os.environ.get("PERMED_LITSEARCH_DIR", "")
    if source and "://" not in source:
        return _in_folder(Path(source), configuration, required=download)
    files = [file for name, file in FILES.items() if name.startswith(f"litsearch/{configuration}/")]
    if source:
        mirror = source.rstrip("/")
        files = [replace(file, url=f"{mirror}/{file.name.removeprefix('litsearch/')}") for file in files]
    if not download and not all(file.cache_path().exists() for file in files):
        return []
    return [file.path() for file in files]


def _in_folder(folder: Path, configuration: str, *, required: bool) -> list[Path]:
    """Return the files in the folder of the configuration, or beside each other with its name."""
    for pattern in (f"{configuration}/*.parquet", f"{configuration}*.parquet"):
        if found := sorted(folder.glob(pattern)):
            return found
    if not required and any(folder.glob("**/*.parquet")):
        return []
    raise InputError(
        f"no Parquet files {configuration}/*.parquet or {configuration}*.parquet in this folder",
        where=str(folder),
        hint="Let PERMED_LITSEARCH_DIR name the folder that holds the files of princeton-nlp/LitSearch",
    )
