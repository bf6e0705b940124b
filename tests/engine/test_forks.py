"""Processes that are forked from one that has used polars."""

import os
import sys
from types import SimpleNamespace

import pytest
from commands import run_python

import permed_measures as pm
from permed_measures import frames

CODE = """
import os, signal, sys, warnings
warnings.simplefilter("ignore")  # polars and Python 3.12 warn of the fork
import polars as pl, permed_measures as pm
from permed_measures.inputs import read

read._LARGE_FILE = 0  # read in batches

frame = pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "score": [1.0, 2.0]})
pm.write_run({"q": {"a": 1.0, "b": 2.0}}, sys.argv[1])
forms = [{"q": {"a": 1.0, "b": 2.0}}, frame, sys.argv[1]]
pm.calc_aggregate('RR', {'q': {'a': 1}}, frame)
forms += [frame.lazy(), [frame], pm.match_query_ids([frame], {"q": {"a": 1}}, "permed"), frame.to_arrow()]
for _ in range(2):  # the second from a process that has not used polars itself
    if os.fork():
        os.wait()
        os._exit(0)
signal.alarm(60)  # a process that hangs ends
results = [lambda form=form: pm.calc_aggregate("RR", {"q": {"a": 1}}, form) for form in forms]
for result in [*results, pm.crosscheck({"q": {"a": 1}}, {"q": {"a": 1.0}}, "RR").to_polars]:
    try:
        print(result(), flush=True)
    except pm.InputError as error:
        print(error, flush=True)
os._exit(0)
"""
REFUSED = (
    "polars would hang in this process, which was forked from one that has used it. Use "
    "multiprocessing.get_context('spawn') or 'forkserver', or evaluate dicts in it"
)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_evaluates_a_dict_and_refuses_what_would_hang(tmp_path):
    printed = run_python(CODE, tmp_path / "run.trec")
    assert printed.splitlines() == ["{RR: 0.5}", *[REFUSED] * 7]


@pytest.mark.parametrize(
    ("threads", "is_noted"),
    [(["python"], False), (["python", "polars-0"], True), (["tokio-rt-wor"], True), ([], True)],
)
def test_a_fork_is_noted_where_polars_has_threads_or_nobody_knows(threads, is_noted, monkeypatch):
    files = [SimpleNamespace(read_text=lambda name=name: name) for name in threads]
    monkeypatch.setattr(frames, "Path", lambda _: SimpleNamespace(glob=lambda _: files))
    monkeypatch.setattr(frames, "_users", users := [])
    monkeypatch.setitem(sys.modules, "polars", None)  # it is there
    frames._before_fork()
    assert users == [os.getpid()] * is_noted
    frames.check_not_forked()  # it is this process
    monkeypatch.delitem(sys.modules, "polars")
    frames._before_fork()
    assert len(users) == is_noted
    users.append(os.getppid())
    with pytest.raises(pm.InputError, match="polars would hang in this process"):
        frames.check_not_forked()
