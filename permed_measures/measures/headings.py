"""Headings of measures: as they print, but for one short form; never the same for two measures."""

from __future__ import annotations

from collections.abc import Iterable

from ir_measures.measures import Measure

from permed_measures.errors import InputError
from permed_measures.measures.parameters import alias_of

EXP_NDCG, SHORT = "nDCG(dcg='exp-log2')", "nDCG-exp"
"""What is written shorter in a heading, and how; `parse_measure` reads it back."""


def column_title(measure: Measure) -> str:
    """Return what heads a measure in every table and plot: the measure as it prints, exp-gain nDCG shorter.

    Examples
    --------
    >>> from permed_measures.measures.parsing import parse_measure
    >>> for text in ("nDCG(dcg='exp-log2')@10", "nDCG(judged_only=True,dcg='exp-log2')", "P(rel=1)@5"):
    ...     print(column_title(parse_measure(text)))
    nDCG-exp@10
    nDCG(judged_only=True,dcg='exp-log2')
    P@5
    """
    return str(measure).replace(EXP_NDCG, SHORT)


def headings_of(measures: Iterable[Measure]) -> list[str]:
    """Return the heading of each measure: the user's own, or the short name."""
    return [alias_of(measure) or column_title(measure) for measure in measures]


def check_headings(labels: Iterable[str], measures: Iterable[Measure]) -> None:
    """Raise InputError for a measure with the heading of another column of its table."""
    taken = set(labels)
    for measure in measures:
        if (name := alias_of(measure)) in taken:
            hint = "Give the measure another name: NAME=MEASURE"
            raise InputError(f"two columns would be named {name!r}", hint=hint)


ABOUT_JUDGED = "Judged@k: the share of the first k documents with a label; others count as not relevant"


def heading_notes(measures: Iterable[Measure]) -> list[str]:
    """Say what each heading stands for that is not the measure as it prints."""
    measures = list(measures)
    pairs = zip(headings_of(measures), map(str, measures), strict=True)
    return [f"{text} is {whole}" for text, whole in dict.fromkeys(pairs) if text != whole]


def alias_notes(measures: Iterable[Measure]) -> list[str]:
    """Say which measure each name of the user's own stands for."""
    return [f"{alias_of(each)} is {each}" for each in measures if alias_of(each)]


def name_of(measure: Measure) -> str:
    """Return the name of a measure in JSON, CSV and TSV: the user's own, or the measure as it prints."""
    return alias_of(measure) or str(measure)
