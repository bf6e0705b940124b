"""One convention for several claims: what it explains, how sure that is, and how a paper would say it."""

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
from permed_measures.conventions.search_space import ConventionSpace
from permed_measures.tolerances import SUM_NOISE

CERTAIN, LIKELY = 0.001, 0.05
"""The chances up to which an answer is that."""
DIFFERENT = 0.01
"""The chance up to which numbers count as made differently; above, a typo is as good an explanation."""
_HOPELESS = 0.05
"""Where more arbitrary numbers would be explained, what other runs would have is no matter."""
MOST_CHANGES = 2
"""How far from a named convention an answer is at most."""


def simplified(convention: Convention, default: Convention, same: Callable[[Convention], bool]) -> Convention:
    """Return a convention with the default of each option that makes no difference.

    Where it does for some measures, and others have other values, as many as may have the same one get it.
    """
    for option in options_in(convention):
        others = (other for other in _simpler(convention, default, option) if other != convention)
        convention = next(filter(same, others), convention)
    return convention


def _simpler(convention: Convention, default: Convention, option: str) -> Iterator[Convention]:
    """Yield a convention with the default of an option, or fewer values of it."""
    groups = measures_by_value(convention, option)
    usual = next(iter(measures_by_value(default, option)))
    yield from (with_value(convention, option, value) for value in dict.fromkeys([usual, *groups]))
    yield from (with_value(convention, option, usual, measures) for measures in groups.values())


@dataclass(frozen=True, eq=False)
class ExplainingConvention:
    """A convention, and the claims that it should explain.

    Attributes
    ----------
    named : NamedConvention
        The nearest named convention, or that of other claims.
    convention : mapping
        By measure the value of each option, and the cutoff of each claim.
    space : Space
        Where it was found, with all claims, explained or not.
    n_changes : int
        How far from a base of the space it is.
    """

    named: NamedConvention
    convention: Convention
    space: ConventionSpace[MeasuredClaim] = field(repr=False)
    n_changes: int

    @property
    def trials(self) -> list[MeasuredClaim]:
        """All claims, explained or not."""
        return list(self.space.measurements)

    @property
    def options(self) -> Options:
        """The value of each option, by the measures that share one where not all do: ``ties of RR``."""
        return {str(setting): value for setting, value in settings(self.convention).items()}

    @property
    def changes(self) -> list[str]:
        """The differences from the named convention."""
        return changes_of(self.convention, self.named.at(self.trials, self.space.base_cutoffs))

    @property
    def name(self) -> str:
        """The name, and the number of changes."""
        return self.named.with_changes(len(self.changes))

    @cached_property
    def explained(self) -> list[MeasuredClaim]:
        """The claims that this convention prints."""
        return [trial for trial in self.trials if trial.prints(self.convention)]

    @cached_property
    def left(self) -> list[MeasuredClaim]:
        """The claims that it leaves open."""
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
        """How often other numbers in place of the claims that are explained would be explained as well.

        Of a large table some rows are looked at.
        """
        rows = sample_rows(self.trials)
        some = [trial.in_nearer_reading(self.convention) for trial in rows]
        explained = [read for trial, read in zip(rows, some, strict=True) if trial in self._explained]
        if not explained:
            return FalseMatchRate(1, 1, self.n_changes)
        near = PrintableRows(self.space, explained, self.n_changes)
        chance = near.chance(comb(len(some), len(explained)))
        if chance.value > _HOPELESS:
            return chance
        drawn = bootstrap_means(self.convention, some, window_radii(some))
        every = near if len(explained) == len(some) else PrintableRows(self.space, some, self.n_changes)
        return chance._replace(n_others=every.count_explained(drawn, len(explained)), n_drawn=len(drawn))

    @property
    def verdict(self) -> str:
        """How surely the claims were made so: ``certain``, ``likely``, ``may be chance`` or ``none``.

        What explains the minority of the claims of each row may be chance, if it is not certain.
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
        """Whether claims were made so rather than mistyped: few changes, which hardly fit by chance."""
        return len(self.changes) <= MOST_CHANGES and self.chance.value <= DIFFERENT

    # --- what is said of it ----------------------------------------------------------------------------

    @cached_property
    def simplified(self) -> Convention:
        """The same, with the default of each option that makes no difference to the explained claims."""
        return simplified(self.convention, COMMUNITY.at(self.trials), self._same_as)

    def _same_as(self, other: Convention) -> bool:
        """Return whether another convention prints the explained claims too, from the same values.

        Of a large table some rows are looked at.
        """
        return all(
            abs(trial.value(self.convention) - trial.value(other)) <= SUM_NOISE and trial.prints(other)
            for trial in sample_rows(self.explained)
        )

    def _affects_claims(self, setting: Setting) -> bool:
        """Return whether any explained claim depends on an option of some measures."""
        return any(
            setting.option in trial.options and (trial.measure in setting.measures or not setting.measures)
            for trial in self.explained
        )

    def sentence(self) -> str:
        """Say how the claims are computed, as a paper would."""
        ours, by_measure = self.simplified, dict[str, list[str]]()
        for trial in self.explained:
            name = with_cutoff(trial.claim.measure, trial.cutoff(ours))
            by_measure.setdefault(trial.claim.measure, []).append(name)
        parts = [
            methods_phrase(list(dict.fromkeys(names)), self._printed_options(measure, ours[measure]))
            for measure, names in by_measure.items()
        ]
        shared = {option: self._most_common(ours, option) for option in SHARED}
        return "; ".join(
            [sentence_of(parts, self._query_set_text(shared), shared), *self._per_measure_texts(ours, shared)]
        )

    def _most_common(self, ours: Convention, option: str) -> Any:
        """Return the value of an option that most of the measures have, the default rather than another."""
        groups = measures_by_value({each.measure: ours[each.measure] for each in self.explained}, option)
        return max(groups, key=lambda value: (len(groups[value]), value == DEFAULT[option]))

    def _per_measure_texts(self, ours: Convention, shared: Options) -> Iterator[str]:
        """Yield what measures have for themselves of what most of them share."""
        measures = dict.fromkeys(each.measure for each in self.explained)
        for option, usual in shared.items():
            for measure in measures:
                if (value := ours[measure][option]) != usual:
                    yield f"for {measure} alone, {OPTIONS[option].title}: {describe(option, value)}"

    def _printed_options(self, measure: str, ours: Options) -> Options:
        """Return the options of a measure to print; without those of grades where labels have none."""
        if measure not in CONVENTION_MEASURES:
            return {}
        hidden = () if value_of(LABELS, ours[LABELS]).has_grades else (LEVEL, NEGATIVE, WEIGHTS)
        return {each: value for each, value in options_for(measure, ours).items() if each not in hidden}

    def _query_set_text(self, ours: Options) -> str:
        if ours[QUERY_SET] != DEFAULT[QUERY_SET]:
            return describe(QUERY_SET, ours[QUERY_SET])
        return f"all {self.trials[0].run.judgments.n_queries:,} queries of the qrels"

    @property
    def settings_seen(self) -> dict[Setting, Any]:
        """The options of the explained claims, with the default of each that makes no difference."""
        return {
            setting: value
            for setting, value in settings(self.simplified).items()
            if self._affects_claims(setting)
        }

    @cached_property
    def equivalents(self) -> dict[Setting, list[Any]]:
        """Return by option all values that give the same numbers on these data, where there are several.

        The first value is the convention's own; each of the others was changed alone.
        """
        ours, found = self.simplified, dict[Setting, list[Any]]()
        own = settings(ours)
        for setting, value, other in self.space.changed_once(ours):
            if self._affects_claims(setting) and setting.option != ROUNDING and self._same_as(other):
                found.setdefault(setting, [own[setting]]).append(value)
        return found
