"""Search for the convention that explains the most claims with the fewest changes; find swapped columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import NamedTuple

import numpy as np

from permed_measures.auditing.answers import (
    CERTAIN,
    DIFFERENT,
    LIKELY,
    MOST_CHANGES,
    ExplainingConvention,
    simplified,
)
from permed_measures.auditing.matrix import ClaimMatrix, count_explained
from permed_measures.auditing.measured_claims import MeasuredClaim, sample_rows
from permed_measures.conventions.named import COMMUNITY, NAMED, NamedConvention
from permed_measures.conventions.options import (
    CUTOFF_OF,
    Convention,
    changes_of,
    measures_by_value,
    options_in,
    per_measure_options,
    rounding_of,
)
from permed_measures.conventions.records import ROUNDING
from permed_measures.conventions.search_space import Codes
from permed_measures.measures.parameters import Cutoff
from permed_measures.progress import step
from permed_measures.wording import join_names


def answers_to(
    trials: Sequence[MeasuredClaim],
    conventions: Sequence[NamedConvention] = NAMED,
    base_cutoffs: dict[str, Cutoff] | None = None,
) -> list[ExplainingConvention]:
    """Find the conventions that explain the most claims with the fewest changes from a named one.

    Parameters
    ----------
    trials : sequence of MeasuredClaim
    conventions : sequence of NamedConvention
    base_cutoffs : dict of str to Cutoff, optional
        The cutoff of each claim, by its name, that is not a change. If left out, the cutoff in the name.
    """
    matrix = ClaimMatrix(trials, conventions, base_cutoffs)
    return _best(matrix) or [ExplainingConvention(named, base, matrix, 0) for named, base in matrix.bases[:1]]


def _best(matrix: ClaimMatrix, beyond: int = -1) -> list[ExplainingConvention]:
    """Find the conventions that explain the most claims with the fewest changes: at most one for each base.

    In a large table, a sample of rows is searched for candidates with each number of changes, and the best
    candidates on all rows are taken. A convention must explain more than `beyond` claims of the sample.
    """
    candidates = _best_by_changes(matrix, beyond)
    counts = {n: count_explained(matrix.columns(codes)) for n, (codes, _) in candidates.items()}
    if not counts:
        return []
    n_changes = max(counts, key=lambda n: counts[n].max())  # the fewest changes come first
    is_best = np.isfinite(counts[n_changes]) & (counts[n_changes] == counts[n_changes].max())
    codes, bases = (array[is_best] for array in candidates[n_changes])
    return [
        ExplainingConvention(matrix.bases[base][0], matrix.convention(row), matrix, n_changes)
        for row, base in zip(codes, bases.tolist(), strict=True)
    ]


def _best_by_changes(matrix: ClaimMatrix, beyond: int) -> dict[int, tuple[Codes, Codes]]:
    """Find the conventions that explain the most claims with each number of changes: one for each base.

    A number of changes has no entry unless it explains more claims than fewer changes do. Each entry has the
    conventions, and the index of the base of each.
    """
    maximum, best, trials = beyond, dict[int, tuple[Codes, Codes]](), sample_rows(matrix.measurements)
    with step("searching conventions", (MOST_CHANGES + 1) * len(matrix.bases)) as advance:
        for n_changes in range(MOST_CHANGES + 1):
            if maximum == len(trials):
                break
            counted = []
            for rows in matrix.rows(n_changes):
                counted.append((rows, rows.count_explained(trials)))
                advance(len(np.unique(rows.base)))
            n_explained = max(counts.max(initial=-np.inf) for _, counts in counted)
            if n_explained > maximum:
                maximum = int(n_explained)
                chosen = [rows.first_of_bases(counts == maximum) for rows, counts in counted]
                codes, base = (np.concatenate(arrays) for arrays in zip(*chosen, strict=True))
                best[n_changes] = codes, base
    return best


_MIN_CLAIMS = 2
"""The minimum number of claims as evidence: a single one may be a typo."""


def answers_apart(best: list[ExplainingConvention]) -> list[ExplainingConvention]:
    """Let one measure have an option of its own; return these answers if they explain more claims.

    The claims of this measure must hardly match by chance. The limit is lower if the other claims are surely
    explained without it. They must be several, as a single one may be a typo.
    """
    [same, *_] = best
    n_claims = Counter(trial.measure for trial in same.trials)
    if same.complete or len(n_claims) == 1 or max(n_claims.values()) < _MIN_CLAIMS:
        return best
    conventions, trials = same.matrix.conventions, same.trials
    matrix = ClaimMatrix(trials, conventions, per_measure=per_measure_options())
    if not (apart := _best(matrix, sum(trial in same.explained for trial in sample_rows(trials)))):
        return best
    [main, *_] = apart
    measures = _measures_set_apart(main.convention, main.named.with_cutoffs(trials))
    claims = [trial for trial in main.explained if trial.measure in measures]
    if len(main.explained) <= len(same.explained) or len(claims) < _MIN_CLAIMS:
        return best
    alone = ExplainingConvention(
        main.named, main.convention, ClaimMatrix(claims, conventions), main.n_changes
    )
    is_sure = same.verdict in ("certain", "likely")
    return apart if alone.chance.value <= (DIFFERENT if is_sure else LIKELY) else best


def _measures_set_apart(convention: Convention, base: Convention) -> set[str]:
    """List the measures that share a value of an option in the base, but no longer in the convention."""
    measures = set[str]()
    for option in options_in(convention):
        for base_value, shared in measures_by_value(base, option).items():
            groups = measures_by_value({measure: convention[measure] for measure in shared}, option)
            most_common = max(groups, key=lambda value: (len(groups[value]), value == base_value))
            measures |= {*shared} - {*groups[most_common]}
    return measures


# --- claims that one convention does not explain -----------------------------------------------------


def exceptions_to(main: ExplainingConvention) -> list[ExplainingConvention]:
    """Explain the claims that an answer leaves open, by changes from it.

    Claims of a row that one convention explains are one exception. The unexplained claims of a row are
    another one, which explains none. In a large table, a sample of rows is searched. The conventions found
    there are tried on the other rows, and the claims that one of them explains are one exception.
    """
    searched, exceptions = {trial.row for trial in sample_rows(main.trials)}, list[ExplainingConvention]()
    if not searched & {trial.row for trial in main.left}:
        searched = {trial.row for trial in islice(main.left, _FEW_OPEN_CLAIMS)}
    left = [trial for trial in main.left if trial.row not in searched]
    for row in dict.fromkeys(trial.row for trial in main.left if trial.row in searched):
        exceptions += _exceptions_in(main, [trial for trial in main.left if trial.row == row])
    for exception in [each for each in exceptions if each.explained]:
        name, convention = exception.named.name, exception.convention
        if also := [trial for trial in left if _prints(trial, convention)]:
            exceptions.append(_answer(main, name, convention, also, exception.n_changes))
            left = [trial for trial in left if trial not in {*also}]
    if left:
        exceptions.append(_answer(main, "the others", main.convention, left, 0))
    return [_noting_copies(exception, main) for exception in exceptions]


_FEW_OPEN_CLAIMS = 10
"""The number of open claims whose rows are searched, if the sampled rows have no open claim."""


def _exceptions_in(main: ExplainingConvention, left: list[MeasuredClaim]) -> Iterator[ExplainingConvention]:
    """Yield the exceptions in the open claims of a row."""
    while left:
        nearest = _otherwise(main, "the others", left)
        if nearest.explained and not nearest.complete:
            nearest = _otherwise(main, "the others", nearest.explained)
        yield nearest
        left = [trial for trial in left if trial not in nearest.trials]


def other_cells(trial: MeasuredClaim, main: ExplainingConvention) -> list[str]:
    """List the cells in the row or column of a claim whose value by an answer is its number."""
    cells = [
        other
        for other in main.trials
        if (other.row == trial.row) + (other.claim.name == trial.claim.name) == 1
        and trial.has_number(other.value(main.convention), main.convention)
    ]
    several = len({each.row for each in main.trials}) > 1
    return [each.claim.name + (f" of {each.row}" if several else "") for each in cells]


def _noting_copies(exception: ExplainingConvention, main: ExplainingConvention) -> ExplainingConvention:
    """Note for an exception whether its claims may be copied from other cells."""
    are_copies = all(other_cells(trial, main) for trial in exception.trials)
    return replace(exception, may_be_copied=are_copies)


def _prints(trial: MeasuredClaim, convention: Convention) -> bool:
    """Check whether a convention explains a claim; it may lack the cutoff of the claim."""
    return CUTOFF_OF + trial.name in convention.get(trial.measure, ()) and trial.prints(convention)


def _cutoffs(main: ExplainingConvention) -> dict[str, Cutoff]:
    return {trial.claim.name: trial.cutoff(main.convention) for trial in main.trials}


def _as_named(main: ExplainingConvention, name: str) -> NamedConvention:
    """Give an answer a name, so that other conventions can be described by changes from it."""
    shared = {
        option: max(groups, key=lambda value: len(groups[value]))
        for option in main.named.shared
        if (groups := measures_by_value(main.convention, option))
    }
    return NamedConvention(name, "", main.named.measures, main.convention, {**main.named.shared, **shared})


def _answer(
    main: ExplainingConvention, name: str, convention: Convention, trials: list[MeasuredClaim], n_changes: int
) -> ExplainingConvention:
    """Make an exception: a convention near an answer, for other claims."""
    base = _as_named(main, name)
    return ExplainingConvention(base, convention, ClaimMatrix(trials, [base], _cutoffs(main)), n_changes)


def _otherwise(main: ExplainingConvention, name: str, trials: list[MeasuredClaim]) -> ExplainingConvention:
    """Explain claims by changes from an answer; if another named convention explains more, by that one."""
    cutoffs = _cutoffs(main)
    named = _as_named(main, name)
    [near] = answers_to(trials, [named], cutoffs)
    if near.complete:
        return near
    others = answers_to(trials, [named, *main.matrix.conventions], cutoffs)
    if len(others[0].explained) <= len(near.explained):
        return near
    base = named.with_cutoffs(trials, cutoffs)
    nearest = min(others, key=lambda answer: len(changes_of(answer.convention, base)))
    return ExplainingConvention(named, nearest.convention, nearest.matrix, nearest.n_changes)


class SimplerAlternative(NamedTuple):
    """The equally good answers that explain all claims but one, and the answer to this one."""

    simple: list[ExplainingConvention]
    other: ExplainingConvention

    @property
    def is_typo(self) -> bool:
        """Whether the others are explained surely, and a typo is as plausible for this one."""
        may_be_typo = self.other.may_be_copied or self.other.chance.value > CERTAIN
        return self.simple[0].verdict in ("certain", "likely") and may_be_typo


def doubts_about(main: ExplainingConvention) -> list[SimplerAlternative]:
    """Find claims that may be typos: without one of them, fewer changes explain all others.

    Such a claim is kept if random numbers in its place would be explained as easily.
    """
    simpler: dict[MeasuredClaim, Convention] = {}
    n_others = len(main.trials) - 1
    if not main.n_changes or n_others < _MIN_CLAIMS or not main.complete:
        return []
    sample = sample_rows(main.trials)
    for rows in chain.from_iterable(map(main.matrix.rows, range(main.n_changes))):
        codes = rows.codes[rows.count_explained(sample) >= len(sample) - 1]
        columns = main.matrix.columns(codes)
        is_simpler = count_explained(columns) == n_others
        left, first = np.unique(
            np.argmin([column.prints[is_simpler] for column in columns], axis=0), return_index=True
        )
        for index, row in zip(left.tolist(), first.tolist(), strict=True):
            simpler.setdefault(main.trials[index], main.matrix.convention(codes[is_simpler][row]))
    simple = {trial: _nearest(main.matrix, convention) for trial, convention in simpler.items()}
    doubts = [
        SimplerAlternative(
            answers, _noting_copies(_otherwise(answers[0], answers[0].name, [trial]), answers[0])
        )
        for trial, answers in simple.items()
    ]
    return [each for each in doubts if not (each.other.explained and each.other.is_clear) or each.is_typo]


def _nearest(matrix: ClaimMatrix, convention: Convention) -> list[ExplainingConvention]:
    """Describe a convention of a matrix by its changes from each of the nearest named ones."""
    distances = [len(changes_of(convention, base)) for _, base in matrix.bases]
    return [
        ExplainingConvention(named, convention, matrix, distance)
        for (named, _), distance in zip(matrix.bases, distances, strict=True)
        if distance == min(distances)
    ]


def nearest_to(trial: MeasuredClaim, conventions: Sequence[NamedConvention]) -> Convention:
    """Find the named convention with the value nearest to a claim; reset what makes no difference."""
    bases = [named.with_cutoffs([trial]) for named in conventions if named.has(trial.claim.measure)]
    values = [trial.value(base) for base in bases]
    distances = [np.inf if np.isnan(value) else abs(value - float(trial.claim.value)) for value in values]
    nearest = int(np.argmin(distances))
    value, convention = values[nearest], bases[nearest]
    return simplified(convention, COMMUNITY.with_cutoffs([trial]), lambda other: trial.value(other) == value)


# --- swapped columns and rows --------------------------------------------------------------------------

Cells = dict[tuple[str, str], MeasuredClaim]
"""Claims by their line, which is a column or a row, and their position in it."""


class Swap(NamedTuple):
    """The swapped columns or rows of a table in words, and its claims after the exchange."""

    text: str
    trials: list[MeasuredClaim]


def swap_in(trials: Sequence[MeasuredClaim], conventions: Sequence[NamedConvention]) -> Swap | None:
    """Find columns, or else rows, that a named convention explains after they are exchanged."""
    columns = {(trial.claim.name, trial.row): trial for trial in trials}
    rows = {(row, name): trial for (name, row), trial in columns.items()}
    if len(columns) < len({name for name, _ in columns}) * len({row for row, _ in rows}):
        return None
    for named in conventions:
        if all(named.has(trial.claim.measure) for trial in trials):
            for kind, cells in (("columns", columns), ("rows", rows)):
                if numbers_of := _permutation(cells, named.with_cutoffs(trials)):
                    text = f"the {kind} {join_names(list(numbers_of))} are swapped"
                    return Swap(text, _exchanged(cells, numbers_of))
    return None


def _permutation(cells: Cells, convention: Convention) -> dict[str, str]:
    """Match each line to the other line whose numbers it prints; empty unless this is a permutation."""
    lines, positions = (list(dict.fromkeys(each)) for each in zip(*cells, strict=True))
    values = np.array([[cells[line, position].value(convention) for position in positions] for line in lines])
    numbers_of = {}
    for line in lines:
        trials = [cells[line, position] for position in positions]
        printed = [
            trial.claim.printed(rounding_of(convention[trial.measure][ROUNDING]).of_mean) for trial in trials
        ]
        holds = [each.holds(column) for each, column in zip(printed, values.T, strict=True)]
        fits = [lines[index] for index in np.flatnonzero(np.logical_and.reduce(holds))]
        if len(fits) == 1 and fits != [line]:
            numbers_of[line] = fits[0]
    return numbers_of if {*numbers_of} == {*numbers_of.values()} else {}


def _exchanged(cells: Cells, numbers_of: dict[str, str]) -> list[MeasuredClaim]:
    """Exchange the numbers of swapped lines; the order of the claims stays."""
    printed_in = {other: line for line, other in numbers_of.items()}
    exchanged = []
    for (line, position), trial in cells.items():
        other = cells[printed_in.get(line, line), position].claim
        numbers = {name: getattr(other, name) for name in ("text", "value", "decimals", "percent")}
        exchanged.append(trial.with_claim(trial.claim._replace(**numbers, other=None)))
        exchanged[-1].cell = trial.cell
    return exchanged
