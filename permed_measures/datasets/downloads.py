"""The files that are downloaded: from where, by which hash, and what to do if that fails."""

from __future__ import annotations

import glob
import hashlib
import os
import threading
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from permed_measures.errors import InputError

CLPR = "https://raw.githubusercontent.com/kcisgroup/CLPR/c61fd8b64fca3f7eb2c1267dad9cc526c708d58e/data"
"""The repository of MedCorpus and of the labels of LitSearch that are used with it, at one commit."""

LITSEARCH = (
    "https://huggingface.co/datasets/princeton-nlp/LitSearch/resolve/9573fb284a1026c998df47024b888a163f0f0e25"
)
"""The official data set of LitSearch, at one commit."""

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
            Download([HttpDownload(self.url, self.size)], part).path()
            if difference := self._difference(part):
                raise OSError(difference)
            part.replace(path)
        except (OSError, RuntimeError) as error:
            raise InputError(
                f"{self.url} cannot be downloaded ({str(error) or type(error).__name__:.200})",
                where=str(path),
                hint=f"Check the network, or download it by hand and put it at {path} (its SHA-256 is "
                f"{self.sha256})",
            ) from error
        finally:
            part.unlink(missing_ok=True)

    def _difference(self, path: Path) -> str:
        """Return how a file differs from the published one; empty if it does not."""
        status = path.stat()
        if status.st_size != self.size:
            return f"it has {status.st_size:,} bytes in place of {self.size:,}"
        found = _sha256(path, status.st_mtime_ns, status.st_ino)
        return "" if found == self.sha256 else f"its SHA-256 is {found} in place of {self.sha256}"


@lru_cache(maxsize=32)
def _sha256(path: Path, *_: int) -> str:
    """Return the hash of a file, which is read again only if it has changed."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _remove_abandoned(path: Path) -> None:
    """Remove what killed processes have left of this download."""
    for part in path.parent.glob(f".{glob.escape(path.name)}.*.part*"):
        try:
            if time.time() - part.stat().st_mtime > _ABANDONED:
                part.unlink()
        except FileNotFoundError:  # another process was faster
            continue


MEDCORPUS_QUERIES = RemoteFile(
    "medcorpus/queries.jsonl",
    f"{CLPR}/MedCorpus_MultiTurn/queries.jsonl",
    1_184_562,
    "4ad7b0c01cb233bc75e5c3ab56c77c2667aa7cba8a37bbcdecf978cf14a42f69",
)
MEDCORPUS_LABELS = RemoteFile(
    "medcorpus/query_to_texts.jsonl",
    f"{CLPR}/MedCorpus_MultiTurn/query_to_texts.jsonl",
    2_853_393,
    "4c6b2d10b955dd47a409ad4fcf31fb5f3242064eec5e38cf45ab37e434722f4c",
)
LITSEARCH_QUERIES = RemoteFile(
    "litsearch/queries.jsonl",
    f"{CLPR}/LitSearch/queries.jsonl",
    102_711,
    "c0dd677bafd9051b0775a3fb2aabf5acdbd9669210a2835a81ef2181b4ab6691",
)
LITSEARCH_LABELS = RemoteFile(
    "litsearch/query_to_texts.jsonl",
    f"{CLPR}/LitSearch/query_to_texts.jsonl",
    29_529,
    "f37f4e8dc53aee794dd928e011a9e7d8b7cee544f7b5b71a2714cad5795f9b9b",
)

_LITSEARCH_FILES = {
    "query": {
        "query/full-00000-of-00001.parquet": (
            50_621,
            "38cdbe4a6b7a7f5776d08055bfbf6e4511000aa2a523866592b4bb273388b914",
        )
    },
    "corpus_clean": {
        f"corpus_clean/full-{part:05}-of-00006.parquet": pin
        for part, pin in enumerate(
            [
                (275_244_429, "f0477a38be6f83a87ac76e76c5c6fa9dd590c7e388bd0c9cf3a602b909e52d86"),
                (195_618_564, "a82e002f8423e4c150b2e07bc983bc25425baa90af4dd2b9877e54617ace5beb"),
                (194_994_867, "30ee83c73f547e9dc841e74f9f88e3f132018599bd3c04c2e06ad69750a54cd0"),
                (198_835_360, "bbc5b74d533e6d978a7621724864c24aa8a2e9c1ec7d1ace51f6c4ad7e62d9f6"),
                (194_313_426, "c9c110a457efe2553f90ff1a4419c1f4a6a50a8b49bce47bf89ff01b7871d6ad"),
                (198_077_458, "38d333622bd085d623c306c31a871b9d19c80230b28eeb9f0aaa555acc6e674a"),
            ]
        )
    },
}
"""Size and SHA-256 of each Parquet file of LitSearch, by configuration, as Hugging Face shows them.

The last part is pinned as its copy under refs/convert/parquet, where the other parts are the same files.
"""


def official_litsearch(configuration: str, *, download: bool = True) -> list[Path]:
    """Return the Parquet files of a configuration of princeton-nlp/LitSearch, 'query' or 'corpus_clean'.

    The environment variable PERMED_LITSEARCH_DIR may name a URL that they are below; such a mirror must have
    the very same files, by size and hash. It may also name a folder: its files may be split otherwise, and
    are not checked by hash. Without `download` the list is empty if they are not on this machine.
    """
    source = os.environ.get("PERMED_LITSEARCH_DIR", "")
    if source and "://" not in source:
        return _in_folder(Path(source), configuration, required=download)
    base = source.rstrip("/") or LITSEARCH
    files = [
        RemoteFile(f"litsearch/{name}", f"{base}/{name}", *pin)
        for name, pin in _LITSEARCH_FILES[configuration].items()
    ]
    if not download and not all(file.cache_path().exists() for file in files):
        return []
    return [file.path() for file in files]


def _in_folder(folder: Path, configuration: str, *, required: bool) -> list[Path]:
    """Return the files in the folder of the configuration, or beside each other with its name."""
    for pattern in (f"{configuration}/*.parquet", f"{configuration}*.parquet"):
        found = sorted(folder.glob(pattern))
        if found:
            return found
    if not required and any(folder.glob("**/*.parquet")):
        return []
    raise InputError(
        f"no Parquet files {configuration}/*.parquet or {configuration}*.parquet in this folder",
        where=str(folder),
        hint="Let PERMED_LITSEARCH_DIR name the folder that holds the files of princeton-nlp/LitSearch",
    )
