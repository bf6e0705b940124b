"""Random files of every format with known content, and with whatever a real file may have in it.

``generated(seed)`` is one file: CRLF, tabs, marks (U+FEFF) anywhere, control characters, letters that are
combined or go from right to left, U+0085, U+2028, numbers in every spelling, ties, scattered queries.
``changed(file)`` has a piece of it changed, so that mostly it must be refused.
"""

import json
import random
import re
from dataclasses import dataclass, replace

from generated_json import (
    ground_truth,
    json_file,
    litsearch,
    medcorpus,
    permed_results,
)
from generated_parts import Made
from generated_pieces import words
from generated_rows import beir, parquet, table, trec, trec_qrels


@dataclass(frozen=True)
class GeneratedFile:
    """A file and what it says.

    Attributes
    ----------
    format : str
        A format that `plain_readers` reads.
    what : {'qrels', 'run'}
        What it is to be read as.
    data : bytes
        The file, not compressed.
    rows : list of (query_id, [(doc_id, number)])
        What it says, in its order; a number is text as it was written, None in a list without scores.
    """

    seed: int
    format: str
    what: str
    data: bytes
    rows: list

    def known(self):
        """Return the table that the rows are."""
        table = {}
        for query_id, documents in self.rows:
            table.setdefault(query_id, {}).update(documents)
        for documents in table.values():
            for rank, (doc_id, number) in enumerate(documents.items(), start=1):
                documents[doc_id] = -float(rank) if number is None else self._number(number)
        return table

    def _number(self, text):
        if self.what == "run":
            return float(json.loads(text) if "JSON" in self.format or "PerMed" in self.format else text)
        return int(text) if text.lstrip("+-").isdigit() else float(text)

    def __str__(self):
        return f"file {self.seed} ({self.format} as {self.what})"


def generated(seed):
    """Return the file of this seed; the formats take turns."""
    rng = random.Random(seed)
    format_name, what, write = FORMATS[seed % len(FORMATS)]
    made = Made(rng, what)
    data = write(made)
    return GeneratedFile(seed, format_name, what, data, made.rows)


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
    token = rng.choice(found).span() if found else (0, len(line))
    at = rng.randint(0, len(line))
    kind = rng.choice(["token", "token", "character", "line", "again", "bytes", "cut"])
    if kind == "token":
        lines[place] = line[: token[0]] + rng.choice(WRONG).encode() + line[token[1] :]
    elif kind == "character":
        lines[place] = line[:at] + rng.choice(["", *ODD]).encode() + line[at + rng.choice([0, 1]) :]
    elif kind == "line":
        lines[place:place] = [rng.choice([b"", b" ", b"# x", b"junk", b"[3]", b"null", rng.choice(lines)])]
    elif kind == "again":
        lines[place] = line[: token[1]] + b" " + line[token[0] : token[1]] + line[token[1] :]
    elif kind == "bytes":
        lines[place] = line[:at] + rng.choice(BROKEN) + line[at:]
    else:
        lines[place] = line[:at]
    return replace(file, data=b"\n".join(lines))


FORMATS = (
    ("TREC", "run", trec),
    ("TREC", "qrels", trec),
    ("CSV or TSV", "run", table),
    ("PerMed results", "run", permed_results),
    ("BEIR or MTEB JSON", "run", json_file),
    ("TREC", "run", trec),
    ("CSV or TSV", "run", table),
    ("BEIR qrels", "qrels", beir),
    ("Parquet", "run", parquet),
    ("MedCorpus labels", "qrels", medcorpus),
    ("TREC", "run", trec),
    ("CSV or TSV", "qrels", table),
    ("LitSearch results", "run", litsearch),
    ("PerMed ground truth", "qrels", ground_truth),
    ("CSV or TSV", "run", table),
    ("TREC", "run", trec),
    ("BEIR or MTEB JSON", "qrels", json_file),
    ("MedCorpus labels", "run", medcorpus),
    ("TREC", "qrels", trec),
    ("TREC", "qrels", trec),
    ("LitSearch results", "qrels", litsearch),
    ("Parquet", "qrels", parquet),
    ("TREC qrels", "run", trec_qrels),
)
"""The formats in the order in which the seeds make them: those with most ways to be read stand more often."""
