"""The bar on stderr: late, only on a terminal, and gone in the end."""

import io
import sys
from contextlib import closing

import pytest

from permed_measures.cli import progress as module
from permed_measures.cli.progress import ProgressBar


class Terminal(io.StringIO):
    """A stderr that says it is a terminal."""

    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stderr", "after", "shown"),
    [(Terminal(), 0.0, True), (Terminal(), 60.0, False), (io.StringIO(), 0.0, False)],
)
def test_a_bar_is_shown_only_on_a_terminal_and_only_after_a_while(monkeypatch, stderr, after, shown):
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setattr(module, "_AFTER", after)
    monkeypatch.setenv("TERM", "xterm")
    with closing(ProgressBar()) as bar:
        update = bar.of("run[1]\x1b[2J\u202e.trec")
        update(0.25)
        update(0.5)
    assert ("run[1] [2J .trec" in stderr.getvalue()) == shown
    assert ("50%" in stderr.getvalue()) == shown


def test_a_bar_is_hidden_once_its_file_is_read_and_shows_the_next_file(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(module, "_AFTER", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    with closing(ProgressBar()) as bar:
        for name in ("first", "second"):
            update = bar.of(name)
            update(0.5)
            assert bar._shown is not None
            update(1.0)
            assert bar._shown is None
    shown = sys.stderr.getvalue()
    assert shown.index("first") < shown.index("second")
