"""Random mutants of the package, and whether the tests that run the mutated line notice.

    python tests/mutation.py record tests/results tests/comparisons
    python tests/mutation.py run permed_measures/results permed_measures/comparisons --number 30 --seed 1

``record`` runs tests, and notes which lines each of them runs in a file outside the repository; what was
noted of other tests stays, so that the suite can be recorded in parts. ``run`` makes mutants in a copy of the
repository, one at a time, and runs the tests of the mutated line, then other tests of its file, until one
fails or they should have taken so many `--seconds`. It prints each mutant, and how many were killed by room.
Lines are known by their text, so that files may be edited after they were recorded. What other processes run
is not seen. It needs coverage (``pip install coverage``).
"""

import argparse
import ast
import copy
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
RECORDED = Path(tempfile.gettempdir()) / "permed-measures-lines.json"
COPIED = ("permed_measures", "tests", "notebooks", "pyproject.toml", "README.md", "CHANGELOG.md")
PYTEST = ("-m", "pytest", "-q", "-x", "-o", "addopts=", "-p", "no:cacheprovider", "-p", "no:xdist")


# --- which tests run a line ------------------------------------------------------------------------------


class Recorder:
    """Notes for pytest which lines of the package each test runs, and the wider fixtures that it uses."""

    def __init__(self):
        import coverage

        self.coverage = coverage.Coverage(data_file=None, source=[str(ROOT / "permed_measures")])
        files = (ROOT / "permed_measures").rglob("*.py")  # as they are now: somebody may edit them meanwhile
        self.texts = {str(each): each.read_text(encoding="utf-8").split("\n") for each in files}
        self.tests_of = defaultdict(set)
        self.seconds = Counter()
        self.context = ""

    def switch(self, context):
        self.context = context
        self.coverage.switch_context(context)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        self.tests_of[item.nodeid].add(item.nodeid)
        for fixtures in item._fixtureinfo.name2fixturedefs.values():
            self.tests_of[str(fixtures[-1])].add(item.nodeid)
        self.switch(item.nodeid)
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef):
        before = self.context
        if (
            fixturedef.scope != "function"
        ):  # it runs for the first test, and other tests look at what it gives
            self.switch(str(fixturedef))
        try:
            return (yield)
        finally:
            self.switch(before)

    def pytest_runtest_logreport(self, report):
        self.seconds[report.nodeid] += report.duration

    def tests_by_line(self):
        """Return the tests by file and text of the line."""
        data, found = self.coverage.get_data(), {}
        for file in data.measured_files():
            lines, tests = self.texts[file], defaultdict(set)
            for number, contexts in data.contexts_by_lineno(file).items():
                for context in contexts:
                    tests[lines[number - 1].strip()] |= self.tests_of[context]
            found[str(Path(file).relative_to(ROOT))] = tests
        return found


def record(paths, file):
    """Run tests, and add the lines that they run to the file."""
    recorder = Recorder()
    recorder.coverage.start()
    status = pytest.main([*paths, *PYTEST[2:], "--maxfail=1000", "--rootdir", str(ROOT)], plugins=[recorder])
    recorder.coverage.stop()
    old = json.loads(file.read_text()) if file.exists() else {"seconds": {}, "lines": {}}
    lines = {name: {text: set(tests) for text, tests in each.items()} for name, each in old["lines"].items()}
    new = set(recorder.seconds)
    for each in lines.values():
        for tests in each.values():
            tests -= new
    for name, each in recorder.tests_by_line().items():
        for text, tests in each.items():
            lines.setdefault(name, {}).setdefault(text, set()).update(tests)
    content = {name: {text: sorted(tests) for text, tests in each.items()} for name, each in lines.items()}
    file.write_text(json.dumps({"seconds": {**old["seconds"], **recorder.seconds}, "lines": content}))
    print(f"{file}: {len(new):,} tests recorded, of {len(old['seconds'] | recorder.seconds):,}")
    return int(status)


# --- mutants ---------------------------------------------------------------------------------------------


class Mutant(NamedTuple):
    file: str
    line: int
    text: str  # of the line
    before: str
    after: str
    source: str


OPERATORS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Add: ast.Sub,
    ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
TEXTS = (ast.JoinedStr, ast.List, ast.ListComp)


def changes_of(node):
    """Yield what an expression or a statement may be changed to."""
    if isinstance(node, ast.Compare):
        for place, operator in enumerate(node.ops):
            yield _with(node, ops=[*node.ops[:place], OPERATORS[type(operator)](), *node.ops[place + 1 :]])
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        of_text = any(isinstance(each, TEXTS) or _is_text(each) for each in (node.left, node.right))
        if not of_text:
            yield _with(node, op=OPERATORS[type(node.op)]())
    elif isinstance(node, ast.BoolOp):
        yield _with(node, op=OPERATORS[type(node.op)]())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.Constant) and type(node.value) in (bool, int, float):
        yield ast.Constant(not node.value if isinstance(node.value, bool) else node.value + 1)
    elif isinstance(node, (ast.AugAssign, ast.Raise, ast.Continue, ast.Break)) or (
        isinstance(node, ast.Expr) and isinstance(node.value, (ast.Call, ast.Yield, ast.YieldFrom))
    ):
        yield ast.Pass()


def _with(node, **fields):
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def nodes_of(tree):
    """Yield the nodes that run: no annotations, no imports for types, nothing within a formatted text.

    Nor what only guards or describes: ``strict`` of zip, ``repr`` of fields.
    """
    if isinstance(tree, ast.keyword) and tree.arg in ("strict", "repr", "slots", "frozen", "eq"):
        return
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                continue
            if isinstance(node, ast.AST):
                yield node
                if not isinstance(node, ast.JoinedStr):
                    yield from nodes_of(node)


def mutants_of(path):
    """Yield each mutant of a file."""
    text = path.read_text(encoding="utf-8")
    starts = [0]
    for line in text.encode().split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    for node in nodes_of(ast.parse(text)):
        for changed in changes_of(node):
            first = starts[node.lineno - 1] + node.col_offset
            last = starts[node.end_lineno - 1] + node.end_col_offset
            before, after = ast.unparse(node), ast.unparse(ast.fix_missing_locations(changed))
            put = after if isinstance(node, ast.stmt) else f"({after})"
            source = text.encode()[:first] + put.encode() + text.encode()[last:]
            line = text.split("\n")[node.lineno - 1].strip()
            yield Mutant(str(path.relative_to(ROOT)), node.lineno, line, before, after, source.decode())


# --- the tests of a mutant -------------------------------------------------------------------------------


def tests_of(mutant, recorded, seconds):
    """Return the tests of the line, quick ones first, then others of its file, for so many seconds."""
    lines = recorded["lines"].get(mutant.file, {})
    of_line = set(lines.get(mutant.text, ()))
    others = {test for tests in lines.values() for test in tests} - of_line
    room = mutant.file.split("/")[1]

    def order(test):
        return (test not in of_line, f"/{room}/" not in test, recorded["seconds"][test])

    chosen, time_left = [], seconds
    for test in sorted(of_line | others, key=order):
        if time_left - recorded["seconds"][test] > 0 or not chosen:
            time_left -= recorded["seconds"][test]
            chosen.append(test)
    return chosen, len(of_line)


class Copy:
    """A copy of the repository, in which mutants are tested."""

    def __init__(self, folder, seconds):
        self.folder, self.seconds = folder, seconds
        self.passing, self.failing = set(), set()  # of those that once failed: on the files as they are
        for name in COPIED:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, folder / name)
            else:
                shutil.copy(ROOT / name, folder / name)

    def outcome_of(self, mutant, tests):
        """Run the tests on a mutant; return whether it is noticed, and by which."""
        file = self.folder / mutant.file
        before = file.read_text(encoding="utf-8")
        while tests := [test for test in tests if test not in self.failing]:
            file.write_text(mutant.source, encoding="utf-8")
            done = self._run(tests)
            file.write_text(before, encoding="utf-8")
            if done is None:
                return True, "takes too long"
            if done.returncode == 0:
                return False, f"{len(tests)} tests pass"
            gone = re.findall("not found: (.*)", done.stdout + done.stderr)  # since they were recorded
            if lost := [
                test for test in tests if any(each.endswith(test.partition("[")[0]) for each in gone)
            ]:
                self.failing.update(lost)
                continue
            failed = re.findall("^(?:FAILED|ERROR) (.*)", done.stdout, re.MULTILINE)
            names = [test for test in tests if any(each.startswith(test) for each in failed)]
            if not names:  # no module can be imported, or pytest cannot be run
                return done.returncode == 2, f"pytest ends with status {done.returncode}"
            test = max(names, key=len)
            if test not in self.passing:
                as_it_is = self._run([test])
                (self.failing if as_it_is is None or as_it_is.returncode else self.passing).add(test)
            if test in self.passing:
                return True, test
        return False, "no test runs it"

    def _run(self, tests):
        """Run tests; return None if they take too long."""
        names = self.folder / "chosen_tests.txt"
        names.write_text("\n".join(tests), encoding="utf-8")
        environment = os.environ | {"PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1"}
        how = {"cwd": self.folder, "env": environment, "timeout": 5 * self.seconds + 60}
        command = [sys.executable, *PYTEST, f"@{names}"]
        try:
            return subprocess.run(command, capture_output=True, text=True, check=False, **how)
        except subprocess.TimeoutExpired:
            return None


def run(paths, number, seed, seconds, file):
    """Try random mutants, and print what became of them."""
    recorded = json.loads(file.read_text())
    files = [each for path in paths for each in ([path] if path.is_file() else sorted(path.rglob("*.py")))]
    mutants = [mutant for each in files for mutant in mutants_of(each.resolve())]
    rooms = defaultdict(Counter)
    with tempfile.TemporaryDirectory() as place:
        copied = Copy(Path(place), seconds)
        for mutant in random.Random(seed).sample(mutants, min(number, len(mutants))):
            start = time.monotonic()
            tests, n_of_line = tests_of(mutant, recorded, seconds)
            is_killed, why = copied.outcome_of(mutant, tests)
            taken = f"{time.monotonic() - start:.0f} s, {n_of_line} tests of the line"
            rooms[mutant.file.split("/")[1]][is_killed] += 1
            print(f"{'killed  ' if is_killed else 'SURVIVED'} {mutant.file}:{mutant.line}", flush=True)
            print(f"    {mutant.before}\n    -> {mutant.after}\n    {taken}: {why}", flush=True)
        for test in sorted(copied.failing):
            print(f"left out, as it is gone or fails without a mutant: {test}")
    for room, counts in sorted(rooms.items()):
        print(f"{room:20}{counts[True]:4} of {counts.total():4} killed")
    return 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=("record", "run"))
    parser.add_argument("paths", nargs="*", help="tests to record, or files and folders to make mutants of")
    parser.add_argument("--number", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=60, help="that the tests of a mutant take at most")
    parser.add_argument("--file", type=Path, default=RECORDED)
    asked = parser.parse_args()
    os.chdir(ROOT)
    if asked.action == "record":
        return record(asked.paths or ["tests"], asked.file)
    paths = [Path(each) for each in asked.paths or ["permed_measures"]]
    return run(paths, asked.number, asked.seed, asked.seconds, asked.file)


if __name__ == "__main__":
    sys.exit(main())
