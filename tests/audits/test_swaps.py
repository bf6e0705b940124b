"""Columns and rows that are swapped, and numbers that another measure has without any change."""

import pytest

import permed_measures as pm
from permed_measures.datasets import SAMPLES

QRELS = pm.read_qrels(SAMPLES[0].qrels)
RUNS = {name: pm.read_run(run) for name, run in SAMPLES[0].runs.items()}
MEASURES = {"nDCG@10": "nDCG@10", "MAP@10": "AP@10", "R@20": "R@20"}


@pytest.fixture
def table():
    values = {name: pm.calc_aggregate(list(MEASURES.values()), QRELS, run) for name, run in RUNS.items()}
    return {
        name: {title: f"{value:.4f}" for title, value in zip(MEASURES, row.values(), strict=True)}
        for name, row in values.items()
    }


def test_swapped_columns_are_exchanged_before_anything_is_called_certain(table):
    for row in table.values():
        row["MAP@10"], row["R@20"] = row["R@20"], row["MAP@10"]
    result = pm.audit(QRELS, RUNS, table)
    assert not result.ok
    assert result.swap == "the columns MAP@10 and R@20 are swapped"
    text = " ".join(str(result).split())
    assert text.startswith(
        "It seems that the columns MAP@10 and R@20 are swapped. Once they are exchanged: "
        "Certain: nDCG@10 with linear gains, log2 discount, ideal from the qrels; AP@10 "
    )
    assert result.to_polars().row(1, named=True)["published"] == table["bm25"]["R@20"]
    assert result.report().data()["swap"] == result.swap


def test_swapped_rows_are_exchanged(table):
    first, second, *_ = table
    table[first], table[second] = table[second], table[first]
    result = pm.audit(QRELS, RUNS, table)
    assert result.swap == f"the rows {first} and {second} are swapped"
    assert not result.ok
    assert result.best[0].complete


def test_rows_are_swapped_beside_two_with_the_same_numbers(table):
    first, second, third = table
    rows = {"copy": table[first], first: table[first], second: table[third], third: table[second]}
    result = pm.audit(QRELS, {"copy": RUNS[first], **RUNS}, rows)
    assert result.swap == f"the rows {second} and {third} are swapped"


def test_a_column_that_is_printed_twice_is_not_swapped(table):
    for row in table.values():
        row["MAP@10"] = row["R@20"]
    assert pm.audit(QRELS, RUNS, table).swap == ""


def test_nothing_is_swapped_in_a_true_table_or_one_with_a_single_wrong_number(table):
    assert pm.audit(QRELS, RUNS, table).swap == ""
    table["bm25"]["MAP@10"] = table["bm25"]["R@20"]
    result = pm.audit(QRELS, RUNS, table)
    assert (result.ok, result.swap) == (False, "")
    assert "It seems that" not in str(result)


def test_a_column_that_another_measure_explains_without_any_change_is_not_certain():
    """P@10 over min(R, k) of unjudged documents removed is here what R@20 is."""
    qrels = {f"q{i}": {"a": 1, **({"b": 1} if i % 3 else {})} for i in range(60)}
    runs = {
        name: {f"q{i}": {f"x{j}": 99 - j for j in range(12)} | {"a": 50 - i % 7} for i in range(0, 60, step)}
        for name, step in (("one", 2), ("two", 3), ("three", 1))
    }
    values = {name: pm.calc_aggregate([pm.parse_measure("R@20")], qrels, run) for name, run in runs.items()}
    column = {name: {"P@10": f"{value.popitem()[1]:.4f}"} for name, value in values.items()}
    result = pm.audit(qrels, runs, column)
    assert result.best[0].complete
    assert result.best[0].changes
    assert result.verdict != "certain"
    assert "R@20" in result.other_names["P@10"]
    assert "But P@10 has the numbers of " in str(result)
    named = {name: {"R@20": row["P@10"]} for name, row in column.items()}
    assert pm.audit(qrels, runs, named).other_names == {}
