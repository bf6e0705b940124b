"""What the README and the guide show: their Python and their commands run, and print what they say."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import pytest
from commands import STRICT, run_cli, run_python
from test_package import ORDER

import permed_measures as pm
from permed_measures.cli.commands import COMMANDS, command_of

ROOT = Path(__file__).parents[1]
FENCED = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"\s*(?:\$ )?(?:\.venv/bin/)?permed-measures (.+)")
TYPED_IN_ORDER = re.compile(r"^\| you want to \| type \|\n(?:^\|.*\n)+", re.MULTILINE)
REAL_DATA = re.compile(
    r"^[^#\n]*\b(?<!permed-sample/)(medcorpus|litsearch|query_to_texts|runs|results|records|base)\b",
    re.MULTILINE,
)
TYPE = f"""
import json, os, sys
from permed_measures.cli.commands import main

for number, words in enumerate(json.loads(sys.argv[1])):
    child = os.fork()
    if not child:
        for stream, name in ((sys.stdout, "out"), (sys.stderr, "err")):
            os.dup2(os.open(f"{{number}}.{{name}}", os.O_WRONLY | os.O_CREAT), stream.fileno())
        sys.argv[1:] = words
        {STRICT.replace(chr(10), chr(10) + 8 * " ")}
        main()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""Runs each command in a process of its own, in which nothing but the command line was imported before."""
PLACEHOLDER = re.compile(r"\b(QRELS|RUN|IN|OUT|FILE|BEFORE|COMMAND)\b|\.\.\.")


class Page(NamedTuple):
    """A Markdown file for users."""

    name: str
    text: str

    def blocks(self, *languages):
        """Return the fenced blocks of some languages, or of all, with broken lines joined."""
        found = FENCED.findall(self.text.replace("\\\n", " "))
        return [text for language, text in found if not languages or language in languages]

    def commands(self):
        """Return the arguments of commands without what they print: a line of a block, or a code span."""
        lines = "".join(text for text in self.blocks() if text not in self.sessions()).splitlines()
        written = map(COMMAND.fullmatch, [*lines, *_code_spans(TYPED_IN_ORDER.sub("", self.text))])
        commands = [re.split(r" [#|>]", match[1])[0].strip() for match in written if match]
        return [each for each in commands if not PLACEHOLDER.search(each)]

    def sessions(self):
        """Return the blocks that show a command and what it prints."""
        return [text for text in self.blocks() if text.lstrip().startswith("$ permed-measures ")]


FILES = [ROOT / "README.md", *sorted((ROOT / "notebooks" / "guide").glob("*.md"))]
PAGES = [Page(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")) for path in FILES]
WHOLE = "\n".join(page.text for page in PAGES)


def parameters(kind):
    """Return what a test takes from the pages, each thing once, with a name that says where it stands."""
    found = {text: page.name for page in PAGES for text in kind(page)}
    marks = {name: () if name == "README.md" else pytest.mark.thorough for name in found.values()}
    return {
        "argvalues": [pytest.param(text, marks=marks[name]) for text, name in found.items()],
        "ids": [f"{name}: {text.split(chr(10))[0]}" for text, name in found.items()],
    }


def _code_spans(text):
    return re.findall(r"`([^`\n]+)`", FENCED.sub("", text))


def typed_in_order():
    """Return the commands of the table in the README."""
    [table] = TYPED_IN_ORDER.findall(PAGES[0].text)
    return [span.removeprefix("permed-measures ") for span in _code_spans(table)]


@pytest.mark.thorough
def test_the_commands_of_the_readme_work_typed_one_after_the_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    commands = typed_in_order()
    assert {command.split()[0] for command in commands} == {*COMMANDS}
    typed = run_python(TYPE, json.dumps([*map(shlex.split, commands)])).split()
    assert len(typed) == len(commands)
    for number, (command, status) in enumerate(zip(commands, typed, strict=True)):
        out, err = (Path(f"{number}.{name}").read_text(encoding="utf-8") for name in ("out", "err"))
        assert (status, bool(out or err)) == ("0", True), (command, err)
        assert not re.search("Error|Warning|Traceback|Exception ignored", err), (command, err)


@pytest.fixture(scope="session")
def files(data, tmp_path_factory):
    """Return a folder with the files that the pages speak of."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "runs").mkdir()
    labels = data / "medcorpus" / "query_to_texts.jsonl"
    shutil.copy(labels, folder)
    run = pm.read_run(labels)
    pm.write_run(run, folder / "results.jsonl")
    pm.write_run(run, folder / "runs" / "bm25.trec")
    backwards = {q: dict(zip(reversed(docs), docs.values(), strict=True)) for q, docs in run.items()}
    pm.write_run(backwards, folder / "runs" / "b.csv")
    shutil.copytree(data / "litsearch" / "runs", folder / "litsearch-runs")
    for name in ("a.trec", "b.trec"):
        shutil.copy(folder / "runs" / "bm25.trec", folder / name)
    (folder / "records").mkdir()
    made = pm.record(folder / labels.name, {"b": folder / "b.trec"}, ["nDCG@10", "P@1"])
    for name in ("base.json", "records/base.json"):
        made.write(folder / name)
    return folder


@pytest.fixture
def place(request, tmp_path, monkeypatch):
    """Work in a folder of one's own, with the files that the pages speak of if the real data are there."""
    work = tmp_path / "work"
    if os.environ.get("PERMED_DATA"):
        shutil.copytree(request.getfixturevalue("files"), work, copy_function=os.link)
        monkeypatch.setenv("IR_DATASETS_HOME", str(request.getfixturevalue("dataset_cache")))
    else:
        work.mkdir()
    monkeypatch.chdir(work)
    for start, name in TABLES.items():
        [table] = [text for page in PAGES for text in page.blocks("markdown") if text.startswith(start)]
        (work / name).write_text(table, encoding="utf-8")
    [own] = [text for page in PAGES for text in page.blocks("toml") if text.startswith("[[convention]]")]
    (work / "mine.toml").write_text(own, encoding="utf-8")
    [collections] = [text for page in PAGES for text in page.blocks("toml") if text.startswith("[qrels]")]
    (work / "collections.toml").write_text(collections, encoding="utf-8")
    (work / "eval.py").write_text(PROGRAM, encoding="utf-8")
    (work / "core").mkdir()
    (work / "core" / "evaluate.py").write_text(PROGRAM_OF_PERMED, encoding="utf-8")
    (work / "bin").mkdir()
    python = work / "bin" / "python3"  # that of the tests; hundreds are started, and none needs a package
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -IS "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(python.parent), os.environ["PATH"]]))
    return work


TABLES = {
    "| System": "paper.md",
    "| Method | P@1": "clpr.md",
    "| Method | VariantNDCG": "clpr-ndcg.md",
    "| Run |": "rows.md",
}
"""How tables of the pages begin, and the files that commands call them."""

PROGRAM = """
import sys
def read(path, column):
    found = {}
    for row in map(str.split, open(path)):
        found.setdefault(row[0], {})[row[2]] = float(row[column])
    return found
qrels, run, k = read(sys.argv[1], 3), read(sys.argv[2], 4), int(sys.argv[-1]) if "--k" in sys.argv else 10
aps = precisions = 0
for query, grades in qrels.items():
    docs = sorted(run.get(query, {}), key=lambda doc: -run[query][doc])[:k]
    hits = [grades.get(doc, 0) >= 1 for doc in docs]
    found = sum(sum(hits[:n]) / n for n in range(1, len(hits) + 1) if hits[n - 1])
    aps += found / max(sum(grade >= 1 for grade in grades.values()), 1)
    precisions += sum(hits) / k
print("MAP@%d: %.4f" % (k, aps / len(qrels)))
print("P@%d: %.4f" % (k, precisions / len(qrels)))
"""
"""The program that the guide asks."""
PROGRAM_OF_PERMED = """
import json, sys
options = dict(zip(sys.argv[1::2], sys.argv[2::2]))
qrels, values, k = {}, [], int(options["--k"])
for label in map(json.loads, open(options["--gt"])):
    query = "%s_%s" % (label["conversation_id"], label["turn_id"])
    qrels.setdefault(query, {})[label["doc_id"]] = label["rel"]
for each in map(json.loads, open(options["--results"])):
    grades = qrels.get(each["query_id"])
    if grades is not None:
        hits = [grades.get(hit["text_id"], 0) for hit in each["ranked_results"][:k]]
        precisions = [sum(g > 0 for g in hits[:n]) / n * g / 2 for n, g in enumerate(hits, 1) if g > 0]
        values.append(sum(precisions) / max(sum(grade > 0 for grade in grades.values()), 1))
print("MAP@%d: %.4f" % (k, sum(values) / max(len(values), 1)))
"""
"""A program that takes the arguments and the files of the PerMed group's."""


def need_data_for(text, request):
    """Skip the test if the text uses the real data, and these are not there."""
    if REAL_DATA.search(text):
        request.getfixturevalue("data")


def python_blocks(page):
    """Return the Python of a page; `tests/spark` runs that of Spark, in the session that it has."""
    return [block for block in page.blocks("python") if "pyspark" not in block]


@pytest.mark.parametrize("block", **parameters(python_blocks))
def test_python_runs_pasted_into_a_fresh_session(block, place, request):
    need_data_for(block, request)
    done = subprocess.run(
        [sys.executable, "-c", STRICT + block], cwd=place, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr


def words(command):
    return tuple(shlex.split(command.replace("\\\n", "")))


SHOWN = [session.removeprefix("$ permed-measures ") for page in PAGES for session in page.sessions()]
LOOKED_AT = {*map(words, [*typed_in_order(), *(session.partition("\n")[0] for session in SHOWN)])}
"""The commands whose output another test looks at."""


def only_run(page):
    """Return the commands of a page that nothing else runs; those of the README are quick."""
    return [each for each in page.commands() if page.name == "README.md" or words(each) not in LOOKED_AT]


def prepare_for(command, request):
    need_data_for(command, request)
    if "--command" in words(command):  # whose output no test looks at
        request.getfixturevalue("fewer_cases")


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("command", **parameters(only_run))
def test_commands_run(command, request):
    prepare_for(command, request)
    assert any(run_cli(*words(command)))


RUN_ABOVE = LOOKED_AT | {words(command) for page in PAGES for command in page.commands()}
EXAMPLES = [f"{name} {example}".strip() for name in COMMANDS for example in command_of(name).examples]


@pytest.mark.thorough
@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("command", [each for each in EXAMPLES if words(each) not in RUN_ABOVE])
def test_the_examples_of_the_help_run(command, request):
    prepare_for(command, request)
    assert any(run_cli(*words(command)))


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("session", **parameters(Page.sessions))
def test_commands_print_what_is_shown(session, request):
    command, _, shown = session.strip().partition("\n")
    need_data_for(command, request)
    stdout, _ = run_cli(*shlex.split(command.removeprefix("$ permed-measures ")))
    printed, start = " ".join(stdout.split()), 0
    for part in shown.split("..."):
        words = " ".join(part.split())
        assert words in printed[start:], words
        start = printed.index(words, start)


def test_the_readme_shows_python_commands_and_their_output():
    assert PAGES[0].blocks("python")
    assert sum(len(page.commands()) for page in PAGES) >= 8
    assert sum(len(page.sessions()) for page in PAGES) >= 2


# --- complete lists ---


def test_every_measure_is_listed():
    for name in [measure.NAME for measure in pm.provider.SUPPORTED_MEASURES]:
        assert f"`{name}" in WHOLE, name


def test_every_file_is_on_the_map_and_no_other():
    code_map = (ROOT / "permed_measures" / "README.md").read_text(encoding="utf-8")
    missing = [name for name in ORDER if f"`{name.split('.')[-1]}`" not in code_map]
    assert [name for name in missing if not name.endswith("__")] == []
    paths = [path for folder in ("permed_measures", "tests") for path in (ROOT / folder).rglob("*.py")]
    files = [f"/{path.relative_to(ROOT).as_posix()}" for path in paths]
    named = re.findall(r"[\w/]+\.py\b", code_map)
    assert [name for name in named if not any(file.endswith(f"/{name}") for file in files)] == []


def test_every_file_that_a_page_or_a_notebook_names_is_there():
    paths = [*FILES, *(ROOT / "notebooks").glob("*.ipynb"), ROOT / "CONTRIBUTING.md"]
    texts = "\n".join(path.read_text(encoding="utf-8") for path in paths)
    named = set(re.findall(r"\b(?:tests|permed_measures|notebooks)/[\w./-]*\w", texts))
    assert len(named) > 20
    assert sorted(name for name in named if not (ROOT / name).exists()) == []


# --- the picture ---


def test_the_picture_has_the_numbers_of_the_labels(data):
    labels = data / "medcorpus" / "query_to_texts.jsonl"
    measures = ["AP@10", "AP(rel=2)@10", "GradedAP@10", "GradedAP(norm='ideal')@10"]
    values = pm.calc_aggregate(measures, pm.read_qrels(labels), pm.read_run(labels))
    texts = [
        each.text for each in ElementTree.parse(ROOT / "notebooks" / "map_at_10.svg").iter() if each.text
    ]
    shown = [text for text in texts if re.fullmatch(r"0\.\d{4}", text)]
    assert shown == [f"{value:.4f}" for value in values.values()]
    assert all(any(text.startswith(f"{measure}:") for text in texts) for measure in map(str, values))
