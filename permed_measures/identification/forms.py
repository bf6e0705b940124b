"""Build the arguments of functions: qrels and a run in the shapes that evaluation scripts take."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

CaseGrades = dict[str, float]
CaseQrels = dict[str, CaseGrades]
CaseRun = dict[str, dict[str, float]]
Function = Callable[..., Any]
_ARRAYS, _TENSORS = "arrays", "tensors"


class FunctionSignature(NamedTuple):
    """The form of a function's arguments.

    Attributes
    ----------
    make : callable
        Makes the arguments from qrels and a run, whose lists are in ranked order. It is a function of this
        module, so that a form can be pickled for the process of a script.
    texts : tuple of str
        The description of each argument.
    hidden : str
        The parts of qrels and run that the function does not see, in words.
    scores, ids, queries, grades : bool
        Whether the function sees scores, ids, queries that only the qrels or only the run has, and grades.
        Without grades it sees the relevant documents: those of grade 1 or more.
    one_query : bool
        Whether it takes one query.
    empty_lists : bool
        Whether the run may have a query without documents; files with a row for each document cannot.
    k : int, list of int or None
        The cutoff that follows the other arguments, or a list of this cutoff alone.
    k_name : str
        The keyword of the cutoff; empty if it is positional.
    turned : bool
        Whether the second argument comes first.
    lists_as : str
        The type of lists: ``arrays`` of NumPy, ``tensors`` of PyTorch; plain lists if empty.
    """

    make: Callable[[CaseQrels, CaseRun], tuple[Any, ...]]
    texts: tuple[str, ...]
    hidden: str = ""
    scores: bool = True
    ids: bool = True
    queries: bool = True
    grades: bool = True
    one_query: bool = False
    empty_lists: bool = True
    k: int | list[int] | None = None
    k_name: str = ""
    turned: bool = False
    lists_as: str = ""

    def takes(self, qrels: CaseQrels, run: CaseRun) -> bool:
        """Check whether a function of this form can take these qrels and this run."""
        return (self.queries or {*qrels} == {*run}) and (not self.one_query or len(qrels) == 1)

    def arguments(self, qrels: CaseQrels, run: CaseRun) -> tuple[Any, ...]:
        """Make the positional arguments of the function."""
        made = self.make(qrels, run)
        made = made[::-1] if self.turned else made
        if self.lists_as:
            made = tuple(np.array(each) if isinstance(each, list) else each for each in made)
        if self.lists_as == _TENSORS:  # made from arrays of doubles, so that ties stay ties
            tensor = sys.modules["torch"].tensor
            made = tuple(tensor(each) if isinstance(each, np.ndarray) else each for each in made)
        return made if self.k is None or self.k_name else (*made, self.k)

    @property
    def named(self) -> dict[str, Any]:
        """The keyword arguments of the function."""
        return {self.k_name: self.k} if self.k_name and self.k is not None else {}

    @property
    def taken(self) -> str:
        """The description of all arguments."""
        texts = self.texts[::-1] if self.turned else self.texts
        arrays = f" as {self.lists_as}" if self.lists_as else ""
        return ", ".join([*texts, *([] if self.k is None else [f"k = {self.k}"])]) + arrays


def copied(lists: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """Copy the dict and the dicts in it."""
    return {query: dict(docs) for query, docs in lists.items()}


def _ranked(run: CaseRun) -> dict[str, list[str]]:
    return {query: list(docs) for query, docs in run.items()}


def _grades_by_query(qrels: CaseQrels, run: CaseRun) -> dict[str, list[float]]:
    return {query: [qrels[query].get(doc, 0) for doc in docs] for query, docs in run.items()}


def _relevant(grades: Mapping[str, float]) -> list[str]:
    return [doc for doc, grade in grades.items() if grade >= 1]


def _of_one_query(qrels: CaseQrels, run: CaseRun) -> tuple[CaseGrades, list[str]]:
    [(grades, docs)] = [(dict(qrels[query]), list(docs)) for query, docs in run.items()]
    return grades, docs


def _frames(qrels: CaseQrels, run: CaseRun, columns: tuple[str, str, str, str]) -> tuple[Any, ...]:
    import pandas as pd

    query, document, grade, score = columns
    frames = []
    for lists, number in (qrels, grade), (run, score):
        rows = [(each, doc, value) for each, docs in lists.items() for doc, value in docs.items()]
        frames.append(pd.DataFrame(rows, columns=[query, document, number]))
    return tuple(frames)


def _qrels_and_run(qrels: CaseQrels, run: CaseRun) -> tuple[Any, ...]:
    return copied(qrels), copied(run)


def _qrels_and_ranked(qrels: CaseQrels, run: CaseRun) -> tuple[Any, ...]:
    return copied(qrels), _ranked(run)


def _sets_and_ranked(qrels: CaseQrels, run: CaseRun) -> tuple[Any, ...]:
    return {query: {*_relevant(docs)} for query, docs in qrels.items()}, _ranked(run)


def _set_and_ranked_of_one(qrels: CaseQrels, run: CaseRun) -> tuple[Any, ...]:
    grades, docs = _of_one_query(qrels, run)
    return {*_relevant(grades)}, docs


def _list_and_ranked_of_one(qrels: CaseQrels, run: CaseRun) -> tuple[Any, ...]:
    grades, docs = _of_one_query(qrels, run)
    return _relevant(grades), docs


def _parallel(qrels: CaseQrels, run: CaseRun) -> tuple[Any, ...]:
    return [_relevant(qrels[query]) for query in run], [*_ranked(run).values()]


def _grades_and_scores_of_one(qrels: CaseQrels, run: CaseRun) -> tuple[Any, ...]:
    return _grades_of_one(qrels, run), _scores_of_one(run)


def _lists_of_grades_and_scores(qrels: CaseQrels, run: CaseRun) -> tuple[Any, ...]:
    return [_grades_of_one(qrels, run)], [_scores_of_one(run)]


def _only_grades_by_query(qrels: CaseQrels, run: CaseRun) -> tuple[Any, ...]:
    return (_grades_by_query(qrels, run),)


def _only_lists_of_grades(qrels: CaseQrels, run: CaseRun) -> tuple[Any, ...]:
    return ([*_grades_by_query(qrels, run).values()],)


def _only_grades_of_one(qrels: CaseQrels, run: CaseRun) -> tuple[Any, ...]:
    return (_grades_of_one(qrels, run),)


_HIDDEN_BY_LISTS = "scores, ids, and judgments of what was not retrieved"
_NO_QUERIES = "scores, and which queries are averaged"
_NO_GRADES = "scores, grades, what is judged not relevant, and which queries are averaged"
_OF_SCORES = "ids, judgments of what was not retrieved, and which queries are averaged"


def _grades_of_one(qrels: CaseQrels, run: CaseRun) -> list[float]:
    [grades] = _grades_by_query(qrels, run).values()
    return grades


def _scores_of_one(run: CaseRun) -> list[float]:
    [docs] = run.values()
    return [*docs.values()]


_LISTS = FunctionSignature(
    _only_grades_by_query,
    ("the grades of ranked documents {query: [grade, ...]}",),
    _HIDDEN_BY_LISTS,
    scores=False,
    ids=False,
    queries=False,
)

SIGNATURES = {
    "dicts": FunctionSignature(
        _qrels_and_run,
        ("qrels {query: {document: grade}}", "a run {query: {document: score}}"),
    ),
    "ranked": FunctionSignature(
        _qrels_and_ranked,
        ("qrels {query: {document: grade}}", "a run {query: [document, ...]}"),
        "scores",
        scores=False,
    ),
    "sets": FunctionSignature(
        _sets_and_ranked,
        ("relevant documents {query: {document, ...}}", "a run {query: [document, ...]}"),
        "scores, grades, and what is judged not relevant",
        scores=False,
        grades=False,
    ),
    "query": FunctionSignature(
        _of_one_query,
        ("the judgments of a query {document: grade}", "its ranked documents [document, ...]"),
        _NO_QUERIES,
        scores=False,
        queries=False,
        one_query=True,
    ),
    "relevant": FunctionSignature(
        _set_and_ranked_of_one,
        ("the relevant documents of a query {document, ...}", "its ranked documents [document, ...]"),
        _NO_GRADES,
        scores=False,
        queries=False,
        grades=False,
        one_query=True,
    ),
    "parallel": FunctionSignature(
        _parallel,
        (
            "the relevant documents of each query [[document, ...], ...]",
            "its ranked documents [[document, ...], ...]",
        ),
        _NO_GRADES,
        scores=False,
        queries=False,
        grades=False,
    ),
    "scores": FunctionSignature(
        _grades_and_scores_of_one,
        ("the grades of the retrieved documents of a query [grade, ...]", "their scores [score, ...]"),
        _OF_SCORES,
        ids=False,
        queries=False,
        one_query=True,
    ),
    "lists": _LISTS,
    "grades": _LISTS._replace(
        make=_only_grades_of_one,
        texts=("the grades of the ranked documents of a query [grade, ...]",),
        hidden=f"{_HIDDEN_BY_LISTS}, and which queries are averaged",
        one_query=True,
    ),
    "frames": FunctionSignature(
        partial(_frames, columns=("query_id", "doc_id", "relevance", "score")),
        ("qrels as a pandas frame (query_id, doc_id, relevance)", "a run (query_id, doc_id, score)"),
    ),
}
"""The forms of functions by name."""

_OTHER_WAYS = {
    "relevant": SIGNATURES["relevant"]._replace(
        make=_list_and_ranked_of_one,
        texts=("the relevant documents of a query [document, ...]", SIGNATURES["relevant"].texts[1]),
    ),
    "scores": SIGNATURES["scores"]._replace(
        make=_lists_of_grades_and_scores,
        texts=(
            "the grades of the retrieved documents of a query [[grade, ...]]",
            "their scores [[score, ...]]",
        ),
    ),
    "lists": SIGNATURES["lists"]._replace(
        make=_only_lists_of_grades,
        texts=("the grades of the ranked documents of each query [[grade, ...], ...]",),
    ),
    "frames": SIGNATURES["frames"]._replace(
        make=partial(_frames, columns=("qid", "docno", "label", "score")),
        texts=("qrels as a pandas frame (qid, docno, label)", "a run (qid, docno, score)"),
    ),
}
"""Variants of these forms: a list in place of a set, lists of lists, other columns."""

_IN_ARRAYS = ("grades", "scores", "lists", "relevant")
"""The forms whose lists may be arrays or tensors, and whose grades may be 0 and 1 only."""
USUAL = 10
"""The cutoff of the cases if a measure has none."""
_LISTS_OF_CUTOFFS = ("ks", "k_values", "k_list", "cutoffs", "topks", "top_ks", "at_ks")
"""Usual names of an argument with several cutoffs."""
_CUTOFF_ARGUMENTS = ("k", "n", "top_k", "topk", "top_n", "at", "at_k", "cutoff", "cut", "rank", "depth", "p")
"""Usual names of an argument with one cutoff."""


class Arguments(NamedTuple):
    """The parameters of a function, in a form that crosses between processes.

    Attributes
    ----------
    parameters : list of inspect.Parameter or None
        None if the function takes any number of arguments.
    has_tensors : bool
        Whether arguments may be tensors of PyTorch.
    """

    parameters: list[inspect.Parameter] | None
    has_tensors: bool

    @classmethod
    def of(cls, function: Function) -> Arguments:
        """Read the signature of a function; of a default, keep only whether it is None."""
        has_tensors = "torch" in sys.modules
        try:
            signature = [*inspect.signature(function).parameters.values()]
        except (TypeError, ValueError):  # some built-in functions have no signature
            return cls(None, has_tensors)
        if any(each.kind is each.VAR_POSITIONAL for each in signature):
            return cls(None, has_tensors)
        return cls(
            [inspect.Parameter(each.name, each.kind, default=_picklable_default(each)) for each in signature],
            has_tensors,
        )


def _picklable_default(parameter: inspect.Parameter) -> Any:
    """Keep a default that is None or missing; replace any other by a text, which can be pickled."""
    is_kept = parameter.default is None or parameter.default is parameter.empty
    return parameter.default if is_kept else "another"


def variants(arguments: Arguments, k: int | None, form: str | None = None) -> Iterator[FunctionSignature]:
    """Yield the forms that fit a function's signature: all of them or the one named, with their variants.

    The two arguments may come in the other order, and a cutoff may follow them. The last variants have arrays
    in place of lists, or grades 0 and 1 only; tensors too, if the function's script imports PyTorch.
    """
    ways = [(name, each) for all_ways in (SIGNATURES, _OTHER_WAYS) for name, each in all_ways.items()]
    ways = [(name, each) for name, each in ways if form in (None, name)]
    lists = [(name, each) for name, each in ways if name in _IN_ARRAYS]
    binary = [_of_binary(each) for _, each in lists if each.grades]
    kinds = [_ARRAYS, *([_TENSORS] if arguments.has_tensors else [])]
    of_lists = [*(signature for _, signature in lists), *binary]
    arrays = [signature._replace(lists_as=kind) for kind in kinds for signature in of_lists]
    for signature in [*(signature for _, signature in ways), *binary, *arrays]:
        n = len(signature.texts)
        if _may_take(arguments, n):
            made = _with_cutoff(signature, arguments, k)
            yield made
            if n > 1:
                yield made._replace(turned=True)


def _of_binary(form: FunctionSignature) -> FunctionSignature:
    """Turn a form with grades into one with labels 0 and 1."""
    texts = tuple(
        text.replace("grade", "0 or 1").replace("the 0 or 1s", "the labels 0 or 1") for text in form.texts
    )
    return form._replace(texts=texts, hidden=f"grades, {form.hidden}", grades=False)


def _positional(parameters: list[inspect.Parameter]) -> list[inspect.Parameter]:
    """Select the positional parameters."""
    return [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]


def _may_take(arguments: Arguments, n: int) -> bool:
    """Check whether a function can take n arguments, with or without a cutoff after them."""
    if arguments.parameters is None:
        return True
    positional = _positional(arguments.parameters)
    return len(positional) >= n and sum(each.default is each.empty for each in positional) <= n + 1


def _with_cutoff(form: FunctionSignature, arguments: Arguments, k: int | None) -> FunctionSignature:
    """Add a cutoff after the arguments of a form, if the function takes one.

    The function gets a cutoff if it needs one more argument; `USUAL` if the measure has no cutoff. It also
    gets one if an argument with the name of a cutoff is None by default. A keyword-only argument gets it by
    name.
    """
    parameters, n = arguments.parameters or [], len(form.texts)
    behind = _positional(parameters)[n : n + 1]
    named = [parameter for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]
    for parameter in [*behind, *named]:
        name = parameter.name.lower()
        is_list, is_needed = name in _LISTS_OF_CUTOFFS, parameter.default is parameter.empty
        is_cutoff = is_list or name in _CUTOFF_ARGUMENTS
        if is_needed and (is_cutoff or parameter in behind):
            k = USUAL if k is None else k
        elif not is_cutoff or parameter.default is not None or k is None:
            continue
        return form._replace(k=[k] if is_list else k, k_name="" if parameter in behind else parameter.name)
    return form
