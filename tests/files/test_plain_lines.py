"""Small TREC files that are read by column: as they are read line by line, or left to that."""

import pytest

import permed_measures as pm
from permed_measures.files import read

LINES = {"qrels": "q{n} 0 d{m} {n}\n", "run": "q{n} Q0 d{m} {m} {n}.5 t\n"}
READ = {"qrels": pm.read_qrels, "run": pm.read_run}

# What is done to a plain file, and whether it is read by column then.
CHANGES = {
    "nothing": (lambda text: text, True),
    "no last line end": (lambda text: text.removesuffix("\n"), True),
    "tabs": (lambda text: text.replace(" ", "\t"), True),
    "returns": (lambda text: text.replace("\n", "\r\n"), True),
    "a mark": (lambda text: "\ufeff" + text, True),
    "blanks": (lambda text: "  " + text.replace(" ", "   "), True),
    "comments": (lambda text: "# a\n" + text.replace("\n", "\n\n# b c\n"), True),
    "other spaces in ids": (lambda text: text.replace("q", "q\xa0\u2003\x85"), True),
    "a separator in ids": (lambda text: text.replace("q", "q\x1c"), False),
    "a column too many": (lambda text: text.removesuffix("\n") + " x\n", False),
    "a column too few": (lambda text: text.rpartition(" ")[0] + "\n", False),
    "columns that add up": (lambda text: text.replace("\nq2", " x\nq2", 1).rpartition(" ")[0] + "\n", False),
    "underscores": (lambda text: text.replace(" 1", " 1_0"), False),
    "no number": (lambda text: text.replace(" 1", " nan"), False),
    "a line twice": (lambda text: text + text.splitlines()[3], False),
    "a large number": (lambda text: text.replace(" 1.", " 1000.").replace(" 1\n", " 1000\n"), None),
}


@pytest.mark.parametrize("kind", READ)
@pytest.mark.parametrize("change", CHANGES)
def test_a_file_reads_the_same_by_column_and_line_by_line(tmp_path, monkeypatch, kind, change):
    edit, by_column = CHANGES[change]
    text = "".join(LINES[kind].format(n=n, m=m) for n in range(3) for m in range(3))
    file = tmp_path / "file"
    file.write_bytes(edit(text).encode())
    name = f"plain_{kind}"
    plain, answers = getattr(read, name), []
    monkeypatch.setattr(read, name, lambda *given: answers.append(plain(*given)) or answers[-1])
    found = outcome(READ[kind], file)
    monkeypatch.setattr(read, name, lambda *_: None)
    assert found == outcome(READ[kind], file)
    if by_column is not None:
        assert [answer is not None for answer in answers] == [by_column]


def outcome(reads, file):
    """Return what is read, with the order of its keys, or the refusal."""
    try:
        return repr(reads(file))
    except pm.InputError as error:
        return str(error)
