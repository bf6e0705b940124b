"""What is judged of runs, beside their means."""

from __future__ import annotations

import numpy as np
from ir_measures import Judged

from permed_measures.comparisons.paired import PairedRuns
from permed_measures.comparisons.results import ComparisonResult
from permed_measures.comparisons.wording import shown
from permed_measures.markup import counted
from permed_measures.measures.parameters import cutoff_of, values_of
from permed_measures.results.table import NONE, Cell

_UNEQUAL = 0.05
"""The difference in Judged@k from which a note says so."""


def every_label_is_relevant(paired: PairedRuns) -> bool:
    """Return whether no label is below what a measure calls relevant."""
    levels = [values_of(measure).get("rel") or 1 for measure in paired.measures]
    rankings = next(iter(paired.rankings.values()))
    return bool((rankings.judgments.grade >= max(levels)).all())


def _columns(paired: PairedRuns) -> dict[str, int]:
    """Return the heading of Judged by cutoff, and a measure that has this cutoff; none if all is judged."""
    if not any((each < 1).any() for each in paired.judged.values()):
        return {}
    columns: dict[int | None, int] = {}
    for number, measure in enumerate(paired.measures):
        if "cutoff" in measure.SUPPORTED_PARAMS and measure.NAME != "Judged":
            columns.setdefault(cutoff_of(measure), number)
    ascending = sorted(columns, key=lambda cutoff: cutoff or np.inf)
    found = {Judged @ cutoff if cutoff else Judged: columns[cutoff] for cutoff in ascending}
    return {str(judged): number for judged, number in found.items() if judged not in paired.measures}


def _share(paired: PairedRuns, run: str, number: int) -> float | None:
    """Return the share over the queries for which the run retrieves something; None where there is none."""
    values = paired.judged[run][number]
    answered = values[~np.isnan(values)]
    return float(answered.mean()) if len(answered) else None


def judged_headings(result: ComparisonResult) -> list[str]:
    """Return Judged@k for each cutoff, where not all is judged."""
    return list(_columns(result.paired))


def judged_cells(whole: ComparisonResult, part: ComparisonResult, run: str) -> list[Cell]:
    """Return the share that is judged of a run, on the queries of a part."""
    shares = [_share(part.paired, run, number) for number in _columns(whole.paired).values()]
    return [Cell(NONE if share is None else shown(part, share), value=share) for share in shares]


def judged_shares(result: ComparisonResult) -> dict[str, dict[str, float | None]]:
    """Return the share that is judged of each run, by cutoff."""
    columns = _columns(result.paired).items()
    return {
        run: {heading: _share(result.paired, run, number) for heading, number in columns}
        for run in result.paired.judged
    }


def about_judged(result: ComparisonResult) -> list[str]:
    """Say what Judged is a mean over, where that is not all queries."""
    if not judged_headings(result) or not any(np.isnan(each).any() for each in result.paired.judged.values()):
        return []
    return ["Judged: over the queries for which a run retrieves something"]


def judged_notes(paired: PairedRuns) -> list[str]:
    """Note the pair of runs that differs most in what is judged of it."""
    found = [
        (abs(ours - theirs), heading, run, ours, baseline, theirs)
        for heading, number in _columns(paired).items()
        for run, baseline in paired.pairs
        if (ours := _share(paired, run, number)) is not None
        and (theirs := _share(paired, baseline, number)) is not None
    ]
    apart, heading, run, ours, baseline, theirs = max(found, default=(0.0, "", "", 0.0, "", 0.0))
    if apart < _UNEQUAL:
        return []
    most = f" (the widest of {counted(len(paired.pairs), 'pair')})" if len(paired.pairs) > 1 else ""
    return [
        f"{heading}: {run!r} {ours:.2f}, {baseline!r} {theirs:.2f}{most}; "
        "differences may be due to unjudged documents"
    ]
