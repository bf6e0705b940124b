"""Whether runs change places, and differences their verdict, by people's labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from permed_measures.comparisons.paired import PairedRuns
from permed_measures.comparisons.results import Comparison, deciding, outcome
from permed_measures.comparisons.rows import rows_of
from permed_measures.markup import counted, listed
from permed_measures.measures.headings import headings_of
from permed_measures.people.corrected import Labelled, People
from permed_measures.people.orders import VERDICTS, Order, Orders, too_few

_FEWEST_RUNS = 3
"""Of two runs the corrected difference says all."""


def orders_of(result: Comparison, people: People, labelled: Mapping[str, Labelled]) -> Orders | None:
    """Compare the orders of the runs by both sets of labels, on the queries that people judged as a whole.

    Parameters
    ----------
    result : Comparison
    people : People
    labelled : mapping of str to Labelled
        The runs by both sets of labels.
    """
    if len(labelled) < _FEWEST_RUNS:
        return None
    queries, n = people.queries, int(people.queries.sum())
    ours = result.paired.of_queries(queries)
    n_units = ours.n_clusters if n else 0
    if reason := too_few(n, n_units, ours.unit):
        return Orders(n, len(labelled), [], reason)
    ours = replace(ours, among=None)  # these are all clusters that are tested
    theirs = replace(ours, values={run: each.by_people[:, queries] for run, each in labelled.items()})
    verdicts = [_verdicts(each, result) for each in (ours, theirs)]
    orders = []
    for number in range(len(result.measures)):
        means = ({run: float(v[number].mean()) for run, v in each.values.items()} for each in (ours, theirs))
        before, after = (each[number] for each in verdicts)
        changed = [
            (*pair, VERDICTS[before[pair]], VERDICTS[after[pair]])
            for pair in before
            if before[pair] != after[pair]
        ]
        orders.append(replace(Order.of(*means), changed=changed, verdicts=len(before)))
    return Orders(n, len(labelled), orders)


def _verdicts(paired: PairedRuns, result: Comparison) -> list[dict[tuple[str, str], int]]:
    """Return the outcome of each pair, by measure; of none where no test decides."""
    [rows], _, _ = rows_of([paired], result.options)
    n = len(paired.pairs)
    found = [rows[start : start + n] for start in range(0, len(rows), n)]
    decided = deciding(rows[0].tests)
    return [{(row.run, row.baseline): outcome(row) for row in each if decided} for each in found]


def order_sentences(result: Comparison) -> Iterator[str]:
    """Say which runs change places by people's labels, and which verdicts change, or that none do."""
    orders = result.orders
    if orders is None or not orders.of_measures:
        return
    of_measures = [*zip(headings_of(result.measures), orders.of_measures, strict=True)]
    exchanged = [f"{a} and {b} on {on}" for on, each in of_measures for a, b in each.exchanged]
    changed = [
        f"{run} against {other} on {on} from {before} to {after}"
        for on, each in of_measures
        for run, other, before, after in each.changed
    ]
    n_pairs = sum(each.pairs for _, each in of_measures)
    n_verdicts = sum(each.verdicts for _, each in of_measures)
    places = _count(exchanged, n_pairs, _PAIRS)
    verdicts = _count(changed, n_verdicts, _VERDICTS)
    also = f", and {verdicts}" if n_verdicts else ""
    yield f"On the {counted(orders.queries, 'query')} that people judged, by their labels {places}{also}."


class _Noun(NamedTuple):
    """A noun and what one or several of it do."""

    one: str
    several: str
    does: str
    do: str


_PAIRS = _Noun("pair of runs", "pairs of runs", "changes places", "change places")
_VERDICTS = _Noun("verdict", "verdicts", "changes", "change")
_NAMED = 5


def _count(names: Sequence[str], of: int, noun: _Noun) -> str:
    """Count and name what changes, such as ``2 of 3 verdicts (...) change``."""
    if not names:
        return f"no {noun.one} {noun.does}"
    counts = f"{len(names):,} of {of:,} {noun.one if of == 1 else noun.several}"
    return f"{counts} ({listed(names, _NAMED)}) {noun.does if len(names) == 1 else noun.do}"
