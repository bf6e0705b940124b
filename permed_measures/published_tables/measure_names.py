"""Parse the names of published numbers: the measure and the cutoffs that a loose name means."""

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
    words_of,
)
from permed_measures.measures.parameters import Cutoff
from permed_measures.measures.parsing import parse_measure
from permed_measures.measures.specs import MEASURES, SPECS, needs_cutoff

_FAMILIES = {name: spec.family for name, spec in SPECS.items() if spec.family}
_MEANING = {
    **{word: family for word, name in MEASURE_OF_WORD.items() if (family := _FAMILIES.get(name))},
    **{word: spec.family for spec in SPECS.values() for word in words_of(spec.paper_names)},
}
LOOSE_MEASURES = frozenset(_FAMILIES.values())
"""The families of measures that loose names mean."""
_PERCENT_SIGNS = ("%", "(%)", "[%]", "(in%)", "[in%]")
_MARKS_OF_HEADINGS = "↑↓ *_†‡§¶△▲▽▼"
"""Arrows and marks around a title. Numbers have more marks: a prime, for example, may belong to a name."""
_SPREADS = ("", "sd", "std", "stdev", "std. dev", "se", "sem")
"""Text that may follow a plus-minus sign in a title: names of the deviations beside the numbers."""
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
"""Maximum length of a title that names a measure."""
_NEEDS_AT = re.compile(r"[jqs][ _]?[0-9]*", re.IGNORECASE)
"""Letters that name a measure only before an @: S1 may be a system or a step, and Q1 a query."""
ABOVE_1 = ("AP", "nDCG")
"""The measures that can be above 1 under some options, for example without a denominator; others cannot."""


def strip_heading(title: str) -> tuple[str, bool]:
    """Strip arrows, marks and deviations from a title; tell whether it is in percent.

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
    """Split a name into its word and its cutoff; the 1 of F1 is not a cutoff."""
    word, cutoff = word_and_cutoff(name.lower())
    return ("f1", "") if (word, cutoff) == ("f", "1") and "@" not in name else (word, cutoff)


def without_cutoff(title: str) -> tuple[str, str]:
    """Split a title into the text before its cutoff, and the cutoff; empty if it has none.

    Examples
    --------
    >>> [without_cutoff(title) for title in ("nDCG, k=20", "P (@5)", "Top-5", "TREC 8")]
    [('nDCG', '20'), ('P', '5'), ('', '5'), ('TREC 8', '')]
    """
    match = _CUTOFF.fullmatch(title) if len(title) <= _LONGEST_HEADING else None
    return (match["rest"].rstrip(" _"), match["k"] or match["alone"]) if match else (title, "")


def is_package_measure(name: str) -> bool:
    """Check whether a name is the full name of a measure of this package."""
    if not name.startswith(tuple(MEASURES)):
        return False
    try:
        measure = parse_measure(name)
    except MeasureError:
        return False
    loose = measure.NAME in LOOSE_MEASURES and measure.params.keys() <= {"cutoff"}
    return str(measure.NAME) in MEASURES and str(measure) == name and not loose


def meaning_of(name: str) -> tuple[str, tuple[Cutoff, ...]]:
    """Find the measure that a name means, and the cutoffs to try.

    The full name of a measure of this package means that measure.
    """
    if is_package_measure(name):
        return name, (None,)
    if has_percent_cutoff(name):
        problem = f"{name!r} may be a number in percent, or the measure within a share of the list"
        raise MeasureError(problem, hint=unsupported_hint(name))
    name = drop_candidate_count(name)
    word, cutoff = split(name)
    if _NEEDS_AT.fullmatch(name):
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
        # Without a need for a cutoff, the whole list may have been used although the name has one.
        return measure, (rank,) if needs_cutoff(measure) else (rank, None)
    if measure == "F1":
        return measure, _USUAL_OF_F1
    if needs_cutoff(measure):
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
