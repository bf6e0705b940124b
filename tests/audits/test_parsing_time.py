"""The time to read a claim, a number or a table of claims grows with its length and not faster."""

import contextlib
import time

import pytest

import permed_measures as pm
from permed_measures.papers.claims import parse_claims
from permed_measures.papers.tables import read_claims

ENOUGH, LONGEST = 0.004, 100_000
"""An input is doubled until it takes so many seconds of the processor, or has so many characters."""
LINEAR = 64
"""An input 16 times as long takes 16 times as long; 256 times if the time is quadratic."""


def seconds(call, size):
    """Return the least time of three calls; an error of ours is an answer too."""
    times = []
    for _ in range(3):
        start = time.process_time()
        with contextlib.suppress(pm.PermedError):
            call(size)
        times.append(time.process_time() - start)
    return min(times)


def growth(call):
    """Return how much longer an input takes that is 16 times as long."""
    size = 25
    while seconds(call, size) < ENOUGH and size < LONGEST:
        size *= 2
    return seconds(call, 16 * size) / seconds(call, size)


NAMES = {
    "separators": lambda n: "map" + "_" * n + "!",
    "letters": lambda n: "a" * n + "!",
    "digits": lambda n: "map@" + "1" * n + "!",
    "percent": lambda n: "map (" + " " * n + "in" + " " * n + "%",
    "marks": lambda n: "*" * n + "map" + "*" * n + "!",
}
NUMBERS = {
    "digits": lambda n: "1" * n + "!",
    "exponent": lambda n: "1e" + "1" * n + "!",
    "marks": lambda n: "0.5" + "* " * n + "!",
    "percent": lambda n: "0.5" + "% " * n,
}


@pytest.mark.parametrize("make", NAMES.values(), ids=NAMES)
def test_names_are_read_in_linear_time(make):
    assert growth(lambda n: parse_claims([{make(n): "0.5"}])) < LINEAR


@pytest.mark.parametrize("make", NUMBERS.values(), ids=NUMBERS)
def test_numbers_are_read_in_linear_time(make):
    assert growth(lambda n: parse_claims([{"MAP@10": make(n)}])) < LINEAR


def test_titles_of_a_table_are_read_in_linear_time(tmp_path):
    def read(n):
        path = tmp_path / "claims.csv"
        if not path.exists() or path.stat().st_size != n:
            path.write_text(",".join(["run", *(f"P@{k}" for k in range(1, n))]) + "\none" + ",0.5" * (n - 1))
        read_claims(path, [], ["one"])

    assert growth(read) < LINEAR


def _in_table(cell):
    return "\\begin{tabular}{ll} & P@1 \\\\ \\midrule a & " + cell + " \\\\ \\end{tabular}"


TABLES = {
    "tex": {
        "braces": lambda n: _in_table("{" * n + "0.5" + "}" * n),
        "nested": lambda n: "\\begin{tabular}{l} a" * (n // 20) + "\\end{tabular}" * (n // 20),
        "commands": lambda n: _in_table("\\textbf" * n),
    },
    "html": {
        "spans": lambda n: "<table><tr>" + "<td colspan=99999>1" * (n // 1000) + "</table>",
    },
    "md": {
        "stars": lambda n: "|a|b|\n|-|-|\n|x|" + "*a " * n + "|",
        "rows": lambda n: "|a|P@1|\n|-|-|\n" + "|x|0.5|\n" * (n // 10),
    },
    "csv": {
        "brackets": lambda n: "run,P@1\nx," + "(" * n,
    },
}


@pytest.mark.parametrize(
    ("suffix", "make"),
    [
        pytest.param(suffix, make, id=f"{suffix} {name}", marks=pytest.mark.thorough)
        for suffix, found in TABLES.items()
        for name, make in found.items()
    ],
)
def test_tables_are_read_in_linear_time(tmp_path, suffix, make):
    path = tmp_path / f"paper.{suffix}"

    def read(n):
        text = make(n)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
        read_claims(path, [], ["one"])

    assert growth(read) < LINEAR
