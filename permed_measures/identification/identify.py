"""Find which convention a function computes, by calling it on small collections."""

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
from permed_measures.identification.cases import (
    TRAITS,
    Case,
    case_text,
    fraction,
)
from permed_measures.identification.detection import form_taken
from permed_measures.identification.elimination import (
    FunctionCall,
    FunctionSearch,
    TargetMeasure,
    convention_value,
)
from permed_measures.identification.forms import SIGNATURES, Function
from permed_measures.identification.program import Program
from permed_measures.identification.script import Script
from permed_measures.identification.user_function import error_text, meaning_asked
from permed_measures.provenance import Origin, provenance
from permed_measures.results.report import Report, Result, Section, how_made
from permed_measures.results.table import Cell, Table
from permed_measures.tolerances import SINGLE_PRECISION
from permed_measures.wording import grouped, pluralize


@dataclass(frozen=True, eq=False)
class IdentifiedConvention:
    """A convention that gives the numbers of a function, or else comes nearest.

    Attributes
    ----------
    named : NamedConvention
        The nearest convention with a name.
    convention : mapping
        For each measure, the value of each option and the cutoff. Options that the function does not see
        have their default.
    changes : list of str
        The differences from the named convention, among the options that the function sees.
    """

    named: NamedConvention
    convention: Convention
    changes: list[str]
    _target: TargetMeasure = field(repr=False)
    _sees_queries: bool = field(repr=False)

    @property
    def options(self) -> Options:
        """The value of each option, and the cutoff."""
        return self.convention[self._target.measure]

    @property
    def name(self) -> str:
        """The name of the nearest named convention, with the number of changes."""
        return self.named.with_changes(len(self.changes))

    @property
    def measure(self) -> str | None:
        """The measure as one types it, for grades 0, 1 and 2; None if this package has no such measure.

        It defines how the value of a query is computed. `sentence` also has the tie rule and the queries that
        are averaged. The measure is None too if the mean is not over queries, or if queries without a
        relevant document add 1 to it.
        """
        if counts_nothing_as_one(self.options[QUERY_SET]) or any(
            self.options[option] != DEFAULT[option] for option in SHARED if OPTIONS[option].changes_measure
        ):
            return None
        own = options_for(self._target.measure, self.options)
        labels = LabelPolicy(DEFAULT[LABELS], Judgments.of({"q": {"a": 2, "b": 1}}))
        measure = measure_of(self._target.measure, self._cutoff, own, labels)
        return None if measure is None else str(measure)

    @property
    def _cutoff(self) -> Any:
        return self.options[CUTOFF_OF + self._target.name]

    def sentence(self) -> str:
        """Describe the computation in a sentence, as a paper would."""
        measure, options = self._target.measure, self.options
        own = dict(options_for(measure, options))
        if own.get(IDEAL) == _NO_IDEAL:
            measure = "DCG"
            del own[IDEAL]
        names_queries = self._sees_queries or options[QUERY_SET] != DEFAULT[QUERY_SET]
        queries = describe(QUERY_SET, options[QUERY_SET]) if names_queries else ""
        return sentence_of([methods_phrase([with_cutoff(measure, self._cutoff)], own)], queries, options)


_NO_IDEAL = "none"
"""The value of the option `ideal` that turns nDCG into DCG."""


class OptionDifference(NamedTuple):
    """An option that differs from ir_measures' default, and a case on which the number then differs.

    Attributes
    ----------
    option : str
    text : str
        Its value and the default, in words.
    case : Case or None
        None if no case shows a difference.
    value, default : float
        The number of the function, and the number with the default of this option.
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
    """The smallest case found on which a function and the nearest convention differ."""

    qrels: dict[str, dict[str, float]]
    run: dict[str, dict[str, float]]
    value: float
    nearest: float


class LeftOut(NamedTuple):
    """The cases on which a function raises one error: their number, the error, its line, a small case."""

    n: int
    error: str
    where: str
    traits: list[str]
    case: Case


@dataclass(frozen=True)
class Identified(Result):
    """The convention that a function computes; ``print`` shows it.

    ``to_polars`` and ``to_pandas`` give a row for each option of the convention: ``option``, ``value`` and
    ``default`` (ir_measures'). If these differ, the row also has a case that shows it: ``qrels`` and ``run``,
    with the number of the ``function`` and the number ``by_default``.

    Attributes
    ----------
    name : str
        The measure that was asked for.
    answers : list of IdentifiedConvention
        The conventions that agree on all cases, the nearest to a named one first; empty if no convention
        gives the numbers of the function.
    nearest : IdentifiedConvention
        The first answer; if there is none, the convention that agrees on the most cases.
    n_agree, n_cases : int
        The number of cases on which the nearest convention agrees, and the number of cases that count: those
        on which the function returns a number, without skipped ones. Both are equal if there is an answer.
    names : list of str
        The named conventions among the answers.
    open : dict of str to str
        For each open option, the values that give the same numbers on all cases, and why.
    differences : list of OptionDifference
        The options that differ from ir_measures' default.
    counterexample : Counterexample or None
    left_out : list of LeftOut
    notes : list of str
        The scale of the numbers, and the cases that no convention explains.
    read_as : str
        The scale of the numbers if it is not the usual one: in percent, rounded.
    takes : str
        The arguments of the function, in words.
    called : str
        A small call of the function, as one would write it.
    who : str
        The thing that was called: the function, or the program.
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
        """Whether some convention gives the function's number on every case."""
        return bool(self.answers)

    @property
    def measure(self) -> str | None:
        """The measure as one types it; None if this package has no such measure, or no convention fits."""
        return self.nearest.measure if self.ok else None

    def __repr__(self) -> str:
        """Name the convention found."""
        return f"<Identified {self.name}: {self.nearest.name if self.ok else 'no convention'}>"

    def report(self) -> Report:
        """Report the measure, its differences from the default and the open options; or the nearest one."""
        return Report(
            f"{self.name}: {self.nearest.sentence()}",
            [*self._finding()],
            [*self._sections()],
            [note for note in self.notes if not (self.ok and self.read_as and note.endswith(self.read_as))],
            data=partial(_content, self),
            rows=partial(_rows, self),
            provenance=lambda: {**how_made([], self.origin), "conventions": _sentences(self)},
        )

    def _finding(self) -> Iterator[str]:
        """Yield the measure, a sentence that describes it, and the number of cases that agree."""
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
            with_case = [difference for difference in self.differences if difference.case]
            yield Section(
                "Different from ir_measures' default",
                tables=[
                    _table_of([_compared(difference, self.who) for difference in with_case], _CHANGED_ALONE)
                ]
                if with_case
                else (),
                texts=[difference.text for difference in self.differences if not difference.case],
            )
        if self.counterexample:
            counterexample = self.counterexample
            case = Case(counterexample.qrels, counterexample.run)
            values = {self.who: counterexample.value, "the nearest convention": counterexample.nearest}
            table = _table_of([[(case_text(case), None), *values.items()]])
            heading = "The smallest case on which they differ"
            yield Section(heading, tables=[table], code=str(case).split("\n"))
        if self.open:
            yield Section("Left open", texts=[*_open_lines(self.open, self.who)])
        near = self.nearest
        if self.names:
            yield Section("Conventions that compute it in this way", texts=[*map(_short, self.names)])
        else:
            heading = "The nearest with a name" if self.ok else "The nearest convention"
            changed = f"{near.name}: {'; '.join(near.changes)}" if near.changes else near.name
            yield Section(heading, texts=[changed])
        yield Section("Called with", texts=[self.takes], code=[self.called])
        for group in self.left_out:
            where = f" ({group.where})" if group.where else ""
            only = " or ".join(group.traits)
            which = f", among them all with {only} and nothing else unusual" if only else ""
            text = f"{pluralize(group.n, 'case')}{which}: {group.error}{where}"
            yield Section("Left out, without a number", texts=[text], code=str(group.case).split("\n"))


_FUNCTION, _PROGRAM = "the function", "the program"
_LEGEND = "A case: its grades in ranked order, = between equal scores"
_CHANGED_ALONE = "ir_measures' value: with this option alone as ir_measures has it"


@dataclass(frozen=True)
class IdentifiedMeasures(Result):
    """The conventions of several measures of one function; ``print`` shows them one after the other.

    Attributes
    ----------
    results : list of Identified
        One for each measure.
    origin : Origin or None
        The command.
    """

    results: list[Identified]
    origin: Origin | None = field(default=None, repr=False)

    @property
    def ok(self) -> bool:
        """Whether a convention was identified for each measure."""
        return all(result.ok for result in self.results)

    def report(self) -> Report:
        """Report the results for one measure, or for several, one after the other."""
        reports = {each.name: replace(each, origin=self.origin).report() for each in self.results}
        if len(self.results) == 1:
            return next(iter(reports.values()))
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
            provenance=next(iter(reports.values())).provenance,
        )


def _open_lines(open_options: Mapping[str, str], who: str) -> Iterator[str]:
    """List the open options: unseen ones in one line, those without effect in one, then each other one."""
    left = dict(open_options)
    unseen = grouped(
        (hidden, option)
        for option, text in open_options.items()
        if (hidden := text.partition(f"; {who} {_DOES_NOT_SEE} ")[2])
    )
    for hidden, options in unseen.items():
        yield f"{who.capitalize()} {_DOES_NOT_SEE} {hidden}; open: {', '.join(map(title, options))}"
        left = {option: text for option, text in left.items() if option not in options}
    if without_effect := [option for option, text in left.items() if text == f"any; {_NO_EFFECT}"]:
        yield f"No case is affected by: {', '.join(map(title, without_effect))}"
    for option, text in left.items():
        if option not in without_effect:
            values, _, why = text.rpartition("; ")
            first, others = values.split(_OR)[:_N_VALUES], values.split(_OR)[_N_VALUES:]
            more = f" and {pluralize(len(others), 'other')}" if others else ""
            yield f"{title(option)}: {_OR.join(first)}{more}{'; ' if values else ''}{why}"


_DOES_NOT_SEE, _NO_EFFECT, _OR = "does not see", "the same number on every case", " / "
_N_VALUES = 3
"""The number of open values that a line lists; JSON has all of them."""


_Line = tuple[str, float | None]


def _compared(difference: OptionDifference, who: str) -> list[_Line]:
    """Write the lines of an option: its smallest case, the function's value, and ir_measures' value."""
    return [
        (f"{title(difference.option)}, on {case_text(difference.case or Case({}, {}))}", None),
        (f"{who}: {difference.described}", difference.value),
        (f"ir_measures: {difference.described_default}", difference.default),
    ]


def _table_of(blocks: Sequence[Sequence[_Line]], *notes: str) -> Table:
    """Lay out cases as a table, each with two values."""
    cells = [
        [[Cell(text), Cell("" if value is None else fraction(value), value=value)] for text, value in block]
        for block in blocks
    ]
    return Table(["case", "value"], cells, notes=["; ".join([_LEGEND, *notes])])


def _short(name: str) -> str:
    """Shorten a named convention to its name and source; JSON has the details."""
    name, _, source = name.removesuffix(")").partition(" (")
    source = source.partition(": ")[0].partition(" (")[0]
    return f"{name} ({source})" if source else name


def _rows(result: Identified) -> Iterator[dict[str, Any]]:
    differences = {each.option: each for each in result.differences if each.case}
    default = result.nearest._target.default[result.nearest._target.measure]
    for option, value in result.nearest.options.items():
        difference = differences.get(option)
        yield {
            "option": option,
            "value": str(value),
            "default": str(default[option]),
            "qrels": str(difference.case.qrels) if difference and difference.case else None,
            "run": str(difference.case.run) if difference and difference.case else None,
            "function": difference.value if difference else None,
            "by_default": difference.default if difference else None,
        }


def _sentences(result: Identified) -> list[str]:
    """List the convention that the function follows, in place of the package's conventions."""
    return [result.nearest.sentence()] if result.ok else []


def _content(result: Identified) -> dict[str, Any]:
    """Collect the content of the JSON."""
    return {
        "ok": result.ok,
        "name": result.name,
        "measure": result.measure,
        "sentence": result.nearest.sentence(),
        "convention": result.nearest.name,
        "changes": result.nearest.changes,
        "names": result.names,
        "takes": result.takes,
        "called": result.called,
        "n_cases": result.n_cases,
        "n_agree": result.n_agree,
        "n_answers": len(result.answers),
        "options": [*_rows(result)],
        "open": result.open,
        "counterexample": result.counterexample and result.counterexample._asdict(),
        "left_out": [
            {**cases._asdict(), "case": {"qrels": cases.case.qrels, "run": cases.case.run}}
            for cases in result.left_out
        ],
        "notes": result.notes,
        "provenance": {**provenance([], result.origin), "conventions": _sentences(result)},
    }


def identify(
    function: Function,
    measure: str,
    *,
    form: str | None = None,
    conventions: str | os.PathLike[str] | None = None,
) -> Identified:
    """Find the convention by which a function computes a measure, by calling it on small collections.

    The function is called on about 190 to 440 small collections, the same each time. They have ties, unjudged
    documents, negative, high and fractional grades, lists longer and shorter than the cutoff, conversations,
    and queries without relevant documents, results or judgments. The search crosses all options of the
    conventions that audits try, and rules out each convention that gives another number. It checks the
    remaining ones on 500 random collections. A convention is an answer only if it gives the function's number
    on each case on which the function returns one.

    Cases with grades above 3, negative grades, ties or fractional grades are skipped if every convention that
    fits all other cases fails on them; a note says so.

    Parameters
    ----------
    function : callable
        It runs in this process, and its side effects stay. The command line calls a script's function in a
        separate process, with a time limit.
    measure : str
        The measure that the function should compute, named as for `audit`: ``MAP@10``.
    form : str, optional
        The arguments of the function; if left out, they are found by trial. ``dicts``: qrels and run,
        ``{query: {document: grade}}`` and ``{query: {document: score}}``, each list in ranked order;
        ``ranked``: qrels and ``{query: [documents]}``; ``sets``: ``{query: {relevant documents}}`` and
        ``{query: [documents]}``; ``query``: the grades and the ranked documents of one query; ``relevant``:
        the relevant documents of one query (a set or a list) and its ranked documents; ``parallel``: lists of
        both; ``scores``: the grades of the retrieved documents and their scores; ``lists``: the grades of
        ranked documents, ``{query: [grades]}`` or ``[[grades]]``; ``grades``: the grades of the ranked
        documents of one query; ``frames``: qrels and run as pandas frames. Two arguments may come in the
        other order, the cutoff may follow them, and lists may be arrays. The function returns the mean, a
        value for each query, both in a tuple, or numbers by name; the name `measure` then chooses one.
    conventions : path, optional
        A TOML file with your own conventions, as for `audit`.

    Returns
    -------
    Identified

    Raises
    ------
    InputError
        If the function gives no number on most cases. The message has the error, its line, and a call.

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
    """Find the convention of a function, a program or a script; see `identify`."""
    if form is not None:
        check_choice("form", form, SIGNATURES)
    target = TargetMeasure(measure, *meaning_asked(measure))
    named = conventions_with(conventions)
    taken = function.form if isinstance(function, Program) else form_taken(function, target, named, form)
    return _searched(FunctionSearch(function, taken, target, named))


def _searched(search: FunctionSearch) -> Identified:
    """Search the consistent conventions, and collect the result."""
    candidates = search.consistent_conventions()
    is_checked = len(candidates) or search.contradiction
    used = search.counted([*search.answered, *(search.fresh if is_checked else [])])
    answers = _answers(search, candidates)
    [nearest] = answers[:1] or _answers(search, search.nearest()[None])
    result = Identified(
        search.target.name,
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
        return replace(result, counterexample=_counterexample(search, nearest.convention))
    named = zip(search.bases, search.distances(candidates).min(axis=0), strict=True)
    options, default = nearest.options, search.target.default[search.target.measure]
    return replace(
        result,
        names=[f"{each.name} ({each.source})" for (each, _), distance in named if distance == 0],
        open={option: text for option in search.space.options if (text := _open(search, candidates, option))},
        differences=[
            _difference(search, nearest.convention, option)
            for option in options
            if options[option] != default[option]
        ],
    )


def _who(search: FunctionSearch) -> str:
    return _PROGRAM if isinstance(search.function, Program) else _FUNCTION


def _called(search: FunctionSearch) -> str:
    """Write a small call of the function, or the command of the program."""
    if isinstance(search.function, Program):
        return search.function.line
    return search.written_call(_SMALL_CASE)


_SMALL_CASE = Case({"q": {"a": 1, "b": 0}}, {"q": {"b": 2.0, "a": 1.0}})


def _notes(search: FunctionSearch) -> Iterator[str]:
    """Yield notes on the scale of the numbers, warnings of NumPy, and skipped cases."""
    if text := _read_as(search):
        yield f"the numbers of {_who(search)} are read as {text}"
    yield from dict.fromkeys(each.note for each in search.answered if each.note)
    warned = Counter(text for each in search.calls for text in each.warned)
    for text, n in warned.most_common(_ERRORS):
        yield f"NumPy warns on {pluralize(n, 'case')}: {text}"
    for trait in search.skipped_traits:
        n = sum(trait in each.case.traits for each in search.answered)
        n_cases = pluralize(n, "case")
        yield f"left out: {n_cases} with {trait}; no convention that fits the others agrees there"
    if n := sum(len(group) for group in _by_error(search)[_ERRORS:]):
        yield f"{pluralize(n, 'further case')} left out raise other errors"
    if search.is_constant:
        value = f"{search.answered[0].value:g}"
        yield f"{_who(search)} gives {value} on every case, which is not evidence for a measure"


def _read_as(search: FunctionSearch) -> str:
    """Describe the scale of the numbers, unless the convention already has it as its rounding."""
    return search.scale.note if search.scale.rounding == DEFAULT[ROUNDING] else ""


def _answers(search: FunctionSearch, candidates: Codes) -> list[IdentifiedConvention]:
    bases = [search.bases[index] for index in search.distances(candidates).argmin(axis=1)]
    answers = []
    for (named, base), codes in zip(bases, candidates, strict=True):
        convention, measure = search.space.convention(codes), search.target.measure
        compared = {measure: {each: convention[measure][each] for each in search.compared}}
        changes = changes_of(compared, base)
        answers.append(IdentifiedConvention(named, convention, changes, search.target, search.form.queries))
    return answers


def _open(search: FunctionSearch, candidates: Codes, option: str) -> str:
    """List the values that give the first convention's numbers on all cases, and why; empty if one does."""
    if search.is_skipped(option):
        return "no known value; the cases on which the values differ are left out"
    space, all_values = search.space, search.space.values[option]
    column = space.options.index(option)
    others = candidates[(np.delete(candidates, column, 1) == np.delete(candidates[0], column)).all(axis=1)]
    values = [space.coded_values(option)[n] for n in others[:, column]]
    is_unseen = option in OPTIONS and OPTIONS[option].of_grades and not search.form.grades
    if is_unseen or option in search.not_crossed or (search.form.one_query and option == AVERAGED):
        values = all_values
    elif search.form.one_query and option == QUERY_SET and not counts_nothing_as_one(values[0]):
        values = [value for value in all_values if not counts_nothing_as_one(value)]
    if len(values) < 2:
        return ""
    text = "any" if len(values) == len(all_values) else _OR.join(describe(option, value) for value in values)
    if not search.form_observes(option):
        return f"{text}; {_who(search)} {_DOES_NOT_SEE} {search.form.hidden}"
    first = space.convention(candidates[0])
    if search.differ_where_it_raises([with_value(first, option, value) for value in values]):
        return f"{text}; {_who(search)} gives no number where they differ"
    return f"{text}; {_NO_EFFECT}"


def _counterexample(search: FunctionSearch, convention: Convention) -> Counterexample | None:
    """Find the smallest case with another number; None if the convention is not defined on any case."""

    def differ(call: FunctionCall) -> bool:
        value = convention_value(call.measurement, convention)
        return call.error is None and not np.isnan(value) and not search.agrees(call, convention)

    if (call := search.smallest(differ)) is None:
        return None
    return Counterexample(
        call.case.qrels, call.case.run, call.value, convention_value(call.measurement, convention)
    )


def _difference(search: FunctionSearch, convention: Convention, option: str) -> OptionDifference:
    """Describe an option that differs from the default, with the smallest case that shows the difference."""
    measure = search.target.measure
    default_value = search.target.default[measure][option]
    other = with_value(convention, option, default_value)
    texts = describe(option, convention[measure][option]), describe(option, default_value)
    text = f"{title(option)}: {texts[0]} (ir_measures: {texts[1]})"

    def differs(call: FunctionCall) -> bool:
        if call.error is not None or not search.agrees(call, convention):
            return False
        values = [convention_value(call.measurement, each) for each in (convention, other)]
        return abs(values[0] - values[1]) > SINGLE_PRECISION

    call = search.smallest(differs)
    value, default = (
        convention_value(call.measurement, each) if call else np.nan for each in (convention, other)
    )
    return OptionDifference(option, text, call.case if call else None, value, default, *texts)


_ERRORS = 5
"""The number of errors that the report shows, each with its smallest case."""


def _left_out(search: FunctionSearch) -> Iterator[LeftOut]:
    """Yield the cases without a number, grouped by the type of the error and its line."""
    all_traits = [each.case.traits for each in search.calls]
    for group in _by_error(search)[:_ERRORS]:
        raised = group[0].raised
        group_traits = [each.case.traits for each in group]
        traits = [trait for trait in TRAITS if 0 < all_traits.count((trait,)) == group_traits.count((trait,))]
        smallest = search.smallest(partial(_raises, raised)) or group[0]
        error = smallest.error or ValueError()
        yield LeftOut(len(group), error_text(error), raised[1], traits, smallest.case)


def _by_error(search: FunctionSearch) -> list[list[FunctionCall]]:
    """Group the cases without a number by the type of the error and its line, the largest group first."""
    groups = grouped((each.raised, each) for each in search.calls if each.error)
    return sorted(groups.values(), key=len, reverse=True)


def _raises(raised: tuple[str, str], call: FunctionCall) -> bool:
    return call.raised == raised
