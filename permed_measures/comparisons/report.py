"""The report of a comparison: what was found, means, differences, plots, and the queries one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, fields
from functools import partial
from typing import Any

from permed_measures.comparisons.findings import corrected_section, findings
from permed_measures.comparisons.plots.forest import about_marks, forest_plots, panels_of
from permed_measures.comparisons.queries import query_details
from permed_measures.comparisons.results import Comparison, ComparisonRow, deciding
from permed_measures.comparisons.tables import (
    differences_table,
    interval_method,
    judged_notes,
    judged_shares,
    means_table,
    why_no_differences,
)
from permed_measures.files.provenance import provenance
from permed_measures.measures.headings import headings_of, name_of
from permed_measures.people.orders import orders_json
from permed_measures.people.tables import agreement_json, flat, orders_section
from permed_measures.results.report import Report, Section, ends, how_made, titled


def comparison_report(result: Comparison) -> Report:
    """Report a comparison: on pages with plots and queries, and what weakens the finding right below it."""
    cautions = [note for note in judged_notes(result.paired) if note in result.notes]
    return Report(
        titled(result.origin, len(result.paired.values), result.n_queries),
        findings(result),
        [
            *_forest(result),
            Section(tables=[means_table(result)]),
            _differences(result),
            *corrected_section(result),
            *orders_section(result.orders, headings_of(result.measures)),
        ],
        [note for note in result.notes if note not in cautions],
        partial(_data, result),
        partial(comparison_records, result),
        partial(how_made, result.measures, result.origin, result.options.seed, ["scipy"]),
        cautions,
        partial(query_details, result),
    )


def _differences(result: Comparison) -> Section:
    """Return the differences; of many pairs only a page, which folds them, has them unasked."""
    left_out = why_no_differences(result)
    instead = Section(note=left_out) if left_out else None
    return Section("Differences", tables=[differences_table(result)], folded=True, instead=instead)


# --- other programs --------------------------------------------------------------------------------

_HOW = ("correction", "level", "resamples", "seed")


def comparison_records(result: Comparison) -> Iterator[dict[str, Any]]:
    """Yield the numbers of each pair and measure, by group if there are groups, and how they were made."""
    tests = list(result.rows[0].tests)
    how = {
        "clusters": result.paired.clusters or None,
        **{name: getattr(result.options, name) for name in _HOW},
    }
    for label, part in result.sections():
        for row in part.rows:
            numbers = _flat(row, tests, people=result.agreement is not None) | how
            by = f"{result.by} (group)" if result.by in numbers else result.by
            yield {**({by: label} if by else {}), **numbers}


def _flat(row: ComparisonRow, tests: Sequence[str], people: bool) -> dict[str, Any]:
    """Return every field of a row by the names of columns: a pair as two, of each test what it found."""
    expanded: dict[str, Callable[[Any], dict[str, Any]]] = {
        "measure": lambda measure: {"measure": name_of(measure)},
        "interval": lambda interval: ends("", interval),
        "intervals": lambda found: (
            ends("mean_", found["mean"]) | ends("baseline_mean_", found["baseline_mean"])
        ),
        "tests": lambda found: {
            f"{name} {column}": getattr(found[name], column) for name in tests for column in _OF_TESTS
        },
        "reasons": lambda _: {"reasons": _reasons(row)},
        "people": lambda found: (
            {f"people_{name}": each for name, each in flat(found).items()} if people else {}
        ),
    }
    columns: dict[str, Any] = {}
    for each in fields(row):
        value = getattr(row, each.name)
        columns |= expanded[each.name](value) if each.name in expanded else {each.name: value}
    return columns


_OF_TESTS = ("p", "adjusted", "statistic")


def _reasons(row: ComparisonRow) -> str | None:
    """Say why values of a row are missing."""
    reasons = {**row.reasons, **{name: test.reason for name, test in row.tests.items() if test.reason}}
    return "; ".join(f"{name}: {reason}" for name, reason in reasons.items()) or None


def comparison_content(result: Comparison) -> dict[str, Any]:
    """Return what the JSON has, apart from the provenance."""
    return {
        "baseline": result.baseline,
        "clusters": result.paired.clusters or None,
        **{name: value for name, value in asdict(result.options).items() if name != "tests"},
        "interval_method": interval_method(result) or None,
        "deciding_test": deciding(result.rows[0].tests) or None,
        **_part(result),
        "by": result.by or None,
        "groups": [
            {"group": value if type(value) in (int, str) else str(value), **_part(group)}
            for value, group in result.groups.items()
        ],
        "agreement": agreement_json(result.agreement) if result.agreement else None,
        "orders": orders_json(result.orders, [*map(name_of, result.measures)]),
        "sentences": findings(result),
        "notes": result.notes,
    }


def _part(result: Comparison) -> dict[str, Any]:
    """Return the part of the JSON that a group and the whole have alike."""
    return {
        "queries": result.n_queries,
        "n_clusters": result.n_clusters,
        "families": result.families,
        "means": {
            run: {name_of(m): float(each.mean()) for m, each in zip(result.measures, values, strict=True)}
            for run, values in result.paired.values.items()
        },
        "judged": judged_shares(result),
        "rows": [{**asdict(row), "measure": name_of(row.measure)} for row in result.rows],
    }


def _data(result: Comparison) -> dict[str, Any]:
    origin = provenance(result.measures, result.origin, result.options.seed, ["scipy"])
    return {**comparison_content(result), "provenance": origin}


_MOST_RUNS = 50
"""The number of runs of which a forest plot can be read, at most."""


def _forest(result: Comparison) -> Iterator[Section]:
    """Yield the forest plots, where they can be read."""
    if len(result.paired.values) <= _MOST_RUNS:
        shown = f"Differences to {result.baseline}" if result.baseline else "Means"
        said = about_marks(result, panels_of(result, range(len(result.measures))))
        note = " ".join(f"{each[0].upper()}{each[1:]}." for each in said)
        yield Section(shown, note, plots=forest_plots(result))
