"""Rows of random runs: a true convention is never refuted."""

import json
import random
from collections import Counter

import pytest
from effort import effort
from simulations.possible import random_qrels, random_run, true_rows, true_rows_by

import permed_measures as pm
from permed_measures.conventions.named import NAMED, read_conventions
from permed_measures.conventions.options import CONVENTION_MEASURES, OPTIONS_OF, SHARED
from permed_measures.conventions.records import OPTIONS

pytestmark = pytest.mark.filterwarnings("ignore::permed_measures.PermedWarning")


def test_a_row_that_a_run_has_is_never_refuted_by_the_convention_it_was_made_by():
    rng, counts = random.Random(11), Counter()
    while counts.total() < effort(3, 12):
        qrels = random_qrels(rng, rng.choice((1, 5, 20)), rng.choice((1, 2, 3)), rng.choice((3, 8)))
        for row in true_rows(rng, qrels, [random_run(rng, qrels)]):
            assert not row.refuted, row
            assert not row.lacks_queries, row
            counts[row.refuted] += 1
    assert counts[False] > 0.9 * counts.total()


def counted(rows):
    """Count the results for true rows; only rows of runs that lack queries need a run that lacks queries."""
    counts = Counter()
    for row in rows:
        assert not row.refuted, row
        with_results = {query for query, documents in row.made_by["run"].items() if documents}
        assert not (row.lacks_queries and row.made_by["qrels"].keys() <= with_results), row
        counts[row.lacks_queries] += 1
    return counts


def test_no_convention_with_a_name_is_refuted_that_printed_the_row():
    """Runs may lack queries, and some rows show it."""
    counts = counted(true_rows_by(random.Random(1), NAMED, effort(80, 250)))
    assert counts[True] > 0.02 * counts.total()


def test_no_convention_of_ones_own_is_refuted_that_printed_the_row(tmp_path):
    """Each convention has some options for all measures, and more for one; half use the queries of a run."""
    rng, lines = random.Random(2), []
    for number in range(100):
        measure = rng.choice(CONVENTION_MEASURES[:-1])
        lines.append(f"[[convention]]\nname = 'own {number}'\nsource = 'nobody'")
        for key, known in (("options", OPTIONS), (measure, (*SHARED, *OPTIONS_OF[measure]))):
            chosen = rng.sample(list(known), rng.choice((0, 1, 1, 2)))
            chosen = dict.fromkeys([*chosen, *["queries"] * (key == "options" and rng.random() < 0.5)])
            values = (f"{each} = {rng.choice(values_for(each, key))}" for each in chosen)
            lines.append(f"{key} = {{ {', '.join(values)} }}")
    (tmp_path / "own.toml").write_text("\n".join(lines))
    named = read_conventions(tmp_path / "own.toml")
    counts = counted(true_rows_by(rng, named, 150, most=3))
    assert counts[True] > 0


def values_for(option, measure):
    """List the values of an option in a file; query sets are mostly those of a run."""
    if option == "level":
        return ["1.0", "2.0"]
    measures = CONVENTION_MEASURES if measure == "options" else (measure,)
    found = [repr(each) for each in OPTIONS[option].values_for(measures, ())]
    return found + ["'both'", "'both_with_relevant'"] * 10 if option == "queries" else found


def test_the_whole_says_so_too():
    """`possible` reads the texts, tries all conventions, and writes those that are refuted."""
    for row in true_rows_by(random.Random(3), NAMED, 10, most=2):
        result = pm.possible(row.made_by["qrels"], row.texts)
        said = json.loads(result.to("json"))["rows"][0]["named"]
        assert row.made_by["named"].name not in said["refuted"], row
        assert result.ok


FURTHER = {"MAP": "0.31", "R@100": "0.45", "nDCG": "0.5", "P@20": "0.4", "MRR": "0.7", "R@20": "0.3"}


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(2))
def test_further_numbers_keep_a_row_refuted(seed):
    """Also if all of them together have too many rankings to search."""
    rng = random.Random(seed)
    qrels = {
        f"q{i}": {f"d{j}": rng.choice((0, 0, 1, 1, 2, 3)) for j in range(rng.choice((3, 40, 150)))}
        for i in range(rng.choice((5, 30)))
    }
    rows = [
        {"nDCG@10": "0.981", "P@1": "0.2000"},
        {"P@1": "0.0000", "P@5": "0.9000"},
        {"P@1": "0.2000", "P@5": "0.9600"},
        {"MRR@10": "0.2000", "P@1": "0.4000"},
    ]
    rng.shuffle(rows)
    claims = next(row for row in rows if not pm.possible(qrels, row).ok)
    for n in (1, 2, 4):
        further = dict(rng.sample(list(FURTHER.items()), n))
        row = {**claims, **further} if rng.random() < 0.5 else {**further, **claims}
        after = pm.possible(qrels, row)
        assert not after.ok, row
        assert str(after).count("not checked") == 0
    table = pm.possible(qrels, {"a": row, "b": {"P@5": "0.0000"}})
    assert "1 of 2 rows not refuted" in str(table)
    assert [each.ok for each in table.rows] == [False, True]


def test_what_was_not_checked_is_neither_refuted_nor_possible(monkeypatch):
    """Without any effort nothing is checked: the headline, the table and the exit status show it."""
    monkeypatch.setattr("permed_measures.feasibility.rows.BUDGET", 0)
    qrels = {"q": {"a": 1, "b": 1, "c": 2}}
    rows = {"a": {"nDCG@10": "0.981", "MAP@10": "0.2"}, "b": {"P@1": "0.5"}}
    result = pm.possible(qrels, rows)
    text = " ".join(str(result).split())
    assert [row.ok for row in result.rows] == [True, False]
    assert (
        "0 of 2 rows not refuted for some convention; 1 not refuted, as not all conventions were checked."
        in text
    )
    n_open = len(result.rows[0].with_status(None))
    assert n_open == len(result.rows[0].conventions)
    assert f" a — — 0 of {n_open}, {n_open} not checked b P@1 0.5 is not a multiple of 1/1 — 0 of " in text
    assert pm.possible(qrels, rows["a"]).ok


def test_a_row_with_a_sum_above_1_is_read_as_it_stands():
    """The sum of precisions is 3 where three relevant documents are first: no percentage, as P@1 is none."""
    qrels = {f"q{i}": {"a": 1, "b": 1, "c": 1} for i in range(4)}
    [row] = pm.possible(qrels, {"P@1": "1.0000", "MAP@10": "3.0000"}).rows
    assert {each.convention["AP"]["denominator"] for each in row.with_status(False)} == {"none"}
