"""Every way to read a generated file, compared with the plain reader.

``python tests/inputs/reading_paths.py 6000`` makes 6,000 files; a second number is the first seed.
It ends with an error at the first difference.
"""

import contextlib
import csv
import gzip
import random
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from unittest import mock

import plain_readers
import pyarrow as pa
from generator import changed, generated

import permed_measures as pm
from permed_measures.inputs import read as reading
from permed_measures.inputs import scan, sources

READ = {"run": pm.read_run, "qrels": pm.read_qrels}


class Refused:
    """What came of a file that was refused: the line that was named, if one was."""

    def __init__(self, line=None):
        self.line = line

    def __eq__(self, other):
        return isinstance(other, Refused) and (self.line == other.line or None in (self.line, other.line))

    def __repr__(self):
        return f"refused (line {self.line})"


def as_text(table):
    """Return a table as text: order, bits and types of the numbers count."""
    return [(query_id, [(d, repr(number)) for d, number in docs.items()]) for query_id, docs in table.items()]


def check(seed):
    """Compare all paths of the file of this seed; return how often each path was compared."""
    file = generated(seed)
    is_changed = seed % 3 == 2 and file.format not in ("Parquet", "MS MARCO run", "relevant pairs")
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore", pm.PermedWarning)
        checked = Check(changed(file) if is_changed else file, Path(folder))
        assert is_changed or checked.table is not None, file
        if not (is_changed and checked.table is None and checked.is_another_format()):
            checked.run()
    return checked.counts


class Check:
    """The paths of one file."""

    def __init__(self, file, folder):
        self.file, self.folder = file, folder
        self.rng = random.Random(file.seed)
        self.path = folder / "file.plain"
        self.path.write_bytes(file.data)
        self.counts = Counter()
        self.table, self.ranks = None, {}
        try:
            self.table = plain_readers.read(file.format, file.data, file.what, self.ranks)
            self.expected = as_text(self.table)
        except plain_readers.RefusedError as error:
            self.expected = Refused(error.line)
        except (IndexError, ValueError, AttributeError, csv.Error):
            self.expected = Refused()

    def is_another_format(self):
        """Return whether the file is one of another format now, such as TREC with two columns less."""
        try:
            found = reading.recognised(sources.Source(self.path), self.file.what)
        except pm.InputError:
            return True
        return not found.format.name.startswith(self.file.format)

    def run(self):
        self.files()
        if self.file.what == "run":
            self.list_order()

    def same(self, name, found, expected):
        """Compare; a refusal names the same line, or none where the plain reader has none."""
        self.counts[name] += 1
        assert found == expected, f"{self.file}, {name}: {found!r:.1500}\nexpected {expected!r:.1500}"

    def outcome(self, read, path):
        """Return what a path says of a file, as text, or where the file was refused."""
        try:
            return as_text(read(path))
        except pm.InputError as error:
            if not error.where.startswith(str(path)):
                raise AssertionError(f"{self.file}: the error does not name it: {error}") from error
            line = error.where.removeprefix(f"{path}:")
            return Refused(int(line) if line.isdigit() else None)

    def batched(self):
        """Set batches of any size, so that a small file is read as a large one is."""
        limits = contextlib.ExitStack()
        for module, name, sizes in (
            (reading, "_LARGE_FILE", [0]),
            (sources, "_CHUNK", [1, 40, 40, 150, 400, 10**6, 10**6]),
            (sources, "_TEXT", [1, 40, 150, 10**6]),
            (scan, "_ROWS_PER_BATCH", [2, 10, 40, 10**6]),
            (scan, "_ROWS_AS_OBJECTS", [1, 7, 10**6]),
        ):
            limits.enter_context(mock.patch.object(module, name, self.rng.choice(sizes)))
        return limits

    def files(self):
        """Read the file plain and compressed, small and in batches, whole and cut."""
        read = READ[self.file.what]
        for name, compress in COMPRESS.items() if self.file.format != "Parquet" else (("plain", bytes),):
            path, content = self.folder / f"file.{name}", self.compressed(compress)
            path.write_bytes(content)
            self.same(name, self.outcome(read, path), self.expected)
            with self.batched():
                self.same(f"{name}, in batches", self.outcome(read, path), self.expected)
            if name != "plain" and self.rng.random() < 0.1:
                path.write_bytes(content[: -self.rng.randint(1, 8)])
                self.same(f"{name}, cut", self.outcome(read, path), Refused())

    def compressed(self, compress):
        """Compress the data, perhaps in two parts, perhaps after a frame that is to be skipped."""
        data, middle = self.file.data, self.rng.choice([0, 0, self.rng.randint(0, len(self.file.data))])
        parts = [part for part in (data[:middle], data[middle:]) if part or not data]
        skipped = compress is zstd and self.rng.random() < 0.1
        return b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc" * skipped + b"".join(map(compress, parts))

    def list_order(self):
        """Take the order of the file instead of its scores."""
        found, expected = self.outcome(lambda path: pm.read_run(path, order="list"), self.path), self.expected
        if self.table is not None:
            try:
                expected = as_text({q: self.scored_by_order(q, docs) for q, docs in self.table.items()})
            except plain_readers.RefusedError:
                expected = Refused()
        self.same("order of the list", found, expected)

    def scored_by_order(self, query_id, documents):
        """Return the documents in the order of the lines, with scores by their ranks."""
        ordered = plain_readers.in_order(documents, self.ranks.get(query_id, []))
        scores = plain_readers.by_position(ordered or documents)
        return {doc_id: scores[doc_id] for doc_id in documents}


def zstd(data):
    return pa.compress(data, codec="zstd", asbytes=True)


COMPRESS = {"plain": bytes, "gz": lambda data: gzip.compress(data, 1, mtime=0), "zst": zstd}


def main(count, first=0):
    """Compare files, and print how many there were and how often each path was compared."""
    paths = sum((check(seed) for seed in range(first, first + count)), Counter())
    print(f"{count:,} files, {paths.total():,} comparisons")
    for name, number in paths.most_common():
        print(f"{number:9,} {name}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
