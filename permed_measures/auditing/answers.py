"""Describe one convention for several claims: what it explains, how surely, and in the words of a paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from math import comb
from typing import Any

from permed_measures.auditing.false_matches import (
    FalseMatchRate,
    PrintableRows,
    bootstrap_means,
    window_radii,
)
from permed_measures.auditing.matrix import ClaimMatrix
from permed_measures.auditing.measured_claims import MeasuredClaim, sample_rows
from permed_measures.conventions.describe import methods_phrase, sentence_of, with_cutoff
from permed_measures.conventions.named import COMMUNITY, NamedConvention
from permed_measures.conventions.options import (
    CONVENTION_MEASURES,
    DEFAULT,
    SHARED,
    Convention,
    Options,
    Setting,
    changes_of,
    describe,
    measures_by_value,
    options_in,
    settings,
    value_of,
    with_value,
)
from permed_measures.conventions.per_query import LEVEL, NEGATIVE, WEIGHTS
from permed_measures.conventions.ranking_variants import options_for
from permed_measures.conventions.records import LABELS, OPTIONS, QUERY_SET, ROUNDING
from permed_measures.tolerances import SUM_NOISE

CERTAIN, LIKELY = 0.001, 0.05
"""The false-match rates up to which an answer is called certain, and likely."""
DIFFERENT = 0.01
"""The false-match rate up to which numbers are called made differently; above it, a typo is as plausible."""
_HOPELESS = 0.05
"""If random numbers alone give a higher rate, the bootstrap is skipped: the answer may be chance anyway."""
MOST_CHANGES = 2
"""The maximum number of changes from a named convention."""


def simplified(convention: Convention, default: Convention, same: Callable[[Convention], bool]) -> Convention:
    """Reset each option that makes no difference to its default.

    For each option, these are tried in order: the default for all measures, one value for all, the default
    for the measures that share a value. `same` says whether a convention gives the same numbers.
    """
    for option in options_in(convention):
        others = (other for other in _simpler(convention, default, option) if other != convention)
        convention = next(filter(same, others), convention)
    return convention


def _simpler(convention: Convention, default: Convention, option: str) -> Iterator[Convention]:
    """Yield the convention with one value of an option for all measures, then with the default for some."""
    groups = measures_by_value(convention, option)
    default_value = next(iter(measures_by_value(default, option)))
    yield from (with_value(convention, option, value) for value in dict.fromkeys([default_value, *groups]))
    yield from (with_value(convention, option, default_value, measures) for measures in groups.values())


@dataclass(frozen=True, eq=False)
class ExplainingConvention:
    """A convention, and the claims that it should explain.

    Attributes
    ----------
    named : NamedConvention
        The nearest named convention; for exceptions, the convention of the other claims.
    convention : mapping
        The options of each measure, with the cutoff of each claim.
    matrix : ClaimMatrix
        The conventions among which it was found, with all claims, explained or not.
    n_changes : int
        The number of changes from a base of the matrix.
    may_be_copied : bool
        Whether each claim has the number of another cell in its row or column.
    """

    named: NamedConvention
    convention: Convention
    matrix: ClaimMatrix = field(repr=False)
    n_changes: int
    may_be_copied: bool = False

    @property
    def trials(self) -> list[MeasuredClaim]:
        """All claims, explained or not."""
        return list(self.matrix.measurements)

    @property
    def options(self) -> Options:
        """The value of each option; ``ties of RR`` if the measures have different ones."""
        return {str(setting): value for setting, value in settings(self.convention).items()}

    @property
    def changes(self) -> list[str]:
        """The differences from the named convention."""
        return changes_of(self.convention, self.named.with_cutoffs(self.trials, self.matrix.base_cutoffs))

    @property
    def name(self) -> str:
        """The name of the nearest named convention, with the number of changes."""
        return self.named.with_changes(len(self.changes))

    @cached_property
    def explained(self) -> list[MeasuredClaim]:
        """The claims that this convention prints."""
        return [trial for trial in self.trials if trial.prints(self.convention)]

    @cached_property
    def left(self) -> list[MeasuredClaim]:
        """The claims that it does not explain."""
        return [trial for trial in self.trials if trial not in self._explained]

    @cached_property
    def _explained(self) -> set[MeasuredClaim]:
        return {*self.explained}

    @property
    def complete(self) -> bool:
        """Whether all claims are explained."""
        return len(self.explained) == len(self.trials)

    # --- how sure it is --------------------------------------------------------------------------------

    @cached_property
    def chance(self) -> FalseMatchRate:
        """How often other numbers in place of the explained claims would be explained as well.

        In a large table, a sample of rows is counted.
        """
        sample = sample_rows(self.trials)
        claims = [trial.in_nearer_reading(self.convention) for trial in sample]
        explained = [claim for trial, claim in zip(sample, claims, strict=True) if trial in self._explained]
        if not explained:
            return FalseMatchRate(1, 1, self.n_changes)
        printable = PrintableRows(self.matrix, explained, self.n_changes)
        chance = printable.chance(comb(len(claims), len(explained)))
        if chance.value > _HOPELESS:
            return chance
        drawn = bootstrap_means(self.convention, claims, window_radii(claims))
        if len(explained) < len(claims):
            printable = PrintableRows(self.matrix, claims, self.n_changes)
        return chance._replace(n_others=printable.count_explained(drawn, len(explained)), n_drawn=len(drawn))

    @property
    def verdict(self) -> str:
        """How surely the claims were computed so: ``certain``, ``likely``, ``may be chance`` or ``none``.

        A convention that explains a minority of the claims in every row is never called likely.
        """
        if not self.explained:
            return "none"
        if self.chance.value <= CERTAIN:
            return "certain"
        rows, explained = (Counter(trial.row for trial in each) for each in (self.trials, self.explained))
        is_most = any(2 * n >= rows[row] for row, n in explained.items())
        return "likely" if is_most and self.chance.value <= LIKELY else "may be chance"

    @property
    def is_clear(self) -> bool:
        """Whether the claims were computed so: few changes, which hardly match by chance; not copied ones."""
        return not self.may_be_copied and len(self.changes) <= MOST_CHANGES and self.chance.value <= DIFFERENT

    # --- in words --------------------------------------------------------------------------------------

    @cached_property
    def simplified(self) -> Convention:
        """The convention with the default of each option that makes no difference to the explained claims."""
        return simplified(self.convention, COMMUNITY.with_cutoffs(self.trials), self._same_as)

    def _same_as(self, other: Convention) -> bool:
        """Check whether another convention prints the explained claims too, from equal means.

        In a large table, a sample of rows is checked.
        """
        return all(
            abs(trial.value(self.convention) - trial.value(other)) <= SUM_NOISE and trial.prints(other)
            for trial in sample_rows(self.explained)
        )

    def _affects_claims(self, setting: Setting) -> bool:
        """Check whether any explained claim depends on a setting."""
        return any(
            setting.option in trial.options and (trial.measure in setting.measures or not setting.measures)
            for trial in self.explained
        )

    def sentence(self) -> str:
        """Describe how the claims are computed, in the words of a methods section."""
        convention, by_measure = self.simplified, dict[str, list[str]]()
        for trial in self.explained:
            name = with_cutoff(trial.claim.measure, trial.cutoff(convention))
            by_measure.setdefault(trial.claim.measure, []).append(name)
        parts = [
            methods_phrase(list(dict.fromkeys(names)), self._printed_options(measure, convention[measure]))
            for measure, names in by_measure.items()
        ]
        shared = {option: self._most_common(convention, option) for option in SHARED}
        return "; ".join(
            [
                sentence_of(parts, self._query_set_text(shared), shared),
                *self._per_measure_texts(convention, shared),
            ]
        )

    def _most_common(self, convention: Convention, option: str) -> Any:
        """Return the most common value of an option among the explained measures; the default wins a tie."""
        groups = measures_by_value(
            {each.measure: convention[each.measure] for each in self.explained}, option
        )
        return max(groups, key=lambda value: (len(groups[value]), value == DEFAULT[option]))

    def _per_measure_texts(self, convention: Convention, shared: Options) -> Iterator[str]:
        """Yield a phrase for each measure that has a value of its own for a shared option."""
        measures = dict.fromkeys(each.measure for each in self.explained)
        for option, shared_value in shared.items():
            for measure in measures:
                if (value := convention[measure][option]) != shared_value:
                    yield f"for {measure} alone, {OPTIONS[option].title}: {describe(option, value)}"

    def _printed_options(self, measure: str, options: Options) -> Options:
        """Select the options of a measure to print; options about grades are left out for binary labels."""
        if measure not in CONVENTION_MEASURES:
            return {}
        hidden = () if value_of(LABELS, options[LABELS]).has_grades else (LEVEL, NEGATIVE, WEIGHTS)
        return {name: value for name, value in options_for(measure, options).items() if name not in hidden}

    def _query_set_text(self, shared: Options) -> str:
        if shared[QUERY_SET] != DEFAULT[QUERY_SET]:
            return describe(QUERY_SET, shared[QUERY_SET])
        return f"all {self.trials[0].run.judgments.n_queries:,} queries of the qrels"

    @property
    def settings_seen(self) -> dict[Setting, Any]:
        """The settings of the explained claims, with the default of each that makes no difference."""
        return {
            setting: value
            for setting, value in settings(self.simplified).items()
            if self._affects_claims(setting)
        }

    @cached_property
    def equivalents(self) -> dict[Setting, list[Any]]:
        """The values of each setting that give the same numbers on these data, if there are several.

        The first value is the convention's own. Each other value was tried alone.
        """
        convention, equal = self.simplified, dict[Setting, list[Any]]()
        own = settings(convention)
        for setting, value, other in self.matrix.changed_once(convention):
            if self._affects_claims(setting) and setting.option != ROUNDING and self._same_as(other):
                equal.setdefault(setting, [own[setting]]).append(value)
        return equal
