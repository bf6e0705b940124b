"""Failures are one message and status 2, Ctrl-C is status 130, and no name controls the terminal."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from commands import run_cli, run_main

import permed_measures as pm

QRELS = "q1 0 a 1\nq2 0 b 1\n"
RUN = "q1 Q0 a 1 2.0 t\nq1 Q0 x 2 1.0 t\nq2 Q0 b 1 1.0 t\n"
COMMAND = [sys.executable, "-m", "permed_measures"]


@pytest.fixture
def files(tmp_path):
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    return tmp_path


# --- failures ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MemoryError(), "error: not enough memory. A run in a TREC, CSV or Parquet file takes least"),
        (OSError(28, "No space left on device"), "error: standard output: No space left on device\n"),
        (OSError(28, "No space left on device", "f"), "error: f: No space left on device\n"),
        (OSError("strange"), "error: strange\n"),
        (RecursionError("too deep"), "error: unexpected RecursionError: too deep. python -X dev -m permed_"),
        (type("PanicException", (BaseException,), {})("p\x1b[2J"), "error: unexpected PanicException: p [2J"),
    ],
)
def test_whatever_fails_is_one_message_and_status_2(monkeypatch, files, error, message):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("permed_measures.cli.inputs._load_qrels", fail)
    status, stdout, stderr = run_main("evaluate", str(files / "qrels"), str(files / "run"))
    assert (status, stdout) == (2, "")
    assert stderr.startswith(message)
    assert stderr.count("\n") == 1


@pytest.mark.thorough
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory can be limited on Linux only")
def test_running_out_of_memory_is_one_message_and_status_2(files):
    results = json.dumps([{"text_id": f"d{number}", "score": -number} for number in range(5_000)])
    lines = (f'{{"query_id": "q{number}", "results": {results}}}\n' for number in range(200))
    (files / "large.jsonl").write_text("".join(lines))
    code = (
        "import resource, sys\n"
        "from permed_measures.cli import main\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + (80 << 20), -1))\n"
        "main()"
    )
    command = [sys.executable, "-c", code, "evaluate", "qrels", "large.jsonl", "-m", "P@1"]
    result = subprocess.run(command, cwd=files, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("error: not enough memory")
    assert result.stderr.count("\n") == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_results_that_cannot_be_printed_are_one_message():
    with Path("/dev/full").open("w") as full:
        result = subprocess.run([*COMMAND, "measures"], stdout=full, stderr=subprocess.PIPE, check=False)
    assert result.returncode == 2
    assert result.stderr == b"error: standard output: No space left on device\n"


# --- Ctrl-C ------------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")
def test_ctrl_c_while_a_file_is_read_is_status_130_without_a_traceback(files):
    pipe = files / "pipe"
    os.mkfifo(pipe)
    command = [*COMMAND, "evaluate", str(files / "qrels"), str(pipe), "-m", "P@1"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with process, pipe.open("wb"):  # which waits until the command opens it
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout, stderr) == (130, b"", b"")


# --- what reaches the terminal ------------------------------------------------------------------------

ODD = "a\x1b[31m\x9b2J\u202eb\x07"


@pytest.fixture
def odd_files(files):
    """Write files whose names, query ids and document ids control a terminal."""
    (files / ODD).write_text(RUN.replace("q1", f"q{ODD}").replace(" x ", f" x{ODD} "))
    (files / f"{ODD}2").write_text(RUN.replace("q1", f"q{ODD}").replace(" a ", " other "))
    (files / f"{ODD}qrels").write_text(QRELS.replace("q1", f"q{ODD}"))
    (files / f"{ODD}folder").mkdir()
    (files / f"{ODD}folder" / "subfolder").mkdir()
    (files / f"{ODD}folder" / ODD).write_text(RUN)
    return files


def controls(text):
    """Return the characters of a text that control a terminal or the direction of writing."""
    return sorted({c for c in text if c in ODD and c not in "a[31m2Jb" and c != "\n"})


@pytest.mark.parametrize(
    ("command", "status"),
    [
        (["evaluate", ODD + "qrels", ODD, ODD + "2"], 0),
        (["evaluate", ODD + "qrels", ODD, "--format", "json", "--by-query"], 0),
        (["evaluate", ODD + "qrels", ODD + "folder"], 0),
        (["evaluate", ODD + "qrels", ODD + "none"], 2),
        (["evaluate", ODD + "qrels", ODD, "--by", ODD], 2),
        (["crosscheck", ODD + "qrels", ODD], 0),
        (["audit", ODD + "qrels", ODD, "--claim", ODD], 2),
        ([ODD], 2),
        (["evaluate", "qrels", ODD, f"--{ODD}"], 2),
        (["compare", ODD + "qrels", ODD, ODD + "2"], 0),
        (["reranking", ODD + "qrels", ODD, ODD + "2"], 0),
        (["inspect", ODD], 0),
        (["convert", ODD, ODD + ".json"], 0),
    ],
)
def test_nothing_from_files_or_arguments_controls_the_terminal(odd_files, monkeypatch, command, status):
    monkeypatch.chdir(odd_files)
    result = run_main(*command)
    assert result[0] == status, result
    assert controls(result[1]) == []
    assert controls(result[2]) == []


# --- reading once --------------------------------------------------------------------------------------


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("command", ["evaluate", "compare", "reranking"])
def test_errors_about_a_run_name_its_file(files, monkeypatch, command, large):
    monkeypatch.chdir(files)
    monkeypatch.setattr("permed_measures.files.read._LARGE", 0 if large else 1 << 22)
    Path("foreign").write_text(RUN.replace("q", "t"))
    with pytest.raises(pm.InputError, match=r"^foreign: the run and the qrels share no query: the run has "):
        run_cli(command, "qrels", "run", "foreign")
    Path("foreign").write_text(f"{RUN}q1 Q0 x 3 0.5 t\n")
    with pytest.raises(pm.InputError, match=r"foreign:4: document .* is listed twice"):
        run_cli(command, "qrels", "run", "foreign")
