"""What holds of every measure and of every result, whatever it is about.

A new measure or class of results is one of them, or a test fails.
"""

import csv
import inspect
import io
import json
import pickle
import pkgutil
import random
import re
from functools import cache
from importlib import import_module

import numpy as np
import polars as pl
import pytest
from cases import PARAMETERS, random_measure
from effort import effort
from hypothesis import given, reject, settings
from strategies import CASES, RANDOMS

import permed_measures as pm
from permed_measures.crosschecks import CrossChecks
from permed_measures.datasets.sample.script import mean_ap
from permed_measures.engine.evaluator import PermedEvaluator
from permed_measures.identification.identify import IdentifiedMeasures
from permed_measures.measures.specs import SPECS
from permed_measures.provenance import provenance
from permed_measures.results.collections import CollectionMeans
from permed_measures.results.evaluations import Evaluations
from permed_measures.results.report import FORMATS, Result

# --- measures ------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::permed_measures.PermedWarning")
@pytest.mark.parametrize("name", PARAMETERS)
@settings(max_examples=effort(4, 15))
@given(rng=RANDOMS, case=CASES)
def test_every_measure_is_written_read_and_said_and_has_one_value_in_any_order(name, rng, case):
    measure, (qrels, run) = random_measure(rng, name), case
    try:
        value = pm.calc_aggregate([measure], qrels, run)[measure]
    except pm.MeasureError:  # of labels that it does not take
        reject()
    assert pm.parse_measure(str(measure)) == measure
    [said] = provenance([measure])["measures"]
    assert pm.parse_measure(said["measure"]) == measure
    assert measure.params.items() <= said["parameters"].items()
    again = pm.calc_aggregate([measure], turned(qrels), turned(run))[measure]
    assert again == pytest.approx(value, abs=1e-12, nan_ok=True)


def turned(nested):
    """Return the queries, and the documents of each, from the last to the first."""
    return {q: dict(reversed(docs.items())) for q, docs in reversed(nested.items())}


def test_every_measure_is_tried():
    assert {*PARAMETERS} == {*SPECS}


# --- results -------------------------------------------------------------------------------------------

QUERIES = [f"c{i // 3}_{i % 3 + 1}" for i in range(12)]
QRELS = {q: {f"d{j}": (j % 3 == 0) + (j == 3 * i % 9) for j in range(7)} for i, q in enumerate(QUERIES)}
ASKED = ["nDCG@5", "P@1", "GradedAP@5"]


def run_of(seed, better):
    """Return a run of all queries without ties, in which every third document has so much more."""
    rng = random.Random(seed)
    return {q: {f"d{j}": rng.random() + better * (j % 3 == 0) for j in range(8)} for q in QUERIES}


RUNS = {"low": run_of(1, -0.6), "high": run_of(2, 0.9), "middle": run_of(3, 0.2)}


@cache
def claimed(run):
    """Return what a paper would print of a run; one number is nobody's."""
    values = pm.calc_aggregate(["AP@5", "P@1"], QRELS, RUNS[run])
    return {**{str(measure): f"{value:.4f}" for measure, value in values.items()}, "R@5": "0.1234"}


def collections_of(qrels, runs):
    """Return the means on the first two conversations and on the others."""
    measures, found = [pm.parse_measure(each) for each in ASKED], {}
    for name, some in (("first", QUERIES[:6]), ("second", QUERIES[6:])):
        evaluator = PermedEvaluator(measures, {q: docs for q, docs in qrels.items() if q in some})
        found[name] = Evaluations(measures, {run: evaluator.evaluate(runs[run]) for run in runs})
    return CollectionMeans(found)


def rows_by(result, *fields):
    """Return some fields of the rows of a result, in one order."""
    return sorted(repr([row[each] for each in fields]) for row in result.to_polars().to_dicts())


def better(result):
    """Return which run is significantly above which, by each measure."""
    return sorted(
        (str(row.measure), *((row.run, row.baseline) if row.difference > 0 else (row.baseline, row.run)))
        for row in result.rows
        if row.tests["randomization"].adjusted < 0.05
    )


MADE = {
    "Audit": (
        lambda qrels, runs, claims: pm.audit(qrels, runs, claims),
        lambda result: (result.verdict, rows_by(result, "run", "claim", "status", "convention")),
    ),
    "Possible": (
        lambda qrels, _, claims: pm.possible(qrels, claims),
        lambda result: (result.ok, rows_by(result, "row", "claim", "measure", "convention_possible")),
    ),
    "Comparison": (lambda qrels, runs, _: pm.compare(qrels, runs, ASKED, resamples=999), better),
    "Leaderboard": (
        lambda qrels, runs, _: pm.leaderboard(qrels, runs, ASKED, resamples=999),
        lambda result: [(each.rank, each.run, each.ranks) for each in result.entries],
    ),
    "CrossCheck": (
        lambda qrels, runs, _: pm.crosscheck(qrels, runs["low"], ASKED),
        lambda result: [(str(row.measure), row.verdict) for row in result.rows],
    ),
    "CrossChecks": (
        lambda qrels, runs, _: CrossChecks({name: pm.crosscheck(qrels, runs[name], ASKED) for name in runs}),
        lambda result: [
            (name, str(row.measure), row.verdict)
            for name in sorted(result.checks)
            for row in result.checks[name].rows
        ],
    ),
    "Gate": (
        lambda qrels, runs, _: pm.gate(
            qrels, runs["low"], {"P@1": 0.1}, runs["high"], {"nDCG@5": 0.01}, significant=True
        ),
        lambda result: [(rule.measure, rule.outcome) for rule in result.rules],
    ),
    "Evaluated": (
        lambda qrels, runs, _: pm.evaluate(qrels, runs, ASKED),
        lambda result: rows_by(result, "run", *ASKED),
    ),
    "Reranking": (
        lambda qrels, runs, _: pm.reranking(qrels, runs["low"], runs["high"], "nDCG@5"),
        lambda result: json.loads(result.to("json")),
    ),
    "Uncertainty": (
        lambda qrels, runs, _: pm.uncertainty(qrels, runs, ASKED),
        lambda result: rows_by(result, "run", "measure"),
    ),
    "Verification": (
        lambda qrels, runs, _: pm.verify(pm.record(QRELS, RUNS, ASKED), qrels, runs),
        lambda result: result.ok,
    ),
    "CollectionMeans": (
        lambda qrels, runs, _: collections_of(qrels, runs),
        lambda result: rows_by(result, "run", "collection"),
    ),
    "Identified": (
        lambda *_: pm.identify(mean_ap, "MAP@10"),
        lambda result: (result.ok, result.measure),
    ),
    "IdentifiedMeasures": (
        lambda *_: IdentifiedMeasures([pm.identify(mean_ap, "MAP@10")]),
        lambda result: [(each.ok, each.measure) for each in result.results],
    ),
}
"""How each class of results is made of qrels, runs and claims, and its verdict."""
SLOW = ("Identified", "IdentifiedMeasures")
NAMES = [name for name in MADE if name not in SLOW or effort(False, True)]


@cache
def result_of(name):
    return MADE[name][0](QRELS, RUNS, {run: claimed(run) for run in RUNS})


def test_every_class_of_results_is_tried():
    for module in pkgutil.walk_packages(pm.__path__, "permed_measures."):
        if not re.search("__main__|spark|pyterrier", module.name):
            import_module(module.name)
    found, known = {*Result.__subclasses__()}, set()
    while found != known:
        known, found = found, found | {each for kind in found for each in kind.__subclasses__()}
    found = {each for each in found if not inspect.isabstract(each)}
    assert {each.__name__ for each in found if each.__module__.startswith("permed_measures.")} == {*MADE}


def lines_of(result, form):
    return list(csv.reader(io.StringIO(result.to(form)), delimiter="," if form == "csv" else "\t"))


@pytest.mark.parametrize("name", NAMES)
def test_every_result_is_written_in_every_format(name):
    result = result_of(name)
    rows = result.report().records()
    head, *lines = lines_of(result, "csv")
    assert lines_of(result, "tsv") == [head, *lines]
    assert (len(lines), {len(line) for line in lines}) == (len(rows), {len(head)})
    assert head == list(rows[0])
    assert result.to_polars().columns == head
    written = [json.loads(line) for line in result.to("jsonl").splitlines()]
    assert [list(each) for each in written] == [head] * len(rows)
    for row, line in zip(rows, lines, strict=True):
        for value, text in zip(row.values(), line, strict=True):
            if isinstance(value, float):
                assert float(text) == value
    assert str(result) == result.to("table").rstrip("\n")
    tables = [table for section in result.report().text_sections for table in section.tables]
    assert len(re.findall(r"(?m)^\|[-: |]+\|$", result.to("markdown"))) == len(tables)
    latex = result.to("latex")
    assert latex.count(r"\begin{tabular") == latex.count(r"\end{tabular") >= len(tables)
    labels = re.findall(r"\\label\{.*?\}", latex)
    assert len({*labels}) == len(labels) >= len(tables)
    assert "<h1" in result.to("html")
    assert {*FORMATS} == {"table", "markdown", "latex", "html", "csv", "tsv", "json", "jsonl"}


@pytest.mark.parametrize("name", NAMES)
def test_every_result_can_go_to_another_process(name):
    result = result_of(name)
    again = pickle.loads(pickle.dumps(result))
    for form in FORMATS:
        assert again.to(form) == result.to(form)


def test_what_is_of_a_data_set_or_of_frames_can_go_to_another_process():
    runs = {name: f"permed-sample/runs/{name}" for name in ("bm25", "lsa")}
    compared = pm.compare("permed-sample", runs, "RR", resamples=9)
    frame = pl.DataFrame(
        [(q, d, s) for q, docs in pm.read_run("permed-sample/runs/lsa").items() for d, s in docs.items()],
        ["query_id", "doc_id", "score"],
        orient="row",
    )
    board = pm.leaderboard("permed-sample", runs, "RR", resamples=9)
    for result in (compared, board, pm.audit("permed-sample", frame, {"RR": 0.9})):
        assert pickle.loads(pickle.dumps(result)).to("html") == result.to("html")


@pytest.mark.parametrize("name", NAMES)
def test_what_is_marked_in_a_table_has_the_highest_value(name):
    for section in result_of(name).report().sections:
        for column in (
            column for table in section.tables for rows in table.blocks for column in zip(*rows, strict=True)
        ):
            marked = [cell for cell in column if cell.rank]
            others = [cell.value for cell in column if not cell.rank and cell.value is not None]
            in_order = sorted(marked, key=lambda cell: (-cell.value, cell.rank))
            assert [cell.rank for cell in in_order] == sorted(cell.rank for cell in marked)
            assert not marked or max(others, default=-1) < in_order[-1].value


@pytest.mark.parametrize("name", NAMES)
def test_the_json_of_every_result_says_what_was_done(name):
    content = json.loads(result_of(name).to("json"), parse_constant=pytest.fail)
    about = (content[0] if isinstance(content, list) else content)["provenance"]
    assert about["versions"]["permed-measures"] == pm.__version__
    assert about["conventions"]
    for each in about["measures"]:
        assert pm.parse_measure(each["measure"])


def test_whole_numbers_may_be_those_of_numpy():
    two = {"low": RUNS["low"], "high": RUNS["high"]}
    for function, how in (
        (pm.compare, {"resamples": 9, "seed": 3}),
        (pm.leaderboard, {"resamples": 9, "seed": 3}),
        (pm.uncertainty, {"draws": 3, "seed": 3, "label_error": 0.1}),
    ):
        expected = function(QRELS, two, "P@1", **how).to("json")
        integers = {key: np.int64(value) if isinstance(value, int) else value for key, value in how.items()}
        assert function(QRELS, two, "P@1", **integers).to("json") == expected
    found = pm.reranking(QRELS, *two.values(), top=np.int64(2))
    assert found.to("json") == pm.reranking(QRELS, *two.values(), top=2).to("json")


@pytest.mark.parametrize("name", [name for name in NAMES if name != "Identified"])  # which is given nothing
def test_no_verdict_depends_on_the_order_of_claims_runs_or_queries(name):
    make, verdict = MADE[name]
    rows = {run: claimed(run) for run in RUNS}
    other = turned(QRELS), {run: turned(RUNS[run]) for run in reversed(RUNS)}, turned(rows)
    expected = verdict(result_of(name))
    assert expected
    for qrels, runs, claims in effort([other], [(other[0], RUNS, rows), (QRELS, other[1], rows), other]):
        assert verdict(make(qrels, runs, claims)) == expected
