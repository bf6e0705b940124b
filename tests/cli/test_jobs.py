"""Several runs at a time: the output is the same to the last byte, and nothing is left behind."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from effort import effort

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux only")

# A process of its own, as polars has computed in that of the tests, and it must not have before a fork.
OUTPUTS = """
import json, multiprocessing.process, sys
from commands import run_main

forked = []
start = multiprocessing.process.BaseProcess.start
multiprocessing.process.BaseProcess.start = lambda self: (forked.append(1), start(self))
for line, jobs in json.loads(sys.argv[1]):
    forked.clear()
    found = run_main(*line.split(), "--jobs", str(jobs))
    print(json.dumps([line, jobs, len(forked), found]))
"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Make a folder of runs in the present folder: some have notes, one is in Parquet."""
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text("".join(f"t_{q} 0 d{q % 3} {1 + q % 2}\n" for q in range(40)))
    Path("runs").mkdir()
    rows = [(f"t_{q}", f"d{d}", float(d % 3)) for q in range(40) for d in range(5)]
    lines = [f"{q} Q0 {d} {1 + int(d[1])} {s} t\n" for q, d, s in rows]
    Path("runs/a.trec").write_text("".join(lines))  # with a note: its order is not that of the scores
    results = {q: [d for each, d, _ in rows if each == q] for q, _, _ in rows[:100]}
    texts = [
        json.dumps({"query_id": q, "results": [{"text_id": d} for d in ds]}) for q, ds in results.items()
    ]
    Path("runs/b.jsonl").write_text("\n".join(texts))  # without half of the queries
    Path("runs/c.trec").write_text("".join(sorted(lines)[:50]).replace("t_", "t_turn_"))
    pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row").write_parquet("d.parquet")
    Path("runs/e.csv").write_text("query_id,doc_id,score\nt_1,no,1\n")  # with a warning: nothing is judged
    Path("claims").write_text("run,P@1,RR\na,0.3250,0.9\ne,0.0000,0.0\nb,0.1,0.2\nc,0.1,0.2\n")
    return tmp_path


def outputs(*calls):
    """Return status, stdout and stderr, and the number of processes, by command and number of jobs."""
    folder = Path(__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(folder.parent)])}
    command = [sys.executable, "-c", OUTPUTS, json.dumps(calls)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found = map(json.loads, done.stdout.splitlines())
    return {(line, jobs): (forked, result) for line, jobs, forked, result in found}


LINES = [
    "evaluate qrels runs d.parquet -m P@1 -m MINE=RR --query-ids permed",
    "evaluate qrels runs -m P@1 --query-ids permed --by _(.) --format json",
    "compare qrels runs -m P@1 -m RR --resamples 9 --query-ids permed",
    "audit qrels runs --claims claims --query-ids permed --format json",
    "crosscheck qrels runs -m P@1 -m GradedAP@10 --query-ids permed",
    "evaluate qrels runs -m P@1",  # c has other ids
    "compare qrels runs/a.trec late broken runs/b.jsonl -m P@1",
]


def test_the_output_does_not_depend_on_the_number_of_jobs(files):
    (files / "broken").write_text("t_1 Q0 d1 1 x t\n")
    late = (files / "runs" / "a.trec").read_text() * 50  # what is wrong is at the end of it
    (files / "late").write_text(late.replace("t_", "x_") + "t_1 Q0 d1 1 y t\n")
    numbers = effort([2, 1], [8, 2, 1])  # the last one reads with polars here, after which nothing is forked
    found = outputs(*((line, jobs) for jobs in numbers for line in LINES))
    for line in LINES:
        _, alone = found[line, 1]
        assert all(found[line, jobs][1] == alone for jobs in numbers), line
        n_runs = 5 if "d.parquet" in line else 4
        times = (
            2 if "audit" in line else 1
        )  # once for the rankings, and once all queries of all runs are known
        forked = [times * min(n_runs, n) if n > 1 else 0 for n in numbers]
        assert [found[line, jobs][0] for jobs in numbers] == forked
    assert [found[line, 2][1][0] for line in LINES] == [0, 0, 0, 1, 0, 2, 2]
    notes = [each.split(": ")[1] for each in found[LINES[2], 2][1][2].splitlines()]
    assert notes == ["runs/a.trec", "runs/c.trec", "runs/c.trec", "runs/e.csv"]


@pytest.mark.usefixtures("files")
def test_pipes_are_read_once():
    os.mkfifo("pipe")
    arguments = "evaluate qrels runs/a.trec x=pipe y=- --jobs 8 -m RR --format csv"
    with subprocess.Popen(["sh", "-c", "cat runs/a.trec > pipe"]):
        command = f"cat runs/a.trec | {sys.executable} -m permed_measures {arguments}"
        done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    values = [line.split(",")[1] for line in done.stdout.splitlines()[1:]]
    assert (len(values), len(set(values))) == (3, 1)


PROGRAM = r"""
import os, signal, sys, time
from multiprocessing.connection import Connection
from permed_measures import cli
from permed_measures.engine import processes
from permed_measures.engine.evaluator import PermedEvaluator

def wait(*_):
    os.write(2, b"started\n")  # in one piece: print writes the end of the line apart
    time.sleep(60)

def die_sometimes(number):
    if number % 3 == 1 and processes.in_worker:
        os.kill(os.getpid(), signal.SIGKILL)
    return number, processes.in_worker

def die_while_sending(number):
    def send_a_part(pipe, data):
        os.write(pipe.fileno(), data[:1000])
        os.kill(os.getpid(), signal.SIGKILL)
    if number == 1 and processes.in_worker:
        Connection._send = send_a_part
    return number * b"x"

def begin(_):
    os.write(1, b"begun\n")
    time.sleep(1)  # and then wait for more, which will not come

if sys.argv[1] == "sending":
    print(*map(len, processes.in_parallel(die_while_sending, (0, 1, 100_000), 2)))
    raise SystemExit
if sys.argv[1] == "above":
    list(processes.in_parallel(begin, range(9), 2))
if sys.argv[1] == "interrupted":
    PermedEvaluator.evaluate = wait
    sys.argv[1:] = "evaluate qrels runs -m P@1 --jobs 2".split()
    cli.main()
print(*processes.in_parallel(die_sometimes, range(8), 2))
"""


@pytest.mark.usefixtures("files")
def test_an_interrupt_ends_all_processes_at_once():
    command = [sys.executable, "-c", PROGRAM, "interrupted"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as running:
        assert [running.stderr.readline() for _ in range(2)] == ["started\n"] * 2
        os.killpg(running.pid, signal.SIGINT)
        assert running.wait(timeout=60) == 130
        assert running.stderr.read() == ""
    with pytest.raises(ProcessLookupError):
        os.killpg(running.pid, 0)


def test_what_a_process_was_ended_over_is_computed_here():
    command = [sys.executable, "-c", PROGRAM, "killed"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (
        done.stdout
        == "(0, True) (1, False) (2, True) (3, True) (4, False) (5, False) (6, False) (7, False)\n"
    )
    assert done.stderr == ""


def test_a_process_may_be_ended_while_it_sends_its_result():
    command = [sys.executable, "-c", PROGRAM, "sending"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert (done.stdout, done.stderr) == ("0 1 100000\n", "")


def test_no_process_is_left_behind_by_one_that_is_killed():
    command = [sys.executable, "-c", PROGRAM, "above"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as running:
        assert [running.stdout.readline() for _ in range(2)] == [b"begun\n"] * 2
        running.kill()
        assert running.communicate(timeout=60)[0] == b""  # it ends when all have ended that write to it
