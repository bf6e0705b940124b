"""The files that are downloaded: from where, by which hash, and what to do if that fails."""

from __future__ import annotations

import hashlib
import os
import threading
from dataclasses import dataclass
from pathlib import Path

from permed_measures.errors import InputError

__all__ = [
    "LITSEARCH_LABELS",
    "LITSEARCH_QUERIES",
    "MEDCORPUS_LABELS",
    "MEDCORPUS_QUERIES",
    "RemoteFile",
    "home",
    "official_litsearch",
]

CLPR = "https://raw.githubusercontent.com/kcisgroup/CLPR/c61fd8b64fca3f7eb2c1267dad9cc526c708d58e"
"""The repository of MedCorpus and of the labels of LitSearch that are used with it, at one commit."""

LITSEARCH = (
    "https://huggingface.co/datasets/princeton-nlp/LitSearch/resolve/9573fb284a1026c998df47024b888a163f0f0e25"
)
"""The official data set of LitSearch, at one commit."""

_PARQUET = b"PAR1"


def home() -> Path:
    """Return the folder of ir_datasets, where downloaded files are kept."""
    import ir_datasets

    return Path(ir_datasets.util.home_path())


@dataclass(frozen=True)
class RemoteFile:
    """A file that is downloaded when it is first needed, and then kept in ir_datasets' folder.

    Attributes
    ----------
    name : str
        Where it is kept, from ir_datasets' folder.
    url : str
    md5 : str or None
        The hash that it must have; a Parquet file without one must be whole.
    """

    name: str
    url: str
    md5: str | None = None

    def place(self) -> Path:
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
        place = self.place()
        if not place.exists():
            self._download(place)
        wrong = self._wrong(place)
        if wrong:
            raise InputError(
                f"{wrong}, so this is not the file that was published, or not all of it",
                where=str(place),
                hint=f"Delete it, so that it is downloaded again, or put the file from {self.url} there",
            )
        return place

    def _download(self, place: Path) -> None:
        from ir_datasets.util import Download, RequestsDownload

        place.parent.mkdir(parents=True, exist_ok=True)
        part = place.with_name(f"{place.name}.{os.getpid()}-{threading.get_ident()}.part")  # nobody else's
        try:
            Download([RequestsDownload(self.url)], part, expected_md5=self.md5).path()
            if wrong := self._wrong(part):
                raise OSError(wrong)
            part.replace(place)
        except (OSError, RuntimeError) as error:
            md5 = f" (its md5 is {self.md5})" if self.md5 else ""
            raise InputError(
                f"{self.url} cannot be downloaded ({str(error) or type(error).__name__:.200})",
                where=str(place),
                hint=f"Check the network, or download it by hand and put it at {place}{md5}",
            ) from error
        finally:
            part.unlink(missing_ok=True)

    def _wrong(self, path: Path) -> str:
        """Return what is wrong with the file; empty if nothing is."""
        if self.md5 is None:
            with path.open("rb") as file:
                begin = file.read(4)
                file.seek(-min(4, path.stat().st_size), os.SEEK_END)
                whole = begin == file.read(4) == _PARQUET
            return "" if whole else "a Parquet file must begin and end with PAR1"
        found = hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()
        return "" if found == self.md5 else f"the md5 must be {self.md5} (found {found})"


def _clpr(name: str, path: str, md5: str) -> RemoteFile:
    return RemoteFile(name, f"{CLPR}/{path}", md5)


MEDCORPUS_QUERIES = _clpr(
    "medcorpus/queries.jsonl",
    "data/MedCorpus_MultiTurn/queries.jsonl",
    "4255ce6b6f79f077aa039befd167b887",
)
MEDCORPUS_LABELS = _clpr(
    "medcorpus/query_to_texts.jsonl",
    "data/MedCorpus_MultiTurn/query_to_texts.jsonl",
    "c14c7fef1be5dbad34a219bc0bf71674",
)
LITSEARCH_QUERIES = _clpr(
    "litsearch/queries.jsonl", "data/LitSearch/queries.jsonl", "5e91941c4d7e4321f7a1bc95592d42ad"
)
LITSEARCH_LABELS = _clpr(
    "litsearch/query_to_texts.jsonl",
    "data/LitSearch/query_to_texts.jsonl",
    "50229647df51ed2dca80a6eb2790ae16",
)

_CONFIGURATIONS = {
    "query": ["query/full-00000-of-00001.parquet"],
    "corpus_clean": [f"corpus_clean/full-{part:05}-of-00006.parquet" for part in range(6)],
}


def official_litsearch(configuration: str, *, download: bool = True) -> list[Path]:
    """Return the Parquet files of a configuration of princeton-nlp/LitSearch, 'query' or 'corpus_clean'.

    The environment variable PERMED_LITSEARCH_DIR may name the folder that holds them, or a URL below which
    they are. Without `download` the list is empty if they are not on this machine.
    """
    source = os.environ.get("PERMED_LITSEARCH_DIR", "")
    if source and "://" not in source:
        return _in_folder(Path(source), configuration, required=download)
    base = source.rstrip("/") or LITSEARCH
    remote = [RemoteFile(f"litsearch/{name}", f"{base}/{name}") for name in _CONFIGURATIONS[configuration]]
    if not download and not all(file.place().exists() for file in remote):
        return []
    return [file.path() for file in remote]


def _in_folder(folder: Path, configuration: str, *, required: bool) -> list[Path]:
    """Return the files in the folder of the configuration, or beside each other with its name."""
    for pattern in (f"{configuration}/*.parquet", f"{configuration}*.parquet"):
        found = sorted(folder.glob(pattern))
        if found:
            return found
    if not required and any(folder.glob("**/*.parquet")):
        return []
    raise InputError(
        f"there must be Parquet files {configuration}/*.parquet or {configuration}*.parquet (found none)",
        where=str(folder),
        hint="Let PERMED_LITSEARCH_DIR name the folder that holds the files of princeton-nlp/LitSearch",
    )
