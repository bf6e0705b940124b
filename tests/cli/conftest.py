"""Make the files that the tests of the command line share."""

import pytest

QRELS = "q1 0 a 2\nq1 0 b 1\nq1 0 c 0\nq2 0 d 1\nq3 0 e 0\n"
RUN = "q1 Q0 b 1 3 t\nq1 Q0 x 2 2 t\nq1 Q0 a 3 1 t\nq2 Q0 d 1 1 t\nq9 Q0 z 1 1 t\n"
FILES = {
    "qrels": QRELS,
    "binary": QRELS.replace(" 2\n", " 1\n"),
    "run.trec": RUN,
    "other.trec": "q2 Q0 d 1 3 t\n",
    "foreign": "x1 Q0 d1 1 2.5 t\n",
}


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Go to a folder with qrels and runs."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path
