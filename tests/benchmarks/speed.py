"""Time and memory of permed-measures beside ir_measures on the same data, in turns.

Run it with ``python tests/benchmarks/speed.py [--out FILE] [--rounds N] [SHAPE ...]``; a shape is one of
``SHAPES``. In memory, both sides get the same objects in one process and are timed in turns; peaks of memory
are of processes that do one thing each. We are asked for six measures, ir_measures for three of them.

What dominated, before and after (7 million rows; a dict, a pandas frame of Arrow strings):

* dict: pytrec_eval builds and sorts every ranking. Here reading the scores out of the dicts takes half of the
  time, and counting those above each judged document most of the rest.
* frame: ir_measures makes a namedtuple and two dict entries per row. Here one join by document leaves few
  rows, and query ids are compared with their neighbours; a join of all rows by query took four times as long.
* many judged documents per query (50 x 1,000): bisection query by query took half of the time; now all scores
  are sorted once, with the query in the upper half of an integer key, and bisected in order.
"""

import argparse
import json
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import polars as pl

import permed_measures as pm

OURS = ["GradedAP@10", "Coverage@10", "nDCG(dcg='exp-log2')@10", "nDCG@10", "AP@10", "P@1"]
THEIRS = ["nDCG@10", "AP@10", "P@1"]

SHAPES = {
    "PerMed": (3440, 100, 10, 8),
    "MS MARCO": (6980, 1000, 2, 1),
    "TREC": (50, 1000, 500, 400),
}
"""Queries, documents each, judged documents each, and how many of these are retrieved."""


def make(shape: str) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Return synthetic qrels and a run, the same at each call."""
    queries, depth, judged, retrieved = SHAPES[shape]
    rng = np.random.default_rng(1)
    qrels, run = {}, {}
    for query in range(queries):
        ids = [f"d{i}" for i in rng.choice(8_800_000, depth, replace=False).tolist()]
        scores = (np.sort(rng.random(depth))[::-1] * 30).tolist()
        run[f"q{query}"] = dict(zip(ids, scores, strict=True))
        found = [ids[i] for i in rng.choice(depth, retrieved, replace=False)]
        documents = [*found, *(f"x{i}" for i in range(judged - retrieved))]
        qrels[f"q{query}"] = {doc_id: int(rng.integers(0, 3)) for doc_id in documents}
    return qrels, run


def columns_of(run: dict[str, dict[str, float]]) -> dict[str, list[Any]]:
    """Return the rows of a run as columns."""
    rows = [(query_id, doc_id, score) for query_id, docs in run.items() for doc_id, score in docs.items()]
    return dict(zip(("query_id", "doc_id", "score"), map(list, zip(*rows, strict=True)), strict=True))


FORMS: dict[str, Callable[[dict[str, dict[str, float]]], Any]] = {
    "dict": lambda run: run,
    "pandas": lambda run: pd.DataFrame(columns_of(run)),
    "polars": lambda run: pl.DataFrame(columns_of(run)),
}


def evaluate(side: str, qrels: Any, run: Any) -> None:
    """Evaluate once by one side."""
    if side == "ours":
        pm.calc_aggregate(OURS, qrels, run)
    else:
        ir_measures.calc_aggregate([ir_measures.parse_measure(text) for text in THEIRS], qrels, run)


def in_turns(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Return the median seconds of each call, made in turns."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in seconds.items()}


def peak(arguments: list[str]) -> float:
    """Return the peak memory in MB of this script doing one thing."""
    command = [sys.executable, __file__, *arguments]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def one_thing(side: str, shape: str, form: str) -> None:
    """Evaluate once, and print the peak memory of this process in MB."""
    qrels, run = make(shape)
    given = FORMS[form](run)
    if form != "dict":
        del run
    if side != "none":
        evaluate(side, qrels, given)
    # Linux' own count: that of getrusage starts with what the parent process had.
    print(int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]) / 1024)


def in_memory(shape: str, rounds: int) -> list[dict[str, Any]]:
    """Return a row for each form of the run."""
    qrels, run = make(shape)
    rows = []
    for form, convert in FORMS.items():
        given = convert(run)
        # ir_measures takes no polars frame: its user would make a pandas frame of it.
        theirs = given if form != "polars" else given.to_pandas()
        calls = {
            "ours": lambda given=given: evaluate("ours", qrels, given),
            "ir_measures": lambda theirs=theirs: evaluate("ir_measures", qrels, theirs),
        }
        memory = {
            side: peak(["--one", side, shape, form if side == "ours" else form.replace("polars", "pandas")])
            for side in ("ours", "ir_measures")
        }
        rows.append({"shape": shape, "form": form, "seconds": in_turns(calls, rounds), "peak MB": memory})
    return rows


def from_file(shape: str, rounds: int) -> dict[str, Any]:
    """Return the row for a TREC file, from the command to the numbers."""
    qrels, run = make(shape)
    with tempfile.TemporaryDirectory() as folder:
        labels, results = Path(folder, "qrels"), Path(folder, "run")
        labels.write_text("".join(f"{q} 0 {d} {g}\n" for q, docs in qrels.items() for d, g in docs.items()))
        pm.write_run(run, results)
        files = [str(labels), str(results)]
        measures = [part for text in OURS for part in ("-m", text)]
        commands = {
            "ours": [
                sys.executable,
                "-m",
                "permed_measures",
                "evaluate",
                *files,
                *measures,
                "--format",
                "tsv",
            ],
            "ir_measures": [sys.executable, "-m", "ir_measures", *files, *THEIRS],
        }
        calls = {
            side: lambda command=command: subprocess.run(command, capture_output=True, check=True)
            for side, command in commands.items()
        }
        return {"shape": shape, "form": "TREC file", "seconds": in_turns(calls, rounds), "peak MB": {}}


def line_of(row: dict[str, Any]) -> str:
    """Return a row of the Markdown table."""
    seconds, memory = row["seconds"], row["peak MB"]
    ratio = seconds["ir_measures"] / seconds["ours"]
    peaks = [f"{memory[side]:,.0f} MB" if memory else "" for side in ("ours", "ir_measures")]
    queries, depth, judged, _ = SHAPES[row["shape"]]
    cells = [
        f"{row['form']}, {queries:,} x {depth:,}, {judged} judged each",
        *(f"{seconds[side]:.3f} s" for side in ("ours", "ir_measures")),
        f"{ratio:.1f}",
        *peaks,
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table, and write it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("shapes", nargs="*", default=list(SHAPES), metavar="SHAPE")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--one", nargs=3, metavar=("SIDE", "SHAPE", "FORM"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        one_thing(*arguments.one)
        return
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}")
    print("| run | ours | ir_measures | times faster | our peak | its peak |\n|---|---|---|---|---|---|")
    rows = []
    for shape in arguments.shapes:
        for row in (*in_memory(shape, arguments.rounds), from_file(shape, arguments.rounds)):
            rows.append(row)
            print(line_of(row), flush=True)
    if arguments.out:
        arguments.out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
