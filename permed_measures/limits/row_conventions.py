"""The conventions that a row without a run may have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from permed_measures.conventions.named import NAMED, NamedConvention
from permed_measures.conventions.options import (
    CUTOFF,
    DEFAULT,
    MEASURES,
    OPTIONS,
    OPTIONS_OF,
    SHARED,
    Options,
    differing,
)
from permed_measures.conventions.values import Labels, is_possible
from permed_measures.limits.row_formulas import unknown_shared
from permed_measures.papers.claims import Claim

_GROUPS = (("AP",), ("nDCG",), ("P", "R", "RR", "Success", "F1"))
"""The measures that share options."""
_USUAL: tuple[dict[str, str], ...] = ({}, {"weights": "half"}, {"gain": "exp"})
"""How measures are computed nearly always, apart from the default."""
_MOST_CHANGES = {"AP": 2, "nDCG": 1}
_LEVELS = 4
"""How many relevance levels are tried."""
_SEEN_QUERIES = {"both": "qrels", "both_with_relevant": "with_relevant"}
"""What a query set is if the run has all queries, or those that it lacks score 0."""


def conventions_of(
    claims: list[Claim], policies: list[Labels], named: Sequence[NamedConvention] = NAMED
) -> list[Options]:
    """Return the conventions to try, the community's first.

    Those are the conventions with a name, and all in which the measures of one group are computed in any way
    that the audit knows while the others are computed as usual. The name of a measure of ours fixes all: the
    grades are those of the qrels, and all their queries count.
    """
    found: dict[object, Options] = {}
    as_named = any(claim.is_ours for claim in claims)
    for labels in policies:
        for each in _by_labels(claims, labels, named):
            if not as_named or shared_of(each) == shared_of(DEFAULT):
                found.setdefault(tuple(each.items()), each)
    return list(found.values())


def shared_of(convention: Options) -> Options:
    """Return the options of a convention that all measures share."""
    return {option: convention[option] for option in SHARED}


def named_left_out(claims: list[Claim], named: Sequence[NamedConvention] = NAMED) -> list[list[str]]:
    """Return for each convention with a name that is not tried what is not known of its options."""
    if any(claim.is_ours for claim in claims):
        return []
    able = (each for each in named if all(each.has(claim.measure) for claim in claims))
    return [unknown for each in able if (unknown := unknown_shared(each.options))]


def is_usual(convention: Options, claims: list[Claim]) -> bool:
    """Return whether every measure is computed as usual, of all queries, within the cutoffs of the names."""
    return shared_of(convention) == shared_of(DEFAULT) and all(
        convention[CUTOFF + claim.name] == claim.cutoffs[0]
        and any(_of(convention, claim.measure) == {**_of(DEFAULT, claim.measure), **each} for each in _USUAL)
        for claim in claims
    )


def _of(convention: Options, measure: str) -> Options:
    return {option: convention[option] for option in OPTIONS_OF.get(measure, ())}


def _by_labels(claims: list[Claim], labels: Labels, named: Sequence[NamedConvention]) -> Iterator[Options]:
    shared = {**shared_of(DEFAULT), "labels": labels.policy}
    cutoffs = {CUTOFF + claim.name: claim.cutoffs[0] for claim in claims}
    every: list[list[Options]] = []
    usual: list[list[Options]] = []
    for group in _GROUPS:
        measures = [each for each in group if each in {claim.measure for claim in claims}]
        options = [option for option in OPTIONS if any(option in OPTIONS_OF[each] for each in measures)]
        default = {option: DEFAULT[option] for option in options}
        bases: list[Options] = (
            [default | each for each in _USUAL if each.keys() <= default.keys()] if options else [{}]
        )
        usual.append([each for each in bases if is_possible(each, labels)])
        every.append(_ways(measures, usual[-1], labels))
    chosen: tuple[Options, ...]
    for chosen in product(*usual):
        yield _joined(shared, chosen, cutoffs)
    for place, ways in enumerate(every):
        for chosen in product(*usual[:place], ways, *usual[place + 1 :]):
            yield _joined(shared, chosen, cutoffs)
    yield from _with_a_name(claims, labels, named)
    if labels.policy == "grades":
        for chosen in product(*usual):
            yield _joined({**shared, "queries": "with_relevant"}, chosen, cutoffs)
            yield from (_joined(shared, chosen, each) for each in _cutoffs(claims))


def _joined(shared: Options, chosen: tuple[Options, ...], cutoffs: Options) -> Options:
    return {**shared, **{k: v for each in chosen for k, v in each.items()}, **cutoffs}


def _with_a_name(claims: list[Claim], labels: Labels, named: Sequence[NamedConvention]) -> Iterator[Options]:
    """Yield the conventions with a name; a query that the run lacks scores 0."""
    measures = {claim.measure for claim in claims} & {*MEASURES}
    options = [each for each in OPTIONS if each in SHARED or any(each in OPTIONS_OF[m] for m in measures)]
    for each in named:
        known = each.options["labels"] == labels.policy and not unknown_shared(each.options)
        if known and all(each.has(measure) for measure in measures):
            theirs = {option: each.options[option] for option in options}
            if is_possible(theirs, labels):
                queries = theirs["queries"]
                shared = {**shared_of(DEFAULT), "labels": labels.policy}
                shared["queries"] = _SEEN_QUERIES.get(queries, queries)
                cutoffs = {CUTOFF + claim.name: claim.cutoffs[0] for claim in claims}
                yield _joined(theirs, (shared,), cutoffs)


def _ways(measures: list[str], usual: list[Options], labels: Labels) -> list[Options]:
    """Return the ways to compute measures on these labels.

    nDCG, which has the most options, has one change from the usual, and none where grades are changed.
    """
    levels = tuple(dict.fromkeys([1.0, *labels.grades]))[:_LEVELS]
    most = max((_MOST_CHANGES.get(each, 2) for each in measures), default=0)
    most = 0 if measures == ["nDCG"] and labels.policy != "grades" else most
    found: dict[object, Options] = {}
    for n in range(most + 1):
        for base in usual:
            values = {option: OPTIONS[option].values_for(measures, levels) for option in base}
            for each in differing(base, values, n):
                if is_possible(each, labels):
                    found.setdefault(tuple(each.values()), each)
    return list(found.values())


def _cutoffs(claims: list[Claim]) -> Iterator[Options]:
    """Yield the cutoffs that claims may have in spite of their names, one at a time."""
    named = {CUTOFF + claim.name: claim.cutoffs[0] for claim in claims}
    for claim in claims:
        for cutoff in claim.cutoffs[1:]:
            yield {**named, CUTOFF + claim.name: cutoff}
