"""What a text file is: its layout by the first line, and what its columns are by what stands in them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Any

from permed_measures.errors import InputError, short_repr
from permed_measures.escaping import pluralize
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
    json_of,
    return_error,
    two_lines_error,
)
from permed_measures.provenance import STDIN

WANTED: dict[Kind | None, str] = {"qrels": "qrels", "run": "a run", None: "qrels or a run"}
_BY_LIST = (
    "; if its rows are ranked, --order list takes their order as the run on the command line, "
    "permed_measures.read_run(path, order='list') in Python"
)


def recognised(source: Source, kind: Kind | None = None, by_list: bool = False, subset: str = "") -> TextFile:
    """Recognise what a file holds; without `kind` it is read as that.

    With `by_list` the order of any qrels can be a run, without it that of labels in JSON. Of a file of MTEB
    with several subsets, `subset` names one.
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
    if not formats or "\r" in text:
        raise _unknown_format(source, number, text, kind)
    found = next((each for each in formats if each.kind == kind), formats[0])
    is_ranked = kind == "run" and (by_list or found.layout in (Layout.JSON_LINES, Layout.ARRAY))
    if kind not in (None, found.kind) and not is_ranked:
        raise InputError(
            f"expected {WANTED[kind]}, but this file holds {found.with_article} ({found.shape})",
            where=str(source.path),
            hint=f"The qrels come first, then the runs{_BY_LIST if kind == 'run' and found.in_order else ''}",
        )
    kinds = frozenset(each.kind for each in formats if not each.if_asked)
    return TextFile(source, found, kind or found.kind, kinds, first, content)


def _first_row(source: Source) -> tuple[int, str]:
    """Return the first line that is neither empty nor a comment; where all begin with #, one with columns."""
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
    """Return the formats of a file that begins with an object, and what it holds if it is one object."""
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
        if formats and (is_cut or is_whole_line):  # a line of them is wrong
            return formats, None
        if is_cut or is_whole_line:
            return [], None
        raise _not_json(source, error, text) from None
    _check_by_rows(source, dict(content))
    return _of_whole(source, content, is_whole_line, subset)


_KEY = re.compile(r'"([^"\\]*)"\s*:')


def _check_by_rows(source: Source, content: dict[str, Any]) -> None:
    """Raise InputError for what pandas writes by columns: an object or a list for each of them."""
    kinds = {*map(type, content.values())}
    by_columns = kinds in ({dict}, {tuple}, {list}) and bool(Header(list(content)).formats())
    if by_columns or {"columns", "data"} <= content.keys():
        raise InputError(
            "a table in JSON by columns",
            where=str(source.path),
            hint="Write it by rows, of pandas such as by frame.to_json(path, orient='records')",
        )


def _not_json(source: Source, error: Exception, text: str) -> InputError:
    """Return the error for a file that is no JSON, with the line that is wrong."""
    line = error.lineno if isinstance(error, json.JSONDecodeError) else None
    wrong = "" if line is None else text.split("\n")[line - 1].strip(BLANKS)
    reason = f"not valid JSON ({error})" if line is not None else str(error)
    return InputError(
        f"not BEIR or MTEB JSON: {reason}{f' in {short_repr(wrong)}' if wrong else ''}",
        where=source.location(line),
        hint="Expected {query_id: {doc_id: number}}; correct this file",
    )


def _of_whole(source: Source, content: Any, is_line: bool, subset: str) -> tuple[list[Format], Any]:
    """Return the formats of a file that is one JSON object, and its queries or objects."""
    kinds: Sequence[Kind] = KINDS
    if any(key == _META for key, _ in content) or _holds_collections(content):
        queries = _of_subset(source, content, subset)
    elif items := _objects_in(content):
        return formats_of_object(as_object(items[0], check=False), Layout.ARRAY), items
    else:
        queries = content
        for key, value in content:
            of_key = [kind for kind in KINDS if key.lower() in LISTS[kind]]
            if of_key and isinstance(value, tuple) and all(isinstance(each, list) for _, each in value):
                queries, kinds = value, of_key
    if is_line and not all(isinstance(value, tuple | list) for _, value in queries):
        return [], None
    if all(isinstance(value, list) for _, value in queries):
        queries = [(query_id, as_object(value)) for query_id, value in queries]
    try:
        return formats_of_queries(queries, kinds), list(queries)
    except ValueError as error:
        raise InputError(str(error), where=str(source.path)) from None


def _objects_in(content: Any) -> list[Any]:
    """Return the objects of the one list in an object that are entries, such as requests of Elasticsearch."""
    lists = [
        value for _, value in content if isinstance(value, list) and value and isinstance(value[0], tuple)
    ]
    known = [items for items in lists if formats_of_object(as_object(items[0], check=False))]
    return known[0] if len(known) == 1 else []


def _of_subset(source: Source, content: Any, subset: str) -> Any:
    """Return the queries of MTEB, which has them under subset and split, beside what the model is."""
    splits: dict[tuple[str, ...], Any] = {}
    is_mteb = any(key == _META for key, _ in content)
    for name, value in content:
        if name != _META and isinstance(value, tuple):
            if is_mteb or _holds_collections(value):
                splits |= {(name, split): queries for split, queries in value}
            else:
                splits[name,] = value
    if not is_mteb and (found := _number_in_object(content)):
        raise InputError(
            f"the number of a document must stand alone (found {short_repr(found)})",
            where=str(source.path),
            hint="Expected {query_id: {doc_id: number}}",
        )
    meant = {names: splits[names] for names in splits if subset in ("", names[0], "/".join(names))}
    if not subset and all(len(names) == 1 and names[0] not in _SPLIT_NAMES for names in splits):
        meant = {}  # it may be a query
    if len(meant) == 1 and isinstance(queries := next(iter(meant.values())), tuple):
        return queries
    known = ", ".join("/".join(names) for names in splits)
    one = next(iter(meant or splits), ("", ""))
    name = one[0] if sum(names[0] == one[0] for names in splits) == 1 else "/".join(one)
    raise InputError(
        f"its queries stand under the names of subsets and splits of MTEB, of which one can be read: {known}"
        + (f" (found {short_repr(subset)})" if subset else ""),
        where=str(source.path),
        hint=f"Name one: --subset {name} of evaluate, compare and convert, "
        f"permed_measures.read_run(path, subset={name!r}) in Python",
    )


def _number_in_object(content: Any) -> dict[str, Any]:
    """Return the first document of queries if it is an object with a score or a grade; else nothing."""
    first = next(iter(content[0][1]), (None, ()))[1]
    document = dict(first) if isinstance(first, tuple) else {}
    is_one = any(called(column, document) for column in ("relevance", "score", "rank"))
    return document if is_one and all(isinstance(each, int | float) for each in document.values()) else {}


_META = "mteb_model_meta"
_SPLIT_NAMES = ("default", "train", "dev", "validation", "test")
"""Names of subsets and splits that no query has."""


def _holds_collections(content: Any) -> bool:
    """Return whether each value of an object holds queries: objects of objects."""
    values = [value for key, value in content if key != _META]
    return bool(values) and all(
        isinstance(value, tuple) and value and all(isinstance(each, tuple) for _, each in value)
        for value in values
    )


def _of_array(source: Source, number: int) -> tuple[list[Format], Any]:
    """Return the formats of a file that is a JSON array, and its objects; None if it is no JSON."""
    text = "\n".join(line for _, line in source.lines())
    try:
        items = json_of(text)
    except (ValueError, RecursionError):
        return [], None
    if items and not isinstance(items[0], tuple):
        raise InputError(
            f"a JSON array in which no query stands (found {short_repr(as_object(items[0], check=False))})",
            where=source.location(number),
            hint='Write an object for each row, such as {"query_id": "q1", "doc_id": "d1", "score": 1.5}',
        )
    return (formats_of_object(as_object(items[0], check=False), Layout.ARRAY) if items else []), items


# --- columns without a header ------------------------------------------------------------------------


def _of_columns(source: Source, text: str, kind: Kind | None) -> tuple[list[Format], list[str]]:
    """Return the formats of a file whose first row has columns, and these columns."""
    delimiter = _delimiter_of(source, text)
    first = cells_of(text, delimiter) if delimiter else split_columns(text)
    recognise = _BY_COLUMNS.get(min(len(first), 6))
    found = recognise(source, first, delimiter, kind) if recognise else []
    if found and text[0] in "<[" and (len(first) == 2 or not is_row(first, first, found[0])):
        return [], first
    return found, first


def _check_one_line(source: Source, number: int, first: list[str], delimiter: str) -> None:
    """Raise InputError if the first row of a run is two lines in one, and no tag of several words.

    A tag stands in the row below it too.
    """
    texts = [row.strip(BLANKS) for row in islice(_rows(source), 1, 2)]
    below = [cells_of(text, delimiter) if delimiter else split_columns(text) for text in texts]
    q0 = next((row[1] for row in below if len(row) > 1), first[1])
    if (place := second_line(first, q0, is_first=True)) and first[5:] not in [row[5:] for row in below]:
        raise two_lines_error(first, place, source.location(number))


def _delimiter_of(source: Source, text: str) -> str:
    """Return what divides the columns of all rows: white space (empty), tabs, commas or semicolons."""
    delimiters = [each for each in DELIMITERS if each in text]
    if not delimiters:
        return ""
    rows = [line.strip(BLANKS) for line in _rows(source, 1000)]
    n_blanks = {len(split_columns(row)) for row in rows}
    for delimiter in delimiters:
        counts = {len(cells_of(row, delimiter)) for row in rows}
        if len(counts) != 1 or counts == n_blanks or counts.isdisjoint((2, 3, 4, 6)):
            continue
        [n] = counts
        if delimiter == "\t" and n < 6 and any(map(_is_trec, rows)):
            continue  # with tabs among the blanks
        number = cells_of(text, delimiter)[4 if n == 6 else n - 1]
        if n_blanks == {1} or (n > 2 and (is_number(number) or NTCIR_GRADE.fullmatch(number))):
            return delimiter
        if n == 2 and delimiter == "\t" and not is_number(split_columns(text)[-1]):
            return delimiter
    return ""


def _is_trec(row: str) -> bool:
    """Return whether a row, divided at white space, has the columns of TREC qrels or of a TREC run."""
    cells = split_columns(row)
    if len(cells) == 4:
        return bool(re.fullmatch("(?i)q?[0-9]+", cells[1])) and is_number(cells[3])
    return len(cells) >= 6 and is_number(cells[4]) and bool(RANK.fullmatch(cells[3]))


def _rows(source: Source, most: int = 0) -> Iterator[str]:
    """Yield the first lines that are neither empty nor comments; without `most` all."""
    n = 0
    for _, line in source.lines():
        if not is_skipped(line):
            yield line
            n += 1
            if n == most:
                return


def _cells(source: Source, delimiter: str, n: int) -> Iterator[list[str]]:
    """Yield the rows of a file that have `n` columns; what has others is an error when it is read."""
    for line in _rows(source):
        text = line.strip(BLANKS)
        cells = cells_of(text, delimiter) if delimiter else split_columns(text)
        if len(cells) == n:
            yield cells


def _six(source: Source, first: list[str], delimiter: str, kind: Kind | None) -> list[Format]:
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
    """Return whether column 6 of all rows holds labels: of a run, it would be one tag."""
    tags = set()
    for columns in _cells(source, delimiter, 6):
        if not _are_labels(columns):
            return False
        tags.add(columns[5])
    return len(tags) > 1


def _five(source: Source, first: list[str], _: str, kind: Kind | None) -> list[Format]:
    where = source.location(None)
    if kind != "run" and is_number(first[4]) and re.fullmatch("-?[0-9]+ [0-9]+", f"{first[2]} {first[3]}"):
        raise InputError(
            "five columns: judgments of a sample, with query, document, relevance, method and probability "
            "(prels), from which measures are estimated",
            where=where,
            hint="As plain judgments they are read after awk '{print $1, 0, $2, $3}' IN > OUT",
        )
    if kind != "qrels" and is_number(first[4]) and first[1].lower() in ("q0", "0"):
        raise InputError(
            "five columns: the sixth of a TREC run, its tag, is missing",
            where=where,
            hint="Add one, such as by sed 's/$/ tag/' IN > OUT",
        )
    return []


def _four(source: Source, first: list[str], delimiter: str, kind: Kind | None) -> list[Format]:
    if first[2] in ("0", "1", "-1") and is_number(first[3]) and _are_ranked(source, delimiter):
        return [PLAIN_FORMATS["ranks and scores"].format(delimiter)]
    if delimiter and not (is_number(first[3]) or NTCIR_GRADE.fullmatch(first[3])):
        return []
    if kind == "run" and (delimiter or _have_scores(source, delimiter)):
        raise InputError(
            "four columns, of which column 3 does not count within each query: no rank stands there",
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
    """Return whether column 3 counts within each query, and the scores in column 4 fall, as ColBERT has it.

    Of documents in column 2, each stands once in its query; an iteration of TREC would not.
    """
    rows: dict[str, list[tuple[int, float]]] = {}
    documents = set[tuple[str, str]]()
    for query_id, doc_id, rank, score in _cells(source, delimiter, 4):
        if not re.fullmatch("-1|[0-9]{1,9}", rank) or not is_number(score) or (query_id, doc_id) in documents:
            return False
        documents.add((query_id, doc_id))
        rows.setdefault(query_id, []).append((int(rank), float(score)))
    for each in rows.values():
        ranks = [rank for rank, _ in sorted(each, key=lambda row: row[0])]
        scores = [score for _, score in sorted(each, key=lambda row: row[0])]
        if set(ranks) == {-1}:
            continue
        if not _counts(ranks) or scores != sorted(scores, reverse=True):
            return False
    has_fractions = any(not score.is_integer() for each in rows.values() for _, score in each)
    return has_fractions or any(len(each) > 1 for each in rows.values())


def _have_scores(source: Source, delimiter: str) -> bool:
    """Return whether column 4 has fractions, and column 2 another text in each row of a query: an id."""
    pairs, n, has_fractions = set[tuple[str, str]](), 0, False
    for query_id, doc_id, _, score in _cells(source, delimiter, 4):
        pairs.add((query_id, doc_id))
        n += 1
        has_fractions = has_fractions or (is_number(score) and not float(score).is_integer())
        if len(pairs) < n:
            return False
    return has_fractions and n > len({query_id for query_id, _ in pairs})


def _counts(values: Sequence[float]) -> bool:
    """Return whether values are 1, 2, 3, … or 0, 1, 2, …, in any order."""
    first = min(values)
    return first in (0, 1) and sorted(values) == [first + n for n in range(len(values))]


def _three(source: Source, first: list[str], delimiter: str, kind: Kind | None) -> list[Format]:
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
    """Return what column 3 is, by all of its values: ranks, scores, or either grades or scores.

    Ranks count within each query; the scores of a file fall. What rises and does not count is neither.
    """
    values: dict[str, list[int]] = {}
    for query_id, _, text in _cells(source, delimiter, 3):
        if not re.fullmatch("-?[0-9]{1,9}", text):
            return "scores"
        values.setdefault(query_id, []).append(int(text))
    several = [each for each in values.values() if len(each) > 1]
    where = source.location(None)
    if several and all(map(_counts, values.values())):
        if kind != "qrels" and all(each == sorted(each, reverse=True) for each in several):
            raise InputError(
                "column 3 may hold ranks, the last first, or scores, the best first "
                f"(found {several[0][0]:g}, {several[0][1]:g})",
                where=where,
                hint=_either(delimiter),
            )
        if kind != "qrels" or all(each == sorted(each) for each in several):
            return "ranks"
    if kind == "qrels" or not several:
        return "either"
    if (
        all(len(set(each)) == 1 for each in several)
        and len({value for each in several for value in each}) == 1
    ):
        raise InputError(
            f"column 3 is {several[0][0]:g} in all rows: neither a score nor a rank",
            where=where,
            hint="Write the rank or the score of each document into column 3",
        )
    if all(low < high for each in several for low, high in pairwise(each)):
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


def _two(source: Source, first: list[str], delimiter: str, kind: Kind | None) -> list[Format]:
    rest = [" ".join(cells) for cells in _cells(source, delimiter, 2)][1:]
    if kind != "run" and rest and all(map(_has_digit, rest)) and not _has_digit(" ".join(first)):
        raise InputError(
            "the first of these pairs has no digit, as all others have: it may be a header",
            where=source.location(None),
            hint=f"Let it be {_header('query_id doc_id', delimiter)} if it is one",
        )
    return [PLAIN_FORMATS["pairs"].format(delimiter)]


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


_BY_COLUMNS = {2: _two, 3: _three, 4: _four, 5: _five, 6: _six}
"""What a file may be, by the number of its columns."""


# --- what is not known -------------------------------------------------------------------------------


def _unknown_format(source: Source, number: int, text: str, kind: Kind | None) -> InputError:
    """Return the error for a file whose first line fits no format, with those of the same layout."""
    if not text:
        what, hint = "the file", ""
        if source.path == STDIN:
            what, hint = "standard input", "Only one of qrels and runs can come from it"
        lacks = "is empty" if not source.size else "has no rows"
        return InputError(f"{what} {lacks}", where=str(source.path), hint=hint)
    where = source.location(number)
    if "\r" in text:
        return return_error(where)
    for beginning, (problem, advice) in _OTHER_CONTENTS.items():
        if re.match(beginning, text, re.IGNORECASE):
            problem = f"expected {WANTED[kind]}, but this is {problem} ({short_repr(text)})"
            return InputError(problem, where=where, hint=advice)
    layout, advice = _nearest_layout(text, kind or "run")
    known = [shape for of in KINDS if kind in (None, of) for shape in KNOWN[layout][of]]
    return InputError(
        f"unknown format: expected {WANTED[kind]} (found {short_repr(text)})",
        where=where,
        hint=f"{advice}Known with {layout.value}: {' or '.join(known)}",
    )


def _nearest_layout(text: str, kind: Kind) -> tuple[Layout, str]:
    """Return the layout that a line may have been meant in, and what is wrong with it."""
    if text.startswith(("{", "[")):
        reason = _reason(text)
        layout = Layout.ARRAY if text.startswith("[") else Layout.JSON_LINES
        return layout, f"The line is not valid JSON ({reason}). " if reason else ""
    delimiter = next((each for each in DELIMITERS if each in text), "")
    if not delimiter:
        return Layout.COLUMNS, ""
    names = cells_of(text, delimiter)
    if any(map(is_number, names)):
        header = _header(f"query_id doc_id {VALUE_COLUMNS[kind]}", delimiter)
        return Layout.TABLE, f"Name its {pluralize(len(names), 'column')} in a first line, such as {header}. "
    lacks = [ours for ours in ("query_id", "doc_id", VALUE_COLUMNS[kind]) if not called(ours, names)]
    if not lacks and (again := [name for name in names if names.count(name) > 1]):
        return Layout.TABLE, f"Two columns are called {again[0]}: leave one out. "
    has_some = 0 < len(lacks) < 3
    return (
        Layout.TABLE,
        f"{' and '.join(lacks)} {_IS[len(lacks) > 1]} missing in the header. " if has_some else "",
    )


_IS = {False: "is", True: "are"}


def _reason(text: str) -> str:
    """Return why a line is not valid JSON; empty if it is."""
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
        "a file of features for learning to rank, as SVMlight and LETOR have it",
        "Where its comments name the documents, write qrels of it by "
        r"sed -E 's/^(\S+) qid:(\S+) .*docid *= *(\S+).*/\2 0 \3 \1/' IN > OUT",
    ),
}
"""What is met in place of qrels and runs, by how it begins; and what to do."""
