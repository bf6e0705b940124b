"""What a comparison found, in a few sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from permed_measures.measures.headings import headings_of
from permed_measures.reports.wording import LEVELS, interval_of, p_of_sentences, shown, shown_p
from permed_measures.statistics.results import ComparisonResult, ComparisonRow, deciding

Words = dict[str, str]
_SOME = 3
"""How many runs or measures a sentence names."""


def findings(result: ComparisonResult, words: Words) -> list[str]:
    """Say which run is best on the first measure and how surely, and whether other measures agree.

    Examples
    --------
    >>> from permed_measures.comparisons.compare import compare
    >>> from permed_measures.pages.words import page_words
    >>> qrels = {f"q{i}": {"a": 1} for i in range(4)}
    >>> runs = {"old": {q: {"b": 2.0, "a": 1.0} for q in qrels}, "new": {q: {"a": 1.0} for q in qrels}}
    >>> for sentence in findings(compare(qrels, runs, "RR", "old", tests="randomization"), page_words()):
    ...     print(sentence)
    new has the highest RR: 1.0000.
    That is 0.5000 above old, not a significant difference (95% interval [+0.0000, +0.5000], p = 0.1250).
    """
    best = _best(result, 0)
    fields = {"measure": headings_of(result.measures)[0], "mean": _mean(result, 0, best[0])}
    test = deciding(result.rows[0].tests)
    if len(best) > 1:
        return [words["f_tied"].format(runs=listed(best, words), **fields)]
    if best[0] == result.baseline:
        first = [words["f_baseline_best"].format(baseline=best[0], **fields)]
    else:
        first = [words["f_best"].format(run=best[0], **fields)]
        first += [_margin(result, best[0], test, words)] if result.baseline is not None else []
    if result.baseline is not None:
        first += [_counts(result, test, words)] if test and len(result.paired.values) > 2 else []
    else:
        first += [_beaten(result, best[0], test, words)]
    return [*first, *_other_measures(result, best[0], test, words)]


def rows_of(result: ComparisonResult, measure: int) -> list[ComparisonRow]:
    """Return the rows of a measure."""
    n = len(result.paired.pairs)
    return result.rows[measure * n : (measure + 1) * n]


def outcome(row: ComparisonRow, test: str) -> int:
    """Return 1 where the run is significantly better than its baseline, -1 where worse, 0 otherwise."""
    p = row.tests[test].adjusted if test else None
    if p is None or p >= LEVELS["†"]:
        return 0
    return 1 if row.difference > 0 else -1


def _best(result: ComparisonResult, measure: int) -> list[str]:
    """Return the runs with the highest mean, as it is printed."""
    means = {run: float(_mean(result, measure, run)) for run in result.paired.values}
    return [run for run, mean in means.items() if mean == max(means.values())]


def _mean(result: ComparisonResult, measure: int, run: str) -> str:
    return shown(result, float(result.paired.values[run][measure].mean()))


def _margin(result: ComparisonResult, run: str, test: str, words: Words) -> str:
    """Say how far the best run is above the baseline, and how surely."""
    [row] = [each for each in rows_of(result, 0) if each.run == run]
    p = row.tests[test].adjusted if test else None
    bounds = interval_of(result, row)
    facts = [words["f_interval"].format(level=result.level_in_percent, bounds=bounds)] if row.interval else []
    if p is not None:
        name = p_of_sentences(result, test)
        if name != "p":
            name = words["f_adjusted"].format(name=name.removesuffix("-adjusted p"))
        facts.append(f"{name} < 0.001" if p < 0.001 else f"{name} = {shown_p(p)}")
    key = "f_untested" if p is None else "f_better" if outcome(row, test) > 0 else "f_open"
    return words[key].format(
        difference=shown(result, row.difference),
        baseline=row.baseline,
        facts=words["f_comma"].join(facts),
    )


def _counts(result: ComparisonResult, test: str, words: Words) -> str:
    """Say how many runs are better and worse than the baseline."""
    found = [outcome(row, test) for row in rows_of(result, 0)]
    return words["f_counts"].format(
        n=len(found), better=found.count(1), worse=found.count(-1), baseline=result.baseline
    )


def _beaten(result: ComparisonResult, best: str, test: str, words: Words) -> str:
    """Say which of the runs that it is compared with the best is better than."""
    if not test:
        return words["f_no_tests"]
    found = dict(_against(result, 0, best, test))
    others = [run for run, better in found.items() if not better]
    key = "f_beats_all" if not others else "f_beats_some" if len(others) < len(found) else "f_beats_none"
    return words[key].format(n=len(found), better=len(found) - len(others), others=listed(others, words))


def _against(result: ComparisonResult, measure: int, best: str, test: str) -> Iterator[tuple[str, bool]]:
    """Yield each run that a run is compared with, and whether it is significantly better than that."""
    for row in rows_of(result, measure):
        if best == row.run:
            yield row.baseline, outcome(row, test) > 0
        elif best == row.baseline:
            yield row.run, outcome(row, test) < 0


def _other_measures(result: ComparisonResult, best: str, test: str, words: Words) -> Iterator[str]:
    """Say on which other measures the same run is best by as much evidence, and what holds on the others."""
    names = headings_of(result.measures)
    expected = dict(_against(result, 0, best, test))
    same, others = [], []
    for number in range(1, len(names)):
        first = _best(result, number)
        if first == [best] and dict(_against(result, number, best, test)) == expected:
            same.append(names[number])
        else:
            how = _how_surely(result, number, first[0], test, words) if len(first) == 1 else ""
            run = listed(first, words)
            others.append(words["f_differs_on"].format(measure=names[number], run=run, how=how))
    if same:
        yield words["f_same"].format(measures=listed(same, words))
    if others:
        yield words["f_differs"].format(measures=listed(others, words))


def _how_surely(result: ComparisonResult, measure: int, run: str, test: str, words: Words) -> str:
    """Say in brackets whether the best run is significantly better than the baseline, where there is one."""
    if result.baseline in (None, run) or not test:
        return ""
    [better] = dict(_against(result, measure, run, test)).values()
    return words["f_how"].format(outcome=words["significant" if better else "not_significant"])


def listed(names: Iterable[str], words: Words) -> str:
    """List names, the first of them where they are many."""
    names = list(names)
    if len(names) > _SOME + 1:
        names = [*names[:_SOME], words["f_more"].format(n=len(names) - _SOME)]
    return words["and"].join([words["f_list"].join(names[:-1]), names[-1]] if len(names) > 1 else names)
