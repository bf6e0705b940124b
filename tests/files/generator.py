"""Random files of every format with known content, and with whatever a real file may have in it.

``generated(seed)`` is one file: CRLF, tabs, marks (U+FEFF) anywhere, control characters, letters that are
combined or go from right to left, U+0085, U+2028, numbers in every spelling, ties, scattered queries. One
in three has one thing wrong, and must be refused: what is wrong takes turns, too.
"""

import json
import random
from dataclasses import dataclass

from generated_json import (
    ground_truth,
    json_file,
    litsearch,
    medcorpus,
    permed_results,
)
from generated_parts import Made
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
    flaw : str
        What is wrong with it; empty if nothing is.
    """

    seed: int
    format: str
    what: str
    data: bytes
    rows: list
    flaw: str

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
        return f"file {self.seed} ({self.format} as {self.what}, {self.flaw or 'nothing wrong'})"


def generated(seed):
    """Return the file of this seed; the formats take turns."""
    rng = random.Random(seed)
    format_name, what, write = FORMATS[seed % len(FORMATS)]
    made = Made(rng, what, *divmod(seed, len(FORMATS)))
    data = write(made)
    if made.flawed and not made.flaw:
        data = with_bad_bytes(made, data)
    return GeneratedFile(seed, format_name, what, data, made.rows, made.flaw)


def with_bad_bytes(made, data):
    """Put bytes that are not UTF-8 anywhere between the characters of a text."""
    made.flaw = "not UTF-8"
    start = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    between = [p for p in range(start, len(data)) if data[p] & 0xC0 != 0x80]
    place = made.rng.choice(between)
    return data[:place] + made.rng.choice([b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xc0\x80"]) + data[place:]


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
