"""Random files of every format, with whatever a real file may have in it.

``generated(seed)`` is one file: CRLF, tabs, marks (U+FEFF) anywhere, control characters, letters that are
combined or go from right to left, U+0085, U+2028, numbers in every spelling, ties, scattered queries.
``changed(file)`` has a piece of it changed, so that mostly it must be refused.
"""

import io
import random
import re
from collections import Counter
from typing import NamedTuple

import polars as pl
from generated_json import ground_truth, json_file, litsearch, medcorpus, permed_results, rows

BLANKS = " \t\v\f\r"
MARK = "\ufeff"


def words(text):
    return text.split(" ")


COMMON_IDS = [*(f"d{number}" for number in range(1, 25)), "1", "2", "10", "007", "-5", "d01"]
MARKED_IDS = words(f"{MARK}d1 {MARK}{MARK}d1 d1{MARK} d{MARK}1 {MARK}")
ODD_IDS = [
    *MARKED_IDS,
    *words("nan inf null None 1.0 1e3 1_0 é e\u0301 x\u0301 i\u0307 ü 日本 שלום عربى 😀 \uffff \U00010000"),
    *words("a\u202eb \u200fx a\u200bb a\u0085b \u0085 a\u2028b \u2029c \u00a0n \u3000 a\x01b \x1cx a\x1fb"),
    *words("\x00 \x7f ' a\\b \\n a,b a;b } a{ #y d#"),
    *words('" "quoted" a"b'),
]
BLANK_IDS = ["a b", " a", "a ", "a  b", "", "#d", " "]
LOOSE_IDS = [*BLANK_IDS, "a\tb", "\t", "a\nb", "a\r\nb", "a\rb", "a\n\nb", f"\n{MARK}d1", "\r"]
"""Ids that columns divided by white space cannot hold."""
SCORES = [
    *words("0.0 -0.0 0 -0 +1.5 1e39 -1e39 3.5e38 1e-50 1E5 .5 5. 007 1e+2 1E-2 -.0e1 0.3 1e23 8.5\u2028"),
    *words("inf -inf Infinity +INF 1e999 -1e400 4.9e-324 2.2250738585072011e-308 9007199254740993 \u0663"),
    *words("16777216 16777217 1.0000000596046448 1.0000000000000002 0.30000001192092896 \uff11.5"),
    *words("0.1000000000000000055511151231257827 111111111111111111111111111111"),
]
GRADES = words("0 1 1 2 2 3 -1")
ODD_GRADES = words("+1 01 -0 1.0 0.5 -0.0 2.50 1e0 1E0 3e0")


class Made:
    """A file in the making."""

    def __init__(self, rng, what):
        self.rng, self.what = rng, what
        self.is_plain = self.chance(0.3)  # nothing odd keeps it from the fast paths

    def chance(self, share):
        return self.rng.random() < share

    def choice(self, *items):
        return self.rng.choice(items)

    def ids(self, count, loose):
        odd = self.rng.sample(ODD_IDS, self.choice(0, 0, 4, len(ODD_IDS)))
        pools = [COMMON_IDS + odd] * 3 + [COMMON_IDS[:6] + MARKED_IDS] * 2
        pools += [COMMON_IDS[:4] + BLANK_IDS, COMMON_IDS[:9] + LOOSE_IDS] if loose else []
        pool = COMMON_IDS if self.is_plain else self.rng.choice(pools)
        return self.rng.sample(pool, min(count, len(pool)))

    def lists(self, loose=True, least=0):
        """Return queries with their documents."""
        documents = self.ids(self.choice(1, 5, 14), loose)
        sizes = range(least, len(documents) + 1)
        queries = self.ids(self.rng.randint(1, 5), loose)
        return {q: self.rng.sample(documents, self.rng.choice(sizes)) for q in queries}

    def pairs(self, loose=True):
        """Return queries and documents in the order of the file, one row each, perhaps scattered."""
        pairs = [(q, d) for q, docs in self.lists(loose, least=1).items() for d in docs]
        if self.chance(0.5):
            self.rng.shuffle(pairs)
        return pairs

    def numbers(self, count, odd_scores=SCORES, odd_grades=ODD_GRADES):
        """Return numbers as text: with ties, with collisions as float32, or in any spelling."""
        rng = self.rng
        grades = self.choice(GRADES, [*GRADES, *odd_grades])
        spelling = self.choice(
            lambda: repr(float(rng.randrange(4))),
            lambda: repr(1 + rng.randrange(6) * 1e-9),
            lambda: repr(rng.uniform(-20, 20)),
            lambda: repr(rng.random() * 10.0 ** rng.randint(-300, 300)),
            lambda: str(rng.randrange(-9, 99)),
            lambda: rng.choice(odd_scores),
        )
        return [rng.choice(grades) if self.what == "qrels" else spelling() for _ in range(count)]

    def ranks(self, pairs):
        """Return a column of ranks for rows of queries and documents: an order, or not one."""
        rng, seen, counts = self.rng, Counter(), Counter(query_id for query_id, _ in pairs)
        first = self.choice(0, 1)
        orders = {query_id: rng.sample(range(n), n) for query_id, n in counts.items()}
        rank = self.choice(
            lambda row, *_: row,
            lambda _, place, __: place,
            lambda _, __, order: order,
            lambda *_: 0,
            lambda _, place, __: place // 2,
            lambda _, __, order: order * 3,
        )
        odd = [] if self.chance(0.8) else ["-", "1.5", "-1"]
        if odd and self.what == "run":
            odd = self.choice(odd, ["3.0", "+2", "-1.0"], ["3.0", "-2"])
        ranks = []
        for row, (query_id, _) in enumerate(pairs):
            place = seen[query_id]
            seen[query_id] += 1
            ranks.append(self.choice(str(first + rank(row, place, orders[query_id][place])), *odd))
        return ranks

    def joined(self, lines):
        """Join lines as files do: with any line ends, perhaps none at the end, perhaps a mark before."""
        ends = self.choice(["\n"], ["\n"], ["\r\n"], ["\n", "\r\n"])
        text = "".join(line + self.rng.choice(ends) for line in lines).replace("\0", "\x02")  # no text has it
        if self.chance(0.3):
            text = text.removesuffix("\n").removesuffix("\r")
        return self.marked(text)

    def marked(self, text):
        """Return the bytes, perhaps with a mark before them; always if the text itself begins with one."""
        return ((MARK if text.startswith(MARK) or self.chance(0.15) else "") + text).encode()


# --- a row per document ----------------------------------------------------------------------------


def trec(made):
    pairs = [("q" if q.startswith("#") else q, d) for q, d in made.pairs(loose=False)]
    pairs = list(dict.fromkeys(pairs))
    is_run = made.what == "run"
    odd = (
        made.choice("Q0", "0", "e\u0301", MARK, "a\u0085b", "\x01") if is_run else made.choice("Q0", "0", "1")
    )
    tag = made.choice("tag", odd, '"tag', "#")
    junk = made.choice([], [], ["more"], ["\u2028", "#"])
    rows = [
        [q, odd, d, rank, number, tag, *junk] if is_run else [q, odd, d, number]
        for (q, d), rank, number in zip(pairs, made.ranks(pairs), made.numbers(len(pairs)), strict=True)
    ]
    blanks = made.choice([" "], [" "], [" "], ["\t"], [" ", "  ", "\t", " \t "], ["\v", "\f", " "])
    around = made.choice([""], ["", "", " ", "\t "])
    if made.is_plain:
        blanks, around = [" "], [""]
    said = "{} Q0 {} 1 2.0 tag" if is_run else "{} 0 {} 1"
    said = [said.format(*pair) for pair in (("#", "d1"), ("#" + pairs[0][0], pairs[0][1]), ("#q1", "d1"))]
    nothing = ["", " ", "\t", "\v ", "#", "# words", f"#{MARK}", "  #\tmore words, 1 2 3", f"  {said[0]}"]
    share = 0 if made.is_plain else made.choice(0, 0.05, 0.3)
    lines = []
    for row in [*rows, []]:  # comments stand between rows, and at the end
        comment = made.choice(*nothing, *said)  # some have the columns of a row: those stand once
        lines += [comment if comment not in lines else ""] if made.chance(share) else []
        line = "".join(cell + made.choice(*blanks) for cell in row).rstrip(BLANKS)
        lines += [made.choice(*around) + line + made.choice(*around)] if row else []
    return made.joined(lines)


def ranked(made):
    """Rows of query, document and rank, without a header; the rank counts from 1 or 0."""
    delimiter = made.choice("\t", " ", ",", "  \t")
    made.is_plain = made.is_plain or delimiter == ","
    lists = [(q.replace("#", "h"), docs) for q, docs in made.lists(loose=False, least=1).items()]
    lists = [*dict(lists).items(), ("twice", ["d1", "d2"])]
    first = made.choice(0, 1)
    lines = [(q, d, str(rank)) for q, docs in lists for rank, d in enumerate(docs, start=first)]
    lines += [lines.pop(0)] if made.chance(0.3) else []
    return made.joined([delimiter.join(line) for line in lines])


def judged_pairs(made):
    """Relevant pairs of query and document, without a header."""
    delimiter = made.choice("\t", " ")
    pairs = dict.fromkeys((f"q1{q.replace('#', 'h')}", f"{d}1") for q, d in made.pairs(loose=False))
    return made.joined([delimiter.join(pair) for pair in pairs])


def table(made):
    """Make a table with any delimiter, other columns, aliases and quotes."""
    value = "score" if made.what == "run" else made.choice("relevance", "label")
    names = made.choice("query_id", "qid", "q_id"), made.choice("doc_id", "docno"), value
    return table_of(made, names, made.choice(*",;\t"))


def beir(made):
    return table_of(made, ("query-id", "corpus-id", "score"), made.choice(*"\t\t\t,"))


def table_of(made, names, delimiter):
    is_tabbed = delimiter == "\t"  # no cell can hold a line end there
    pairs = made.pairs(loose=not is_tabbed)
    aliases = {name: alias for name, alias in (("query_id", "qid"), ("doc_id", "docno")) if name in names}
    other = made.choice([], [], ["rank"], ["query"], ["", "query"], ["query", "query"], [*aliases.values()])
    columns = [*names, *other]
    if made.chance(0.5):
        made.rng.shuffle(columns)
    texts = [["some words"], [""], ["some words", "", "1"], [MARK, "\x01", "a\u2028b"]]
    texts = (
        texts[0]
        if made.is_plain
        else made.choice(*texts, ["two words" if is_tabbed else "two\nlines", 'a "query"'])
    )
    ranks = made.ranks(pairs) if made.chance(0.7) else [""] * len(pairs)
    share = 0 if made.is_plain else made.choice(0, 0, 0.1, 1)

    def line(cells, share):
        return delimiter.join(cell(made, text, delimiter, made.chance(share)) for text in cells)

    lines = [*made.choice([], [], [], ["# made by hand"], ["", " "], ["#", "\t"]), line(columns, share == 1)]
    for pair, number, rank in zip(pairs, made.numbers(len(pairs)), ranks, strict=True):
        known = dict(zip((*names, "rank"), (*pair, number, rank), strict=True))
        known |= {alias: known[name] for name, alias in aliases.items()}
        lines.append(line([known.get(column, made.choice(*texts)) for column in columns], share))
        lines += [""] if made.chance(0.02) else []
    return made.joined(lines)


def cell(made, text, delimiter, quote):
    """Return a cell, in quotes where it must be; quotes within a cell need none."""
    needed = set(text) & {delimiter, "\n", "\r"} or text.startswith('"') or ('"' in text and made.chance(0.7))
    return '"' + text.replace('"', '""') + '"' if needed or quote else text


def parquet(made):
    pairs = made.pairs()
    if made.chance(0.2):
        pairs = list(dict.fromkeys((str(len(q)), d) for q, d in pairs))
    numbers = made.numbers(len(pairs))
    whole = made.what == "qrels" and not any(n in ODD_GRADES for n in numbers)
    columns = {
        made.choice("query_id", "qid", "q_id"): pl.Series([q for q, _ in pairs]),
        made.choice("doc_id", "docno"): pl.Series(
            [d for _, d in pairs], dtype=made.choice(pl.String, pl.Categorical)
        ),
        "score" if made.what == "run" else made.choice("relevance", "label"): pl.Series(
            [int(n) if whole else float(n) for n in numbers]
        ),
        "other": pl.Series([MARK] * len(pairs)),
    }
    if made.chance(0.5):
        ranks, dtype = made.ranks(pairs), made.choice(pl.Int64, pl.Int32, pl.UInt16, pl.Float64, pl.String)
        is_text = dtype == pl.String
        columns["rank"] = pl.Series([r if is_text or r.isdigit() else None for r in ranks]).cast(dtype)
    frame, file = pl.DataFrame(columns), io.BytesIO()
    frame.select(made.rng.sample(frame.columns, frame.width)).write_parquet(
        file, row_group_size=made.choice(1, 5, None), compression=made.choice("zstd", "snappy")
    )
    return file.getvalue()


# --- files -----------------------------------------------------------------------------------------


class GeneratedFile(NamedTuple):
    """A file of a format that `plain_readers` reads, as ``what``: qrels or a run."""

    seed: int
    format: str
    what: str
    data: bytes

    def __str__(self):
        return f"file {self.seed} ({self.format} as {self.what})"


def generated(seed):
    """Return the file of this seed; the formats take turns."""
    format_name, what, write = FORMATS[seed % len(FORMATS)]
    return GeneratedFile(seed, format_name, what, write(Made(random.Random(seed), what)))


TOKEN = re.compile(rb'"[^"]*"|[^\s,;:"{}\[\]]+')
WRONG = words('nan NaN 1_0 -nan null true 0x1F 1e --1 1.5 inf 1e999 Infinity high 01 +1 [] {} {1} x,y "2" "')
ODD = words('\x1c \0 \x85 \u2028 \v " \\ _ , \t { } ] e . - 9 \r \u00e9')
BROKEN = [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xc0\x80"]  # no UTF-8


def changed(file):
    """Return the file with a token, a character or a line changed, below the first line if there are more."""
    rng = random.Random(-file.seed)
    lines = file.data.split(b"\n")
    place = rng.randrange(min(2, len(lines) - 1), len(lines))
    line = lines[place]
    found = [*TOKEN.finditer(line)]
    start, end = rng.choice(found).span() if found else (0, len(line))
    at = rng.randint(0, len(line))
    other = [b"", b" ", b"# x", b"junk", b"[3]", b"null", rng.choice(lines)]
    wrong = line[:start] + rng.choice(WRONG).encode() + line[end:]
    odd = line[:at] + rng.choice(["", *ODD]).encode() + line[at + rng.choice([0, 1]) :]
    again = line[:end] + b" " + line[start:end] + line[end:]
    broken = line[:at] + rng.choice(BROKEN) + line[at:]
    more = rng.choice(other) + b"\n" + line
    lines[place] = rng.choice([wrong, wrong, odd, more, again, broken, line[:at]])
    return file._replace(data=b"\n".join(lines))


FORMATS = (
    *[("TREC", "run", trec), ("CSV or TSV", "run", table), ("TREC", "qrels", trec)] * 3,
    ("PerMed results", "run", permed_results),
    ("CSV or TSV", "run", table),
    ("BEIR or MTEB JSON", "run", json_file),
    ("BEIR or MTEB JSON", "qrels", json_file),
    ("CSV or TSV", "qrels", beir),
    ("CSV or TSV", "qrels", table),
    ("Parquet", "run", parquet),
    ("Parquet", "qrels", parquet),
    ("MedCorpus labels", "qrels", medcorpus),
    ("MedCorpus labels", "run", medcorpus),
    ("LitSearch results", "run", litsearch),
    ("LitSearch results", "qrels", litsearch),
    ("PerMed ground truth", "qrels", ground_truth),
    ("JSON", "run", rows),
    ("JSON", "qrels", rows),
    ("MS MARCO run", "run", ranked),
    ("relevant pairs", "qrels", judged_pairs),
)
"""The formats in the order in which the seeds make them: those with most ways to be read stand more often."""
