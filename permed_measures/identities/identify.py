"""Which convention a function computes: it is asked for the numbers of small collections."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.conventions.means import sees_unjudged
from permed_measures.conventions.named import NamedConvention, conventions_with
from permed_measures.conventions.names import in_a_paper, measure_of, with_cutoff
from permed_measures.conventions.options import (
    CUTOFF,
    DEFAULT,
    FIRST_DIGITS,
    MEASURES,
    OF_ALL,
    OPTIONS,
    SHARED,
    Options,
    changes_of,
    describe,
    seen_by,
    title,
    value_of,
)
from permed_measures.conventions.runs import RunVariants, options_for
from permed_measures.conventions.spaces import Codes, Quantity, Space
from permed_measures.conventions.values import Labels, label_policies
from permed_measures.engine.judgments import Judgments
from permed_measures.errors import InputError, PermedError, check_choice, warnings_about
from permed_measures.files.provenance import Origin, provenance
from permed_measures.identities.cases import (
    FRACTIONS,
    PLAIN,
    SHOWN_BY,
    TRAITS,
    Case,
    cases,
    described,
    fraction,
    shrunk,
)
from permed_measures.identities.scripts import FORMS, Function, Script, line_of, said
from permed_measures.markup import counted
from permed_measures.papers.names import Rank, heading_of, meaning_of
from permed_measures.progress import tracked
from permed_measures.results.report import Report, Result, Section

Floats = NDArray[np.float64]

OF_QUERIES = ("queries", "averaged")
"""The options that make no difference to a function of one query."""
APART = 1e-6
"""How far apart numbers are that single precision tells apart."""
_ROUNDED = 0.005
"""How far from its exact value the value of a query is that is rounded by a convention, at most."""
_SILENT, _SILENT_AT_FIRST = 20, 3
"""What means nothing on so many cases, one after the other, is no answer; nor on so many plain ones."""


class Claimed(NamedTuple):
    """What a function is said to compute: a name, and the measure and cutoffs that it may mean."""

    name: str
    measure: str
    cutoffs: tuple[Rank, ...]

    @property
    def default(self) -> Options:
        """What it is by ir_measures."""
        return {**DEFAULT, CUTOFF + self.name: self.cutoffs[0]}

    def of(self, case: Case) -> Quantity:
        """Return the measure of a case, which any convention computes."""
        with warnings_about(None):
            policies = label_policies(Judgments.of(case.qrels))
            run = RunVariants(policies, case.run, all_ties=sees_unjudged(self.measure))
        return Quantity(*self, run)

    def space(self, quantities: Sequence[Quantity], named: Sequence[NamedConvention]) -> Space[Quantity]:
        """Return all conventions of it; what it has for itself takes the place of what all have."""
        own = [
            each._replace(
                options={
                    option: value if self._has(option, value) else DEFAULT[option]
                    for option, value in seen_by(self.measure, each.options).items()
                    if option not in OF_ALL
                }
            )
            for each in named
        ]
        return Space(quantities, own)

    def _has(self, option: str, value: object) -> bool:
        """Return whether it has a value; a convention may have it for other measures."""
        measures = value_of(option, value).measures
        return not measures or self.measure in measures


class Asked(NamedTuple):
    """A case, its measure by any convention, and what the function says: a number, or how it raises."""

    case: Case
    quantity: Quantity
    value: float = np.nan
    error: Exception | None = None


class Reading(NamedTuple):
    """How numbers of a function are read: over what, how far from ours they may be, and what that is."""

    over: float = 1.0
    reach: float = 1e-9
    note: str = ""


def readings(asked: Sequence[Asked]) -> Iterator[Reading]:
    """Yield how numbers may be read: as they are, as rounded to three or four digits, in percent."""
    values = np.array([each.value for each in asked])
    of_one = np.array([each.value for each in asked if len(each.case.run) == 1])
    reach = APART if (of_one == of_one.astype(np.float32)).all() else Reading().reach
    for over, percent in (1.0, ""), (100.0, "in percent, "):
        if over == 1 or values.max() > 1:
            yield Reading(over, reach, percent[:-2])
            digits = next((n for n in range(1, 5) if _have(values / over, n)), 0)
            if digits > 2:
                note = f"{percent}rounded to {digits - 2 * bool(percent)} digits"
                yield Reading(over, reach + 0.5 / 10**digits, note)


def _have(values: Floats | float, digits: int) -> bool:
    """Return whether numbers have so many digits."""
    return bool(np.all(np.abs(np.round(values, digits) - values) < 1e-12))


def number(quantity: Quantity, convention: Options) -> float:
    """Return what a convention gives, rounded as it says; NaN if it means nothing."""
    digits, value = FIRST_DIGITS[convention["rounding"]], quantity.value(convention)
    return value if digits is None else round(value, digits)


class Search:
    """A function, asked on all cases, and the conventions that give its numbers.

    Attributes
    ----------
    asked : list of Asked
    used : list of Asked
        Those with a number.
    space : Space
        The conventions that are tried: the values of all options, crossed.
    shown : list of str
        The options whose values some case may tell apart.
    reading : Reading
    odd : list of Asked
        Cases left out: few conventions define what grades are that are no whole numbers, and none fits.

    Raises
    ------
    InputError
        If there is no number.
    """

    def __init__(self, script: Script, claimed: Claimed, named: Sequence[NamedConvention]) -> None:
        self.script, self.claimed, self.reading = script, claimed, Reading()
        self.odd: list[Asked] = []
        every = list(cases(script.form, claimed.cutoffs))
        self.asked = [self.ask(case) for case in tracked(every, "asking the function")]
        self.used = [each for each in self.asked if each.error is None]
        if not self.used:
            error = self.asked[0].error or ValueError()
            if isinstance(error, PermedError):
                raise error
            problem = f"the function raises on every case: {said(error)}"
            raise InputError(problem, where=line_of(error)) from error
        self.space = claimed.space([each.quantity for each in self.asked], named)
        self.shown = [
            option
            for option in self.space.options
            if (script.form.queries or option not in OF_QUERIES)
            and (option not in SHOWN_BY or any(SHOWN_BY[option](case) for case in every))
        ]

    def ask(self, case: Case) -> Asked:
        """Ask the function for its number."""
        quantity = self.claimed.of(case)
        try:
            return Asked(case, quantity, self.script.value(case.qrels, case.run))
        except Exception as error:
            return Asked(case, quantity, error=error)

    def survivors(self) -> Codes:
        """Return the conventions that never give another number, the nearest to a named one first.

        The values of an option are crossed with those of the others when a case comes that may tell them
        apart; before, the default stands for all of them.
        """
        for reading in readings(self.used):
            self.reading = reading
            near = self._survivors()
            if len(near):
                n_silent = np.sum([np.isnan(self._off(each, near)) for each in self.used], axis=0)
                from_default = (near != self.space.codes(self.claimed.default)).sum(axis=1)
                order = np.lexsort((from_default, n_silent, self.distances(near).min(axis=1)))
                return np.asarray(near[order])
        self.reading, self.odd = Reading(), []
        return near

    def _survivors(self) -> Codes:
        near = self.space.codes(self.claimed.default)[None]
        self.odd, silent, hidden = [], np.zeros(1, np.int64), [*self.space.options]
        for each in self.asked:
            new = [o for o in hidden if o not in SHOWN_BY or SHOWN_BY[o](each.case)]
            for option in new:
                hidden.remove(option)
                n = len(self.space.numbered(option))
                near, silent = np.repeat(near, n, axis=0), np.repeat(silent, n)
                near[:, self.space.options.index(option)] = np.tile(np.arange(n), len(near) // n)
            if each.error is None:
                off = self._off(each, near)
                silent = np.where(np.isnan(off), silent + 1, 0)
                reach = self.reading.reach + _ROUNDED * ("rounding" in hidden)
                most = _SILENT_AT_FIRST if PLAIN in each.case.traits else _SILENT
                kept = ~(off > reach) & (silent < most)
                if FRACTIONS in each.case.traits and not kept.any():
                    self.odd.append(each)
                else:
                    near, silent = near[kept], silent[kept]
        return near

    def _off(self, each: Asked, near: Codes) -> Floats:
        """Return how far off the number of the function is; NaN where a convention means nothing."""
        at, ways = self.space.options.index("rounding"), self.space.numbered("rounding")
        digits = np.array([FIRST_DIGITS[way] or 0 for way in ways])[near[:, at]]
        exact = near.copy()
        exact[digits > 0, at] = ways.index(DEFAULT["rounding"])
        values, theirs = self.space.computed(each.quantity, exact), each.value / self.reading.over
        off = np.abs(values - theirs)
        for n in {*digits[digits > 0].tolist()}:
            rows = digits == n
            if _have(theirs, n):  # half a unit may be rounded up or down
                off[rows] = np.maximum(off[rows] - 0.5 / 10**n, 0)
            else:
                off[rows] = np.abs(np.round(values[rows], n) - theirs)
        return off

    def distances(self, near: Codes) -> Codes:
        """Return how many options of each convention differ from each named one, of those that are shown."""
        bases = np.array([self.space.codes(base) for _, base in self.space.bases])
        at = [self.space.options.index(option) for option in self.shown]
        return np.asarray((near[:, None, at] != bases[None, :, at]).sum(axis=2))

    def nearest(self) -> tuple[Codes, int]:
        """Return a convention that agrees on the most cases, and on how many: from a named one uphill."""
        near = np.unique([self.space.codes(base) for _, base in self.space.bases], axis=0)
        best, most = near[0], -1
        while int((scores := self._scored(near)).max()) > most:
            best, most = near[scores.argmax()], int(scores.max())
            others = self.space.neighbours(self.space.convention(best))
            near = np.array([self.space.codes(other) for _, _, other in others])
        return best, most

    def _scored(self, near: Codes) -> Floats:
        """Return on how many cases each convention gives the number, and as a fraction how nearly."""
        scores = np.ones(len(near))
        for each in self.used:
            off = np.nan_to_num(self._off(each, near), nan=1.0)
            scores += (off <= self.reading.reach) - np.minimum(off, 1) / (len(self.used) + 1)
        return scores - 1 + len(self.used) / (len(self.used) + 1)

    def smallest(self, holds: Callable[[Asked], bool]) -> Asked | None:
        """Return the smallest case that is found on which something holds; None if it does on none."""

        def on(case: Case) -> bool:
            return self.script.form.takes(case.qrels, case.run) and holds(self.ask(case))

        first = next(filter(holds, sorted(self.asked, key=lambda each: each.case.size)), None)
        return first and self.ask(shrunk(first.case, on))

    def same(self, ours: float, each: Asked) -> bool:
        """Return whether a number of the function is one of ours."""
        return abs(ours - each.value / self.reading.over) <= self.reading.reach


# --- what is found ---------------------------------------------------------------------------------


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
    _sees_queries: bool = field(default=True, repr=False)

    @property
    def name(self) -> str:
        """The name, and the number of changes."""
        n = len(self.changes)
        return self.named.name + (f" with {counted(n, 'change')}" if n else "")

    @property
    def measure(self) -> str | None:
        """The measure as one types it, for grades 0, 1 and 2; None if no measure of ours writes it."""
        if any(self.options[each] != DEFAULT[each] for each in ("labels", "documents", "self_match")):
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
        own = options_for(measure, ours) if measure in MEASURES else {}
        parts = [in_a_paper([with_cutoff(measure, self._cutoff)], measure, own)]
        if self._sees_queries or ours["queries"] != DEFAULT["queries"]:
            parts.append(f"averaged over {describe('queries', ours['queries'])}")
        phrases = [value_of(option, ours[option]).phrase for option in SHARED if option != "queries"]
        return "; ".join([*parts, *filter(None, phrases)])


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
    """Cases on which a function raises an error: how many, the error and its line, the smallest case."""

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
        On how many cases it gives them, and how many there are.
    names : list of str
        The named conventions among the answers.
    open : dict of str to str
        By option, the values that no case tells apart, and why.
    differences : list of Difference
        What differs from ir_measures' default.
    counterexample : Counterexample or None
    left_out : list of LeftOut
    notes : list of str
        How the numbers were read.
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
        )

    def _finding(self) -> list[str]:
        cases = f"{self.n_agree:,} of {counted(self.n_cases, 'case')}"
        if not self.ok:
            nearest = self.nearest
            return [
                f"No convention gives the numbers of the function for {self.name}.",
                f"The nearest gives {cases}: {nearest.sentence()}.",
            ]
        typed = f"{self.measure}: " if self.measure else ""
        every = f"all {counted(self.n_cases, 'case')}" if self.n_cases > 1 else "the one case"
        return [f"{self.name} is {typed}{self.nearest.sentence()}.", f"The function gives it on {every}."]

    def _sections(self) -> Iterator[Section]:
        near = self.nearest
        changed = f"{near.name}: {'; '.join(near.changes)}" if near.changes else near.name
        yield Section("Convention" if self.ok else "The nearest convention", texts=self.names or [changed])
        if self.differences:
            yield Section("Different from ir_measures' default", texts=list(map(_shown, self.differences)))
        if self.counterexample:
            found = self.counterexample
            case = Case(found.qrels, found.run)
            text = f"{described(case)}: {fraction(found.value)}, not {fraction(found.nearest)}"
            yield Section("The smallest case on which they differ", texts=[text], code=str(case).split("\n"))
        if self.open:
            texts = [f"{title(option)}: {text}" for option, text in self.open.items()]
            yield Section("Told apart by no case", texts=texts)
        for each in self.left_out:
            where = f" ({each.where})" if each.where else ""
            which = f", among them all with {' or '.join(each.traits)}" if each.traits else ""
            text = f"{counted(each.n, 'case')}{which}: {each.error}{where}"
            yield Section("Left out, as the function raises", texts=[text], code=str(each.case).split("\n"))


def _shown(each: Difference) -> str:
    if each.case is None:
        return each.text
    return f"{each.text}. {described(each.case)}: {fraction(each.value)}, not {fraction(each.default)}"


def _rows(found: Identified) -> Iterator[dict[str, Any]]:
    differences = {each.option: each for each in found.differences}
    for option, value in found.nearest.options.items():
        each = differences.get(option)
        case = each.case if each else None
        yield {
            "option": option,
            "value": str(value),
            "default": str(found.nearest._claimed.default[option]),
            "qrels": str(case.qrels) if case else None,
            "run": str(case.run) if case else None,
            "function": each.value if each and case else None,
            "by_default": each.default if each and case else None,
        }


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
        "provenance": provenance([], found.origin),
    }


def identify(
    function: Function,
    measure: str,
    *,
    form: str = "dicts",
    conventions: str | os.PathLike[str] | None = None,
) -> Identified:
    """Find the convention by which a function computes a measure, by asking it.

    The function is called on some 150 small collections, the same each time: with ties, unjudged documents,
    negative and fractional grades, lists longer and shorter than the cutoff, queries without relevant
    documents, without results and without judgments, conversations. All conventions that audits try are
    crossed, and what gives another number on one of them is ruled out.

    Parameters
    ----------
    function : callable
        It is run as it is, in this process.
    measure : str
        What it is said to compute, named as for `audit`: ``MAP@10``.
    form : {'dicts', 'ranked', 'lists', 'query'}
        What the function takes: ``dicts`` qrels and run, ``{query: {document: grade}}`` and
        ``{query: {document: score}}``, each list in ranked order; ``ranked`` qrels and
        ``{query: [documents]}``; ``lists`` ``{query: [grades of the ranked documents]}``; ``query`` the
        grades and the ranked documents of one query. It returns the mean, or a value by query.
    conventions : path, optional
        A TOML file of one's own conventions, as for `audit`.

    Returns
    -------
    Identified

    Raises
    ------
    InputError
        If the function raises on every case.

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
    check_choice("form", form, FORMS)
    claimed = Claimed(measure, *meaning_of(heading_of(measure)[0]))
    return _found(Search(Script(function, FORMS[form], measure), claimed, conventions_with(conventions)))


def _found(search: Search) -> Identified:
    near, name = search.survivors(), search.claimed.name
    n_cases = len(search.used) - len(search.odd)
    note = search.reading.note
    notes = [f"the numbers of the function are read as {note}"] if note else []
    if search.odd:
        notes.append(f"not so on {counted(len(search.odd), 'case')} with {FRACTIONS}, which are left out")
    found: dict[str, Any] = {"left_out": _left_out(search), "notes": notes}
    if not len(near):
        codes, n_agree = search.nearest()
        [nearest] = _answers(search, codes[None])
        example = _counterexample(search, nearest.options)
        return Identified(name, [], nearest, n_agree, n_cases, counterexample=example, **found)
    answers = _answers(search, near)
    ours, default = answers[0].options, search.claimed.default
    named = zip(search.space.bases, search.distances(near).min(axis=0), strict=True)
    return Identified(
        name,
        answers,
        answers[0],
        n_cases,
        n_cases,
        [f"{each.name} ({each.source})" for (each, _), distance in named if distance == 0],
        {option: text for option in search.space.options if (text := _open(search, near, option))},
        [_difference(search, ours, option) for option in ours if ours[option] != default[option]],
        **found,
    )


def _answers(search: Search, near: Codes) -> list[Answer]:
    bases = [search.space.bases[at] for at in search.distances(near).argmin(axis=1)]
    found = []
    for (named, base), codes in zip(bases, near, strict=True):
        ours, theirs = search.space.convention(codes), search.space.first(base)
        changes = changes_of({each: ours[each] for each in search.shown}, theirs)
        found.append(Answer(named, ours, changes, search.claimed, search.script.form.queries))
    return found


def _open(search: Search, near: Codes, option: str) -> str:
    """Say which values no case tells apart from that of the first convention, and why; empty if none."""
    space, form, at = search.space, search.script.form, search.space.options.index(option)
    others = near[(np.delete(near, at, 1) == np.delete(near[0], at)).all(axis=1)]
    hidden = option not in search.shown
    values = [space.numbered(option)[n] for n in others[:, at]]
    if hidden and (form.one_query or option not in OF_QUERIES):
        values = space.values[option]
    if len(values) < 2:
        return ""
    every = option in OPTIONS and len(values) == len(OPTIONS[option].values)
    text = "any" if every else " / ".join(describe(option, value) for value in values)
    if hidden:
        return f"{text}; the function does not see {form.hidden}"
    raising = (space.computed(each.quantity, others) for each in search.asked if each.error)
    if any(np.nanmax(each, initial=-np.inf) - np.nanmin(each, initial=np.inf) > APART for each in raising):
        return f"{text}; the function raises where they differ"
    return f"{text}; the same number on every case"


def _counterexample(search: Search, ours: Options) -> Counterexample | None:
    """Return the smallest case with another number; None if the convention only means nothing on some."""

    def differ(each: Asked) -> bool:
        value = number(each.quantity, ours)
        return not np.isnan(value + each.value) and not search.same(value, each)

    found = search.smallest(differ)
    if found is None:
        return None
    value = found.value / search.reading.over
    return Counterexample(found.case.qrels, found.case.run, value, number(found.quantity, ours))


def _difference(search: Search, ours: Options, option: str) -> Difference:
    """Return an option that is not the default, with the smallest case that shows it."""
    other = {**ours, option: search.claimed.default[option]}
    [text] = changes_of({option: ours[option]}, other)

    def shows(each: Asked) -> bool:
        value = number(each.quantity, ours)
        return abs(value - number(each.quantity, other)) > APART and search.same(value, each)

    found = search.smallest(shows)
    if found is None:
        return Difference(option, text)
    values = number(found.quantity, ours), number(found.quantity, other)
    return Difference(option, text, found.case, *values)


def _left_out(search: Search) -> list[LeftOut]:
    """Return the cases on which the function raises, by error."""
    groups: dict[tuple[str, str], list[Asked]] = {}
    for each in search.asked:
        if each.error:
            groups.setdefault(_error_of(each), []).append(each)
    every = [each.case.traits for each in search.asked]
    found = []
    for (error, where), group in groups.items():
        here = [each.case.traits for each in group]
        traits = [trait for trait in TRAITS if 0 < every.count((trait,)) == here.count((trait,))]
        smallest = search.smallest(partial(_raises, error, where))
        found.append(LeftOut(len(group), error, where, traits, (smallest or group[0]).case))
    return found


def _raises(error: str, where: str, each: Asked) -> bool:
    return _error_of(each) == (error, where)


def _error_of(each: Asked) -> tuple[str, str]:
    """Return an error and its line; empty if there is none."""
    return (said(each.error), line_of(each.error)) if each.error else ("", "")
