"""Help, completion and what is said of wrong arguments."""

import io
import itertools
import os
import re
import subprocess
import sys

import pytest
import typer
from commands import run_cli, run_command, run_main

import permed_measures as pm
from permed_measures import cli
from permed_measures.cli.help import EXAMPLES, MODULES

COMMANDS = typer.main.get_command(cli.app).commands


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_fits_the_terminal_and_is_whole(monkeypatch, name, width):
    monkeypatch.setenv("COLUMNS", str(width))
    text, _ = run_cli(*name.split(), "-h")
    assert text == run_cli(*name.split(), "--help")[0]
    assert max(map(len, text.splitlines())) <= width
    assert "..." not in re.sub(r"[A-Z]\]?\.\.\.", "", text)  # of RUN... and the like
    assert "…" not in text
    assert "<" not in text.replace("<=", "")
    if name:
        assert text.partition("Examples:\n")[2].count(f"  permed-measures {name}") == 2


def test_every_command_is_in_the_list_with_a_whole_sentence(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    words = " ".join(run_cli("--help")[0].split())
    for name, command in COMMANDS.items():
        assert f"{name} {command.help.partition(chr(10))[0]}" in words
    assert list(EXAMPLES) == list(COMMANDS)


def test_the_command_alone_shows_its_help():
    status, alone, stderr = run_main()
    assert (status, stderr) == (0, "")
    assert alone == run_main("--help")[1] == run_main("-h")[1]


def test_the_version_has_a_name():
    assert run_main("--version") == (0, f"permed-measures {pm.__version__}\n", "")


@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("permed-measures cr", ["crosscheck"]),
        ("permed-measures evaluate --pre", ["--preset"]),
        ("permed-measures evaluate --preset m", ["medcorpus"]),
        ("permed-measures evaluate q r -m Gr", ["GradedAP"]),
    ],
)
def test_what_is_typed_is_completed(line, completed):
    words = {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
    words["_PERMED_MEASURES_COMPLETE"] = "complete_bash"
    code = "import sys\nfrom permed_measures.cli import main\nsys.argv = ['permed-measures']\nmain()"
    environment = {**os.environ, **words}
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (0, "\n".join([*completed, ""]), "")


def test_completion_can_be_installed(monkeypatch, tmp_path):
    monkeypatch.setattr("shellingham.detect_shell", lambda: ("bash", "/bin/bash"))
    monkeypatch.setenv("HOME", str(tmp_path))
    status, stdout, stderr = run_main("--show-completion")
    assert (status, stderr) == (0, "")
    assert "complete -o default" in stdout
    status, _, stderr = run_main("--install-completion")
    assert (status, stderr) == (0, "")
    [script] = (tmp_path / ".bash_completions").iterdir()
    assert script.read_text() == stdout.strip()
    assert str(script) in (tmp_path / ".bashrc").read_text()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("evaluate", "missing argument 'QRELS'. See permed-measures evaluate --help"),
        ("evalute q r", "no such command 'evalute'. Did you mean 'evaluate'?"),
        ("--foo", "no such option: --foo. See permed-measures --help"),
        ("demo x", "got unexpected extra argument(s) (x). See permed-measures demo --help"),
        ("evaluate q r --mesure P@1", "no such option: --mesure. Did you mean --measure?\n"),
        ("compare q r s --colour P@1", "no such option: --colour. See permed-measures compare --help"),
        ("convert a b --force", "no such option: --force. See permed-measures convert --help"),
        ("evaluate q r --by-querry", "no such option: --by-querry. Did you mean --by-query?"),
        ("evaluate q r --digits 99", "invalid value for '--digits': "),
        ("evaluate q r -m", "option '-m' requires an argument. See permed-measures"),
        (
            "reranking q r r --top x",
            "invalid value for '--top': ",
        ),
        (
            "evaluate q r --format xml",
            "invalid value for '--format': 'xml' is not one of 'table', 'markdown', ",
        ),
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


HEAVY = {"polars", "pandas", "pydantic", "scipy", "matplotlib", "ir_datasets"}
COMMAND_MODULES = {f"permed_measures.cli.{module}" for module in MODULES.values()}


@pytest.mark.parametrize(
    ("arguments", "own"),
    [
        (["--version"], set()),
        (["measures"], {"permed_measures.cli.measures"}),
        (["evaluate", "qrels", "run", "-m", "P@1", "--format", "tsv"], {"permed_measures.cli.evaluations"}),
    ],
)
def test_a_command_imports_only_what_it_needs(tmp_path, arguments, own):
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
    assert {*imported.split()} & {*HEAVY, *COMMAND_MODULES} == own
    assert ("rich" in imported.split()) == (arguments == ["measures"])  # the only one that lays out a table
