"""Our time and memory where other tools have nothing to compare with, and how they grow."""

import random
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from measuring import Call, in_turns, peak_of_call, peak_of_command, running
from synthetic import SHAPES, Shape, make, random_run, write_large
from tools import OURS, evaluating, our_command

import permed_measures as pm

Row = dict[str, Any]
N_RUNS = 50

# --- comparisons and audits ------------------------------------------------------------------------


def compare(rounds: int, share: float) -> Iterator[Row]:
    """Yield rows for the comparison of all pairs of 50 runs, and for its table."""
    call, results = _comparing(share), []
    seconds = in_turns({"ours": lambda: results.append(call())}, rounds)
    what = f"compare: all pairs of {N_RUNS} runs, 6 measures, clusters"
    yield _work(what, seconds, peak_of_call(_comparing, share))
    table = partial(results[0].to, "table")
    yield _work("its table", in_turns({"ours": table}, rounds))


def _comparing(share: float) -> Call:
    """Return the comparison: 50 runs of as many queries as MedCorpus has, in conversations of four."""
    shape = Shape(3440, 10, 8, 6, 3).part(share)
    qrels, run = make(shape)
    clusters = {query_id: str(number // 4) for number, query_id in enumerate(qrels)}
    runs = {"run 0": run}
    for seed in range(1, N_RUNS):  # the same documents with other scores
        scores, rng = random_run(shape.queries, shape.depth, seed=seed), random.Random(seed)
        runs[f"run {seed}"] = {
            query_id: dict(zip(rng.sample(sorted(docs), len(docs)), scores[query_id].values(), strict=True))
            for query_id, docs in run.items()
        }
    return partial(pm.compare, qrels, runs, OURS, clusters=clusters)


def audit(rounds: int, share: float) -> Iterator[Row]:
    """Yield the row of an audit of four published numbers, of which one is wrong."""
    seconds = in_turns({"ours": _auditing(share)}, rounds)
    what = f"audit: four claims, {SHAPES['6980x1000'].part(share)}"
    yield _work(what, seconds, peak_of_call(_auditing, share))


def _auditing(share: float) -> Call:
    qrels, run = make(SHAPES["6980x1000"].part(share))
    values = pm.calc_aggregate({"MAP@10": "GradedAP@10", "NDCG@10": "nDCG@10", "P@1": "P@1"}, qrels, run)
    claims = {str(measure): f"{value:.4f}" for measure, value in values.items()}
    return partial(pm.audit, qrels, run, {**claims, "R@100": "0.1234"})


# --- commands --------------------------------------------------------------------------------------


def _work(what: str, seconds: dict[str, list[float]], peak: float | None = None) -> Row:
    peaks = {} if peak is None else {"ours": peak}
    return {"table": "work", "what": what, "seconds": seconds, "peak MB": peaks}


def start(rounds: int, share: float) -> Iterator[Row]:  # noqa: ARG001 - there are no data
    """Yield rows of how long it takes to import and to start; short, so in three times as many rounds."""
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "import ir_measures": [sys.executable, "-c", "import ir_measures"],
        "import permed_measures": [sys.executable, "-c", "import permed_measures"],
        "permed-measures --version": our_command("--version"),
        "permed-measures --help": our_command("--help"),
        "permed-measures measures": our_command("measures"),
        "permed-measures evaluate permed-sample permed-sample/runs": our_command(
            "evaluate", "permed-sample", "permed-sample/runs"
        ),
    }
    seconds = in_turns({what: running(command) for what, command in commands.items()}, 3 * rounds)
    yield from ({"table": "start", "what": what, "seconds": {"ours": each}} for what, each in seconds.items())


# --- growth ------------------------------------------------------------------------------------------


def growth(sizes: tuple[int, ...], rounds: int, share: float) -> Iterator[Row]:
    """Yield a row for each number of rows: what a Parquet file and a TREC file of them cost."""
    for n_rows in (max(1000, int(size * share)) for size in sizes):
        row: Row = {"table": "growth", "what": f"{n_rows:,}", "rows": n_rows, "seconds": {}, "peak MB": {}}
        for kind in ("parquet", "trec"):
            with tempfile.TemporaryDirectory() as made:
                run, qrels = Path(made, f"run.{kind}"), Path(made, "qrels")
                write_large(run, qrels, n_rows)
                call = partial(pm.calc_aggregate, OURS, pm.read_qrels(qrels), run)
                call()  # the first one starts the threads of polars
                row["seconds"] |= in_turns({kind: call}, rounds)
                row["peak MB"][kind] = peak_of_command(evaluating(qrels, run))
        yield row


ROWS = {
    "compare": compare,
    "audit": audit,
    "start": start,
    "growth": partial(growth, (1_000_000, 10_000_000)),
}
