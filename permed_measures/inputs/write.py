"""Write judgments and runs to files, completely or not at all; they read back exactly."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from permed_measures.engine.tables import Nested, check_number, location, string_id, stringify_keys
from permed_measures.errors import InputError, short_repr, warn
from permed_measures.inputs.columns import BEIR_COLUMNS, QrelsLike, RunLike
from permed_measures.inputs.door import read_nested
from permed_measures.inputs.rank_check import sort_by_score
from permed_measures.inputs.sources import check_path
from permed_measures.inputs.text_reader import QUOTED
from permed_measures.wording import pluralize


def write_run(
    run: RunLike,
    path: str | os.PathLike[str],
    *,
    tag: str = "permed-measures",
    to: str | None = None,
    comments: Sequence[str] = (),
) -> None:
    """Write a run to a file, completely or not at all.

    Parameters
    ----------
    run : any form of a run
    path : str or path-like
        The ending determines the format: ``.jsonl`` PerMed results, ``.json`` BEIR and MTEB results,
        ``.csv`` and ``.tsv`` with a header; ``.trec``, ``.run``, ``.res``, ``.txt``, ``.qrels``, ``.qrel`` or
        no ending a TREC run. A further ``.gz`` compresses the file.
    tag : str, default 'permed-measures'
        The name of the run, the last column of a TREC run.
    to : {'trec', 'jsonl', 'json', 'csv', 'tsv'}, optional
        The format, instead of the one by the ending.
    comments : sequence of str, default ()
        Lines at the head of a TREC file, each beginning with ``#``, such as those of ir_metadata. Files of
        other formats leave them out, with a warning.

    Raises
    ------
    InputError
        For an unknown ending; for content that the format cannot hold (an id or tag that is empty or has
        white space in a TREC file, an infinite score in JSON); for a score that is not a number; for a run
        without queries, if the file would be empty. The message names query and document.
    OSError
        If the file cannot be written.

    Warns
    -----
    PermedWarning
        If queries have no documents, and the format has a row per document: the file leaves them out. They
        score 0 all the same.

    Notes
    -----
    The scores in the file read back exactly. TREC and JSONL files list the best document first.

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
    _write(_Output(Path(path), "score", string_id(tag, where="tag"), tuple(map(str, comments))), run, to)


def write_qrels(
    qrels: QrelsLike,
    path: str | os.PathLike[str],
    *,
    to: str | None = None,
    comments: Sequence[str] = (),
) -> None:
    """Write judgments to a file, completely or not at all.

    Parameters
    ----------
    qrels : any form of qrels
    path, to, comments
        As for `write_run`, except that ``.jsonl`` is PerMed ground truth (all grades must be 1), ``.json``
        is ``{query_id: {doc_id: grade}}``, and ``.tsv`` is BEIR qrels.

    Raises
    ------
    InputError
        For content that the format cannot hold: a query without judgments in a file with a row per judgment,
        an id that is empty or has white space in a TREC file, grades in JSON that are not integers, or grades
        in JSONL that are not 1; and for a relevance that is not a number.
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
    _write(_Output(Path(path), "relevance", comments=tuple(map(str, comments))), qrels, to)


def _write(output: _Output, data: Any, to: str | None) -> None:
    """Write in the format `to`, by default the one of the file's ending."""
    check_path(output.path)
    suffix = output.path.suffix.lower()
    name = _format_of(output) if to is None else to
    if name not in OUTPUT_FORMATS:
        raise InputError(f"a format must be one of {', '.join(OUTPUT_FORMATS)} (found {name!r})")
    if suffix == ".zst":
        raise output.error("files are compressed as .gz only", "Choose another ending")
    content = _encoded(output, name, data)
    write_whole(output.path, gzip.compress(content, mtime=0) if suffix == ".gz" else content)


def _format_of(output: _Output) -> str:
    """Determine the format by the ending of the file."""
    path = output.path
    ending = Path(path.stem if path.suffix.lower() in (".gz", ".zst") else path).suffix.lower()
    if ending[1:] in OUTPUT_FORMATS:
        return ending[1:]
    if ending in _TREC_ENDINGS:
        return "trec"
    known = f"{', '.join(f'.{name}' for name in OUTPUT_FORMATS)}, and for TREC {', '.join(_TREC_ENDINGS[1:])}"
    raise output.error(
        f"the ending {ending!r} means no format; known are {known}",
        "Choose another, or name the format: --to trec on the command line, to='trec' in Python",
    )


_TREC_ENDINGS = ("", ".run", ".res", ".txt", ".qrels", ".qrel")
"""Endings of TREC files besides .trec; most have none."""


def _encoded(output: _Output, name: str, data: Any) -> bytes:
    if output.comments and name != "trec":
        lines = pluralize(len(output.comments), "comment line")
        problem = f"{output.path}: {lines} left out, as only TREC files have them"
        warn(problem, path=output.path)
    text = _WRITERS[name](output, _checked(output, data))
    if not text:
        raise output.error("without any query the file would be empty", "Write .json or .csv")
    if "\0" in text:
        raise output.error("ids in a file of this format may not contain a NUL", "Write .json or .jsonl")
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise output.error(f"ids must be Unicode text (found {error.object[error.start]!r})") from None


def _checked(output: _Output, data: Any) -> dict[str, dict[str, float]]:
    """Convert the data to nested dicts with string ids; check the numbers."""
    nested: dict[str, dict[str, float]] = {}
    for query_id, documents in stringify_keys(read_nested(data, output.value), "query ids").items():
        nested[query_id] = checked = {}
        for doc_id, number in stringify_keys(documents, "document ids", query_id=query_id).items():
            value = check_number(number, output.value, where=location(query_id, doc_id))
            checked[doc_id] = float(value) if output.is_run or value != int(value) else int(value)
    return nested


# --- formats ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Output:
    """The output file, and its column of numbers: score or relevance."""

    path: Path
    value: str
    tag: str = ""
    comments: tuple[str, ...] = ()

    @property
    def is_run(self) -> bool:
        """Whether the output is a run, not qrels."""
        return self.value == "score"

    def error(self, problem: str, hint: str = "") -> InputError:
        """Build an error that names the file."""
        return InputError(problem, where=str(self.path), hint=hint)


def _rows(output: _Output, nested: Nested) -> list[tuple[str, str, float]]:
    """List one row per document; warn of queries without documents (an error in qrels), which are lost."""
    empty = [query_id for query_id, documents in nested.items() if not documents]
    if empty and not output.is_run:
        raise output.error(
            f"this format has a row per judgment, so that {pluralize(len(empty), 'query')} without any would "
            f"be lost (first: {empty[0]!r})",
            "Write them as .json",
        )
    if empty:
        problem = f"{output.path}: the file leaves out {pluralize(len(empty), 'query')} without documents"
        warn(f"{problem} (first: {empty[0]!r})", path=output.path)
    return [(q, doc_id, value) for q, documents in nested.items() for doc_id, value in documents.items()]


def _trec(output: _Output, nested: Nested) -> str:
    _rows(output, nested)  # for its check of queries without documents
    if output.is_run:
        _check_column(output.tag, "tag", output.tag)
        nested = {q: {d: documents[d] for d in sort_by_score(documents)} for q, documents in nested.items()}
    lines = []
    for query_id, documents in nested.items():
        if documents:
            _check_column(query_id, "query id", f"query {query_id!r}")
        if documents and (query_id == "#" or query_id.startswith(("{", "\ufeff"))):
            problem = f"a line of a TREC file may not begin with {query_id[0]!r} (found query {query_id!r})"
            raise output.error(problem)
        for rank, (doc_id, value) in enumerate(documents.items(), start=1):
            _check_column(doc_id, "document id", location(query_id, doc_id))
            run = f"Q0 {doc_id} {rank} {value!r} {output.tag}"
            lines.append(f"{query_id} {run if output.is_run else f'0 {doc_id} {value!r}'}\n")
    invalid = (line for line in output.comments if line[:1] != "#" or set(line) & {"\n", "\r"})
    if (wrong := next(invalid, None)) is not None:
        raise output.error(f"a comment line must begin with # (found {short_repr(wrong)})")
    return "".join([*(f"{line}\n" for line in output.comments), *lines]) if lines else ""


def _check_column(text: str, what: str, where: str) -> None:
    if text.split() != [text]:
        problem = f"a {what} in a TREC file may not be empty or have white space (found {text!r})"
        raise InputError(problem, where=where)


def _csv(output: _Output, nested: Nested) -> str:
    text = io.StringIO()
    rows = _rows(output, nested)
    has_returns = any("\r" in query_id or "\r" in doc_id for query_id, doc_id, _ in rows)
    # QUOTE_MINIMAL does not quote a cell with a \r alone.
    writer = csv.writer(
        text, lineterminator="\n", quoting=csv.QUOTE_ALL if has_returns else csv.QUOTE_MINIMAL
    )
    writer.writerow(("query_id", "doc_id", output.value))
    writer.writerows((query_id, doc_id, repr(value)) for query_id, doc_id, value in rows)
    return text.getvalue()


def _tsv(output: _Output, nested: Nested) -> str:
    """Format columns between tabs, where a quote within a cell is an ordinary character."""
    names = ("query_id", "doc_id", output.value) if output.is_run else tuple(BEIR_COLUMNS.values())
    rows = ((_in_tabs(output, q), _in_tabs(output, d), repr(value)) for q, d, value in _rows(output, nested))
    return "".join("\t".join(cells) + "\n" for cells in (names, *rows))


def _in_tabs(output: _Output, text: str) -> str:
    if set(text) & {"\t", "\n", "\r"}:
        raise output.error(f"an id between tabs may have no tab or line end (found {text!r})", "Write .csv")
    return '"' + text.replace('"', '""') + '"' if QUOTED.fullmatch(text) else text


def _json(output: _Output, nested: Nested) -> str:
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


def _dumped(output: _Output, content: Any) -> str:
    try:
        return json.dumps(content, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise output.error("JSON has no infinite numbers", "Write a TREC or CSV file") from None


def _json_lines(output: _Output, nested: Nested) -> str:
    return "".join(f"{_dumped(output, content)}\n" for content in _objects(output, nested))


def _objects(output: _Output, nested: Nested) -> Iterator[dict[str, Any]]:
    """Yield the objects of PerMed results, or of PerMed ground truth, which has no grades."""
    for query_id, documents in nested.items():
        if output.is_run:
            results = [{"text_id": doc_id, "score": documents[doc_id]} for doc_id in sort_by_score(documents)]
            yield {"query_id": query_id, "ranked_results": results}
            continue
        other = next((grade for grade in documents.values() if grade != 1), None)
        if other is not None:
            problem = f"qrels in JSONL have no grades (found query {query_id!r}, grade {other})"
            raise output.error(problem, "Write them as .tsv or .trec")
        yield {"query_id": query_id, "relevant_texts": list(documents)}


_WRITERS: dict[str, Callable[[_Output, Nested], str]] = {
    "trec": _trec,
    "jsonl": _json_lines,
    "json": _json,
    "csv": _csv,
    "tsv": _tsv,
}
"""The function that writes each format, by the ending of the file."""
OUTPUT_FORMATS = tuple(_WRITERS)
"""The formats for output, by the ending of the file."""


# --- bytes --------------------------------------------------------------------------------------------

STDOUT = Path("/dev/stdout")
"""Standard output, on any system."""


def write_whole(path: Path, content: bytes) -> None:
    """Write a file completely or not at all.

    The content goes to a hidden temporary file in the same folder, which then replaces the target. As with
    ``cp``, a read-only target is an error, a link stays a link, and a pipe or a device receives the content.
    If the path names an open descriptor, such as ``/dev/stderr``, the content is written at its position.
    """
    try:
        if path == STDOUT:
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
            return
        if (descriptor := _descriptor(path)) is not None:
            for stream in filter(None, (sys.stdout, sys.stderr)):  # so that earlier output comes first
                stream.flush()
            with os.fdopen(os.dup(descriptor), "wb") as copy:
                copy.write(content)
            return
        with suppress(FileNotFoundError), os.fdopen(os.open(path, os.O_WRONLY), "wb") as target:
            if not stat.S_ISREG(os.fstat(target.fileno()).st_mode):
                target.write(content)
                return
        _replace(path.resolve(), content)
    except OSError as error:
        # The error may name the temporary file, or no file; the user knows only `path`.
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


def _descriptor(path: Path) -> int | None:
    """Return the number of the open descriptor that a path, or a link to it, names; None for other paths.

    Opening such a path again would start at another position in the file. Replacing the file would leave the
    descriptor with a deleted file.
    """
    folders = {os.path.realpath(name) for name in ("/dev/fd", "/proc/self/fd", "/proc/thread-self/fd")}
    for _ in range(_MOST_LINKS):
        folder = os.path.realpath(path.parent)
        if folder in folders and path.name.isdecimal():
            return int(path.name)
        if not path.is_symlink():
            return None
        path = Path(folder, path.readlink())
    return None


_MOST_LINKS = 40
"""Maximum length of a chain of links, as in Linux; a circle of links has no end."""


def _replace(target: Path, content: bytes) -> None:
    """Replace the target by a new file."""
    temporary = target.with_name(f".{os.urandom(8).hex()}.part")
    try:
        with temporary.open("xb") as file:
            file.write(content)
        if target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
    finally:
        with suppress(OSError):
            temporary.unlink()
