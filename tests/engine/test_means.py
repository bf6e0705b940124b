"""What calc_aggregate, evaluate_by and calc return, in notebooks and as frames."""

import copy
import pickle

import polars as pl
import pytest

import permed_measures as pm

QRELS = {"a_1": {"d": 2, "e": 1}, "a_2": {"d": 1}, "b_1": {"d": 1}}
RUN = {"a_1": {"d": 1.0}, "a_2": {"d": 1.0, "x": 2.0}}
MEASURES = ["RR", "P@1", "NumRet"]


def test_means_are_a_dict_and_a_table():
    means = pm.calc_aggregate(MEASURES, QRELS, RUN)
    assert means == dict(zip(map(pm.parse_measure, MEASURES), [0.5, 1 / 3, 3], strict=True))
    assert repr(means) == repr(dict(means))
    rows = [("RR", 0.5), ("P@1", 1 / 3), ("NumRet", 3.0)]
    assert means.to_polars().rows() == rows
    assert means.to_polars().columns == ["measure", "value"]
    html = means._repr_html_()
    assert [cell in html for cell in (">P@1</th>", ">0.3333</td>", ">3</td>")] == [True] * 3


def test_means_by_group_are_a_dict_and_a_table():
    means = pm.evaluate_by({"<b>": "RR", "P@1": "P@1"}, QRELS, RUN, by="^(.)")
    assert means == {"a": {"<b>": 0.75, "P@1": 0.5}, "b": {"<b>": 0.0, "P@1": 0.0}}
    assert means.to_polars().columns == ["^(.)", "<b>", "P@1"]
    assert means.to_polars().rows() == [("a", 0.75, 0.5), ("b", 0.0, 0.0)]
    html = means._repr_html_()
    assert [text in html for text in ("&lt;b&gt;", "<b>", ">0.7500</td>")] == [True, False, True]
    assert pm.evaluate_by("RR", QRELS, RUN, by="^(.)", macro=True).to_polars()["value"].to_list() == [0.375]


def test_a_measure_that_is_named_like_a_column_of_labels_keeps_its_values():
    results = pm.calc({"query_id": "RR"}, QRELS, RUN).to_polars()
    assert results.columns == ["query_id_", "query_id"]
    assert results["query_id"].to_list() == [1.0, 0.5, 0.0]
    by_group = pm.evaluate_by({"group": "RR"}, QRELS, RUN, by=lambda query_id: query_id[0])
    assert by_group.to_polars().columns == ["group_", "group"]


def test_values_of_each_query_are_a_frame():
    results = pm.calc(["RR", "P@1"], QRELS, RUN)
    aggregated, per_query = results
    assert aggregated == pm.calc_aggregate(["RR", "P@1"], QRELS, RUN)
    assert per_query == list(pm.iter_calc(["RR", "P@1"], QRELS, RUN))
    assert repr(results) == f"<CalcResults: {aggregated}, 3 queries>"
    assert results.to_polars().columns == ["query_id", "RR", "P@1"]
    assert results.to_polars().rows() == [("a_1", 1.0, 1.0), ("a_2", 0.5, 0.0), ("b_1", 0.0, 0.0)]
    assert results.to_polars().equals(pl.from_pandas(results.to_pandas()))
    assert "<p>3 queries</p>" in results._repr_html_()


@pytest.mark.parametrize(
    ("measures", "qrels", "run"), [(MEASURES, QRELS, RUN), ([], QRELS, RUN), (["RR"], {}, {})]
)
def test_results_can_be_copied_pickled_and_shown(measures, qrels, run):
    for result in (
        pm.calc_aggregate(measures, qrels, run),
        pm.evaluate_by(measures, qrels, run, by={query_id: query_id[0] for query_id in qrels}),
        pm.calc(measures, qrels, run),
    ):
        for other in (copy.deepcopy(result), pickle.loads(pickle.dumps(result))):
            assert (repr(other), type(other)) == (repr(result), type(result))
            assert other._repr_html_() == result._repr_html_()
            assert other.to_polars().equals(result.to_polars())
