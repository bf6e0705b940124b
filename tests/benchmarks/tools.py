"""The tools that are compared: a call on qrels and a run in memory, or a command on two files, of each."""

import shutil
import statistics
import sys
import sysconfig
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import ir_measures
import pandas as pd
import polars as pl
from measuring import Call
from synthetic import columns_of

import permed_measures as pm

MEASURES = ["nDCG@10", "AP@10", "P@1"]
"""What all tools are asked for: ranx and pytrec_eval have no more of ours."""
OURS = ["GradedAP@10", "Coverage@10", "nDCG(dcg='exp-log2')@10", *MEASURES]
"""What we alone are asked for, where nobody else is."""


def ours(qrels: Any, run: Any) -> Call:
    """Return the call of permed-measures."""
    return partial(pm.calc_aggregate, MEASURES, qrels, run)


def by_ir_measures(qrels: Any, run: Any) -> Call:
    """Return the call of ir_measures, which takes no polars frames."""
    measures = [ir_measures.parse_measure(text) for text in MEASURES]
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
    ranx.evaluate(ranx.Qrels({"q": {"d": 1}}), ranx.Run({"q": {"d": 1.0}}), names)  # compiles
    if built:
        return partial(ranx.evaluate, ranx.Qrels(qrels), ranx.Run(run), names)
    return lambda: ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), names)


def evaluators(qrels: Any, run: Any) -> dict[str, Call]:
    """Return the calls of evaluators that were made before: ours, and that of ir_measures."""
    measures = [ir_measures.parse_measure(text) for text in MEASURES]
    made = {"ours": pm.evaluator(measures, qrels), "ir_measures": ir_measures.evaluator(measures, qrels)}
    return {tool: partial(evaluator.calc_aggregate, run) for tool, evaluator in made.items()}


TOOLS: dict[str, Callable[[Any, Any], Call]] = {
    "ours": ours,
    "ir_measures": by_ir_measures,
    "pytrec_eval": by_pytrec_eval,
    "ranx": by_ranx,
    "ranx, built": partial(by_ranx, built=True),
}
FORMS: dict[str, Callable[[Any], Any]] = {
    "dict": lambda run: run,
    "pandas": lambda run: pd.DataFrame(columns_of(run)),
    "polars": lambda run: pl.DataFrame(columns_of(run)),
}


def our_command(command: str, *arguments: object) -> list[str]:
    """Return a command of permed-measures."""
    return [_installed("permed-measures"), command, *map(str, arguments)]


def _installed(name: str) -> str:
    """Return the path of a command of this environment: what people type."""
    return str(Path(sysconfig.get_path("scripts")) / name)


def evaluating(qrels: Path, run: Path) -> list[str]:
    """Return our command for a run file."""
    measures = [part for text in MEASURES for part in ("-m", text)]
    return our_command("evaluate", qrels, run, *measures, "--format", "tsv")


def commands_for(qrels: Path, run: Path) -> dict[str, list[str]]:
    """Return the command of each tool that reads this kind of file."""
    commands = {"ours": evaluating(qrels, run)}
    if run.suffix == ".parquet":  # what a user of ir_measures would write
        code = (
            "import sys, ir_measures, pandas\n"
            "print(ir_measures.calc_aggregate([ir_measures.parse_measure(m) for m in sys.argv[3:]],\n"
            "    ir_measures.read_trec_qrels(sys.argv[1]), pandas.read_parquet(sys.argv[2])))"
        )
        commands["ir_measures"] = [sys.executable, "-c", code, str(qrels), str(run), *MEASURES]
        return commands
    commands["ir_measures"] = [_installed("ir_measures"), str(qrels), str(run), *MEASURES]
    if trec_eval := shutil.which("trec_eval"):
        names = [part for name in ("ndcg_cut.10", "map_cut.10", "P.1") for part in ("-m", name)]
        commands["trec_eval"] = [trec_eval, "-c", *names, str(qrels), str(run)]
    return commands
