"""Which convention a function computes: it is asked for the numbers of small collections."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from permed_measures.conventions.named import NamedConvention, conventions_with
from permed_measures.conventions.names import in_a_paper, measure_of, sentence_of, with_cutoff
from permed_measures.conventions.options import (
    CUTOFF,
    DEFAULT,
    SHARED,
    Options,
    changes_of,
    counts_nothing_as_one,
    describe,
    title,
)
from permed_measures.conventions.per_query import Labels
from permed_measures.conventions.records import OPTIONS
from permed_measures.conventions.runs import options_for
from permed_measures.conventions.spaces import Codes
from permed_measures.engine.judgments import Judgments
from permed_measures.errors import InputError, check_choice
from permed_measures.identities.cases import (
    NEGATIVE,
    TIES,
    TRAITS,
    Case,
    described,
    fraction,
)
from permed_measures.identities.elimination import APART, Asked, Claimed, Search, number
from permed_measures.identities.forms import FORMS, Function
from permed_measures.identities.program import Program
from permed_measures.identities.trial import form_taken
from permed_measures.identities.user_function import error_text, written_call
from permed_measures.markup import counted, grouped
from permed_measures.papers.names import heading_of, meaning_of
from permed_measures.provenance import Origin, provenance
from permed_measures.results.report import Report, Result, Section, how_made


@dataclass(frozen=True, eq=False)
class Answer:
    """A convention that gives the numbers of a function, or the nearest that there is.

    Attributes
    ----------
    named : NamedConvention
        The nearest that has a name.
    options : mapping
        The value of each option, and the cutoff; the default of what the function does not see.
    changes : list of str
        The differences from the named convention, in what the function sees.
    """

    named: NamedConvention
    options: Options
    changes: list[str]
    _claimed: Claimed = field(repr=False)
    _sees_queries: bool = field(repr=False)

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
        if counts_nothing_as_one(self.options["queries"]) or any(
            self.options[each] != DEFAULT[each] for each in SHARED if OPTIONS[each].changes_measure
        ):
            return None
        own = options_for(self._claimed.measure, self.options)
        labels = Labels.of("grades", Judgments.of({"q": {"a": 2, "b": 1}}))
        found = measure_of(self._claimed.measure, self._cutoff, own, labels)
        return None if found is None else str(found)

    @property
    def _cutoff(self) -> Any:
        return self.options[CUTOFF + self._claimed.name]

    def sentence(self) -> str:
        """Say how it is computed, as a paper would."""
        measure, ours = self._claimed.measure, self.options
        own = options_for(measure, ours)
        told = self._sees_queries or ours["queries"] != DEFAULT["queries"]
        over = describe("queries", ours["queries"]) if told else ""
        return sentence_of([in_a_paper([with_cutoff(measure, self._cutoff)], own)], over, ours)


class Difference(NamedTuple):
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
    """

    option: str
    text: str
    case: Case | None = None
    value: float = np.nan
    default: float = np.nan


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
    """

    name: str
    answers: list[Answer]
    nearest: Answer
    n_agree: int
    n_cases: int
    names: list[str] = field(default_factory=list)
    open: dict[str, str] = field(default_factory=dict)
    differences: list[Difference] = field(default_factory=list)
    counterexample: Counterexample | None = None
    left_out: list[LeftOut] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    read_as: str = ""
    takes: str = ""
    called: str = ""
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
        """Return the answer, what differs from the default and what cannot be told; or what is nearest."""
        return Report(
            f"{self.name}: {self.nearest.sentence()}",
            self._finding(),
            list(self._sections()),
            self.notes,
            data=partial(_content, self),
            rows=partial(_rows, self),
            how=lambda: {**how_made([], self.origin), "conventions": _sentences(self)},
        )

    def _finding(self) -> list[str]:
        cases = f"{self.n_agree:,} of {counted(self.n_cases, 'case')}"
        if not self.ok:
            nearest = self.nearest
            return [
                f"No convention gives the numbers of the function for {self.name}.",
                f"The nearest gives {cases}: {nearest.sentence()}.",
            ]
        sentence = self.nearest.sentence()
        is_said = self.measure in (None, sentence.partition(";")[0])
        typed = "" if is_said else f"{self.measure}: "
        with_number = " on which it returns a number" if self.left_out else ""
        read = f", read as {self.read_as}" if self.read_as else ""
        return [
            f"{self.name} is {typed}{sentence}.",
            f"The function gives it on all {counted(self.n_cases, 'case')}{with_number}{read}.",
        ]

    def _sections(self) -> Iterator[Section]:
        near = self.nearest
        changed = f"{near.name}: {'; '.join(near.changes)}" if near.changes else near.name
        yield Section("Convention" if self.ok else "The nearest convention", texts=self.names or [changed])
        yield Section("Called with", texts=[self.takes], code=[self.called])
        if self.differences:
            yield Section("Different from ir_measures' default", texts=list(map(_shown, self.differences)))
        if self.counterexample:
            found = self.counterexample
            case = Case(found.qrels, found.run)
            text = f"{described(case)}: {fraction(found.value)}, not {fraction(found.nearest)}"
            yield Section("The smallest case on which they differ", texts=[text], code=str(case).split("\n"))
        if self.open:
            yield Section("Told apart by no case", texts=list(_open_lines(self.open)))
        for each in self.left_out:
            where = f" ({each.where})" if each.where else ""
            only = " or ".join(each.traits)
            which = f", among them all with {only} and nothing else unusual" if only else ""
            text = f"{counted(each.n, 'case')}{which}: {each.error}{where}"
            yield Section("Left out, without a number", texts=[text], code=str(each.case).split("\n"))


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


def _open_lines(found: Mapping[str, str]) -> Iterator[str]:
    """Say which options are open: those that the function does not see in one line, others with values."""
    unseen = {option: text.partition(f"; {_UNSEEN} ")[2] for option, text in found.items()}
    for hidden, options in grouped((hidden, option) for option, hidden in unseen.items() if hidden).items():
        yield f"{', '.join(map(title, options))}: {_UNSEEN} {hidden}"
    yield from (f"{title(option)}: {text}" for option, text in found.items() if not unseen[option])


_UNSEEN = "the function does not see"


def _shown(each: Difference) -> str:
    if each.case is None:
        return each.text
    theirs = f"with ir_measures' choice {fraction(each.default)}"
    return f"{each.text}. Example: {described(each.case)}: yours {fraction(each.value)}, {theirs}"


def _rows(found: Identified) -> Iterator[dict[str, Any]]:
    shown = {each.option: each for each in found.differences if each.case}
    for option, value in found.nearest.options.items():
        each = shown.get(option)
        yield {
            "option": option,
            "value": str(value),
            "default": str(found.nearest._claimed.default[option]),
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
        It is run as it is, in this process.
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
    if form is not None:
        check_choice("form", form, FORMS)
    claimed = Claimed(measure, *meaning_of(heading_of(measure)[0]))
    named = conventions_with(conventions)
    taken = function.form if isinstance(function, Program) else form_taken(function, claimed, named, form)
    return _found(Search(function, taken, claimed, named))


def _found(search: Search) -> Identified:
    near = search.survivors()
    is_checked = len(near) or search.contradiction
    used = search.counted([*search.used, *(search.fresh if is_checked else [])])
    answers = _answers(search, near)
    [nearest] = answers[:1] or _answers(search, search.nearest()[None])
    found = Identified(
        search.claimed.name,
        answers,
        nearest,
        n_agree=len(used) if answers else sum(search.agrees(each, nearest.options) for each in used),
        n_cases=len(used),
        notes=list(_notes(search)),
        read_as=_read_as(search),
        takes=search.form.taken,
        called=_called(search),
        left_out=list(_left_out(search)),
    )
    if not answers:
        return replace(found, counterexample=_counterexample(search, nearest.options))
    named = zip(search.bases, search.distances(near).min(axis=0), strict=True)
    ours, default = nearest.options, search.claimed.default
    return replace(
        found,
        names=[f"{each.name} ({each.source})" for (each, _), distance in named if distance == 0],
        open={option: text for option in search.space.options if (text := _open(search, near, option))},
        differences=[_difference(search, ours, option) for option in ours if ours[option] != default[option]],
    )


def _called(search: Search) -> str:
    """Write a small call of a function, or the command of a program."""
    if isinstance(search.function, Program):
        return search.function.line
    return written_call(search.function, search.form, _SMALL)


_SMALL = Case({"q": {"a": 1, "b": 0}}, {"q": {"b": 2.0, "a": 1.0}})


def _notes(search: Search) -> Iterator[str]:
    """Say how the numbers are read, and which cases are left out."""
    if text := _read_as(search):
        yield f"the numbers of the function are read as {text}"
    yield from dict.fromkeys(each.note for each in search.used if each.note)
    warned = Counter(text for each in search.asked for text in each.warned)
    for text, n in warned.most_common(_ERRORS):
        yield f"NumPy warns on {counted(n, 'case')}: {text}"
    for trait in search.excused:
        n = sum(trait in each.case.traits for each in search.used)
        yield f"not so on {counted(n, 'case')} with {trait}, which are left out"
    if n := sum(len(group) for group in _by_error(search)[_ERRORS:]):
        yield f"{counted(n, 'further case')} left out raise other errors"
    if search.is_constant:
        yield f"the function gives {search.used[0].value:g} on every case, which is no evidence"


def _read_as(search: Search) -> str:
    """Say how the numbers are read, where the convention does not say it."""
    return search.reading.note if search.reading.rounding == DEFAULT["rounding"] else ""


def _answers(search: Search, near: Codes) -> list[Answer]:
    bases = [search.bases[at] for at in search.distances(near).argmin(axis=1)]
    found = []
    for (named, base), codes in zip(bases, near, strict=True):
        ours, theirs = search.space.convention(codes), base
        changes = changes_of({each: ours[each] for each in search.shown}, theirs)
        found.append(Answer(named, ours, changes, search.claimed, search.form.queries))
    return found


def _open(search: Search, near: Codes, option: str) -> str:
    """Say which values no case tells apart from that of the first convention, and why; empty if none."""
    if _is_excused(search, option):
        return "none of those known; the cases on which they differ are left out"
    space, every = search.space, search.space.values[option]
    at = space.options.index(option)
    others = near[(np.delete(near, at, 1) == np.delete(near[0], at)).all(axis=1)]
    values = [space.numbered(option)[n] for n in others[:, at]]
    is_unseen = option in OPTIONS and OPTIONS[option].of_grades and not search.form.grades
    if is_unseen or option in search.not_crossed or (search.form.one_query and option == "averaged"):
        values = every
    elif search.form.one_query and option == "queries" and not counts_nothing_as_one(values[0]):
        values = [value for value in every if not counts_nothing_as_one(value)]
    if len(values) < 2:
        return ""
    text = "any" if len(values) == len(every) else " / ".join(describe(option, value) for value in values)
    if not search.form_shows(option):
        return f"{text}; {_UNSEEN} {search.form.hidden}"
    if search.differ_where_it_raises([{**space.convention(near[0]), option: value} for value in values]):
        return f"{text}; the function gives no number where they differ"
    return f"{text}; the same number on every case"


def _is_excused(search: Search, option: str) -> bool:
    """Return whether the cases that show an option are left out."""
    trait = {"ties": TIES, "tied": TIES, "negative": NEGATIVE}.get(option)
    return trait in search.excused


def _counterexample(search: Search, ours: Options) -> Counterexample | None:
    """Return the smallest case with another number; None if the convention is defined on none."""

    def differ(each: Asked) -> bool:
        value = number(each.quantity, ours)
        return each.error is None and not np.isnan(value) and not search.agrees(each, ours)

    if (found := search.smallest(differ)) is None:
        return None
    return Counterexample(found.case.qrels, found.case.run, found.value, number(found.quantity, ours))


def _difference(search: Search, ours: Options, option: str) -> Difference:
    """Return an option that is not the default, with the smallest case that shows it."""
    other = {**ours, option: search.claimed.default[option]}
    text = (
        f"{title(option)}: {describe(option, ours[option])} (ir_measures: {describe(option, other[option])})"
    )

    def shows(each: Asked) -> bool:
        if each.error is not None or not search.agrees(each, ours):
            return False
        return abs(number(each.quantity, ours) - number(each.quantity, other)) > APART

    if (found := search.smallest(shows)) is None:
        return Difference(option, text)
    return Difference(option, text, found.case, number(found.quantity, ours), number(found.quantity, other))


_ERRORS = 5
"""How many errors are said with their smallest case."""


def _left_out(search: Search) -> Iterator[LeftOut]:
    """Yield the cases on which the function gives no number, by the type of the error and its line."""
    every = [each.case.traits for each in search.asked]
    for group in _by_error(search)[:_ERRORS]:
        raised = group[0].raised
        here = [each.case.traits for each in group]
        traits = [trait for trait in TRAITS if 0 < every.count((trait,)) == here.count((trait,))]
        smallest = search.smallest(partial(_raises, raised)) or group[0]
        error = smallest.error or ValueError()
        yield LeftOut(len(group), error_text(error), raised[1], traits, smallest.case)


def _by_error(search: Search) -> list[list[Asked]]:
    """Return the cases without a number by the type of the error and its line, most first."""
    groups = grouped((each.raised, each) for each in search.asked if each.error)
    return sorted(groups.values(), key=len, reverse=True)


def _raises(raised: tuple[str, str], each: Asked) -> bool:
    return each.raised == raised
