"""The report of an audit for a terminal, a notebook and other programs."""

import pytest
from audit_helpers import AP, HALF, binary, row_made
from audit_loops import Plain

import permed_measures as pm


@pytest.fixture(scope="module")
def mixed():
    """Audit a table with a row that was computed differently and a number that nothing explains."""
    qrels, runs = binary()
    table = {
        "first": row_made(Plain(qrels, runs["first"]), AP),
        "second": row_made(Plain(qrels, runs["second"]), HALF),
        "third": {"P@10": "0.98765"},
    }
    return pm.audit(qrels, {**runs, "third": runs["first"]}, table)


def test_a_frame_has_a_row_for_each_claim(mixed):
    frame = mixed.to_polars()
    assert frame.columns == [
        *("run", "claim", "published", "status", "value", "printed"),
        *("measure", "convention", "changes"),
    ]
    explained, different = "explained", "made differently"
    assert frame["status"].to_list() == [*[explained] * 3, different, explained, explained, "unexplained"]
    assert frame["convention"].to_list() == [*["ir_measures"] * 6, None]
    assert frame["changes"].to_list()[:3] == [""] * 3
    assert frame["changes"][3] == "weights of AP: its grade over 2 (not: 1 for each relevant document)"
    for row in frame.to_dicts()[:6]:
        assert row["printed"] == row["published"]
        assert row["value"] == pytest.approx(float(row["published"]), abs=1e-4)
    qrels, runs = binary()
    [value] = pm.calc_aggregate([frame["measure"][3]], qrels, runs["second"]).values()
    assert frame["value"][3] == pytest.approx(value)
    [(trial, convention)] = mixed.nearest.items()
    assert convention is mixed.best[0].convention  # that of the other claims
    assert frame["value"][6] == trial.value(convention)
    pytest.importorskip("pandas")
    assert mixed.to_pandas().to_dict("records")[:6] == frame.to_dicts()[:6]


def test_a_claim_that_nothing_explains_has_no_measure_in_the_table(mixed):
    [table] = next(each for each in mixed.report().sections if each.tables).tables
    shown = [[cell.text for cell in row] for row in table.rows]
    assert shown[3] == ["second", "MAP@10", "GradedAP@10", *[mixed.to_polars()["published"][3]] * 2]
    assert shown[6] == ["third", "P@10", "no convention", "0.98765", mixed.to_polars()["printed"][6]]


@pytest.mark.parametrize(
    ("value", "found"),
    [(0.5, "ir_measures explains 1 of 1 claim"), (0.9, "nothing explains any of 1 claim")],
)
def test_the_repr_is_one_line(value, found):
    result = pm.audit({"q": {"a": 1, "b": 0}}, {"q": {"b": 2.0, "a": 1.0}}, {"MAP@10": value})
    assert repr(result) == f"<Audit: {found}>"


def test_a_page_says_how_claims_were_made_if_anything_explains_them(mixed):
    how = mixed.report().provenance()
    equal = [each for each in how["conventions"] if each.startswith("equally good: ")]
    assert len(equal) == len(mixed.best) - 1 > 0
    assert "weights of AP: 1 for each relevant document" in how["conventions"]
    assert not any(each.startswith("query set of") for each in how["conventions"])
    nothing = pm.audit({"q": {"a": 1}}, {"q": {"a": 1.0}}, {"P@1": "0.9"}).report().provenance()
    assert not any(
        "equally good" in each or "averaged over" in each for each in nothing.get("conventions", [])
    )


def test_without_queries_there_is_nothing_to_audit():
    with pytest.raises(pm.InputError, match="the qrels have no query"):
        pm.audit({}, {"q": {"a": 1.0}}, {"MAP@10": "0.5"})


def test_a_cutoff_below_the_end_of_the_lists_is_said_and_no_other():
    qrels = {f"q{n}": {f"d{n}": 1, "x": 1} for n in range(4)}
    run = {query: {f"d{n}": 20.0 - n for n in range(15)} for query in qrels}
    both = pm.audit(qrels, run, {"R@100": 0.5, "P@5": 0.15})
    assert both.notes == ["the run: its lists end at rank 15, and R@100 sees no deeper"]
    assert "Note: the run: its lists end at rank 15, and R@100 sees no deeper." in str(both)
    assert pm.audit(qrels, run, {"R@10": 0.5}).notes == []
    rows = pm.audit(qrels, {"a": run, "b": run}, {"a": {"R@10": 0.5}, "b": {"F1@20": 0.1, "R@100": 0.5}})
    assert rows.notes == ["run 'b': its lists end at rank 15, and F1@20 and R@100 see no deeper"]
