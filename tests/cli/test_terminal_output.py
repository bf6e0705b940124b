"""A terminal gets bold and underlined letters, and no colours."""

import io
import re
import signal
import sys

import pytest

from permed_measures import cli


class Terminal(io.StringIO):
    """A stdout that says it is a terminal."""

    def isatty(self):
        return True


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize(
    "command",
    [
        "measures",
        "audit permed-sample permed-sample/runs/bm25 --claim MAP@10=0.4665",
        "compare permed-sample permed-sample/runs --resamples 9 -m litsearch -m AP -m RR -m R@10",
    ],
)
def test_a_terminal_shows_bold_and_underlined_but_no_colours(monkeypatch, command, plain):
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(sys, "argv", ["permed-measures", *command.split()])
    monkeypatch.setattr(sys, "stdout", Terminal())
    for name, value in {"TERM": "xterm-256color", "COLORTERM": "truecolor", "COLUMNS": "80"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("NO_COLOR", raising=False)
    if plain:
        monkeypatch.setenv("NO_COLOR", "1")
    with pytest.raises(SystemExit):
        cli.main()
    text = sys.stdout.getvalue()
    codes = set(re.findall(r"\x1b\[([0-9;]*)m", text))
    assert codes <= (set() if plain else {"0", "1", "4"})
    assert bool(codes) != plain
    assert max(len(re.sub(r"\x1b\[[0-9;]*m", "", line)) for line in text.splitlines()) <= 80
