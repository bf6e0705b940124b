"""The commands `compare` and `reranking`: arguments, files, messages and exit statuses."""

import json
import shutil
import signal
import subprocess
import sys

import pytest
from commands import run_main

from permed_measures.datasets import SAMPLES
from permed_measures.results import page

MEDICAL = SAMPLES[0]
SMALL = ("-m", "P@1", "-m", "RR", "--resamples", "99")


@pytest.fixture
def command(monkeypatch, tmp_path):
    """Return what runs a line of arguments in a folder with run files: its status, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    for name, path in MEDICAL.runs.items():
        shutil.copy(path, tmp_path / name)
    (tmp_path / "far").write_text("x Q0 d 1 1 t\n")

    return lambda line, *arguments: run_main(*line.split(), *arguments)


@pytest.fixture
def compared(command):
    """Return what runs the command `compare` on the sample."""
    return lambda line, *arguments: command("compare permed-sample", *SMALL, *line.split(), *arguments)


def contents(folder):
    return {path.name: path.read_bytes() if path.is_file() else None for path in folder.iterdir()}


def test_a_folder_of_runs_is_one_table(compared, tmp_path):
    """Hidden files and folders in it are left out; any other file must be a run."""
    folder = tmp_path / "runs"
    (folder / "old").mkdir(parents=True)
    (folder / ".hidden").write_text("no run")
    for name, path in MEDICAL.runs.items():
        shutil.copy(path, folder / f"{name}.v2.jsonl")
    status, out, err = compared("runs mine=bm25 --format json")
    assert (status, err) == (0, "note: runs: ignored (not files): old\n")
    assert list(json.loads(out)["means"]) == ["bm25.v2", "lsa.v2", "tfidf.v2", "mine"]
    (folder / "notes.md").write_text("hello\n")
    status, out, err = compared("runs")
    assert (status, out) == (2, "")
    assert "error: runs/notes.md:1: unknown format: expected a run (found 'hello')" in err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("bm25 ./bm25", "error: two runs are named 'bm25' (bm25 and bm25). Name them: NAME=FILE"),
        (
            "bm25 lsa --baseline bm52",
            "error: the baseline must be one of the runs 'bm25', 'lsa' (found 'bm52'). Did you mean 'bm25'?",
        ),
        ("bm25", "error: a comparison needs at least two runs (found 1)"),
        ("empty", "error: empty: no run file in this folder"),
        ("bm25 =lsa", "error: a run is FILE or NAME=FILE (found '=lsa')"),
        ("bm25 lsa --clusters (", "(found '(', not a pattern: missing )"),
        ("bm25 lsa --level 2", "error: level must be between 0 and 1 (found 2.0). 95 percent is 0.95"),
        ("bm25 lsa --correction sidak", "--correction: invalid choice: 'sidak' (choose from "),
        ("bm25 lsa --format pdf", "--format: invalid choice: 'pdf' (choose from "),
        (
            "bm25 lsa --output out.gif",
            "error: out.gif: the ending '.gif' means no format. End the name in .txt, .md, .tex,",
        ),
    ],
)
def test_what_compare_refuses_is_one_message_and_nothing_is_written(compared, tmp_path, line, message):
    (tmp_path / "empty").mkdir()
    before = contents(tmp_path)
    status, out, err = compared(line if "--output" in line else f"{line} --output out.html")
    assert (status, out) == (2, "")
    assert message in err
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("", "Means over 48 queries in 12 clusters (conversation_id). "),
        ("--clusters none", "Means over 48 queries. "),
        ("--correction none", " uncorrected."),
        ("--level 0.9", " 90% CI "),
        ("--seed 7", " seed 7"),
    ],
)
def test_options_are_said(compared, option, said):
    status, out, err = compared(f"bm25 lsa {option}")
    assert (status, err) == (0, "")
    assert said in " ".join(out.split())


@pytest.mark.thorough
def test_nobody_reading_on_is_no_traceback():
    command = [sys.executable, "-m", "permed_measures", "compare", "permed-sample", *MEDICAL.runs.values()]
    process = subprocess.Popen(
        [*map(str, command), *SMALL, "--format", "html"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout.readline() == b"<!DOCTYPE html>\n"  # of more than a pipe holds
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == -signal.SIGPIPE


# --- reranking ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--top 0 --rel 2", "15 up, 29 down, 16 unchanged, 7 entered"),
        ("--top 0 --rel 9", "no relevant document is in both runs"),
        ("--top 0 --judged-only", "61 put right, 48 broken"),
        ("--top 0 -m NumRet", "NumRet: 17.4792 before, 20.0000 after (+2.5208); 19 queries gained"),
        ("--top 0 -m P@3", "P-imp@3: "),
    ],
)
def test_options_of_a_reranking(command, options, expected):
    status, out, err = command(f"reranking permed-sample bm25 lsa {options}")
    assert (status, err) == (0, "")
    assert expected in " ".join(out.split())


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x=bm25 x=lsa", "error: the two runs need different names (found 'x' twice)"),
        ("permed-sample/runs lsa", "error: permed-sample/runs: before must be one run (found 3)"),
    ],
)
def test_what_reranking_refuses_is_one_message_and_status_2(command, line, message):
    status, out, err = command(f"reranking permed-sample {line}")
    assert (status, out) == (2, "")
    assert message in err


def test_the_figure_is_the_forest_plot(compared, tmp_path):
    status, out, err = compared("bm25 lsa --baseline bm25 --output plot.svg")
    assert (status, out) == (0, "")
    assert err.endswith("plot.svg: figure of 2 runs\n")
    assert (tmp_path / "plot.svg").read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize(
    ("module", "output", "message"),
    [
        ("matplotlib", "plot.pdf", "matplotlib is not installed, which plots need."),
        ("jinja2", "page.html", "an HTML page needs Jinja2. pip install jinja2 matplotlib"),
    ],
)
def test_what_is_not_installed_is_said_before_any_work(
    module, output, message, compared, tmp_path, monkeypatch
):
    page._environment.cache_clear()
    monkeypatch.setitem(sys.modules, module, None)
    (tmp_path / "broken").write_text("no run\n")
    status, out, err = compared(f"bm25 --output {output}", "broken")
    assert (status, out, err.startswith(f"error: {message}")) == (2, "", True)
