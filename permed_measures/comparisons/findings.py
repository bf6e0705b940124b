"""What a comparison found, in a few sentences, each of which counts every measure."""

from __future__ import annotations

from collections.abc import Iterator

from permed_measures.comparisons.corrected import named_rows, what_changes
from permed_measures.comparisons.results import LEVEL, ComparisonResult, deciding, is_significant, outcome
from permed_measures.comparisons.tests import direction_of
from permed_measures.comparisons.wording import interval_of, not_zero, p_of_sentences, shown_p, test_name
from permed_measures.markup import counted, listed
from permed_measures.measures.headings import headings_of
from permed_measures.results.findings import best_of, grouped, highest


def findings(result: ComparisonResult) -> list[str]:
    """Say which run is highest on each measure, and how many runs differ significantly from which.

    With a baseline these are the runs that are better, and worse, than it; without, the runs that the highest
    of each measure is better than, where one run is the highest.

    Examples
    --------
    >>> from permed_measures.comparisons.compare import compare
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
    first, *others = highest(headings_of(result.measures), means, result.decimals)
    said = [first]
    if result.baseline and len(best[0]) == 1 and best[0] != [result.baseline]:
        said += [_margin(result, best[0][0], result.baseline)]
    return [*said, *others, *_verdicts(result, best), *what_changes(result)]


def _margin(result: ComparisonResult, run: str, other: str) -> str:
    """Say how far the highest run is above another on the first measure, and how surely."""
    [row] = [each for each in result.rows_of(0) if {each.run, each.baseline} == {run, other}]
    test, sign = deciding(row.tests), 1 if row.run == run else -1
    said = f"That is {not_zero(sign * row.difference, result.decimals)} above {other}"
    p = row.tests[test].adjusted if test else None
    if p is None:
        return f"{said}."
    name = p_of_sentences(result, test)
    facts = [f"{name} < 0.001" if p < 0.001 else f"{name} = {shown_p(p)}"]
    if row.interval and sign > 0:  # otherwise it is that of the opposite difference
        facts.insert(0, f"{result.level_in_percent} CI {interval_of(result, row)}")
    verdict = {
        sign: "a significant difference",
        0: "not a significant difference",
        -sign: f"but by {test_name(test)} {other} is significantly better",
    }
    return f"{said}, {verdict[outcome(row)]} ({', '.join(facts)})."


# --- which differences are significant -----------------------------------------------------------------


def _verdicts(result: ComparisonResult, best: list[list[str]]) -> Iterator[str]:
    """Say which differences are significant, and what is to be known of that."""
    tests = result.rows[0].tests
    test = deciding(tests)
    untested = [row for row in result.rows if not test or row.tests[test].adjusted is None]
    if not test:
        yield f"No significance test{' that knows of the clusters' if tests else ''} was run."
    elif len(untested) == len(result.rows):
        yield f"No difference has a p-value ({test})."
    else:
        if not any(map(is_significant, result.rows)):
            over_all = " over all queries" if result.by else ""
            yield f"No difference{over_all} is significant ({_level(result)})."
        elif result.baseline:
            yield _against(result, result.baseline)
        else:
            yield from _ahead(result, best)
        if untested:
            yield f"{named_rows(result, untested, result.rows, 'difference')} no p-value ({test})."
    yield from _contradictions(result)


def _against(result: ComparisonResult, baseline: str) -> str:
    """Say how many runs are better and worse than a baseline, on each measure."""
    found = [_outcomes(result, number, baseline) for number in range(len(result.measures))]
    better, worse = (
        _shares(found, sign, headings_of(result.measures), "run", len(found)) for sign in (1, -1)
    )
    return f"Significantly better than {baseline} ({_level(result)}): {better}. Significantly worse: {worse}."


def _ahead(result: ComparisonResult, best: list[list[str]]) -> Iterator[str]:
    """Say of each run that is the highest alone how many others it is better than, on these measures."""
    headings = headings_of(result.measures)
    alone = grouped((runs[0], number) for number, runs in enumerate(best) if len(runs) == 1)
    for run, numbers in alone.items():
        found, on = [_outcomes(result, number, run) for number in numbers], [headings[n] for n in numbers]
        if any(map(any, found)):
            shares = _shares(found, -1, on, "other run", len(headings))
            yield f"{run} is significantly better ({_level(result)}) than {shares}."
        else:
            yield f"On {listed(on)} no difference of {run} is significant ({_level(result)})."


def _contradictions(result: ComparisonResult) -> Iterator[str]:
    """Say where a test finds the run better whose mean is not."""
    for label, part in result.sections():
        significant = [row for row in part.rows if is_significant(row)]
        against = [row for row in significant if direction_of(row.difference) != outcome(row)]
        if against:
            test = deciding(against[0].tests)
            name, where = test_name(test), f"{result.by} {label}: " * (part is not result)
            said = named_rows(result, against, significant, "significant difference", ("is", "are"))
            yield (
                f"{where}{said} in favour of the run whose mean is not higher: {name} goes by the ranks of "
                "the differences, not by their mean."
            )


def _level(result: ComparisonResult) -> str:
    return f"{p_of_sentences(result, deciding(result.rows[0].tests))} < {LEVEL}"


def _outcomes(result: ComparisonResult, measure: int, run: str) -> list[int]:
    """Return for each run that is compared with this one whether it is better (1) or worse (-1), or 0."""
    rows = result.rows_of(measure)
    better = [outcome(row) for row in rows if row.baseline == run]
    return [*better, *(-outcome(row) for row in rows if row.run == run)]


def _shares(found: list[list[int]], sign: int, headings: list[str], noun: str, n_measures: int) -> str:
    """Write how many of how many runs have this outcome, with the measures on which that is so."""
    sizes = [(outcomes.count(sign), len(outcomes)) for outcomes in found]
    measures = grouped(zip(sizes, headings, strict=True))
    if len(measures) == 1:
        [((k, n), on)] = measures.items()
        where = "any measure" if k == 0 and 1 < len(on) == n_measures else listed(on)
        return f"{k:,} of {counted(n, noun)} on {where}"
    return listed(f"{k:,} of {counted(n, noun)} ({', '.join(on)})" for (k, n), on in measures.items())
