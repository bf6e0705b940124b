"""Make small collections on which conventions differ, for each form of function; shrink and describe them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from permed_measures.conventions.records import depths
from permed_measures.conventions.shown import NOT_FOUND
from permed_measures.identification.forms import (
    USUAL,
    CaseGrades,
    CaseQrels,
    CaseRun,
    FunctionSignature,
    copied,
)
from permed_measures.measures.parameters import Cutoff
from permed_measures.tolerances import SUM_NOISE


class Case(NamedTuple):
    """A small collection.

    Attributes
    ----------
    qrels, run : dict of dict
    traits : tuple of str
        Its unusual features, from `TRAITS`.
    """

    qrels: CaseQrels
    run: CaseRun
    traits: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """The number of lines that its files would have."""
        return sum(len(docs) + 1 for lists in (self.qrels, self.run) for docs in lists.values())

    def __str__(self) -> str:
        """Write the case as Python code."""
        return f"qrels = {self.qrels}\nrun = {self.run}"


NOTHING_RELEVANT, NO_RESULTS = "queries without relevant documents", "queries without results"
NOT_IN_RUN, NOT_JUDGED = "queries that the run lacks", "queries without judgments"
NEGATIVE_GRADES, FRACTIONS = "negative grades", "grades that are not whole numbers"
TIED_SCORES, LOW = "tied scores", "scores of 0 or less"
OWN_ID = "documents with the id of their query"
RICH, HIGH = "more relevant documents than the cutoff", "grades above 3"
PLAIN_CASE = "one query, all documents judged"
TRAITS = (
    *(NOT_FOUND, NOTHING_RELEVANT, NO_RESULTS, NOT_IN_RUN, NOT_JUDGED),
    *(NEGATIVE_GRADES, FRACTIONS, TIED_SCORES, LOW, OWN_ID, RICH, HIGH),
)
"""The unusual features that a query may have."""
SKIPPABLE_TRAITS = (HIGH, NEGATIVE_GRADES, TIED_SCORES, FRACTIONS)
"""The traits whose cases may be skipped, if they rule out every convention that fits the other cases.

Few conventions define fractional grades, and some sorting functions leave the order of ties open.
"""


def _is_visible(trait: str, form: FunctionSignature) -> bool:
    """Check whether functions of a form can see a trait."""
    unseen = {
        (TIED_SCORES, LOW): form.scores,
        (NOT_IN_RUN, NOT_JUDGED): form.queries,
        (OWN_ID,): form.ids,
        (NEGATIVE_GRADES, FRACTIONS, HIGH): form.grades,
    }
    return not any(trait in traits for traits, is_seen in unseen.items() if not is_seen)


def as_seen(case: Case, form: FunctionSignature) -> Case:
    """Remove from a case what functions of a form do not see: grades, or lists without documents."""
    case = case if form.grades else _without_grades(case)
    return case if form.empty_lists else _without_empty_lists(case)


def _without_empty_lists(case: Case) -> Case:
    """Remove the queries of the run that have no documents."""
    return case._replace(run={query: docs for query, docs in case.run.items() if docs})


def _without_grades(case: Case) -> Case:
    """Give relevant documents the grade 1, and remove the judgments of the others.

    A query without relevant documents gets one judgment, of a document that is not retrieved: so it stays
    judged.
    """
    relevant = {
        query: {doc: 1.0 for doc, grade in docs.items() if grade >= 1} or {_NOT_RETRIEVED: 0.0}
        for query, docs in case.qrels.items()
    }
    return case._replace(qrels=relevant)


_NOT_RETRIEVED = "not retrieved"


# --- random cases ------------------------------------------------------------------------------------

_SIZES = (12, 1, 3, 5, 1, 7, 2, 4)
_TOPS = (3, 2, 1, 3, 3, 2, 1, 2)
_N_PLAIN = 7
_OF_EACH = 6
"""The number of cases with one trait alone; ties get twice as many, because there are many tie rules."""

_STABLE = 15
"""The largest length of lists with ties: up to here, quicksort of numpy and numba keeps their order."""


def cutoffs_of(cutoffs: tuple[Cutoff, ...]) -> list[int]:
    """List the cutoffs that a measure may have; `USUAL` if it has none."""
    ranks = [k for rank in cutoffs for k in (rank if isinstance(rank, tuple) else (rank,)) if k]
    return [*dict.fromkeys(ranks or [USUAL])]


def cases(form: FunctionSignature, cutoffs: tuple[Cutoff, ...]) -> Iterator[Case]:
    """Yield the cases for functions of a form, the same each time.

    Plain cases come first. Then come small ones, which rule out most conventions, then random ones without
    and with traits.
    """
    k, *others = cutoffs_of(cutoffs)
    drawn = _drawn_cases(k, _visible_traits(form), form.one_query)
    small = [small_case(*each) for each in _SMALL_CASES]
    for rank in (k, *others):
        small += [*_around(rank), *_query_sets(rank), *_ties(rank), *_own_ids(rank), *_low(rank)]
    for depth in depths():
        small += _longer_than(depth)
    yield from drawn[:_N_PLAIN]
    for case in small:
        if form.takes(case.qrels, case.run) and all(_is_visible(trait, form) for trait in case.traits):
            yield case
    yield from drawn[_N_PLAIN:]


def _visible_traits(form: FunctionSignature) -> tuple[str, ...]:
    return tuple(trait for trait in TRAITS if _is_visible(trait, form))


@lru_cache(maxsize=8)  # several measures of a function often have the same cutoff
def _drawn_cases(k: int, visible: tuple[str, ...], one_query: bool) -> list[Case]:
    """Draw the random cases without and with traits, the plain ones first."""
    rng = random.Random(0)
    chosen: list[tuple[str, ...]] = [(PLAIN_CASE,)] * _N_PLAIN + [()] * 30
    chosen += [(trait,) for trait in visible for _ in range(_OF_EACH * (1 + (trait == TIED_SCORES)))]
    chosen += [tuple(rng.sample(visible, min(2 + n % 2, len(visible)))) for n in range(40)]
    drawn = []
    for number, traits in enumerate(chosen):
        n = 1 if one_query or PLAIN_CASE in traits else _SIZES[number % len(_SIZES)]
        n = max(n, 2) if {NOT_IN_RUN, NOT_JUDGED} & {*traits} else n
        drawn.append(random_case(random.Random(number), k, n, _TOPS[number % len(_TOPS)], traits))
    return drawn


def _around(k: int) -> Iterator[Case]:
    """Yield small cases on which a cut at rank k matters."""
    unjudged = [None] * (k - 1)
    yield small_case([1, *unjudged, 1, 3])
    yield small_case([*unjudged, 2, 1], [1])
    yield small_case([None, *unjudged, 3, 2], [1, 3])
    yield small_case([3, *unjudged, 0, 3], [3])
    yield small_case([0] * k + [1])
    yield small_case([0] * (k - 1) + [2, 1])
    yield small_case([0, 3, *unjudged, 3])
    for grade in (1, 2, 3):
        yield small_case([1], [grade] * (k + 1))
        yield small_case([grade], [grade] * (k + 1))
        yield small_case([grade] * (k + 1), (), RICH)
        yield small_case([0, *[grade] * (k + 1)], [grade], RICH)
        yield small_case([*unjudged, *[grade] * (k + 1)], [grade] * 2, RICH)
    yield small_case([1], [1] * 120, RICH)
    yield small_case([1, 2, 3] * k, [3, 1] * k, RICH)
    yield small_case([-1, *[0] * (k - 1), 3, -1], [-1], NEGATIVE_GRADES)


def _longer_than(depth: int) -> Iterator[Case]:
    """Yield small cases on which a cut of the list or of its ideal at a depth matters."""
    yield small_case([0] * depth + [3], [3])
    yield small_case([None] * depth + [3, 0, 3], [3])
    yield small_case([None, 1, *[None] * (depth - 2), 3])  # the best document of the list is behind
    for grade in (0, None):
        yield small_case([2, *[grade] * (depth - 1), 2])
        yield small_case([2, *[grade] * (depth - 1), 2], [3])
    late = {f"x{n}": None for n in range(depth)}
    for zeros in ({}, dict.fromkeys(late, 0)):
        yield _between({"a": 3, **zeros}, {**late, "a": None}, (NOT_FOUND,))


def _query_sets(k: int) -> Iterator[Case]:
    """Yield cases of three queries, of which query sets differ on the second.

    The first and the third query have different values. So the mean over conversations differs too.
    """
    late = {f"x{n}": None for n in range(k)}
    kinds: list[tuple[dict[str, float] | None, dict[str, float | None] | None, tuple[str, ...]]] = [
        ({"a": 3}, None, (NOT_IN_RUN,)),
        ({"a": 3}, {}, (NO_RESULTS,)),
        ({"a": 3}, {"x": None}, (NOT_FOUND,)),
        ({"a": 3, "b": 0}, {"b": None}, (NOT_FOUND,)),
        ({"a": 3, "b": -1}, {"b": None}, (NOT_FOUND, NEGATIVE_GRADES)),  # some condensed lists drop b
        ({"b": -1}, {"b": None}, (NOTHING_RELEVANT, NEGATIVE_GRADES)),
        ({"a": 3}, {**late, "a": None}, (NOT_FOUND,)),
        ({"a": 3, **dict.fromkeys(late, 0)}, {**late, "a": None}, (NOT_FOUND,)),
        ({"a": 3}, {"a": None}, ()),
        ({"a": 0}, {"a": None}, (NOTHING_RELEVANT,)),
        ({"a": 0}, {"x": None}, (NOTHING_RELEVANT,)),
        ({"a": 0}, {}, (NOTHING_RELEVANT, NO_RESULTS)),
        ({"a": 0}, None, (NOTHING_RELEVANT, NOT_IN_RUN)),
        (None, {"a": None}, (NOT_JUDGED,)),
        (None, {}, (NOT_JUDGED, NO_RESULTS)),
    ]
    yield from (_between(*kind) for kind in kinds)


def _between(grades: dict[str, float] | None, docs: Iterable[str] | None, traits: tuple[str, ...]) -> Case:
    """Make a case of three queries, the second of which has these grades and documents."""
    qrels: CaseQrels = {"c_1": {"a": 3, "b": 0, "c": 2}, "d_1": {"a": 3, "b": 3, "c": 1}}
    case = Case(qrels, {"c_1": _ranked("ab"), "d_1": _ranked("bxca")}, traits)
    if grades is not None:
        case.qrels["c_2"] = grades
    if docs is not None:
        case.run["c_2"] = _ranked(docs)
    return case


def _ties(k: int) -> Iterator[Case]:
    """Yield cases with three tied documents, one of them relevant, at the top and around rank k.

    In some cases the scores are equal in single precision only. Some have more than k relevant documents.
    """
    for before in sorted({0, max(k - 2, 0), k - 1}):
        for relevant in "abc":
            for step in (0.0, 1e-9):
                docs = {f"x{n}": 9.0 + before - n for n in range(before)}
                docs |= {doc: 1 - step * n for n, doc in enumerate("bca")}
                for judged in ("", "abc", "abcx"):
                    grades = {doc: 0.0 for doc in docs if doc[0] in judged}
                    yield Case({"c_1": {**grades, relevant: 3.0, "y": 3.0}}, {"c_1": docs}, (TIED_SCORES,))
    late, many = {f"x{n}": 9.0 + k - n for n in range(k - 1)}, {f"y{n}": 3.0 for n in range(k)}
    for relevant in "abc":
        yield Case(
            {"c_1": {**many, relevant: 3.0}}, {"c_1": {**late, "b": 1, "c": 1, "a": 1}}, (TIED_SCORES, RICH)
        )


def _own_ids(k: int) -> Iterator[Case]:
    """Yield cases with a document that has the id of its query; in some, a relevant one is below rank k."""
    zeros = [f"x{n}" for n in range(k - 1)]
    own: list[CaseGrades] = [{}, {"c_1": 0}, {"c_1": 3}]
    judged: list[CaseGrades] = [{}, dict.fromkeys(zeros, 0)]
    for grades in own:
        yield Case({"c_1": {**grades, "a": 3}}, {"c_1": _ranked(["c_1", "a"])}, (OWN_ID,))
        for others in judged:
            qrels = {"c_1": {**grades, **others, "a": 3, "y": 3}}
            yield Case(qrels, {"c_1": _ranked(["c_1", *zeros, "a"])}, (OWN_ID,))


def _low(k: int) -> Iterator[Case]:
    """Yield cases with relevant documents of score 0 or less, within rank k and below it.

    In the last case, such a document is the only relevant one that a query retrieves.
    """
    for n_above in (1, 2):
        docs = {f"d{n}": float(n_above - n) for n in range(k + n_above + 1)}
        relevant = dict.fromkeys(docs, 3.0)
        yield Case({"c_1": relevant}, {"c_1": docs}, (LOW,))
        yield Case({"c_1": relevant | {"d0": 0, "y": 3}}, {"c_1": docs}, (LOW,))
    last = _between({"a": 3}, (), (LOW, NOT_FOUND))
    last.run["c_2"].update({f"x{n}": float(k - n) for n in range(k)} | {"a": 0.0})
    yield last


def fresh_cases(form: FunctionSignature, cutoffs: tuple[Cutoff, ...]) -> Iterator[Case]:
    """Yield the random cases that check an answer, the same each time."""
    yield from _fresh_cases(N_FRESH, cutoffs_of(cutoffs)[0], _visible_traits(form), form.one_query)


@lru_cache(maxsize=8)  # as for the other random cases
def _fresh_cases(n_cases: int, k: int, visible: tuple[str, ...], one_query: bool) -> list[Case]:
    drawn = []
    for number in range(n_cases):
        rng = random.Random(f"fresh {number}")
        traits = tuple(rng.sample(visible, min(rng.choice((0, 1, 1, 2, 3, 4)), len(visible))))
        n = 1 if one_query else rng.choice((1, 1, 2, 3, 4, 6))
        n = max(n, 2) if {NOT_IN_RUN, NOT_JUDGED} & {*traits} else n
        drawn.append(random_case(rng, k, n, rng.randint(1, 3), traits))
    return drawn


N_FRESH = 500
"""The number of random cases that check an answer."""


def lengthened(case: Case, n: int) -> Case:
    """Append documents to the lists of a case until each has n.

    The new documents are not relevant. They are judged in a plain case, else unjudged.
    """
    qrels, run = copied(case.qrels), copied(case.run)
    for query, docs in run.items():
        lowest = min(docs.values(), default=0.0)
        for number in range(len(docs), n):
            docs[f"e{number}"] = lowest = lowest - 1
            if PLAIN_CASE in case.traits:
                qrels[query][f"e{number}"] = 0
    run = {query: _ranked(docs) if _is_plain(case.run[query]) else docs for query, docs in run.items()}
    return Case(qrels, run, case.traits)


def joined(case: Case, other: Case) -> Case:
    """Join the queries of two cases in one; those of the other get new ids."""
    names = {query: f"{'mn'[number % 2]}_{number}" for number, query in enumerate([*other.qrels, *other.run])}
    qrels, run = ({names[q]: docs for q, docs in lists.items()} for lists in other[:2])
    return Case({**case.qrels, **qrels}, {**case.run, **run}, case.traits)


def random_case(rng: random.Random, k: int, n: int, top: int, traits: tuple[str, ...] = ()) -> Case:
    """Make a random case. About half of its queries have each trait; if there are several, one has none."""
    case = Case({}, {}, traits)
    for number in range(n):
        query = f"{'cdefgh'[number // 2]}_{1 + number % 2}"
        of_query = {each for each in traits if n == 1 or number == 1 or (number and rng.random() < 0.6)}
        grades, ranked = _query(rng, k, rng.choice((4, 5, 10)) if HIGH in of_query else top, of_query)
        if OWN_ID in of_query:
            own = rng.choice(ranked or [*grades])
            grades = {query if doc == own else doc: grade for doc, grade in grades.items()}
            ranked = [query if doc == own else doc for doc in ranked]
        if NOT_JUDGED not in of_query:
            case.qrels[query] = grades
        if NOT_IN_RUN not in of_query:
            case.run[query] = dict(zip(ranked, _scores(rng, len(ranked), k, of_query), strict=True))
    return case


def _query(rng: random.Random, k: int, top: int, traits: set[str]) -> tuple[dict[str, float], list[str]]:
    """Draw the grades and the ranked list of a query; usually one of the first k documents is relevant."""
    names = [f"d{n}" for n in range(1, 5 * k + 18)]
    rng.shuffle(names)
    n = (
        8
        if PLAIN_CASE in traits
        else rng.randint(k + 2, 4 * k + 2)
        if RICH in traits
        else rng.choice((1, 1, 2, 4, 8, k + 4))
    )
    (first, *others), unjudged = names[:n], names[n:]
    low_grades = (1, 2) if RICH in traits and rng.random() < 0.5 else (0, 0, 1, 1)
    grades = {doc: _grade(rng, rng.choice((*low_grades, *range(2, top + 1))), traits) for doc in others}
    grades[first] = _grade(rng, rng.randint(4 if HIGH in traits else 1, top), traits)
    ranked = rng.sample(others, rng.randint(0, len(others)))
    if PLAIN_CASE in traits:
        grades |= {first: max(top, 2), others[0]: 0, others[1]: 2}
        ranked = others[: rng.randint(1, 6)]
    else:
        ranked += unjudged[: rng.choice((0, 1, 3, k + 2))]
    low, high = 0, k - 1
    if TIED_SCORES in traits:
        if rng.random() < 0.5:  # around the cutoff
            low, high = max(k - 3, 0), k + 1
            ranked += unjudged[-max(high - len(ranked), 1) :]
        ranked = rng.sample(ranked, min(len(ranked), max(_STABLE, k + 2) - 1))
    rng.shuffle(ranked)
    ranked.insert(rng.randint(low, min(high, len(ranked))), first)
    if NOT_FOUND in traits:
        relevant = [doc for doc in ranked if grades.get(doc, 0) >= 1]
        ranked = [doc for doc in ranked if doc not in relevant] or unjudged[:1]
        if rng.random() < 0.5:
            unused = [doc for doc in unjudged if doc not in ranked]
            ranked += [*unused[: max(k - len(ranked), 0)], *relevant]
    return grades, [] if NO_RESULTS in traits else ranked


def _grade(rng: random.Random, grade: float, traits: set[str]) -> float:
    if NOTHING_RELEVANT in traits:
        grade = 0
    if NEGATIVE_GRADES in traits and grade == 0 and rng.random() < 0.7:
        return -1
    if FRACTIONS in traits and grade == 1 and rng.random() < 0.7:
        return rng.choice((0.5, 1.5, 1.5, 2.5))
    return grade


def _scores(rng: random.Random, n: int, k: int, traits: set[str]) -> list[float]:
    """Draw scores: n, n - 1, ..., 1; with ties, few distinct ones, or equal ones around the cutoff."""
    scores = [float(n - index) for index in range(n)]
    if TIED_SCORES in traits and n > k:
        first = max(k - 3, 0)
        scores[first : k + 2] = [scores[first]] * len(scores[first : k + 2])
    elif TIED_SCORES in traits:
        scores = sorted((float(rng.randint(1, 1 + n // 3)) for _ in scores), reverse=True)
    return [score - (n + 1) // 2 for score in scores] if LOW in traits else scores


def small_case(ranked: Iterable[float | None], missed: Iterable[float] = (), *traits: str) -> Case:
    """Make a case of one query, from grades in ranked order (None: unjudged) and those not retrieved."""
    grade_of = {f"d{n}": grade for n, grade in enumerate([*ranked, None, *missed], 1)}
    grades = {doc: grade for doc, grade in grade_of.items() if grade is not None}
    return Case({"c_1": grades}, {"c_1": _ranked([*grade_of][: len([*ranked])])}, traits)


_SMALL_CASES: list[tuple[Any, ...]] = [
    ([1],),
    ([2],),
    ([3],),
    ([0, 1],),
    ([None, 1],),
    ([None, 3], [3]),
    ([0, 3, None], [3]),
    ([1], [1]),
    ([2, 1],),
    ([1, 2],),
    ([1, 3, 2], [3, 2]),
    ([3, 0, 1, None, 3], [2]),
    ([1, None, 1], [3, 0]),
    ([0], [1], NOT_FOUND),
    ([0], [], NOTHING_RELEVANT),
    ([], [1], NO_RESULTS),
    ([1, -1], [], NEGATIVE_GRADES),
    ([-1, 3], [3], NEGATIVE_GRADES),
    ([3, -1, None, -2, 3], [1], NEGATIVE_GRADES),
    ([1, -1, -1, -1], [], NEGATIVE_GRADES),
    ([-1, 1], [-2], NEGATIVE_GRADES),
    ([-1], [0, -1], NEGATIVE_GRADES),
    ([1, 1.5, 0.5], [2.5], FRACTIONS),
    ([0.5], [1], FRACTIONS),
    ([4, 2, 5], [1], HIGH),
    ([3, 10], [4], HIGH),
]
"""For each case: the grades in ranked order, the grades not retrieved, and a trait."""


# --- smaller cases, and their text -------------------------------------------------------------------


def minimised(case: Case, holds: Callable[[Case], bool]) -> Case:
    """Shrink a case step by step while a condition holds."""
    while (smaller := next(filter(holds, _smaller(case)), None)) is not None:
        case = smaller
    return case


def _smaller(case: Case) -> Iterator[Case]:
    """Yield cases with fewer queries, fewer documents, plain scores or smaller grades."""
    qrels, run = case.qrels, case.run
    lines = [(query, doc) for lists in (qrels, run) for query in lists for doc in lists[query]]
    for line in dict.fromkeys([*((query, None) for query in [*qrels, *run]), *lines]):
        without = Case(_without(qrels, *line), _without(run, *line))
        for smaller in (without, Case(qrels, without.run), Case(without.qrels, run)):
            if smaller.qrels and all(smaller.qrels.values()) and smaller[:2] != case[:2]:
                yield smaller
    for query, docs in run.items():
        if not _is_plain(docs):
            yield Case(qrels, {**run, query: _ranked(docs)})
    for query, grades in qrels.items():
        for doc, grade in grades.items():
            for lower in (0, 1):
                if lower < abs(grade):
                    yield Case({**qrels, query: {**grades, doc: lower}}, run)


def _without(lists: CaseQrels | CaseRun, query: str, doc: str | None) -> CaseRun:
    """Remove a document of a query, or the whole query."""
    if doc is None or query not in lists:
        return {each: docs for each, docs in lists.items() if each != query}
    left = {each: number for each, number in lists[query].items() if each != doc}
    return {**lists, query: _ranked(left) if _is_plain(lists[query]) else left}


def _ranked(docs: Iterable[str]) -> dict[str, float]:
    """Give n documents the scores n, n - 1, ..., 1."""
    docs = list(docs)
    return {doc: float(len(docs) - index) for index, doc in enumerate(docs)}


def _is_plain(docs: Mapping[str, float]) -> bool:
    """Check whether the scores of a list are n, n - 1, ..., 1."""
    return docs == _ranked(docs)


def case_text(case: Case) -> str:
    """Describe each query by its grades in ranked order, and the grades that were not retrieved.

    Examples
    --------
    >>> case_text(Case({"c_1": {"a": 2, "b": 1, "c": 1}}, {"c_1": {"x": 2.0, "a": 1.0}}))
    'ranked: unjudged, 2; not retrieved: 1, 1'
    >>> case_text(Case({"c_1": {"a": 2}, "c_2": {"b": 1}}, {"c_2": {"b": 1.0, "c_2": 1.0}}))
    'c_1: not in the run; not retrieved: 2 · c_2: ranked: 1 = unjudged (the id of the query)'
    """
    queries = dict.fromkeys([*case.qrels, *case.run])
    texts = [_query_text(query, case.qrels.get(query), case.run.get(query)) for query in queries]
    if len(texts) > 1:
        texts = [f"{query}: {text}" for query, text in zip(queries, texts, strict=True)]
    return " · ".join(texts)


def _query_text(query: str, grades: dict[str, float] | None, docs: dict[str, float] | None) -> str:
    parts = ["not judged"] if grades is None else []
    text, before = "", None
    for doc, score in (docs or {}).items():
        text += "" if before is None else " = " if score == before else ", "
        text += f"{grades[doc]:g}" if grades and doc in grades else "unjudged"
        marks = ["the id of the query"] if doc == query else []
        marks += [f"score {score:g}"] if score <= 0 else []
        text += f" ({', '.join(marks)})" if marks else ""
        before = score
    parts.append(f"ranked: {text}" if text else "not in the run" if docs is None else "nothing retrieved")
    missed = Counter(grade for doc, grade in (grades or {}).items() if doc not in (docs or {}))
    if missed:
        counts = (
            f"{n} times {grade:g}" if n > 2 else ", ".join([f"{grade:g}"] * n) for grade, n in missed.items()
        )
        parts.append(f"not retrieved: {', '.join(counts)}")
    return "; ".join(parts)


def fraction(value: float) -> str:
    """Write a number as a fraction if its denominator is at most 100, else with six decimals.

    Examples
    --------
    >>> fraction(0.1), fraction(1 / 3), fraction(1.0), fraction(0.63093)
    ('1/10', '1/3', '1', '0.630930')
    """
    nearest = Fraction(value).limit_denominator(_LARGEST_DENOMINATOR)
    return str(nearest) if abs(float(nearest) - value) < SUM_NOISE else f"{value:.6f}"


_LARGEST_DENOMINATOR = 100
