"""The same rows give the same result, error or warning, in whatever form they come."""

import warnings

import ir_measures
import pandas as pd
import polars as pl
import pytest
from cases import rows_of

import permed_measures as pm
from permed_measures.inputs.recognition import recognised
from permed_measures.inputs.scan import text_run
from permed_measures.inputs.sources import Source

NAMES = ["query_id", "doc_id", "score"]


def polars(rows):
    return pl.DataFrame([list(row) for row in rows], schema=NAMES, orient="row")


def trec(rows, folder):
    (folder / "run").write_text("".join(f"{query} Q0 {doc} 0 {score} x\n" for query, doc, score in rows))
    return folder / "run"


def parquet(rows, folder):
    polars(rows).write_parquet(folder / "run")
    return folder / "run"


def duckdb(rows, _):
    # Of the module's own connection, which stays open: the lowest version closes another with its last name.
    return pytest.importorskip("duckdb").from_arrow(polars(rows).to_arrow()).project("*")


FORMS = {
    "namedtuples": lambda rows, _: [ir_measures.ScoredDoc(*row) for row in rows],
    "pandas": lambda rows, _: pd.DataFrame(rows, columns=NAMES),
    "polars": lambda rows, _: polars(rows),
    "lazy": lambda rows, _: polars(rows).lazy(),
    "pyarrow": lambda rows, _: polars(rows).to_arrow(),
    "duckdb": duckdb,
    "TREC file": trec,
    "Parquet file": parquet,
    "large TREC file": lambda *given: text_run(recognised(Source(trec(*given)), "run")),
    "list of frames": lambda rows, _: [polars(rows[:2]), polars(rows[2:])],
    "iterator of frames": lambda rows, _: (polars([row]) for row in rows),
    "frames of pandas": lambda rows, _: [pd.DataFrame([row], columns=NAMES) for row in rows],
}
ROWS = [("q1", "a", 3.0), ("q2", "c", 1.5), ("q1", "x", 2.5), ("q2", "y", 1.5), ("q1", "b", 2.0)]
QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2, "d": 1}}
MEASURES = ["RR", "AP", "NumRet", "Coverage@10"]
CASES = {
    "right": (ROWS, QRELS, ""),
    "no query shared": (
        [("t_1", "a", 1.0), ("t_2", "b", 2.0)],
        QRELS,
        "the run and the qrels share no query",
    ),
    "no document judged": ([("q1", "x", 1.0), ("q2", "y", 2.0)], QRELS, "no retrieved document is judged"),
    "swapped": (
        rows_of(QRELS),
        {"q1": {"a": 1.25, "b": 0.25}, "q2": {"c": 2.25, "d": 1.25}, "q3": {"e": 1.5}},
        "the qrels look like a run, and the run looks like qrels. The qrels come first, then the run",
    ),
}


def evaluated(qrels, run):
    """Return the metrics, and the warnings without the file that they name."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        metrics = list(pm.iter_calc(MEASURES, qrels, run))
    return metrics, [str(each.message).rpartition("/run: ")[2] for each in caught]


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("case", CASES)
def test_values_and_warnings_are_those_of_the_dict(form, case, tmp_path):
    rows, qrels, warning = CASES[case]
    run = {}
    for query_id, doc_id, score in rows:
        run.setdefault(query_id, {})[doc_id] = score
    found = evaluated(qrels, form(rows, tmp_path))
    if case == "swapped":  # a file warns of an order that its scores contradict too
        found = found[0], [each for each in found[1] if "look" in each]
    assert found == evaluated(qrels, run)
    assert [each.startswith(warning) for each in found[1]] == [True] * bool(warning)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize(("twice", "score"), [("a", 3.0), ("x", 1.0)], ids=["judged", "unjudged"])
def test_a_document_that_is_listed_twice_is_refused(form, twice, score, tmp_path):
    with pytest.raises(pm.InputError, match=f"{twice}.*listed twice|listed twice.*{twice}"):
        pm.calc_aggregate(MEASURES, QRELS, form([*ROWS, ("q1", twice, score)], tmp_path))
