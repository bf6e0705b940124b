"""Small collections on which conventions differ, for functions of each form; made smaller, and written."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
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
    """A collection.

    Attributes
    ----------
    qrels, run : dict of dict
    traits : tuple of str
        What is unusual in it.
    """

    qrels: CaseQrels
    run: CaseRun
    traits: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """How many lines its files would have."""
        return sum(len(docs) + 1 for lists in (self.qrels, self.run) for docs in lists.values())

    def __str__(self) -> str:
        """Write it as Python."""
        return f"qrels = {self.qrels}\nrun = {self.run}"


NOTHING_RELEVANT, NO_RESULTS = "queries without relevant documents", "queries without results"
NOT_IN_RUN, NOT_JUDGED = "queries that the run lacks", "queries without judgments"
NEGATIVE_GRADES, FRACTIONS = "negative grades", "grades that are no whole numbers"
TIED_SCORES, LOW = "tied scores", "scores of 0 or less"
OWN_ID = "documents with the id of their query"
RICH, HIGH = "more relevant documents than the cutoff", "grades above 3"
PLAIN_CASE = "one query, all documents judged"
TRAITS = (
    *(NOT_FOUND, NOTHING_RELEVANT, NO_RESULTS, NOT_IN_RUN, NOT_JUDGED),
    *(NEGATIVE_GRADES, FRACTIONS, TIED_SCORES, LOW, OWN_ID, RICH, HIGH),
)
"""What may be unusual of a query."""
EXCUSED = (HIGH, NEGATIVE_GRADES, TIED_SCORES, FRACTIONS)
"""The traits whose cases may be left out where they rule out each convention that fits the others.

Few conventions say what grades are that are fractions, and some sorts leave the order of ties open.
"""


def _seen(trait: str, form: FunctionSignature) -> bool:
    """Return whether functions of a form can see it."""
    unseen = {
        (TIED_SCORES, LOW): form.scores,
        (NOT_IN_RUN, NOT_JUDGED): form.queries,
        (OWN_ID,): form.ids,
        (NEGATIVE_GRADES, FRACTIONS, HIGH): form.grades,
    }
    return not any(trait in traits for traits, is_seen in unseen.items() if not is_seen)


def as_seen(case: Case, form: FunctionSignature) -> Case:
    """Return a case without what functions of a form do not see: grades, or lists without documents."""
    case = case if form.grades else _without_grades(case)
    return case if form.empty_lists else _without_empty_lists(case)


def _without_empty_lists(case: Case) -> Case:
    """Return a case without the queries of the run that have no documents."""
    return case._replace(run={query: docs for query, docs in case.run.items() if docs})


def _without_grades(case: Case) -> Case:
    """Return a case whose relevant documents have the grade 1, and whose others are not judged.

    Of a query without relevant documents one is judged that is not retrieved: so the query has judgments.
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
"""How many cases have one trait alone; there are twice as many of ties, which are broken in many ways."""

_STABLE = 15
"""How many documents tied ones are among: up to there the quick sorts of numpy and numba keep their order."""


def cutoffs_of(cutoffs: tuple[Cutoff, ...]) -> list[int]:
    """Return the cutoffs that a measure may have, `USUAL` where it has none."""
    ranks = [k for rank in cutoffs for k in (rank if isinstance(rank, tuple) else (rank,)) if k]
    return [*dict.fromkeys(ranks or [USUAL])]


def cases(form: FunctionSignature, cutoffs: tuple[Cutoff, ...]) -> Iterator[Case]:
    """Yield the cases for functions of a form, always the same.

    Plain ones come first, then small ones, which rule out most conventions, then random ones: usual ones and
    those with traits.
    """
    k, *others = cutoffs_of(cutoffs)
    seen = [trait for trait in TRAITS if _seen(trait, form)]
    rng = random.Random(0)
    chosen: list[tuple[str, ...]] = [(PLAIN_CASE,)] * _N_PLAIN + [()] * 30
    chosen += [(trait,) for trait in seen for _ in range(_OF_EACH * (1 + (trait == TIED_SCORES)))]
    chosen += [tuple(rng.sample(seen, min(2 + n % 2, len(seen)))) for n in range(40)]
    drawn = []
    for number, traits in enumerate(chosen):
        n = 1 if form.one_query or PLAIN_CASE in traits else _SIZES[number % len(_SIZES)]
        n = max(n, 2) if {NOT_IN_RUN, NOT_JUDGED} & {*traits} else n
        drawn.append(random_case(random.Random(number), k, n, _TOPS[number % len(_TOPS)], traits))
    small = [small_case(*each) for each in _SMALL_CASES]
    for rank in (k, *others):
        small += [*_around(rank), *_query_sets(rank), *_ties(rank), *_own_ids(rank), *_low(rank)]
    for depth in depths():
        small += _longer_than(depth)
    yield from drawn[:_N_PLAIN]
    yield from (each for each in small if form.takes(*each[:2]) and all(_seen(t, form) for t in each.traits))
    yield from drawn[_N_PLAIN:]


def _around(k: int) -> Iterator[Case]:
    """Yield small cases on which it matters whether something is cut at rank k."""
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
    """Yield small cases on which it matters whether lists are cut to a depth, for the list or its ideal."""
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
    """Yield cases of three queries, the second of which some query sets count and others do not.

    The first and the third have different values. So the mean over conversations is another one too.
    """
    late = {f"x{n}": None for n in range(k)}
    kinds: list[tuple[dict[str, float] | None, dict[str, float | None] | None, tuple[str, ...]]] = [
        ({"a": 3}, None, (NOT_IN_RUN,)),
        ({"a": 3}, {}, (NO_RESULTS,)),
        ({"a": 3}, {"x": None}, (NOT_FOUND,)),
        ({"a": 3, "b": 0}, {"b": None}, (NOT_FOUND,)),
        ({"a": 3, "b": -1}, {"b": None}, (NOT_FOUND, NEGATIVE_GRADES)),  # which some condensed lists lack
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
    """Return a case of three queries, the second of them with these grades and documents."""
    qrels: CaseQrels = {"c_1": {"a": 3, "b": 0, "c": 2}, "d_1": {"a": 3, "b": 3, "c": 1}}
    case = Case(qrels, {"c_1": _ranked("ab"), "d_1": _ranked("bxca")}, traits)
    if grades is not None:
        case.qrels["c_2"] = grades
    if docs is not None:
        case.run["c_2"] = _ranked(docs)
    return case


def _ties(k: int) -> Iterator[Case]:
    """Yield cases with three tied documents, of which one is relevant, at the top and around rank k.

    The scores of some are the same in single precision only. Some have more relevant documents than k.
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
    """Yield cases with a document that has the id of its query, and a relevant one behind rank k."""
    zeros = [f"x{n}" for n in range(k - 1)]
    own: list[CaseGrades] = [{}, {"c_1": 0}, {"c_1": 3}]
    judged: list[CaseGrades] = [{}, dict.fromkeys(zeros, 0)]
    for grades in own:
        yield Case({"c_1": {**grades, "a": 3}}, {"c_1": _ranked(["c_1", "a"])}, (OWN_ID,))
        for others in judged:
            qrels = {"c_1": {**grades, **others, "a": 3, "y": 3}}
            yield Case(qrels, {"c_1": _ranked(["c_1", *zeros, "a"])}, (OWN_ID,))


def _low(k: int) -> Iterator[Case]:
    """Yield cases with relevant documents whose score is 0 or less, within rank k and behind it.

    In the last, it is the only relevant document that is retrieved for a query.
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
    """Yield the random cases on which an answer is checked, always the same."""
    k = cutoffs_of(cutoffs)[0]
    seen = [trait for trait in TRAITS if _seen(trait, form)]
    for number in range(N_FRESH):
        rng = random.Random(f"fresh {number}")
        traits = tuple(rng.sample(seen, min(rng.choice((0, 1, 1, 2, 3, 4)), len(seen))))
        n = 1 if form.one_query else rng.choice((1, 1, 2, 3, 4, 6))
        n = max(n, 2) if {NOT_IN_RUN, NOT_JUDGED} & {*traits} else n
        yield random_case(rng, k, n, rng.randint(1, 3), traits)


N_FRESH = 500
"""On how many random cases an answer is checked."""


def lengthened(case: Case, n: int) -> Case:
    """Return a case whose lists have at least some number of documents.

    The documents behind are not relevant: judged where all others are, else not judged.
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
    """Return a case with the queries of another one besides its own."""
    names = {query: f"{'mn'[number % 2]}_{number}" for number, query in enumerate([*other.qrels, *other.run])}
    qrels, run = ({names[q]: docs for q, docs in lists.items()} for lists in other[:2])
    return Case({**case.qrels, **qrels}, {**case.run, **run}, case.traits)


def random_case(rng: random.Random, k: int, n: int, top: int, traits: tuple[str, ...] = ()) -> Case:
    """Return a case; of its queries about half have each trait, and one has none if there are several."""
    case = Case({}, {}, traits)
    for number in range(n):
        query = f"{'cdefgh'[number // 2]}_{1 + number % 2}"
        odd = {each for each in traits if n == 1 or number == 1 or (number and rng.random() < 0.6)}
        grades, ranked = _query(rng, k, rng.choice((4, 5, 10)) if HIGH in odd else top, odd)
        if OWN_ID in odd:
            own = rng.choice(ranked or [*grades])
            grades = {query if doc == own else doc: grade for doc, grade in grades.items()}
            ranked = [query if doc == own else doc for doc in ranked]
        if NOT_JUDGED not in odd:
            case.qrels[query] = grades
        if NOT_IN_RUN not in odd:
            case.run[query] = dict(zip(ranked, _scores(rng, len(ranked), k, odd), strict=True))
    return case


def _query(rng: random.Random, k: int, top: int, odd: set[str]) -> tuple[dict[str, float], list[str]]:
    """Return the grades of a query and a ranked list, where usually one of the first k is relevant."""
    names = [f"d{n}" for n in range(1, 5 * k + 18)]
    rng.shuffle(names)
    n = (
        8
        if PLAIN_CASE in odd
        else rng.randint(k + 2, 4 * k + 2)
        if RICH in odd
        else rng.choice((1, 1, 2, 4, 8, k + 4))
    )
    (first, *others), unjudged = names[:n], names[n:]
    low_grades = (1, 2) if RICH in odd and rng.random() < 0.5 else (0, 0, 1, 1)
    grades = {doc: _grade(rng, rng.choice((*low_grades, *range(2, top + 1))), odd) for doc in others}
    grades[first] = _grade(rng, rng.randint(4 if HIGH in odd else 1, top), odd)
    ranked = rng.sample(others, rng.randint(0, len(others)))
    if PLAIN_CASE in odd:
        grades |= {first: max(top, 2), others[0]: 0, others[1]: 2}
        ranked = others[: rng.randint(1, 6)]
    else:
        ranked += unjudged[: rng.choice((0, 1, 3, k + 2))]
    low, high = 0, k - 1
    if TIED_SCORES in odd:
        if rng.random() < 0.5:  # around the cutoff
            low, high = max(k - 3, 0), k + 1
            ranked += unjudged[-max(high - len(ranked), 1) :]
        ranked = rng.sample(ranked, min(len(ranked), max(_STABLE, k + 2) - 1))
    rng.shuffle(ranked)
    ranked.insert(rng.randint(low, min(high, len(ranked))), first)
    if NOT_FOUND in odd:
        found = [doc for doc in ranked if grades.get(doc, 0) >= 1]
        ranked = [doc for doc in ranked if doc not in found] or unjudged[:1]
        if rng.random() < 0.5:
            unseen = [doc for doc in unjudged if doc not in ranked]
            ranked += [*unseen[: max(k - len(ranked), 0)], *found]
    return grades, [] if NO_RESULTS in odd else ranked


def _grade(rng: random.Random, grade: float, odd: set[str]) -> float:
    if NOTHING_RELEVANT in odd:
        grade = 0
    if NEGATIVE_GRADES in odd and grade == 0 and rng.random() < 0.7:
        return -1
    if FRACTIONS in odd and grade == 1 and rng.random() < 0.7:
        return rng.choice((0.5, 1.5, 1.5, 2.5))
    return grade


def _scores(rng: random.Random, n: int, k: int, odd: set[str]) -> list[float]:
    """Return scores that fall by one to 1; or tied ones, few different ones or some around the cutoff."""
    scores = [float(n - place) for place in range(n)]
    if TIED_SCORES in odd and n > k:
        first = max(k - 3, 0)
        scores[first : k + 2] = [scores[first]] * len(scores[first : k + 2])
    elif TIED_SCORES in odd:
        scores = sorted((float(rng.randint(1, 1 + n // 3)) for _ in scores), reverse=True)
    return [score - (n + 1) // 2 for score in scores] if LOW in odd else scores


def small_case(ranked: Iterable[float | None], missed: Iterable[float] = (), *traits: str) -> Case:
    """Return one query: grades in ranked order, None for unjudged documents, and those not retrieved."""
    every = {f"d{n}": grade for n, grade in enumerate([*ranked, None, *missed], 1)}
    grades = {doc: grade for doc, grade in every.items() if grade is not None}
    return Case({"c_1": grades}, {"c_1": _ranked([*every][: len([*ranked])])}, traits)


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
"""Grades in ranked order, those not retrieved, and what is unusual."""


# --- smaller cases, and how they are written ---------------------------------------------------------


def shrunk(case: Case, holds: Callable[[Case], bool]) -> Case:
    """Return the smallest case that is found on which something holds, as it does on this one."""
    while (smaller := next(filter(holds, _smaller(case)), None)) is not None:
        case = smaller
    return case


def _smaller(case: Case) -> Iterator[Case]:
    """Yield cases with fewer queries, fewer documents, usual scores or smaller grades."""
    qrels, run = case.qrels, case.run
    lines = [(query, doc) for lists in (qrels, run) for query in lists for doc in lists[query]]
    for line in dict.fromkeys([*((query, None) for query in [*qrels, *run]), *lines]):
        without = Case(_without(qrels, *line), _without(run, *line))
        for each in (without, Case(qrels, without.run), Case(without.qrels, run)):
            if each.qrels and all(each.qrels.values()) and each[:2] != case[:2]:
                yield each
    for query, docs in run.items():
        if not _is_plain(docs):
            yield Case(qrels, {**run, query: _ranked(docs)})
    for query, grades in qrels.items():
        for doc, grade in grades.items():
            for lower in (0, 1):
                if lower < abs(grade):
                    yield Case({**qrels, query: {**grades, doc: lower}}, run)


def _without(lists: CaseQrels | CaseRun, query: str, doc: str | None) -> CaseRun:
    """Leave out a document of a query, or the whole query."""
    if doc is None or query not in lists:
        return {each: docs for each, docs in lists.items() if each != query}
    left = {each: number for each, number in lists[query].items() if each != doc}
    return {**lists, query: _ranked(left) if _is_plain(lists[query]) else left}


def _ranked(docs: Iterable[str]) -> dict[str, float]:
    """Give documents scores that fall by one to 1."""
    docs = list(docs)
    return {doc: float(len(docs) - place) for place, doc in enumerate(docs)}


def _is_plain(docs: Mapping[str, float]) -> bool:
    """Return whether the scores of a list fall by one to 1."""
    return docs == _ranked(docs)


def described(case: Case) -> str:
    """Say what each query has: grades as they are ranked, and grades that were not retrieved.

    Examples
    --------
    >>> described(Case({"c_1": {"a": 2, "b": 1, "c": 1}}, {"c_1": {"x": 2.0, "a": 1.0}}))
    'ranked: unjudged, 2; not retrieved: 1, 1'
    >>> described(Case({"c_1": {"a": 2}, "c_2": {"b": 1}}, {"c_2": {"b": 1.0, "c_2": 1.0}}))
    'c_1: not in the run; not retrieved: 2 · c_2: ranked: 1 = unjudged (the id of the query)'
    """
    queries = dict.fromkeys([*case.qrels, *case.run])
    texts = [_of_query(query, case.qrels.get(query), case.run.get(query)) for query in queries]
    if len(texts) > 1:
        texts = [f"{query}: {text}" for query, text in zip(queries, texts, strict=True)]
    return " · ".join(texts)


def _of_query(query: str, grades: dict[str, float] | None, docs: dict[str, float] | None) -> str:
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
        each = (
            f"{n} times {grade:g}" if n > 2 else ", ".join([f"{grade:g}"] * n) for grade, n in missed.items()
        )
        parts.append(f"not retrieved: {', '.join(each)}")
    return "; ".join(parts)


def fraction(value: float) -> str:
    """Write a number as a fraction if it is one of small numbers.

    Examples
    --------
    >>> fraction(0.1), fraction(1 / 3), fraction(1.0), fraction(0.63093)
    ('1/10', '1/3', '1', '0.630930')
    """
    near = Fraction(value).limit_denominator(_LARGEST_GRADE)
    return str(near) if abs(float(near) - value) < SUM_NOISE else f"{value:.6f}"


_LARGEST_GRADE = 100
