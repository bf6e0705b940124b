"""What a comparison found, in a few sentences, each of which counts every measure."""

from __future__ import annotations

from collections.abc import Iterator

from permed_measures.comparisons.corrected import what_changes
from permed_measures.comparisons.results import ComparisonResult, deciding, outcome
from permed_measures.comparisons.wording import LEVELS, interval_of, p_of_sentences, shown, shown_p
from permed_measures.markup import counted, listed
from permed_measures.measures.headings import headings_of
from permed_measures.results.findings import best_of, grouped, highest

_LEVEL = LEVELS["†"]


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
    Significantly better than old (p < 0.05): 0 of 1 run on RR. Significantly worse: 0 of 1 run on RR.
    """
    means = {run: [float(each.mean()) for each in values] for run, values in result.paired.values.items()}
    best = [best_of(means, number) for number in range(len(result.measures))]
    first, *others = highest(
        headings_of(result.measures), means, 4 if result.digits is None else result.digits
    )
    said = [first]
    if result.baseline and len(best[0]) == 1 and best[0] != [result.baseline]:
        said += [_margin(result, best[0][0], result.baseline)]
    said += others
    if untested := _untested(result):
        said += [untested]
    elif result.baseline:
        said += [_against(result, result.baseline)]
    else:
        said += _ahead(result, best)
    return [*said, *what_changes(result)]


def _margin(result: ComparisonResult, run: str, other: str) -> str:
    """Say how far the highest run is above another on the first measure, and how surely."""
    [row] = [each for each in result.rows_of(0) if {each.run, each.baseline} == {run, other}]
    test, sign = deciding(row.tests), 1 if row.run == run else -1
    said = f"That is {shown(result, sign * row.difference)} above {other}"
    p = row.tests[test].adjusted if test else None
    if p is None:
        return f"{said}."
    name = p_of_sentences(result, test)
    facts = [f"{name} < 0.001" if p < 0.001 else f"{name} = {shown_p(p)}"]
    if row.interval and sign > 0:  # otherwise it is that of the opposite difference
        facts.insert(0, f"{result.level_in_percent} CI {interval_of(result, row)}")
    article = "a" if outcome(row, test) == sign else "not a"
    return f"{said}, {article} significant difference ({', '.join(facts)})."


def _untested(result: ComparisonResult) -> str:
    """Say why nothing can be called significant, if so."""
    tests = result.rows[0].tests
    if not (test := deciding(tests)):
        return f"No significance test{' that knows of the clusters' if tests else ''} was run."
    tested = any(row.tests[test].adjusted is not None for row in result.rows)
    return "" if tested else f"No difference has a p-value ({test})."


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
        found = [_outcomes(result, number, run) for number in numbers]
        shares = _shares(found, -1, [headings[number] for number in numbers], "other run", len(headings))
        yield f"{run} is significantly better ({_level(result)}) than {shares}."


def _level(result: ComparisonResult) -> str:
    return f"{p_of_sentences(result, deciding(result.rows[0].tests))} < {_LEVEL}"


def _outcomes(result: ComparisonResult, measure: int, run: str) -> list[int]:
    """Return for each run that was tested against this one whether it is better (1) or worse (-1), or 0."""
    test = deciding(result.rows[0].tests)
    rows = [row for row in result.rows_of(measure) if row.tests[test].adjusted is not None]
    better = [outcome(row, test) for row in rows if row.baseline == run]
    return [*better, *(-outcome(row, test) for row in rows if row.run == run)]


def _shares(found: list[list[int]], sign: int, headings: list[str], noun: str, n_measures: int) -> str:
    """Write how many of how many runs have this outcome, with the measures on which that is so."""
    sizes = [(outcomes.count(sign), len(outcomes)) for outcomes in found]
    measures = grouped(zip(sizes, headings, strict=True))
    if len(measures) == 1:
        [((k, n), on)] = measures.items()
        where = "any measure" if k == 0 and 1 < len(on) == n_measures else listed(on)
        return f"{k:,} of {counted(n, noun)} on {where}"
    return listed(f"{k:,} of {counted(n, noun)} ({', '.join(on)})" for (k, n), on in measures.items())
