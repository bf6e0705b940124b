"""Look up options and their values, and change, compare and describe conventions.

The values stand in `records.py`.
"""

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
from permed_measures.measures.parameters import Cutoff, precision_recall_cutoffs
from permed_measures.wording import grouped, join_names

Options = Mapping[str, Any]
"""The value of each option of a measure. The option ``cutoff of NAME`` is the cutoff of the claim NAME."""
Convention = Mapping[str, Options]
"""How measures are computed: the options of each measure, by its name."""

CONVENTION_MEASURES = ("AP", "nDCG", "P", "R", "RR", "Success", "F1")
"""The measures that have options."""
CUTOFF_OF = "cutoff of "
"""The prefix of the option that is the cutoff of a claim."""
OWN_FILE: dict[str, Any] = tomllib.loads(
    files("permed_measures.conventions").joinpath("conventions.toml").read_text(encoding="utf-8")
)
DEFAULT: Options = {name: option.default for name, option in OPTIONS.items()}
"""The community's value of each option."""
SHARED = tuple(name for name, option in OPTIONS.items() if not option.measures)
"""The options that every measure has."""
OPTIONS_OF = {
    measure: tuple(name for name, option in OPTIONS.items() if measure in option.measures)
    for measure in CONVENTION_MEASURES
}
"""The further options of each measure."""
OF_RANKINGS = tuple(name for name, option in OPTIONS.items() if option.about == RANKINGS)
"""The options that change the ranking."""
OF_QUERIES = tuple(name for name, option in OPTIONS.items() if option.about == QUERIES)
"""The options that change which queries count and how they are grouped.

They cannot change a function of one query, except that a query without relevant documents may score 1.
"""


# --- the functions of values -----------------------------------------------------------------------------


def computed_by(option: str, value: Any) -> Any:
    """Return the function or number behind the value of an option; a relevance level is the grade itself."""
    if isinstance(value, GainTable):
        return _by_table(option, value)
    return OPTIONS[option].values[value].compute if OPTIONS[option].values else value


@cache
def _by_table(option: str, table: GainTable) -> Any:
    of_table = OPTIONS[option].of_table
    if of_table is None:
        raise ValueError(f"{option} does not take a table of grades")
    return of_table(table)


def rounding_of(value: Any) -> Rounding:
    """Return the digits to which a value of the option rounding rounds.

    `identify` also tries a pair: the digits of the values of queries, and a key of `HALVES`.
    """
    if isinstance(value, tuple):
        digits, half = value
        return Rounding(of_queries=(digits, HALVES[half]))
    rounding: Rounding = computed_by(ROUNDING, value)
    return rounding


def counts_nothing_as_one(queries: Any) -> bool:
    """Check whether a query without relevant documents scores 1 in a query set."""
    return bool(computed_by(QUERY_SET, queries).nothing_is_one)


def query_sets() -> list[QuerySet]:
    """List the rules of all query sets."""
    return [each.compute for each in OPTIONS[QUERY_SET].values.values()]


def query_set_index(queries: str) -> int:
    """Return the index of a query set in `query_sets()`."""
    return list(OPTIONS[QUERY_SET].values).index(queries)


def per_measure_options() -> list[str]:
    """List the options that a script may set for one measure alone: each library has its own defaults."""
    return [name for name, option in OPTIONS.items() if option.per_measure]


def value_record(option: str, value: Any) -> Value | None:
    """Return the record of a value; None for a grade, a table or a cutoff."""
    known = OPTIONS.get(option)
    return None if known is None else known.values.get(value)


def value_records(options: Options) -> Iterator[Value]:
    """Yield the records of the values of a convention; grades and tables have none."""
    for option, value in options.items():
        if (record := value_record(option, value)) is not None:
            yield record


def describe(option: str, value: Any) -> str:
    """Describe the value of an option, as part of a sentence."""
    return value_of(option, value).description


def value_of(option: str, value: Any) -> Value:
    """Return the record of a value; a cutoff, a level or a table of grades gets one with texts only."""
    known = OPTIONS.get(option)
    if known is None:
        return Value(cutoff_text(value), "")
    if isinstance(value, GainTable):
        noun = known.title.partition(" of ")[0].removesuffix("s")
        return Value(text := f"{noun}s of the grades {value}", "", text)
    if known.values:
        return known.values[value]
    return Value(text := f"relevant from grade {value:g} on", "", text if value != known.default else "")


def cutoff_text(cutoff: Cutoff) -> str:
    """Write a cutoff as part of a sentence."""
    precision, recall = precision_recall_cutoffs(cutoff)
    same = str(precision or "none")
    return same if precision == recall else f"{precision} for precision, {recall} for recall"


def title(option: str) -> str:
    """Return the title of an option; a cutoff option is its own title."""
    return OPTIONS[option].title if option in OPTIONS else option


# --- conventions -----------------------------------------------------------------------------------------


class Setting(NamedTuple):
    """An option of some measures, or of every measure that has it if none is named.

    Examples
    --------
    >>> str(Setting("ties")), str(Setting("ties", ("AP", "RR"))), Setting("ties", ("RR",)).title
    ('ties', 'ties of AP and RR', 'tie rule of RR')
    """

    option: str
    measures: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Write the option and the measures."""
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
    """Return a value of an option if the measure can have it, else the community's value."""
    record = value_record(option, value)
    has_value = record is None or not record.measures or measure in record.measures
    return value if has_value else DEFAULT[option]


def options_in(convention: Convention) -> list[str]:
    """List the options of all measures of a convention, each once."""
    return list(dict.fromkeys(option for options in convention.values() for option in options))


def settings(convention: Convention) -> dict[Setting, Any]:
    """Merge the options of the measures: one setting for each value of an option that several share.

    Examples
    --------
    >>> merged = settings({"AP": {"ties": "trec", "level": 2.0}, "RR": {"ties": "input", "level": 2.0}})
    >>> {str(setting): value for setting, value in merged.items()}
    {'ties of AP': 'trec', 'ties of RR': 'input', 'level': 2.0}
    """
    merged: dict[Setting, Any] = {}
    for option in options_in(convention):
        groups = measures_by_value(convention, option)
        for value, measures in groups.items():
            merged[Setting(option, tuple(measures) if len(groups) > 1 else ())] = value
    return merged


def measures_by_value(convention: Convention, option: str) -> dict[Any, list[str]]:
    """Group the measures of a convention by their value of an option."""
    return grouped((options[option], measure) for measure, options in convention.items() if option in options)


def with_value(convention: Convention, option: str, value: Any, measures: Collection[str] = ()) -> Convention:
    """Change an option of some measures, or of all that have it.

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


def changes_of(convention: Convention, base: Convention) -> list[str]:
    """Describe how a convention differs from a base, for the measures that both have.

    Examples
    --------
    >>> community = {"AP": {"level": 1.0}, "RR": {"level": 1.0}}
    >>> changes_of(with_value(community, "level", 2.0, ["RR"]), community)
    ['relevance level of RR: relevant from grade 2 on (not: relevant from grade 1 on)']
    """
    texts, common = [], {measure: options for measure, options in convention.items() if measure in base}
    for option in options_in(common):
        n_values = len(measures_by_value(common, option))
        changes = grouped(
            ((options[option], base[measure][option]), measure)
            for measure, options in common.items()
            if option in options and options[option] != base[measure][option]
        )
        for (value, other), measures in changes.items():
            setting = Setting(option, tuple(measures) if n_values > 1 or len(changes) > 1 else ())
            texts.append(f"{setting.title}: {describe(option, value)} (not: {describe(option, other)})")
    return texts


def with_n_changes(base: Convention, values: Mapping[str, Sequence[Any]], n: int) -> Iterator[Convention]:
    """Yield each convention that differs from `base` in exactly `n` options.

    `values` has the values to try of each option.

    Examples
    --------
    >>> base = {"nDCG": {"gain": "exp", "ideal": "run"}}
    >>> list(with_n_changes(base, {"gain": ["exp", "linear"], "ideal": ["run"]}, 1))
    [{'nDCG': {'gain': 'linear', 'ideal': 'run'}}]
    """
    for changed in combinations(values, n):
        others = (
            [value for value in values[option] if {*measures_by_value(base, option)} != {value}]
            for option in changed
        )
        for new in product(*others):
            yield reduce(
                lambda convention, change: with_value(convention, *change),
                zip(changed, new, strict=True),
                base,
            )
