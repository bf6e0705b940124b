"""Fixtures for the tests of audits."""

import sys

import pytest

from permed_measures import cli


@pytest.fixture
def refused(monkeypatch, capsys):
    """Return what runs the command on bad input, and returns its message."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["permed-measures", "audit", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            cli.main()
        stdout, stderr = capsys.readouterr()
        assert (caught.value.code, stdout) == (2, "")
        return stderr

    return run


@pytest.fixture
def files(tmp_path, monkeypatch):
    (tmp_path / "qrels").write_text("q1 0 a 2\nq1 0 b 1\nq1 0 c 0\nq2 0 d 1\nq3 0 e 0\n")
    (tmp_path / "one.trec").write_text("q1 Q0 b 1 3 t\nq1 Q0 x 2 2 t\nq1 Q0 a 3 1 t\n")
    (tmp_path / "two.trec").write_text("q1 Q0 a 1 3 t\nq2 Q0 d 1 3 t\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path
