"""The same rows give the same result, error or warning, in whatever form they come."""

import warnings

import ir_measures
import pandas as pd
import polars as pl
import pytest

import permed_measures as pm

NAMES = ("query_id", "doc_id", "score")


def polars(rows):
    return pl.DataFrame([list(row) for row in rows], schema=list(NAMES), orient="row")


def written(write):
    """Return a form that is the path of a file."""

    def form(rows, folder):
        path = folder / "run"
        write(rows, path)
        return path

    return form


def trec(rows, path):
    path.write_text("".join(f"{query} Q0 {doc} 0 {score} x\n" for query, doc, score in rows))


def parquet(rows, path):
    polars(rows).write_parquet(path)


def duckdb(rows, _):
    # Of the module's own connection, which stays open: the lowest version closes another with its last name.
    return pytest.importorskip("duckdb").from_arrow(polars(rows).to_arrow()).project("*")


FORMS = {
    "namedtuples": lambda rows, _: [ir_measures.ScoredDoc(*row) for row in rows],
    "pandas": lambda rows, _: pd.DataFrame(rows, columns=list(NAMES)),
    "polars": lambda rows, _: polars(rows),
    "lazy": lambda rows, _: polars(rows).lazy(),
    "pyarrow": lambda rows, _: polars(rows).to_arrow(),
    "duckdb": duckdb,
    "TREC file": written(trec),
    "Parquet file": written(parquet),
    "scan of TREC": lambda *given: pm.scan_run(written(trec)(*given)),
    "scan of Parquet": lambda *given: pm.scan_run(written(parquet)(*given)),
    "list of frames": lambda rows, _: [polars(rows[:2]), polars(rows[2:])],
    "iterator of frames": lambda rows, _: (polars([row]) for row in rows),
    "frames of pandas": lambda rows, _: [pd.DataFrame([row], columns=list(NAMES)) for row in rows],
}
ROWS = [("q1", "a", 3.0), ("q2", "c", 1.5), ("q1", "x", 2.5), ("q2", "y", 1.5), ("q1", "b", 2.0)]
QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2, "d": 1}}
MEASURES = ["RR", "AP", "NumRet", "Coverage@10"]


def evaluated(qrels, run):
    """Return the metrics, and the warnings without the file that they name."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        metrics = list(pm.iter_calc(MEASURES, qrels, run))
    return metrics, [str(each.message).rpartition("/run: ")[2] for each in caught]


def nested(rows):
    run = {}
    for query_id, doc_id, score in rows:
        run.setdefault(query_id, {})[doc_id] = score
    return run


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_values_are_those_of_the_dict(form, tmp_path):
    assert evaluated(QRELS, form(ROWS, tmp_path)) == evaluated(QRELS, nested(ROWS))


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("twice", ["a", "x"], ids=["judged", "unjudged"])
@pytest.mark.parametrize("score", [3.0, 1.0])
def test_a_document_that_is_listed_twice_is_refused(form, twice, score, tmp_path):
    with pytest.raises(pm.InputError, match=f"{twice}.*listed twice|listed twice.*{twice}"):
        pm.calc_aggregate(MEASURES, QRELS, form([*ROWS, ("q1", twice, score)], tmp_path))


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_grades_where_scores_should_be_are_warned_about(form, tmp_path):
    scores = {
        query_id: {doc_id: value + 0.25 for doc_id, value in docs.items()} for query_id, docs in QRELS.items()
    }
    rows = [
        (query_id, doc_id, float(grade)) for query_id, docs in QRELS.items() for doc_id, grade in docs.items()
    ]
    found = evaluated({**scores, "q3": {"e": 1.5}}, form(rows, tmp_path))[1]
    swapped = "the qrels look like a run, and the run looks like qrels. The qrels come first, then the run"
    assert [each for each in found if "look" in each] == [swapped]
    assert not any("look" in each for each in evaluated(QRELS, form(rows, tmp_path))[1])


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize(
    "rows",
    [[("t_1", "a", 1.0), ("t_2", "b", 2.0)], [("q1", "x", 1.0), ("q2", "y", 2.0)]],
    ids=["queries", "documents"],
)
def test_ids_that_do_not_meet_are_warned_about(form, rows, tmp_path):
    found = evaluated(QRELS, form(rows, tmp_path))
    assert found == evaluated(QRELS, nested(rows))
    assert len(found[1]) == 1
