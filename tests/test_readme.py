"""What the README shows: its Python and its commands run, and print what it says; its tables are complete."""

import re
import shlex
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest
import typer
from commands import run_cli
from test_package import ORDER

import permed_measures as pm
from permed_measures import cli

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FENCED = re.findall(r"^ *```(\w*)\n(.*?)^ *```", README, re.MULTILINE | re.DOTALL)
PLACEHOLDER = re.compile(r"\b(QRELS|RUN|IN|OUT|FILE|BEFORE)\b|\.\.\.")


def blocks(language):
    return [text for name, text in FENCED if name == language]


@pytest.mark.parametrize("number", range(len(blocks("python"))))
def test_python_runs(number, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = {}
    for block in blocks("python")[: number + 1]:
        exec(compile(block, "README.md", "exec"), namespace)


def test_every_measure_is_listed():
    for name in [measure.NAME for measure in pm.provider.SUPPORTED_MEASURES]:
        assert f"`{name}" in README, name


def test_every_file_is_on_the_map():
    code_map = (ROOT / "permed_measures" / "README.md").read_text(encoding="utf-8")
    missing = [name for name in ORDER if f"`{name.split('.')[-1]}`" not in code_map]
    assert [name for name in missing if not name.endswith("__")] == []


# --- commands ---


def commands():
    """Return the commands that are written out: a line of a block, or a code span."""
    lines = [line.strip().removeprefix("$ ") for _, text in FENCED for line in text.splitlines()]
    outside = re.sub(r"^ *```.*?^ *```", "", README, flags=re.MULTILINE | re.DOTALL)
    found = [*lines, *re.findall(r"`([^`\n]+)`", outside)]
    written = [c.partition(" #")[0].strip() for c in found if c.startswith("permed-measures ")]
    return list(dict.fromkeys(c for c in written if not PLACEHOLDER.search(c)))


@pytest.fixture
def place(data, tmp_path, monkeypatch):
    """Work where the files are that the README speaks of; the data sets are in the cache."""
    home = tmp_path / "home"
    for name in ("medcorpus", "litsearch"):
        shutil.copytree(data / name, home / name)
    monkeypatch.setenv("IR_DATASETS_HOME", str(home))
    work = tmp_path / "work"
    (work / "runs").mkdir(parents=True)
    monkeypatch.chdir(work)
    labels = data / "medcorpus" / "query_to_texts.jsonl"
    shutil.copy(labels, work)
    run = pm.read_run(labels)
    pm.write_run(run, "results.jsonl")
    pm.write_run(run, "runs/bm25.trec")
    pm.write_run(
        {q: dict(zip(reversed(docs), docs.values(), strict=True)) for q, docs in run.items()}, "runs/b.csv"
    )
    shutil.copytree(data / "litsearch" / "runs", work / "litsearch-runs")
    return work


def test_there_are_commands():
    assert len(commands()) >= 8


@pytest.mark.parametrize("command", commands())
def test_commands_run(command, place):  # noqa: ARG001 (where they run)
    stdout, _ = run_cli(*shlex.split(command)[1:])
    assert stdout


SHOWN = [text for _, text in FENCED if text.lstrip().startswith("$ permed-measures ")]


@pytest.mark.parametrize("text", SHOWN, ids=lambda text: text.split()[2])
def test_commands_print_what_is_shown(text, place):  # noqa: ARG001 (where they run)
    command, _, shown = text.strip().partition("\n")
    stdout, _ = run_cli(*shlex.split(command.removeprefix("$ "))[1:])
    printed, place_of_last = " ".join(stdout.split()), 0
    for part in re.split(r"\.\.\.", shown):
        words = " ".join(part.split())
        assert words in printed[place_of_last:], words
        place_of_last = printed.index(words, place_of_last)


SYNOPSIS = next(text for text in blocks("sh") if "permed-measures evaluate QRELS" in text)
COMMANDS = typer.main.get_command(cli.app).commands


@pytest.mark.parametrize("name", COMMANDS)
def test_the_synopsis_has_every_option_of_a_command(name):
    [lines] = re.findall(rf"^permed-measures {name}\b(.*?)(?=^permed-measures|\Z)", SYNOPSIS, re.M | re.S)
    shown = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", lines.partition("#")[0]))
    options = [each.opts for each in COMMANDS[name].params if each.param_type_name == "option"]
    assert all(shown & set(opts) for opts in options), options
    assert shown <= {opt for opts in options for opt in opts}


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
