"""Sentences on what a comparison found, and on what people's labels change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from permed_measures.comparison.results import (
    MARK_LEVEL,
    TESTS,
    ComparedRuns,
    ComparisonRow,
)
from permed_measures.comparison.tables import (
    MAX_NAMED_PAIRS,
    interval_heading,
    interval_of,
    name_of_row,
    not_zero,
    p_of_sentences,
    shown_p,
    why_no_differences,
)
from permed_measures.comparison.tests import sign_of
from permed_measures.human_labels.tables import DIFFERENCES_TEXTS, CorrectedRow, section_of
from permed_measures.results.evaluation_report import best_of, highest
from permed_measures.results.report import Section
from permed_measures.wording import grouped, join_names, pluralize


def findings(result: ComparedRuns) -> list[str]:
    """Name the highest run on each measure, and count the significant differences.

    With a baseline, count the runs that are better and the runs that are worse than it. Without a baseline,
    count the runs that the highest run of each measure is better than, where one run is the highest.

    Examples
    --------
    >>> from permed_measures.comparison.compare import compare
    >>> qrels = {f"q{i}": {"a": 1} for i in range(4)}
    >>> runs = {"old": {q: {"b": 2.0, "a": 1.0} for q in qrels}, "new": {q: {"a": 1.0} for q in qrels}}
    >>> for sentence in findings(compare(qrels, runs, "RR", "old", tests="randomization")):
    ...     print(sentence)
    new has the highest RR: 1.0000.
    That is 0.5000 above old, not a significant difference (p = 0.1250).
    No difference is significant (p < 0.05).
    """
    means = {run: [float(row.mean()) for row in values] for run, values in result.paired.values.items()}
    best = [best_of(means, index) for index in range(len(result.measures))]
    first, *others = highest([*result.headings.values()], means, result.style)
    margin = []
    if result.baseline and len(best[0]) == 1 and best[0] != [result.baseline]:
        margin = [_margin(result, best[0][0], result.baseline)]
    return [
        first,
        *margin,
        *others,
        *_significance_findings(result, best),
        *_what_changes(result),
        *_order_findings(result),
    ]


def _margin(result: ComparedRuns, run: str, other: str) -> str:
    """Write how far the highest run is above another on the first measure, with the test's verdict."""
    [row] = [row for row in result.rows_of(0) if {row.run, row.baseline} == {run, other}]
    sign = 1 if row.run == run else -1
    style = result.style
    points = " percentage points" * style.in_percent
    margin = f"That is {not_zero(sign * row.difference * style.scale, style.decimals)}{points} above {other}"
    if row.p is None:
        return f"{margin}."
    name = p_of_sentences(result)
    facts = [f"{name} < 0.001" if row.p < 0.001 else f"{name} = {shown_p(row.p)}"]
    if row.interval and sign > 0:  # otherwise the interval is of the opposite difference
        facts.insert(0, f"{result.level_in_percent} CI {interval_of(result, row)}")
    verdict = {
        sign: "a significant difference",
        0: "not a significant difference",
        -sign: f"but by {TESTS[row.test]} {other} is significantly better",
    }
    return f"{margin}, {verdict[row.outcome]} ({', '.join(facts)})."


# --- which differences are significant -----------------------------------------------------------------


def _significance_findings(result: ComparedRuns, best: list[list[str]]) -> Iterator[str]:
    """Count the significant differences, and name the differences that have no p-value."""
    test, untested = result.test, [row for row in result.rows if row.p is None]
    if not test:
        yield f"No significance test{' that knows of the clusters' if result.tests else ''} was run."
    elif len(untested) == len(result.rows):
        yield f"No difference has a p-value ({test})."
    else:
        if not any(row.is_significant for row in result.rows):
            over_all = " over all queries" if result.by else ""
            yield f"No difference{over_all} is significant ({_level(result)})."
        elif result.baseline:
            yield _against(result, result.baseline)
        else:
            yield from _ahead(result, best)
        if untested:
            yield f"{_named_rows(result, untested, result.rows, 'difference')} no p-value ({test})."


def _against(result: ComparedRuns, baseline: str) -> str:
    """Count the runs that are better and the runs that are worse than a baseline, on each measure."""
    outcomes = [_outcomes(result, index, baseline) for index in range(len(result.measures))]
    headings = [*result.headings.values()]
    better, worse = (_shares(outcomes, sign, headings, "run", len(outcomes)) for sign in (1, -1))
    return f"Significantly better than {baseline} ({_level(result)}): {better}. Significantly worse: {worse}."


def _ahead(result: ComparedRuns, best: list[list[str]]) -> Iterator[str]:
    """Count the runs that each highest run is better than, on the measures where it alone is the highest."""
    headings = [*result.headings.values()]
    winners = grouped((runs[0], index) for index, runs in enumerate(best) if len(runs) == 1)
    for run, indices in winners.items():
        outcomes = [_outcomes(result, index, run) for index in indices]
        measures = [headings[index] for index in indices]
        if any(map(any, outcomes)):
            shares = _shares(outcomes, -1, measures, "other run", len(headings))
            yield f"{run} is significantly better ({_level(result)}) than {shares}."
        else:
            yield f"On {join_names(measures)} no difference of {run} is significant ({_level(result)})."


def _level(result: ComparedRuns) -> str:
    return f"{p_of_sentences(result)} < {MARK_LEVEL}"


def _outcomes(result: ComparedRuns, measure: int, run: str) -> list[int]:
    """Return the outcome of each run that is compared with this one: 1 better, -1 worse, 0 neither."""
    rows = result.rows_of(measure)
    better = [row.outcome for row in rows if row.baseline == run]
    return [*better, *(-row.outcome for row in rows if row.run == run)]


def _shares(outcomes: list[list[int]], sign: int, headings: list[str], noun: str, n_measures: int) -> str:
    """Write the share of the runs that have an outcome, and the measures with this share."""
    shares = [(of_measure.count(sign), len(of_measure)) for of_measure in outcomes]
    measures = grouped(zip(shares, headings, strict=True))
    if len(measures) == 1:
        [((k, n), names)] = measures.items()
        where = "any measure" if k == 0 and 1 < len(names) == n_measures else join_names(names)
        return f"{k:,} of {pluralize(n, noun)} on {where}"
    texts = (f"{k:,} of {pluralize(n, noun)} ({', '.join(names)})" for (k, n), names in measures.items())
    return join_names(texts)


def _count_and_name(names: Sequence[str], total: str, verbs: tuple[str, str]) -> str:
    """Count and name some of many, such as ``2 of 3 verdicts (a, b) change``."""
    return f"{len(names):,} of {total} ({join_names(names, MAX_NAMED_PAIRS)}) {verbs[len(names) > 1]}"


def _named_rows(
    result: ComparedRuns,
    rows: Sequence[ComparisonRow],
    all_rows: Sequence[ComparisonRow],
    noun: str,
    verbs: tuple[str, str] = ("has", "have"),
) -> str:
    """Count rows and name them, such as ``1 of 2 differences (a against b on RR) has``."""
    headings = result.headings
    names = [name_of_row(row, headings) for row in rows]
    return _count_and_name(names, pluralize(len(all_rows), noun), verbs)


# --- by people's labels --------------------------------------------------------------------------------


def corrected_section(result: ComparedRuns) -> list[Section]:
    """Build the section with the differences and their corrections, if people's labels were given."""
    if result.agreement is None:
        return []
    headings = result.headings
    lines = [
        CorrectedRow(
            {"measure": headings[row.measure], "run": row.run}
            | ({"against": row.baseline} if result.baseline is None else {}),
            row.difference,
            row.people,
        )
        for row in result.rows
        if row.people
    ]
    heading, n = interval_heading(result), len(lines)
    interval = [heading]
    if result.options.correction != "none" and n > 1:
        interval += [f"{heading}: simultaneous (Bonferroni) for {n:,} differences"]
    section = section_of(result.agreement, DIFFERENCES_TEXTS, lines, interval, result.style)
    if why_no_differences(result):
        return [section._replace(text_version=section._replace(tables=section.tables[:1]))]
    return [section]


def _what_changes(result: ComparedRuns) -> Iterator[str]:
    """Name the differences whose sign people's labels change, and the significant ones they leave open."""
    known = [row for row in result.rows if row.people and row.people.value is not None]
    significant = [row for row in known if row.people and row.people.interval and row.outcome]
    opposite = [row for row in known if _direction(row) * sign_of(row.difference) < 0]
    open_, interval = [row for row in significant if _side(row) == 0], interval_heading(result)
    changes = []
    if opposite:
        n = sum(_side(row) * row.difference < 0 for row in opposite)
        surely = f", {n:,} of them surely (0 is outside the {interval})" if n else ""
        changes += [f"{_named_rows(result, opposite, known, 'difference')} the opposite sign{surely}"]
    if open_:
        rows = _named_rows(result, open_, significant, "significant difference")
        changes += [f"{rows} 0 inside the {interval}"]
    if changes:
        yield f"Corrected by people's labels, {', and '.join(changes)}."


def _direction(row: ComparisonRow) -> int:
    """Return the sign of the difference by people's labels."""
    return sign_of(row.people.value or 0.0) if row.people else 0


def _side(row: ComparisonRow) -> int:
    """Return the sign of the interval by people's labels; 0 where 0 is inside."""
    low, high = row.people.interval if row.people and row.people.interval else (0.0, 0.0)
    return (low > 0) - (high < 0)


def _order_findings(result: ComparedRuns) -> Iterator[str]:
    """Name the pairs of runs that change places by people's labels, and the verdicts that change."""
    orders = result.orders
    if orders is None or not orders.of_measures:
        return
    of_measures = [*zip(result.headings.values(), orders.of_measures, strict=True)]
    exchanged = [f"{a} and {b} on {heading}" for heading, order in of_measures for a, b in order.exchanged]
    changed = [
        f"{run} against {other} on {heading} from {before} to {after}"
        for heading, order in of_measures
        for run, other, before, after in order.changed
    ]
    n_pairs = sum(order.pairs for order in orders.of_measures)
    n_verdicts = sum(order.verdicts for order in orders.of_measures)
    pairs = f"{pluralize(n_pairs, 'pair')} of runs"
    changes = [
        _count_and_name(exchanged, pairs, ("changes places", "change places"))
        if exchanged
        else "no pair of runs changes places"
    ]
    if n_verdicts:
        verdicts = pluralize(n_verdicts, "verdict")
        changes += [
            _count_and_name(changed, verdicts, ("changes", "change")) if changed else "no verdict changes"
        ]
    judged = pluralize(orders.queries, "query")
    yield f"On the {judged} that people judged, by their labels {', and '.join(changes)}."
