"""What is known of options and conventions, by the records of their values."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, reduce
from importlib.resources import files
from itertools import combinations, product
from typing import Any, NamedTuple

from permed_measures.conventions.aggregate import HALVES, QuerySet, Rounding
from permed_measures.conventions.records import (
    OPTIONS,
    QUERIES,
    QUERY_SET,
    RANKINGS,
    ROUNDING,
    GainTable,
    Value,
)
from permed_measures.escaping import grouped, join_names
from permed_measures.measures.parameters import Cutoff, precision_recall_cutoffs

Options = Mapping[str, Any]
"""The value of each option of a measure; ``cutoff of NAME`` is the cutoff of a claim about it."""
Convention = Mapping[str, Options]
"""How measures are computed: by the name of a measure its options."""

CONVENTION_MEASURES = ("AP", "nDCG", "P", "R", "RR", "Success", "F1")
"""The measures that have options."""
CUTOFF_OF = "cutoff of "
"""How the option begins that is the cutoff of a claim."""
OWN_FILE: dict[str, Any] = tomllib.loads(
    files("permed_measures.conventions").joinpath("conventions.toml").read_text(encoding="utf-8")
)
DEFAULT: Options = {name: option.default for name, option in OPTIONS.items()}
"""The community's value of each option."""
SHARED = tuple(name for name, option in OPTIONS.items() if not option.measures)
"""The options that all measures of a row share."""
OPTIONS_OF = {
    measure: tuple(name for name, option in OPTIONS.items() if measure in option.measures)
    for measure in CONVENTION_MEASURES
}
"""The options of each measure beside those that all share."""
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
    found: Rounding = computed_by(ROUNDING, value)
    return found


def counts_nothing_as_one(queries: Any) -> bool:
    """Return whether a query without relevant documents counts 1 in a query set."""
    return bool(computed_by(QUERY_SET, queries).nothing_is_one)


def query_sets() -> list[QuerySet]:
    """Return the rules of all query sets."""
    return [each.compute for each in OPTIONS[QUERY_SET].values.values()]


def place(queries: str) -> int:
    """Return the place of a query set among all."""
    return list(OPTIONS[QUERY_SET].values).index(queries)


def options_apart() -> list[str]:
    """Return the options that scripts choose for one measure, as the library has them that computes it."""
    return [name for name, option in OPTIONS.items() if option.apart]


def value_record(option: str, value: Any) -> Value | None:
    """Return the record of a value; none of a grade, a table or a cutoff."""
    known = OPTIONS.get(option)
    return None if known is None else known.values.get(value)


def value_records(options: Options) -> Iterator[Value]:
    """Yield the records of the values of a convention; grades and tables have none."""
    return (each for option, value in options.items() if (each := value_record(option, value)) is not None)


def describe(option: str, value: Any) -> str:
    """Describe the value of an option, as part of a sentence."""
    return value_of(option, value).description


def value_of(option: str, value: Any) -> Value:
    """Return the texts of a value; cutoffs, relevance levels and tables of grades are told by themselves."""
    known = OPTIONS.get(option)
    if known is None:
        return Value(cutoff_text(value), "")
    if isinstance(value, GainTable):
        what = known.title.partition(" of ")[0].removesuffix("s")
        return Value(text := f"{what}s of the grades {value}", "", text)
    if known.values:
        return known.values[value]
    return Value(text := f"relevant from grade {value:g} on", "", text if value != known.default else "")


def cutoff_text(rank: Cutoff) -> str:
    """Return a cutoff as part of a sentence."""
    precision, recall = precision_recall_cutoffs(rank)
    same = str(precision or "none")
    return same if precision == recall else f"{precision} for precision, {recall} for recall"


def title(option: str) -> str:
    """Return the title of an option; a cutoff is its own title."""
    return OPTIONS[option].title if option in OPTIONS else option


# --- conventions -----------------------------------------------------------------------------------------


class Setting(NamedTuple):
    """An option of some measures; of all that have it if none is named.

    Examples
    --------
    >>> str(Setting("ties")), str(Setting("ties", ("AP", "RR"))), Setting("ties", ("RR",)).title
    ('ties', 'ties of AP and RR', 'tie rule of RR')
    """

    option: str
    measures: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Write the name of the option and of the measures."""
        return self.option + self._of_measures

    @property
    def title(self) -> str:
        """The title of the option, with the measures."""
        return title(self.option) + self._of_measures

    @property
    def _of_measures(self) -> str:
        return f" of {join_names(list(self.measures))}" if self.measures else ""


def default_of(measure: str) -> Options:
    """Return the community's options of a measure."""
    return {option: DEFAULT[option] for option in (*SHARED, *OPTIONS_OF.get(measure, ()))}


def meant(measure: str, option: str, value: Any) -> Any:
    """Return a value of an option as a measure has it: the community's if only others have that value."""
    record = value_record(option, value)
    is_known = record is None or not record.measures or measure in record.measures
    return value if is_known else DEFAULT[option]


def options_in(convention: Convention) -> list[str]:
    """Return the options of all measures of a convention, each once."""
    return list(dict.fromkeys(option for options in convention.values() for option in options))


def settings(convention: Convention) -> dict[Setting, Any]:
    """Return the value of each option, by the measures that share it where not all do.

    Examples
    --------
    >>> found = settings({"AP": {"ties": "trec", "level": 2.0}, "RR": {"ties": "input", "level": 2.0}})
    >>> {str(setting): value for setting, value in found.items()}
    {'ties of AP': 'trec', 'ties of RR': 'input', 'level': 2.0}
    """
    found: dict[Setting, Any] = {}
    for option in options_in(convention):
        groups = measures_by_value(convention, option)
        for value, measures in groups.items():
            found[Setting(option, tuple(measures) if len(groups) > 1 else ())] = value
    return found


def measures_by_value(convention: Convention, option: str) -> dict[Any, list[str]]:
    """Return by value of an option the measures that have it."""
    return grouped((options[option], measure) for measure, options in convention.items() if option in options)


def with_value(convention: Convention, option: str, value: Any, measures: Collection[str] = ()) -> Convention:
    """Return a convention with another value of an option, for some of its measures or all that have it.

    Examples
    --------
    >>> with_value({"AP": {"ties": "trec"}, "RR": {"ties": "trec"}}, "ties", "input", ["RR"])
    {'AP': {'ties': 'trec'}, 'RR': {'ties': 'input'}}
    """
    return {
        measure: {**options, option: meant(measure, option, value)}
        if option in options and (measure in measures or not measures)
        else options
        for measure, options in convention.items()
    }


def changes_of(ours: Convention, theirs: Convention) -> list[str]:
    """Return the differences of a convention from another, in the measures that it has too.

    Examples
    --------
    >>> community = {"AP": {"level": 1.0}, "RR": {"level": 1.0}}
    >>> changes_of(with_value(community, "level", 2.0, ["RR"]), community)
    ['relevance level of RR: relevant from grade 2 on (not: relevant from grade 1 on)']
    """
    texts, ours = [], {measure: options for measure, options in ours.items() if measure in theirs}
    for option in options_in(ours):
        n_values = len(measures_by_value(ours, option))
        changes = grouped(
            ((options[option], theirs[measure][option]), measure)
            for measure, options in ours.items()
            if option in options and options[option] != theirs[measure][option]
        )
        for (value, other), measures in changes.items():
            setting = Setting(option, tuple(measures) if n_values > 1 or len(changes) > 1 else ())
            texts.append(f"{setting.title}: {describe(option, value)} (not: {describe(option, other)})")
    return texts


def with_n_changes(base: Convention, values: Mapping[str, Sequence[Any]], n: int) -> Iterator[Convention]:
    """Yield each convention that differs from another in exactly `n` options, by the values of each option.

    Examples
    --------
    >>> base = {"nDCG": {"gain": "exp", "ideal": "run"}}
    >>> list(with_n_changes(base, {"gain": ["exp", "linear"], "ideal": ["run"]}, 1))
    [{'nDCG': {'gain': 'linear', 'ideal': 'run'}}]
    """
    for changed in combinations(values, n):
        others = (
            [each for each in values[option] if {*measures_by_value(base, option)} != {each}]
            for option in changed
        )
        for new in product(*others):
            yield reduce(
                lambda found, change: with_value(found, *change), zip(changed, new, strict=True), base
            )
