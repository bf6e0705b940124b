"""Files with one thing wrong: each is refused with its name, or read as a strict reader reads it."""

import csv
import functools
import gzip
import io
import json
import math
import random
import re
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from effort import effort

import permed_measures as pm
from permed_measures import cli
from permed_measures.files import read as files

READ = {"run": pm.read_run, "qrels": pm.read_qrels}

# --- a strict reader of each format, of the standard library and pyarrow only ----------------------

BLANKS = " \t\v\f\r"
NAMES = {
    "query": ("query_id", "qid", "q_id"),
    "document": ("doc_id", "docno"),
    "run": ("score",),
    "qrels": ("relevance", "label"),
}


def require(truth):
    if not truth:
        raise ValueError


def as_id(value):
    require(type(value) in (str, int))
    return str(value)


def as_number(value, what):
    require(type(value) in (int, float) and value == value)
    require(what == "run" or math.isfinite(value))
    return float(value) if what == "run" else value


def parsed(text, what):
    require("_" not in text)
    if what == "qrels" and re.fullmatch(r"\s*[-+]?\d+\s*", text):
        return int(text)
    return as_number(float(text), what)


def add(table, query_id, doc_id, value):
    docs = table.setdefault(query_id, {})
    require(doc_id not in docs)
    docs[doc_id] = value


def add_list(table, query_id, doc_ids, values):
    require(query_id not in table)
    table[query_id] = {}
    for doc_id, value in zip(doc_ids, values, strict=True):
        add(table, query_id, doc_id, value)


def positions(docs):
    return [-float(rank) for rank in range(1, len(docs) + 1)]


def text_of(data):
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16")
    return (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8-sig")


def objects(text):
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip(BLANKS):
            content = json.loads(line.strip(BLANKS))
            require(isinstance(content, dict))
            yield number, content


def strict_trec(text, what):
    table = {}
    for line in text.split("\n"):
        line = line.strip(BLANKS)
        if line and not line.startswith("#"):
            columns = re.split(f"[{BLANKS}]+", line)
            require(len(columns) == 4 if what == "qrels" else len(columns) >= 6)
            add(table, columns[0], columns[2], parsed(columns[3 if what == "qrels" else 4], what))
    require(table)
    return table


def strict_medcorpus(text, what):
    table = {}
    for _, content in objects(text):
        query_id = f"{as_id(content['conversation_id'])}_{as_id(content['turn_id'])}"
        grade = as_number(content["rel"], what) if what == "qrels" else 0
        add(table, query_id, as_id(content["doc_id"]), grade)
    require(table)
    if what == "run":
        return {q: dict(zip(docs, positions(docs), strict=True)) for q, docs in table.items()}
    return table


def strict_ground_truth(text, _):
    table = {}
    for _, content in objects(text):
        docs = content["relevant_texts"]
        require(isinstance(docs, list))
        add_list(table, as_id(content["query_id"]), list(map(as_id, docs)), [1] * len(docs))
    require(table)
    return table


def strict_results(text, what):
    table = {}
    for _, content in objects(text):
        found = content["ranked_results"] if "ranked_results" in content else content["results"]
        require(isinstance(found, list))
        pairs = [
            (item["text_id"], item.get("score")) if isinstance(item, dict) else (item, None) for item in found
        ]
        scores = [score for _, score in pairs if score is not None]
        require(len(scores) in (0, len(pairs)))
        values = [as_number(score, what) for score in scores] or positions(pairs)
        add_list(table, as_id(content["query_id"]), [as_id(doc_id) for doc_id, _ in pairs], values)
    require(table)
    return table


def strict_litsearch(text, what):
    table = {}
    for number, content in objects(text):
        docs = content["corpusids" if what == "qrels" else "retrieved"]
        require(isinstance(docs, list))
        values = [1] * len(docs) if what == "qrels" else positions(docs)
        add_list(table, as_id(content.get("query_id", number)), list(map(as_id, docs)), values)
    require(table)
    return table


def strict_table(text, what):
    lines = io.StringIO(text, newline="")
    header = next(line for line in lines if line.strip() and not line.lstrip().startswith("#"))
    delimiter = max(",;\t", key=header.count)
    names = [name.strip(BLANKS) for name in next(csv.reader([header], delimiter=delimiter, strict=True))]
    if {"query-id", "corpus-id", "score"} <= set(names):
        require(what == "qrels")
        places = [names.index(name) for name in ("query-id", "corpus-id", "score")]
    else:
        wanted = [NAMES[column] for column in ("query", "document", what)]
        places = [names.index(next(name for name in some if name in names)) for some in wanted]
    require(all(names.count(names[place]) == 1 for place in places))
    table = {}
    for row in csv.reader(lines, delimiter=delimiter, strict=True):
        if row:
            require(len(row) == len(names))
            query_id, doc_id, value = (row[place] for place in places)
            add(table, query_id, doc_id, parsed(value, what))
    return table


def without_repeated(pairs):
    content = dict(pairs)
    require(len(content) == len(pairs))
    return content


def strict_json(text, what):
    content = json.loads(text, object_pairs_hook=without_repeated)
    require(isinstance(content, dict))
    table = {q: {d: as_number(value, what) for d, value in docs.items()} for q, docs in content.items()}
    require(what == "run" or all(value == int(value) for docs in table.values() for value in docs.values()))
    return table


def strict_parquet(data, what):
    require(data[:4] == b"PAR1")
    frame = pq.read_table(io.BytesIO(data))
    wanted = [NAMES[column] for column in ("query", "document", what)]
    columns = [frame.column(next(n for n in some if n in frame.column_names)).to_pylist() for some in wanted]
    table = {}
    for query_id, doc_id, value in zip(*columns, strict=True):
        add(table, as_id(query_id), as_id(doc_id), as_number(value, what))
    return table


# --- files of every format -------------------------------------------------------------------------


class Valid(NamedTuple):
    what: str
    data: bytes
    read: Callable[[str, str], dict[str, dict[str, Any]]]
    kind: str

    def strictly(self, data):
        """Return what a strict reader reads in these bytes."""
        if self.kind == "parquet":
            return strict_parquet(data, self.what)
        return self.read(text_of(data), self.what)


RUN = {
    "t_1": {"d11": 12.75, "d2": 3.5, "文-7": 2e-05, 'a"b': -1.25},
    "t_2": {"d2": 100.5, "d11": 99.25},
    "t_10": {"permed-3": 0.125, "d4": 0.0625, "d5": 0.03125},
}
QRELS = {
    "t_1": {"d11": 2, "d2": 1, "文-7": 0, "d9": -1},
    "t_2": {"d11": 12},
    "t_10": {"d4": 1, "permed-3": 30},
}
RUN_ROWS = [(q, d, s) for q, docs in RUN.items() for d, s in docs.items()]
QRELS_ROWS = [(q, d, g) for q, docs in QRELS.items() for d, g in docs.items()]
SOURCE = random.Random(0)


def encoded_lines(contents):
    return "".join(json.dumps(content, ensure_ascii=False) + "\n" for content in contents).encode()


def encoded_table(header, rows, delimiter=","):
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows([header, *rows])
    return text.getvalue().encode()


def encoded_parquet(table):
    file = io.BytesIO()
    pq.write_table(table, file)
    return file.getvalue()


def parquet_of(rows, value):
    names = ["query_id", "doc_id", value]
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def results_of(scored):
    for query_id, docs in RUN.items():
        found = [{"text_id": d, "score": s} if scored else {"text_id": d} for d, s in docs.items()]
        yield {"query_id": query_id, "ranked_results" if scored else "results": found}


LABELS = [
    {"conversation_id": q.split("_")[0], "turn_id": int(q.split("_")[1]), "doc_id": d, "rel": g}
    for q, d, g in QRELS_ROWS
]
LITSEARCH = [
    {"query": f"what is {n}?", "corpusids": [n, n + 10], "retrieved": [n + 10, n + 2, n, 7000 + n]}
    for n in range(1, 6)
]
TREC_RUN = "".join(f"{q} Q0 {d} {n} {s!r} tag\n" for n, (q, d, s) in enumerate(RUN_ROWS)).encode()
VALID = {
    "TREC run": Valid("run", TREC_RUN, strict_trec, "columns"),
    "TREC qrels": Valid(
        "qrels", "".join(f"{q} 0 {d} {g}\n" for q, d, g in QRELS_ROWS).encode(), strict_trec, "columns"
    ),
    "MedCorpus labels": Valid("qrels", encoded_lines(LABELS), strict_medcorpus, "lines"),
    "MedCorpus labels as a run": Valid("run", encoded_lines(LABELS), strict_medcorpus, "lines"),
    "ground truth": Valid(
        "qrels",
        encoded_lines({"query_id": q, "relevant_texts": list(docs)} for q, docs in QRELS.items()),
        strict_ground_truth,
        "lines",
    ),
    "results": Valid("run", encoded_lines(results_of(scored=True)), strict_results, "lines"),
    "results without scores": Valid("run", encoded_lines(results_of(scored=False)), strict_results, "lines"),
    "LitSearch results": Valid("run", encoded_lines(LITSEARCH), strict_litsearch, "lines"),
    "LitSearch results as qrels": Valid("qrels", encoded_lines(LITSEARCH), strict_litsearch, "lines"),
    "BEIR TSV": Valid(
        "qrels", encoded_table(["query-id", "corpus-id", "score"], QRELS_ROWS, "\t"), strict_table, "table"
    ),
    "CSV of pandas": Valid(
        "run",
        encoded_table(["", "query_id", "doc_id", "score"], [(n, *row) for n, row in enumerate(RUN_ROWS)]),
        strict_table,
        "table",
    ),
    "CSV of PyTerrier": Valid(
        "run",
        encoded_table(
            ["qid", "docid", "docno", "rank", "score", "query"],
            [(q, 7, d, n, s, 'a "query", said') for n, (q, d, s) in enumerate(RUN_ROWS)],
        ),
        strict_table,
        "table",
    ),
    "JSON": Valid("run", json.dumps(RUN, ensure_ascii=False).encode(), strict_json, "json"),
    "JSON, indented": Valid("run", json.dumps(RUN, indent=2).encode(), strict_json, "json"),
    "JSON qrels": Valid("qrels", json.dumps(QRELS, indent=1).encode(), strict_json, "json"),
    "Parquet run": Valid("run", encoded_parquet(parquet_of(RUN_ROWS, "score")), strict_json, "parquet"),
    "Parquet qrels": Valid(
        "qrels", encoded_parquet(parquet_of(QRELS_ROWS, "relevance")), strict_json, "parquet"
    ),
}

# --- mutations of bytes and lines ------------------------------------------------------------------


def cut(rng, data):
    return data[: rng.randrange(len(data))]


def cut_near_the_end(rng, data):
    return data[: -rng.randint(1, 12)]


def without_a_line(rng, data):
    lines = data.split(b"\n")
    del lines[rng.randrange(len(lines))]
    return b"\n".join(lines)


def with_a_line_twice(rng, data):
    lines = data.split(b"\n")
    lines.insert(rng.randint(0, len(lines)), rng.choice(lines))
    return b"\n".join(lines)


def shuffled(rng, data):
    lines = data.split(b"\n")
    rng.shuffle(lines)
    return b"\n".join(lines)


def with_latin_1(rng, data):
    place = rng.choice([m.start() for m in re.finditer(rb"[a-z]", data)])
    return data[:place] + rng.choice(["é", "ü", "ÿ"]).encode("latin-1") + data[place + 1 :]


def as_utf_16(rng, data):
    return data.decode(errors="replace").encode(rng.choice(["utf-16", "utf-16-le", "utf-16-be"]))


def with_a_mark(rng, data):
    return b"\xef\xbb\xbf" * rng.choice([1, 1, 2]) + data


def with_returns(_, data):
    return data.replace(b"\n", b"\r\n")


def with_a_return(rng, data):
    place = rng.randrange(len(data))
    return data[:place] + b"\r" + data[place:]


def with_a_blank_line(rng, data):
    lines = data.split(b"\n")
    lines.insert(rng.randint(0, len(lines)), rng.choice([b"", b"", b"  ", b"\t", b"\r"]))
    return b"\n".join(lines)


def with_junk_at_the_end(rng, data):
    junk = [
        b"junk",
        b"\n}",
        b"]",
        b"\n\n# end\n",
        b'\n"',
        b"\0",
        b" 7",
        b"\n[3]\n",
        b"\nnull\n",
        b"\n5",
        b'\n"x"\n',
    ]
    return data + rng.choice(junk)


def with_an_odd_character(rng, data):
    place = rng.randrange(len(data))
    odd = [
        "\x1c",
        "\x1f",
        "\0",
        "\x85",
        "\u2028",
        "\u3000",
        "\v",
        '"',
        "\\",
        "_",
        ",",
        "\t",
        "{",
        "e",
        ".",
        "-",
        "9",
    ]
    return data[:place] + rng.choice(odd).encode() + data[place:]


def without_a_character(rng, data):
    place = rng.randrange(len(data))
    return data[:place] + data[place + 1 :]


def compressed(_, data):
    return gzip.compress(data, mtime=0)


def compressed_and_cut(rng, data):
    whole = gzip.compress(data, mtime=0)
    return whole[: rng.choice([1, 2, 5, 10, len(whole) - 1, len(whole) - 8, rng.randrange(len(whole))])]


def compressed_with_junk(rng, data):
    return gzip.compress(data, mtime=0) + rng.choice([b"junk", b"\0\0", b"\x1f\x8b"])


BYTES = [
    *(
        cut,
        cut,
        cut_near_the_end,
        without_a_line,
        with_a_line_twice,
        shuffled,
        with_latin_1,
        as_utf_16,
        with_a_mark,
    ),
    *(with_returns, with_a_return, with_a_blank_line, with_junk_at_the_end, with_junk_at_the_end),
    *(with_an_odd_character, with_an_odd_character, without_a_character, without_a_character),
    *(compressed, compressed_and_cut, compressed_with_junk),
]

# --- mutations of values and columns ---------------------------------------------------------------

WRONG_CELLS = [
    "x",
    "",
    "nan",
    "inf",
    "-Infinity",
    "null",
    "[]",
    "1_0",
    "0x1F",
    "1e999",
    "٣",
    " 3",
    "3,5",
    "1e3",
    "2.5",
]
WRONG_VALUES = [
    "2",
    "",
    None,
    [],
    [1],
    {},
    math.nan,
    math.inf,
    True,
    10**400,
    10**30,
    -3,
    2.5,
    "\ud800",
    {"a": 1},
]


def with_other_columns(rng, data, delimiter):
    rows = [line.split(delimiter) for line in data.decode().split("\n")]
    order = rng.sample(range(len(rows[0])), len(rows[0]))
    rows = [[row[place] for place in order] if len(row) == len(order) else row for row in rows]
    return "\n".join(delimiter.join(row) for row in rows).encode()


def with_a_wrong_cell(rng, data, delimiter):
    rows = [line.split(delimiter) for line in data.decode().split("\n")]
    row = rng.choice(rows[:-1])
    row[rng.choice([-2, -1, rng.randrange(len(row))])] = rng.choice(WRONG_CELLS)
    return "\n".join(delimiter.join(row) for row in rows).encode()


def leaves(content, path=()):
    yield path
    items = (
        content.items()
        if isinstance(content, dict)
        else enumerate(content)
        if isinstance(content, list)
        else ()
    )
    for key, value in items:
        yield from leaves(value, (*path, key))


def with_another(content, path, value):
    if not path:
        return value
    place = content
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return content


def with_a_wrong_value(rng, data, **options):
    """Put another value somewhere into JSON, often where a number was."""
    content = json.loads(data)
    paths = list(leaves(content))
    path = rng.choice([paths[-1], rng.choice(paths), rng.choice(paths)])
    return json.dumps(with_another(content, path, rng.choice(WRONG_VALUES)), **options).encode()


def with_a_wrong_line(rng, data):
    lines = data.split(b"\n")
    place = rng.randrange(len(lines) - 1)
    lines[place] = with_a_wrong_value(rng, lines[place])
    return b"\n".join(lines)


def with_shuffled_keys(rng, data):
    contents = [json.loads(line) for line in data.splitlines()]
    return encoded_lines(dict(rng.sample(list(content.items()), len(content))) for content in contents)


def of_parquet(change):
    def mutate(rng, data):
        table = pq.read_table(io.BytesIO(data))
        columns = {name: table.column(name).to_pylist() for name in table.column_names}
        return encoded_parquet(pa.table(change(rng, columns)))

    return mutate


def with_cell(place, values):
    def change(rng, columns):
        name = list(columns)[place]
        columns[name][rng.randrange(len(columns[name]))] = rng.choice(values)
        return columns

    return change


def with_type(place, convert):
    def change(_, columns):
        name = list(columns)[place]
        columns[name] = list(map(convert, columns[name]))
        return columns

    return change


def with_places(choose):
    def change(rng, columns):
        places = choose(rng, len(next(iter(columns.values()))))
        return {name: [values[place] for place in places] for name, values in columns.items()}

    return change


PARQUET = [
    *(cut, cut_near_the_end, with_junk_at_the_end, with_a_mark, compressed, compressed_and_cut),
    *map(
        of_parquet,
        [
            with_cell(2, [None]),
            with_cell(0, [None]),
            with_cell(1, [None]),
            with_type(2, lambda value: math.nan if value == 12 or value > 99 else float(value)),
            with_type(2, lambda value: math.inf if value == 12 or value > 99 else float(value)),
            with_type(2, lambda value: value * (2**50 + 1) if isinstance(value, int) else value),
            with_type(2, str),
            with_type(2, lambda value: [value]),
            with_type(2, int),
            with_type(0, lambda value: int(value.removeprefix("t_"))),
            with_type(0, lambda value: [value]),
            with_type(0, lambda _: 1.5),
            with_type(1, lambda value: value.encode()),
            with_type(1, lambda value: 2**62 + sum(value.encode())),
            with_type(1, lambda _: True),
            with_places(lambda rng, n: rng.sample(range(n), n)),
            with_places(lambda rng, n: [*range(n), rng.randrange(n)]),
            with_places(lambda rng, n: rng.sample(range(n), n - 2)),
            with_places(lambda _, __: []),
            lambda rng, columns: dict(rng.sample(list(columns.items()), 3)),
            lambda rng, columns: dict(rng.sample(list(columns.items()), 2)),
            lambda _, columns: {"qid" if name == "query_id" else name: v for name, v in columns.items()},
            lambda _, columns: {name.upper(): values for name, values in columns.items()},
            lambda _, columns: {**columns, "rank": columns["doc_id"]},
        ],
    ),
]


def mutations_of(valid):
    if valid.kind == "parquet":
        return PARQUET
    if valid.kind == "lines":
        return [*BYTES, with_shuffled_keys, *[with_a_wrong_line] * 10]
    if valid.kind == "json":
        indent = 2 if b"\n" in valid.data else None
        return [*BYTES, *[functools.partial(with_a_wrong_value, indent=indent)] * 10]
    delimiter = " " if valid.kind == "columns" else "\t" if valid.what == "qrels" else ","
    return [
        *BYTES,
        *[functools.partial(with_other_columns, delimiter=delimiter)] * 2,
        *[functools.partial(with_a_wrong_cell, delimiter=delimiter)] * 10,
    ]


ROUNDS = 3


@functools.cache
def mutated(name):
    """Return the mutated files of a valid one, without those that came out as it was."""
    valid, found = VALID[name], []
    for number, mutate in enumerate(mutations_of(valid) * ROUNDS):
        data = mutate(random.Random(f"{name} {number}"), valid.data)
        if data != valid.data:
            found.append(data)
    return found[:: effort(3, 1)] if name.startswith("Parquet") else found  # read in a process of its own


# --- reading them ----------------------------------------------------------------------------------


def read(what, path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pm.PermedWarning)
        return READ[what](path)


def strictly(valid, data):
    try:
        return valid.strictly(data)
    except Exception as error:
        return f"{type(error).__name__} {error}"


def in_order(table):
    return [(query_id, list(docs.items())) for query_id, docs in table.items()]


def outcome(valid, data, path):
    """Return 'read' or 'refused' if all is well, or what is not."""
    path.write_bytes(data)
    try:
        found = read(valid.what, path)
    except pm.InputError as error:
        told = str(error)
        named = told.startswith(f"{path}: ") or re.match(re.escape(f"{path}:") + r"\d+: ", told)
        return "refused" if named and len(told) > len(str(path)) + 15 else f"message {told!r}"
    except Exception as error:
        return f"{type(error).__name__} {error}"
    expected = strictly(valid, data)
    if isinstance(expected, str):
        return f"read {found}, refused by the strict reader: {expected}"
    same = found == expected and in_order(found) == in_order(expected)
    return "read" if same else f"read {found}, which is {expected}"


@functools.cache
def outcomes(name, large):
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        if large:
            patch.setattr(files, "_LARGE", 0)
        path = Path(folder) / "file"
        return [(data, outcome(VALID[name], data, path)) for data in mutated(name)]


@pytest.mark.parametrize("name", VALID)
def test_the_valid_files_are_read_as_the_strict_reader_reads_them(name, tmp_path):
    path = tmp_path / "file"
    assert outcome(VALID[name], VALID[name].data, path) == "read"
    assert read(VALID[name].what, path)


LARGE = ("TREC run", "CSV of pandas", "CSV of PyTerrier")
CASES = [*((name, False) for name in VALID), *((name, True) for name in LARGE)]


@pytest.mark.parametrize(("name", "large"), CASES)
def test_a_mutated_file_is_refused_by_name_or_read_exactly(name, large):
    wrong = [(data, said) for data, said in outcomes(name, large) if said not in ("read", "refused")]
    assert not wrong, "\n\n".join(f"{data!r}\n-> {said}" for data, said in wrong)


def test_many_mutated_files_are_refused_and_many_are_read():
    said = [said for name, large in CASES for _, said in outcomes(name, large)]
    assert len(said) > 600
    assert said.count("read") > 150
    assert said.count("refused") > 300
    for name, large in CASES:
        by_name = [said for _, said in outcomes(name, large)]
        assert min(by_name.count("read"), by_name.count("refused")) > 4, name


FOUND = [
    ("TREC run", b"q Q\x1f0 d2 4 100.5 tag\n"),
    ("TREC qrels", b"q 0 d 1\nq\x1cx e 1\n"),
    ("TREC qrels", b"q 0 d 1\nq 0 e 1\x1d\n"),
    ("CSV of pandas", b"\nquery_id,doc_id,score\nq,a,1\n"),
    ("CSV of pandas", b",query_id,doc_id,score\n0,q,d,1.5\n1,q,3,5,-1.25\n"),
    ("CSV of pandas", b"query_id,rank,doc_id,score\nq,1,d,1.5\nq,3,e,5,junk\n"),
    ("CSV of pandas", b" \r\n# a run\r\nquery_id,doc_id,score\r\nq,a,1\r\n"),
    ("BEIR TSV", b"\t\nquery-id\tcorpus-id\tscore\nq\ta\t1\n"),
    ("LitSearch results", b'{"query": "a", "retrieved": [1]}\n[3]\n'),
    ("LitSearch results", b'{"query": "a", "retrieved": [1]}\n"x"\n'),
    ("LitSearch results as qrels", b'{"query": "a", "corpusids": [1], "retrieved": []}\nnull\n'),
    ("Parquet qrels", encoded_parquet(parquet_of([("q", "a", math.nan)], "relevance"))),
    ("Parquet qrels", encoded_parquet(parquet_of([("q", "a", -math.inf)], "relevance"))),
    ("Parquet qrels", encoded_parquet(parquet_of([("q", "a", 2**53 + 1)], "relevance"))),
    ("Parquet qrels", encoded_parquet(parquet_of([("q", "a", 2**63 - 1)], "relevance"))),
]


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize(("name", "data"), FOUND)
def test_what_once_was_read_wrongly_is_refused_by_name_or_read_exactly(
    name, data, large, tmp_path, monkeypatch
):
    if large:
        monkeypatch.setattr(files, "_LARGE", 0)
    assert outcome(VALID[name], data, tmp_path / "file") in ("read", "refused")


# --- the command line ------------------------------------------------------------------------------


def command_line(monkeypatch, capsys, *arguments):
    """Return the exit status of the command line, and all that it printed."""
    monkeypatch.setattr(sys, "argv", ["permed-measures", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    printed = capsys.readouterr()
    return ended.value.code or 0, printed.out, printed.err


def sample_of_mutated():
    pairs = [(name, data) for name in VALID for data in mutated(name)]
    return random.Random(3).sample(pairs, 40)


def test_the_command_line_evaluates_a_mutated_file_or_says_what_is_wrong(tmp_path, monkeypatch, capsys):
    path = tmp_path / "file"
    (tmp_path / "qrels").write_bytes(TREC_RUN)  # what a file of qrels is evaluated with
    (tmp_path / "run").write_bytes(VALID["TREC qrels"].data)
    (tmp_path / "LitSearch").write_bytes(VALID["LitSearch results"].data)
    ended = []
    for name, data in sample_of_mutated():
        path.write_bytes(data)
        other = "LitSearch" if "LitSearch" in name else VALID[name].what
        pair = (path, tmp_path / other) if VALID[name].what == "qrels" else (tmp_path / other, path)
        status, out, err = command_line(monkeypatch, capsys, "evaluate", *pair, "-m", "P@1", "--by-query")
        assert "Traceback" not in out + err
        assert status in (0, 2), (data, err)
        assert (status == 0) == bool(out), (data, out, err)
        assert status == 0 or ("error: " in err and str(tmp_path) in err), (data, err)
        ended.append(status)
    assert min(ended.count(0), ended.count(2)) >= 10


@pytest.mark.parametrize("command", ["evaluate", "crosscheck"])
def test_an_id_that_is_no_unicode_text_is_no_traceback(command, tmp_path, monkeypatch, capsys):
    (tmp_path / "run").write_text('{"q\\ud800": {"d\\ud800": 1.5, "e": 2.5}}\n')
    (tmp_path / "qrels").write_text('{"q\\ud800": {"d\\ud800": 1}}\n')
    options = ["--by-query"] if command == "evaluate" else []
    files_ = (tmp_path / "qrels", tmp_path / "run")
    status, out, err = command_line(monkeypatch, capsys, command, *files_, "-m", "P@1", *options)
    assert status in (0, 2)
    assert "Traceback" not in out + err
