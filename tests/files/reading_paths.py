"""Every way to read a generated file, compared with the plain reader."""

import contextlib
import gzip
import itertools
import random
import re
import warnings
from collections import Counter
from unittest import mock

import plain_readers
import pyarrow as pa
from generator import changed, generated

import permed_measures as pm
from permed_measures.files import parquet, sources, streams
from permed_measures.files import read as reading
from permed_measures.markup import counted

READ = {"run": pm.read_run, "qrels": pm.read_qrels}
SCANNED = ("TREC", "CSV or TSV", "Parquet")
"""The formats that can be read in batches."""


class DifferenceError(AssertionError):
    """What one path says, and what it should."""


class Refused:
    """What came of a file that was refused: the line that was named, if one was."""

    def __init__(self, line):
        self.line = line

    def __repr__(self):
        return f"refused (line {self.line})"


def as_text(table):
    """Return a table as text: order, bits and types of the numbers count."""
    return [(query_id, [(d, repr(number)) for d, number in docs.items()]) for query_id, docs in table.items()]


def check(seed, folder):
    """Compare all paths of the file of this seed; return how often each path was compared."""
    file = generated(seed)
    is_changed = seed % 3 == 2 and file.format != "Parquet"
    checked = Check(changed(file) if is_changed else file, folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pm.PermedWarning)
        if not (is_changed and checked.table is None and checked.is_another_format()):
            checked.run()
    return checked.counts


class Check:
    """The paths of one file."""

    def __init__(self, file, folder):
        self.file, self.folder = file, folder
        self.rng = random.Random(file.seed)
        self.path = folder / "file.plain"
        self.counts = Counter()
        try:
            self.ranks = {}
            self.table = plain_readers.read(file.format, file.data, file.what, self.ranks)
            self.expected = as_text(self.table)
        except plain_readers.RefusedError as error:
            self.table, self.expected = None, Refused(error.line)
        except (IndexError, ValueError, AttributeError):
            self.table, self.expected = None, Refused(None)
        self.read = READ[file.what]
        self.contents = {"plain": file.data}
        if file.format != "Parquet":
            self.contents |= {"gz": gzipped(file.data, self.rng), "zst": zstd(file.data, self.rng)}

    def is_another_format(self):
        """Return whether the file is one of another format now, such as TREC with two columns less."""
        self.path.write_bytes(self.file.data)
        try:
            found = reading.TextFile.recognised(sources.Source(self.path), self.file.what)
        except pm.InputError:
            return True
        return not found.format.name.startswith(self.file.format)

    def run(self):
        self.files()
        if self.file.what == "run":
            self.list_order()
            if self.table is not None and self.file.format in SCANNED:
                self.notes()

    def same(self, name, found, expected=None):
        """Compare; a refusal names the same line, or none where the plain reader has none."""
        expected = self.expected if expected is None else expected
        self.counts[name] += 1
        both_refused = isinstance(expected, Refused) and isinstance(found, Refused)
        if both_refused and (found.line == expected.line or None in (found.line, expected.line)):
            return
        if found != expected:
            shown = f"{self.file.data!r:.2000}"
            raise DifferenceError(
                f"{self.file}, {name}: {found!r:.1500}\nexpected {expected!r:.1500}\n{shown}"
            )

    def outcome(self, read, path):
        """Return what a path says of a file, as text, or that and where the file was refused."""
        try:
            found = read(path)
            return as_text(found) if isinstance(found, dict) else found
        except pm.InputError as error:
            if not error.where.startswith(str(path)):
                raise DifferenceError(
                    f"{self.file}: an error that does not name the file: {error}"
                ) from error
            line = error.where.removeprefix(f"{path}:")
            return Refused(int(line) if line.isdigit() else None)

    def batched(self):
        """Set batches of any size, so that a small file is read as a large one is."""
        limits = contextlib.ExitStack()
        for module, name, sizes in (
            (reading, "_LARGE", [0]),
            (sources, "_CHUNK", [1, 40, 40, 150, 400, 10**6, 10**6]),
            (sources, "_TEXT", [1, 40, 150, 10**6]),
            (parquet, "_ROWS", [2, 10, 40, 10**6]),
            (streams, "_LINES", [1, 7, 10**6]),
        ):
            limits.enter_context(mock.patch.object(module, name, self.rng.choice(sizes)))
        return limits

    def files(self):
        """Read the file plain and compressed, small and in batches, whole and cut."""
        for name, content in self.contents.items():
            path = self.folder / f"file.{name}"
            path.write_bytes(content)
            self.same(name, self.outcome(self.read, path))
            with self.batched():
                self.same(f"{name}, in batches", self.outcome(self.read, path))
            if name != "plain" and self.rng.random() < 0.1:
                cut = self.folder / "cut"
                cut.write_bytes(content[: -self.rng.randint(1, 8)])
                self.same(f"{name}, cut", self.outcome(self.read, cut), Refused(None))

    def list_order(self):
        """Take the order of the file instead of its scores."""
        expected = self.expected
        if self.table is not None:
            expected = as_text({q: self.scored_by_order(q, docs) for q, docs in self.table.items()})
        self.same(
            "order of the list", self.outcome(lambda p: pm.read_run(p, order="list"), self.path), expected
        )

    def scored_by_order(self, query_id, documents):
        """Return the documents in the order of the lines, with scores by their ranks."""
        order = plain_readers.by_position(plain_readers.in_order(documents, self.ranks.get(query_id, [])))
        return {doc_id: order[doc_id] for doc_id in documents}

    def notes(self):
        """Compare what is said of an order that contradicts the scores."""
        number = plain_readers.contradictions(self.table, self.ranks)
        queries = f"in {number:,} of {counted(len(self.table), 'query')}"
        order = "the scores rank documents in another order than the rank column does (such"
        expected = f"{queries} {order}" if number else ""
        rows = [query_id for query_id, _ in self.file.rows]
        are_whole = len(list(itertools.groupby(rows))) == len(
            self.table
        )  # else a batch may have half a query
        for large in (0, 10**9) if are_whole else (10**9,):  # else a batch may have half a query
            keep = warnings.catch_warnings(record=True, action="always")
            with keep as notes, mock.patch.object(reading, "_LARGE", large):
                pm.read_run(self.path)
            found = [re.search("in [^:]* [(]such", str(note.message))[0] for note in notes]
            self.same(f"note, from {large} bytes", "".join(found), expected)


def gzipped(data, rng):
    """Compress as gzip, perhaps in two parts."""
    middle = rng.choice([0, 0, rng.randint(0, len(data))])
    return b"".join(
        gzip.compress(part, 1, mtime=0) for part in (data[:middle], data[middle:]) if part or not middle
    )


def zstd(data, rng):
    """Compress as zstd, perhaps in two frames, perhaps after a frame that is to be skipped."""
    middle = rng.choice([0, 0, rng.randint(0, len(data))])
    parts = [part for part in (data[:middle], data[middle:]) if part or not data]
    frames = [pa.compress(part, codec="zstd", asbytes=True) for part in parts]
    skipped = b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc" if rng.random() < 0.1 else b""
    return skipped + b"".join(frames)
