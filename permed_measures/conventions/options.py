"""What is known of options and conventions, by the records of their values."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import combinations, product
from typing import Any

from permed_measures.conventions.aggregate import HALVES, QuerySet, Rounding
from permed_measures.conventions.records import OPTIONS, QUERIES, RANKINGS, GainTable, Option, Value
from permed_measures.measures.parameters import Cutoff, both_of

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
OWN_FILE: dict[str, Any] = tomllib.loads(
    files("permed_measures.conventions").joinpath("conventions.toml").read_text(encoding="utf-8")
)
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
OF_RANKINGS = tuple(name for name, option in OPTIONS.items() if option.about == RANKINGS)
"""The options that rankings depend on."""
OF_QUERIES = tuple(name for name, option in OPTIONS.items() if option.about == QUERIES)
"""The options that make no difference to a function of one query, but that nothing relevant may count 1."""


# --- what values compute ---------------------------------------------------------------------------------


def computed_by(option: str, value: Any) -> Any:
    """Return what the value of an option computes; of a relevance level the grade itself."""
    if isinstance(value, GainTable):
        return _by_table(option, value)
    return OPTIONS[option].values[value].compute if OPTIONS[option].values else value


@cache
def _by_table(option: str, table: GainTable) -> Any:
    of_table = OPTIONS[option].of_table
    if of_table is None:
        raise ValueError(f"{option} is no table")
    return of_table(table)


def rounding_of(value: Any) -> Rounding:
    """Return what a value of the option rounding does.

    Those of `identify` are to any number of digits of the values of queries: a pair of the digits and a key
    of `HALVES`.
    """
    if isinstance(value, tuple):
        digits, way = value
        return Rounding(of_queries=(digits, HALVES[way]))
    found: Rounding = computed_by("rounding", value)
    return found


def counts_nothing_as_one(queries: Any) -> bool:
    """Return whether a query without relevant documents counts 1 in a query set."""
    return bool(computed_by("queries", queries).nothing_is_one)


def query_sets() -> list[QuerySet]:
    """Return the rules of all query sets."""
    return [each.compute for each in OPTIONS["queries"].values.values()]


def place(queries: str) -> int:
    """Return the place of a query set among all."""
    return list(OPTIONS["queries"].values).index(queries)


def options_apart() -> list[str]:
    """Return the options that scripts choose for one measure, as the library has them that computes it."""
    return [name for name, option in OPTIONS.items() if option.apart]


def record_of(option: str, value: Any) -> Value | None:
    """Return the record of a value; none of a grade, a table or a cutoff."""
    known = option_of(option)
    return None if known is None else known.values.get(value)


def records_of(options: Options) -> Iterator[Value]:
    """Yield the records of the values of a convention; grades and tables have none."""
    return (each for option, value in options.items() if (each := record_of(option, value)) is not None)


# --- conventions -----------------------------------------------------------------------------------------


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
        what = known.title.partition(" of ")[0].removesuffix("s")
        return Value(text := f"{what}s of the grades {value}", "", text)
    if known.values:
        return known.values[value]
    return Value(text := f"relevant from grade {value:g} on", "", text if value != known.default else "")


def in_words(rank: Cutoff) -> str:
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
