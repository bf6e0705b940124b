"""The conventions that a row without a run may have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from permed_measures.conventions.means import is_possible
from permed_measures.conventions.named import NAMED, NamedConvention
from permed_measures.conventions.options import (
    CUTOFF,
    DEFAULT,
    OPTIONS,
    OPTIONS_OF,
    SHARED,
    Options,
    differing,
)
from permed_measures.conventions.values import Labels
from permed_measures.limits.row_formulas import allows, without_a_run
from permed_measures.papers.claims import Claim

_USUAL = {"AP": ("weights", ("binary", "half")), "nDCG": ("gain", ("linear", "exp"))}
"""How measures are computed nearly always, apart from the default."""
_GROUPS = ((("AP",), 2), (("nDCG",), 1), (("P", "R", "RR", "Success"), 2))
"""The measures that share options, and in how many of these a convention may differ from a usual one."""
_LEVELS = 4
"""How many relevance levels are tried."""


def usual_conventions(claims: list[Claim], labels: Labels) -> list[Options]:
    """Return how measures are computed nearly always: of all queries, within the cutoffs of the names."""
    measures = {claim.measure for claim in claims}
    options = [
        each for each in OPTIONS if each in SHARED or any(each in OPTIONS_OF.get(m, ()) for m in measures)
    ]
    default = {option: DEFAULT[option] for option in options} | {"labels": labels.policy}
    cutoffs = {CUTOFF + claim.name: claim.cutoffs[0] for claim in claims}
    ways = [
        [(option, value) for value in values] for each, (option, values) in _USUAL.items() if each in measures
    ]
    every = [{**default, **dict(chosen), **cutoffs} for chosen in product(*ways)]
    return [each for each in every if is_possible(each, labels)]


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
            shared = all(each[option] == DEFAULT[option] for option in SHARED)
            if is_possible(each, labels) and (shared or not as_named):
                found.setdefault(tuple(each.items()), each)
    return list(found.values())


def _by_labels(claims: list[Claim], labels: Labels, named: Sequence[NamedConvention]) -> Iterator[Options]:
    usual = usual_conventions(claims, labels)
    yield from usual
    for base in usual:
        yield from _changed(base, {claim.measure for claim in claims}, labels)
    yield from (convention for _, convention in named_of(claims, labels, named))
    if labels.policy == "grades":
        for base in usual:
            yield {**base, "queries": "with_relevant"}
            for claim in claims:
                yield from ({**base, CUTOFF + claim.name: cutoff} for cutoff in claim.cutoffs[1:])


def named_of(
    claims: list[Claim], labels: Labels, named: Sequence[NamedConvention]
) -> Iterator[tuple[str, Options]]:
    """Yield the conventions with a name that have all claims, as they are where any run may be."""
    for usual in usual_conventions(claims, labels)[:1]:
        for each in named:
            here = each.options["labels"] == labels.policy or not allows(each.options)
            if here and all(each.has(claim.measure) for claim in claims):
                options = {option: each.options[option] for option in usual if option in OPTIONS}
                yield each.name, {**usual, **without_a_run(options)}


def _changed(base: Options, measures: set[str], labels: Labels) -> Iterator[Options]:
    """Yield what differs from a convention in the options of one group of measures.

    nDCG, which has the most options, has one change, and none where grades are changed.
    """
    levels = tuple(dict.fromkeys([1.0, *labels.grades]))[:_LEVELS]
    for group, most in _GROUPS:
        options = [each for each in base if any(each in OPTIONS_OF[m] for m in {*group} & measures)]
        values = {option: OPTIONS[option].values_for(measures, levels) for option in options}
        for n in range(1, most + 1) if group != ("nDCG",) or labels.policy == "grades" else ():
            yield from differing(base, values, n)
