"""Progress of long work: what a terminal shows, and where nothing is shown."""

import io
import re
import sys
import threading
import warnings

import pytest
from commands import run_python

from permed_measures import progress
from permed_measures.cli.messages import print_message
from permed_measures.errors import warn


class Terminal(io.StringIO):
    def isatty(self):
        return True

    def lines(self):
        """Return what was drawn, without what moves the cursor."""
        return re.split(r"[\r\n]+", re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", self.getvalue()))


@pytest.fixture
def terminal(monkeypatch):
    """Return what makes stderr a terminal, within a test: pytest sets its own before it."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv(progress.ENV_VAR, raising=False)

    def begin(stream=None):
        stream = stream or Terminal()
        monkeypatch.setattr(sys, "stderr", stream)
        return stream

    return begin


@pytest.fixture
def long(monkeypatch):
    """Let all work be long."""
    monkeypatch.setattr(progress, "DELAY", 0.0)


def work():
    streams = sys.stdout, sys.stderr
    with progress.step("reading a.run", 10) as advance:
        advance(4)
        for _ in progress.tracked(["x", "y"], "queries"):
            assert (sys.stdout, sys.stderr) == streams
        advance(6)


@pytest.mark.usefixtures("long")
def test_a_terminal_shows_what_is_done_and_how_far_it_is(terminal):
    stderr = terminal()
    before = sys.stderr, sys.stdout
    work()
    shown = " ".join(stderr.lines())
    for text in ("reading a.run:  40%", "queries:  50%"):
        assert text in shown
    assert stderr.lines()[-1].strip() == ""  # the line is empty again
    assert (sys.stderr, sys.stdout) == before


@pytest.mark.usefixtures("long")
def test_work_without_a_total_shows_what_is_done(terminal):
    stderr = terminal()
    with progress.step("reading") as advance:
        advance(3)
    assert "reading" in stderr.getvalue()


def test_short_work_shows_nothing(terminal):
    stderr = terminal()
    work()
    with progress.step("reading") as advance:
        advance(1)
        print_message("note: odd")  # which draws nothing that was not drawn
    assert stderr.getvalue() == "note: odd\n"


@pytest.mark.parametrize(("seconds", "is_shown"), [(1.9, False), (2.0, True)])
def test_work_is_long_after_two_seconds(terminal, monkeypatch, seconds, is_shown):
    stderr, times = terminal(), iter([100.0, 100.0 + seconds])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(times))
    with progress.step("reading", 2) as advance:
        advance(1)
    assert ("reading" in stderr.getvalue()) == is_shown


@pytest.mark.usefixtures("long")
def test_nothing_is_shown_in_a_pipe_or_where_one_says_so(terminal, monkeypatch):
    def shows(stream=None):
        stderr = terminal(stream)
        with progress.step("reading") as advance:
            advance(1)
        return bool(stderr.getvalue())

    assert shows()
    with progress.quiet():
        assert not shows()
    assert shows()
    monkeypatch.setenv(progress.ENV_VAR, "0")
    assert not shows()
    monkeypatch.delenv(progress.ENV_VAR)
    assert not shows(io.StringIO())
    monkeypatch.setattr(sys, "stderr", None)
    with progress.step("reading") as advance:
        advance(1)


@pytest.mark.usefixtures("long")
def test_an_error_takes_progress_away(terminal):
    def fail():
        with progress.step("reading", 2) as advance:
            advance(1)
            raise KeyError

    stderr = terminal()
    with pytest.raises(KeyError):
        fail()
    assert "reading" in stderr.getvalue()
    assert stderr.lines()[-1].strip() == ""


@pytest.mark.usefixtures("long")
def test_a_warning_stands_on_lines_of_its_own(terminal, monkeypatch):
    stderr, seen = terminal(), []
    with progress.step("reading", 2) as advance:
        advance(1)
        monkeypatch.setattr(warnings, "warn", lambda *_, **__: seen.append(stderr.lines()[-1]))
        warn("odd")
        print_message("note: odd")
        assert "reading:  50%" in stderr.lines()[-1]  # drawn again
    assert [line.strip() for line in seen] == [""]
    assert "note: odd" in stderr.lines()


@pytest.mark.usefixtures("long")
def test_work_may_end_out_of_order_or_in_another_thread(terminal):
    stderr = terminal()
    first, second = (progress.tracked([1, 2, 3], about) for about in ("first", "second"))
    assert [next(first), next(second), next(first), next(second)] == [1, 1, 2, 2]
    first.close()
    thread = threading.Thread(target=second.close)
    thread.start()
    thread.join()
    shown = stderr.getvalue()
    assert "first" in shown
    assert "second" in shown
    assert stderr.lines()[-1].strip() == ""


def test_tqdm_is_loaded_only_where_progress_is_drawn():
    code = "import sys\nfrom permed_measures import progress\nwith progress.step('reading'): pass\n"
    code += "print('tqdm' in sys.modules)"
    assert run_python(code).strip() == "False"
