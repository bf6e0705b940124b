"""Recognise the format of a text file: its layout by the first line, its columns by their values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice, pairwise
from typing import Any

from permed_measures.errors import InputError, short_repr
from permed_measures.inputs.columns import called
from permed_measures.inputs.formats import (
    BLANKS,
    KINDS,
    KNOWN,
    LISTS,
    NTCIR_GRADE,
    PLAIN_FORMATS,
    RANK,
    VALUE_COLUMNS,
    Format,
    Header,
    Kind,
    Layout,
    formats_of_object,
    formats_of_queries,
    is_number,
    second_line,
    split_columns,
)
from permed_measures.inputs.sources import Source
from permed_measures.inputs.text_reader import (
    DELIMITERS,
    WRONG,
    TextFile,
    as_object,
    cells_of,
    header_of,
    is_row,
    is_skipped,
    json_object,
    json_of,
    return_error,
    two_lines_error,
)
from permed_measures.provenance import STDIN
from permed_measures.wording import pluralize

WANTED: dict[Kind | None, str] = {"qrels": "qrels", "run": "a run", None: "qrels or a run"}
_BY_LIST = (
    "; if its rows are ranked, --order list takes their order as the run on the command line, "
    "permed_measures.read_run(path, order='list') in Python"
)


def recognised(source: Source, kind: Kind | None = None, by_list: bool = False, subset: str = "") -> TextFile:
    """Recognise the format of a file; raise InputError if it cannot be read as `kind`.

    With `by_list`, any qrels file may serve as a run in file order; otherwise only labels in JSON may.
    `subset` names a subset of an MTEB file with several.
    """
    number, line = _first_row(source)
    text = line.strip(BLANKS)
    first: list[str] = []
    content: Any = None
    if text.startswith("{"):
        formats, content = _of_object(source, text, subset)
    elif header := header_of(line):
        formats = header.formats()
    else:
        formats, content = _of_array(source, number) if text.startswith("[") else ([], None)
        if content is None:
            formats, first = _of_columns(source, text, kind)
            if formats and len(first) > 6 and "\r" not in text:
                _check_one_line(source, number, first, formats[0].delimiter)
    if not formats or ("\r" in text and content is None and not _is_object(text)):
        raise _unknown_format(source, number, text, kind)
    best = next((form for form in formats if form.kind == kind), formats[0])
    is_ranked = kind == "run" and (by_list or best.layout in (Layout.JSON_LINES, Layout.ARRAY))
    if kind not in (None, best.kind) and not is_ranked:
        raise InputError(
            f"expected {WANTED[kind]}, but this file holds {best.with_article} ({best.shape})",
            where=str(source.path),
            hint=f"The qrels come first, then the runs{_BY_LIST if kind == 'run' and best.in_order else ''}",
        )
    kinds = frozenset(form.kind for form in formats if not form.only_if_requested)
    return TextFile(source, best, kind or best.kind, kinds, first, content)


def _first_row(source: Source) -> tuple[int, str]:
    """Find the first line that is neither empty nor a comment; if all begin with #, one with columns."""
    comment = None
    for number, line in source.lines():
        if not is_skipped(line):
            return number, line
        text = line.strip(BLANKS)
        if comment is None and text[1:2].strip() and len(split_columns(text)) in (4, 6):
            comment = number, line
    return comment or (1, "")


# --- JSON --------------------------------------------------------------------------------------------


def _of_object(source: Source, text: str, subset: str) -> tuple[list[Format], Any]:
    """List the formats of a file that begins with an object; return also its content if it is one object."""
    is_whole_line = True
    try:
        first, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        is_whole_line = False
        first = dict.fromkeys(_KEY.findall(text), "")
    _check_by_rows(source, first)
    is_nested = all(isinstance(value, dict) for value in first.values())
    if is_whole_line and not is_nested and (formats := formats_of_object(first)):
        return formats, None
    text = "\n".join(line for _, line in source.lines())
    try:
        content = json_of(text)
    except (ValueError, RecursionError) as error:
        if not isinstance(error, json.JSONDecodeError | RecursionError):
            raise _not_json(source, error, "") from None
        is_cut = re.match(r'\s*\{\s*"[^"]*"\s*:\s*[^\s{]', text)
        formats = formats_of_object(first)
        if formats and (is_cut or is_whole_line):  # JSON lines, one of which is wrong
            return formats, None
        if is_cut or is_whole_line:
            return [], None
        raise _not_json(source, error, text) from None
    _check_by_rows(source, dict(content))
    return _of_whole(source, content, is_whole_line, subset)


def _is_object(text: str) -> bool:
    """Check whether a line is one JSON object, in which a carriage return between two entries is a blank."""
    with suppress(*WRONG):
        return bool(json_object(text))
    return False


_KEY = re.compile(r'"([^"\\]*)"\s*:')


def _check_by_rows(source: Source, content: dict[str, Any]) -> None:
    """Raise InputError for a table that pandas wrote by columns (an object or a list for each column)."""
    kinds = {*map(type, content.values())}
    by_columns = kinds in ({dict}, {tuple}, {list}) and bool(Header(list(content)).formats())
    if by_columns or {"columns", "data"} <= content.keys():
        raise InputError(
            "a table in JSON by columns",
            where=str(source.path),
            hint="Write it by rows, in pandas by frame.to_json(path, orient='records')",
        )


def _not_json(source: Source, error: Exception, text: str) -> InputError:
    """Build the error for a file that is not valid JSON, with the wrong line."""
    line = error.lineno if isinstance(error, json.JSONDecodeError) else None
    wrong = "" if line is None else text.split("\n")[line - 1].strip(BLANKS)
    reason = f"not valid JSON ({error})" if line is not None else str(error)
    return InputError(
        f"not BEIR or MTEB JSON: {reason}{f' in {short_repr(wrong)}' if wrong else ''}",
        where=source.location(line),
        hint="Expected {query_id: {doc_id: number}}; correct this file",
    )


def _of_whole(source: Source, content: Any, is_line: bool, subset: str) -> tuple[list[Format], Any]:
    """List the formats of a file that is one JSON object; return also its queries or objects."""
    kinds: Sequence[Kind] = KINDS
    if any(key == _META for key, _ in content) or _holds_collections(content):
        queries = _of_subset(source, content, subset)
    elif items := _objects_in(content):
        return formats_of_object(as_object(items[0], check=False), Layout.ARRAY), items
    else:
        queries = content
        for key, value in content:
            key_kinds = [kind for kind in KINDS if key.lower() in LISTS[kind]]
            if key_kinds and isinstance(value, tuple) and all(isinstance(item, list) for _, item in value):
                queries, kinds = value, key_kinds
    if is_line and not all(isinstance(value, tuple | list) for _, value in queries):
        return [], None
    if all(isinstance(value, list) for _, value in queries):
        queries = [(query_id, as_object(value)) for query_id, value in queries]
    try:
        return formats_of_queries(queries, kinds), list(queries)
    except ValueError as error:
        raise InputError(str(error), where=str(source.path)) from None


def _objects_in(content: Any) -> list[Any]:
    """Find the only list of entries in an object, as in the ratings of Elasticsearch; empty without one."""
    lists = [
        value for _, value in content if isinstance(value, list) and value and isinstance(value[0], tuple)
    ]
    readable = [items for items in lists if formats_of_object(as_object(items[0], check=False))]
    return readable[0] if len(readable) == 1 else []


def _of_subset(source: Source, content: Any, subset: str) -> Any:
    """Select the queries of a subset and split of an MTEB file, which also describes the model."""
    splits: dict[tuple[str, ...], Any] = {}
    is_mteb = any(key == _META for key, _ in content)
    for name, value in content:
        if name != _META and isinstance(value, tuple):
            if is_mteb or _holds_collections(value):
                splits |= {(name, split): queries for split, queries in value}
            else:
                splits[name,] = value
    if not is_mteb and (document := _number_in_object(content)):
        raise InputError(
            f"a document must have a number, not an object (found {short_repr(document)})",
            where=str(source.path),
            hint="Expected {query_id: {doc_id: number}}",
        )
    selected = {names: splits[names] for names in splits if subset in ("", names[0], "/".join(names))}
    if not subset and all(len(names) == 1 and names[0] not in _SPLIT_NAMES for names in splits):
        selected = {}  # the only name may be a query
    if len(selected) == 1 and isinstance(queries := next(iter(selected.values())), tuple):
        return queries
    listed = ", ".join("/".join(names) for names in splits)
    example = next(iter(selected or splits), ("", ""))
    name = example[0] if sum(names[0] == example[0] for names in splits) == 1 else "/".join(example)
    raise InputError(
        f"its queries are grouped by subsets and splits of MTEB, of which one can be read: {listed}"
        + (f" (found {short_repr(subset)})" if subset else ""),
        where=str(source.path),
        hint=f"Name one: --subset {name} of evaluate, compare and convert, "
        f"permed_measures.read_run(path, subset={name!r}) in Python",
    )


def _number_in_object(content: Any) -> dict[str, Any]:
    """Return the first document if it is an object with a score, a grade or a rank; else an empty dict."""
    first = next(iter(content[0][1]), (None, ()))[1]
    document = dict(first) if isinstance(first, tuple) else {}
    has_number = any(called(column, document) for column in ("relevance", "score", "rank"))
    has_only_numbers = all(isinstance(value, int | float) for value in document.values())
    return document if has_number and has_only_numbers else {}


_META = "mteb_model_meta"
_SPLIT_NAMES = ("default", "train", "dev", "validation", "test")
"""Names of subsets and splits that are not query ids."""


def _holds_collections(content: Any) -> bool:
    """Check whether each value of an object holds queries (objects of objects)."""
    values = [value for key, value in content if key != _META]
    return bool(values) and all(
        isinstance(value, tuple) and value and all(isinstance(query, tuple) for _, query in value)
        for value in values
    )


def _of_array(source: Source, number: int) -> tuple[list[Format], Any]:
    """List the formats of a file that is a JSON array; return also its objects, None if it is not JSON."""
    text = "\n".join(line for _, line in source.lines())
    try:
        items = json_of(text)
    except (ValueError, RecursionError):
        return [], None
    if items and not isinstance(items[0], tuple):
        raise InputError(
            f"a JSON array without queries (found {short_repr(as_object(items[0], check=False))})",
            where=source.location(number),
            hint='Write an object for each row, such as {"query_id": "q1", "doc_id": "d1", "score": 1.5}',
        )
    return (formats_of_object(as_object(items[0], check=False), Layout.ARRAY) if items else []), items


# --- columns without a header ------------------------------------------------------------------------


def _of_columns(source: Source, text: str, kind: Kind | None) -> tuple[list[Format], list[str]]:
    """List the formats of a file without a header; return also the columns of its first row."""
    delimiter = _delimiter_of(source, text)
    first = cells_of(text, delimiter) if delimiter else split_columns(text)
    recognise = _BY_COLUMNS.get(min(len(first), 6))
    formats = recognise(source, first, delimiter, kind) if recognise else []
    if formats and text[0] in "<[" and (len(first) == 2 or not is_row(first, first, formats[0])):
        return [], first
    return formats, first


def _check_one_line(source: Source, number: int, first: list[str], delimiter: str) -> None:
    """Raise InputError if the first row of a run consists of two lines.

    The other explanation is a tag of several words; then the next row has the same tag.
    """
    texts = [row.strip(BLANKS) for row in islice(_rows(source), 1, 2)]
    below = [cells_of(text, delimiter) if delimiter else split_columns(text) for text in texts]
    q0 = next((row[1] for row in below if len(row) > 1), first[1])
    if (index := second_line(first, q0, is_first=True)) and first[5:] not in [row[5:] for row in below]:
        raise two_lines_error(first, index, source.location(number))


def _delimiter_of(source: Source, text: str) -> str:
    """Find the delimiter of the columns in all rows: tab, comma or semicolon; empty for white space."""
    delimiters = [delimiter for delimiter in DELIMITERS if delimiter in text]
    if not delimiters:
        return ""
    rows = [line.strip(BLANKS) for line in _rows(source, 1000)]
    n_blanks = {len(split_columns(row)) for row in rows}
    for delimiter in delimiters:
        counts = {len(cells_of(row, delimiter)) for row in rows}
        if len(counts) != 1 or counts == n_blanks or counts.isdisjoint((2, 3, 4, 6)):
            continue
        [n] = counts
        if delimiter == "\t" and n < 6 and any(len(split_columns(row)) > n and _is_trec(row) for row in rows):
            continue  # white space, some of which is tabs
        number = cells_of(text, delimiter)[4 if n == 6 else n - 1]
        if n_blanks == {1} or (n > 2 and (is_number(number) or NTCIR_GRADE.fullmatch(number))):
            return delimiter
        if n == 2 and delimiter == "\t" and not is_number(split_columns(text)[-1]):
            return delimiter
    return ""


def _is_trec(row: str) -> bool:
    """Check whether a row, split at white space, has the columns of TREC qrels or of a TREC run."""
    cells = split_columns(row)
    if len(cells) == 4:
        return bool(re.fullmatch("(?i)q?[0-9]+", cells[1])) and is_number(cells[3])
    return len(cells) >= 6 and is_number(cells[4]) and bool(RANK.fullmatch(cells[3]))


def _rows(source: Source, maximum: int = 0) -> Iterator[str]:
    """Yield the lines that are neither empty nor comments, at most `maximum` (0: all)."""
    n = 0
    for _, line in source.lines():
        if not is_skipped(line):
            yield line
            n += 1
            if n == maximum:
                return


def _cells(source: Source, delimiter: str, n: int) -> Iterator[list[str]]:
    """Yield the rows with `n` columns; other rows raise an error later, when the file is read."""
    for line in _rows(source):
        text = line.strip(BLANKS)
        cells = cells_of(text, delimiter) if delimiter else split_columns(text)
        if len(cells) == n:
            yield cells


def _six_columns(source: Source, first: list[str], delimiter: str, kind: Kind | None) -> list[Format]:
    if re.match(_FEATURES, " ".join(first)):
        return []
    if first[1] == "0" and _are_labels(first) and (kind == "qrels" or _labels_differ(source, delimiter)):
        raise InputError(
            "six columns, with three labels of each document: TREC qrels have one",
            where=source.location(None),
            hint="Keep one, such as by awk '{print $1, $2, $3, $4}' IN > OUT",
        )
    return [PLAIN_FORMATS["TREC run"].format(delimiter)]


def _are_labels(columns: list[str]) -> bool:
    return len(columns) == 6 and all(re.fullmatch("-?[0-9]", text) for text in columns[3:])


def _labels_differ(source: Source, delimiter: str) -> bool:
    """Check whether columns 4 to 6 hold labels in all rows; in a run, column 6 would have one tag."""
    tags = set()
    for columns in _cells(source, delimiter, 6):
        if not _are_labels(columns):
            return False
        tags.add(columns[5])
    return len(tags) > 1


def _five_columns(source: Source, first: list[str], _: str, kind: Kind | None) -> list[Format]:
    where = source.location(None)
    if kind != "run" and is_number(first[4]) and re.fullmatch("-?[0-9]+ [0-9]+", f"{first[2]} {first[3]}"):
        raise InputError(
            "five columns: judgments of a sample, with query, document, relevance, method and probability "
            "(prels), from which measures are estimated",
            where=where,
            hint="Turn them into plain judgments by awk '{print $1, 0, $2, $3}' IN > OUT",
        )
    if kind != "qrels" and is_number(first[4]) and first[1].lower() in ("q0", "0"):
        raise InputError(
            "five columns: the sixth of a TREC run, its tag, is missing",
            where=where,
            hint="Add one, such as by sed 's/$/ tag/' IN > OUT",
        )
    return []


def _four_columns(source: Source, first: list[str], delimiter: str, kind: Kind | None) -> list[Format]:
    if first[2] in ("0", "1", "-1") and is_number(first[3]) and _are_ranked(source, delimiter):
        return [PLAIN_FORMATS["ranks and scores"].format(delimiter)]
    if delimiter and not (is_number(first[3]) or NTCIR_GRADE.fullmatch(first[3])):
        return []
    if kind == "run" and (delimiter or _have_scores(source, delimiter)):
        raise InputError(
            "four columns, but column 3 does not count 1, 2, 3 within each query: it is not a rank",
            where=source.location(None),
            hint=_NAME_COLUMNS_HINT.format(_header("query_id doc_id rank score", delimiter)),
        )
    is_judged = (
        is_number(first[3]) or NTCIR_GRADE.fullmatch(first[3]) or re.fullmatch("(?i)q?[0-9]+", first[1])
    )
    if kind == "run" and not is_judged:
        return []
    return [
        PLAIN_FORMATS["TREC qrels"].format(
            delimiter, PLAIN_FORMATS["levels"].note if NTCIR_GRADE.fullmatch(first[3]) else ""
        )
    ]


def _are_ranked(source: Source, delimiter: str) -> bool:
    """Check for ColBERT's columns: column 3 counts within each query, and the scores in column 4 fall.

    Each document in column 2 must occur once in its query; an iteration of TREC qrels would not.
    """
    rows: dict[str, list[tuple[int, float]]] = {}
    documents = set[tuple[str, str]]()
    for query_id, doc_id, rank, score in _cells(source, delimiter, 4):
        if not re.fullmatch("-1|[0-9]{1,9}", rank) or not is_number(score) or (query_id, doc_id) in documents:
            return False
        documents.add((query_id, doc_id))
        rows.setdefault(query_id, []).append((int(rank), float(score)))
    for ranked in rows.values():
        ranks = [rank for rank, _ in sorted(ranked, key=lambda row: row[0])]
        scores = [score for _, score in sorted(ranked, key=lambda row: row[0])]
        if set(ranks) == {-1}:
            continue
        if not _counts(ranks) or scores != sorted(scores, reverse=True):
            return False
    has_fractions = any(not score.is_integer() for ranked in rows.values() for _, score in ranked)
    return has_fractions or any(len(ranked) > 1 for ranked in rows.values())


def _have_scores(source: Source, delimiter: str) -> bool:
    """Check whether column 4 has fractions (scores), and column 2 differs in each row of a query (ids)."""
    pairs, n, has_fractions = set[tuple[str, str]](), 0, False
    for query_id, doc_id, _, score in _cells(source, delimiter, 4):
        pairs.add((query_id, doc_id))
        n += 1
        has_fractions = has_fractions or (is_number(score) and not float(score).is_integer())
        if len(pairs) < n:
            return False
    return has_fractions and n > len({query_id for query_id, _ in pairs})


def _counts(values: Sequence[float]) -> bool:
    """Check whether values are 1, 2, 3, … or 0, 1, 2, …, in any order."""
    first = min(values)
    return first in (0, 1) and sorted(values) == [first + n for n in range(len(values))]


def _three_columns(source: Source, first: list[str], delimiter: str, kind: Kind | None) -> list[Format]:
    if NTCIR_GRADE.fullmatch(first[2]):
        return [PLAIN_FORMATS["levels"].format(delimiter)]
    if not is_number(first[2]):
        return []
    meaning = _third_column(source, delimiter, kind)
    if meaning == "ranks" and kind == "qrels":
        raise InputError(
            "expected qrels, but column 3 counts 1, 2, 3 within each query, as the ranks of a run do",
            where=source.location(None),
            hint="The qrels come first, then the runs; if it is the relevance, name the columns in a first "
            f"line: {_header('query_id doc_id relevance', delimiter)}",
        )
    if meaning == "either":
        return [PLAIN_FORMATS[name].format(delimiter) for name in ("grades", "scores")]
    return [PLAIN_FORMATS[meaning].format(delimiter)]


def _third_column(source: Source, delimiter: str, kind: Kind | None) -> str:
    """Decide by all values whether column 3 holds ranks, scores, or either grades or scores.

    Ranks count within each query; scores in a file usually fall. Values that rise and do not count are
    ambiguous, and raise InputError.
    """
    values: dict[str, list[int]] = {}
    for query_id, _, text in _cells(source, delimiter, 3):
        if not re.fullmatch("-?[0-9]{1,9}", text):
            return "scores"
        values.setdefault(query_id, []).append(int(text))
    several = [column for column in values.values() if len(column) > 1]
    where = source.location(None)
    if several and all(map(_counts, values.values())):
        if kind != "qrels" and all(column == sorted(column, reverse=True) for column in several):
            raise InputError(
                "column 3 may hold ranks, the last first, or scores, the best first "
                f"(found {several[0][0]:g}, {several[0][1]:g})",
                where=where,
                hint=_either(delimiter),
            )
        if kind != "qrels" or all(column == sorted(column) for column in several):
            return "ranks"
    if kind == "qrels" or not several:
        return "either"
    if len({value for column in several for value in column}) == 1:
        raise InputError(
            f"column 3 is {several[0][0]:g} in all rows: neither a score nor a rank",
            where=where,
            hint="Write the rank or the score of each document into column 3",
        )
    if all(low < high for column in several for low, high in pairwise(column)):
        raise InputError(
            f"column 3 rises within each query, and does not count from 1 or 0 (found {several[0][0]:g}, "
            f"{several[0][1]:g}): it may hold ranks or scores",
            where=where,
            hint=_either(delimiter),
        )
    return "either"


_NAME_COLUMNS_HINT = "Name the columns in a first line, such as {}"


def _either(delimiter: str) -> str:
    rank, score = (_header(f"query_id doc_id {value}", delimiter) for value in ("rank", "score"))
    return f"{_NAME_COLUMNS_HINT.format(rank)} where the lowest is best, or {score} where the highest is"


def _header(names: str, delimiter: str) -> str:
    return names if delimiter in ("", "\t") else names.replace(" ", delimiter)


def _two_columns(source: Source, first: list[str], delimiter: str, kind: Kind | None) -> list[Format]:
    rest = [" ".join(cells) for cells in _cells(source, delimiter, 2)][1:]
    if kind != "run" and rest and all(map(_has_digit, rest)) and not _has_digit(" ".join(first)):
        raise InputError(
            "the first pair has no digit, but all others have: it may be a header",
            where=source.location(None),
            hint=f"If it is one, change it to {_header('query_id doc_id', delimiter)}",
        )
    return [PLAIN_FORMATS["pairs"].format(delimiter)]


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


_BY_COLUMNS = {2: _two_columns, 3: _three_columns, 4: _four_columns, 5: _five_columns, 6: _six_columns}
"""Functions that list the formats of a file without a header, by its number of columns."""


# --- unknown formats ---------------------------------------------------------------------------------


def _unknown_format(source: Source, number: int, text: str, kind: Kind | None) -> InputError:
    """Build the error for a file whose first line fits no format; the hint lists formats of its layout."""
    if not text:
        what, hint = "the file", ""
        if source.path == STDIN:
            what, hint = "standard input", "Standard input can supply the qrels or a run, not both"
        state = "is empty" if not source.size else "has no rows"
        return InputError(f"{what} {state}", where=str(source.path), hint=hint)
    where = source.location(number)
    if "\r" in text:
        return return_error(where)
    for beginning, (problem, advice) in _OTHER_CONTENTS.items():
        if re.match(beginning, text, re.IGNORECASE):
            problem = f"expected {WANTED[kind]}, but this is {problem} ({short_repr(text)})"
            return InputError(problem, where=where, hint=advice)
    layout, advice = _nearest_layout(text, kind or "run")
    shapes = [shape for known in KINDS if kind in (None, known) for shape in KNOWN[layout][known]]
    return InputError(
        f"unknown format: expected {WANTED[kind]} (found {short_repr(text)})",
        where=where,
        hint=f"{advice}Known with {layout.value}: {' or '.join(shapes)}",
    )


def _nearest_layout(text: str, kind: Kind) -> tuple[Layout, str]:
    """Guess the intended layout of a line; return also advice on its error."""
    if text.startswith(("{", "[")):
        reason = _reason(text)
        layout = Layout.ARRAY if text.startswith("[") else Layout.JSON_LINES
        return layout, f"The line is not valid JSON ({reason}). " if reason else ""
    delimiter = next((character for character in DELIMITERS if character in text), "")
    if not delimiter:
        return Layout.COLUMNS, ""
    names = cells_of(text, delimiter)
    if any(map(is_number, names)):
        header = _header(f"query_id doc_id {VALUE_COLUMNS[kind]}", delimiter)
        return Layout.TABLE, f"Name its {pluralize(len(names), 'column')} in a first line, such as {header}. "
    missing = [column for column in ("query_id", "doc_id", VALUE_COLUMNS[kind]) if not called(column, names)]
    if not missing and (repeated := [name for name in names if names.count(name) > 1]):
        return Layout.TABLE, f"Two columns are called {repeated[0]}: leave one out. "
    has_some = 0 < len(missing) < 3
    return (
        Layout.TABLE,
        f"{' and '.join(missing)} {_IS[len(missing) > 1]} missing in the header. " if has_some else "",
    )


_IS = {False: "is", True: "are"}


def _reason(text: str) -> str:
    """Describe why a line is not valid JSON; empty if it is valid."""
    try:
        json.loads(text)
    except WRONG as error:
        return str(error)
    return ""


_FEATURES = r"\S+ qid:\S+ [0-9]+:"
_OTHER_CONTENTS = {
    r"<(!doctype|html|head|body|\?xml)": (
        "an HTML or XML page",
        "It may be an error page in place of a file: look at it, and download the file again",
    ),
    _FEATURES: (
        "a file of features for learning to rank (SVMlight, LETOR)",
        "If its comments name the documents, write qrels from it by "
        r"sed -E 's/^(\S+) qid:(\S+) .*docid *= *(\S+).*/\2 0 \3 \1/' IN > OUT",
    ),
}
"""Other files that users give by mistake: a pattern of their beginning, a description, and advice."""
