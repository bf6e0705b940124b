"""Processes that are forked from one that has used polars."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

CODE = """
import os, signal, sys, time, warnings
warnings.simplefilter("ignore")  # polars and Python 3.12 warn of the fork
import polars as pl, pyarrow as pa, pyarrow.parquet as pq, permed_measures as pm

parent, form, forks, path = sys.argv[1:]
qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 2.0}}
frame = pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "score": [1.0, 2.0]})
pm.write_run(run, path)
FORMS = {"dict": run, "frame": frame, "scan": pm.scan_run(path)}
if parent == "used":
    pm.calc_aggregate("RR", qrels, frame)
if parent == "read columns":
    pq.write_table(pa.table({"query_id": ["q"]}), path + ".parquet")
    pl.scan_parquet(path + ".parquet").collect_schema()
    time.sleep(0.5)  # a thread has its name soon after it has started
for _ in range(int(forks)):
    if os.fork():
        os.wait()
        os._exit(0)
signal.alarm(60)  # a process that hangs ends
try:
    print(pm.calc_aggregate("RR", qrels, FORMS[form]), flush=True)
except pm.InputError as error:
    print(error, flush=True)
os._exit(0)
"""
VALUE = "{RR: 0.5}\n"
REFUSED = (
    "polars would hang in this process, which was forked from one that has used it. Use "
    "multiprocessing.get_context('spawn') or 'forkserver', or evaluate dicts in it\n"
)


@pytest.mark.parametrize(
    ("parent", "form", "forks", "expected"),
    [
        ("used", "scan", 1, REFUSED),
        ("used", "frame", 2, REFUSED),
        ("read columns", "frame", 1, REFUSED),
        ("used", "dict", 1, VALUE),
    ],
)
def test_a_forked_process_evaluates_or_refuses_what_would_hang(tmp_path, parent, form, forks, expected):
    command = [sys.executable, "-c", CODE, parent, form, str(forks), str(tmp_path / "run.trec")]
    assert subprocess.run(command, capture_output=True, text=True, timeout=100).stdout == expected
