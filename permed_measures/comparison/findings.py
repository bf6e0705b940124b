"""What a comparison found, in a few sentences, and what people's labels change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from permed_measures.comparison.results import (
    MARK_LEVEL,
    TESTS,
    Comparison,
    ComparisonRow,
)
from permed_measures.comparison.tables import (
    interval_heading,
    interval_of,
    not_zero,
    p_of_sentences,
    shown_p,
    why_no_differences,
)
from permed_measures.comparison.tests import direction_of
from permed_measures.escaping import grouped, join_names, pluralize
from permed_measures.human_labels.tables import DIFFERENCES_TEXTS, Line, section_of
from permed_measures.results.evaluation_report import best_of, highest
from permed_measures.results.report import Section


def findings(result: Comparison) -> list[str]:
    """Say which run is highest on each measure, and how many runs differ significantly from which.

    With a baseline these are the runs that are better, and worse, than it; without, the runs that the highest
    of each measure is better than, where one run is the highest.

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
    means = {run: [float(each.mean()) for each in values] for run, values in result.paired.values.items()}
    best = [best_of(means, number) for number in range(len(result.measures))]
    first, *others = highest([*result.headings.values()], means, result.style)
    said = [first]
    if result.baseline and len(best[0]) == 1 and best[0] != [result.baseline]:
        said += [_margin(result, best[0][0], result.baseline)]
    return [
        *said,
        *others,
        *_significance_findings(result, best),
        *_what_changes(result),
        *_order_findings(result),
    ]


def _margin(result: Comparison, run: str, other: str) -> str:
    """Say how far the highest run is above another on the first measure, and how surely."""
    [row] = [each for each in result.rows_of(0) if {each.run, each.baseline} == {run, other}]
    sign = 1 if row.run == run else -1
    style = result.style
    points = " percentage points" * style.in_percent
    said = f"That is {not_zero(sign * row.difference * style.scale, style.decimals)}{points} above {other}"
    if row.p is None:
        return f"{said}."
    name = p_of_sentences(result)
    facts = [f"{name} < 0.001" if row.p < 0.001 else f"{name} = {shown_p(row.p)}"]
    if row.interval and sign > 0:  # otherwise it is that of the opposite difference
        facts.insert(0, f"{result.level_in_percent} CI {interval_of(result, row)}")
    verdict = {
        sign: "a significant difference",
        0: "not a significant difference",
        -sign: f"but by {TESTS[row.test]} {other} is significantly better",
    }
    return f"{said}, {verdict[row.outcome]} ({', '.join(facts)})."


# --- which differences are significant -----------------------------------------------------------------


def _significance_findings(result: Comparison, best: list[list[str]]) -> Iterator[str]:
    """Say which differences are significant, and what is to be known of that."""
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
    yield from _contradictions(result)


def _against(result: Comparison, baseline: str) -> str:
    """Say how many runs are better and worse than a baseline, on each measure."""
    found = [_better_or_worse(result, number, baseline) for number in range(len(result.measures))]
    better, worse = (_shares(found, sign, [*result.headings.values()], "run", len(found)) for sign in (1, -1))
    return f"Significantly better than {baseline} ({_level(result)}): {better}. Significantly worse: {worse}."


def _ahead(result: Comparison, best: list[list[str]]) -> Iterator[str]:
    """Say of each run that is the highest alone how many others it is better than, on these measures."""
    headings = [*result.headings.values()]
    alone = grouped((runs[0], number) for number, runs in enumerate(best) if len(runs) == 1)
    for run, numbers in alone.items():
        found, on = (
            [_better_or_worse(result, number, run) for number in numbers],
            [headings[n] for n in numbers],
        )
        if any(map(any, found)):
            shares = _shares(found, -1, on, "other run", len(headings))
            yield f"{run} is significantly better ({_level(result)}) than {shares}."
        else:
            yield f"On {join_names(on)} no difference of {run} is significant ({_level(result)})."


def _contradictions(result: Comparison) -> Iterator[str]:
    """Say where a test finds the run better whose mean is not."""
    for label, part in result.sections():
        significant = [row for row in part.rows if row.is_significant]
        against = [row for row in significant if direction_of(row.difference) != row.outcome]
        if against:
            name, where = TESTS[result.test], f"{result.by} {label}: " * (part is not result)
            said = _named_rows(result, against, significant, "significant difference", ("is", "are"))
            yield (
                f"{where}{said} in favour of the run whose mean is not higher: {name} goes by the ranks of "
                "the differences, not by their mean."
            )


def _level(result: Comparison) -> str:
    return f"{p_of_sentences(result)} < {MARK_LEVEL}"


def _better_or_worse(result: Comparison, measure: int, run: str) -> list[int]:
    """Return for each run that is compared with this one whether it is better (1) or worse (-1), or 0."""
    rows = result.rows_of(measure)
    better = [row.outcome for row in rows if row.baseline == run]
    return [*better, *(-row.outcome for row in rows if row.run == run)]


def _shares(found: list[list[int]], sign: int, headings: list[str], noun: str, n_measures: int) -> str:
    """Write how many of how many runs have this outcome, with the measures on which that is so."""
    sizes = [(outcomes.count(sign), len(outcomes)) for outcomes in found]
    measures = grouped(zip(sizes, headings, strict=True))
    if len(measures) == 1:
        [((k, n), on)] = measures.items()
        where = "any measure" if k == 0 and 1 < len(on) == n_measures else join_names(on)
        return f"{k:,} of {pluralize(n, noun)} on {where}"
    return join_names(f"{k:,} of {pluralize(n, noun)} ({', '.join(on)})" for (k, n), on in measures.items())


_MAX_NAMED_PAIRS = 5
"""So many are named in a sentence, and others counted."""


def _named(names: Sequence[str], of: str, verbs: tuple[str, str]) -> str:
    """Count and name some of many, such as ``2 of 3 verdicts (a, b) change``."""
    return f"{len(names):,} of {of} ({join_names(names, _MAX_NAMED_PAIRS)}) {verbs[len(names) > 1]}"


def _named_rows(
    result: Comparison,
    rows: Sequence[ComparisonRow],
    of: Sequence[ComparisonRow],
    noun: str,
    verbs: tuple[str, str] = ("has", "have"),
) -> str:
    """Count rows and name them, such as ``1 of 2 differences (a against b on RR) has``."""
    short = result.headings
    names = [f"{row.run} against {row.baseline} on {short[row.measure]}" for row in rows]
    return _named(names, pluralize(len(of), noun), verbs)


# --- by people's labels --------------------------------------------------------------------------------


def corrected_section(result: Comparison) -> list[Section]:
    """Return the differences as they are and corrected, if people's labels were given."""
    if result.agreement is None:
        return []
    short = result.headings
    lines = [
        Line(
            {"measure": short[row.measure], "run": row.run}
            | ({"against": row.baseline} if result.baseline is None else {}),
            row.difference,
            row.people,
        )
        for row in result.rows
        if row.people
    ]
    heading, n = interval_heading(result), len(lines)
    of_all = result.options.correction != "none" and n > 1
    interval = [heading, *([f"{heading}: simultaneous (Bonferroni) for {n:,} differences"] if of_all else [])]
    section = section_of(result.agreement, DIFFERENCES_TEXTS, lines, interval, result.style)
    if why_no_differences(result):
        return [section._replace(instead=section._replace(tables=section.tables[:1]))]
    return [section]


def _what_changes(result: Comparison) -> Iterator[str]:
    """Say which differences people's labels turn round, and which significant ones they leave open."""
    known = [row for row in result.rows if row.people and row.people.value is not None]
    significant = [row for row in known if row.people and row.people.interval and row.outcome]
    opposite = [row for row in known if _direction(row) * direction_of(row.difference) < 0]
    open_, interval = [row for row in significant if _side(row) == 0], interval_heading(result)
    said = []
    if opposite:
        n = sum(_side(row) * row.difference < 0 for row in opposite)
        surely = f", {n:,} of them surely (0 is outside the {interval})" if n else ""
        said += [f"{_named_rows(result, opposite, known, 'difference')} the opposite sign{surely}"]
    if open_:
        of = _named_rows(result, open_, significant, "significant difference")
        said += [f"{of} 0 inside the {interval}"]
    if said:
        yield f"Corrected by people's labels, {', and '.join(said)}."


def _direction(row: ComparisonRow) -> int:
    """Return the sign of the difference by people's labels."""
    return direction_of(row.people.value or 0.0) if row.people else 0


def _side(row: ComparisonRow) -> int:
    """Return on which side of 0 the interval by people's labels is; 0 where 0 is inside."""
    low, high = row.people.interval if row.people and row.people.interval else (0.0, 0.0)
    return (low > 0) - (high < 0)


def _order_findings(result: Comparison) -> Iterator[str]:
    """Say which runs change places by people's labels, and which verdicts change, or that none do."""
    orders = result.orders
    if orders is None or not orders.of_measures:
        return
    of_measures = [*zip(result.headings.values(), orders.of_measures, strict=True)]
    exchanged = [f"{a} and {b} on {on}" for on, each in of_measures for a, b in each.exchanged]
    changed = [
        f"{run} against {other} on {on} from {before} to {after}"
        for on, each in of_measures
        for run, other, before, after in each.changed
    ]
    n_pairs, n_verdicts = (
        sum(each) for each in zip(*((e.pairs, e.verdicts) for _, e in of_measures), strict=True)
    )
    pairs = f"{pluralize(n_pairs, 'pair')} of runs"
    said = [
        _named(exchanged, pairs, ("changes places", "change places"))
        if exchanged
        else "no pair of runs changes places"
    ]
    if n_verdicts:
        verdicts = pluralize(n_verdicts, "verdict")
        said += [_named(changed, verdicts, ("changes", "change")) if changed else "no verdict changes"]
    judged = pluralize(orders.queries, "query")
    yield f"On the {judged} that people judged, by their labels {', and '.join(said)}."
