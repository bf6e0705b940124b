"""The commands `compare` and `reranking`: arguments, files, messages and exit statuses."""

import json
import shlex
import shutil
import signal
import subprocess
import sys

import ir_datasets
import pytest
from commands import run_main

import permed_measures as pm
from permed_measures.datasets import SAMPLES

MEDICAL = SAMPLES[0]
COMPARE = "compare permed-sample -m P@1 -m RR --resamples 99"
RERANKING = "reranking permed-sample"


@pytest.fixture
def command(monkeypatch, tmp_path):
    """Return a function that runs a line of arguments, in a folder with run files."""
    monkeypatch.chdir(tmp_path)
    for name, path in MEDICAL.runs.items():
        shutil.copy(path, tmp_path / name)
    return lambda line: run_main(*shlex.split(line))


def contents(folder):
    return {path.name: path.read_bytes() if path.is_file() else None for path in folder.iterdir()}


def test_a_folder_of_runs_is_one_table(command, tmp_path):
    """Hidden files and folders are left out; any other file must be a run."""
    folder = tmp_path / "runs"
    (folder / "old").mkdir(parents=True)
    (folder / ".hidden").write_text("no run")
    for name, path in MEDICAL.runs.items():
        shutil.copy(path, folder / f"{name}.v2.jsonl")
    status, out, err = command(f"{COMPARE} runs mine=bm25 --format json")
    assert (status, err) == (0, "note: runs: ignored (not files): old\n")
    assert list(json.loads(out)["means"]) == ["bm25.v2", "lsa.v2", "tfidf.v2", "mine"]
    (folder / "old").rmdir()
    assert command(f"{COMPARE} runs mine=bm25 --format json")[::2] == (0, "")
    (folder / "notes.md").write_text("hello\n")
    status, out, err = command(f"{COMPARE} runs")
    assert (status, out) == (2, "")
    assert "error: runs/notes.md:1: unknown format: expected a run (found 'hello')" in err


NAMES = (
    "bm25 keyword neural_embedding_v2 scholarloop_a_v1_frozen scholarloop_a_v2 scholarloop_a_v2_no_rerank "
    "single_llm_frozen_m010"
)
LEFT_OUT = (
    "Not shown: the differences of 21 pairs. --baseline NAME shows those to one run, --all-pairs all; HTML, "
    "CSV, TSV, JSON and JSONL have them."
)


@pytest.fixture
def seven(tmp_path):
    """Make a folder of seven runs."""
    (tmp_path / "runs").mkdir()
    for name, path in zip(NAMES.split(), 3 * list(MEDICAL.runs.values()), strict=False):
        shutil.copy(path, tmp_path / "runs" / f"{name}.jsonl")


@pytest.mark.usefixtures("seven")
def test_differences_of_many_pairs_are_shown_where_they_are_asked_for(command, tmp_path):
    line = "compare permed-sample runs -m P@1 --resamples 9"
    short = command(line)[1]
    for option in ("", "--format markdown", "--format latex", "--all-pairs", "--baseline bm25"):
        text = command(f"{line} {option}")[1]
        asked = option in ("--all-pairs", "--baseline bm25")
        assert ("Not shown: the differences of 21 pairs" in text, "W/T/L" in text) == (not asked, asked)
    assert LEFT_OUT in " ".join(short.split())
    assert len(short.splitlines()) < 40
    assert short.index("the highest") < short.index("Means over 48 queries")
    assert command(f"{line} --format csv")[1].count("\n") == 1 + 21
    assert len(json.loads(command(f"{line} --format json")[1])["rows"]) == 21
    command(f"{line} --output page.html")
    page = (tmp_path / "page.html").read_text()
    assert "W/T/L" in page
    assert "Not shown" not in page
    (tmp_path / "runs" / "keyword.jsonl").unlink()  # six runs are fifteen pairs
    assert "W/T/L" in command(line)[1]


@pytest.mark.usefixtures("seven")
def test_corrected_differences_of_many_pairs_too(command, tmp_path):
    (tmp_path / "people.qrels").write_text("sample_01_1 0 sample-032 2\nsample_01_1 0 sample-058 1\n")
    line = f"{COMPARE} runs --human people.qrels"
    status, short, err = command(line)
    assert (status, err) == (0, "")
    assert "Documents by their grade in the qrels and by people" in short
    assert "corrected by people's labels" not in short
    assert "corrected by people's labels" in command(f"{line} --all-pairs")[1]


@pytest.mark.usefixtures("seven")
def test_names_break_between_parts_of_words(command, monkeypatch):
    monkeypatch.setattr("permed_measures.terminal._width", lambda _: 80)
    _, out, _ = command("compare permed-sample runs --resamples 99 --all-pairs")
    words = set(out.replace("_", "_ ").split())
    parts = set(NAMES.replace("_", "_ ").split())
    assert parts <= words
    assert max(map(len, out.splitlines())) <= 80
    assert "embedding_v2" in words | {each.strip() for each in out.splitlines()}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (COMPARE, "Means over 48 queries in 12 clusters (conversation_id). "),
        (f"{COMPARE} --clusters none", "Means over 48 queries. "),
        (f"{COMPARE} --correction none", " uncorrected."),
        (f"{COMPARE} --level 0.9", " 90% CI "),
        (f"{COMPARE} --seed 7", " seed 7"),
        (f"{RERANKING} -m P@1 --top 0 --rel 2", "15 up, 29 down, 16 unchanged, 7 entered"),
        (f"{RERANKING} -m P@1 --top 0 --rel 9", "no relevant document is in both runs"),
        (f"{RERANKING} -m P@1 --top 0 --judged-only", "61 put right, 48 broken"),
        (f"{RERANKING} --top 0 -m NumRet", "NumRet: 17.4792 before, 20.0000 after (+2.5208); 19 queries ga"),
        (f"{RERANKING} --top 0 -m P@3", "P-imp@3: "),
    ],
)
def test_options_are_said(command, line, said):
    status, out, err = command(f"{line} bm25 lsa")
    assert (status, err) == (0, "")
    assert said in " ".join(out.split())


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f"{COMPARE} bm25 ./bm25", "error: two runs are named 'bm25' (bm25 and bm25). Name them: NAME=FILE"),
        (
            f"{COMPARE} bm25 lsa --baseline bm52",
            "error: the baseline must be one of the runs 'bm25', 'lsa' (found 'bm52'). Did you mean 'bm25'?",
        ),
        (f"{COMPARE} bm25", "error: a comparison needs at least two runs (found 1)"),
        (f"{COMPARE} empty", "error: empty: no run file in this folder"),
        (f"{COMPARE} bm25 =lsa", "error: a run is FILE or NAME=FILE (found '=lsa')"),
        (f"{COMPARE} bm25 ''", "error: a run is FILE or NAME=FILE (found '')"),
        ("compare '' bm25 lsa", "error: the name of a file is empty"),
        (f"{COMPARE} all=permed-sample/runs", "error: two runs are named 'all' ("),
        (f"{COMPARE} all=twins", "error: two runs are named 'all' (twins/a.csv and twins/a.trec)"),
        (f"{COMPARE} twins", "error: two runs are named 'a' (twins/a.csv and twins/a.trec)"),
        (f"{COMPARE} bm25 lsa --clusters (", "(found '(', not a pattern: missing )"),
        (
            f"{COMPARE} bm25 lsa --level 2",
            "error: level must be between 0 and 1 (found 2.0). 95 percent is 0",
        ),
        (f"{COMPARE} bm25 lsa --correction sidak", "--correction: invalid choice: 'sidak' (choose from "),
        (f"{COMPARE} bm25 lsa --format pdf", "--format: invalid choice: 'pdf' (choose from "),
        (f"{COMPARE} bm25 lsa --output lsa --format csv", "error: lsa: the output would overwrite a file"),
        (
            f"{COMPARE} bm25 --output - --format csv",
            "error: a file to write must have a name (found -). With",
        ),
        (f"{COMPARE} bm25 --output no/out.csv", "error: no/out.csv: there is no folder 'no' to write into"),
        (
            f"{COMPARE} bm25 --output out.gif",
            "error: out.gif: the ending '.gif' does not belong to a format. End the name",
        ),
        (
            f"{COMPARE} bm25 lsa --figure queries",
            "error: --figure needs a file for the figure. Such as",
        ),
        (f"{COMPARE} bm25 lsa --figure bars --output a.pdf", "--figure: invalid choice: 'bars' (choose from"),
        (
            f"{COMPARE} permed-sample/runs --figure queries --output a.pdf",
            "error: a plot of queries has their differences to one run. Name the baseline",
        ),
        (f"{RERANKING} x=bm25 x=lsa", "error: the two runs need different names (found 'x' twice)"),
        (
            f"{RERANKING} permed-sample/runs lsa",
            "error: permed-sample/runs: before must be one run (found 3)",
        ),
    ],
)
def test_what_is_refused_is_one_message_and_nothing_is_written(command, tmp_path, line, message):
    (tmp_path / "empty").mkdir()
    (tmp_path / "twins").mkdir()
    for name in ("a.csv", "a.trec"):
        (tmp_path / "twins" / name).touch()
    before = contents(tmp_path)
    status, out, err = command(line if "--output" in line else f"{line} --output out.html")
    assert (status, out) == (2, "")
    assert message in err
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    ("line", "role"),
    [
        (f"{COMPARE} bm25 lsa --human other", "human qrels"),
        ("uncertainty permed-sample bm25 -m P@1 --human other", "human qrels"),
        ("possible permed-sample --claim P@1=0.6458 --conventions other", "conventions"),
        ("audit permed-sample bm25 --claims other", "claims"),
    ],
)
def test_what_else_is_read_is_in_the_provenance_and_never_overwritten(command, tmp_path, line, role):
    other = {
        "human qrels": MEDICAL.qrels.read_text(),
        "claims": "| | P@1 |\n|---|---|\n| bm25 | 0.6458 |\n",
        "conventions": '[[convention]]\nname = "ours"\nsource = "here"\noptions = { ties = "input" }\n',
    }[role]
    (tmp_path / "other").write_text(other)
    status, out, err = command(f"{line} --format json --output other")
    assert (status, out) == (2, "")
    assert err == "error: other: the output would overwrite a file that is read\n"
    assert (tmp_path / "other").read_text() == other
    status, out, err = command(f"{line} --format json")
    [found] = [each for each in json.loads(out)["provenance"]["inputs"] if each["role"] == role]
    assert (found["path"], found["bytes"]) == ("other", len(other))


@pytest.mark.thorough
def test_nobody_reading_on_is_no_traceback():
    line = f"permed_measures {COMPARE} permed-sample/runs --format html"
    command = [sys.executable, "-m", *line.split()]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline() == b"<!DOCTYPE html>\n"  # of more than a pipe holds
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == -signal.SIGPIPE


@pytest.mark.parametrize(
    ("option", "plot"),
    [
        ("", pm.plot_forest),
        pytest.param(" --figure forest", pm.plot_forest, marks=pytest.mark.thorough),
        (" --figure queries", pm.plot_queries),
    ],
)
def test_the_figure_is_the_plot_that_was_asked_for(command, tmp_path, option, plot):
    line = f"compare permed-sample -m P@1 --resamples 9 bm25 lsa --baseline bm25 --output plot.svg{option}"
    status, out, err = command(line)
    assert (status, out) == (0, "")
    assert "plot.svg: figure of 2 runs\nnote: Judged@1: 'lsa' 0.92, 'bm25' 0.79; " in err
    dataset, runs = ir_datasets.load("permed-sample"), {"bm25": "bm25", "lsa": "lsa"}
    comparison = pm.compare(dataset, runs, "P@1", "bm25", resamples=9)
    pm.save_plot(plot(comparison)[0], "same.svg")
    assert (tmp_path / "plot.svg").read_bytes() == (tmp_path / "same.svg").read_bytes()


@pytest.mark.parametrize("form", ["csv", "jsonl"])
@pytest.mark.parametrize(
    ("line", "caution"),
    [
        ("compare permed-sample -m P@1 --resamples 9 bm25 lsa", "note: Judged@1: 'lsa' 0.92, 'bm25' 0.79; "),
        ("compare permed-sample -m P@1 --resamples 9 bm25 again=bm25", ""),
        (
            "leaderboard equal.txt same.txt -m P@1",
            "note: run 'same': all scores of each judged query are equal",
        ),
        ("leaderboard equal.txt other.txt -m P@1", ""),
        ("evaluate equal.txt same.txt -m P@1", "note: run 'same': all scores of each judged query are equal"),
        ("evaluate equal.txt other.txt -m P@1", ""),
    ],
)
def test_rows_have_the_cautions_of_the_table_on_stderr(command, tmp_path, line, caution, form):
    (tmp_path / "equal.txt").write_text("".join(f"q{n} 0 d{i} 1\n" for n in range(4) for i in range(3)))
    for name, scores in (("same", (1, 1, 1)), ("other", (3, 2, 1))):
        rows = (f"q{n} Q0 d{i} 1 {score} t\n" for n in range(4) for i, score in enumerate(scores))
        (tmp_path / f"{name}.txt").write_text("".join(rows))
    status, _, err = command(f"{line} --format {form}")
    assert status == 0
    assert (caution in err, "Judged@1:" in err or "are equal" in err) == (True, bool(caution))
    table = command(line)
    assert (caution.removeprefix("note: ")[:20] in " ".join(table[1].split())) is True


def test_a_figure_without_matplotlib_is_refused_before_any_work(command, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    status, out, err = command(f"{COMPARE} bm25 --output plot.pdf")  # which is one run too few
    assert (status, out) == (2, "")
    assert err.startswith("error: matplotlib is not installed, which plots need.")
