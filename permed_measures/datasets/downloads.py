"""The files that are downloaded: from where, by which hash, and what to do if that fails."""

from __future__ import annotations

import hashlib
import logging
import os
import sys
import tempfile
import threading
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from permed_measures.datasets.readers import cached
from permed_measures.errors import InputError, reason_of


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
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".download-", dir=path.parent) as folder:
                part = Path(folder, path.name)
                _fetch(self.url, part, self.size)
                if difference := self._difference(part):
                    raise OSError(difference)
                part.replace(path)
        except OSError as error:  # those of requests too
            raise InputError(
                f"{self.url} cannot be downloaded ({reason_of(error)})",
                where=str(path),
                hint="Check the network, or download it by hand and put it there (its SHA-256 is "
                f"{self.sha256})",
            ) from error

    def _difference(self, path: Path) -> str:
        """Return how a file differs from the published one; empty if it does not."""
        if (size := path.stat().st_size) != self.size:
            return f"it has {size:,} bytes in place of {self.size:,}"
        found = _sha256(path)
        return "" if found == self.sha256 else f"its SHA-256 is {found} in place of {self.sha256}"


def _fetch(url: str, path: Path, size: int) -> None:
    """Download a file of so many bytes; where the network fails or the server is busy, try again."""
    import requests

    n_tries = int(os.environ.get("IR_DATASETS_DL_TRIES", "3"))
    for n_failed in range(1, n_tries + 1):
        try:
            _receive(url, path, size)
            return
        except requests.RequestException as error:
            status = getattr(error.response, "status_code", None)
            if n_failed == n_tries or (status is not None and status not in _TEMPORARY):
                raise
            time.sleep(2**n_failed)


_TEMPORARY = {408, 429, 500, 502, 503, 504}
"""HTTP errors after which the same request may succeed."""
_BLOCK = 1 << 16


def _receive(url: str, path: Path, size: int) -> None:
    import ir_datasets
    import requests

    timeout = float(os.environ.get("IR_DATASETS_DL_TIMEOUT", "15"))
    is_shown = sys.stderr.isatty() and os.environ.get("IR_DATASETS_DL_DISABLE_PBAR", "").lower() != "true"
    shown = ir_datasets.log.easy().pbar_raw(
        desc=url, total=size, unit="B", unit_scale=True, leave=False, disable=not is_shown
    )
    with requests.get(url, stream=True, timeout=timeout) as response, path.open("wb") as file, shown as bar:
        if response.status_code >= 400:
            problem = f"the server answered {response.status_code} {response.reason}"
            raise requests.HTTPError(problem, response=response)
        for data in response.iter_content(_BLOCK):
            bar.update(file.write(data))
            if file.tell() > size:
                raise OSError(f"the response is larger than the published file of {size:,} bytes")


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
