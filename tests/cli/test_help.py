"""Help, completion and what is said of wrong arguments."""

import io
import itertools
import os
import re
import subprocess
import sys
from typing import get_args

import pytest
import typer
from commands import run_cli, run_command, run_main

import permed_measures as pm
from permed_measures import cli
from permed_measures.cli import (
    arguments,
    comparing,
    conversions,
    inputs,
)
from permed_measures.cli.commands import EXAMPLES
from permed_measures.comparisons.corrections import CORRECTIONS, MAX_T
from permed_measures.comparisons.results import TESTS
from permed_measures.engine.query_ids import REWRITINGS
from permed_measures.files.write import FORMATS
from permed_measures.results.report import FORMATS as REPORT_FORMATS

COMMANDS = typer.main.get_command(cli.app).commands


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_fits_the_terminal_and_is_whole(monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "80")
    text, _ = run_cli(*name.split(), "-h")
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text
    if name:
        [function] = [function for function in EXAMPLES if function.__name__ == name]
        examples = [f"permed-measures {name} {example}".strip() for example in EXAMPLES[function]]
        assert [line.strip() for line in text.splitlines() if line.startswith(" permed-measures")] == examples
        options = {opt for each in COMMANDS[name].params for opt in each.opts if opt.startswith("-")}
        assert options <= set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", text))
    else:
        words = " ".join(re.sub("[│\n]", " ", text).split())
        assert all(command.help.partition("\n")[0] in words for command in COMMANDS.values())


def _values(choices):
    return {*(get_args(choices) or choices)}


@pytest.mark.parametrize(
    ("choices", "known"),
    [
        (arguments.Format.__args__[0].__args__[0], REPORT_FORMATS),
        (comparing.Correction, [MAX_T, *CORRECTIONS]),
        (comparing.TESTS, TESTS),
        (conversions.Format, FORMATS),
        (arguments.QueryIds.__args__[0].__args__[0], REWRITINGS),
        (arguments.PresetName.__args__[0].__args__[0], inputs.PRESETS),
    ],
)
def test_the_choices_of_an_option_are_those_of_the_library(choices, known):
    assert _values(choices) == set(known)


def test_the_command_alone_shows_its_help():
    status, alone, stderr = run_main()
    assert (status, stderr) == (0, "")
    assert alone.strip() == run_main("--help")[1].strip()


def test_the_version_has_a_name():
    assert run_main("--version") == (0, f"permed-measures {pm.__version__}\n", "")


def test_what_is_typed_is_completed():
    words = {"COMP_WORDS": "permed-measures evaluate q r -m Gr", "COMP_CWORD": "5"}
    environment = {**os.environ, **words, "_PERMED_MEASURES_COMPLETE": "complete_bash"}
    command = [sys.executable, "-m", "permed_measures"]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (0, "GradedAP\n", "")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("evaluate", "missing argument 'QRELS'. See permed-measures evaluate --help"),
        ("evalute q r", "no such command 'evalute'. Did you mean 'evaluate'?"),
        ("measures --foo", "no such option: --foo. See permed-measures measures --help"),
        ("evaluate q r --mesure P@1", "no such option: --mesure (Possible options: --measure, "),
        ("evaluate q r --digits 99", "invalid value for '--digits': "),
        ("evaluate q r -m", "option '-m' requires an argument. See permed-measures"),
        ("evaluate q r --format xml", "invalid value for '--format': 'xml' is not one of 'table', "),
    ],
)
def test_wrong_arguments_are_one_line_like_any_other_error(line, message):
    status, stdout, stderr = run_main(*line.split())
    assert (status, stdout) == (2, "")
    assert stderr.startswith(f"error: {message}")
    assert stderr.count("\n") == 1


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_message_is_broken_into_lines_on_a_terminal(monkeypatch, tmp_path, width):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").touch()
    (tmp_path / "run").write_text("q Q0 a 1 1.0 t\n")
    assert run_main("evaluate", "empty", "run", terminal=terminal)[0] == 2
    lines = terminal.getvalue().splitlines()
    assert lines[0].startswith("error: empty: the file is empty")
    assert all(line.startswith("  ") for line in lines[1:])
    assert max(map(len, lines)) <= width
    assert all(
        len(f"{line} {after.split()[0]}") > min(width, 100) for line, after in itertools.pairwise(lines)
    )


def test_an_error_speaks_of_no_values(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    (tmp_path / "run").write_text("z Q0 a 1 1.0 t\n")
    message = "error: run: the run and the qrels share no query: the run has 'z', the qrels 'q'\n"
    assert run_main("evaluate", "qrels", "run", "-m", "P@1") == (2, "", message)


def test_an_error_is_told_alone(tmp_path):
    (tmp_path / "qrels").write_text("q 0 a 2\n")
    status, stdout, stderr = run_command("evaluate", tmp_path / "qrels", tmp_path / "no")
    assert (status, stdout, stderr) == (2, "", f"error: {tmp_path / 'no'}: No such file or directory\n")
    _, _, stderr = run_command("evaluate", tmp_path / "qrels", tmp_path / "qrel")
    assert stderr.endswith("No such file or directory. Did you mean 'qrels'?\n")


HEAVY = {"polars", "pandas", "scipy", "matplotlib", "ir_datasets"}


@pytest.mark.parametrize(
    "arguments", [["--help"], ["measures", "P"], ["evaluate", "qrels", "run", "-m", "P@1", "--format", "tsv"]]
)
def test_a_command_imports_only_what_it_needs(tmp_path, arguments):
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    (tmp_path / "run").write_text("q Q0 a 1 1.0 t\n")
    code = (
        f"import sys\nfrom permed_measures.cli import main\nsys.argv = ['permed-measures', *{arguments}]\n"
        "try:\n    main()\nexcept SystemExit as end:\n    print(end.code, 'imported:', *sys.modules)"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    before, _, imported = done.stdout.rpartition("imported:")
    assert before.endswith("0 ")
    assert {*imported.split()} & HEAVY == set()
