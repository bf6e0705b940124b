"""A plain reader of each format, written from its definition: nothing is shared with the package.

Each reader yields, in the order of the file, the number of a line (None where the format has no lines), a
query and its documents with their values, and a rank if there is such a column; ``None`` as value is a list
without scores. ``read`` makes a table ``{query_id: {doc_id: number}}`` of that, or raises ``RefusedError``
for what must be refused.
"""

import csv
import io
import itertools
import json
import math
import re

import pyarrow as pa
import pyarrow.parquet as pq

BLANKS = " \t\v\f\r"
ALIASES = {
    "query": ("query_id", "qid", "q_id"),
    "document": ("doc_id", "docno"),
    "run": ("score",),
    "qrels": ("relevance", "label"),
}


class RefusedError(Exception):
    """A file that must not be read; ``line`` is the number of the line that is wrong, if one is."""

    def __init__(self, line=None):
        super().__init__(line)
        self.line = line


def require(truth, line=None):
    if not truth:
        raise RefusedError(line)


def read(format_name, data, what, ranks):
    """Return the table of a file of this format that is read as ``what``, 'qrels' or 'run'.

    The ranks of the documents are put into ``ranks``, where the file has such a column.
    """
    table = {}
    for line, query_id, documents, *rank in READERS[format_name](data, what):
        ranks.setdefault(query_id, []).extend(rank)
        require(query_id not in table or format_name not in WHOLE, line)
        judged = table.setdefault(query_id, {})
        for doc_id, value in documents:
            require(doc_id not in judged, line)
            judged[doc_id] = value
    require(table or format_name in ("CSV or TSV", "BEIR or MTEB JSON", "Parquet"))
    return {query_id: with_scores(documents) for query_id, documents in table.items()}


def with_scores(documents):
    """Give a list without scores the negative positions; scores for some documents only are refused."""
    missing = [value is None for value in documents.values()]
    require(all(missing) or not any(missing))
    return by_position(documents) if any(missing) else documents


def by_position(documents):
    """Return the documents with scores that keep their order."""
    return {doc_id: -float(rank) for rank, doc_id in enumerate(documents, start=1)}


def in_order(documents, ranks):
    """Return the documents in the order of their ranks; nothing unless all have one."""
    numbers = [rank_number(rank) for rank in ranks]
    if len(documents) != len(ranks) or None in numbers:
        return []
    return [doc_id for _, doc_id in sorted(zip(numbers, documents, strict=True), key=lambda x: x[0])]


def rank_number(rank):
    """Return a rank as a number, None where there is none; what else stands there is refused."""
    text = str(rank).strip()
    if rank is None or text.lower() in ("", "-", "nan", "+nan", "-nan"):
        return None
    require(
        type(rank) in (str, int, float)
        and re.fullmatch(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?", text, re.I)
    )
    number = float(text)
    require((number >= 0 or number == -1) and number < math.inf)
    return None if number == -1 else number


def lines_of(data):
    """Yield the number and text of each line: a line feed ends it, and one mark at the start is no text."""
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        require(b"\0" not in line, number)
        try:
            yield number, line.decode("utf-8")
        except UnicodeDecodeError:
            raise RefusedError(number) from None


def as_text(value, line):
    require(type(value) in (str, int), line)
    try:
        return str(value).encode().decode()
    except UnicodeEncodeError:
        raise RefusedError(line) from None


def as_number(value, what, line):
    """Return a score as float (infinite ones count), a relevance as it stands (finite)."""
    require(type(value) in (int, float), line)
    try:
        require(math.isfinite(value) or (what == "run" and not math.isnan(value)), line)
    except OverflowError:
        raise RefusedError(line) from None
    return float(value) if what == "run" else value


def parsed(text, what, line):
    """Return the number that a column of text says."""
    require("_" not in text, line)
    for kind in (float,) if what == "run" else (int, float):
        try:
            return as_number(kind(text), what, line)
        except ValueError:
            continue
    raise RefusedError(line)


# --- columns and tables ----------------------------------------------------------------------------


def trec(data, what):
    """Read rows; a line that begins with # is one if it has the columns of the first row."""
    split = divided_by(data, 4 if what == "qrels" else 6)
    first = first_columns(data, split)
    second = second_row(data, split) or first[:2]
    for number, text in lines_of(data):
        line = text.strip(BLANKS)
        require("\r" not in line, number)
        columns = split(line)
        if line and (line[0] != "#" or is_a_row(columns, first, what)):
            require(len(columns) == 4 if what == "qrels" else len(columns) >= 6, number)
            if what == "run" and len(columns) > 6:
                known, is_first = (second, True) if columns == first else (first, False)
                second_columns = {known[1] if len(known) > 1 else columns[1]}
                second_columns |= set() if is_first and columns[1].lower() == "q0" else {columns[1], "0"}
                parts = [columns[n:] for n in range(2, len(columns))]
                begins = any(is_a_second_line(part, second_columns, len(columns), is_first) for part in parts)
                require(columns[5:] == known[5:] or not begins, number)
                require(re.fullmatch(r"[-+]?[0-9.]*", columns[3]), number)
            is_same_tag = what == "run" and columns[-1] == first[-1]
            require(not is_same_tag or len(columns) == len(first), number)
            if is_same_tag and len(columns) > 6:
                require(columns[5:] == first[5:] or not is_a_score(columns[5]), number)
            value = parsed(columns[3 if what == "qrels" else 4], what, number)
            yield number, columns[0], [(columns[2], value)], columns[3]


def at_blanks(text):
    return re.split(f"[{BLANKS}]+", text)


def divided_by(data, n):
    """Return what divides lines: tabs where each row has n columns between them, and blanks give others."""
    texts = [line.strip(BLANKS) for _, line in lines_of(data)]
    rows = [text for text in texts if text and text[0] != "#"]
    by_tabs, by_blanks = {len(in_tabs(row)) for row in rows}, {len(at_blanks(row)) for row in rows}
    is_tabbed = by_tabs == {n} != by_blanks and is_a_score(in_tabs(rows[0])[3 if n == 4 else 4])
    return in_tabs if is_tabbed else at_blanks


def first_columns(data, split):
    """Return the columns of the first row that does not begin with #; without one, of the first that does."""
    texts = [line.strip(BLANKS) for _, line in lines_of(data)]
    rows = [split(text) for text in texts if text]
    plain = [row for row in rows if row[0][0] != "#"]
    others = [row for row in rows if row[0] != "#" and len(row) in (4, 6)]
    return (plain or others or [[""]])[0]


def second_row(data, split):
    """Return the columns of the second row that does not begin with #, if there is one."""
    texts = [line.strip(BLANKS) for _, line in lines_of(data)]
    return next(itertools.islice((split(text) for text in texts if text and text[0] != "#"), 1, None), None)


def is_a_row(columns, first, what):
    """Tell whether a line that begins with # has what the rows have: as many columns, the second the same."""
    if columns[0] == "#" or len(columns) != len(first) or columns[1] != first[1]:
        return False
    try:
        parsed(columns[3 if what == "qrels" else 4], what, None)
    except RefusedError:
        return False
    return what == "qrels" or len(columns) == 6 or bool(re.fullmatch(r"[-+]?[0-9.]*", columns[3]))


def is_a_score(text):
    try:
        return "_" not in text and not math.isnan(float(text))
    except ValueError:
        return False


def is_a_second_line(part, second_columns, n, is_first):
    """Tell whether Q0, a document, a rank and a score follow each other, or the line ends before them.

    In place of Q0 the text of column 2 stands too, where the tag would, or if what follows can be a rank.
    """
    says_q0 = part[0].lower() == "q0"
    if len(part) < 4:
        return says_q0 and not is_first
    try:
        float(part[3])
    except ValueError:
        return False
    is_row = n - len(part) > 5 or (len(part) > 4 and re.fullmatch(r"[-+]?[0-9.]*", part[2]))
    return says_q0 or (part[0] in second_columns and bool(is_row))


def table(data, what):
    """CSV and TSV: comments and empty lines before the header only; a quoted cell may hold line ends."""
    lines = itertools.dropwhile(lambda line: line[1].strip(BLANKS)[:1] in ("", "#"), lines_of(data))
    [(first, header), *lines] = lines
    require(any(d in header for d in "\t,;"), first)
    delimiter = next(d for d in "\t,;" if d in header)
    is_tabbed = delimiter == "\t"
    names = in_tabs(header.removesuffix("\r")) if is_tabbed else one_row(header, delimiter)
    wanted = [(name,) for name in ("query-id", "corpus-id", "score")]
    if not all(name in names for [name] in wanted):
        wanted = [ALIASES["query"], ALIASES["document"], ALIASES[what]]
    require(all(set(some) & set(names) for some in wanted), first)
    places = [[names.index(name) for name in some if name in names] for some in wanted]
    ranks = [names.index("rank")] if "rank" in names else []
    if is_tabbed:
        for number, text in lines:
            if text.removesuffix("\r"):
                require("\r" not in text.removesuffix("\r"), number)
                yield row_of(in_tabs(text.removesuffix("\r")), names, places, ranks, what, number)
        return
    rows = csv.reader((text + "\n" for _, text in lines), delimiter=delimiter, strict=True)
    number = first + 1
    while True:
        try:
            row = next(rows, None)
        except csv.Error:
            raise RefusedError(number) from None
        if row is None:
            return
        if row:
            inside = [line for cell in row for line in cell.split("\n")[1:-1]]
            require(not any(is_whole_row(line, delimiter, names, places, what) for line in inside), number)
            yield row_of(row, names, places, ranks, what, number)
        number = first + 1 + rows.line_num


def in_tabs(line):
    """Return the cells between tabs, those that are quoted as a whole without their quotes."""
    quoted = re.compile('"(?:[^"]|"")*"')
    return [c[1:-1].replace('""', '"') if quoted.fullmatch(c) else c for c in line.split("\t")]


def one_row(line, delimiter):
    return next(csv.reader([line], delimiter=delimiter, strict=True))


def is_whole_row(line, delimiter, names, places, what):
    """Tell whether a line within a quoted cell would be a row by itself."""
    try:
        row_of(one_row(line.removesuffix("\r"), delimiter), names, places, [], what, None)
    except (csv.Error, RefusedError, StopIteration):
        return False
    return True


def row_of(row, names, places, ranks, what, number):
    """Return query, document and number of a row; two columns that may both be meant say the same."""
    require(len(row) == len(names), number)
    cells = [{row[place] for place in some} for some in places]
    require(all(len(found) == 1 for found in cells), number)
    query_id, doc_id, value = (found.pop() for found in cells)
    rank = row[ranks[0]] if ranks else ""
    return number, query_id, [(doc_id, parsed(value, what, number))], rank


def parquet(data, what):
    try:
        frame = pq.ParquetFile(io.BytesIO(data), pre_buffer=False).read(use_threads=False)
    except (pa.ArrowInvalid, OSError):
        raise RefusedError from None
    wanted = [ALIASES[column] for column in ("query", "document", what)]
    columns = [frame.column(next(n for n in some if n in frame.column_names)).to_pylist() for some in wanted]
    ranks = [""] * len(columns[0])
    if "rank" in frame.column_names:
        ranks = frame.column("rank").to_pylist()
    for query_id, doc_id, value, rank in zip(*columns, ranks, strict=True):
        yield None, as_text(query_id, None), [(as_text(doc_id, None), as_number(value, what, None))], rank


# --- JSON ------------------------------------------------------------------------------------------


def without_repeated(pairs):
    content = dict(pairs)
    require(len(content) == len(pairs))
    return content


def json_of(text, line=None):
    try:
        return json.loads(text, object_pairs_hook=without_repeated)
    except (ValueError, RefusedError):
        raise RefusedError(line) from None


def objects(data):
    """Yield the object of each line; a first line that is none may be the start of a longer JSON text."""
    is_first = True
    for number, line in lines_of(data):
        if line.strip(BLANKS):
            content = json_of(line.strip(BLANKS), None if is_first else number)
            require(isinstance(content, dict), number)
            yield number, content
            is_first = False


def medcorpus(data, what):
    for line, content in objects(data):
        names = ("conversation_id", "turn_id", "doc_id")
        conversation, turn, doc_id = (as_text(content.get(name), line) for name in names)
        grade = as_number(content.get("rel"), "qrels", line)
        yield line, f"{conversation}_{turn}", [(doc_id, grade if what == "qrels" else None)]


def rows(data, what):
    """Objects with a query, a document and a number, in lines or in an array, under any of these names."""
    text = "\n".join(line for _, line in lines_of(data)).strip()
    contents = [(None, each) for each in json_of(text)] if text.startswith("[") else objects(data)
    for line, content in contents:
        names = {name.lower(): name for name in content}
        document = named(names, ["docno doc_id", "docid corpus_id text_id pid passage_id", "_id"], line)
        names.pop(document.lower())
        query = named(names, ["query_id qid q_id", "topic_id caseid", "_id", "query"], line)
        ids = as_text(content[query], line), as_text(content[document], line)
        if what == "qrels":
            name = named(names, ["relevance label", "rel rating grade"], line)
            yield line, ids[0], [(ids[1], as_number(content[name], what, line))]
            continue
        if "score" not in content:
            try:
                value = rank_number(content.get("rank"))
            except RefusedError:
                raise RefusedError(line) from None
            require(value is not None, line)
        value = as_number(content["score"], what, line) if "score" in content else -value
        yield line, ids[0], [(ids[1], value)], content.get("rank")


def named(names, groups, line):
    """Return the one name of the first group that has any."""
    found = [[names[name] for name in group.split() if name in names] for group in groups]
    found = next(filter(None, found), [])
    require(len(found) == 1, line)
    return found[0]


def ranked(data, _):
    """Query, document and a rank that counts within each query; files are not changed."""
    for number, text in lines_of(data):
        if not text.strip(BLANKS):
            continue
        columns = at_blanks(text.strip(BLANKS))  # an id may have a comma
        query_id, doc_id, rank = (
            columns if len(columns) == 3 else re.split(f"[{BLANKS},]+", text.strip(BLANKS))
        )
        yield number, query_id, [(doc_id, -float(rank))], rank


def judged_pairs(data, _):
    for number, text in lines_of(data):
        if text.strip(BLANKS):
            query_id, doc_id = re.split(f"[{BLANKS}]+", text.strip(BLANKS))
            yield number, query_id, [(doc_id, 1)]


def ids_of(content, key, line):
    require(isinstance(content.get(key), list), line)
    return [as_text(doc_id, line) for doc_id in content[key]]


def ground_truth(data, _):
    for line, content in objects(data):
        ids = ids_of(content, "relevant_texts", line)
        yield line, as_text(content.get("query_id"), line), [(doc_id, 1) for doc_id in ids]


def results(data, what):
    for line, content in objects(data):
        items = content.get("ranked_results", content.get("results"))
        require(isinstance(items, list), line)
        documents = []
        for item in items:
            entry = item if isinstance(item, dict) else {"text_id": item}
            score = entry.get("score")
            value = None if score is None else as_number(score, what, line)
            documents.append((as_text(entry.get("text_id"), line), value))
        yield line, as_text(content.get("query_id"), line), documents


def litsearch(data, what):
    """LitSearch results: without an id, under any name, the number of the line is the id of the query."""
    for place, (line, content) in enumerate(objects(data), start=1):
        has_other_id = any(name.lower().endswith("id") for name in content)
        require("query_id" in content or (place == line and not has_other_id), line)
        key, value = ("corpusids", 1) if what == "qrels" else ("retrieved", None)
        ids = ids_of(content, key, line)
        yield line, as_text(content.get("query_id", line), line), [(doc_id, value) for doc_id in ids]


def json_file(data, what):
    content = json_of("\n".join(line for _, line in lines_of(data)))
    require(isinstance(content, dict))
    if "mteb_model_meta" in content:
        [[content]] = [part.values() for name, part in content.items() if name != "mteb_model_meta"]
    for query_id, documents in content.items():
        require(isinstance(documents, dict))
        values = [(as_text(d, None), as_number(value, what, None)) for d, value in documents.items()]
        require(what == "run" or all(value == int(value) for _, value in values))
        yield None, as_text(query_id, None), values


WHOLE = {
    "PerMed ground truth": ground_truth,
    "PerMed results": results,
    "LitSearch results": litsearch,
    "BEIR or MTEB JSON": json_file,
}
"""The formats that have all documents of a query at one place."""
READERS = {
    **WHOLE,
    "TREC": trec,
    "CSV or TSV": table,
    "MedCorpus labels": medcorpus,
    "Parquet": parquet,
    "JSON": rows,
    "MS MARCO run": ranked,
    "relevant pairs": judged_pairs,
}
