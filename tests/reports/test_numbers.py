"""The numbers of CSV, JSON and the HTML page."""

import csv
import dataclasses
import io
import json
import math

from reporting import (
    Page,
    assert_stands_alone,
    loaded,
    pair,
)


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
