"""Time and memory of permed-measures beside other tools on the same data, in turns.

Run it with ``python tests/benchmarks/speed.py [--out FILE] [--rounds N] [SHAPE ...]``; a shape is one of
``SHAPES``, or ``growth``: files of 1, 10 and 100 million rows, or ``curves``: our processor time by judged
documents that are retrieved, which must not jump. We are asked for six measures, the other tools for three of
them (ranx and pytrec_eval have no more of ours).

In memory all tools get the same objects in one process and are called in turns; the table has medians. A
frame that a tool does not take is converted before the time is taken. *ranx, built* evaluates a Run that was
made before. Files are timed as commands, from start to numbers. Peaks of memory are of processes that do one
thing each, from the moment when the data are there.

What dominated, before and after (7 million rows; a dict, a pandas frame of Arrow strings, a TREC file):

* dict: pytrec_eval builds and sorts every ranking. Here reading the scores out of the dicts took half of the
  time; `struct.pack` of a thousand at a time takes less than half of what it takes for a quarter of a
  million. What is left is cache misses on the objects of the dicts.
* frame: ir_measures makes a namedtuple and two dict entries per row. Here one join by document leaves few
  rows, and query ids are compared with their neighbours; a join of all rows by query took four times as long.
* many judged documents per query (50 x 1,000): bisection query by query took half of the time; now a step of
  it is made for all of them at once. Then a third was the judgments: their ids are no longer put into the
  order of the grades. A query's scores are sorted if they are not in order (2 microseconds for 1,000), so
  that it does not matter how many are judged, or what other queries need.
* ties: each cost a Python loop; now all are sorted at once. In a dict of many judged documents with few
  different scores they still take most of the time.
* TREC file: polars parses it on all cores, in chunks that are read ahead in another thread while the one
  before is searched; that took 1.3 s in one piece. A quarter of what is left is starting Python.
"""

import argparse
import json
import os
import pickle
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import ir_measures
import pandas as pd
import polars as pl
from synthetic import SHAPES, columns_of, make, with_hits, write_large, write_qrels

import permed_measures as pm

OURS = ["GradedAP@10", "Coverage@10", "nDCG(dcg='exp-log2')@10", "nDCG@10", "AP@10", "P@1"]
THEIRS = ["nDCG@10", "AP@10", "P@1"]
GROWTH = [1_000_000, 10_000_000, 100_000_000]

Call = Callable[[], Any]

# --- the tools, in memory --------------------------------------------------------------------------


def ours(qrels: Any, run: Any) -> Call:
    """Return the call of permed-measures."""
    return partial(pm.calc_aggregate, OURS, qrels, run)


def by_ir_measures(qrels: Any, run: Any) -> Call:
    """Return the call of ir_measures."""
    measures = [ir_measures.parse_measure(text) for text in THEIRS]
    run = run.to_pandas() if isinstance(run, pl.DataFrame) else run
    return partial(ir_measures.calc_aggregate, measures, qrels, run)


def by_pytrec_eval(qrels: Any, run: Any) -> Call:
    """Return the call of pytrec_eval, which takes dicts only; the means are taken in Python."""
    import pytrec_eval

    def call() -> dict[str, float]:
        values = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10", "map_cut.10", "P.1"}).evaluate(run)
        names = ("ndcg_cut_10", "map_cut_10", "P_1")
        return {name: statistics.fmean(query[name] for query in values.values()) for name in names}

    return call


def by_ranx(qrels: Any, run: Any, built: bool = False) -> Call:
    """Return the call of ranx: with its Qrels and Run made from dicts each time, or once before."""
    import ranx

    names = ["ndcg@10", "map@10", "precision@1"]
    if built:
        return partial(ranx.evaluate, ranx.Qrels(qrels), ranx.Run(run), names)
    return lambda: ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), names)


FORMS: dict[str, Callable[[Any], Any]] = {
    "dict": lambda run: run,
    "pandas": lambda run: pd.DataFrame(columns_of(run)),
    "polars": lambda run: pl.DataFrame(columns_of(run)),
}
TOOLS: dict[str, Callable[[Any, Any], Call]] = {
    "ours": ours,
    "ir_measures": by_ir_measures,
    "pytrec_eval": by_pytrec_eval,
    "ranx": by_ranx,
    "ranx, built": partial(by_ranx, built=True),
}
TAKES = dict.fromkeys(("pytrec_eval", "ranx", "ranx, built"), ("dict",))
"""The forms that a tool is tried with, if not all."""


# --- measuring -------------------------------------------------------------------------------------


def in_turns(
    calls: dict[str, Call], rounds: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """Return the median seconds of each call, made in turns."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            start = clock()
            call()
            seconds[name].append(clock() - start)
    return {name: statistics.median(values) for name, values in seconds.items()}


def peak_of_call(tool: str, data: Path, form: str) -> float:
    """Return the peak memory in MB of a process that calls a tool once."""
    command = [sys.executable, __file__, "--one", tool, str(data), form]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-1])


def one_call(tool: str, data: Path, form: str) -> None:
    """Load the data, call the tool once, and print the peak memory of that in MB."""
    qrels = pickle.loads((data / "qrels.pickle").read_bytes())
    run: Any = {}
    if form == "dict":
        for query_id, doc_id, score in pl.read_parquet(data / "run.parquet").iter_rows():
            run.setdefault(query_id, {})[doc_id] = score
    else:
        run = {"pandas": pd.read_parquet, "polars": pl.read_parquet}[form](data / "run.parquet")
    call = TOOLS[tool](qrels, run)
    Path("/proc/self/clear_refs").write_text("5")  # Linux: the peak starts again from here
    call()
    print(int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]) / 1024)


def peak_of_command(command: list[str]) -> float:
    """Return the peak memory in MB of a command."""
    # From a small process: what a child is said to use at most starts with what its parent uses.
    code = (
        "import resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], check=True, capture_output=True)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)"
    )
    done = subprocess.run([sys.executable, "-c", code, *command], capture_output=True, text=True, check=True)
    return float(done.stdout)


# --- what is compared ------------------------------------------------------------------------------


def in_memory(shape: str, rounds: int) -> Iterator[dict[str, Any]]:
    """Yield a row for each form of the run in memory."""
    qrels, run = make(shape)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        (data / "qrels.pickle").write_bytes(pickle.dumps(qrels))
        pl.DataFrame(columns_of(run)).write_parquet(data / "run.parquet")
        for form, convert in FORMS.items():
            given = convert(run)
            tools = [tool for tool in TOOLS if form in TAKES.get(tool, FORMS)]
            calls = {tool: TOOLS[tool](qrels, given) for tool in tools}
            for tool in tools:
                if tool.startswith("ranx"):
                    calls[tool]()  # compiles
            peaks = {tool: peak_of_call(tool, data, form) for tool in tools if "built" not in tool}
            yield {"run": name_of(shape, form), "seconds": in_turns(calls, rounds), "peak MB": peaks}


def from_files(shape: str, rounds: int) -> Iterator[dict[str, Any]]:
    """Yield a row for a TREC file and for a Parquet file, from the command to the numbers."""
    qrels, run = make(shape)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        write_qrels(qrels, data / "qrels")
        pm.write_run(run, data / "run.trec", tag="bm25")
        pl.DataFrame(columns_of(run)).write_parquet(data / "run.parquet")
        del qrels, run
        for form, file in (("TREC file", data / "run.trec"), ("Parquet file", data / "run.parquet")):
            commands = commands_for(data / "qrels", file)
            calls = {
                tool: partial(subprocess.run, command, capture_output=True, check=True)
                for tool, command in commands.items()
            }
            peaks = {tool: peak_of_command(command) for tool, command in commands.items()}
            yield {"run": name_of(shape, form), "seconds": in_turns(calls, rounds), "peak MB": peaks}


def commands_for(qrels: Path, run: Path) -> dict[str, list[str]]:
    """Return the command of each tool that reads this kind of file."""
    measures = [part for text in OURS for part in ("-m", text)]
    arguments = ["evaluate", str(qrels), str(run), *measures, "--format", "tsv"]
    commands = {"ours": [sys.executable, "-m", "permed_measures", *arguments]}
    if run.suffix == ".parquet":  # what a user of ir_measures would write
        code = (
            "import sys, ir_measures, pandas\n"
            "print(ir_measures.calc_aggregate([ir_measures.parse_measure(m) for m in sys.argv[3:]],\n"
            "    ir_measures.read_trec_qrels(sys.argv[1]), pandas.read_parquet(sys.argv[2])))"
        )
        commands["ir_measures"] = [sys.executable, "-c", code, str(qrels), str(run), *THEIRS]
        return commands
    commands["ir_measures"] = [sys.executable, "-m", "ir_measures", str(qrels), str(run), *THEIRS]
    if trec_eval := shutil.which("trec_eval"):
        names = [part for name in ("ndcg_cut.10", "map_cut.10", "P.1") for part in ("-m", name)]
        commands["trec_eval"] = [trec_eval, "-c", *names, str(qrels), str(run)]
    return commands


def name_of(shape: str, form: str) -> str:
    """Return what the table calls a run."""
    queries, depth, judged, _ = SHAPES[shape]
    return f"{form}, {queries:,} x {depth:,}, {judged} judged each"


def growth(rounds: int) -> Iterator[dict[str, Any]]:
    """Yield a row for each number of rows and kind of file: what a row costs us, and the peak memory."""
    for kind in ("parquet", "trec"):
        for n_rows in GROWTH:
            with tempfile.TemporaryDirectory() as folder:
                run, qrels = Path(folder, f"run.{kind}"), Path(folder, "qrels")
                write_large(run, qrels, n_rows)
                call = partial(pm.calc_aggregate, OURS, pm.read_qrels(qrels), pm.scan_run(run))
                call()  # the first one starts the threads of polars
                [seconds] = in_turns({"ours": call}, rounds).values()
                peak = peak_of_command(commands_for(qrels, run)["ours"])
            yield {"kind": kind, "rows": n_rows, "seconds": seconds, "peak MB": peak}


def curves(rounds: int) -> Iterator[dict[str, Any]]:
    """Yield rows of our time by the share of queries with 100 judged hits, and by judged hits per query."""
    queries, depth = 1000, 1000
    shares = {f"{share:.1%} of queries with 100": share for share in (0, 0.001, 0.01, 0.1, 0.5, 1)}
    kinds = {name: [100] * round(share * queries) for name, share in shares.items()}
    kinds |= {f"{hits:,} in each query": [hits] * queries for hits in (1, 2, 3, 5, 10, 30, 100, 300, 1000)}
    for name, hits in kinds.items():
        qrels, run = with_hits(hits + [1] * (queries - len(hits)), depth)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "run.trec")
            pm.write_run(run, file)
            forms = {"dict": run, "pandas": FORMS["pandas"](run), "file": pm.scan_run(file)}
            calls = {form: ours(qrels, given) for form, given in forms.items()}
            yield {"hits": name, "seconds": in_turns(calls, rounds, time.process_time)}


# --- printing --------------------------------------------------------------------------------------


def print_comparison(row: dict[str, Any]) -> None:
    """Print a line in Markdown for each tool."""
    for tool, seconds in row["seconds"].items():
        peak = row["peak MB"].get(tool)
        cells = [
            row["run"] if tool == "ours" else "",
            tool,
            f"{seconds:.3f} s",
            f"{seconds / row['seconds']['ours']:.1f}",
            "" if peak is None else f"{peak:,.0f} MB",
        ]
        print(f"| {' | '.join(cells)} |", flush=True)


def print_growth(row: dict[str, Any]) -> None:
    """Print a line in Markdown for one size."""
    each = f"{row['seconds'] / row['rows'] * 1e6:.3f} s"
    cells = [row["kind"], f"{row['rows']:,}", f"{row['seconds']:.2f} s", each, f"{row['peak MB']:,.0f} MB"]
    print(f"| {' | '.join(cells)} |", flush=True)


def print_curve(row: dict[str, Any]) -> None:
    """Print a line in Markdown for one kind of qrels."""
    cells = [row["hits"], *(f"{seconds * 1000:.0f} ms" for seconds in row["seconds"].values())]
    print(f"| {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Print the tables, and write them as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("shapes", nargs="*", default=[*SHAPES, "growth", "curves"], metavar="SHAPE")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # commands are timed as they are installed: compiled
    parser.add_argument("--one", nargs=3, metavar=("TOOL", "DATA", "FORM"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        tool, data, form = arguments.one
        one_call(tool, Path(data), form)
        return
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    report: dict[str, Any] = {"machine": machine, "comparison": [], "growth": [], "curves": []}
    shapes = [shape for shape in arguments.shapes if shape in SHAPES]
    print(f"{machine}\n\n| run | tool | time | times ours | peak |\n|---|---|---|---|---|")
    for shape, rows_of in product(shapes, (in_memory, from_files)):
        for row in rows_of(shape, arguments.rounds):
            report["comparison"].append(row)
            print_comparison(row)
    if "growth" in arguments.shapes:
        print("\n| file | rows | time | time per million rows | peak |\n|---|---|---|---|---|")
        for row in growth(arguments.rounds):
            report["growth"].append(row)
            print_growth(row)
    if "curves" in arguments.shapes:
        print("\n| judged hits | dict | pandas | file |\n|---|---|---|---|")
        for row in curves(arguments.rounds):
            report["curves"].append(row)
            print_curve(row)
    if arguments.out:
        arguments.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
