"""Which convention a function computes: it is asked for the numbers of small collections."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from permed_measures.conventions.describe import measure_of, methods_phrase, sentence_of, with_cutoff
from permed_measures.conventions.named import NamedConvention, conventions_with
from permed_measures.conventions.options import (
    CUTOFF_OF,
    DEFAULT,
    SHARED,
    Convention,
    Options,
    changes_of,
    counts_nothing_as_one,
    describe,
    title,
    with_value,
)
from permed_measures.conventions.per_query import IDEAL, LabelPolicy
from permed_measures.conventions.ranking_variants import options_for
from permed_measures.conventions.records import AVERAGED, LABELS, OPTIONS, QUERY_SET, ROUNDING
from permed_measures.conventions.search_space import Codes
from permed_measures.engine.judgments import Judgments
from permed_measures.errors import InputError, check_choice
from permed_measures.escaping import grouped, pluralize
from permed_measures.identification.cases import (
    TRAITS,
    Case,
    described,
    fraction,
)
from permed_measures.identification.detection import form_taken
from permed_measures.identification.elimination import Asked, Claimed, FunctionSearch, convention_value
from permed_measures.identification.forms import SIGNATURES, Function
from permed_measures.identification.program import Program
from permed_measures.identification.script import Script
from permed_measures.identification.user_function import error_text, meaning_asked
from permed_measures.provenance import Origin, provenance
from permed_measures.results.report import Report, Result, Section, how_made
from permed_measures.results.table import Cell, Table
from permed_measures.tolerances import SINGLE_PRECISION


@dataclass(frozen=True, eq=False)
class IdentifiedConvention:
    """A convention that gives the numbers of a function, or the nearest that there is.

    Attributes
    ----------
    named : NamedConvention
        The nearest that has a name.
    convention : mapping
        By measure the value of each option, and the cutoff; the default of what the function does not see.
    changes : list of str
        The differences from the named convention, in what the function sees.
    """

    named: NamedConvention
    convention: Convention
    changes: list[str]
    _claimed: Claimed = field(repr=False)
    _sees_queries: bool = field(repr=False)

    @property
    def options(self) -> Options:
        """The value of each option, and the cutoff."""
        return self.convention[self._claimed.measure]

    @property
    def name(self) -> str:
        """The name, and the number of changes."""
        return self.named.with_changes(len(self.changes))

    @property
    def measure(self) -> str | None:
        """The measure as one types it, for grades 0, 1 and 2; None if no measure of ours writes it.

        It says how the value of a query is computed. `sentence` also says how ties are broken, and which
        queries are averaged; a mean that is not that of queries, or to which queries without a relevant
        document add 1, is not this measure's.
        """
        if counts_nothing_as_one(self.options[QUERY_SET]) or any(
            self.options[each] != DEFAULT[each] for each in SHARED if OPTIONS[each].changes_measure
        ):
            return None
        own = options_for(self._claimed.measure, self.options)
        labels = LabelPolicy.of(DEFAULT[LABELS], Judgments.of({"q": {"a": 2, "b": 1}}))
        found = measure_of(self._claimed.measure, self._cutoff, own, labels)
        return None if found is None else str(found)

    @property
    def _cutoff(self) -> Any:
        return self.options[CUTOFF_OF + self._claimed.name]

    def sentence(self) -> str:
        """Say how it is computed, as a paper would."""
        measure, ours = self._claimed.measure, self.options
        own = dict(options_for(measure, ours))
        if own.get(IDEAL) == _NO_IDEAL:
            measure = "DCG"
            del own[IDEAL]
        told = self._sees_queries or ours[QUERY_SET] != DEFAULT[QUERY_SET]
        over = describe(QUERY_SET, ours[QUERY_SET]) if told else ""
        return sentence_of([methods_phrase([with_cutoff(measure, self._cutoff)], own)], over, ours)


_NO_IDEAL = "none"
"""The value of the option ideal by which nDCG is DCG."""


class OptionDifference(NamedTuple):
    """An option that is not ir_measures' default, and a case on which that makes a difference.

    Attributes
    ----------
    option : str
    text : str
        Its value, and the default.
    case : Case or None
        None if no case shows it.
    value, default : float
        The number of the function, and that by the default of this option.
    described, described_default : str
        The value of the option and the default, each in words.
    """

    option: str
    text: str
    case: Case | None = None
    value: float = np.nan
    default: float = np.nan
    described: str = ""
    described_default: str = ""


class Counterexample(NamedTuple):
    """The smallest case that was found on which a function and the nearest convention differ."""

    qrels: dict[str, dict[str, float]]
    run: dict[str, dict[str, float]]
    value: float
    nearest: float


class LeftOut(NamedTuple):
    """Cases on which a function gives no number: how many, the error and its line, the smallest case."""

    n: int
    error: str
    where: str
    traits: list[str]
    case: Case


@dataclass(frozen=True)
class Identified(Result):
    """Which convention a function computes; ``print`` shows it.

    ``to_polars`` and ``to_pandas`` give a row for each option of the convention: ``option``, ``value``,
    ``default`` (ir_measures'), and where these differ ``qrels``, ``run``, ``function`` and ``by_default``, a
    case on which that shows.

    Attributes
    ----------
    name : str
        The measure that was asked for.
    answers : list of Answer
        The conventions that no case tells apart, the nearest to a named one first; empty if none gives the
        numbers of the function.
    nearest : Answer
        The first of these, or else the convention that gives them on the most cases.
    n_agree, n_cases : int
        On how many cases the nearest gives them, and on how many the function returns a number, without those
        that are left out; where there are answers they are equal.
    names : list of str
        The named conventions among the answers.
    open : dict of str to str
        By option, the values that no case tells apart, and why.
    differences : list of Difference
        What differs from ir_measures' default.
    counterexample : Counterexample or None
    left_out : list of LeftOut
    notes : list of str
        How the numbers were read, and which cases no convention explains.
    read_as : str
        How the numbers were read if not as they are: in percent, rounded.
    takes : str
        What the function was called with, in words.
    called : str
        A small call of it, as one would write it.
    who : str
        What was asked, in words: the function, or the program.
    """

    name: str
    answers: list[IdentifiedConvention]
    nearest: IdentifiedConvention
    n_agree: int
    n_cases: int
    names: list[str] = field(default_factory=list)
    open: dict[str, str] = field(default_factory=dict)
    differences: list[OptionDifference] = field(default_factory=list)
    counterexample: Counterexample | None = None
    left_out: list[LeftOut] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    read_as: str = ""
    takes: str = ""
    called: str = ""
    who: str = "the function"
    origin: Origin | None = field(default=None, repr=False)

    @property
    def ok(self) -> bool:
        """Whether some convention gives what the function gives, on every case."""
        return bool(self.answers)

    @property
    def measure(self) -> str | None:
        """The measure as one types it; None if none of ours writes it, or nothing fits."""
        return self.nearest.measure if self.ok else None

    def __repr__(self) -> str:
        """Say what was found."""
        return f"<Identified {self.name}: {self.nearest.name if self.ok else 'no convention'}>"

    def report(self) -> Report:
        """Return the measure, what differs from the default and what is left open; or what is nearest."""
        return Report(
            f"{self.name}: {self.nearest.sentence()}",
            [*self._finding()],
            [*self._sections()],
            [note for note in self.notes if not (self.ok and self.read_as and note.endswith(self.read_as))],
            data=partial(_content, self),
            rows=partial(_rows, self),
            how=lambda: {**how_made([], self.origin), "conventions": _sentences(self)},
        )

    def _finding(self) -> Iterator[str]:
        """Yield the measure as one types it, how it is computed, and how much of the evidence agrees."""
        sentence, cases = self.nearest.sentence(), pluralize(self.n_cases, "case")
        if not self.ok:
            yield f"No convention gives the numbers of {self.who} for {self.name}."
            yield f"The nearest agrees on {self.n_agree:,} of {cases}: {sentence}."
            return
        first, _, others = sentence.partition("; ")
        yield f"{self.name} is {self.measure or first}."
        if self.measure not in (None, first):
            yield f"In words: {sentence}."
        elif others:
            yield f"{others[0].upper()}{others[1:]}."
        verb = "prints" if self.who == _PROGRAM else "returns"
        with_number = f" on which it {verb} a number" if self.left_out else ""
        read = f", read as {self.read_as}" if self.read_as else ""
        yield f"{self.who.capitalize()} agrees on all {cases}{with_number}{read}."
        if not self.differences:
            yield "No difference from ir_measures' default was found."

    def _sections(self) -> Iterator[Section]:
        if self.differences:
            shown = [each for each in self.differences if each.case]
            yield Section(
                "Different from ir_measures' default",
                tables=[_table_of([_compared(each, self.who) for each in shown], _CHANGED_ALONE)]
                if shown
                else (),
                texts=[each.text for each in self.differences if not each.case],
            )
        if self.counterexample:
            found = self.counterexample
            case = Case(found.qrels, found.run)
            values = {self.who: found.value, "the nearest convention": found.nearest}
            table = _table_of([[(described(case), None), *values.items()]])
            heading = "The smallest case on which they differ"
            yield Section(heading, tables=[table], code=str(case).split("\n"))
        if self.open:
            yield Section("Left open", texts=[*_open_lines(self.open, self.who)])
        near = self.nearest
        if self.names:
            yield Section("Conventions that compute it so", texts=[*map(_short, self.names)])
        else:
            heading = "The nearest with a name" if self.ok else "The nearest convention"
            changed = f"{near.name}: {'; '.join(near.changes)}" if near.changes else near.name
            yield Section(heading, texts=[changed])
        yield Section("Called with", texts=[self.takes], code=[self.called])
        for each in self.left_out:
            where = f" ({each.where})" if each.where else ""
            only = " or ".join(each.traits)
            which = f", among them all with {only} and nothing else unusual" if only else ""
            text = f"{pluralize(each.n, 'case')}{which}: {each.error}{where}"
            yield Section("Left out, without a number", texts=[text], code=str(each.case).split("\n"))


_FUNCTION, _PROGRAM = "the function", "the program"
_LEGEND = "A case: its grades in ranked order, = between equal scores"
_CHANGED_ALONE = "ir_measures' value is that with its choice of this option alone"


def report_of(found: Sequence[Identified]) -> Report:
    """Report what was found for one measure, or for several, one after the other."""
    if len(found) == 1:
        return found[0].report()
    reports = {each.name: each.report() for each in found}
    return Report(
        ", ".join(reports),
        [text for each in reports.values() for text in each.finding],
        [
            section._replace(heading=f"{name}: {section.heading}")
            for name, each in reports.items()
            for section in each.sections
        ],
        [f"{name}: {note}" for name, each in reports.items() for note in each.notes],
        data=lambda: [each.data() for each in reports.values()],
        rows=lambda: [{"measure": name, **row} for name, each in reports.items() for row in each.rows()],
        how=found[0].report().how,
    )


def _open_lines(found: Mapping[str, str], who: str) -> Iterator[str]:
    """Say which options are open: those that are not seen in one line, those without effect, then others."""
    left, unseen = (
        dict(found),
        grouped(
            (hidden, option)
            for option, text in found.items()
            if (hidden := text.partition(f"; {who} {_DOES_NOT_SEE} ")[2])
        ),
    )
    for hidden, options in unseen.items():
        yield f"{who.capitalize()} {_DOES_NOT_SEE} {hidden}; open: {', '.join(map(title, options))}"
        left = {option: text for option, text in left.items() if option not in options}
    if of_any := [option for option, text in left.items() if text == f"any; {_NO_EFFECT}"]:
        yield f"No case is affected by: {', '.join(map(title, of_any))}"
    for option, text in left.items():
        if option not in of_any:
            values, _, why = text.rpartition("; ")
            first, others = values.split(_OR)[:_N_VALUES], values.split(_OR)[_N_VALUES:]
            more = f" and {pluralize(len(others), 'other')}" if others else ""
            yield f"{title(option)}: {_OR.join(first)}{more}{'; ' if values else ''}{why}"


_DOES_NOT_SEE, _NO_EFFECT, _OR = "does not see", "the same number on every case", " / "
_N_VALUES = 3
"""How many of the values that are left open are listed; JSON has all of them."""


_Line = tuple[str, float | None]


def _compared(each: OptionDifference, who: str) -> list[_Line]:
    """Return an option and its smallest case, and below it what is computed, and by ir_measures' choice."""
    return [
        (f"{title(each.option)}, on {described(each.case or Case({}, {}))}", None),
        (f"{who}: {each.described}", each.value),
        (f"ir_measures: {each.described_default}", each.default),
    ]


def _table_of(blocks: Sequence[Sequence[_Line]], *notes: str) -> Table:
    """Lay out cases, each with two values."""
    cells = [
        [[Cell(text), Cell("" if value is None else fraction(value), value=value)] for text, value in block]
        for block in blocks
    ]
    return Table(["case", "value"], cells, notes=["; ".join([_LEGEND, *notes])])


def _short(name: str) -> str:
    """Return a named convention with where it comes from, without the details; JSON has them."""
    name, _, source = name.removesuffix(")").partition(" (")
    source = source.partition(": ")[0].partition(" (")[0]
    return f"{name} ({source})" if source else name


def _rows(found: Identified) -> Iterator[dict[str, Any]]:
    shown = {each.option: each for each in found.differences if each.case}
    default = found.nearest._claimed.default[found.nearest._claimed.measure]
    for option, value in found.nearest.options.items():
        each = shown.get(option)
        yield {
            "option": option,
            "value": str(value),
            "default": str(default[option]),
            "qrels": str(each.case.qrels) if each and each.case else None,
            "run": str(each.case.run) if each and each.case else None,
            "function": each.value if each else None,
            "by_default": each.default if each else None,
        }


def _sentences(found: Identified) -> list[str]:
    """Return the convention that the function follows, in place of those of the package."""
    return [found.nearest.sentence()] if found.ok else []


def _content(found: Identified) -> dict[str, Any]:
    """Return what the JSON holds."""
    return {
        "ok": found.ok,
        "name": found.name,
        "measure": found.measure,
        "sentence": found.nearest.sentence(),
        "convention": found.nearest.name,
        "changes": found.nearest.changes,
        "names": found.names,
        "takes": found.takes,
        "called": found.called,
        "n_cases": found.n_cases,
        "n_agree": found.n_agree,
        "n_answers": len(found.answers),
        "options": [*_rows(found)],
        "open": found.open,
        "counterexample": found.counterexample and found.counterexample._asdict(),
        "left_out": [
            {**each._asdict(), "case": {"qrels": each.case.qrels, "run": each.case.run}}
            for each in found.left_out
        ],
        "notes": found.notes,
        "provenance": {**provenance([], found.origin), "conventions": _sentences(found)},
    }


def identify(
    function: Function,
    measure: str,
    *,
    form: str | None = None,
    conventions: str | os.PathLike[str] | None = None,
) -> Identified:
    """Find the convention by which a function computes a measure, by asking it.

    The function is called on some 190 to 440 small collections, the same each time: with ties, unjudged
    documents, negative, high and fractional grades, lists longer and shorter than the cutoff, queries without
    relevant documents, without results and without judgments, conversations. All conventions that audits try
    are crossed, and what gives another number on one of them is ruled out. What is left is checked on 500
    random collections. A convention is named only if it gives the number of each case on which the function
    returns one.

    Cases with grades above 3, negative grades, ties or fractional grades are left out where no convention
    that fits all others gives the function's numbers there; a note says so.

    Parameters
    ----------
    function : callable
        It is run as it is, in this process, where what it changes stays changed. The command asks that of a
        script in a process of its own, with a time limit.
    measure : str
        What it is said to compute, named as for `audit`: ``MAP@10``.
    form : str, optional
        What the function takes, found by trial if left out: ``dicts`` qrels and run,
        ``{query: {document: grade}}`` and ``{query: {document: score}}``, each list in ranked order;
        ``ranked`` qrels and ``{query: [documents]}``; ``sets`` ``{query: {relevant documents}}`` and the
        same; ``query`` the grades and the ranked documents of one query; ``relevant`` its relevant documents
        (a set or a list) and the ranked ones; ``parallel`` lists of both; ``scores`` the grades of the
        retrieved documents and their scores; ``lists`` the grades of ranked documents, ``{query: [grades]}``
        or ``[[grades]]``; ``grades`` those of one query; ``frames`` qrels and run as pandas frames. Two
        arguments may come in the other order, behind them the cutoff, and lists may be arrays. It returns the
        mean, a value by query, both in a tuple, or numbers by name, of which that of `measure` is taken.
    conventions : path, optional
        A TOML file of one's own conventions, as for `audit`.

    Returns
    -------
    Identified

    Raises
    ------
    InputError
        If the function gives no number on most cases; the message has the error, its line, and a call.

    Examples
    --------
    >>> def precision(grades, documents):
    ...     return sum(grades.get(each, 0) >= 1 for each in documents[:5]) / max(len(documents[:5]), 1)
    >>> found = identify(precision, "P@5", form="query")
    >>> found.ok, found.measure, found.nearest.sentence()
    (True, None, 'P@5 over the documents returned')
    """
    if not callable(function):
        raise InputError(f"identify needs a function (found {type(function).__name__})")
    return identified(function, measure, form, conventions)


def identified(
    function: Function | Script,
    measure: str,
    form: str | None = None,
    conventions: str | os.PathLike[str] | None = None,
) -> Identified:
    """Find the convention by which a function, a program or a script computes a measure; see `identify`."""
    if form is not None:
        check_choice("form", form, SIGNATURES)
    claimed = Claimed(measure, *meaning_asked(measure))
    named = conventions_with(conventions)
    taken = function.form if isinstance(function, Program) else form_taken(function, claimed, named, form)
    return _found(FunctionSearch(function, taken, claimed, named))


def _found(search: FunctionSearch) -> Identified:
    near = search.survivors()
    is_checked = len(near) or search.contradiction
    used = search.counted([*search.used, *(search.fresh if is_checked else [])])
    answers = _answers(search, near)
    [nearest] = answers[:1] or _answers(search, search.nearest()[None])
    found = Identified(
        search.claimed.name,
        answers,
        nearest,
        n_agree=len(used) if answers else sum(search.agrees(each, nearest.convention) for each in used),
        n_cases=len(used),
        notes=list(_notes(search)),
        read_as=_read_as(search),
        takes=search.form.taken,
        called=_called(search),
        who=_who(search),
        left_out=list(_left_out(search)),
    )
    if not answers:
        return replace(found, counterexample=_counterexample(search, nearest.convention))
    named = zip(search.bases, search.distances(near).min(axis=0), strict=True)
    ours, default = nearest.options, search.claimed.default[search.claimed.measure]
    return replace(
        found,
        names=[f"{each.name} ({each.source})" for (each, _), distance in named if distance == 0],
        open={option: text for option in search.space.options if (text := _open(search, near, option))},
        differences=[
            _difference(search, nearest.convention, option)
            for option in ours
            if ours[option] != default[option]
        ],
    )


def _who(search: FunctionSearch) -> str:
    return _PROGRAM if isinstance(search.function, Program) else _FUNCTION


def _called(search: FunctionSearch) -> str:
    """Write a small call of a function, or the command of a program."""
    if isinstance(search.function, Program):
        return search.function.line
    return search.written_call(_SMALL_CASE)


_SMALL_CASE = Case({"q": {"a": 1, "b": 0}}, {"q": {"b": 2.0, "a": 1.0}})


def _notes(search: FunctionSearch) -> Iterator[str]:
    """Say how the numbers are read, and which cases are left out."""
    if text := _read_as(search):
        yield f"the numbers of {_who(search)} are read as {text}"
    yield from dict.fromkeys(each.note for each in search.used if each.note)
    warned = Counter(text for each in search.asked for text in each.warned)
    for text, n in warned.most_common(_ERRORS):
        yield f"NumPy warns on {pluralize(n, 'case')}: {text}"
    for trait in search.excused:
        n = sum(trait in each.case.traits for each in search.used)
        yield f"not so on {pluralize(n, 'case')} with {trait}, which are left out"
    if n := sum(len(group) for group in _by_error(search)[_ERRORS:]):
        yield f"{pluralize(n, 'further case')} left out raise other errors"
    if search.is_constant:
        yield f"{_who(search)} gives {search.used[0].value:g} on every case, which is no evidence"


def _read_as(search: FunctionSearch) -> str:
    """Say how the numbers are read, where the convention does not say it."""
    return search.reading.note if search.reading.rounding == DEFAULT[ROUNDING] else ""


def _answers(search: FunctionSearch, near: Codes) -> list[IdentifiedConvention]:
    bases = [search.bases[at] for at in search.distances(near).argmin(axis=1)]
    found = []
    for (named, base), codes in zip(bases, near, strict=True):
        ours, measure = search.space.convention(codes), search.claimed.measure
        compared = {measure: {each: ours[measure][each] for each in search.compared}}
        changes = changes_of(compared, base)
        found.append(IdentifiedConvention(named, ours, changes, search.claimed, search.form.queries))
    return found


def _open(search: FunctionSearch, near: Codes, option: str) -> str:
    """Say which values no case tells apart from that of the first convention, and why; empty if none."""
    if search.is_excused(option):
        return "none of those known; the cases on which they differ are left out"
    space, every = search.space, search.space.values[option]
    at = space.options.index(option)
    others = near[(np.delete(near, at, 1) == np.delete(near[0], at)).all(axis=1)]
    values = [space.coded_values(option)[n] for n in others[:, at]]
    is_unseen = option in OPTIONS and OPTIONS[option].of_grades and not search.form.grades
    if is_unseen or option in search.not_crossed or (search.form.one_query and option == AVERAGED):
        values = every
    elif search.form.one_query and option == QUERY_SET and not counts_nothing_as_one(values[0]):
        values = [value for value in every if not counts_nothing_as_one(value)]
    if len(values) < 2:
        return ""
    text = "any" if len(values) == len(every) else _OR.join(describe(option, value) for value in values)
    if not search.form_shows(option):
        return f"{text}; {_who(search)} {_DOES_NOT_SEE} {search.form.hidden}"
    first = space.convention(near[0])
    if search.differ_where_it_raises([with_value(first, option, value) for value in values]):
        return f"{text}; {_who(search)} gives no number where they differ"
    return f"{text}; {_NO_EFFECT}"


def _counterexample(search: FunctionSearch, ours: Convention) -> Counterexample | None:
    """Return the smallest case with another number; None if the convention is defined on none."""

    def differ(each: Asked) -> bool:
        value = convention_value(each.quantity, ours)
        return each.error is None and not np.isnan(value) and not search.agrees(each, ours)

    if (found := search.smallest(differ)) is None:
        return None
    return Counterexample(
        found.case.qrels, found.case.run, found.value, convention_value(found.quantity, ours)
    )


def _difference(search: FunctionSearch, ours: Convention, option: str) -> OptionDifference:
    """Return an option that is not the default, with the smallest case that shows it."""
    measure = search.claimed.measure
    usual = search.claimed.default[measure][option]
    other = with_value(ours, option, usual)
    texts = describe(option, ours[measure][option]), describe(option, usual)
    text = f"{title(option)}: {texts[0]} (ir_measures: {texts[1]})"

    def shows(each: Asked) -> bool:
        if each.error is not None or not search.agrees(each, ours):
            return False
        return (
            abs(convention_value(each.quantity, ours) - convention_value(each.quantity, other))
            > SINGLE_PRECISION
        )

    found = search.smallest(shows)
    value, default = (convention_value(found.quantity, each) if found else np.nan for each in (ours, other))
    return OptionDifference(option, text, found.case if found else None, value, default, *texts)


_ERRORS = 5
"""How many errors are said with their smallest case."""


def _left_out(search: FunctionSearch) -> Iterator[LeftOut]:
    """Yield the cases on which the function gives no number, by the type of the error and its line."""
    every = [each.case.traits for each in search.asked]
    for group in _by_error(search)[:_ERRORS]:
        raised = group[0].raised
        here = [each.case.traits for each in group]
        traits = [trait for trait in TRAITS if 0 < every.count((trait,)) == here.count((trait,))]
        smallest = search.smallest(partial(_raises, raised)) or group[0]
        error = smallest.error or ValueError()
        yield LeftOut(len(group), error_text(error), raised[1], traits, smallest.case)


def _by_error(search: FunctionSearch) -> list[list[Asked]]:
    """Return the cases without a number by the type of the error and its line, most first."""
    groups = grouped((each.raised, each) for each in search.asked if each.error)
    return sorted(groups.values(), key=len, reverse=True)


def _raises(raised: tuple[str, str], each: Asked) -> bool:
    return each.raised == raised
