"""Qrels and runs in each format that can be written."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from permed_measures.engine.inputs import BEIR_COLUMNS, Nested, location
from permed_measures.errors import InputError, warn
from permed_measures.files.order import ranked


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


def _rows(output: Output, nested: Nested) -> list[tuple[str, str, float]]:
    """Return the rows of a file that has one per document, in which a query without documents is lost."""
    empty = [query_id for query_id, documents in nested.items() if not documents]
    if empty and not output.is_run:
        raise output.error(
            f"this format has a row per judgment, so that {len(empty)} queries without any would be lost "
            f"(first: {empty[0]!r})",
            "Write them as .json",
        )
    if empty:
        problem = f"{output.path}: {len(empty)} queries without documents are not in the file"
        warn(f"{problem} (first: {empty[0]!r})", path=output.path)
    return [(q, doc_id, value) for q, documents in nested.items() for doc_id, value in documents.items()]


def _trec(output: Output, nested: Nested) -> str:
    _rows(output, nested)  # says what would be lost
    if output.is_run:
        _check_column(output.tag, "tag", output.tag)
        nested = {q: {d: documents[d] for d in ranked(documents)} for q, documents in nested.items()}
    lines = []
    for query_id, documents in nested.items():
        if documents:
            _check_column(query_id, "query id", f"query {query_id!r}")
        if documents and query_id.startswith(("#", "{", "\ufeff")):
            problem = f"a line of a TREC file may not begin with {query_id[0]!r} (found query {query_id!r})"
            raise output.error(problem)
        for rank, (doc_id, value) in enumerate(documents.items(), start=1):
            _check_column(doc_id, "document id", location(query_id, doc_id))
            run = f"Q0 {doc_id} {rank} {value!r} {output.tag}"
            lines.append(f"{query_id} {run if output.is_run else f'0 {doc_id} {value!r}'}\n")
    return "".join(lines)


def _check_column(text: str, what: str, where: str) -> None:
    if text.split() != [text]:
        problem = f"a {what} in a TREC file may not be empty or have white space (found {text!r})"
        raise InputError(problem, where=where)


def _table(output: Output, nested: Nested, delimiter: str) -> str:
    text = io.StringIO()
    rows = _rows(output, nested)
    returns = any("\r" in query_id or "\r" in doc_id for query_id, doc_id, _ in rows)
    # Where only what needs it is quoted, a \r alone is not.
    quoting: Literal[0, 1] = csv.QUOTE_ALL if returns else csv.QUOTE_MINIMAL
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n", quoting=quoting)
    beir = delimiter == "\t" and not output.is_run
    writer.writerow(BEIR_COLUMNS.values() if beir else ("query_id", "doc_id", output.value))
    writer.writerows((query_id, doc_id, repr(value)) for query_id, doc_id, value in rows)
    return text.getvalue()


def _json(output: Output, nested: Nested) -> str:
    for query_id, documents in ({} if output.is_run else nested).items():
        for doc_id, grade in documents.items():
            if grade != int(grade):
                raise InputError(
                    f"grades in a JSON file are integers (found {grade!r})",
                    where=location(query_id, doc_id),
                    hint="Write them as .csv or .trec",
                )
    if "mteb_model_meta" in nested:
        raise output.error("the query id 'mteb_model_meta' means something else in JSON files")
    return f"{_dumped(output, nested)}\n"


def _dumped(output: Output, content: Any) -> str:
    try:
        return json.dumps(content, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise output.error("JSON has no infinite numbers", "Write a TREC or CSV file") from None


def _json_lines(output: Output, nested: Nested) -> str:
    return "".join(f"{_dumped(output, content)}\n" for content in _objects(output, nested))


def _objects(output: Output, nested: Nested) -> Iterator[dict[str, Any]]:
    """Yield PerMed results, or PerMed ground truth, which has no grades."""
    for query_id, documents in nested.items():
        if output.is_run:
            results = [{"text_id": doc_id, "score": documents[doc_id]} for doc_id in ranked(documents)]
            yield {"query_id": query_id, "ranked_results": results}
            continue
        other = next((grade for grade in documents.values() if grade != 1), None)
        if other is not None:
            problem = f"qrels in JSONL have no grades (found query {query_id!r}, grade {other})"
            raise output.error(problem, "Write them as .tsv, .json or .trec")
        yield {"query_id": query_id, "relevant_texts": list(documents)}


WRITERS: dict[str, Callable[[Output, Nested], str]] = {
    "trec": _trec,
    "jsonl": _json_lines,
    "json": _json,
    "csv": partial(_table, delimiter=","),
    "tsv": partial(_table, delimiter="\t"),
}
"""What writes each format, by the ending of the file."""
