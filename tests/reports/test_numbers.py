"""The numbers of CSV, JSON and the HTML page."""

import csv
import dataclasses
import io
import itertools
import json
import math

import numpy as np
import pytest
from reporting import (
    Page,
    assert_stands_alone,
    loaded,
    made,
    pair,
)

import permed_measures as pm
from permed_measures.comparisons.findings import findings


def values_by_turn(dataset, runs, measure):
    """Return the values of each run by the queries of each turn, then of all."""
    found = {
        name: {each.query_id: each.value for each in pm.iter_calc([measure], dataset, run)}
        for name, run in runs.items()
    }
    ids = sorted(found["bm25"])
    parts = [[q for q in ids if q.endswith(f"_{turn}")] for turn in range(1, 6)]
    return [{name: np.array([of[q] for q in part]) for name, of in found.items()} for part in [*parts, ids]]


def sections_of(result):
    return [*((str(value), part) for value, part in result.groups.items()), ("(all)", result)]


def test_csv_and_json_have_every_number_as_it_was_computed(sample):
    rows = list(csv.DictReader(io.StringIO(sample.to("csv"))))
    content = loaded(sample)
    parts = [*content["groups"], content]
    objects = [each for part in parts for each in part["rows"]]
    expected = [(label, row) for label, part in sections_of(sample) for row in part.rows]
    assert len(rows) == len(objects) == len(expected) == 6 * 9
    for line, each, (label, row) in zip(rows, objects, expected, strict=True):
        low, high = row.interval or (None, None)
        numbers = {
            **{
                f"{name}_{bound}": (row.intervals[name] or (None, None))[i]
                for name in ("mean", "baseline_mean")
                for i, bound in enumerate(("low", "high"))
            },
            **{"mean": row.mean, "baseline_mean": row.baseline_mean, "difference": row.difference},
            **{"relative": row.relative, "low": low, "high": high, "effect_size": row.effect_size},
            **{"wins": row.wins, "ties": row.ties, "losses": row.losses},
            **{
                f"{name} {field}": getattr(row.tests.get(name), field, None)
                for name in sample.rows[0].tests
                for field in ("p", "adjusted")
            },
        }
        labels = {"turn_number": label, "measure": str(row.measure), "run": row.run, "baseline": row.baseline}
        how = {
            "clusters": "conversation_id",
            "correction": "max-t",
            "family": "all",
            "level": "0.95",
            "resamples": "499",
        }
        how |= {"seed": "0"}
        numbers |= {"needed": row.needed}
        assert line.keys() == {**labels, **numbers, **how, "reasons": ""}.keys()
        assert {name: line[name] for name in how} == how
        assert {name: line[name] for name in labels} == labels
        assert {name: float(line[name]) if line[name] else None for name in numbers} == numbers
        assert each == json.loads(json.dumps(dataclasses.asdict(row), default=str))


def test_csv_and_json_have_the_numbers_of_numpy(sample, dataset, sample_runs):
    lines = iter(csv.DictReader(io.StringIO(sample.to("csv"))))
    content = loaded(sample)
    by_measure = [values_by_turn(dataset, sample_runs, measure) for measure in sample.measures]
    for number, part in enumerate([*content["groups"], content]):
        for measure, values in zip(sample.measures, by_measure, strict=True):
            means = {name: of[str(measure)] for name, of in part["means"].items()}
            assert means == pytest.approx({n: v.mean() for n, v in values[number].items()}, abs=1e-15)
            for (earlier, old), (later, new) in itertools.combinations(values[number].items(), 2):
                line, d = next(lines), new - old
                assert (line["run"], line["baseline"]) == (later, earlier)
                assert (float(line["mean"]), float(line["baseline_mean"])) == (means[later], means[earlier])
                assert float(line["difference"]) == pytest.approx(d.mean(), abs=1e-15)
                counts = [int(line[name]) for name in ("wins", "ties", "losses")]
                assert counts == [(d > 1e-12).sum(), (abs(d) <= 1e-12).sum(), (d < -1e-12).sum()]


def test_json_says_how_it_was_made(sample):
    content = loaded(sample)
    names = (
        "baseline",
        "clusters",
        "correction",
        "resamples",
        "seed",
        "level",
        "interval_method",
        "deciding_test",
        "by",
        "queries",
        "n_clusters",
    )
    how = [
        None,
        "conversation_id",
        "max-t",
        499,
        0,
        0.95,
        "simultaneous, max-T",
        "randomization",
        "turn_number",
        48,
        12,
    ]
    assert [content[name] for name in names] == how
    assert set(content["families"].values()) == {9}
    assert [group["group"] for group in content["groups"]] == [1, 2, 3, 4, 5]
    assert [group["queries"] for group in content["groups"]] == [12, 12, 12, 10, 2]
    assert content["sentences"] == findings(sample)
    assert content["notes"] == sample.notes
    assert {"permed-measures", "numpy", "scipy"} <= content["provenance"]["versions"].keys()
    alone = loaded(pair(4, tests="t-test"))
    assert (alone["interval_method"], alone["deciding_test"]) == (None, "t-test")


def test_json_has_every_baseline():
    ranks = {"a": [1] * 8, "b": [2] * 8, "c": [3] * 8}
    found = [loaded(made(ranks, baseline=names))["baseline"] for names in (None, "a", ["a", "b"])]
    assert found == [None, "a", ["a", "b"]]


def test_json_has_no_infinity(sample):
    values = {"relative": math.inf, "effect_size": -math.inf, "interval": (math.nan, 1.0)}
    odd = dataclasses.replace(sample.rows[0], **values)
    [row, *_] = loaded(dataclasses.replace(sample, rows=[odd, *sample.rows[1:]]))["rows"]
    assert (row["relative"], row["effect_size"], row["interval"]) == ("inf", "-inf", ["nan", 1.0])


def test_what_has_no_value_is_empty_in_csv_and_null_in_json():
    result = pair(4, tests="t-test", measures="P@1")
    [line] = csv.DictReader(io.StringIO(result.to("csv")))
    names = ("relative", "low", "effect_size", "high", "t-test p", "t-test adjusted")
    assert [line[name] for name in names] == [""] * len(names)
    assert line["reasons"] == "interval: no variance between queries; t-test: no variance between queries"
    [row] = loaded(result)["rows"]
    assert [row["relative"], row["effect_size"], row["tests"]["t-test"]["p"]] == [None] * 3
    assert row["tests"]["t-test"]["reason"] == "no variance between queries"


def test_a_page_has_the_tables_of_the_report_the_runs_by_value(sample):
    page = Page(sample.to("html"))
    assert_stands_alone(page)
    [means, differences] = [table for each in sample.report().sections for table in each.tables]
    first = [[cell.text + cell.mark for cell in row] for block in means.blocks for row in block]
    shown = page.rows[1 : len(first) + 1]
    assert page.rows[0] == means.headings
    assert sorted(shown) == sorted(first)
    n_runs = len(sample.paired.values)
    for start in range(0, len(shown), n_runs):
        values = [float(row[3][:6]) for row in shown[start : start + n_runs]]
        assert values == sorted(values, reverse=True)
    after = page.rows[len(first) + 1 :]
    assert after[: len(differences.rows) + 1] == [
        differences.headings,
        *([cell.text + cell.mark for cell in row] for row in differences.rows),
    ]
