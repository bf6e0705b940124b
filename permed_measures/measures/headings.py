"""Headings of measures: their text form, with one abbreviation; each heading names one measure only."""

from __future__ import annotations

from collections.abc import Iterable

from ir_measures.measures import Measure

from permed_measures.errors import InputError
from permed_measures.measures.parameters import alias_of

EXP_NDCG, SHORT = "nDCG(dcg='exp-log2')", "nDCG-exp"
"""A measure that headings abbreviate, and its abbreviation; `parse_measure` reads both."""


def column_title(measure: Measure) -> str:
    """Format the heading of a measure for tables and plots: its text form, with exp-gain nDCG abbreviated.

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
    """Return the heading of each measure: the user's name for it, or `column_title`."""
    return [alias_of(measure) or column_title(measure) for measure in measures]


def check_headings(labels: Iterable[str], measures: Iterable[Measure]) -> None:
    """Raise InputError if a measure's name is also the label of another column."""
    taken = set(labels)
    for measure in measures:
        if (name := alias_of(measure)) in taken:
            hint = "Give the measure another name: NAME=MEASURE"
            raise InputError(f"two columns would be named {name!r}", hint=hint)


ABOUT_JUDGED = "Judged@k: the share of the first k documents with a label; others count as not relevant"


def heading_notes(measures: Iterable[Measure]) -> list[str]:
    """Explain each heading that is not the text form of its measure."""
    measures = list(measures)
    pairs = zip(headings_of(measures), map(str, measures), strict=True)
    return [f"{text} is {whole}" for text, whole in dict.fromkeys(pairs) if text != whole]


def alias_notes(measures: Iterable[Measure]) -> list[str]:
    """Explain each name that the user gave to a measure."""
    return [f"{alias_of(each)} is {each}" for each in measures if alias_of(each)]


def name_of(measure: Measure) -> str:
    """Return the name of a measure in JSON, CSV and TSV: the user's name for it, or its text form."""
    return alias_of(measure) or str(measure)
