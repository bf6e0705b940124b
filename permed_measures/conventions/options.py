"""The options in which conventions differ; `conventions.toml` says what each value means and who uses it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import combinations
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.papers.names import Rank

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
        table = cls(", ".join(f"{grade:g}: {gains[grade]:g}" for grade in sorted(gains)))
        table.gains = dict(gains)
        return table


class Value(NamedTuple):
    """What a value of an option means, as part of a sentence, who uses it, and what a paper says of it.

    `measures` are those that have it, all of the option if empty.
    """

    description: str
    used_by: str
    phrase: str = ""
    measures: tuple[str, ...] = ()


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


def _lists_as_tuples(table: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(each) if isinstance(each, list) else each for key, each in table.items()}


def _option(table: dict[str, Any]) -> Option:
    values = {name: Value(**_lists_as_tuples(each)) for name, each in table.get("values", {}).items()}
    measures = tuple(table.get("measures", ()))
    return Option(table["title"], measures, values)


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
    known = option_of(option)
    if known is None:
        return in_words(value)
    if value == SAME:
        return SAME
    return value_of(option, value).description if known.values else f"relevant from grade {value:g} on"


def in_words(rank: Rank) -> str:
    """Return a cutoff as part of a sentence."""
    if isinstance(rank, tuple) and rank[0] != rank[1]:
        return f"{rank[0]} for precision, {rank[1]} for recall"
    return str((rank[0] if isinstance(rank, tuple) else rank) or "none")


def title(option: str) -> str:
    """Return the title of an option; a cutoff is its own title."""
    known = option_of(option)
    if known is None:
        return option
    return known.title + (option.removeprefix(OF_ALL[option]) if option in OF_ALL else "")


def value_of(option: str, value: Any) -> Value:
    """Return what is known of a value; nothing of a cutoff or a relevance level."""
    known = option_of(option)
    if isinstance(value, GainTable):
        what = "weights" if OF_ALL.get(option, option) == "weights" else "gains"
        return Value(f"{what} of the grades {value}", "", f"{what} of the grades {value}")
    return known.values.get(value, _UNKNOWN) if known else _UNKNOWN


_UNKNOWN = Value("", "")


def changes_of(ours: Options, theirs: Options) -> list[str]:
    """Return the differences of a convention from another."""
    texts = []
    for option, value in ours.items():
        other = theirs.get(option, SAME)
        if value != other:
            texts.append(f"{title(option)}: {describe(option, value)} (not: {describe(option, other)})")
    return texts


def changes(sizes: Sequence[int], n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return all ways to change `n` options that have so many values.

    Returns
    -------
    options, values : ndarray of int, shape (number of ways, n)
        The numbers of the options that are changed, and those of their new values.
    """
    every = list(combinations(range(len(sizes)), n))
    values = [_all_of([sizes[each] for each in chosen]) for chosen in every]
    options = np.repeat(
        np.array(every, np.int64).reshape(len(every), n), [len(each) for each in values], axis=0
    )
    return options, np.concatenate(values) if values else options


def _all_of(sizes: list[int]) -> NDArray[np.int64]:
    """Return all rows of numbers below these."""
    return np.indices(sizes).reshape(len(sizes), prod(sizes)).T.astype(np.int64)


def differing(base: Options, values: Mapping[str, Sequence[Any]], n: int) -> Iterator[Options]:
    """Yield each convention that differs from another in exactly `n` options, by the values of each option.

    Examples
    --------
    >>> list(differing({"gain": "exp", "ideal": "run"}, {"gain": ["exp", "linear"], "ideal": ["run"]}, 1))
    [{'gain': 'linear', 'ideal': 'run'}]
    """
    names, known = list(values), list(values.values())
    for where, new in zip(*changes([len(each) for each in known], n), strict=True):
        changed = {names[i]: known[i][j] for i, j in zip(where.tolist(), new.tolist(), strict=True)}
        if all(value != base[option] for option, value in changed.items()):
            yield {**base, **changed}
