"""Small mistakes put into a copy of the readers, each of which the generated files must find.

``python tests/files/mutants.py`` tries all of them and says for each with which file it was found; it ends
with status 1 if one is not. Numbers choose some of them. A mistake whose place is no longer in the source
is an error.
"""

import multiprocessing
import os
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(find_spec("permed_measures").origin).resolve().parent
N_FILES = 2000
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["ir_measures", "pandas", "polars", "pyarrow.parquet", "unittest.mock"])
"""Each mistake is made in a process of its own, forked from one that has imported what has no mistakes."""


class Mutant(NamedTuple):
    """A mistake: ``wrong`` in place of ``right``, which stands once in the file."""

    name: str
    file: str
    right: str
    wrong: str

    @property
    def first(self):
        """The number of the generated file with which the search begins."""
        return FOUND_BY.get(self.name, 0)


MUTANTS = [
    Mutant(
        "qrels may be judged twice",
        "streams",
        "first_repeated(frame)) is not None:\n        raise file",
        "None) is not None:\n        raise file",
    ),
    Mutant(
        "a fraction is cut to an integer",
        "fast_rows",
        '"relevance": pl.Int64}',
        '"relevance": pl.Float64}',
    ),
    Mutant(
        "a Parquet file may judge twice",
        "parquet",
        "first_repeated(frame)) is not None:\n        raise twice",
        "None) is not None:\n        raise twice",
    ),
    Mutant(
        "a # line at the start of a chunk is a row",
        "fast_rows",
        'data.startswith((b"#", MARK))',
        "data.startswith(MARK)",
    ),
    Mutant("a # line within a chunk is a row", "fast_rows", r'b"\n#" in data  #', r'b"\n##" in data  #'),
    Mutant("a NaN passes in a chunk", "fast_rows", "frame[value].is_nan().any()", "False"),
    Mutant(
        "blanks may stand beside blanks", "fast_rows", "if (divides[1:] & divides[:-1]).any():", "if False:"
    ),
    Mutant("a mark at the start of a chunk is dropped", "fast_rows", '(b"#", MARK)', 'b"#"'),
    Mutant("a mark at the start of rows is dropped", "fast_rows", r'(b"\n", MARK)', r'b"\n"'),
    Mutant("quotes are text in a chunk of rows", "fast_rows", "b'\"' in data or", ""),
    Mutant(
        "empty cells are missing",
        "fast_rows",
        'any(column.null_count() for column in frame.drop("rank"))',
        "False",
    ),
    Mutant(
        "each return is dropped", "fast_rows", r'data.replace(b"\r\n", b"\n")', r'data.replace(b"\r", b"")'
    ),
    Mutant(
        "a mark is dropped from each chunk",
        "sources",
        "chunk.data if chunk.start else chunk.data.removeprefix(MARK)",
        "chunk.data.removeprefix(MARK)",
    ),
    Mutant(
        "the mark before the text is text",
        "sources",
        "chunk.data if chunk.start else chunk.data.removeprefix(MARK)",
        "chunk.data",
    ),
    Mutant("wrong bytes are replaced", "sources", "data.decode()", 'data.decode("utf-8", "replace")'),
    Mutant(
        "the last line needs an end",
        "sources",
        r'text.removesuffix("\n").split("\n")',
        r'text.split("\n")[:-1]',
    ),
    Mutant(
        "other characters end a line", "sources", r'text.removesuffix("\n").split("\n")', "text.splitlines()"
    ),
    Mutant("chunks end within lines", "sources", "content.readline(longest + 1)\n    end", "end"),
    Mutant(
        "compressed chunks end within lines",
        "sources",
        "return content.read(size) + content.readline(longest + 1)",
        "return content.read(size)",
    ),
    Mutant("lines are counted from each chunk", "sources", r'first += chunk.data.count(b"\n")', "first += 0"),
    Mutant("a # line of TREC is no comment", "text", 'text.startswith("#")', 'text == "#"'),
    Mutant("a tab divides no columns", "text_formats", r'BLANKS = " \t\v\f\r"', r'BLANKS = " \v\f\r"'),
    Mutant(
        "any white space divides columns",
        "text_formats",
        "text.split() if plain else _BETWEEN.split(text)",
        "text.split()",
    ),
    Mutant(
        "separators divide columns",
        "text_formats",
        "text.isascii() and not _SEPARATORS.search(text)",
        "text.isascii()",
    ),
    Mutant("the second of two documents counts", "text", "if doc_id in documents:", "if False:"),
    Mutant("the second of two lists counts", "text", "if one_entry_per_query and", "if False and"),
    Mutant("a name may stand twice", "text", "if len(content) < len(pairs):", "if False:"),
    Mutant("half a character is text", "text", r'if "\\ud" in text.lower():', "if False:"),
    Mutant(
        "an open quote is closed", "text", "header.delimiter, strict=True", "header.delimiter, strict=False"
    ),
    Mutant(
        "short rows are left out",
        "text",
        "        elif row:\n",
        "        elif len(row) > len(header.names):\n",
    ),
    Mutant(
        "lines in a cell are joined", "text", r'yield line[1] + "\n"', r'yield line[1].removesuffix("\r")'
    ),
    Mutant("1_0 is a number", "text_formats", 'if "_" not in text:', "if True:"),
    Mutant("true is a number", "text_formats", "if isinstance(value, bool):", "if False:"),
    Mutant(
        "a run needs four columns", "text_formats", "score, _, *_ = line.content", "score, *_ = line.content"
    ),
    Mutant(
        "qrels may have more columns",
        "text_formats",
        "_, doc_id, relevance = line",
        "_, doc_id, relevance, *_ = line",
    ),
    Mutant("grades in JSON may be fractions", "text_formats", "if grade != int(grade):", "if False:"),
    Mutant("queries count from 0", "text_formats", "str(line.row + 1)", "str(line.row)"),
    Mutant("empty lines count as queries", "text_formats", "if line.row != line.n_before:", "if False:"),
    Mutant(
        "the last alias of a column counts",
        "formats",
        "(name for name in names",
        "(name for name in names[::-1]",
    ),
    Mutant(
        "a document may stand in two batches", "streams", "        if scattered:\n", "        if False:\n"
    ),
    Mutant(
        "a document may stand twice in a batch",
        "streams",
        "            self._compare(frame, starts)\n",
        "",
    ),
    Mutant(
        "a document is looked for near its first row only",
        "../engine/inputs",
        "starts if together else ()",
        "starts",
    ),
    Mutant(
        "rows between batches are lost",
        "../engine/batches",
        "held = rows[np.arange(last, len(rows))] if last < len(rows) else None",
        "held = None",
    ),
    Mutant("blanks may stand beside blanks in qrels", "plain_lines", "or (np.diff(place) == 1).any()", ""),
    Mutant("a cell may not go on in the next chunk", "streams", "if b'\"' in data:", "if False:"),
    Mutant(
        "rows are counted from each chunk",
        "streams",
        "n_lines += n_chunk\n\n    def _parsed",
        "n_lines += 0\n\n    def _parsed",
    ),
    Mutant(
        "the last row of a Parquet file is lost",
        "parquet",
        "range(0, n_rows, _ROWS)",
        "range(0, n_rows - 1, _ROWS)",
    ),
    Mutant(
        "a mark within a file is dropped",
        "streams",
        "chunk.data if chunk.start else chunk.data.rem",
        "chunk.data.rem",
    ),
    Mutant("a rank may be any text", "text_formats", "not (rank.isascii() and rank.isdigit())", "False"),
    Mutant("null is a grade of 0", "text_formats", "in named if grade is not None]", "in named]"),
    Mutant("any rising score contradicts", "order", "not self._falls and self._n_rises > _CHANCE", "True"),
    Mutant("ranks may begin anywhere", "order", " & (ranks[rows.starts] >> 1 == 0)", ""),
    Mutant("ranks that stand twice are an order", "order", "(n_above == sizes - 1) & ", ""),
    Mutant("scores are compared as they stand", "order", "return scores.astype(np.float32)", "return scores"),
    Mutant(
        "ranks are taken as they stand",
        "order",
        "len(set(ranks)) != len(ids)",
        "len(ranks) != len(ids)",
    ),
    Mutant("scores may be missing in a list", "read", "if any(scored) and not all(scored):", "if False:"),
]

FOUND_BY = {
    "qrels may be judged twice": 755,
    "a Parquet file may judge twice": 166,
    "a # line within a chunk is a row": 47,
    "a NaN passes in a chunk": 58,
    "blanks may stand beside blanks": 68,
    "blanks may stand beside blanks in qrels": 338,
    "a mark at the start of a chunk is dropped": 109,
    "a mark at the start of rows is dropped": 524,
    "quotes are text in a chunk of rows": 89,
    "each return is dropped": 321,
    "wrong bytes are replaced": 70,
    "any white space divides columns": 47,
    "separators divide columns": 1141,
    "the second of two documents counts": 60,
    "the second of two lists counts": 74,
    "a name may stand twice": 83,
    "half a character is text": 236,
    "an open quote is closed": 507,
    "short rows are left out": 152,
    "lines in a cell are joined": 96,
    "1_0 is a number": 76,
    "true is a number": 235,
    "a run needs four columns": 73,
    "qrels may have more columns": 168,
    "grades in JSON may be fractions": 509,
    "empty lines count as queries": 85,
    "the last alias of a column counts": 60,
    "a document may stand in two batches": 60,
    "a document may stand twice in a batch": 64,
    "a cell may not go on in the next chunk": 118,
    "rows are counted from each chunk": 58,
    "the last row of a Parquet file is lost": 32,
    "a mark within a file is dropped": 109,
    "a rank may be any text": 254,
    "null is a grade of 0": 24,
    "any rising score contradicts": 441,
    "ranks that stand twice are an order": 116,
    "scores are compared as they stand": 556,
    "scores may be missing in a list": 931,
    "a document is looked for near its first row only": 166,
    "a # line at the start of a chunk is a row": 68,
    "the last line needs an end": 11,
    "lines are counted from each chunk": 12,
    "queries count from 0": 12,
    "ranks are taken as they stand": 10,
    "a mark is dropped from each chunk": 7,
}
"""The file that finds a mistake, for those that it takes long to find from the first file on."""


def mutated(mutant):
    """Return the file of the package that has the mistake, and its text with the mistake in it."""
    path = (PACKAGE / "files" / f"{mutant.file}.py").resolve()
    source = path.read_text()
    if source.count(mutant.right) != 1:
        raise ValueError(f"{mutant.right!r} stands {source.count(mutant.right)} times in {path.name}")
    text = source.replace(mutant.right, mutant.wrong)
    compile(text, path, "exec")
    return path, text


def found_by(mutant):
    """Return the file that finds the mistake, or nothing if none does."""
    with tempfile.TemporaryDirectory() as folder:
        path, text = mutated(mutant)
        copy = Path(folder) / PACKAGE.name
        shutil.copytree(PACKAGE, copy)
        (copy / path.relative_to(PACKAGE)).write_text(text)
        here, there = PROCESSES.Pipe()
        process = PROCESSES.Process(target=search, args=(folder, mutant.first, there))
        process.start()
        there.close()
        try:
            found = here.recv()
        except EOFError:
            raise RuntimeError(f"{mutant.name}: the process has ended") from None
        finally:
            process.join()
    return found.split("\n")[0]


def search(folder, first, pipe):
    """Compare files with the package of a folder, and send the first difference."""
    os.environ["POLARS_MAX_THREADS"] = "1"
    sys.path[:0] = [folder, *(str(path) for path in Path(__file__).parents[:2])]
    from generate_files import DifferenceError, compare

    found = ""
    try:
        for seed in range(first, first + N_FILES):
            compare(seed)
    except DifferenceError as difference:
        found = str(difference)
    pipe.send(found)


def main(numbers):
    """Try all mistakes, or those with these numbers, and print what found each."""
    chosen = [MUTANTS[number] for number in numbers] or MUTANTS
    missed = 0
    with ThreadPoolExecutor(int(os.environ.get("PERMED_WORKERS", "1"))) as workers:
        for mutant, found in zip(chosen, workers.map(found_by, chosen), strict=True):
            print(f"{mutant.file}: {mutant.name}: {found[:100] or 'NOT FOUND'}", flush=True)
            missed += not found
    print(f"{len(chosen) - missed} of {len(chosen)} found")
    return missed > 0


if __name__ == "__main__":
    sys.exit(main([int(number) for number in sys.argv[1:]]))
