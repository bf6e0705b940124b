"""Numbers in the wrong place of a table: swapped rows, columns and cells, and copied ones."""

import random
from functools import cache

import pytest
from effort import effort

import permed_measures as pm
from permed_measures.audits.answers import RowAudit
from permed_measures.audits.audit import audit_of
from permed_measures.audits.claims import parse_claims
from permed_measures.audits.matches import reread
from permed_measures.datasets import SAMPLES

SAMPLE = SAMPLES[0]
MEASURES = {
    "nDCG@10": "VariantNDCG(negative='keep')@10",
    "MAP@10": "GradedAP@10",
    "P@5": "P@5",
    "R@20": "R@20",
    "MRR@10": "RR@10",
}


@cache
def published():
    """Return the table of the sample by the PerMed standard."""
    runs = {name: pm.read_run(path) for name, path in SAMPLE.runs.items()}
    values = {
        name: pm.calc_aggregate(list(MEASURES.values()), SAMPLE.qrels, run) for name, run in runs.items()
    }
    table = {
        name: {title: f"{found[pm.parse_measure(measure)]:.4f}" for title, measure in MEASURES.items()}
        for name, found in values.items()
    }
    return table, pm.audit(SAMPLE.qrels, runs, table)


def audited(table):
    """Return the audit of another table of the same runs and measures."""
    _, known = published()
    rows = []
    for row, claims in zip(known.rows, parse_claims(table.values()), strict=True):
        here = {each.claim.name: each for each in row.claims}
        rows.append(RowAudit(row.name, [reread(here[each.name], each) for each in claims], []))
    return audit_of(rows)


def copied():
    return {name: dict(row) for name, row in published()[0].items()}


def test_the_table_is_explained_as_it_stands():
    result = published()[1]
    assert (result.ok, result.moves, result.best[0].named.name) == (True, [], "PerMed standard")
    assert audited(copied()).ok


def swapped(rng):
    """Return a table with a swap, and what is to be said."""
    table, kind = copied(), rng.choice(["rows", "columns", "cells of a row", "cells of a column", "cells"])
    names, titles = list(table), list(MEASURES)
    a, b = sorted(rng.sample(range(len(names)), 2))
    c, d = sorted(rng.sample(range(len(titles)), 2))
    one, other, first, second = names[a], names[b], titles[c], titles[d]
    if kind == "rows":
        table[one], table[other] = table[other], table[one]
        return table, f"the rows {one} and {other} are swapped"
    if kind == "columns":
        for row in table.values():
            row[first], row[second] = row[second], row[first]
        return table, f"the columns {first} and {second} are swapped"
    if kind == "cells of a row":
        table[one][first], table[one][second] = table[one][second], table[one][first]
        return table, f"{one}: {first} and {second} are swapped"
    if kind == "cells of a column":
        table[one][first], table[other][first] = table[other][first], table[one][first]
        return table, f"{first}: {one} and {other} are swapped"
    table[one][first], table[other][second] = table[other][second], table[one][first]
    return table, f"{one}, {first} and {other}, {second} are swapped"


def test_swapped_rows_columns_and_cells_are_named_in_one_line():
    n = 0
    for seed in range(effort(4, 12)):
        table, line = swapped(random.Random(seed))
        if table != copied():  # two equal numbers
            result = audited(table)
            assert (result.moves, result.ok) == ([line], False), seed
            assert result.best[0].complete
            assert "nearest" not in str(result)
            n += 1
    assert n > effort(2, 8)


def test_rows_in_a_circle_are_named_in_one_line():
    table = copied()
    names = list(table)
    result = audited(dict(zip(names, [table[names[1]], table[names[2]], table[names[0]]], strict=True)))
    assert result.moves == [
        f"the rows {', '.join(names)} hold the numbers of {', '.join([*names[1:], names[0]])}"
    ]


@pytest.mark.thorough
def test_a_swap_beside_a_typo_is_found():
    table = copied()
    for row in table.values():
        row["P@5"], row["R@20"] = row["R@20"], row["P@5"]
    typo = table["lsa"]["MRR@10"][:-2] + "99"
    table["lsa"]["MRR@10"] = typo
    result = audited(table)
    assert result.moves == ["the columns P@5 and R@20 are swapped"]
    assert len(result.best[0].explained) == 14


def test_a_number_of_another_row_is_named():
    table = copied()
    table["lsa"]["MAP@10"] = table["bm25"]["MAP@10"]
    result = audited(table)
    assert result.moves == [f"lsa, MAP@10 has the number of bm25 ({table['bm25']['MAP@10']})"]
    assert result.copied == [("lsa", "MAP@10")]
    assert len(result.best[0].explained) == 14
    assert "nearest" not in str(result).partition("Numbers in the wrong place")[2]


@pytest.mark.parametrize("seed", range(effort(1, 8)))
def test_typos_are_no_swaps(seed):
    rng = random.Random(seed)
    table = copied()
    row, title = rng.choice(list(table)), rng.choice(list(MEASURES))
    digits = table[row][title]
    table[row][title] = digits[:-2] + f"{(int(digits[-2:]) + rng.randint(20, 80)) % 100:02}"
    assert audited(table).moves == []


def test_the_report_says_it():
    table = copied()
    for row in table.values():
        row["P@5"], row["R@20"] = row["R@20"], row["P@5"]
    result = audited(table)
    assert "once they are in their places: PerMed standard\n" in str(result)
    assert "Numbers in the wrong place\n  the columns P@5 and R@20 are swapped\n" in str(result)
