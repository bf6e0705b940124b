"""The numbers of CSV, JSON and the HTML page."""

import csv
import dataclasses
import io
import json
import math

from reporting import (
    loaded,
    pair,
)


def test_csv_and_json_have_every_number_as_it_was_computed(sample):
    lines = list(csv.DictReader(io.StringIO(sample.to("csv"))))
    content = loaded(sample)
    objects = [each for part in [*content["groups"], content] for each in part["rows"]]
    parts = [*((str(value), part) for value, part in sample.groups.items()), ("(all)", sample)]
    expected = [(label, row) for label, part in parts for row in part.rows]
    assert len(lines) == len(objects) == len(expected) == 6 * 9
    names = (
        "mean",
        "baseline_mean",
        "difference",
        "relative",
        "effect_size",
        "wins",
        "ties",
        "losses",
        "needed",
    )
    how = {
        "clusters": "conversation_id",
        "correction": "max-t",
        "level": "0.95",
        "resamples": "499",
        "seed": "0",
    }
    for line, each, (label, row) in zip(lines, objects, expected, strict=True):
        numbers = {name: getattr(row, name) for name in names}
        for prefix, ends in (("", row.interval), *((f"{name}_", row.intervals[name]) for name in names[:2])):
            numbers |= dict(zip((f"{prefix}low", f"{prefix}high"), ends or (None, None), strict=True))
        for name in sample.rows[0].tests:
            numbers |= {
                f"{name} {field}": getattr(row.tests.get(name), field, None) for field in ("p", "adjusted")
            }
        labels = {"turn_number": label, "measure": str(row.measure), "run": row.run, "baseline": row.baseline}
        assert line.keys() == {**labels, **numbers, **how, "reasons": ""}.keys()
        assert {name: line[name] for name in (*how, *labels)} == how | labels
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
