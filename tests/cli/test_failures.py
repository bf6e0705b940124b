"""Failures are one message and status 2, Ctrl-C is status 130, and no name controls the terminal."""

import contextlib
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from commands import run_cli, run_main

import permed_measures as pm
from permed_measures.cli.messages import warnings_as_notes
from permed_measures.errors import warn

COMMAND = [sys.executable, "-m", "permed_measures"]


# --- failures ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MemoryError(), "error: not enough memory. TREC, CSV and Parquet files need the least"),
        (OSError(28, "No space left on device"), "error: standard output: No space left on device\n"),
        (OSError(28, "No space left on device", "f"), "error: f: No space left on device\n"),
        (OSError("strange"), "error: strange\n"),
        (RecursionError("too deep"), "error: unexpected RecursionError: too deep. python -X dev -m permed_"),
        (type("PanicException", (BaseException,), {})("p\x1b[2J"), "error: unexpected PanicException: p [2J"),
    ],
)
@pytest.mark.usefixtures("files")
def test_whatever_fails_is_one_message_and_status_2(monkeypatch, error, message):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("permed_measures.cli.inputs._read_qrels", fail)
    status, stdout, stderr = run_main("evaluate", "qrels", "run.trec")
    assert (status, stdout) == (2, "")
    assert stderr.startswith(message)
    assert stderr.count("\n") == 1


def test_equal_warnings_are_said_once(capsys):
    with warnings_as_notes():
        for said in ("odd", "odd", "other"):
            warn(said)
    assert capsys.readouterr().err == "note: odd\nnote: other\n"


@pytest.mark.usefixtures("files")
def test_ctrl_c_is_status_130_and_development_mode_shows_what_is_raised(monkeypatch):
    def fail(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("permed_measures.cli.inputs._read_qrels", fail)
    assert run_main("evaluate", "qrels", "run.trec") == (130, "", "")
    monkeypatch.setattr(sys, "flags", SimpleNamespace(dev_mode=True))
    with pytest.raises(pm.InputError, match="no such command"):
        run_main("evalute")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_results_that_cannot_be_printed_are_one_message():
    with Path("/dev/full").open("w") as full:
        result = subprocess.run([*COMMAND, "measures"], stdout=full, stderr=subprocess.PIPE, check=False)
    assert result.returncode == 2
    assert result.stderr == b"error: standard output: No space left on device\n"


@pytest.mark.skipif(os.name == "nt", reason="Windows has another shell")
@pytest.mark.parametrize(
    ("words", "status", "stderr"),
    [
        ("measures >&-", 2, "error: standard output: Bad file descriptor\n"),
        ("evaluate qrels run.trec -m P@1 --output p.csv >&-", 0, "p.csv: csv of 1 run\n"),
        pytest.param("evaluate qrels nosuch 2>&-", 2, "", marks=pytest.mark.thorough),
        pytest.param("evaluate qrels run.trec -m P@1 2>&-", 0, "", marks=pytest.mark.thorough),
        ("evaluate qrels nosuch >&- 2>&-", 2, ""),
    ],
)
def test_closed_streams_are_no_accident(files, words, status, stderr):
    done = subprocess.run(
        f"{shlex.join(COMMAND)} {words}",
        shell=True,
        cwd=files,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (status, stderr)


@pytest.mark.thorough
@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="descriptors have no paths")
@pytest.mark.parametrize(
    ("line", "begins", "ends"),
    [
        ("{} --output /dev/stderr 2>> log", "old\nrun,P@1,", "/dev/stderr: csv of 1 run\n"),
        ("(echo before; {} --output /dev/stderr; echo after >&2) 2> log", "run,P@1,", "after\n"),
        ("(echo before; {} --output /dev/fd/1; echo after) > log", "before\nrun,P@1,", "\nafter\n"),
        ("(echo before; {} --output /dev/stdout; echo after) > log", "before\nrun,P@1,", "\nafter\n"),
        ("{} --output /dev/fd/3 3>> log", "old\nrun,P@1,", ",1\n"),
        ("ln -s /dev/fd/1 link; {} --output link >> log", "old\nrun,P@1,", ",1\n"),
        ("{} --record /dev/fd/3 3>> log", "old\n{", "}\n"),
    ],
)
def test_an_open_descriptor_is_written_into_and_nothing_is_lost(files, line, begins, ends):
    (files / "log").write_text("old\n")
    command = f"{shlex.join(COMMAND)} evaluate qrels run.trec -m P@1 --format csv"
    subprocess.run(line.format(command), shell=True, cwd=files, check=True, capture_output=True)
    written = (files / "log").read_text()
    assert (written.startswith(begins), written.endswith(ends)) == (True, True), written


@pytest.mark.usefixtures("files")
def test_an_output_onto_a_circle_of_links_is_one_message():
    Path("one.csv").symlink_to("two")
    Path("two").symlink_to("one.csv")
    message = "error: one.csv: Too many levels of symbolic links\n"
    assert run_main("evaluate", "qrels", "run.trec", "-m", "P@1", "--output", "one.csv") == (2, "", message)


# --- Ctrl-C ------------------------------------------------------------------------------------------


WITH_SIGNALS = pytest.mark.skipif(os.name == "nt", reason="Windows has no signals for one process")


@contextlib.contextmanager
def reading_a_pipe(files):
    """Yield a command that waits for a pipe, and the folder of its copy."""
    os.mkfifo("pipe")
    copies = files / "copies"
    copies.mkdir()
    environment = {**os.environ, "TMPDIR": str(copies)}
    streams = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    command = [*COMMAND, "evaluate", "qrels", "pipe", "-m", "P@1", "--format", "csv"]
    with (
        subprocess.Popen(command, env=environment, **streams) as process,
        (files / "pipe").open("wb") as pipe,  # which waits until the command opens it
    ):
        yield process, pipe, copies


@WITH_SIGNALS
@pytest.mark.parametrize(
    ("number", "status", "times"),
    [
        (signal.SIGINT, 130, 1),
        (signal.SIGTERM, 143, 1),
        pytest.param(signal.SIGTERM, 143, 2, marks=pytest.mark.thorough),  # as by timeout
        pytest.param(signal.SIGHUP, 129, 1, marks=pytest.mark.thorough),
    ],
)
def test_a_signal_ends_the_command_quietly_and_leaves_no_copy_of_a_pipe(files, number, status, times):
    before = signal.signal(number, signal.SIG_DFL)  # which nohup may have changed, for the tests too
    try:
        with reading_a_pipe(files) as (process, pipe, copies):
            pipe.write(b"q1 Q0 a 1 1 t\n" * 9)
            pipe.flush()
            assert len([*copies.iterdir()]) == 1
            for _ in range(times):
                process.send_signal(number)
            stdout, stderr = process.communicate(timeout=60)
            assert (process.returncode, stdout, stderr, [*copies.iterdir()]) == (status, b"", b"", [])
    finally:
        signal.signal(number, before)


AFTER_THE_WORK = """
import os, signal, sys, time
from permed_measures.cli import signals
signals._SECONDS_OF_ONE_SIGNAL = 0  # as if there was a long time between signals
handled = signals.Signals()
try:
    if sys.argv[1:]:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(50)
except KeyboardInterrupt:
    pass
handled.end()
os.kill(os.getpid(), signal.SIGTERM)
time.sleep(50)
"""


@WITH_SIGNALS
@pytest.mark.parametrize(("arguments", "status"), [(["first"], 143), ([], -signal.SIGTERM)])
def test_a_signal_after_the_work_leaves_the_status_of_an_earlier_one(arguments, status):
    """Without an earlier one the process is killed: its work was done."""
    command = [sys.executable, "-c", AFTER_THE_WORK, *arguments]
    done = subprocess.run(command, capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (status, b"", b"")


@WITH_SIGNALS
@pytest.mark.thorough
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_is_ignored_stays_ignored(files, number):
    before = signal.signal(number, signal.SIG_IGN)  # as by nohup
    try:
        with reading_a_pipe(files) as (process, pipe, copies):
            process.send_signal(number)
            pipe.write((files / "run.trec").read_bytes())
            pipe.close()
            stdout, stderr = process.communicate(timeout=60)
            assert (process.returncode, stderr, [*copies.iterdir()]) == (0, b"", [])
            assert stdout.startswith(b"run,P@1,")
    finally:
        signal.signal(number, before)


INTERRUPTED = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n"
CALLBACK = """
import os, signal, time
class Odd:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        len("")
del [Odd()][0]
time.sleep(30)
"""
OF_TEXT = f"exec({INTERRUPTED!r})\n"  # as of a named tuple or a data class
SWALLOWED = """
import os, signal, time
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(1)
except KeyboardInterrupt:
    pass
time.sleep(50)
"""
CONVERTED = """
import os, signal
try:
    os.kill(os.getpid(), signal.SIGINT)
except KeyboardInterrupt:
    raise ImportError("no part of this module")
"""


@WITH_SIGNALS
@pytest.mark.parametrize(
    ("module", "code"),
    [
        ("ir_measures", INTERRUPTED),  # of the package
        ("shlex", INTERRUPTED),  # of the command line
        ("zipfile", INTERRUPTED),  # of a command
        ("ir_measures", OF_TEXT),
        ("shlex", OF_TEXT),
        pytest.param("zipfile", OF_TEXT, marks=pytest.mark.thorough),
        pytest.param("zipfile", CALLBACK, marks=pytest.mark.thorough),
        ("zipfile", CONVERTED),
        pytest.param("zipfile", SWALLOWED, marks=pytest.mark.thorough),
    ],
)
def test_ctrl_c_while_modules_are_imported_is_status_130_without_a_traceback(files, module, code):
    (files / f"{module}.py").write_text(code)
    environment = {**os.environ, "PYTHONPATH": f"{files}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    command = [*COMMAND, "evaluate", "qrels", "run.trec", "-m", "P@1"]
    done = subprocess.run(command, env=environment, capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


@WITH_SIGNALS
def test_ctrl_c_while_a_program_imports_the_package_is_that_of_the_program(files):
    (files / "ir_measures.py").write_text(INTERRUPTED)
    environment = {**os.environ, "PYTHONPATH": f"{files}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    code = "try:\n    import permed_measures\nexcept KeyboardInterrupt:\n    print('mine')"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"mine\n", b"")


# --- what reaches the terminal ------------------------------------------------------------------------

ODD = "a\x1b[31m\x9b2J\u202eb\x07"


@pytest.fixture
def odd_files(files):
    """Write files whose names, query ids and document ids control a terminal."""
    run = (files / "run.trec").read_text()
    (files / ODD).write_text(run.replace("q1", f"q{ODD}").replace(" x ", f" x{ODD} "))
    (files / f"{ODD}2").write_text(run.replace("q1", f"q{ODD}").replace(" a ", " other "))
    (files / f"{ODD}qrels").write_text((files / "qrels").read_text().replace("q1", f"q{ODD}"))
    (files / f"{ODD}folder").mkdir()
    (files / f"{ODD}folder" / "subfolder").mkdir()
    (files / f"{ODD}folder" / ODD).write_text(run)


def controls(text):
    """Find the characters of a text that control a terminal or the direction of writing."""
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
@pytest.mark.usefixtures("odd_files")
def test_nothing_from_files_or_arguments_controls_the_terminal(command, status):
    result = run_main(*command)
    assert result[0] == status, result
    assert controls(result[1]) == []
    assert controls(result[2]) == []


@pytest.mark.thorough
def test_a_terminal_that_cannot_show_a_character_gets_it_escaped():
    line = "compare permed-sample permed-sample/runs -m P@1 --resamples 9"
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [*COMMAND, *line.split()]
    result = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert "\\u0394" in result.stdout
    assert "\\u2500" not in result.stdout  # the line below a heading has another form


# --- errors about runs --------------------------------------------------------------------------------------


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("command", ["evaluate", "compare", "reranking"])
def test_errors_about_a_run_name_its_file(files, monkeypatch, command, large):
    monkeypatch.setattr("permed_measures.inputs.read._LARGE_FILE", 0 if large else 1 << 22)
    with pytest.raises(pm.InputError, match=r"^foreign: the run and the qrels share no query: the run has "):
        run_cli(command, "qrels", "run.trec", "foreign")
    (files / "foreign").write_text((files / "run.trec").read_text() + "q1 Q0 x 3 0.5 t\n")
    with pytest.raises(pm.InputError, match=r"foreign:6: document .* is listed twice"):
        run_cli(command, "qrels", "run.trec", "foreign")


WITH_BAD_RUN = [
    *(f"{name} qrels run.trec bad.trec" for name in ("evaluate", "crosscheck", "compare", "reranking")),
    *(f"{name} qrels NAME=bad.trec run.trec" for name in ("uncertainty", "leaderboard")),
    "audit qrels bad.trec --claim P@1=0.5",
    "gate qrels bad.trec --min P@1=0.5",
    "gate qrels run.trec --baseline bad.trec --max-drop P@1=0.5",
    "convert bad.trec run.json",
    "inspect bad.trec",
]
FUNCTIONS_WITH_BAD_RUN = [
    *(
        lambda runs, function=function: function("qrels", runs, "P@1")
        for function in (pm.evaluate, pm.compare, pm.uncertainty, pm.leaderboard, pm.record, pm.plot_means)
    ),
    lambda runs: pm.reranking("qrels", *runs.values(), "P@1"),
    lambda runs: pm.crosscheck("qrels", runs["other"], "P@1"),
    lambda runs: pm.gate("qrels", runs["other"], {"P@1": 0.5}),
    lambda runs: pm.gate("qrels", runs["one"], None, runs["other"], {"P@1": 0.5}),
    lambda runs: pm.audit("qrels", runs, {"other": {"P@1": 0.5}}),
]
NAMED = [function for number, function in enumerate(FUNCTIONS_WITH_BAD_RUN) if number not in (7, 8, 9, 10)]
"""Functions of several runs, which have names."""


@pytest.mark.parametrize(
    ("bad", "message", "commands"),
    [
        ("q1 Q0 b 2 high t\n", "bad.trec:6: not a line of a TREC run", WITH_BAD_RUN),
        ("q1 Q0 x 9 1 t\n", "bad.trec:6: document 'x'", WITH_BAD_RUN[:-1]),  # inspect counts duplicates
    ],
)
def test_all_commands_and_functions_report_a_bad_line_in_the_same_words(files, bad, message, commands):
    (files / "bad.trec").write_text((files / "run.trec").read_text() + bad)
    errors = set()
    for line in commands:
        status, _, stderr = run_main(*line.split())
        assert status == 2, line
        errors.add(stderr.splitlines()[-1].removeprefix("error: "))
    for function in FUNCTIONS_WITH_BAD_RUN:
        with pytest.raises(pm.InputError) as caught:
            function({"one": "run.trec", "other": "bad.trec"})
        errors.add(str(caught.value))
    [error] = errors
    assert error.startswith(message)


@pytest.mark.parametrize("function", NAMED)
@pytest.mark.usefixtures("files")
def test_functions_of_several_runs_name_a_bad_run_without_a_file(function):
    with pytest.raises(
        pm.InputError, match=r"^run '(other|after)', query 'q1', document 'x': a score must be"
    ):
        function({"one": "run.trec", "other": {"q1": {"x": float("nan")}}})
