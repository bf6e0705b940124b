"""Help, parsing of arguments, and messages for wrong ones."""

import io
import json
import re
import subprocess
import sys

import pytest
from commands import run_cli, run_main
from reporting import STYLES, Terminal

import permed_measures as pm
from permed_measures import cli
from permed_measures.cli.commands import COMMANDS, command_of
from permed_measures.cli.parsing import help_width, parse

WITHOUT_FILES = {  # of one's own, in examples
    *("demo", "measures", "evaluate", "crosscheck", "leaderboard", "possible", "uncertainty")
}


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_the_terminal_and_is_whole(monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "80")
    text, _ = run_cli(name, "-h")
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 60
    command = command_of(name)
    [heading, *examples] = text[text.index("Examples") :].rstrip().split("\n  permed-measures ")
    assert ("other files are yours" in heading) == (name not in WITHOUT_FILES)
    assert examples == [f"{name} {example}".rstrip() for example in command.examples]
    letters = "".join(text.split())  # lines are broken at hyphens too
    assert "".join(f"{COMMANDS[name]}{command.details}".split()) in letters
    for each in command.arguments:
        assert all(re.search(rf"(?<![\w-]){option}\b", text) for option in each.names if option[0] == "-")
        assert "".join(each.keywords["help"].replace("%%", "%").split()) in letters


def test_the_usage_has_the_arguments_as_they_can_be_given(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    usages = {name: run_cli(name, "-h")[0].splitlines()[0].partition("[options]")[2] for name in COMMANDS}
    assert usages["evaluate"] == " QRELS [RUN...] [MEASURE...]"
    assert usages["compare"] == " QRELS RUN... [MEASURE...]"
    assert usages["reranking"] == " QRELS BEFORE AFTER [MEASURE]"
    assert (usages["demo"], usages["convert"]) == ("", " IN OUT")
    compare = run_cli("compare", "-h")[0]
    assert max(map(len, compare.splitlines())) <= 100 == help_width()
    assert "or a figure: .pdf, .png, .svg." in " ".join(compare.split())


def test_numbers_that_the_help_ends_with_are_the_defaults():
    said = [
        (float(each.keywords["default"]), float(found[1]))
        for name in COMMANDS
        for each in command_of(name).arguments
        if (found := re.search(r": ([0-9.]+)\.$", each.keywords["help"]))
    ]
    assert len(said) == 12
    assert [default for default, _ in said] == [number for _, number in said]


def test_the_command_alone_shows_all_commands_and_their_first_sentences(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    alone = run_main()
    assert (alone[0], alone[2]) == (0, "")
    assert alone == run_main("--help") == run_main("-h")
    assert max(map(len, alone[1].splitlines())) <= 80
    words = " ".join(alone[1].split())
    assert all(f" {name} {summary}" in words for name, summary in COMMANDS.items())
    assert run_main("evaluate", "-h")[0] == 0
    assert run_main("--version") == (0, f"permed-measures {pm.__version__}\n", "")


# --- parsing -----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    "line",
    [
        "evaluate qrels run.trec -m P@1 -m RR --by=q([0-9]) --format json",
        "evaluate -mP@1 qrels --format json --measure RR --by=q([0-9]) ./run.trec",
    ],
)
def test_options_stand_anywhere(line):
    [content] = json.loads(run_cli(*line.split())[0])
    assert list(content["metrics"]) == ["P@1", "RR"]
    assert [group["group"] for group in content["groups"]] == ["1", "2", "3"]
    assert content["provenance"]["options"] == {
        **{"by": "q([0-9])", "by-query": False, "macro": False, "rel": None},
        **{"order": "score", "query-ids": None, "digits": None, "percent": False, "no-judged": False},
        **{"duplicates": "refuse", "max-passage": "", "ignore-self": False, "subset": ""},
    }


def test_the_line_is_kept_as_it_was_typed():
    words = ["q", "--by=(x)", "-mP@1", "my run"]
    parsed = parse("evaluate", "", command_of("evaluate"), words)
    assert (parsed.command, parsed.line) == (
        "evaluate",
        "permed-measures evaluate q '--by=(x)' -mP@1 'my run'",
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("compare", "the following arguments are required: QRELS, RUN. See permed-measures compare --help"),
        ("gate q r s", "only one RUN can be named (found also s). See permed-measures gate --help"),
        (
            "gate q r P@1=0.5",
            "the number of a measure needs an option: --min P@1=0.5. See permed-measures gate",
        ),
        ("audit q r mrr=64%", "the number of a measure needs an option: --claim mrr=64%. See"),
        ("possible q P@1=.5", "the number of a measure needs an option: --claim P@1=.5. See"),
        ("audit q bm25=7 --claim P@1=1", "7: No such file or directory"),
        ("evalute q r", "no such command: evalute. Did you mean 'evaluate'?"),
        ("--foo", "no such option: --foo. See permed-measures --help"),
        ("evaluate q r --form json", "unrecognized arguments: --form json. Did you mean"),  # not abbreviated
        ("evaluate q r -m --by-query", "-m/--measure: expected one argument. See permed-measures evaluate"),
        ("evaluate q r --digits 18", "--digits: invalid choice: 18 (choose from 0, 1, "),
        ("compare q r --resamples x", "--resamples: invalid int value: 'x'. See"),
        ("convert q r --to xml", "--to: invalid choice: 'xml' (choose from "),
    ],
)
def test_wrong_arguments_are_one_line_like_any_other_error(line, message):
    status, stdout, stderr = run_main(*line.split())
    assert (status, stdout) == (2, "")
    assert stderr.startswith(f"error: {message}")
    assert stderr.count("\n") == 1


# --- messages ----------------------------------------------------------------------------------------


def test_a_message_is_broken_into_lines_on_a_terminal(monkeypatch):
    terminal = Terminal()
    monkeypatch.setenv("COLUMNS", "40")
    assert run_main("evaluate", "permed-sample", "no/such/folder/run", terminal=terminal)[0] == 2
    assert terminal.getvalue() == "error: no/such/folder/run: No such file\n  or directory\n"


def test_what_a_stream_cannot_show_is_escaped():
    stream = io.TextIOWrapper(io.BytesIO(), "ascii", write_through=True)
    assert run_main("\u00e9valuate", terminal=stream)[0] == 2
    assert stream.buffer.getvalue() == b"error: no such command: \\xe9valuate. Did you mean 'evaluate'?\n"


@pytest.mark.parametrize("plain", [False, True])
def test_a_terminal_shows_bold_and_underlined_letters_but_no_colours(monkeypatch, plain):
    monkeypatch.setattr(sys, "stdout", Terminal())
    for name, value in {"TERM": "xterm-256color", "COLORTERM": "truecolor", "COLUMNS": "80"}.items():
        monkeypatch.setenv(name, value)
    if plain:
        monkeypatch.setenv("NO_COLOR", "1")
    line = "compare permed-sample permed-sample/runs --resamples 9 -m litsearch -m RR"
    cli.run(line.split())
    text = sys.stdout.getvalue()
    assert {*re.findall(r"\x1b\[([0-9;]*)m", text)} == (set() if plain else {"0", "1", "4"})
    assert max(len(STYLES.sub("", line)) for line in text.splitlines()) <= 80


HEAVY = {"polars", "pandas", "scipy", "matplotlib", "ir_datasets"}


@pytest.mark.parametrize("line", ["--help", "evaluate qrels run.trec -m P@1 --format tsv"])
def test_a_command_imports_only_what_it_needs(files, line):
    code = (
        f"import sys\nfrom permed_measures.cli import main\nsys.argv = ['permed-measures', *{line.split()}]\n"
        "try:\n    main()\nexcept SystemExit as end:\n    print(end.code, 'imported:', *sys.modules)"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=files, capture_output=True, text=True, check=True)
    before, _, imported = done.stdout.rpartition("imported:")
    assert before.endswith("0 ")
    assert {*imported.split()} & HEAVY == set()
