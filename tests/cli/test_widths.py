"""What every command prints fits the terminal, and its text says the same at every width."""

import io
import re
import shlex
import signal
import sys

import pytest
from commands import run_cli
from rich.cells import cell_len

from permed_measures import cli
from permed_measures.datasets import SAMPLES

COMMANDS = (
    "measures",
    "measures GradedAP VariantNDCG ERR",
    "evaluate permed-sample permed-sample/runs",
    "evaluate permed-sample permed-sample/runs --preset litsearch --by turn_number",
    "evaluate permed-sample permed-sample/runs --by conversation_id --macro",
    "evaluate permed-sample permed-sample/runs -m AP -m 'nDCG(judged_only=True)@10' --by-query",
    "crosscheck permed-sample permed-sample/runs",
    "audit permed-sample BM25 --claim MAP@10=0.4665 --claim P@1=0.65",
    "audit permed-sample BM25 --claim MAP@10=0.1234 --claim hit@10=12.3%",
    "compare permed-sample permed-sample/runs --baseline bm25 --resamples 99",
    "compare permed-sample permed-sample/runs --resamples 99 -m P@1 -m R@20 --by turn_number",
    "compare permed-sample permed-sample/runs --resamples 9 --preset litsearch -m AP -m RR -m P@5 -m R@10",
    "reranking permed-sample BM25 LSA",
    "inspect BM25 LSA",
)
PATHS = {"BM25": "bm25.jsonl", "LSA": "lsa.jsonl"}


@pytest.fixture
def words_of(monkeypatch, tmp_path):
    """Work in a folder with two runs; return what splits a command into words."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("shutil.which", str)
    for name in ("bm25", "lsa"):
        (tmp_path / f"{name}.jsonl").write_bytes(SAMPLES[0].runs[name].read_bytes())
    return lambda command: shlex.split(re.sub("BM25|LSA", lambda found: PATHS[found[0]], command))


@pytest.fixture
def printed(words_of, monkeypatch):
    """Return what prints a command at some width."""
    monkeypatch.setattr(sys, "argv", ["permed-measures"])

    def run(command, width):
        monkeypatch.setenv("COLUMNS", str(width))
        return run_cli(*words_of(command), status=1 if "0.1234" in command else 0)[0]

    return run


@pytest.mark.parametrize("command", COMMANDS)
def test_no_line_is_wider_than_the_terminal(printed, command):
    lines = printed(command, 80).splitlines()
    assert [line for line in lines if cell_len(line) > 80] == []


class Terminal(io.StringIO):
    """A stdout that says it is a terminal."""

    def isatty(self):
        return True


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("command", COMMANDS[::4])
def test_a_terminal_shows_bold_and_underlined_but_no_colours(words_of, monkeypatch, command, plain):
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(sys, "argv", ["permed-measures", *words_of(command)])
    monkeypatch.setattr(sys, "stdout", Terminal())
    for name, value in {"TERM": "xterm-256color", "COLORTERM": "truecolor", "COLUMNS": "80"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("NO_COLOR", raising=False)
    if plain:
        monkeypatch.setenv("NO_COLOR", "1")
    with pytest.raises(SystemExit):
        cli.main()
    codes = set(re.findall(r"\x1b\[([0-9;]*)m", sys.stdout.getvalue()))
    assert codes <= (set() if plain else {"0", "1", "4"})
    assert bool(codes) != plain
