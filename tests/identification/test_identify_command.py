"""The command `permed-measures identify` finds a function and its convention."""

import json
import re
import sys

import pytest
from commands import run_cli, run_main

SCRIPT = """
from helpers import K

def precision(qrels, run):
    print("evaluating")
    values = [sum(qrels[q].get(d, 0) >= 1 for d in list(run.get(q, {}))[:K]) / K for q in qrels]
    return sum(values) / len(values)

def of_query(grades, documents):
    return precision({"q": grades}, {"q": documents})

def of_five(qrels, run):
    return precision(qrels, run) * 1.01

def broken(qrels, run):
    return run["no such query"]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(SCRIPT)
    (tmp_path / "helpers.py").write_text("K = 5\n")
    (tmp_path / "fails.py").write_text("import os\n\nrun = os.environ['NO SUCH VARIABLE']\n")
    (tmp_path / "ends.py").write_text("import sys\nsys.exit(3)\n")
    (tmp_path / "typo.py").write_text("def f(:\n")
    (tmp_path / "notes.txt").write_text("no Python")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_script_is_named_and_what_it_prints_is_left_out():
    before = [*sys.path]
    stdout, _ = run_cli("identify", "mine.py:of_query", "-m", "P@5", "--form", "query")
    assert sys.path == before
    assert stdout.startswith("P@5 is P@5.\n")
    assert "evaluating" not in stdout
    assert "the script warns" not in stdout


def test_modules_beside_the_script_come_first_and_what_it_does_to_the_path_is_undone(folder, monkeypatch):
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere" / "helpers.py").write_text("K = 'another'\n")
    monkeypatch.syspath_prepend(folder / "elsewhere")
    monkeypatch.delitem(sys.modules, "helpers", raising=False)
    before = [*sys.path]
    script = "import sys\nfrom helpers import K\nsys.path.clear()\nraise ValueError(K)\n"
    (folder / "other.py").write_text(script)
    assert (
        run_main("identify", "other.py:f", "P@5")[2] == "error: other.py:4: the script raises ValueError: 5\n"
    )
    assert sys.path == before


def test_the_packaged_script_is_found_by_its_name_unless_there_is_such_a_file(folder):
    line = ["identify", "permed-sample/script.py:mean", "MAP@10"]
    assert "sample/script.py: there is no function 'mean'. Did you mean 'mean_ap'?" in run_main(*line)[2]
    (folder / "permed-sample").mkdir()
    (folder / "permed-sample" / "script.py").write_text("def means(): pass\n")
    assert "script.py: there is no function 'mean'. Did you mean 'means'?" in run_main(*line)[2]


READS_ARGUMENTS = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--k", type=int, default=5)
parser.add_argument("qrels", nargs={nargs!r})
args = parser.parse_args()
def precision(qrels, run):
    hits = [sum(qrels[q].get(d, 0) >= 1 for d in list(run.get(q, {{}}))[:args.k]) for q in qrels]
    return sum(hits) / args.k / len(qrels)
"""


@pytest.mark.thorough
def test_a_script_that_reads_arguments_gets_none_and_one_that_needs_some_is_said_to_end(folder):
    (folder / "optional.py").write_text(READS_ARGUMENTS.format(nargs="?"))
    (folder / "needed.py").write_text(READS_ARGUMENTS.format(nargs=None))
    arguments = [*sys.argv]
    assert run_cli("identify", "optional.py:precision", "P@5")[0].startswith(
        "P@5 is P@5.\nAveraged over all "
    )
    status, stdout, stderr = run_main("identify", "needed.py:precision", "P@5")
    assert (status, stdout) == (2, "")
    assert "error: needed.py:6: the script ends when it is loaded (exit status 2). Put the code " in stderr
    assert sys.argv == arguments
    text = (
        (folder / "needed.py")
        .read_text()
        .replace("args = parser", "if __name__ == '__main__': args = parser")
    )
    (folder / "needed.py").write_text(text.replace("args.k", "5"))  # what the message says
    assert run_cli("identify", "needed.py:precision", "P@5")[0].startswith("P@5 is P@5.\nAveraged over all ")


@pytest.mark.thorough
def test_the_measure_may_stand_without_its_option():
    form = ["--form", "query"]
    assert run_cli("identify", "mine.py:of_query", "P@5", *form) == run_cli(
        "identify", "mine.py:of_query", "-m", "P@5", *form
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("none.py:f -m P@5", "none.py: No such file. Write FILE.py:FUNCTION"),
        (
            "mine.py -m P@5",
            "mine.py: the function is missing. It has precision, of_query, of_five, broken: write mine.py:p",
        ),
        (
            "mine.py:precison -m P@5",
            "mine.py: there is no function 'precison'. Did you mean 'precision'? It has precision, ",
        ),
        ("mine.py:K -m P@5", "mine.py: there is no function 'K'. "),
        (
            "mine.py:broken -m P@5",
            "mine.py:16: the function gives no number on any case: KeyError: 'no such query'",
        ),
        ("fails.py:f -m P@5", "fails.py:3: the script raises KeyError: 'NO SUCH VARIABLE'"),
        ("ends.py:f -m P@5", "ends.py:2: the script ends when it is loaded (exit status 3). Put the code "),
        ("typo.py:f -m P@5", "typo.py:1: the script raises SyntaxError: invalid syntax"),
        ("notes.txt:f -m P@5", "notes.txt: this is not a Python file. Its name must end in .py"),
        ("mine.py:precision", "no measure is named. Name the measure that it should compute: -m MAP@10"),
        ("mine.py:precision -m P@5 --form rows", "--form: invalid choice: 'rows'"),
        (
            "mine.py:precision -m P@5 --output mine.py",
            "mine.py: the ending '.py' does not belong to a format",
        ),
    ],
)
def test_bad_input_is_one_message_with_its_line(line, message):
    status, stdout, stderr = run_main("identify", *line.split())
    assert (status, stdout) == (2, "")
    assert stderr.startswith(f"error: {message}"), stderr


def test_the_json_has_the_convention_that_was_found_and_no_other():
    stdout, _ = run_cli("identify", "mine.py:of_query", "P@5", "--form", "query", "--format", "json")
    content = json.loads(stdout)
    assert content["provenance"]["conventions"] == [content["sentence"]]
    assert content["called"].startswith("of_query(")


def test_the_json_of_a_script_that_is_not_known_has_no_convention_and_the_status_is_1():
    stdout, _ = run_cli("identify", "mine.py:of_five", "-m", "P@5", "--format", "json", status=1)
    content = json.loads(stdout)
    assert (content["ok"], content["measure"]) == (False, None)
    assert content["counterexample"]["value"] != content["counterexample"]["nearest"]
    assert content["called"].startswith("of_five(")
    assert content["provenance"]["conventions"] == []
    assert content["provenance"]["inputs"][0]["path"] == "mine.py"


@pytest.mark.thorough
def test_several_measures_get_an_answer_each(folder):
    (folder / "two.py").write_text(
        "def both(grades, ranked):\n"
        "    hits = [grades.get(doc, 0) >= 1 for doc in ranked[:5]]\n"
        "    return {'P@5': sum(hits) / 5, 'hit@5': sum(hits) / 10}\n"
    )
    stdout, _ = run_cli("identify", "two.py:both", "-m", "P@5", "-m", "hit@5", status=1)
    assert stdout.startswith("P@5 is P@5.\n")
    assert "No convention gives the numbers of the function for hit@5." in stdout
    stdout, _ = run_cli("identify", "two.py:both", "-m", "P@5", "-m", "hit@5", "--format", "json", status=1)
    assert [(each["name"], each["ok"]) for each in json.loads(stdout)] == [("P@5", True), ("hit@5", False)]


def test_warnings_of_a_script_are_said_in_a_note_and_not_printed(folder, capfd):
    (folder / "warns.py").write_text(
        "import warnings\n"
        "def precision(grades, ranked):\n"
        "    if not ranked:\n        print('DeprecationWarning: old', file=__import__('sys').stderr)\n"
        "    return sum(grades.get(doc, 0) >= 1 for doc in ranked[:5]) / 5\n"
    )
    stdout, stderr = run_cli("identify", "warns.py:precision", "P@5")
    assert "Note: the script warns: DeprecationWarning: old." in stdout
    assert "old" not in stderr + capfd.readouterr().err
    (folder / "often.py").write_text(
        "import sys\n"
        "def precision(grades, ranked):\n"
        "    print(f'OldWarning: {len(ranked) % 3}', file=sys.stderr)\n"
        "    return sum(grades.get(doc, 0) >= 1 for doc in ranked[:5]) / 5\n"
    )
    stdout = " ".join(run_cli("identify", "often.py:precision", "P@5")[0].split())
    assert re.search(r"the script warns: OldWarning: \d \(and 2 others of this kind\)\.$", stdout)
