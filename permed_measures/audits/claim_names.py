"""Names of published numbers: the measure and the cutoffs that a loose name means."""

from __future__ import annotations

import re
import string
import unicodedata

import ir_measures

from permed_measures.errors import MeasureError, nearest
from permed_measures.measures.definitions import MEASURES
from permed_measures.measures.parsing import parse_measure

_NAMES = {
    "AP": "ap map gradedap gradedmap meanaverageprecision averageprecision",
    "nDCG": "ndcg normalizeddcg normalizeddiscountedcumulativegain variantndcg ndcgcut ndcgburges",
    "P": "p prec precision",
    "R": "r rec recall rcap recallcap cappedrecall",
    "RR": "rr mrr reciprank reciprocalrank meanreciprocalrank",
    "Success": "success successrate hit hits hitrate hitratio hr coverage cov acc accuracy",
}
_MEANING = {word: measure for measure, words in _NAMES.items() for word in words.split()}
_SCORES = ("cosine_", "cos_sim_", "dot_score_", "dot_", "euclidean_", "manhattan_")
"""What sentence-transformers puts before the names of its measures."""
_ARROWS = "↑↓"
_WRITTEN = {"rprecision": "Rprec"}
"""Other names of measures that are written out."""
_PERCENT_SIGNS = ("%", "(%)", "[%]", "(in%)", "[in%]")
_WITHOUT_SEPARATORS = str.maketrans("", "", " _.-")
_MOST_DIGITS_OF_A_CUTOFF = 9
MARKS = " *_†‡§¶△▲▽▼"
"""Marks around a number in a table: the best one, or a significant one."""
_NEEDS_CUTOFF = ("P", "R", "Success")
_USUAL = (None, 10, 100, 1000)


def heading_of(title: str) -> tuple[str, bool]:
    """Return the name in the title of a column, without arrows and marks, and whether it is in percent."""
    name = unicodedata.normalize("NFKC", title).strip(_ARROWS + MARKS)
    start = max(name.rfind("("), name.rfind("["))
    if name.endswith("%"):
        start = len(name) - 1
    percent = start >= 0 and name[start:].replace(" ", "") in _PERCENT_SIGNS
    return (name[:start] if percent else name).rstrip(_ARROWS + MARKS), percent


def meaning_of(name: str) -> tuple[str, tuple[int | None, ...]]:
    """Return the measure that a name means, and the cutoffs to try."""
    word, cutoff = _word_and_cutoff(name.lower())
    measure = _MEANING.get(word)
    if measure is None:
        return _written_out(name)
    if cutoff.isdigit():
        rank = _rank(cutoff, name)
        return measure, (rank, None) if measure == "AP" else (rank,)
    if measure in _NEEDS_CUTOFF:
        example = name[: -len("@all")] if cutoff else name
        raise MeasureError(f"{measure} needs a cutoff (found {name!r})", hint=f"Write {example}@10")
    return measure, (None,) if cutoff else _USUAL


def _word_and_cutoff(name: str) -> tuple[str, str]:
    """Split a name such as ``ndcg_cut_10``, ``p (5)`` or ``map@all`` into its letters and its cutoff.

    Each step looks at an end of the name only: a pattern for all of it would take cubic time.
    """
    name = next((name.removeprefix(score) for score in _SCORES if name.startswith(score)), name)
    bracket = name.rfind("(")
    inside = name[bracket + 1 : -1]
    if name.endswith("@all"):
        word, cutoff = name[: -len("all")], "all"
    elif bracket >= 0 and inside.isascii() and inside.isdigit() and name.endswith(")"):
        word, cutoff = name[:bracket], inside
    else:
        word = name.rstrip(string.digits)
        cutoff = name[len(word) :]
    word = word.rstrip(" _.@")
    marker = next((marker for marker in ("at", "cut", "top") if word.endswith(marker)), "")
    return word.removesuffix(marker).translate(_WITHOUT_SEPARATORS), cutoff


def _rank(cutoff: str, name: str) -> int:
    significant = cutoff.lstrip("0")
    if not significant:
        raise MeasureError(f"a cutoff must be at least 1 (found {name!r})")
    if len(significant) > _MOST_DIGITS_OF_A_CUTOFF:
        raise MeasureError(
            f"a cutoff has at most {_MOST_DIGITS_OF_A_CUTOFF} digits (found {len(significant)})"
        )
    return int(significant)


def _written_out(name: str) -> tuple[str, tuple[int | None, ...]]:
    """Return the measure that is written out, in whatever case."""
    names = [*MEASURES, *ir_measures.measures.registry]
    of_lower = {each.lower(): each for each in reversed(names)}  # of two that differ in case, the first
    [word] = re.findall(r"\A[A-Za-z _-]*", name)
    typed = (_WRITTEN | of_lower).get(re.sub(r"[ _-]", "", word).lower(), word) + name[len(word) :]
    try:
        return str(parse_measure(typed)), (None,)
    except MeasureError as error:
        hint = nearest(name, ["MAP@10", "nDCG@10", "P@1", "recall@20", "MRR", "hit@10", "coverage@10"])
        raise MeasureError(
            f"no measure is known by the name {name!r} ({error.problem})", hint=hint or error.hint
        ) from None
