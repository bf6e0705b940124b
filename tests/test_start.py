"""The start and the end of the command: a large run is read while the package is imported."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from commands import run_command, run_main

import permed_measures as pm
from permed_measures import start
from permed_measures.files import read
from permed_measures.files.streams import ScannedRun

MEASURES = ["-m", "P@1", "-m", "GradedAP@10"]


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Write qrels and a run that is large enough by its long lines, in the present folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text("".join(f"q{query} 0 d{query * 7 % 90} 2\n" for query in range(60)))
    rows = [(query, document) for query in range(50) for document in range(90)]
    lines = [f"q{query} Q0 d{d} {d + 1} {90 - d}.125 {'t' * 1000}\n" for query, d in rows]
    (tmp_path / "run").write_text("".join(lines))
    assert (tmp_path / "run").stat().st_size > start._LARGE
    return tmp_path / "run"


@pytest.mark.parametrize(
    ("arguments", "is_begun"),
    [
        ("evaluate qrels run", True),
        ("evaluate qrels run -m P@1 --format tsv", True),
        ("evaluate -m P@1 medcorpus name=run", True),
        ("evaluate --by-query qrels run", False),
        ("evaluate qrels run run", False),
        ("evaluate qrels qrels", False),
        ("evaluate qrels no", False),
        ("evaluate qrels .", False),
        ("evaluate qrels -", False),
        ("evaluate qrels", False),
        ("compare qrels run", False),
        ("", False),
    ],
)
def test_one_large_run_is_begun(run, arguments, is_begun):
    found = start._large_run(arguments.split())
    assert (found is not None and found.samefile(run)) == is_begun


def test_a_run_that_was_begun_is_read_once_from_there(run, monkeypatch):
    shares = []
    read.begin_to_read(run)
    [begun] = read._begun.values()
    parsed = []
    monkeypatch.setattr(ScannedRun, "begin", parsed.append)  # no other is begun
    taken = read.load(run, "run", progress=shares.append).table
    assert taken is begun
    assert read.load(run, "run").table is not begun
    qrels = pm.read_qrels(run.parent / "qrels")
    expected = pm.calc_aggregate(["P@1", "AP"], qrels, pm.read_run(run))
    for _ in range(2):  # the second time it is read again
        assert pm.calc_aggregate(["P@1", "AP"], qrels, taken) == expected
    assert shares[-1] == 1


@pytest.mark.parametrize("content", ["", "no run\n", "q Q0 d 1 x t\n", '{"q": {"d": 1}}'])
def test_whatever_is_wrong_with_a_run_is_said_when_it_is_asked_for(tmp_path, content):
    file = tmp_path / "run"
    file.write_text(content)
    read.begin_to_read(file)
    read.begin_to_read(tmp_path / "missing")
    before = [_refusal(file), _refusal(tmp_path / "missing")]
    assert before == [_refusal(file), _refusal(tmp_path / "missing")]
    assert not read._begun


def _refusal(file):
    try:
        return pm.calc_aggregate(["P@1"], {"q": {"d": 1}}, file)
    except (pm.InputError, OSError) as error:
        return str(error)


@pytest.mark.parametrize(
    "last",
    [
        "q3 Q0 d7 1 1.0 t\n",
        pytest.param("", marks=pytest.mark.thorough),
        pytest.param("q3 Q0 d 1 x t\n", marks=pytest.mark.thorough),
    ],
)
def test_the_command_says_what_it_says_without_reading_ahead(run, last):
    with run.open("a") as file:
        file.write(last)
    arguments = ["evaluate", "qrels", "run", *MEASURES, "--format", "tsv"]
    expected = run_main(*arguments)
    assert expected[0] == (2 if last else 0)
    assert run_command(*arguments) == expected


@pytest.mark.thorough
def test_wrong_options_end_the_command_while_a_run_is_read(run):
    status, stdout, stderr = run_command("evaluate", "qrels", run, "--no")
    assert (status, stdout) == (2, "")
    assert stderr.startswith("error: no such option: --no")


AT_EXIT = """
import atexit, sys
sys.argv = ["permed-measures", *{arguments}]
atexit.register(print, "at exit")
from permed_measures.cli import main
main()
"""


@pytest.mark.parametrize(
    ("arguments", "status", "options"),
    [
        (["--version"], 0, []),
        pytest.param(["measures", "no measure"], 2, [], marks=pytest.mark.thorough),
        pytest.param(["--version"], 0, ["-X", "dev"], marks=pytest.mark.thorough),
    ],
)
def test_what_is_to_be_done_at_the_end_is_done(arguments, status, options):
    code = AT_EXIT.format(arguments=arguments)
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, *options, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.stdout.endswith("at exit\n")
    assert (done.returncode, done.stderr.count("\n")) == (status, bool(status))


def test_another_program_that_imports_the_package_is_left_as_it_is(tmp_path):
    (tmp_path / "other").mkdir()
    code = "import gc\nusual = gc.get_threshold()\nimport permed_measures\nprint(gc.get_threshold() == usual)"
    (tmp_path / "other" / "__init__.py").write_text(code)
    (tmp_path / "other" / "__main__.py").touch()
    paths = os.pathsep.join([str(tmp_path), str(Path(pm.__file__).parents[1])])
    environment = {**os.environ, "PYTHONPATH": paths}
    command = [sys.executable, "-m", "other", "evaluate"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert done.stdout == "True\n"
