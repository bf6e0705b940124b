"""The options in which conventions differ; `conventions.toml` says what each value means and who uses it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import combinations, product
from typing import Any, NamedTuple

from permed_measures.papers.names import Rank, both_of

Options = Mapping[str, Any]
"""A convention: the value of each option, and for ``cutoff of NAME`` the rank that a claim is computed to.

``ties of RR`` is the option of one measure, which takes the place of ``ties`` there, unless it is `SAME`.
"""

MEASURES = ("AP", "nDCG", "P", "R", "RR", "Success", "F1")
"""The measures that have options."""
CUTOFF = "cutoff of "
"""How the option begins that is the cutoff of a claim."""
SAME = "as for the other measures"
"""The value of an option of one measure that does not differ from the others."""


class GainTable(str):
    """The gain or the weight of each grade, as a value of an option; as a text ``1: 1, 2: 10``.

    Attributes
    ----------
    gains : dict of float to float
    """

    gains: dict[float, float]

    @classmethod
    def of(cls, gains: Mapping[float, float]) -> GainTable:
        """Write a table."""
        pairs = (f"{grade!r}: {gain!r}" for grade, gain in sorted(gains.items()))
        table = cls(re.sub(r"\.0\b", "", ", ".join(pairs)))  # with all digits: tables are compared as texts
        table.gains = dict(gains)
        return table


class Value(NamedTuple):
    """What a value of an option means, as part of a sentence, who uses it, and what a paper says of it.

    `measures` are those that have it, all of the option if empty.
    """

    description: str
    used_by: str
    phrase: str = ""
    measures: Sequence[str] = ()


class Option(NamedTuple):
    """An option: its title, the measures that have it (none: all of them), its values, the default first.

    One without values is a relevance level, which is a grade.
    """

    title: str
    measures: tuple[str, ...]
    values: dict[str, Value]

    @property
    def default(self) -> str | float:
        """The community's value."""
        return next(iter(self.values), 1.0)

    def values_for(self, measures: Iterable[str], levels: Iterable[float]) -> list[str | float]:
        """Return the values that these measures can have."""
        if not self.values:
            return list(levels)
        wanted = {*measures}
        return [name for name, each in self.values.items() if not each.measures or {*each.measures} & wanted]


def _option(table: dict[str, Any]) -> Option:
    values = {name: Value(**each) for name, each in table.get("values", {}).items()}
    return Option(table["title"], tuple(table.get("measures", ())), values)


OWN_FILE: dict[str, Any] = tomllib.loads(
    files("permed_measures.conventions").joinpath("conventions.toml").read_text(encoding="utf-8")
)
OPTIONS = {name: _option(table) for name, table in OWN_FILE["option"].items()}
"""The options by name."""
DEFAULT: Options = {name: option.default for name, option in OPTIONS.items()}
"""The community's value of each option."""
SHARED = tuple(name for name, option in OPTIONS.items() if not option.measures)
"""The options that all measures of a row share."""
OPTIONS_OF = {
    measure: tuple(name for name, option in OPTIONS.items() if measure in option.measures)
    for measure in MEASURES
}
"""The options of each measure."""
OWN = {
    measure: {
        f"{option} of {measure}": option
        for option in (*SHARED, *OPTIONS_OF[measure])
        if OPTIONS[option].measures != (measure,)
    }
    for measure in MEASURES
}
"""The options that a measure may have for itself, and the ones of several measures whose place they take."""
OF_ALL = {own: option for options in OWN.values() for own, option in options.items()}
"""By the option of one measure, that of several."""
TABLED = ("weights", "gain")
"""The options whose value may be a table of grades."""
FIRST_DIGITS = {"exact": None, "five_digits": 5, "query_values": None}
"""To how many digits a mean is rounded first, by the option rounding."""


def seen_by(measure: str, convention: Options) -> Options:
    """Return a convention with the options that a measure has for itself in place of those of all.

    Examples
    --------
    >>> seen_by("RR", {"ties": "trec", "ties of RR": "input", "ties of P": SAME})
    {'ties': 'input', 'ties of P': 'as for the other measures'}
    """
    own = OWN.get(measure, {})
    mine = own.keys() & convention.keys()
    if not mine:
        return convention
    found = {option: value for option, value in convention.items() if option not in mine}
    return found | {own[each]: convention[each] for each in sorted(mine) if convention[each] != SAME}


def option_of(name: str) -> Option | None:
    """Return the option of all measures or of one; none for a cutoff."""
    return OPTIONS.get(OF_ALL.get(name, name))


def describe(option: str, value: Any) -> str:
    """Describe the value of an option, as part of a sentence."""
    return value_of(option, value).description


def value_of(option: str, value: Any) -> Value:
    """Return the texts of a value; cutoffs, relevance levels and tables of grades are told by themselves."""
    known = option_of(option)
    if value == SAME:
        return Value(SAME, "")
    if known is None:
        return Value(in_words(value), "")
    if isinstance(value, GainTable):
        what = "weights" if OF_ALL.get(option, option) == "weights" else "gains"
        return Value(text := f"{what} of the grades {value}", "", text)
    if known.values:
        return known.values[value]
    return Value(text := f"relevant from grade {value:g} on", "", text if value != known.default else "")


def in_words(rank: Rank) -> str:
    """Return a cutoff as part of a sentence."""
    precision, recall = both_of(rank)
    same = str(precision or "none")
    return same if precision == recall else f"{precision} for precision, {recall} for recall"


def title(option: str) -> str:
    """Return the title of an option; a cutoff is its own title."""
    known = option_of(option)
    if known is None:
        return option
    return known.title + (option.removeprefix(OF_ALL[option]) if option in OF_ALL else "")


def changes_of(ours: Options, theirs: Options) -> list[str]:
    """Return the differences of a convention from another."""
    texts = []
    for option, value in ours.items():
        other = theirs.get(option, SAME)
        if value != other:
            texts.append(f"{title(option)}: {describe(option, value)} (not: {describe(option, other)})")
    return texts


def differing(base: Options, values: Mapping[str, Sequence[Any]], n: int) -> Iterator[Options]:
    """Yield each convention that differs from another in exactly `n` options, by the values of each option.

    Examples
    --------
    >>> list(differing({"gain": "exp", "ideal": "run"}, {"gain": ["exp", "linear"], "ideal": ["run"]}, 1))
    [{'gain': 'linear', 'ideal': 'run'}]
    """
    for changed in combinations(values, n):
        others = ([value for value in values[option] if value != base[option]] for option in changed)
        yield from ({**base, **dict(zip(changed, new, strict=True))} for new in product(*others))
