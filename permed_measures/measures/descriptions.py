"""Describe measures, and how they treat queries and documents, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ir_measures.measures import Measure

from permed_measures.measures.headings import headings_of
from permed_measures.measures.parameters import values_of
from permed_measures.measures.specs import counts_all, lowest_relevant, spec_of
from permed_measures.wording import join_names

ORDERS = {
    "score": "Documents are ranked by score descending, compared as float32; ties by document id descending.",
    "list": "Documents are ranked as the files of the runs list them, whatever their scores.",
}
"""The ranking rule for each value of the option ``order``."""

_EFFECTS_OF_OPTIONS = {
    "query-ids": "Query ids of runs are rewritten to match the qrels ({}).",
    "max-passage": "Ids of runs have the document before {!r}: its best part is kept.",
    "duplicates": "If a run lists a document twice for a query, the {} row is kept.",
    "ignore-self": "A document whose id is that of the query is left out.",
    "subset": "Of files of MTEB, the subset {} is read.",
}
"""The effects of other options on runs; options with their default have none."""
_DEFAULTS = (None, "", False, "refuse")


def description_of(measure: Measure) -> str:
    """Describe a measure in one line.

    Examples
    --------
    >>> from ir_measures import AP
    >>> description_of(AP @ 10)
    'The precision at each relevant document, averaged over all of them.'
    """
    return spec_of(measure).description


def ranking_conventions(measures: Iterable[Measure], options: Mapping[str, Any]) -> list[str]:
    r"""Describe which queries count and how documents were ranked, for these measures and options.

    Examples
    --------
    >>> from ir_measures import Bpref
    >>> print(*ranking_conventions([Bpref], {"order": "list"})[2:], sep="\n")
    Documents are ranked as the files of the runs list them, whatever their scores.
    Documents that are unjudged or have a negative grade are left out before the others are ranked.
    """
    rows = list(zip(headings_of(measures := list(measures)), measures, strict=True))
    return [
        _which_queries([heading for heading, measure in rows if _may_be_nonzero(measure)], len(rows)),
        "Queries of the run that the qrels lack are ignored.",
        ORDERS[options.get("order", "score")],
        *_which_documents(rows),
        *(
            text.format(options[name])
            for name, text in _EFFECTS_OF_OPTIONS.items()
            if options.get(name) not in _DEFAULTS
        ),
    ]


def _may_be_nonzero(measure: Measure) -> bool:
    """Check whether a query without results or relevant documents may have a value other than 0."""
    spec = spec_of(measure)
    gains = values_of(measure).get("gains") or {} if lowest_relevant(measure) is None else {}
    counts = spec.of_qrels or spec.about_labels or counts_all(measure)
    return counts or any(gain > 0 for grade, gain in gains.items() if grade < 1)


def _which_queries(others: list[str], n_measures: int) -> str:
    every = "Every query of the qrels counts"
    if others and len(others) == n_measures:
        return f"{every}."
    but = f" on all but {join_names(others)}" if others else ""
    return f"{every}; one that the run lacks, or that has no relevant document, scores 0{but}."


def _which_documents(rows: list[tuple[str, Measure]]) -> Iterator[str]:
    """Describe the effect of unjudged documents and negative grades."""
    judged_only = [
        heading
        for heading, measure in rows
        if values_of(measure).get("judged_only") or spec_of(measure).judged_only
    ]
    documents = "Documents that are unjudged or have a negative grade"
    if judged_only and len(judged_only) == len(rows):
        yield f"{documents} are left out before the others are ranked."
    else:
        left_out = f"; for {join_names(judged_only)} they are left out" if judged_only else ""
        yield f"{documents} take up ranks and are not relevant{left_out}."
    if keep := [heading for heading, measure in rows if values_of(measure).get("negative") == "keep"]:
        yield f"A negative grade is a loss on {join_names(keep)}."
