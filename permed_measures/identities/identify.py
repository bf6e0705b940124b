"""Which convention a function computes: it is asked for the numbers of small collections."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from permed_measures.conventions.named import NamedConvention, conventions_with
from permed_measures.conventions.names import in_a_paper, measure_of, with_cutoff
from permed_measures.conventions.options import (
    CUTOFF,
    DEFAULT,
    MEASURES,
    OPTIONS,
    SHARED,
    Options,
    changes_of,
    describe,
    title,
    value_of,
)
from permed_measures.conventions.runs import options_for
from permed_measures.conventions.spaces import Codes
from permed_measures.conventions.values import Labels
from permed_measures.engine.judgments import Judgments
from permed_measures.errors import InputError, PermedError, check_choice
from permed_measures.files.provenance import Origin, provenance
from permed_measures.identities.cases import NEAR, TRAITS, Case, cases, described, fraction, shrunk
from permed_measures.identities.scripts import FORMS, Function, Script, line_of, said
from permed_measures.identities.search import OF_QUERIES, Asked, Claimed, Search, number, readings, space_of
from permed_measures.markup import counted
from permed_measures.papers.names import heading_of, meaning_of
from permed_measures.progress import tracked
from permed_measures.results.report import Report, Result, Section


@dataclass(frozen=True, eq=False)
class Answer:
    """A convention that gives the numbers of a function, or the nearest that there is.

    Attributes
    ----------
    named : NamedConvention
        The nearest that has a name.
    options : mapping
        The value of each option, and the cutoff; the named convention's where the function does not see it.
    said : mapping
        The same with the default of what the function does not see.
    """

    named: NamedConvention
    options: Options
    said: Options = field(repr=False)
    _claimed: Claimed = field(repr=False)
    _sees_queries: bool = field(default=True, repr=False)

    @property
    def changes(self) -> list[str]:
        """The differences from the named convention."""
        return changes_of(self.options, self.named.at({self._claimed.name: self._claimed.cutoffs[0]}))

    @property
    def name(self) -> str:
        """The name, and the number of changes."""
        n = len(self.changes)
        return self.named.name + (f" with {counted(n, 'change')}" if n else "")

    @property
    def measure(self) -> str | None:
        """The measure as one types it, for grades 0, 1 and 2; None if no measure of ours writes it."""
        if any(self.said[each] != DEFAULT[each] for each in ("labels", "documents", "self_match")):
            return None
        own = options_for(self._claimed.measure, self.said)
        if "level" in own:
            own = {**own, "level": float(ceil(own["level"]))}
        labels = Labels.of("grades", Judgments.of({"q": {"a": 2, "b": 1}}))
        found = measure_of(self._claimed.measure, self._cutoff, own, labels)
        return None if found is None else str(found)

    @property
    def _cutoff(self) -> Any:
        return self.said[CUTOFF + self._claimed.name]

    def sentence(self) -> str:
        """Say how it is computed, as a paper would."""
        measure, ours = self._claimed.measure, self.said
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
        How the numbers were read, and where they differ in spite of an answer.
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
    for option, value in found.nearest.said.items():
        each = differences.get(option)
        case = each.case if each else None
        yield {
            "option": option,
            "value": str(value),
            "default": str(DEFAULT.get(option, found.nearest._claimed.cutoffs[0])),
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


# --- the whole -----------------------------------------------------------------------------------------


def identify(
    function: Function,
    measure: str,
    *,
    form: str = "dicts",
    conventions: str | os.PathLike[str] | None = None,
) -> Identified:
    """Find the convention by which a function computes a measure, by asking it.

    The function is called on some 170 small collections, the same each time: with ties, unjudged documents,
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
    return _Identification(
        Script(function, FORMS[form], measure), claimed, conventions_with(conventions)
    ).found()


class _Identification:
    """One function, asked on all cases."""

    def __init__(self, script: Script, claimed: Claimed, named: Sequence[NamedConvention]) -> None:
        self.script, self.claimed = script, claimed
        every = list(cases(script.form, claimed.cutoffs))
        self.asked = [self._ask(case) for case in tracked(every, "asking the function")]
        self.used = [each for each in self.asked if each.error is None]
        if not self.used:
            error = self.asked[0].error or ValueError()
            if isinstance(error, PermedError):
                raise error
            raise InputError(
                f"the function raises on every case: {said(error)}", where=line_of(error)
            ) from error
        self.space = space_of(claimed, self.asked, named)

    def _ask(self, case: Case) -> Asked:
        quantity = self.claimed.of(case)
        try:
            return Asked(case, quantity, self.script.value(case.qrels, case.run))
        except Exception as error:
            return Asked(case, quantity, error=error)

    def found(self) -> Identified:
        """Rule out conventions until those are left that give the numbers."""
        searches = [Search(self.space, self.used, reading) for reading in readings(self.used)]
        for self.search in searches:
            near, differ = self.search.survivors()
            if len(near):
                return self._answer(near[self._order(near)], differ)
        nearest = [search.nearest() for search in searches]
        best = int(np.argmax([n for _, n in nearest]))
        self.search, (codes, n_agree) = searches[best], nearest[best]
        [near_one] = self._answers(codes[None])
        case = self._smallest(near_one.said, self.used)
        value = self.script.value(*case[:2]) / self.search.reading.over
        example = Counterexample(case.qrels, case.run, value, number(self.claimed.of(case), near_one.said))
        return Identified(
            self.claimed.name,
            [],
            near_one,
            n_agree,
            len(self.used),
            counterexample=example,
            left_out=self._left_out(),
            notes=self._notes(),
        )

    def _answer(self, near: Codes, differ: list[str]) -> Identified:
        answers = self._answers(near)
        ours, every = answers[0].said, {*map(tuple, near.tolist())}
        bases = [(named, tuple(self.space.codes(base).tolist())) for named, base in self.space.bases]
        n_cases = sum(not {*each.case.traits} & {*differ} for each in self.used)
        return Identified(
            self.claimed.name,
            answers,
            answers[0],
            n_cases,
            n_cases,
            [f"{named.name} ({named.source})" for named, codes in bases if codes in every],
            self._open(near),
            [self._difference(ours, option) for option in self._unusual(ours)],
            left_out=self._left_out(),
            notes=[*self._notes(), *(self._differing(ours, domain) for domain in differ)],
        )

    def _notes(self) -> list[str]:
        note = self.search.reading.note
        return [f"the numbers of the function are read as {note}"] if note else []

    def _differing(self, ours: Options, domain: str) -> str:
        """Say that an answer does not hold where it may be undefined."""
        inside = [each for each in self.used if domain in each.case.traits]
        case = self._smallest(ours, inside)
        values = fraction(self.script.value(*case[:2])), fraction(number(self.claimed.of(case), ours))
        return (
            f"with {domain} the function gives other numbers: {described(case)}: {values[0]}, not {values[1]}"
        )

    # --- conventions -----------------------------------------------------------------------------------

    @cached_property
    def _unseen(self) -> dict[str, list[Any]]:
        """The values that the function cannot tell apart, by option: it is not shown what they differ in."""
        found = {}
        for option in self.space.options:
            runs = [each.run for each in self.space.trials]
            values = [v for v in self.space.values[option] if all(v in run.alike(option) for run in runs)]
            if len(values) > 1:
                found[option] = values
        return found

    def _bases(self) -> Codes:
        return np.array([self.space.codes(base) for _, base in self.space.bases])

    def _distances(self, near: Codes) -> Codes:
        """Return how many options of each convention differ from each named one, of those that are seen."""
        hidden = [] if self.script.form.queries else list(OF_QUERIES)
        seen = [at for at, option in enumerate(self.space.options) if option not in hidden]
        return np.asarray((near[:, None, seen] != self._bases()[None, :, seen]).sum(axis=2))

    def _order(self, near: Codes) -> Codes:
        """Return the order of conventions: the nearest to a named one first, then to ir_measures'."""
        from_default = (near != self._bases()[0]).sum(axis=1)
        return np.lexsort((from_default, self._distances(near).min(axis=1)))

    def _answers(self, near: Codes) -> list[Answer]:
        named = [self.space.bases[at] for at in self._distances(near).argmin(axis=1)]
        return [
            self._answer_of(each, base, self.space.convention(codes), near)
            for (each, base), codes in zip(named, near, strict=True)
        ]

    def _answer_of(self, named: NamedConvention, base: Options, ours: Options, near: Codes) -> Answer:
        unseen, said_of = dict(self._unseen), dict(ours)
        for option in () if self.script.form.queries else OF_QUERIES:
            column = near[:, self.space.options.index(option)]
            every = self.space.values[option] if self.script.form.one_query else []
            unseen[option] = every or [self.space.numbered(option)[n] for n in np.unique(column)]
        for option, values in unseen.items():
            if ours[option] in values:
                ours = {**ours, option: base[option] if base[option] in values else ours[option]}
                said_of[option] = DEFAULT[option] if DEFAULT[option] in values else ours[option]
        return Answer(named, ours, said_of, self.claimed, self.script.form.queries)

    def _unusual(self, ours: Options) -> list[str]:
        default = {**DEFAULT, CUTOFF + self.claimed.name: self.claimed.cutoffs[0]}
        return [option for option, value in ours.items() if value != default[option]]

    def _open(self, near: Codes) -> dict[str, str]:
        """Say by option which values no case tells apart from those of the first convention, and why."""
        first, texts = near[0], {}
        for at, option in enumerate(self.space.options):
            ours = self.space.numbered(option)[first[at]]
            others = near[(np.delete(near, at, 1) == np.delete(first, at)).all(axis=1)][:, at]
            values = [self.space.numbered(option)[n] for n in others]
            if self.script.form.one_query and option in OF_QUERIES:
                values = self.space.values[option]
            values = list(dict.fromkeys([ours, *values, *self._unseen.get(option, ())]))
            if len(values) > 1:
                every = option in OPTIONS and len(values) == len(OPTIONS[option].values)
                said_of = "any" if every else " / ".join(describe(option, value) for value in values)
                texts[option] = f"{said_of}; {self._why(option, first, others)}"
        return texts

    def _why(self, option: str, first: Codes, others: Codes) -> str:
        """Say why no case tells values of an option apart."""
        form = self.script.form
        if option in self._unseen or (option in OF_QUERIES and not form.queries):
            return f"the function does not see {form.hidden}"
        near = np.tile(first, (len(others), 1))
        near[:, self.space.options.index(option)] = others
        for each in self.asked:
            values = self.space.computed(each.quantity, near)
            if each.error and np.nanmax(values, initial=-np.inf) - np.nanmin(values, initial=np.inf) > 1e-9:
                return "the function raises where they differ"
        return "the same number on every case"

    # --- cases -----------------------------------------------------------------------------------------

    def _smallest(self, ours: Options, among: Sequence[Asked]) -> Case:
        """Return the smallest case on which the function and a convention differ."""

        def differ(case: Case) -> bool:
            asked = self._ask(case) if self.script.form.takes(*case[:2]) else None
            if asked is None or asked.error:
                return False
            value = number(asked.quantity, ours)
            return not np.isnan(value) and not self.search.reading.same(value, asked.value)

        found = [each for each in among if differ(each.case)]
        return shrunk(min((each.case for each in found), key=lambda case: case.size), differ)

    def _difference(self, ours: Options, option: str) -> Difference:
        """Return an option that is not the default, with a case that shows it."""
        default = {**DEFAULT, CUTOFF + self.claimed.name: self.claimed.cutoffs[0]}
        other = {**ours, option: default[option]}
        [text] = changes_of({option: ours[option]}, {option: default[option]})

        def shows(case: Case) -> bool:
            asked = self._ask(case) if self.script.form.takes(*case[:2]) else None
            if asked is None or asked.error:
                return False
            values = number(asked.quantity, ours), number(asked.quantity, other)
            return abs(values[0] - values[1]) > _APART and self.search.reading.same(values[0], asked.value)

        found = sorted((each.case for each in self.used), key=lambda case: (NEAR in case.traits, case.size))
        case = next(filter(shows, found), None)
        if case is None:
            return Difference(option, text)
        case = shrunk(case, shows)
        quantity = self.claimed.of(case)
        return Difference(option, text, case, number(quantity, ours), number(quantity, other))

    def _left_out(self) -> list[LeftOut]:
        """Return the cases on which the function raises, by error."""
        groups: dict[tuple[str, str], list[Asked]] = {}
        for each in self.asked:
            if each.error:
                groups.setdefault((said(each.error), line_of(each.error)), []).append(each)
        return [self._group(*key, group) for key, group in groups.items()]

    def _group(self, error: str, where: str, group: list[Asked]) -> LeftOut:
        def raises(case: Case) -> bool:
            found = self._ask(case).error if self.script.form.takes(*case[:2]) else None
            return found is not None and (said(found), line_of(found)) == (error, where)

        alone = [each.case.traits for each in self.asked if len(each.case.traits) == 1]
        here = [each.case.traits for each in group]
        traits = [trait for trait in TRAITS if 0 < alone.count((trait,)) == here.count((trait,))]
        case = shrunk(min((each.case for each in group), key=lambda case: case.size), raises)
        return LeftOut(len(group), error, where, traits, case)


_APART = 1e-6
"""By how much the numbers of a case that shows a difference differ."""
