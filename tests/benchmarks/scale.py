"""How far our commands go, and whether their time grows with the work: each on all of it, and on a tenth.

A row is a command on files. Its time is that of the processors, in all threads, less the start: that of
the same command on next to nothing.
"""

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from measuring import in_turns, peak_of_command, running
from synthetic import write_large
from tools import our_command

Row = dict[str, Any]
Command = Callable[[Path, int], list[str]]
"""Writes the files of some work, of so many things, into a folder, and returns the command."""

MEASURES = ["-m", "nDCG@10", "-m", "AP@10", "-m", "P@1"]


def _write(path: Path, queries: np.ndarray, documents: np.ndarray, run: bool) -> None:
    """Write a TREC file: a run, whose scores fall from row to row, or qrels with grades of 0 to 2."""
    n = len(queries)
    number = (n - pl.int_range(n, eager=True)) if run else pl.int_range(n, eager=True) % 3
    columns = {
        "query": "q" + pl.Series(queries).cast(pl.String),
        "second": pl.repeat("Q0" if run else "0", n, eager=True),
        "document": "d" + pl.Series(documents).cast(pl.String),
        **({"rank": pl.repeat(0, n, eager=True)} if run else {}),
        "number": number,
        **({"tag": pl.repeat("bm25", n, eager=True)} if run else {}),
    }
    pl.DataFrame(columns).write_csv(path, include_header=False, separator=" ", quote_style="never")


def _files(folder: Path, n_queries: int, depth: int) -> tuple[Path, Path]:
    """Write a run of documents 0, 1, ... for each query, and qrels of two of these and one other."""
    queries = np.arange(n_queries)
    run, qrels = folder / "run.trec", folder / "qrels.txt"
    _write(run, queries.repeat(depth), np.tile(np.arange(depth), n_queries), run=True)
    _write(qrels, queries.repeat(3), np.tile([0, depth // 2, depth + 1], n_queries), run=False)
    return qrels, run


def _rows(kind: str, folder: Path, n: int) -> list[str]:
    run, qrels = folder / f"run.{kind}", folder / "qrels"
    write_large(run, qrels, max(n, 1000))
    return our_command("evaluate", qrels, run, *MEASURES)


def _queries(folder: Path, n: int) -> list[str]:
    return our_command("evaluate", *_files(folder, n, 5), *MEASURES)


def _documents(folder: Path, n: int) -> list[str]:
    return our_command("evaluate", *_files(folder, 1, n), *MEASURES)


def _groups(folder: Path, n: int) -> list[str]:
    """Write two queries in each group: their number without its last digit, which is 0 or 1."""
    numbers = (np.arange(n)[:, None] * 10 + np.arange(2)).ravel()
    run, qrels = folder / "run.trec", folder / "qrels.txt"
    _write(run, numbers.repeat(2), np.tile(np.arange(2), 2 * n), run=True)
    _write(qrels, numbers, np.zeros(2 * n, int), run=False)
    by = ["--by", "q([0-9]*)[0-9]", "--format", "csv"]
    return our_command("evaluate", qrels, run, *MEASURES, *by)


def _measures(folder: Path, n: int) -> list[str]:
    names = ("nDCG", "AP", "P", "R")
    asked = [word for number in range(n) for word in ("-m", f"{names[number % 4]}@{1 + number // 4}")]
    return our_command("evaluate", *_files(folder, 200, 50), *asked, "--format", "csv")


def _runs(command: str, folder: Path, n: int) -> list[str]:
    """Write runs of 50 queries and 20 documents, in an order of chance; later ones are better."""
    runs, rng = folder / "runs", np.random.default_rng(1)
    runs.mkdir()
    queries = np.arange(50)
    _write(folder / "qrels.txt", queries.repeat(10), np.tile(np.arange(10), 50), run=False)
    for number in range(n):
        scores = rng.normal(size=(50, 20))
        scores[:, :10] += 1.5 * number / n
        _write(runs / f"run{number}.trec", queries.repeat(20), (-scores).argsort(axis=1).ravel(), run=True)
    return our_command(command, folder / "qrels.txt", runs, "-m", "nDCG@10", "--format", "csv")


def _printed_rows(folder: Path, n: int) -> list[str]:
    """Write rows of P@1 and MAP@10, and qrels of 300 queries with one to nine relevant documents."""
    qrels, table, rng = folder / "qrels.txt", folder / "table.csv", np.random.default_rng(1)
    judged = np.arange(300) % 9 + 1
    _write(
        qrels,
        np.arange(300).repeat(3 * judged),
        np.concatenate([np.arange(3 * k) for k in judged]),
        run=False,
    )
    hits, precisions = rng.integers(150, 200, n), rng.uniform(0.4, 0.5, n)  # which some run has
    lines = (f"run{i},{k / 300:.4f},{x:.4f}" for i, (k, x) in enumerate(zip(hits, precisions, strict=True)))
    table.write_text("\n".join(["run,P@1,MAP@10", *lines]))
    return our_command("possible", qrels, "--claims", table, "--format", "csv")


WORK: dict[str, tuple[int, Command]] = {
    "evaluate a TREC file of {:,} rows": (20_000_000, partial(_rows, "trec")),
    "evaluate a Parquet file of {:,} rows": (20_000_000, partial(_rows, "parquet")),
    "evaluate {:,} queries of 5 documents": (600_000, _queries),
    "evaluate one query of {:,} documents": (5_000_000, _documents),
    "evaluate --by {:,} groups of 2 queries": (100_000, _groups),
    "evaluate 10,000 rows by {:,} measures": (2_000, _measures),
    "evaluate {:,} runs of 1,000 rows": (1_000, partial(_runs, "evaluate")),
    "leaderboard of {:,} runs of 1,000 rows": (1_000, partial(_runs, "leaderboard")),
    "possible: {:,} rows of P@1 and MAP@10": (400, _printed_rows),
}
"""By what is done: how often, and the command."""


def scale(rounds: int, share: float) -> Iterator[Row]:
    """Yield a row for each work."""
    for what, (most, command) in WORK.items():
        sizes = {"start": 2, "tenth": max(int(most * share / 10), 2), "all": max(int(most * share), 20)}
        with tempfile.TemporaryDirectory() as made:
            commands = {}
            for name, n in sizes.items():
                folder = Path(made, name)
                folder.mkdir()
                commands[name] = command(folder, n)
            seconds = in_turns({name: running(each) for name, each in commands.items()}, min(rounds, 3))
            peaks = {"ours": peak_of_command(commands["all"])}
        yield {"table": "scale", "what": what.format(sizes["all"]), "seconds": seconds, "peak MB": peaks}


ROWS = {"scale": scale}
