"""Random mutants of the package, and whether the tests that run the mutated line notice.

    python tests/mutation.py record tests/results tests/comparison
    python tests/mutation.py run permed_measures/results permed_measures/comparison --number 30 --seed 1

``record`` runs tests, and adds which lines each of them runs to a file outside the repository; record again
what has changed since. ``run`` makes mutants in a copy of the repository, one at a time, and runs the tests
of the mutated line, then others of its file, until one fails or they should have taken so many `--seconds`.
It prints each mutant, and how many were killed by room. What other processes run is not seen. It needs
coverage (``pip install coverage``), and this checkout installed (``pip install -e '.[test]'``): lines of a
copy elsewhere are not seen.
"""

import argparse
import ast
import copy
import importlib.util
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RECORDED = Path(tempfile.gettempdir()) / f"permed-measures-lines-{ROOT.name}.json"
COPIED = ("permed_measures", "tests", "notebooks", "pyproject.toml", "README.md", "CHANGELOG.md")
PYTEST = ("-q", "-o", "addopts=", "-p", "no:cacheprovider", "-p", "no:xdist")


# --- which tests run a line ------------------------------------------------------------------------------


class Recorder:
    """Notes for pytest how long tests that pass take, and which lines of the package they run."""

    def __init__(self):
        import coverage

        self.coverage, self.seconds = (
            coverage.Coverage(None, source=[str(ROOT / "permed_measures")]),
            Counter(),
        )
        self.texts = {
            str(each): each.read_text().split("\n") for each in ROOT.glob("permed_measures/**/*.py")
        }

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        self.coverage.switch_context(item.nodeid)
        return (yield)

    def pytest_runtest_logreport(self, report):
        self.seconds[report.nodeid] += report.duration if report.passed else float("inf")

    def lines(self):
        """Yield file, text of a line, and the tests that run it."""
        data = self.coverage.get_data()
        for file in data.measured_files():
            for number, tests in data.contexts_by_lineno(file).items():
                passed = {test for test in tests if self.seconds.get(test, float("inf")) < float("inf")}
                yield str(Path(file).relative_to(ROOT)), self.texts[file][number - 1].strip(), passed


def record(paths):
    """Run tests, and add the lines that they run to the file."""
    imported = Path(importlib.util.find_spec("permed_measures").origin).parents[1]
    if imported != ROOT:
        raise SystemExit(f"the tests would run {imported}, and not {ROOT}: pip install -e '.[test]'")
    recorder = Recorder()
    recorder.coverage.start()
    status = pytest.main([*paths, *PYTEST, "--rootdir", str(ROOT)], plugins=[recorder])
    recorder.coverage.stop()
    known = json.loads(RECORDED.read_text()) if RECORDED.exists() else {"seconds": {}, "lines": {}}
    again = {test.partition("::")[0] for test in recorder.seconds}  # files whose tests were recorded before
    for tests_by_text in known["lines"].values():
        for text, tests in tests_by_text.items():
            tests_by_text[text] = [test for test in tests if test.partition("::")[0] not in again]
    known["seconds"] |= {test: taken for test, taken in recorder.seconds.items() if taken < float("inf")}
    for file, text, tests in recorder.lines():
        of_file = known["lines"].setdefault(file, {})
        of_file[text] = sorted(tests.union(of_file.get(text, ())))
    RECORDED.write_text(json.dumps(known))
    return int(status)


# --- mutants ---------------------------------------------------------------------------------------------

OPERATORS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Add: ast.Sub,
    ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
TEXTS = (ast.JoinedStr, ast.List, ast.ListComp)
NEVER_RUN = ("annotation", "returns", "decorator_list", "type_params")
DESCRIBES = ("strict", "repr", "slots", "frozen", "eq")


def changes_of(node):
    """Yield what an expression or a statement may be changed to."""
    changed = copy.copy(node)
    if isinstance(node, ast.Compare):
        changed.ops = [OPERATORS[type(node.ops[0])](), *node.ops[1:]]
        yield changed
    elif isinstance(node, ast.BoolOp) or (isinstance(node, ast.BinOp) and type(node.op) in OPERATORS):
        sides = [node.left, node.right] if isinstance(node, ast.BinOp) else []
        if not any(isinstance(each, TEXTS) or isinstance(getattr(each, "value", 0), str) for each in sides):
            changed.op = OPERATORS[type(node.op)]()
            yield changed
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.Constant) and type(node.value) in (bool, int, float):
        yield ast.Constant(not node.value if isinstance(node.value, bool) else node.value + 1)
    elif isinstance(node, (ast.AugAssign, ast.Raise, ast.Continue, ast.Break)) or (
        isinstance(node, ast.Expr) and isinstance(node.value, (ast.Call, ast.Yield, ast.YieldFrom))
    ):
        yield ast.Pass()


def nodes_of(tree):
    """Yield the nodes that run and do more than guard or describe; none within a formatted text."""
    if isinstance(tree, ast.keyword) and tree.arg in DESCRIBES:
        return
    for name, value in ast.iter_fields(tree):
        for node in value if isinstance(value, list) else [value]:
            types_only = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
            if isinstance(node, ast.AST) and name not in NEVER_RUN and not types_only:
                yield node
                if not isinstance(node, ast.JoinedStr):
                    yield from nodes_of(node)


def mutants_of(path):
    """Yield each mutant of a file: the node, what it becomes, and the text of the file."""
    text = path.read_bytes()
    starts = [0]
    for line in text.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    for node in nodes_of(ast.parse(text)):
        for changed in changes_of(node):
            first = starts[node.lineno - 1] + node.col_offset
            last = starts[node.end_lineno - 1] + node.end_col_offset
            after = ast.unparse(ast.fix_missing_locations(changed))
            put = after if isinstance(node, ast.stmt) else f"({after})"
            yield path, node, after, text[:first] + put.encode() + text[last:]


# --- the tests of a mutant -------------------------------------------------------------------------------


def tests_of(file, line, recorded, seconds):
    """Return the tests of the line, quick ones first, then others of its file, for so many seconds."""
    lines, taken = recorded["lines"].get(file, {}), recorded["seconds"]
    of_line = set(lines.get(line, ()))
    chosen, room = [], f"/{file.split('/')[1]}/"
    # A file that only declares, when it is imported, is run by no test: then those of its folder are.
    others = {test for tests in lines.values() for test in tests} or {each for each in taken if room in each}
    for test in sorted(others, key=lambda test: (test not in of_line, room not in test, taken[test])):
        seconds -= taken[test]
        if seconds > 0 or not chosen:
            chosen.append(test)
    return chosen


def pytest_in(folder, seconds, *options):
    """Run the chosen tests in the copy."""
    environment = os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    how = {
        "cwd": folder,
        "env": environment,
        "timeout": 5 * seconds + 60,
        "capture_output": True,
        "text": True,
    }
    command = [sys.executable, "-m", "pytest", *options, *PYTEST, "@chosen_tests.txt"]
    return subprocess.run(command, check=False, **how)


def outcome_of(folder, file, source, tests, seconds):
    """Run tests on a mutant in the copy; return whether it is noticed, and what pytest says at its end."""
    before = (folder / file).read_bytes()
    (folder / file).write_bytes(source)
    (folder / "chosen_tests.txt").write_text("\n".join(tests), encoding="utf-8")
    try:
        done = pytest_in(folder, seconds, "-x")
    except subprocess.TimeoutExpired:
        return True, "takes too long"
    finally:
        (folder / file).write_bytes(before)
    if done.returncode == 4 and pytest_in(folder, seconds, "--collect-only").returncode:
        raise SystemExit(f"record again: {done.stderr[-300:]}")
    said = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if done.returncode:
        return True, said[0][:150] if said else "tests cannot be collected"
    return False, f"{len(tests)} tests pass"


def run(paths, number, seed, seconds):
    """Try random mutants, and print what became of them."""
    recorded = json.loads(RECORDED.read_text())
    files = [each for path in paths for each in ([path] if path.is_file() else sorted(path.rglob("*.py")))]
    mutants = [mutant for each in files for mutant in mutants_of(each.resolve())]
    rooms = defaultdict(Counter)
    with tempfile.TemporaryDirectory() as place:
        for name in COPIED:
            (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, Path(place, name))
        for path, node, after, source in random.Random(seed).sample(mutants, min(number, len(mutants))):
            file, line = str(path.relative_to(ROOT)), path.read_text().split("\n")[node.lineno - 1].strip()
            tests = tests_of(file, line, recorded, seconds)
            killed, why = (
                outcome_of(Path(place), file, source, tests, seconds) if tests else (False, "no test")
            )
            rooms[file.split("/")[1]][killed] += 1
            print(f"{'killed  ' if killed else 'SURVIVED'} {file}:{node.lineno}\n    {ast.unparse(node)}")
            print(f"    -> {after}\n    {why}", flush=True)
    for room, counts in sorted(rooms.items()):
        print(f"{room:20}{counts[True]:4} of {counts.total():4} killed")


def main():
    how = {"description": __doc__, "formatter_class": argparse.RawDescriptionHelpFormatter}
    parser = argparse.ArgumentParser(**how)
    parser.add_argument("action", choices=("record", "run"))
    parser.add_argument("paths", nargs="*", help="tests to record, or files and folders to make mutants of")
    parser.add_argument("--number", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=60, help="that the tests of a mutant take at most")
    asked = parser.parse_args()
    os.chdir(ROOT)
    if asked.action == "record":
        return record(asked.paths or ["tests"])
    return run(
        [Path(each) for each in asked.paths or ["permed_measures"]], asked.number, asked.seed, asked.seconds
    )


if __name__ == "__main__":
    sys.exit(main())
