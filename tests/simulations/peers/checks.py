"""Other projects' tests, counted assert by assert: one that fails is written down, and its test goes on."""

import contextlib
import functools
import inspect
import sys
import traceback
import unittest
from collections import Counter
from pathlib import Path


class Checks:
    """What was checked: how many passed, and the places of those that did not."""

    def __init__(self):
        self.passed = 0
        self.failed = []
        self.depth = 0

    @contextlib.contextmanager
    def check(self):
        """Count the block as one check, unless it is part of another."""
        self.depth += 1
        try:
            yield
        except AssertionError as error:
            if self.depth > 1:
                raise
            self.fail(error)
        else:
            self.passed += self.depth == 1
        finally:
            self.depth -= 1

    def fail(self, error):
        """Write down an error: the line of the tests that it comes from, and what it says."""
        frames = [*inspect.stack()[::-1], *traceback.extract_tb(error.__traceback__)]
        paths = [(Path(frame.filename), frame.lineno) for frame in frames]
        theirs = [
            (path, line) for path, line in paths if path.parent.name == "tests" and path.name != "base.py"
        ]
        lines = [f"{path.name}:{line}" for path, line in theirs]
        place = lines[-1] if lines else "?"
        self.failed.append((place, " ".join(f"{type(error).__name__}: {error}".split())[:150]))

    def counting(self, function):
        """Return an assert method that counts."""

        @functools.wraps(function)
        def counted(*args, **kwargs):
            result = None
            with self.check():
                result = function(*args, **kwargs)
            return self.within(result) if hasattr(result, "__exit__") else result

        return counted

    @contextlib.contextmanager
    def within(self, context):
        """Count a context, such as that of assertRaises, when it is left."""
        self.passed -= self.depth == 0  # it was counted when it was made
        with self.check(), context as entered:
            self.depth -= 1  # what is checked inside counts
            try:
                yield entered
            finally:
                self.depth += 1

    def report(self):
        """Print how many passed, and each place that did not, with how often."""
        print(f"{self.passed:,} of {self.passed + len(self.failed):,} passed")
        for (place, text), times in Counter(self.failed).items():
            print(f"{place}{f' ({times} times)' if times > 1 else ''}: {text}")


def run_unittests(folder, files, top=None, also=()):
    """Run unittest files of a folder, and return their checks; an error that ends a test failed.

    What asserts is a method of TestCase, or one of `also`: pairs of a module and a name.
    """
    checks = Checks()
    methods = [(unittest.TestCase, name) for name in dir(unittest.TestCase) if name.startswith("assert")]
    for owner, name in (*methods, *also):
        setattr(owner, name, checks.counting(getattr(owner, name)))

    class Result(unittest.TestResult):
        def addError(self, test, error):  # noqa: ARG002, N802 - unittest's name
            checks.fail(error[1])

        addFailure = addError  # noqa: N815 - unittest's name

        def addSubTest(self, test, subtest, error):  # noqa: ARG002, N802 - unittest's name
            if error:
                checks.fail(error[1])

    result = Result()
    with contextlib.redirect_stdout(sys.stderr):
        for file in files:
            for test in _tests(unittest.TestLoader().discover(str(folder), file, str(top or folder))):
                if type(test).__module__.endswith((Path(file).stem, "loader")):  # not what the file imports
                    test.run(result)
    return checks


def _tests(suite):
    for each in suite:
        yield from _tests(each) if isinstance(each, unittest.TestSuite) else [each]
