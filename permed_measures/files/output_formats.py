"""Qrels and runs in each format that can be written."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from permed_measures.engine.inputs import BEIR_COLUMNS, Batches, Nested, first_repeated, where
from permed_measures.errors import InputError
from permed_measures.files.read import ranked

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Output:
    """Where something is written, and what: scores or relevance."""

    path: Path
    value: str
    tag: str = ""

    @property
    def is_run(self) -> bool:
        """Whether it is a run, not qrels."""
        return self.value == "score"

    def error(self, problem: str, hint: str = "") -> InputError:
        """Return an error that names the file."""
        return InputError(problem, where=str(self.path), hint=hint)


def _rows(output: Output, nested: Nested) -> Iterator[tuple[str, str, float]]:
    """Yield the rows of a file that has one per document."""
    empty = [query_id for query_id, documents in nested.items() if not documents]
    if empty and not output.is_run:
        raise output.error(
            f"this format has a row per judgment, so that {len(empty)} queries without any would be lost "
            f"(first: {empty[0]!r})",
            "Write them as .json",
        )
    for query_id, documents in nested.items():
        for doc_id, value in documents.items():
            yield query_id, doc_id, value


def _trec(output: Output, nested: Nested) -> str:
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
        raise output.error(f"a line of a TREC file may not begin with {marked[0]!r} (found query {marked!r})")
    return "".join(lines)


def _refuse_white_space(text: str, what: str, place: str) -> None:
    if text.split() != [text]:
        raise InputError(
            f"a {what} in a TREC file may not be empty or have white space (found {text!r})", where=place
        )


def _table(delimiter: str) -> Callable[[Output, Nested], str]:
    def write(output: Output, nested: Nested) -> str:
        text = io.StringIO()
        rows = list(_rows(output, nested))
        long = max((len(name) for row in rows for name in row[:2]), default=0)
        if long > csv.field_size_limit():
            raise output.error(f"a cell has {csv.field_size_limit()} characters at most (found {long})")
        returns = any("\r" in query_id or "\r" in doc_id for query_id, doc_id, _ in rows)
        options: dict[str, Any] = {"delimiter": delimiter, "lineterminator": "\n"}
        # Where only what needs it is quoted, a \r alone is not.
        writer = csv.writer(text, **options, quoting=csv.QUOTE_ALL if returns else csv.QUOTE_MINIMAL)
        beir = delimiter == "\t" and not output.is_run
        writer.writerow(BEIR_COLUMNS.values() if beir else ("query_id", "doc_id", output.value))
        writer.writerows((query_id, doc_id, repr(value)) for query_id, doc_id, value in rows)
        return text.getvalue()

    return write


def _json(output: Output, nested: Nested) -> str:
    if not output.is_run:
        _refuse_no_integers(nested)
    if "mteb_model_meta" in nested:
        raise output.error("the query id 'mteb_model_meta' means something else in JSON files")
    return f"{_dumped(output, nested)}\n"


def _dumped(output: Output, content: Any) -> str:
    try:
        return json.dumps(content, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise output.error("JSON has no infinite numbers", "Write a TREC or Parquet file") from None


def _json_lines(output: Output, nested: Nested) -> str:
    contents = _results(nested) if output.is_run else _labels(output, nested)
    return "".join(f"{_dumped(output, content)}\n" for content in contents)


def _results(nested: Nested) -> Iterator[dict[str, Any]]:
    for query_id, documents in nested.items():
        results = [{"text_id": doc_id, "score": documents[doc_id]} for doc_id in ranked(documents)]
        yield {"query_id": query_id, "ranked_results": results}


_TURN = re.compile(r"(?s)(.+)_(0|[1-9][0-9]{0,17})")


def _labels(output: Output, nested: Nested) -> Iterator[dict[str, Any]]:
    """Yield PerMed ground truth if all grades are 1, and MedCorpus labels otherwise."""
    if all(grade == 1 for documents in nested.values() for grade in documents.values()):
        for query_id, documents in nested.items():
            yield {"query_id": query_id, "relevant_texts": list(documents)}
        return
    for query_id, doc_id, grade in _rows(output, nested):
        turn = _TURN.fullmatch(query_id)
        if turn is None:
            raise output.error(
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


def as_parquet(frame: pl.DataFrame) -> bytes:
    """Return the bytes of a Parquet file."""
    content = io.BytesIO()
    frame.write_parquet(content)
    return content.getvalue()


def frame_of_batches(batches: Batches) -> pl.DataFrame:
    """Return the rows of a run in a file, without a Python object for each."""
    import polars as pl

    frame: pl.DataFrame = pl.concat([pl.DataFrame(schema=_schema(pl.Float64)), *batches])
    if (pair := first_repeated(frame)) is not None:
        raise batches.duplicate_error(*pair)
    return frame


def frame_of(output: Output, nested: Nested) -> pl.DataFrame:
    """Return the rows of qrels or a run; grades are integers if all are."""
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
            raise output.error(problem)
    try:
        schema = _schema(pl.Int64 if whole else pl.Float64, output.value)
        return pl.DataFrame(rows, schema=schema, orient="row")
    except (TypeError, OverflowError, UnicodeEncodeError, pl.exceptions.PolarsError) as error:
        raise output.error(f"cannot be written as Parquet ({str(error).splitlines()[0]})") from None


def _schema(dtype: Any, value: str = "score") -> dict[str, Any]:
    import polars as pl

    return {"query_id": pl.String, "doc_id": pl.String, value: dtype}


TEXT_WRITERS: dict[str, Callable[[Output, Nested], str]] = {
    "trec": _trec,
    "jsonl": _json_lines,
    "json": _json,
    "csv": _table(","),
    "tsv": _table("\t"),
}
"""Text in each format, by the ending of the file."""
