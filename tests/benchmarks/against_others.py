"""Our time and memory beside those of other tools, on the same data."""

import os
import pickle
import sys
import tempfile
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
from measuring import Call, in_turns, peak_of_call, peak_of_command, running
from synthetic import SHAPES, columns_of, make, write_qrels
from tools import FORMS, MEASURES, TOOLS, commands_for, evaluators, our_command

import permed_measures as pm

Row = dict[str, Any]


def dicts(shape: str, rounds: int, share: float) -> Iterator[Row]:
    """Yield the row of a run that is a dict of dicts: all tools get the same object."""
    qrels, run = make(SHAPES[shape].part(share))
    seconds = in_turns({tool: TOOLS[tool](qrels, run) for tool in TOOLS}, rounds)
    peaks = _peaks(qrels, run, [(tool, "dict") for tool in TOOLS if "built" not in tool])
    yield _row(shape, "dict", seconds, {tool: peak for (tool, _), peak in peaks.items()})


def frames(shape: str, rounds: int, share: float) -> Iterator[Row]:
    """Yield a row for a run in a pandas frame, and in a polars frame; ir_measures takes pandas' only."""
    qrels, run = make(SHAPES[shape].part(share))
    pandas, polars = FORMS["pandas"](run), FORMS["polars"](run)
    calls = {
        "pandas": TOOLS["ours"](qrels, pandas),
        "polars": TOOLS["ours"](qrels, polars),
        "ir_measures": TOOLS["ir_measures"](qrels, pandas),
    }
    seconds = in_turns(calls, rounds)
    peaks = _peaks(qrels, run, [("ours", "pandas"), ("ours", "polars"), ("ir_measures", "pandas")])
    theirs, their_peak = seconds["ir_measures"], peaks["ir_measures", "pandas"]
    for form in ("pandas", "polars"):
        both = {"ours": peaks["ours", form], "ir_measures": their_peak}
        yield _row(shape, form, {"ours": seconds[form], "ir_measures": theirs}, both)


_CALLS = 200
"""Of a query, to be timed together: one takes less than a clock tells."""


def one_query(rounds: int, share: float) -> Iterator[Row]:  # noqa: ARG001 - there is one
    """Yield a row for whole calls on one query, and one for evaluators that were made before."""
    qrels, run = make(SHAPES["1x10"])
    whole = {tool: TOOLS[tool](qrels, run) for tool in ("ours", "ir_measures", "pytrec_eval")}
    for form, calls in (("dict", whole), ("dict, evaluator made before", evaluators(qrels, run))):
        seconds = in_turns({tool: partial(_often, call) for tool, call in calls.items()}, rounds)
        yield _row("1x10", form, {tool: [each / _CALLS for each in of] for tool, of in seconds.items()}, {})


def _often(call: Call) -> None:
    for _ in range(_CALLS):
        call()


def files(shape: str, rounds: int, share: float) -> Iterator[Row]:
    """Yield a row for a TREC file and for a Parquet file, from the start of the command to the numbers."""
    qrels, run = make(SHAPES[shape].part(share))
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        write_qrels(qrels, data / "qrels")
        pm.write_run(run, data / "run.trec", tag="bm25")
        pl.DataFrame(columns_of(run)).write_parquet(data / "run.parquet")
        del qrels, run
        for form, name in (("TREC file", "run.trec"), ("Parquet file", "run.parquet")):
            commands = commands_for(data / "qrels", data / name)
            seconds = in_turns({tool: running(each) for tool, each in commands.items()}, rounds)
            yield _row(shape, form, seconds, {tool: peak_of_command(each) for tool, each in commands.items()})


LABELS = """
import json, sys, ir_measures
qrels, run = {}, {}
for line in open(sys.argv[1]):
    row = json.loads(line)
    query_id = f"{row['conversation_id']}_{row['turn_id']}"
    qrels.setdefault(query_id, {})[row["doc_id"]] = row["rel"]
    scores = run.setdefault(query_id, {})
    scores[row["doc_id"]] = -float(len(scores))
print(ir_measures.calc_aggregate(map(ir_measures.parse_measure, sys.argv[2:]), qrels, run))
"""


def labels(rounds: int, share: float) -> Iterator[Row]:  # noqa: ARG001 - the file is taken whole
    """Yield the row of MedCorpus' labels as qrels and run, against a plain script that checks nothing."""
    if folder := os.environ.get("PERMED_DATA"):
        file = str(Path(folder, "medcorpus", "query_to_texts.jsonl"))
        command = our_command("evaluate", file, file, *(part for name in MEASURES for part in ("-m", name)))
        commands = {"ours": command, "ir_measures": [sys.executable, "-c", LABELS, file, *MEASURES]}
        seconds = in_turns({tool: running(each) for tool, each in commands.items()}, 3 * rounds)
        yield {"table": "tools", "what": "labels of MedCorpus", "seconds": seconds, "peak MB": {}}


def _row(shape: str, form: str, seconds: dict[str, list[float]], peaks: dict[str, float]) -> Row:
    return {"table": "tools", "what": f"{form}, {SHAPES[shape]}", "seconds": seconds, "peak MB": peaks}


def _peaks(qrels: Any, run: Any, asked: Iterable[tuple[str, str]]) -> dict[tuple[str, str], float]:
    """Return the peak memory of each tool with each form, from the moment when the data are there."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        (data / "qrels.pickle").write_bytes(pickle.dumps(qrels))
        pl.DataFrame(columns_of(run)).write_parquet(data / "run.parquet")
        return {each: peak_of_call(_call_on, *each, data) for each in asked}


def _call_on(tool: str, form: str, data: Path) -> Call:
    """Return the call of a tool on the data in a folder."""
    qrels = pickle.loads((data / "qrels.pickle").read_bytes())
    run: Any = {}
    if form == "dict":
        for query_id, doc_id, score in pl.read_parquet(data / "run.parquet").iter_rows():
            run.setdefault(query_id, {})[doc_id] = score
    else:
        run = {"pandas": pd.read_parquet, "polars": pl.read_parquet}[form](data / "run.parquet")
    return TOOLS[tool](qrels, run)


ROWS = {
    "dict-6980x1000": partial(dicts, "6980x1000"),
    "frames-6980x1000": partial(frames, "6980x1000"),
    "files-3000x1000": partial(files, "3000x1000"),
    "dict-3440x100": partial(dicts, "3440x100"),
    "frames-3440x100": partial(frames, "3440x100"),
    "files-3440x100": partial(files, "3440x100"),
    "dict-3440x100-digits": partial(dicts, "3440x100-digits"),
    "dict-50x1000": partial(dicts, "50x1000"),
    "dict-50x1000-digits": partial(dicts, "50x1000-digits"),
    "dict-50x1000-ties": partial(dicts, "50x1000-ties"),
    "one-query": one_query,
    "labels": labels,
}
