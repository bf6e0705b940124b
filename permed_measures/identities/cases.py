"""Small collections on which conventions differ; how one of them is made smaller, and written."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import islice
from typing import Any, NamedTuple

from permed_measures.identities.scripts import Form, Qrels, Run
from permed_measures.papers.names import Rank

USUAL = 10
"""The cutoff to which lists are long and short where a measure has none."""


class Case(NamedTuple):
    """A collection.

    Attributes
    ----------
    qrels, run : dict of dict
    traits : tuple of str
        What is unusual in it.
    alone : bool
        Whether it has one query, which any query set has: a document of the highest grade is found.
    """

    qrels: Qrels
    run: Run
    traits: tuple[str, ...] = ()
    alone: bool = False

    @property
    def size(self) -> int:
        """How many lines its files would have."""
        return sum(len(docs) + 1 for lists in (self.qrels, self.run) for docs in lists.values())

    def __str__(self) -> str:
        """Write it as Python."""
        return f"qrels = {self.qrels}\nrun = {self.run}"


class _Query(NamedTuple):
    """A query while a case is made, with the cutoff that its lists are long and short for.

    `run` is None if the run lacks it, `grades` is if it is not judged.
    """

    id: str
    k: int
    grades: dict[str, float] | None
    run: dict[str, float] | None


# --- what is unusual ---------------------------------------------------------------------------------

Trait = Callable[[random.Random, _Query], _Query]


def _with_grades(of: Callable[[random.Random, float], float]) -> Trait:
    def changed(rng: random.Random, query: _Query) -> _Query:
        if query.grades is None:
            return query
        return query._replace(grades={doc: of(rng, grade) for doc, grade in query.grades.items()})

    return changed


def _with_scores(of: Callable[[random.Random, int, int], float]) -> Trait:
    def changed(rng: random.Random, query: _Query) -> _Query:
        if query.run is None:
            return query
        n = len(query.run)
        scores = sorted((of(rng, n - place, n) for place in range(n)), reverse=True)
        return query._replace(run=dict(zip(query.run, scores, strict=True)))

    return changed


def _found_late(rng: random.Random, query: _Query) -> _Query:
    """Put what is relevant below the cutoff, or leave it out."""
    grades = query.grades or {}
    relevant = [doc for doc in query.run or () if grades.get(doc, 0) >= 1]
    others = [doc for doc in query.run or () if doc not in relevant] or ["x"]
    if rng.random() < 0.5:
        return query._replace(run=_ranked(others))
    return query._replace(run=_ranked([*others, *(f"x{n}" for n in range(len(others), query.k)), *relevant]))


def _tied(rng: random.Random, query: _Query) -> _Query:
    """Give documents few different scores; or those around the cutoff the same, one that is relevant too."""
    if query.run is None or rng.random() < 0.5:
        return _with_scores(lambda rng, _, n: float(rng.randint(1, 1 + n // 3)))(rng, query)
    docs = [*query.run, *(f"x{n}" for n in range(len(query.run), query.k + 2))]
    relevant = next((doc for doc in docs if (query.grades or {}).get(doc, 0) >= 1), docs[0])
    docs.remove(relevant)
    first = query.k - rng.randint(1, min(query.k, 3))
    last = query.k + rng.randint(1, 3)
    docs.insert(rng.randint(first, min(last, len(docs) + 1) - 1), relevant)
    tied = float(len(docs) - first)
    return query._replace(
        run={d: tied if first <= n < last else float(len(docs) - n) for n, d in enumerate(docs)}
    )


def _own_id(rng: random.Random, query: _Query) -> _Query:
    """Give a document the id of the query."""
    own = rng.choice([*(query.grades or query.run or [""])])
    grades, run = (
        docs and {query.id if doc == own else doc: number for doc, number in docs.items()}
        for docs in (query.grades, query.run)
    )
    return query._replace(grades=grades, run=run)


NOTHING_FOUND = "queries without a relevant document within the cutoff"
NO_RESULTS, NOTHING_RELEVANT = "queries without results", "queries without relevant documents"
TIES = "tied scores"
FRACTIONS, NEAR = "grades that are no whole numbers", "scores that only double precision tells apart"
TRAITS: dict[str, Trait] = {
    NOTHING_FOUND: _found_late,
    NOTHING_RELEVANT: _with_grades(lambda _, grade: min(grade, 0)),
    NO_RESULTS: lambda _, query: query._replace(run={}),
    "queries that the run lacks": lambda _, query: query._replace(run=None),
    "queries without judgments": lambda _, query: query._replace(grades=None),
    "negative grades": _with_grades(lambda rng, grade: -1 if grade < 1 and rng.random() < 0.7 else grade),
    TIES: _tied,
    "scores of 0 or less": _with_scores(lambda _, left, n: float(left - (n + 1) // 2)),
    "documents with the id of their query": _own_id,
    FRACTIONS: _with_grades(lambda rng, grade: 0.5 if grade == 1 and rng.random() < 0.7 else grade),
    NEAR: _with_scores(lambda rng, left, _: (left + 1) // 2 + rng.randint(1, 9) * 1e-9),
}
"""What may be unusual of a query, and what makes it so."""
DOMAINS = (FRACTIONS, NEAR)
"""What a convention may leave undefined: it names a script that differs only there, and that is said."""


def _seen(trait: str, form: Form) -> bool:
    """Return whether functions of a form can see it."""
    if trait in (TIES, "scores of 0 or less", NEAR):
        return form.scores
    if trait in ("queries that the run lacks", "queries without judgments"):
        return form.queries
    return form.ids or trait != "documents with the id of their query"


# --- random cases ------------------------------------------------------------------------------------

_ALONE = 12
_SIZES = (12, 1, 3, 5, 1, 7, 2, 4)
_TOPS = (3, 2, 1, 3, 3, 2, 1, 2)


def _query(
    rng: random.Random, query_id: str, k: int, top: int, best: int = 0, judged: bool = False
) -> _Query:
    """Return a query with a relevant document within the first k, and scores that fall by one."""
    pool = (0, 0, 1, 1, *range(2, top + 1))
    names = iter(rng.sample([f"d{n}" for n in range(1, 3 * k + 9)], 2 * k + 6))
    docs = list(islice(names, rng.choice((1, 1, 2, 4, 8, k + 4))))
    grades: dict[str, float] = {doc: rng.choice(pool) for doc in docs}
    first = rng.choice(docs)
    grades[first] = best or rng.randint(1, top)
    others = [doc for doc in docs if doc != first]
    others = rng.sample(others, rng.randint(0, len(others)))
    others += islice(names, 0 if judged else rng.choice((0, 1, 3, k + 2)))
    rng.shuffle(others)
    others.insert(rng.randint(0, min(len(others), k - 1)), first)
    return _Query(query_id, k, grades, _ranked(others))


def _case(rng: random.Random, k: int, n: int, top: int, traits: tuple[str, ...]) -> Case:
    """Return a case; of its queries about half have each trait, and one has none if there are several."""
    qrels: Qrels = {}
    run: Run = {}
    for number in range(n):
        query = _query(rng, f"{'cdefgh'[number // 2]}_{1 + number % 2}", k, top)
        for trait in traits:
            if n == 1 or (number and rng.random() < 0.6) or number == 1:
                query = TRAITS[trait](rng, query)
        if query.grades is not None:
            qrels[query.id] = query.grades
        if query.run is not None:
            run[query.id] = query.run
    return Case(qrels, run, traits)


def cases(form: Form, cutoffs: tuple[Rank, ...]) -> Iterator[Case]:
    """Yield the cases for functions of a form, always the same: usual ones first, then those with traits."""
    ranks = [k for rank in cutoffs for k in (rank if isinstance(rank, tuple) else (rank,)) if k]
    k, *others = dict.fromkeys(ranks or [USUAL])
    seen = [trait for trait in TRAITS if _seen(trait, form)]
    hard = [trait for trait in seen if trait not in DOMAINS]
    chosen: list[tuple[str, ...]] = [()] * 30
    chosen += [(trait,) for trait in seen for _ in range(12 if trait in (TIES, FRACTIONS) else 6)]
    for number in range(_ALONE):
        top = 3 - number % 2
        query = _query(random.Random(-1 - number), "c_1", k, top, best=top, judged=number < 2)
        yield Case({query.id: query.grades or {}}, {query.id: query.run or {}}, alone=True)
    rng = random.Random(0)
    chosen += [tuple(rng.sample(hard, min(2 + n % 2, len(hard)))) for n in range(40)]
    for number, traits in enumerate(chosen):
        n = 1 if form.one_query else _SIZES[number % len(_SIZES)]
        if {*traits} & {"queries that the run lacks", "queries without judgments"}:
            n = max(n, 2)
        yield _case(random.Random(number), k, n, _TOPS[number % len(_TOPS)], traits)
    small = [_small(*each) for each in _SMALL]
    for rank in (k, *others):
        unjudged = (None,) * (rank - 1)
        small += [
            _small((1, *unjudged, 1, 2)),
            _small((*unjudged, 2, 1), (1,)),
            _small((1,), (1,) * (rank + 1)),
        ]
    yield from (case for case in small if all(_seen(trait, form) for trait in case.traits))


def _small(ranked: tuple[float | None, ...], missed: tuple[float, ...] = (), *traits: str) -> Case:
    """Return one query: grades in ranked order, None for unjudged documents, and those not retrieved."""
    grades = {f"d{n}": each for n, each in enumerate([*ranked, *missed], 1) if each is not None}
    return Case({"c_1": grades}, {"c_1": _ranked(f"d{n}" for n in range(1, len(ranked) + 1))}, traits)


_SMALL: list[tuple[Any, ...]] = [
    ((1,),),
    ((0, 1),),
    ((None, 1),),
    ((1,), (1,)),
    ((2, 1),),
    ((1, 2),),
    ((1, None, 1), (2, 0)),
    ((0,), (1,), NOTHING_FOUND),
    ((0,), (), NOTHING_RELEVANT),
    ((), (1,), NO_RESULTS),
    ((1, -1), (), "negative grades"),
    ((0.5, 1), (), FRACTIONS),
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
    for query in dict.fromkeys([*qrels, *run]):
        labels, found = ({q: docs for q, docs in lists.items() if q != query} for lists in (qrels, run))
        yield from _those_with_labels(((labels, found), (qrels, found), (labels, run)), case)
    for query, doc in dict.fromkeys((q, doc) for lists in (qrels, run) for q in lists for doc in lists[q]):
        labels = {q: _without(docs, doc) if q == query else docs for q, docs in qrels.items()}
        found = {q: _without(docs, doc) if q == query else docs for q, docs in run.items()}
        yield from _those_with_labels(((labels, found), (qrels, found), (labels, run)), case)
    for query, docs in run.items():
        if docs != _ranked(docs):
            yield Case(qrels, {**run, query: _ranked(docs)})
    for query, grades in qrels.items():
        for doc, grade in grades.items():
            for lower in (0, 1):
                if lower < abs(grade):
                    yield Case({**qrels, query: {**grades, doc: lower}}, run)


def _those_with_labels(pairs: Iterable[tuple[Qrels, Run]], whole: Case) -> Iterator[Case]:
    """Yield the cases that are others, and whose queries all have judgments."""
    for qrels, run in pairs:
        if qrels and all(qrels.values()) and (qrels, run) != whole[:2]:
            yield Case(qrels, run)


def _without(docs: dict[str, float], doc: str) -> dict[str, float]:
    left = {each: number for each, number in docs.items() if each != doc}
    return _ranked(left) if docs == _ranked(docs) else left


def _ranked(docs: Iterable[str]) -> dict[str, float]:
    """Give documents scores that fall by one, the last to 1."""
    docs = list(docs)
    return {doc: float(len(docs) - place) for place, doc in enumerate(docs)}


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
    near = Fraction(value).limit_denominator(_LARGEST)
    return str(near) if abs(float(near) - value) < 1e-12 else f"{value:.6f}"


_LARGEST = 100
