"""Writing judgments and runs: each file whole or not at all, and so that it reads back exactly."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

from permed_measures.engine.forms import as_mapping, with_string_ids
from permed_measures.engine.inputs import QrelsLike, RunLike, location, number
from permed_measures.errors import InputError
from permed_measures.files.output_formats import WRITERS, Output
from permed_measures.files.whole import write_whole

FORMATS = tuple(WRITERS)
"""The formats that can be written, by the ending of the file."""


def write_run(
    run: RunLike, path: str | os.PathLike[str], *, tag: str = "permed-measures", to: str | None = None
) -> None:
    """Write a run as a file; the file is written whole or not at all.

    Parameters
    ----------
    run : any form of a run
    path : str or path-like
        Its ending chooses the format: ``.jsonl`` PerMed results, ``.json`` BEIR and MTEB results,
        ``.csv`` and ``.tsv`` with a header; ``.trec``, ``.run``, ``.res``, ``.txt``, ``.qrels`` or none a
        TREC run. It is compressed if ``.gz`` follows.
    tag : str, default 'permed-measures'
        The name of the run, the last column of a TREC run.
    to : {'trec', 'jsonl', 'json', 'csv', 'tsv'}, optional
        The format, whatever the ending of `path`.

    Raises
    ------
    InputError
        For an ending that means no format; for what the format cannot hold (an id or tag that is empty or
        has white space in a TREC file, an infinite score in JSON), a score that is not a number, a run
        without queries in a file that would then be empty; the message names query and document.
    OSError
        If the file cannot be written.

    Warns
    -----
    PermedWarning
        If queries have no documents, and are left out of a file that has a row per document. They score 0
        all the same.

    Notes
    -----
    Scores are written so that they read back exactly. TREC and JSONL files have the best document first.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_run({"q": {"b": 0.5, "a": 2}}, f"{folder}/run", tag="mine")
    ...     print(Path(f"{folder}/run").read_text(), end="")
    ...     write_run({"q": {"b": 0.5, "a": 2}}, f"{folder}/run.json")
    ...     print(Path(f"{folder}/run.json").read_text(), end="")
    q Q0 a 1 2.0 mine
    q Q0 b 2 0.5 mine
    {"q": {"b": 0.5, "a": 2.0}}
    """
    _write(Output(Path(path), "score", tag), run, to)


def write_qrels(qrels: QrelsLike, path: str | os.PathLike[str], *, to: str | None = None) -> None:
    """Write judgments as a file; the file is written whole or not at all.

    Parameters
    ----------
    qrels : any form of qrels
    path, to
        As for `write_run`, but ``.jsonl`` is PerMed ground truth, if all grades are 1; ``.json`` as BEIR
        has them in memory; ``.tsv`` BEIR qrels.

    Raises
    ------
    InputError
        For what the format cannot hold: a query without judgments in a file that has a row per judgment, an
        id that is empty or has white space in a TREC file, grades in JSON that are not integers, or in
        JSONL that are not 1; and for a relevance that is not a number.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_qrels({"topic_001_1": {"a": 2, "b": 0}}, f"{folder}/qrels.csv")
    ...     print(Path(f"{folder}/qrels.csv").read_text(), end="")
    query_id,doc_id,relevance
    topic_001_1,a,2
    topic_001_1,b,0
    """
    _write(Output(Path(path), "relevance"), qrels, to)


def _write(output: Output, data: Any, to: str | None) -> None:
    """Write in the format that the ending of the file means, unless `to` names one."""
    suffix = output.path.suffix.lower()
    name = _format_of(output) if to is None else to
    if name not in FORMATS:
        raise InputError(f"a format must be one of {', '.join(FORMATS)} (found {name!r})")
    if suffix == ".zst":
        raise output.error("files are compressed as .gz only", "Choose another ending")
    content = _encoded(output, name, data)
    write_whole(output.path, gzip.compress(content, mtime=0) if suffix == ".gz" else content)


def _format_of(output: Output) -> str:
    """Return the format that the ending of the file means."""
    path = output.path
    ending = Path(path.stem if path.suffix.lower() in (".gz", ".zst") else path).suffix.lower()
    if ending[1:] in FORMATS:
        return ending[1:]
    if ending in _TREC_ENDINGS:
        return "trec"
    known = f"{', '.join(f'.{name}' for name in FORMATS)}, and for TREC {', '.join(_TREC_ENDINGS[1:])}"
    raise output.error(
        f"the ending {ending!r} means no format; known are {known}",
        "Choose another, or name the format: --to trec on the command line, to='trec' in Python",
    )


_TREC_ENDINGS = ("", ".run", ".res", ".txt", ".qrels", ".qrel")
"""Of TREC files, besides .trec; most have none."""


def _encoded(output: Output, name: str, data: Any) -> bytes:
    text = WRITERS[name](output, _checked(output, data))
    if not text:
        raise output.error("without any query the file would be empty", "Write .json or .csv")
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise output.error(f"ids must be Unicode text (found {error.object[error.start]!r})") from None


def _checked(output: Output, data: Any) -> dict[str, dict[str, float]]:
    """Return the data with text ids and checked numbers."""
    nested: dict[str, dict[str, float]] = {}
    for query_id, documents in with_string_ids(as_mapping(data, output.value), "query ids").items():
        named = with_string_ids(documents, "document ids", query_id=query_id)
        for doc_id, value in named.items():
            number(value, output.value, where=location(query_id, doc_id))
        nested[query_id] = {
            d: float(value) if output.is_run or value != int(value) else int(value)
            for d, value in named.items()
        }
    return nested
