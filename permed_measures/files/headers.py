"""What a file says of itself: the name of its format, and the ir_metadata of a run."""

from __future__ import annotations

from permed_measures.files.formats import Kind
from permed_measures.files.sources import HEAD, Source
from permed_measures.files.text import TextFile

_START, _END = "ir_metadata.start", "ir_metadata.end"


def format_name(source: Source, kind: Kind) -> str:
    """Return the name of the format of a file."""
    return "Parquet" if source.is_parquet else TextFile.recognised(source, kind).format.name


def ir_metadata_of(source: Source) -> list[str]:
    """Return the lines of the ir_metadata header of a TREC run; empty if it has none.

    The header (Breuer, Keller and Schaer, SIGIR 2022) is YAML in comments at the start of the run, between
    ``ir_metadata.start`` and ``ir_metadata.end``.
    """
    header: list[str] | None = None
    for _, line in () if source.is_parquet else source.lines(HEAD):
        if not line.startswith("#"):
            break
        content = line[1:].removeprefix(" ").rstrip()
        if content == _END:
            return header or []
        if header is not None:
            header.append(content)
        elif content == _START:
            header = []
    return []
