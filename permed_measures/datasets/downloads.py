"""The files that are downloaded: from where, by which hash, and what to do if that fails."""

from __future__ import annotations

import hashlib
import os
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

import ir_datasets
from ir_datasets.util import Download, RequestsDownload

from permed_measures.errors import InputError, reason_of
from permed_measures.files.sources import cached

_HUB = "https://huggingface.co"


def home() -> Path:
    """Return the folder of ir_datasets, where downloaded files are kept."""
    return Path(ir_datasets.util.home_path())


@dataclass(frozen=True)
class RemoteFile:
    """A file that is downloaded when it is first needed, and then kept in ir_datasets' folder.

    ir_datasets downloads it, and tries again where the network fails. Size and hash are checked after the
    download, and once in each process that uses the file. The environment variable ``HF_ENDPOINT`` may name a
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
        url = self.url.replace(_HUB, (os.environ.get("HF_ENDPOINT") or _HUB).rstrip("/"))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".download-", dir=path.parent) as folder:
                part = Path(folder, path.name)
                Download([RequestsDownload(url)], cache_path=str(part), size_hint=self.size).path()
                if difference := self._difference(part):
                    raise OSError(difference)
                part.replace(path)
        except (OSError, RuntimeError) as error:  # those of requests; too little space
            raise InputError(
                f"{url} cannot be downloaded ({reason_of(error)})",
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


@cached
def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


_PINS = tomllib.loads(Path(__file__).with_name("downloads.toml").read_text("utf-8"))

FILES = {name: RemoteFile(name, **pin) for name, pin in _PINS.items()}
"""The files that are downloaded, by where they are kept."""


def files_of(folder: str) -> list[RemoteFile]:
    """Return the files that are kept in a folder of ir_datasets' folder."""
    return [file for name, file in FILES.items() if name.startswith(f"{folder}/")]
