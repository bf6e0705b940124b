"""Processes that are forked from one that has used polars."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

CODE = """
import multiprocessing, os, signal, sys, warnings
warnings.simplefilter("ignore")  # polars and Python 3.12 warn of the fork
import pandas as pd, polars as pl, pyarrow as pa, pyarrow.parquet as pq
import permed_measures as pm

parent, form, start, path = sys.argv[1:]
columns = {"query_id": ["q"] * 3, "doc_id": ["a", "b", "c"], "score": [1.0, 2.0, 2.0]}
with open(path, "w") as file:
    file.writelines(f"q 0 {d} 1 {s} t\\n" for d, s in zip(columns["doc_id"], columns["score"]))
pq.write_table(pa.table(columns), path + ".parquet")
FORMS = {
    "dict": lambda: {"q": dict(zip(columns["doc_id"], columns["score"]))},
    "polars": lambda: pl.DataFrame(columns),
    "lazy": lambda: pl.DataFrame(columns).lazy(),
    "scanned": lambda: pl.scan_parquet(path + ".parquet"),
    "arrow": lambda: pa.table(columns),
    "pandas": lambda: pd.DataFrame(columns),
    "scan": lambda: pm.scan_run(path),
    "parquet": lambda: pm.scan_run(path + ".parquet"),
    "read": lambda: pm.read_run(path),
    "read parquet": lambda: pm.read_run(path + ".parquet"),
}

def work(pipe):
    signal.alarm(60)  # a process that hangs ends
    try:
        pipe.send(str(pm.calc_aggregate(["RR", "P@1"], {"q": {"a": 1, "b": 0}}, FORMS[form]())))
    except pm.InputError as error:
        pipe.send(str(error))

def in_fork(pipe):
    if os.fork() == 0:
        work(pipe)
        os._exit(0)

if __name__ == "__main__":
    if parent == "used":
        pm.calc_aggregate(["RR"], {"q": {"a": 1}}, pl.DataFrame(columns))
    if parent == "named":
        pl.scan_parquet(path + ".parquet").collect_schema()
    here, there = multiprocessing.Pipe()
    if start == "fork":
        in_fork(there)
    elif start == "fork twice":
        multiprocessing.get_context("fork").Process(target=in_fork, args=(there,)).start()
    else:
        multiprocessing.get_context(start).Process(target=work, args=(there,)).start()
    print(here.recv() if here.poll(40) else "it hangs", flush=True)
    os._exit(0)
"""
VALUES = "{RR: 0.3333333333333333, P@1: 0.0}"
REFUSED = (
    "polars would hang in this process, which was forked from one that has used it. Use "
    "multiprocessing.get_context('spawn') or 'forkserver', or evaluate dicts in it"
)


def evaluated(tmp_path, *arguments):
    """Return what a child process says, of a parent that has used polars or only imported it."""
    script = tmp_path / "script.py"
    script.write_text(CODE)
    command = [sys.executable, script, *arguments, tmp_path / "run.trec"]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=100).stdout.strip()


@pytest.mark.parametrize(
    "form",
    [
        "polars",
        "scan",
        *(
            pytest.param(form, marks=pytest.mark.thorough)
            for form in ("lazy", "arrow", "pandas", "parquet", "read parquet")
        ),
    ],
)
def test_a_forked_process_refuses_what_would_hang(tmp_path, form):
    assert evaluated(tmp_path, "used", form, "fork").endswith(REFUSED)


def test_a_forked_process_refuses_where_only_the_columns_of_a_file_were_read(tmp_path):
    assert evaluated(tmp_path, "named", "scanned", "fork") == REFUSED


def test_a_process_forked_from_a_forked_one_refuses_too(tmp_path):
    assert evaluated(tmp_path, "used", "polars", "fork twice") == REFUSED


@pytest.mark.parametrize(
    ("parent", "form", "start"),
    [
        ("used", "dict", "fork"),
        ("used", "read", "fork"),
        ("imported", "polars", "fork"),
        pytest.param("imported", "scan", "fork", marks=pytest.mark.thorough),
        pytest.param("used", "polars", "spawn", marks=pytest.mark.thorough),
        pytest.param("used", "scan", "forkserver", marks=pytest.mark.thorough),
    ],
)
def test_other_processes_evaluate(tmp_path, parent, form, start):
    assert evaluated(tmp_path, parent, form, start) == VALUES
