"""Warnings belong to the call: nothing that the whole process shares is changed for them."""

import random
import re
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from decimal import localcontext
from pathlib import Path
from threading import Barrier
from types import SimpleNamespace

import ir_measures
import pytest
from commands import STRICT, run_python
from effort import effort

import permed_measures as pm
from permed_measures.errors import (
    PermedWarning,
    did_you_mean,
    short_repr,
    warn,
    warnings_about,
    warnings_shown_by,
)

FOLDER = Path(pm.__file__).parent
QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}}
RUNS = {"one": {"q1": {"a": 1.0, "b": 1.0}, "q2": {"x": 1.0}}, "other": {"q1": {"b": 2.0}, "q2": {"c": 1.0}}}


def test_nothing_of_the_package_touches_the_filters_of_the_process():
    touching = re.compile(r"catch_warnings|simplefilter|filterwarnings|showwarning")
    assert not [path for path in FOLDER.rglob("*.py") if touching.search(path.read_text())]


def test_a_strict_python_ignores_bad_escapes_of_other_packages_and_no_other_warning():
    """Python warns of them when it compiles a file: in a new environment, or where it writes no bytecode."""
    code = f"""{STRICT}
def outcome(call, *arguments):
    try:
        call(*arguments)
        return "nothing"
    except (SyntaxError, Warning) as error:
        return type(error).__name__

escape = chr(39) + chr(92) + "_" + chr(39)
for package in ("cwl", "ranx", "permed_measures"):
    print(outcome(compile, escape, f"/site-packages/{{package}}/a.py", "exec"))
print(outcome(compile, escape, "<string>", "exec"))
for category in (UserWarning, DeprecationWarning, SyntaxWarning):
    print(outcome(warnings.warn, "a warning", category))
"""
    printed = run_python(code).split()
    assert printed[:4] == ["nothing", "nothing", "SyntaxError", "SyntaxError"]
    assert printed[4:] == ["UserWarning", "DeprecationWarning", "SyntaxWarning"]


@pytest.mark.parametrize(
    "work",
    [
        lambda: pm.compare(QRELS, RUNS, ["P@1", "RR"]),
        lambda: pm.crosscheck(QRELS, RUNS["one"], ["P@1"]),
        lambda: pm.uncertainty(QRELS, RUNS, ["P@1", "GradedAP"]),
    ],
)
def test_threads_leave_filters_and_showwarning_as_they_were(work):
    work()  # scipy adds a filter when it is imported
    before = list(warnings.filters), warnings.showwarning, warnings._showwarnmsg_impl
    start = Barrier(3)

    def together():
        start.wait()
        for _ in range(5):
            work()

    with ThreadPoolExecutor(3) as pool:
        for done in [pool.submit(together) for _ in range(3)]:
            done.result()
    assert (list(warnings.filters), warnings.showwarning, warnings._showwarnmsg_impl) == before


def test_each_thread_names_its_own_run():
    both_inside = Barrier(2)

    def told(name):
        found = []
        with warnings_shown_by(found.append), warnings_about(name):
            both_inside.wait()
            warn("it is empty")
            both_inside.wait()
        return list(map(str, found))

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(told, ["a", "b"])) == [["run 'a': it is empty"], ["run 'b': it is empty"]]


def test_silence_holds_for_what_is_named_inside_it_and_ends_with_the_block():
    with warnings_about(None), warnings_about("a"):
        warn("it is empty")
    with pytest.warns(PermedWarning, match=r"^it is empty$"):
        warn("it is empty")
    found = []
    with warnings_shown_by(found.append):
        warn("it is full")
    assert list(map(str, found)) == ["it is full"]
    with warnings_about("a"), pytest.warns(PermedWarning, match=r"^a\.run: it is empty$") as caught:
        warn("a.run: it is empty", path="a.run")
    assert caught[0].message.where == "a.run"


def test_a_warning_is_of_the_user_s_line_also_beside_the_folder_of_the_package():
    script = f"{FOLDER}_of_mine/script.py"
    with pytest.warns(pm.NoSharedQueryWarning) as caught:
        exec(
            compile("pm.calc_aggregate('RR', {'q': {'a': 1}}, {'x': {'a': 1.0}})", script, "exec"), {"pm": pm}
        )
    assert [each.filename for each in caught] == [script]


@pytest.mark.parametrize("function", ["calc_aggregate", "iter_calc"])
def test_a_warning_through_ir_measures_is_of_the_user_s_line_too(function):
    script = "/somewhere/script.py"
    code = f"list(ir_measures.{function}([pm.GradedAP], {{'q': {{'a': 1}}}}, {{'x': {{'a': 1.0}}}}))"
    with pytest.warns(pm.NoSharedQueryWarning) as caught:
        exec(compile(f"\n\n{code}", script, "exec"), {"pm": pm, "ir_measures": ir_measures})
    assert [(each.filename, each.lineno) for each in caught] == [(script, 3)]


def test_a_choice_that_is_no_string_is_an_error_of_ours():
    with pytest.raises(pm.InputError, match=r"^form must be one of table, .*\(found \['table'\]\)"):
        pm.crosscheck(QRELS, RUNS["one"], ["P@1"]).to(["table"])


def test_python_warns_of_no_text_that_is_parsed():
    parts = ["1", "0x", "10", "2.5", "e", "_", "and", "or", "in", "is", "if", "else", "for", "not", "\\d"]
    parts += ["P", "@", "(", ")", "=", "'", ",", " ", "nDCG", "10", "rel"]
    rng, refused = random.Random(1), 0
    for _ in range(effort(2_000, 20_000)):
        text = "".join(rng.choices(parts, k=rng.randint(1, 6)))
        try:
            pm.parse_measure(text)  # a warning is an error in these tests
        except pm.MeasureError:
            refused += 1
    assert refused > effort(100, 1_000)
    with pytest.raises(pm.MeasureError, match="a measure is written"):
        pm.parse_measure("P(rel=10and 1)@5")


def test_values_of_80_characters_are_shown_whole():
    assert (short_repr("x" * 78), len(short_repr("x" * 79))) == (repr("x" * 78), 80)
    assert short_repr("x" * 79).endswith("x…")


def test_the_option_that_is_most_alike_is_meant():
    assert did_you_mean("GradedPA", ["Graded", "GradedAP", "GradedB"]) == "Did you mean 'GradedAP'?"
    assert did_you_mean("abcd", ["abxy"]) == "Did you mean 'abxy'?"
    assert did_you_mean("abcd", ["axyz"]) == ""


def test_without_pandas_an_error_says_what_to_take(monkeypatch):
    found = pm.crosscheck(QRELS, RUNS["one"], ["P@1"])
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(pm.InputError, match=r"^pandas is not installed\. pip install pandas, or take to_pol"):
        found.to_pandas()


def test_values_by_query_need_a_pyspark_frame_and_columns_of_their_own(monkeypatch):
    """A dict stands for the frame, so that no session is needed."""
    with pytest.raises(pm.InputError, match=r"^expected a PySpark frame \(found dict \{'q1'"):
        pm.spark.evaluate("AP", QRELS, RUNS["one"])
    monkeypatch.setattr(pm.spark, "is_spark_frame", lambda _: True)
    run = type("Frame", (dict,), {"sparkSession": SimpleNamespace(createDataFrame=lambda table: table)})
    table = pm.spark.evaluate({"AP": "AP", "Hit": "P@1"}, QRELS, run(RUNS["other"]))
    assert table.to_pydict() == {"query_id": ["q1", "q2"], "AP": [0.0, 1.0], "Hit": [0.0, 1.0]}
    with pytest.raises(pm.PermedError, match="query_id"):
        pm.spark.evaluate({"query_id": "AP"}, QRELS, run(RUNS["other"]))


def test_the_context_of_decimals_of_the_process_changes_no_answer():
    def answers():
        claims = {"MAP@10": "0.12345", "P@1": "50.000%", "RR": 0.583333333}
        made = pm.audit(QRELS, RUNS["one"], claims), pm.possible(QRELS, claims)
        return [*map(str, made), pm.gate(QRELS, RUNS["one"], {"RR": 0.61997, "NumRet": 1234567.0}).to("csv")]

    expected = answers()
    with localcontext(prec=3):
        assert answers() == expected
