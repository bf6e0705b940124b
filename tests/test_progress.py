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


def work(*, long=True):
    streams = sys.stdout, sys.stderr
    with progress.step("reading a.run", 10) as advance:
        advance(4)
        if long:
            progress._DISPLAY.get().draw()
            assert (sys.stdout, sys.stderr) == streams
        for number, _ in enumerate(progress.tracked(["x", "y"], "queries")):
            display = progress._DISPLAY.get()
            assert display is None or display.steps[-1].done == number
        if long:
            assert [each.description for each in progress._DISPLAY.get()._drawn.tasks] == ["reading a.run"]
        advance(6)
        if long:
            assert progress._DISPLAY.get()._drawn.tasks[0].completed == 10


def test_a_terminal_shows_what_is_done_and_how_far_it_is(terminal):
    stderr = terminal()
    before = sys.stderr, sys.stdout
    work()
    shown = " ".join(stderr.lines())
    assert "reading a.run" in shown
    assert "queries" in shown
    assert "40%" in shown
    assert "\x1b[2K" in stderr.getvalue().rpartition("%")[2]  # the lines are empty again
    assert (sys.stderr, sys.stdout) == before
    assert progress._DISPLAY.get().is_over
    assert not progress._DRAWING_LOCK.locked()


def test_short_work_shows_nothing(terminal):
    stderr = terminal()
    work(long=False)
    with progress.step("reading"):
        print_message("note: odd")  # which draws nothing that was not drawn
        timer = progress._DISPLAY.get()._timer
        assert (progress._DISPLAY.get()._drawn, timer.interval, timer.daemon) == (None, 2, True)
    assert timer.finished.is_set()
    assert stderr.getvalue() == "note: odd\n"


def test_what_is_done_is_no_markup(terminal):
    stderr = terminal()
    with progress.step("reading a[bold]b"):
        progress._DISPLAY.get().draw()
    assert "a[bold]b" in stderr.getvalue()


def test_work_is_long_after_some_time(terminal, monkeypatch):
    terminal()
    monkeypatch.setattr(progress, "DELAY", 0.01)
    drawn = threading.Event()
    monkeypatch.setattr(progress._Display, "draw", lambda _: drawn.set())
    with progress.step("reading"):
        assert drawn.wait(20)


def test_nothing_is_shown_in_a_pipe_or_where_one_says_so(terminal, monkeypatch):
    def shows():
        with progress.step("reading"):
            display = progress._DISPLAY.get()
            return display is not None and not display.is_over

    terminal()
    assert shows()
    with progress.quiet():
        assert not shows()
    assert shows()
    monkeypatch.setenv(progress.ENV_VAR, "0")
    assert not shows()
    monkeypatch.delenv(progress.ENV_VAR)
    terminal(io.StringIO())
    assert not shows()
    monkeypatch.setattr(sys, "stderr", None)
    assert not shows()


def test_an_error_takes_progress_away(terminal):
    def fail():
        with progress.step("reading"):
            progress._DISPLAY.get().draw()
            raise KeyError

    terminal()
    with pytest.raises(KeyError):
        fail()
    assert progress._DISPLAY.get().is_over
    assert not progress._DRAWING_LOCK.locked()


def test_a_warning_stands_on_lines_of_its_own(terminal, monkeypatch):
    seen = []
    terminal()
    with progress.step("reading"):
        display = progress._DISPLAY.get()
        display.draw()
        monkeypatch.setattr(warnings, "warn", lambda *_, **__: seen.append(display._drawn))
        warn("odd")
        print_message("note: odd")
        seen.append(display._drawn)
    assert seen[0] is None
    assert seen[1] is not None


def test_work_that_ends_out_of_order_or_in_another_thread_is_over(terminal):
    terminal()
    first, second = (progress.tracked([1, 2], about) for about in ("first", "second"))
    assert (next(first), next(second)) == (1, 1)
    display = progress._DISPLAY.get()
    first.close()
    assert [each.about for each in display.steps] == ["second"]
    thread = threading.Thread(target=second.close)
    thread.start()
    thread.join()
    assert display.is_over
    with progress.step("third"):
        assert progress._DISPLAY.get() is not display


def test_one_thread_draws(terminal):
    terminal()
    seen = []

    def other():
        with progress.step("another thread"):
            progress._DISPLAY.get().draw()
            seen.append(progress._DISPLAY.get()._drawn)

    with progress.step("reading"):
        progress._DISPLAY.get().draw()
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert seen == [None]


def test_rich_is_loaded_only_where_progress_is_drawn():
    code = "import sys\nfrom permed_measures import progress\nwith progress.step('reading'): pass\n"
    code += "print('rich' in sys.modules)"
    assert run_python(code).strip() == "False"
