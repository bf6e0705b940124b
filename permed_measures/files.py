"""Reading judgments and runs from files of any known format, and writing runs as TREC files."""

from __future__ import annotations

import gzip
import json
import os
import struct
import warnings
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from permed_measures import trec
from permed_measures.errors import InputError, PermedWarning
from permed_measures.formats import FORMATS, Format, Line, Said
from permed_measures.inputs import as_mapping, number, text_id, where

__all__ = ["Loaded", "from_relevance_lists", "load", "read_qrels", "read_run", "write_run"]

Qrels = dict[str, dict[str, float | int]]
Run = dict[str, dict[str, float]]


@dataclass(frozen=True)
class _Source:
    """A file, decompressed."""

    path: Path
    data: bytes

    @cached_property
    def lines(self) -> list[str]:
        """The lines as text."""
        try:
            text = self.data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = self.data.count(b"\n", 0, error.start) + 1
            place = f"{self.path}:{line}"
            raise InputError(f"must be UTF-8 text (found {error.reason})", where=place) from None
        return text.split("\n")

    def place(self, line: int) -> str:
        """Return ``file:line`` for the line of this index."""
        return f"{self.path}:{line + 1}"

    def content(self, comments: bool) -> Iterator[tuple[int, str]]:
        """Yield index and text of the lines that say something."""
        for index, line in enumerate(self.lines):
            text = line.strip()
            if text and not (comments and text.startswith("#")):
                yield index, text

    def first(self) -> tuple[int, str]:
        """Return index and text of the first line that says something; reads on only if need be."""
        head = _Source(self.path, self.data[:_HEAD].rpartition(b"\n")[0] or self.data)
        return next(head.content(comments=True), None) or next(self.content(comments=True), (0, ""))


_HEAD = 1 << 16


class Loaded(NamedTuple):
    """A file that was read: nested dicts (a large TREC run: a polars frame), its format, and notes."""

    table: Any
    format: Format
    notes: list[str]


# --- reading ---------------------------------------------------------------------------------------


def read_qrels(path: str | os.PathLike[str]) -> Qrels:
    """Read judgments from a file of any format that is known, told apart by its content.

    Parameters
    ----------
    path : str or path-like
        TREC qrels, MedCorpus labels, PerMed ground truth or LitSearch labels (every listed document has
        grade 1), or LitSearch results with ``corpusids``; plain, ``.gz`` or ``.zst``.

    Returns
    -------
    dict
        ``{query_id: {doc_id: relevance}}`` in the order of the file. A query with an empty list is kept.
        Query ids of MedCorpus are ``<conversation_id>_<turn_id>``.

    Raises
    ------
    InputError
        For an unknown format, a line that is not of the file's format, a relevance that is no number, a
        document judged twice for a query; the message names file and line.
    OSError
        If the file cannot be opened.

    Examples
    --------
    >>> from permed_measures.datasets import SAMPLES
    >>> qrels = read_qrels(SAMPLES[0].qrels)
    >>> len(qrels), qrels["sample_01_1"]["sample-032"]
    (48, 2)
    """
    qrels: Qrels = load(path, "qrels").table
    return qrels


def read_run(path: str | os.PathLike[str], order: str = "score") -> Run:
    """Read a run from a file of any format that is known, told apart by its content.

    Parameters
    ----------
    path : str or path-like
        A TREC run, PerMed results or LitSearch results; or MedCorpus labels, whose order is a run.
        Plain, ``.gz`` or ``.zst``.
    order : {'score', 'list'}, default 'score'
        Rank by the scores, or by the order of the list (the lines, in a TREC run). Lists without scores
        are always ranked by their order: the score is -1 for the first document, -2 for the second, …

    Returns
    -------
    dict
        ``{query_id: {doc_id: score}}`` in the order of the file.

    Raises
    ------
    InputError
        For an unknown format, a line that is not of the file's format, a score that is no number, a document
        that stands twice in a query; the message names file and line.
    OSError
        If the file cannot be opened.

    Warns
    -----
    PermedWarning
        If the scores rank a list differently from its order.

    Examples
    --------
    >>> from permed_measures.datasets import SAMPLES
    >>> run = read_run(SAMPLES[0].runs["bm25"])
    >>> len(run), len(run["sample_01_1"])
    (48, 20)
    """
    loaded = load(path, "run", order=order)
    for note in loaded.notes:
        warnings.warn(note, PermedWarning, stacklevel=2)
    return _as_run(loaded.table)


def _as_run(table: Any) -> Run:
    """Return a table as nested dicts, in the order of its rows."""
    if isinstance(table, dict):
        return table
    run: Run = {}
    columns = (table[name].to_list() for name in ("query_id", "doc_id", "score"))
    for query_id, doc_id, score in zip(*columns, strict=True):
        run.setdefault(query_id, {})[doc_id] = score
    return run


def load(path: str | os.PathLike[str], wanted: str, *, order: str = "score") -> Loaded:
    """Read a file as `wanted`, 'qrels' or 'run'; see `read_qrels` and `read_run`."""
    if order not in ("score", "list"):
        raise InputError(f"order must be 'score' or 'list' (found {order!r})")
    source = _Source(Path(path), _read(Path(path)))
    format_ = _recognise(source, wanted)
    if format_.name == "TREC run" and order == "score" and len(source.data) >= trec.LARGE:
        frame = trec.read_trec_run_frame(source.data)
        if frame is not None:
            return Loaded(frame, format_, [])
    table: dict[str, dict[str, Any]] = {}
    for index, line in _parsed(source, format_, wanted):
        _collect(table, line, source, index, format_, wanted)
    if wanted == "qrels":
        return Loaded(table, format_, [])
    notes = _score_by_order(table, source, force=order == "list", lists=format_.lists)
    return Loaded(table, format_, notes)


def _read(path: Path) -> bytes:
    """Return the content of a file, decompressed if its first bytes say that it is compressed."""
    data = path.read_bytes()
    for start, name, decompress in (
        (b"\x28\xb5\x2f\xfd", "zstd", _unzstd),
        (b"\x1f\x8b", "gzip", gzip.decompress),
    ):
        if data.startswith(start):
            try:
                return decompress(data)
            except (OSError, EOFError, zlib.error) as error:
                raise InputError(f"cannot be decompressed as {name} ({error})", where=str(path)) from None
    return data


def _unzstd(data: bytes) -> bytes:
    """Return zstd data decompressed: polars does it, as if it were a table of one column."""
    import polars as pl

    try:
        frame = pl.read_csv(data, has_header=False, separator="\x01", quote_char=None, infer_schema=False)
    except pl.exceptions.PolarsError as error:
        raise OSError(str(error)) from None
    return "\n".join(frame.to_series().fill_null("").to_list()).encode()


def _recognise(source: _Source, wanted: str) -> Format:
    index, first = source.first()
    content = _json_or_columns(first)
    found = next((format_ for format_ in FORMATS if format_.recognise(content)), None)
    if found is None:
        known = "; ".join(f"{f.name}: {f.shape}" for f in FORMATS if wanted == f.holds or f.doubles)
        problem = f"unknown format: expected {wanted} (found {first!r:.80})" if first else "the file is empty"
        raise InputError(problem, where=source.place(index), hint=f"Known formats of {wanted} are {known}")
    if found.holds != wanted and not found.doubles:
        raise InputError(
            f"expected {wanted}, but this is a file of {found.name} ({found.shape})",
            where=str(source.path),
            hint="The qrels come first, then the runs",
        )
    return found


def _json_or_columns(text: str) -> Any:
    if not text.startswith("{"):
        return text.split()
    try:
        return json.loads(text)
    except ValueError:
        return None


def _parsed(source: _Source, format_: Format, wanted: str) -> Iterator[tuple[int, Said]]:
    for index, text in source.content(comments=not format_.is_json):
        try:
            content = json.loads(text) if format_.is_json else text.split()
            yield index, format_.read(Line(content, index, wanted))
        except (KeyError, TypeError, ValueError) as error:
            _refuse_line(source, index, format_, text, error)


def _refuse_line(source: _Source, index: int, format_: Format, text: str, error: Exception) -> NoReturn:
    """Raise the error for a line that is not of the file's format."""
    if isinstance(error, InputError):
        reason = error.problem
    elif isinstance(error, KeyError):
        reason = f"{error} is missing"
    elif isinstance(error, json.JSONDecodeError):
        reason = f"not valid JSON ({error})"
    elif "unpack" in str(error):
        reason = f"{len(text.split())} columns"
    else:
        reason = str(error)
    raise InputError(
        f"a line of {format_.name} reads {format_.shape} (found {reason}: {text!r:.100})",
        where=source.place(index),
        hint="Correct or remove this line",
    ) from None


def _collect(
    table: dict[str, dict[str, Any]], line: Said, source: _Source, index: int, format_: Format, wanted: str
) -> None:
    if format_.lists and line.query_id in table:
        _refuse_repeated(source, index, format_, wanted, line.query_id, None)
    documents = table.setdefault(line.query_id, {})
    for doc_id, value in line.documents:
        if doc_id in documents:
            _refuse_repeated(source, index, format_, wanted, line.query_id, doc_id)
        documents[doc_id] = value


def _refuse_repeated(
    source: _Source, index: int, format_: Format, wanted: str, query_id: str, doc_id: str | None
) -> NoReturn:
    """Raise the error for a query or document that stands twice; the file is read again to find the first."""
    first = next(
        i
        for i, line in _parsed(source, format_, wanted)
        if line.query_id == query_id and (doc_id is None or doc_id in [doc for doc, _ in line.documents])
    )
    what = f"query {query_id!r}" if doc_id is None else where(query_id, doc_id)
    raise InputError(
        f"each {'query' if doc_id is None else 'document of a query'} may stand once "
        f"(found {what} again, first on line {first + 1})",
        where=source.place(index),
        hint="Remove one of the two",
    )


def _score_by_order(table: Run, source: _Source, *, force: bool, lists: bool) -> list[str]:
    """Give lists without scores theirs, and tell which lists are in another order than their scores."""
    reordered = []
    for query_id, documents in table.items():
        scored = [score is not None for score in documents.values()]
        if any(scored) and not all(scored):
            doc_id = list(documents)[scored.index(False)]
            raise InputError(
                "either all documents of a query have a score, or none",
                where=f"{source.path}: {where(query_id, doc_id)}",
                hint="Add the missing score, or leave out all scores",
            )
        if force or not all(scored):
            documents.update((doc_id, -float(rank)) for rank, doc_id in enumerate(documents, start=1))
        elif lists and (ranked := _ranked(documents)) != list(documents):
            reordered.append((query_id, next(a for a, b in zip(documents, ranked, strict=True) if a != b)))
    if not reordered:
        return []
    return [
        f"{source.path}: the scores of {len(reordered)} of {len(table)} queries rank documents in another "
        f"order than the list does (first: {where(*reordered[0])}); the scores are used, order='list' "
        "(--order list) takes the list"
    ]


def _ranked(documents: Mapping[str, float]) -> list[str]:
    """Return the ids by score (as float32) descending, then id descending: trec_eval's order."""
    by_id = sorted(documents, reverse=True)
    return sorted(by_id, key=lambda doc_id: -_float32(documents[doc_id]))


def _float32(score: float) -> float:
    try:
        value: float = struct.unpack("f", struct.pack("f", score))[0]
    except OverflowError:
        return float("inf") if score > 0 else float("-inf")
    return value


# --- making and writing ----------------------------------------------------------------------------


def from_relevance_lists(lists: Mapping[str, Sequence[float | int | None]]) -> tuple[Qrels, Run]:
    """Return qrels and run for rankings of which only the grades are known.

    Parameters
    ----------
    lists : mapping of str to sequence of number or None
        For each query the grade of each retrieved document in the order of the ranking; None for one that
        is not judged. Relevant documents that were not retrieved are not known, so what is divided by
        their number (recall, AP) is computed as if there were none.

    Returns
    -------
    qrels : dict
        ``{query_id: {doc_id: relevance}}`` with documents ``d1``, ``d2``, … of each list.
    run : dict
        ``{query_id: {doc_id: score}}``, the score minus the position.

    Raises
    ------
    InputError
        For a grade that is no finite number.

    Examples
    --------
    >>> from_relevance_lists({"q1": [1, 0, None]})
    ({'q1': {'d1': 1, 'd2': 0}}, {'q1': {'d1': -1.0, 'd2': -2.0, 'd3': -3.0}})
    """
    qrels: Qrels = {}
    run: Run = {}
    for query, grades in lists.items():
        query_id = text_id(query)
        named = [(f"d{position}", grade) for position, grade in enumerate(grades, start=1)]
        qrels[query_id] = {
            doc_id: number(grade, "relevance", place=where(query_id, doc_id))
            for doc_id, grade in named
            if grade is not None
        }
        run[query_id] = {doc_id: -float(position) for position, (doc_id, _) in enumerate(named, start=1)}
    return qrels, run


def write_run(run: Any, path: str | os.PathLike[str], *, tag: str = "permed-measures") -> None:
    """Write a run as a TREC file, best document first; the file is written whole or not at all.

    Parameters
    ----------
    run : mapping, iterable of namedtuples, or pandas, polars or pyarrow frame
    path : str or path-like
        Compressed if it ends in ``.gz``.
    tag : str, default 'permed-measures'
        The name of the run, the last column.

    Raises
    ------
    InputError
        For an id or tag that is empty or has white space (a TREC file cannot hold it), or a score that is
        no number.
    OSError
        If the file cannot be written.

    Notes
    -----
    Scores are written so that they read back exactly.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_run({"q": {"b": 0.5, "a": 2}}, f"{folder}/run", tag="mine")
    ...     print(Path(f"{folder}/run").read_text(), end="")
    q Q0 a 1 2.0 mine
    q Q0 b 2 0.5 mine
    """
    path = Path(path)
    if path.suffix == ".zst":
        raise InputError("a run is written plain or as .gz", where=str(path), hint="Choose another name")
    data = "".join(f"{line}\n" for line in _trec_lines(as_mapping(run, "score"), tag)).encode()
    part = path.with_name(path.name + ".part")
    try:
        part.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _trec_lines(run: Mapping[str, Mapping[str, float]], tag: str) -> Iterable[str]:
    _refuse_white_space(tag, "tag", tag)
    for query, documents in run.items():
        query_id = text_id(query)
        _refuse_white_space(query_id, "query id", f"query {query_id!r}")
        for doc_id, score in documents.items():
            _refuse_white_space(text_id(doc_id), "document id", where(query_id, doc_id))
            number(score, "score", place=where(query_id, doc_id))
        named = {text_id(doc_id): float(score) for doc_id, score in documents.items()}
        for rank, doc_id in enumerate(_ranked(named), start=1):
            yield f"{query_id} Q0 {doc_id} {rank} {named[doc_id]!r} {tag}"


def _refuse_white_space(text: str, what: str, place: str) -> None:
    if text.split() != [text]:
        raise InputError(
            f"a {what} in a TREC file may not be empty or have white space (found {text!r})", where=place
        )
