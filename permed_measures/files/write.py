"""Writing judgments and runs: each file whole or not at all, and so that it reads back exactly."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from permed_measures.engine.inputs import (
    BEIR_COLUMNS,
    Batches,
    as_mapping,
    number,
    repeated_rows,
    where,
    with_text_ids,
)
from permed_measures.errors import InputError, PermedWarning
from permed_measures.files.read import ranked
from permed_measures.files.whole import write_whole

if TYPE_CHECKING:
    import polars as pl


def write_run(
    run: Any, path: str | os.PathLike[str], *, tag: str = "permed-measures", to: str | None = None
) -> None:
    """Write a run as a file; the file is written whole or not at all.

    Parameters
    ----------
    run : mapping, iterable of namedtuples, or pandas, polars or pyarrow frame
    path : str or path-like
        Its ending tells the format: ``.jsonl`` PerMed results, ``.json`` BEIR and MTEB results, ``.parquet``,
        ``.csv`` and ``.tsv`` with a header, anything else a TREC run. Text is compressed if ``.gz`` follows.
    tag : str, default 'permed-measures'
        The name of the run, the last column of a TREC run.
    to : {'trec', 'jsonl', 'json', 'parquet', 'csv', 'tsv'}, optional
        The format, whatever the ending of `path`.

    Raises
    ------
    InputError
        For what the format cannot hold (an id or tag that is empty or has white space in a TREC file, an
        infinite score in JSON), a score that is no number, a run without queries in a file that would then
        be empty; the message names query and document.
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
    _write(_Output(Path(path), "score", tag), run, to)


def write_qrels(qrels: Any, path: str | os.PathLike[str], *, to: str | None = None) -> None:
    """Write judgments as a file; the file is written whole or not at all.

    Parameters
    ----------
    qrels : mapping, iterable of namedtuples, or pandas, polars or pyarrow frame
    path : str or path-like
        Its ending tells the format: ``.jsonl`` PerMed ground truth where all grades are 1, MedCorpus labels
        otherwise; ``.json`` as BEIR has them in memory; ``.parquet``; ``.csv`` with a header; ``.tsv`` BEIR
        qrels; anything else TREC qrels. Text is compressed if ``.gz`` follows.
    to : {'trec', 'jsonl', 'json', 'parquet', 'csv', 'tsv'}, optional
        The format, whatever the ending of `path`.

    Raises
    ------
    InputError
        For what the format cannot hold: a query without judgments in a file that has a row per judgment, an
        id that is empty or has white space in a TREC file, grades in JSON that are no integers, query ids
        that are not ``<conversation>_<turn>`` as MedCorpus labels; and for a relevance that is no number.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_qrels({"topic_001_1": {"a": 2, "b": 0}}, f"{folder}/qrels.jsonl")
    ...     print(Path(f"{folder}/qrels.jsonl").read_text(), end="")
    {"conversation_id": "topic_001", "turn_id": 1, "doc_id": "a", "rel": 2}
    {"conversation_id": "topic_001", "turn_id": 1, "doc_id": "b", "rel": 0}
    """
    _write(_Output(Path(path), "relevance"), qrels, to)


Nested = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class _Output:
    """Where something is written, and what: scores or relevance."""

    path: Path
    value: str
    tag: str = ""

    @property
    def is_run(self) -> bool:
        return self.value == "score"

    def refuse(self, problem: str, hint: str = "") -> InputError:
        return InputError(problem, where=str(self.path), hint=hint)


def _write(output: _Output, data: Any, to: str | None) -> None:
    suffixes = [suffix.lower() for suffix in output.path.suffixes]
    compressed = suffixes[-1:] == [".gz"]
    ending = (suffixes[-2:-1] if compressed else suffixes[-1:] or [""])[:1]
    name = to if to is not None else (ending[0][1:] if ending and ending[0][1:] in FORMATS else "trec")
    if name not in FORMATS:
        raise InputError(f"a format must be one of {', '.join(FORMATS)} (found {name!r})")
    if ".zst" in suffixes[-1:] or (compressed and name == "parquet"):
        raise output.refuse("a file is written plain, or text as .gz", "Choose another name")
    if output.path.is_dir():
        raise output.refuse("a file must be named (found a folder)")
    if name == "parquet" and isinstance(data, Batches):
        content = _parquet(_frame_of_batches(data))
    else:
        nested = _named(output, data)
        if output.is_run and name not in ("json", "jsonl"):
            _say_empty(output, nested)
        content = _parquet(_frame(output, nested)) if name == "parquet" else _encoded(output, name, nested)
    write_whole(output.path, gzip.compress(content, mtime=0) if compressed else content)


def _say_empty(output: _Output, nested: Nested) -> None:
    """Warn of queries that a file with a row per document leaves out."""
    empty = [query_id for query_id, documents in nested.items() if not documents]
    if empty:
        text = f"{output.path}: {len(empty)} queries without documents are not in the file"
        warnings.warn(f"{text} (first: {empty[0]!r})", PermedWarning, stacklevel=4)


def _encoded(output: _Output, name: str, nested: Nested) -> bytes:
    text = _TEXTS[name](output, nested)
    if not text:
        raise output.refuse("without any query the file would be empty", "Write .json, .csv or .parquet")
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise output.refuse(f"ids must be Unicode text (found {error.object[error.start]!r})") from None


def _named(output: _Output, data: Any) -> Nested:
    """Return the data with text ids and checked numbers; scores are floats."""
    nested: dict[str, dict[str, float]] = {}
    for query_id, documents in with_text_ids(as_mapping(data, output.value), "query ids").items():
        named = with_text_ids(documents, "document ids", query_id=query_id)
        for doc_id, value in named.items():
            number(value, output.value, place=where(query_id, doc_id))
        nested[query_id] = {d: _plain(value, output.is_run) for d, value in named.items()}
    return nested


def _plain(value: Any, is_run: bool) -> float | int:
    return int(value) if not is_run and value == int(value) else float(value)


def _rows(output: _Output, nested: Nested) -> Iterator[tuple[str, str, float]]:
    """Yield the rows of a file that has one per document."""
    empty = [query_id for query_id, documents in nested.items() if not documents]
    if empty and not output.is_run:
        raise output.refuse(
            f"this format has a row per judgment, so that {len(empty)} queries without any would be lost "
            f"(first: {empty[0]!r})",
            "Write them as .json",
        )
    for query_id, documents in nested.items():
        for doc_id, value in documents.items():
            yield query_id, doc_id, value


# --- the formats -----------------------------------------------------------------------------------


def _trec(output: _Output, nested: Nested) -> str:
    if output.is_run:
        _refuse_white_space(output.tag, "tag", output.tag)
        nested = {q: {d: documents[d] for d in ranked(documents)} for q, documents in nested.items()}
    lines = []
    rank: dict[str, int] = {}
    for query_id, doc_id, value in _rows(output, nested):
        rank[query_id] = rank.get(query_id, 0) + 1
        if rank[query_id] == 1:
            _refuse_white_space(query_id, "query id", f"query {query_id!r}")
        _refuse_white_space(doc_id, "document id", where(query_id, doc_id))
        run = f"Q0 {doc_id} {rank[query_id]} {value!r} {output.tag}"
        lines.append(f"{query_id} {run if output.is_run else f'0 {doc_id} {value!r}'}\n")
    marked = next((query_id for query_id in rank if query_id.startswith(("#", "{", "\ufeff"))), None)
    if marked is not None:
        raise output.refuse(
            f"a line of a TREC file may not begin with {marked[0]!r} (found query {marked!r})"
        )
    return "".join(lines)


def _refuse_white_space(text: str, what: str, place: str) -> None:
    if text.split() != [text]:
        raise InputError(
            f"a {what} in a TREC file may not be empty or have white space (found {text!r})", where=place
        )


def _table(delimiter: str) -> Callable[[_Output, Nested], str]:
    def write(output: _Output, nested: Nested) -> str:
        text = io.StringIO()
        rows = list(_rows(output, nested))
        long = max((len(name) for row in rows for name in row[:2]), default=0)
        if long > csv.field_size_limit():
            raise output.refuse(f"a cell has {csv.field_size_limit()} characters at most (found {long})")
        returns = any("\r" in query_id or "\r" in doc_id for query_id, doc_id, _ in rows)
        options: dict[str, Any] = {"delimiter": delimiter, "lineterminator": "\n"}
        # Where only what needs it is quoted, a \r alone is not.
        writer = csv.writer(text, **options, quoting=csv.QUOTE_ALL if returns else csv.QUOTE_MINIMAL)
        beir = delimiter == "\t" and not output.is_run
        writer.writerow(BEIR_COLUMNS.values() if beir else ("query_id", "doc_id", output.value))
        writer.writerows((query_id, doc_id, repr(value)) for query_id, doc_id, value in rows)
        return text.getvalue()

    return write


def _json(output: _Output, nested: Nested) -> str:
    if not output.is_run:
        _refuse_no_integers(nested)
    if "mteb_model_meta" in nested:
        raise output.refuse("the query id 'mteb_model_meta' means something else in JSON files")
    return f"{_dumped(output, nested)}\n"


def _dumped(output: _Output, content: Any) -> str:
    try:
        return json.dumps(content, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise output.refuse("JSON has no infinite numbers", "Write a TREC or Parquet file") from None


def _json_lines(output: _Output, nested: Nested) -> str:
    contents = _results(nested) if output.is_run else _labels(output, nested)
    return "".join(f"{_dumped(output, content)}\n" for content in contents)


def _results(nested: Nested) -> Iterator[dict[str, Any]]:
    for query_id, documents in nested.items():
        results = [{"text_id": doc_id, "score": documents[doc_id]} for doc_id in ranked(documents)]
        yield {"query_id": query_id, "ranked_results": results}


_TURN = re.compile(r"(?s)(.+)_(0|[1-9][0-9]{0,17})")


def _labels(output: _Output, nested: Nested) -> Iterator[dict[str, Any]]:
    """Yield PerMed ground truth if all grades are 1, and MedCorpus labels otherwise."""
    if all(grade == 1 for documents in nested.values() for grade in documents.values()):
        for query_id, documents in nested.items():
            yield {"query_id": query_id, "relevant_texts": list(documents)}
        return
    for query_id, doc_id, grade in _rows(output, nested):
        turn = _TURN.fullmatch(query_id)
        if turn is None:
            raise output.refuse(
                "MedCorpus labels have query ids <conversation>_<turn>, and other JSONL labels no grades "
                f"(found query {query_id!r}, grade {grade})",
                "Write them as .tsv, .json or .trec",
            )
        yield {"conversation_id": turn[1], "turn_id": int(turn[2]), "doc_id": doc_id, "rel": grade}


def _refuse_no_integers(nested: Nested) -> None:
    for query_id, documents in nested.items():
        for doc_id, grade in documents.items():
            if grade != int(grade):
                raise InputError(
                    f"grades in a JSON file are integers (found {grade!r})",
                    where=where(query_id, doc_id),
                    hint="Write them as .csv, .parquet or .trec",
                )


def _parquet(frame: pl.DataFrame) -> bytes:
    content = io.BytesIO()
    frame.write_parquet(content)
    return content.getvalue()


def _frame_of_batches(batches: Batches) -> pl.DataFrame:
    """Return the rows of a run in a file, without a Python object for each."""
    import polars as pl

    frame: pl.DataFrame = pl.concat([pl.DataFrame(schema=_schema(pl.Float64)), *batches])
    again = repeated_rows(frame)
    if len(again):
        raise batches.duplicate_error(*again.row(0)[:2])
    return frame


def _frame(output: _Output, nested: Nested) -> pl.DataFrame:
    import polars as pl

    rows = list(_rows(output, nested))
    whole = not output.is_run and all(
        isinstance(value, int) and -(2**63) <= value < 2**63 for _, _, value in rows
    )
    if not whole:
        rows = [(q, d, float(value)) if float(value) == value else (q, d, value) for q, d, value in rows]
        changed = next((row for row in rows if isinstance(row[2], int)), None)
        if changed:
            problem = f"a column of floats cannot hold {changed[2]}, the relevance of {where(*changed[:2])}"
            raise output.refuse(problem)
    try:
        schema = _schema(pl.Int64 if whole else pl.Float64, output.value)
        return pl.DataFrame(rows, schema=schema, orient="row")
    except (TypeError, OverflowError, UnicodeEncodeError, pl.exceptions.PolarsError) as error:
        raise output.refuse(f"cannot be written as Parquet ({str(error).splitlines()[0]})") from None


def _schema(dtype: Any, value: str = "score") -> dict[str, Any]:
    import polars as pl

    return {"query_id": pl.String, "doc_id": pl.String, value: dtype}


_TEXTS: dict[str, Callable[[_Output, Nested], str]] = {
    "trec": _trec,
    "jsonl": _json_lines,
    "json": _json,
    "csv": _table(","),
    "tsv": _table("\t"),
}

FORMATS = (*_TEXTS, "parquet")
"""The formats that can be written, by the ending of the file."""
