"""The options in which conventions differ; `conventions.toml` says what each value means and who uses it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import combinations, product
from typing import Any, NamedTuple

from permed_measures.papers.names import Rank

Options = Mapping[str, Any]
"""A convention: the value of each option, and for ``cutoff of NAME`` the rank that a claim is computed to."""

MEASURES = ("AP", "nDCG", "P", "R", "RR", "Success", "F1")
"""The measures that have options."""
CUTOFF = "cutoff of "
"""How the option begins that is the cutoff of a claim."""


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
FIRST_DIGITS = {"exact": None, "five_digits": 5, "query_values": None}
"""To how many digits a mean is rounded first, by the option rounding."""


def describe(option: str, value: Any) -> str:
    """Describe the value of an option, as part of a sentence."""
    if option.startswith(CUTOFF):
        return in_words(value)
    values = OPTIONS[option].values
    return values[value].description if values else f"relevant from grade {value:g} on"


def in_words(rank: Rank) -> str:
    """Return a cutoff as part of a sentence."""
    if isinstance(rank, tuple) and rank[0] != rank[1]:
        return f"{rank[0]} for precision, {rank[1]} for recall"
    return str((rank[0] if isinstance(rank, tuple) else rank) or "none")


def title(option: str) -> str:
    """Return the title of an option; a cutoff is its own title."""
    return option if option.startswith(CUTOFF) else OPTIONS[option].title


def value_of(option: str, value: Any) -> Value:
    """Return what is known of a value; nothing of a cutoff or a relevance level."""
    values = {} if option.startswith(CUTOFF) else OPTIONS[option].values
    return values.get(value, Value("", ""))


def changes_of(ours: Options, theirs: Options) -> list[str]:
    """Return the differences of a convention from another."""
    texts = []
    for option, value in ours.items():
        if value != theirs[option]:
            texts.append(
                f"{title(option)}: {describe(option, value)} (not: {describe(option, theirs[option])})"
            )
    return texts


def differing(base: Options, values: Mapping[str, Sequence[Any]], n: int) -> Iterator[Options]:
    """Yield each convention that differs from another in exactly `n` options, by the values of each option.

    Examples
    --------
    >>> list(differing({"gain": "exp", "ideal": "run"}, {"gain": ["exp", "linear"], "ideal": ["run"]}, 1))
    [{'gain': 'linear', 'ideal': 'run'}]
    """
    for changed in combinations(values, n):
        others = ([each for each in values[option] if each != base[option]] for option in changed)
        for chosen in product(*others):
            yield {**base, **dict(zip(changed, chosen, strict=True))}
