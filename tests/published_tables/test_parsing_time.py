"""The time to read a claim, a number or a table of claims grows with its length and not faster."""

import contextlib
import time

import pytest

import permed_measures as pm
from permed_measures.published_tables.claims import parse_claims
from permed_measures.published_tables.tables import read_claims

ENOUGH, LONGEST = 0.004, 100_000
"""An input is doubled until it takes so many seconds of the processor, or has so many characters."""
LINEAR = 64
"""A 16 times longer input takes 16 times longer in linear time, and 256 times longer in quadratic time."""


def seconds(call, size):
    """Measure the shortest of three calls; an error of the package is a valid answer."""
    times = []
    for _ in range(3):
        start = time.process_time()
        with contextlib.suppress(pm.PermedError):
            call(size)
        times.append(time.process_time() - start)
    return min(times)


def growth(call):
    """Measure how many times longer a 16 times longer input takes."""
    size = 25
    while seconds(call, size) < ENOUGH and size < LONGEST:
        size *= 2
    return seconds(call, 16 * size) / seconds(call, size)


CLAIMS = {
    "separators": lambda n: {"map" + "_" * n + "!": "0.5"},
    "letters": lambda n: {"a" * n + "!": "0.5"},
    "digits": lambda n: {"map@" + "1" * n + "!": "0.5"},
    "percent": lambda n: {"map (" + " " * n + "in" + " " * n + "%": "0.5"},
    "marks": lambda n: {"*" * n + "map" + "*" * n + "!": "0.5"},
    "digits of a number": lambda n: {"MAP@10": "1" * n + "!"},
    "exponent": lambda n: {"MAP@10": "1e" + "1" * n + "!"},
    "marks of a number": lambda n: {"MAP@10": "0.5" + "* " * n + "!"},
    "percent signs": lambda n: {"MAP@10": "0.5" + "% " * n},
}


@pytest.mark.parametrize("make", CLAIMS.values(), ids=CLAIMS)
def test_claims_are_read_in_linear_time(make):
    assert growth(lambda n: parse_claims([make(n)])) < LINEAR


def _in_table(cell):
    return "\\begin{tabular}{ll} & P@1 \\\\ \\midrule a & " + cell + " \\\\ \\end{tabular}"


TABLES = {
    "titles.csv": lambda n: ",".join(["run", *(f"P@{k}" for k in range(1, n))]) + "\none" + ",0.5" * (n - 1),
    "brackets.csv": lambda n: "run,P@1\nx," + "(" * n,
    "braces.tex": lambda n: _in_table("{" * n + "0.5" + "}" * n),
    "nested.tex": lambda n: "\\begin{tabular}{l} a" * (n // 20) + "\\end{tabular}" * (n // 20),
    "commands.tex": lambda n: _in_table("\\textbf" * n),
    "spans.html": lambda n: "<table><tr>" + "<td colspan=99999>1" * (n // 1000) + "</table>",
    "stars.md": lambda n: "|a|b|\n|-|-|\n|x|" + "*a " * n + "|",
    "other columns.csv": lambda n: (
        ",".join(["run", "P@1", *(f"size {k}" for k in range(1, n // 4))]) + "\none" + ",0.5" * (n // 4)
    ),
    "data sets.csv": lambda n: (
        ",".join(["run", *(f"set{k}/P@1" for k in range(1, n // 4))]) + "\none" + ",0.5" * (n // 4 - 1)
    ),
    "a long heading.csv": lambda n: "run,P@1," + "a/P@1 " * n + "\nx,0.5,0.4",
    "rows.md": lambda n: "|a|P@1|\n|-|-|\n" + "|x|0.5|\n" * (n // 10),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", TABLES)
def test_tables_are_read_in_linear_time(tmp_path, name):
    path = tmp_path / name

    def read(n):
        text = TABLES[name](n)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
        read_claims(path, [], ["one"])

    assert growth(read) < LINEAR
