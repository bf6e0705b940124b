"""A script's function runs in its own process, with its errors, threads, changes and ends."""

import os
import random
import sys
import time
import warnings
from collections import Counter
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from commands import ends_soon, is_running, run_cli, run_main

import permed_measures as pm
from permed_measures.identification.cases import cases, fresh_cases, small_case
from permed_measures.identification.elimination import TargetMeasure, call_function
from permed_measures.identification.forms import SIGNATURES
from permed_measures.identification.script import Script
from permed_measures.identification.user_function import ScriptError, error_location, error_text

FORM, CASE = SIGNATURES["query"], small_case([1, 0])
PRECISION = "    return sum(grades.get(doc, 0) >= 1 for doc in docs[:5]) / 5\n"


def written(folder, body, head="import os, sys, time\n"):
    """Write a script whose function has these lines before it returns P@5; return FILE:FUNCTION."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    (folder / "mine.py").write_text(f"{head}def f(grades, docs):\n{lines}{PRECISION}")
    return f"{folder / 'mine.py'}:f"


@pytest.mark.parametrize(
    ("raising", "kind", "text"),
    [
        ("sys.exit(3)", "SystemExit", "SystemExit: 3"),
        ("raise KeyboardInterrupt('mine')", "KeyboardInterrupt", "KeyboardInterrupt: mine"),
        ("raise type('Own', (BaseException,), {})('mine')", "Own", "script mine.Own: mine"),
        ("raise ValueError", "ValueError", "ValueError"),
    ],
)
def test_whatever_a_script_raises_is_said_with_its_line(tmp_path, raising, kind, text):
    with closing(Script(written(tmp_path, f"if len(docs) == 1:\n    {raising}"))) as script:
        with pytest.raises(ScriptError) as caught:
            script.returned(FORM, small_case([1]), "P@5")
        assert caught.value.kind == kind
        assert (error_text(caught.value), error_location(caught.value)) == (text, f"{tmp_path / 'mine.py'}:4")
        assert script.returned(FORM, CASE, "P@5").value == 0.2  # in the same process
        assert script.gave_up is None


def test_what_a_function_raises_in_this_process_is_caught_but_for_ctrl_c():
    class OwnError(BaseException):
        pass

    def raises(error):
        def function(grades, docs):  # noqa: ARG001
            raise error

        return function

    target = TargetMeasure("P@5", "P", (5,))
    for error in (OwnError("mine"), SystemExit(2), ValueError()):
        assert call_function(raises(error), FORM, CASE, target).error is error
    for interrupt in (KeyboardInterrupt, GeneratorExit):
        with pytest.raises(interrupt):
            call_function(raises(interrupt()), FORM, CASE, target)


def test_what_a_script_leaves_running_ends_with_its_process(tmp_path):
    body = "\n".join(
        [
            "import subprocess, threading",
            "threading.Thread(target=time.sleep, args=[1000]).start()",
            f"child = subprocess.Popen([{sys.executable!r}, '-c', 'import time; time.sleep(1000)'])",
            f"open({str(tmp_path / 'child')!r}, 'w').write(str(child.pid))",
        ]
    )
    began = time.monotonic()
    with closing(Script(written(tmp_path, body))) as script:
        assert script.returned(FORM, CASE, "P@5").value == 0.2
        child = int((tmp_path / "child").read_text())
        assert is_running(child)
    assert ends_soon(child)
    assert time.monotonic() - began < 30


def test_a_call_that_takes_too_long_is_ended_and_the_script_loaded_anew(tmp_path, monkeypatch):
    body = "if len(docs) == 1:\n    time.sleep(1000)"
    with closing(Script(written(tmp_path, body))) as script:
        monkeypatch.setattr("permed_measures.identification.script.TIME_LIMIT", 0.2)
        with pytest.raises(ScriptError, match=r"the script takes more than 0\.2 seconds"):
            script.returned(FORM, small_case([1]), "P@5")
        monkeypatch.undo()
        assert script.returned(FORM, CASE, "P@5").value == 0.2
        assert script.gave_up is None


def test_a_script_that_ends_its_process_again_and_again_is_asked_no_more(tmp_path):
    named = written(tmp_path, "if len(docs) == 1:\n    os._exit(5)")
    with closing(Script(named)) as script:
        for _ in range(3):
            assert script.gave_up is None
            with pytest.raises(ScriptError, match="ends its process with status 5"):
                script.returned(FORM, small_case([1]), "P@5")
        with pytest.raises(ScriptError, match="status 5, 3 times"):
            script.returned(FORM, CASE, "P@5")


def test_the_command_says_so_and_certifies_nothing(tmp_path):
    status, stdout, stderr = run_main(
        "identify", written(tmp_path, "if len(docs) % 7 == 3:\n    os._exit(5)"), "P@5"
    )
    assert (status, stdout) == (2, "")
    path = tmp_path / "mine.py"
    assert stderr.startswith(
        f"error: {path}: the script ends its process with status 5, 3 times. Name another function, "
        f"or run the whole program: identify --command 'python3 {path} {{qrels}} {{run}}'"
    )
    (tmp_path / "loads.py").write_text("import os\nos._exit(4)\n")
    status, _, stderr = run_main("identify", tmp_path / "loads.py:f", "P@5")
    assert (status, "loads.py: cannot load the script: the script ends its process with" in stderr) == (
        2,
        True,
    )


def test_what_a_script_changes_is_changed_in_its_process_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    body = "\n".join(
        [
            "is_here = os.getcwd() == os.environ['HERE']",
            "os.chdir('/'); os.environ['ZZ'] = '1'; sys.path.clear(); random.seed(1); numpy.random.seed(1)",
            "numpy.seterr(all='raise'); warnings.simplefilter('error'); sys.setrecursionlimit(300)",
            "signal.signal(signal.SIGINT, signal.SIG_IGN); sys.stdout = sys.stderr = None",
            "print('printed', file=sys.__stdout__, flush=True)",
            "return float(is_here)",
        ]
    )
    monkeypatch.setenv("HERE", str(Path.cwd()))

    def state():
        return (
            Path.cwd(),
            dict(os.environ),
            [*sys.path],
            random.getstate(),
            str(np.random.get_state()),  # noqa: NPY002
            np.geterr(),
            [*warnings.filters],
            sys.getrecursionlimit(),
            sys.stdout,
        )

    before = state()
    head = "import os, sys, random, warnings, signal, numpy, numpy.random\n"
    with closing(Script(written(tmp_path, body, head))) as script:
        assert [script.returned(FORM, CASE, "P@5").value for _ in range(2)] == [1.0, 1.0]
    assert state() == before


def test_a_script_of_torch_and_one_that_counts_its_arguments_are_told_by_their_process(tmp_path):
    (tmp_path / "torch.py").write_text("def tensor(values): return values\n")
    with closing(Script(written(tmp_path, "", "import torch\n"))) as script:
        assert script.arguments.has_tensors
        assert [each.name for each in script.arguments.parameters] == ["grades", "docs"]
    assert "torch" not in sys.modules or not str(sys.modules["torch"].__file__).startswith(str(tmp_path))


@pytest.mark.thorough
def test_a_case_that_takes_too_long_is_left_out_and_the_script_named(tmp_path, monkeypatch):
    sizes = Counter(case.size for case in cases(FORM, (5,)))
    others = {case.size for case in fresh_cases(FORM, (5,))}
    size = next(size for size, n in sizes.items() if n == 1 and size not in others)
    body = f"if len(grades) + len(docs) + 2 == {size}:\n    time.sleep(1000)"
    monkeypatch.setattr("permed_measures.identification.script.TIME_LIMIT", 3.0)
    stdout, _ = run_cli("identify", written(tmp_path, body), "P@5", "--form", "query")
    assert stdout.startswith("P@5 is P@5.\n")
    assert "  1 case: the script takes more than 3 seconds\n" in stdout


@pytest.mark.thorough
def test_an_interrupt_of_the_script_is_left_out_with_its_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "if not docs:\n    raise KeyboardInterrupt('mine')")
    stdout, _ = run_cli("identify", "mine.py:f", "P@5", "--form", "query")
    assert stdout.startswith("P@5 is P@5.\n")
    assert "KeyboardInterrupt: mine (mine.py:4)" in " ".join(stdout.split())


@pytest.mark.thorough
@pytest.mark.parametrize(("value", "measure"), [(1.0, "P@1"), (0.5, "MAP@10")])
def test_a_constant_is_no_measure_whatever_it_takes(value, measure):
    found = pm.identify(lambda q, r: value, measure)  # noqa: ARG005
    assert (found.ok, found.measure, found.names) == (False, None, [])
    assert f"the function gives {value:g} on every case, which is not evidence for a measure" in found.notes
    assert found.n_agree < found.n_cases
