"""Names of published numbers: the measure and the cutoffs that a loose name means."""

from __future__ import annotations

import re
import unicodedata

from permed_measures.errors import MeasureError
from permed_measures.measures.aliases import (
    MEASURE_OF_WORD,
    drop_candidate_count,
    has_percent_cutoff,
    parse_cutoff,
    unsupported_hint,
    word_and_cutoff,
)
from permed_measures.measures.definitions import MEASURES
from permed_measures.measures.parameters import Cutoff
from permed_measures.measures.parsing import parse_measure

_FAMILIES = ("AP", "nDCG", "P", "R", "RR", "Success")
_MEANING = {word: measure for word, measure in MEASURE_OF_WORD.items() if measure in _FAMILIES}
_MEANING |= dict.fromkeys(("gradedap", "gradedmap"), "AP")
_MEANING |= dict.fromkeys(("variantndcg", "ndcgburges", "msndcg"), "nDCG")
_MEANING |= dict.fromkeys(("rcap", "recallcap", "cappedrecall"), "R")
_MEANING |= dict.fromkeys(("coverage", "cov", "覆盖率"), "Success")
_MEANING |= dict.fromkeys(("分级平均精度均值", "分级平均精度", "加权平均精度"), "AP")
_MEANING |= dict.fromkeys(
    ("f", "f1", "f1score", "fscore", "fmeasure", "f1measure", "f1值", "f1分数", "f值", "f分数"), "F1"
)
LOOSE_MEASURES = frozenset(_MEANING.values())
"""The measures that loose names mean."""
_PERCENT_SIGNS = ("%", "(%)", "[%]", "(in%)", "[in%]")
_MARKS_OF_HEADINGS = "↑↓ *_†‡§¶△▲▽▼"
"""Arrows and marks around a title; those of numbers are more, and a prime is part of a name."""
_SPREADS = ("", "sd", "std", "stdev", "std. dev", "se", "sem")
"""What may stand behind a plus and minus in a title: the deviations beside the numbers."""
_LOOSE = ("F1", "Rprec")
"""Measures of ours that print as everybody calls them."""
_NEEDS_CUTOFF = ("P", "R", "Success")
_COMMON_CUTOFFS = (None, 10, 100, 1000)
_USUAL_OF_F1 = tuple((k, k) for k in (10, 1, 3, 5, 20, 50, 100))
_CUTOFF = re.compile(
    r"""
    (?P<rest>.*?)[ ,;:(\[]*
    (?:(?:@|@?[ ]*\bk[ ]*=|\btop[- ]?|\bcut-?off[ ]*(?:at|=|:)?)[ ]*(?P<k>[0-9]{1,9})  # k = 5, top-5
      |[(\[][ ]*(?P<alone>[0-9]{1,9}))[ ]*[)\]]*                                    # [5]
    """,
    re.IGNORECASE | re.VERBOSE,
)
_TWO_CUTOFFS = re.compile(r"(?P<word>.*?)[ _@(]*(?P<p>[0-9]{1,9}) *[/,] *(?P<r>[0-9]{1,9})\)?")
_LONGEST_HEADING = 60
"""Longer titles are no names."""
_OF_ANYTHING = re.compile(r"[jqs][ _]?[0-9]*", re.IGNORECASE)
"""Letters that mean a measure before an @ only: S1 is a system or a step, and Q1 a query."""
ABOVE_1 = ("AP", "nDCG")
"""The measures that some options take above 1, as where nothing is divided; none takes another there."""
_CUT_DIFFERENTLY = ("AP", "nDCG", "RR")
"""The measures that may be computed on the whole list in spite of their names."""


def strip_heading(title: str) -> tuple[str, bool]:
    """Return the name in a title, without arrows, marks and deviations, and whether it is in percent.

    Examples
    --------
    >>> strip_heading("MAP (%) ↑"), strip_heading("MRR%"), strip_heading("P@10*"), strip_heading("RR (± SD)")
    (('MAP', True), ('MRR', True), ('P@10', False), ('RR', False))
    """
    name = unicodedata.normalize("NFKC", title).strip(_MARKS_OF_HEADINGS)
    start = max(name.rfind("("), name.rfind("["))
    if name.endswith("%") and not has_percent_cutoff(name):
        start = len(name) - 1
    percent = start >= 0 and name[start:].replace(" ", "") in _PERCENT_SIGNS
    name = (name[:start] if percent else name).rstrip(_MARKS_OF_HEADINGS)
    before, sign, spread = name.rpartition("±")
    is_beside = bool(sign) and spread.strip(" .)]").lower() in _SPREADS
    return before.rstrip(" ([") if is_beside else name, percent


def split(name: str) -> tuple[str, str]:
    """Split a name into its word and its cutoff; the 1 of F1 is none."""
    word, cutoff = word_and_cutoff(name.lower())
    return ("f1", "") if (word, cutoff) == ("f", "1") and "@" not in name else (word, cutoff)


def without_cutoff(title: str) -> tuple[str, str]:
    """Split a title into what it says besides a cutoff, and the cutoff; empty if it says none.

    Examples
    --------
    >>> [without_cutoff(title) for title in ("nDCG, k=20", "P (@5)", "Top-5", "TREC 8")]
    [('nDCG', '20'), ('P', '5'), ('', '5'), ('TREC 8', '')]
    """
    found = _CUTOFF.fullmatch(title) if len(title) <= _LONGEST_HEADING else None
    return (found["rest"].rstrip(" _"), found["k"] or found["alone"]) if found else (title, "")


def is_ours(name: str) -> bool:
    """Return whether a name is that of a measure of ours, as it prints."""
    if not name.startswith(tuple(MEASURES)):
        return False
    try:
        measure = parse_measure(name)
    except MeasureError:
        return False
    loose = measure.NAME in _LOOSE and measure.params.keys() <= {"cutoff"}
    return str(measure.NAME) in MEASURES and str(measure) == name and not loose


def meaning_of(name: str) -> tuple[str, tuple[Cutoff, ...]]:
    """Return the measure that a name means, and the cutoffs to try.

    A name as a measure of ours prints it means that one.
    """
    if is_ours(name):
        return name, (None,)
    if has_percent_cutoff(name):
        problem = f"{name!r} may be a number in percent, or the measure within a share of the list"
        raise MeasureError(problem, hint=unsupported_hint(name))
    name = drop_candidate_count(name)
    word, cutoff = split(name)
    if _OF_ANYTHING.fullmatch(name):
        raise MeasureError(f"no measure is known by the name {name!r}", hint=f"Write {name[0]}@10")
    measure = _MEANING.get(word)
    two = _TWO_CUTOFFS.fullmatch(name) if measure is None and len(name) <= _LONGEST_HEADING else None
    if two is not None and _MEANING.get(split(two["word"])[0]) == "F1":
        return "F1", ((parse_cutoff(two["p"], name), parse_cutoff(two["r"], name)),)
    if measure is None:
        rest, k = without_cutoff(name)
        return meaning_of(f"{rest}@{k}") if rest and k and f"{rest}@{k}" != name else _written_out(name)
    if cutoff.isdigit():
        rank = parse_cutoff(cutoff, name)
        if measure == "F1":
            return measure, ((rank, rank),)
        return measure, (rank, None) if measure in _CUT_DIFFERENTLY else (rank,)
    if measure == "F1":
        return measure, _USUAL_OF_F1
    if measure in _NEEDS_CUTOFF:
        example = name[: -len("@all")] if cutoff else name
        raise MeasureError(f"{measure} needs a cutoff (found {name!r})", hint=f"Write {example}@10")
    return measure, (None,) if cutoff else _COMMON_CUTOFFS


def _written_out(name: str) -> tuple[str, tuple[Cutoff, ...]]:
    try:
        return str(parse_measure(name)), (None,)
    except MeasureError as error:
        raise MeasureError(
            f"no measure is known by the name {name!r} ({error.problem})", hint=error.hint
        ) from None
