"""What heads a number says: a measure and its cutoff, a change, a data set."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from permed_measures.engine.evaluator import PermedEvaluator
from permed_measures.errors import MeasureError
from permed_measures.papers.names import MEANT, heading_of, meaning_of, split, without_cutoff

_NO_MEASURE = re.compile(
    r"p(?: *[(\[].*)?|(?i:p[ _-]?val(?:ue)?s?(?: *[(\[].*)?|p值|显著性.*|sig(?:nificance|\.)?)"
    r"|(?i:std\.?(?: *dev\w*\.?)?|stdev|s\.?[de]\.?|var(?:iance)?|median|min|max)"
)
_INTERVAL = re.compile(r"\bci\b|confidence|\binterval|置信区间|\bci9[059]", re.IGNORECASE)
_CHANGE = re.compile(
    r"[Δ∆δ]|\bdelta\b|\bdiff(?:erence)?\b|\bimpr(?:ov)?\w*|\bgains?\b|\blift\b|\bchange\b|提升|提高|增幅|变化|差值|差异",
    re.IGNORECASE,
)
_CHANGE_ROW = re.compile(
    r"(?:(?:abs|rel)\w*\.? *)?"
    r"(?:[Δ∆δ]|delta|diff(?:erence)?|impr(?:ov)?\w*|gain|lift|change|提升|提高|增幅|变化|差值)\.? *"
    r"(?:%|[(\[].*|(?:vs|over|to|from|against|相对|比|对).*)?",
    re.IGNORECASE,
)
_BASE = re.compile(
    r"\b(?:vs|versus|over|against|from|to)\b\.? *.*|\b(?:rel|abs)(?:ative|olute)?\b\.?|[%+-]", re.IGNORECASE
)
_SIGN = re.compile(r"[(\[]? *(?:in )?% *[)\]]?")
_ANY_CUTOFF = re.compile(r"@ *(?:[kK]|\{?[0-9]+(?: *[,/] *[0-9]+)+\}?)$")
_LIKE_A_CUTOFF = re.compile(r"@|\bk *[=<>≤≥]|\btop[- ]?[0-9k]|cut-?off", re.IGNORECASE)
_EDGES = " .,:;_/"


class Heading(NamedTuple):
    """What heads a number.

    Attributes
    ----------
    title : str
        All that does.
    name : str
        The measure; of a change the one that it is about. Empty if none is named.
    group : str
        What else the titles say, such as a data set.
    why : str
        Why it is no measure.
    is_change : bool
    """

    title: str
    name: str = ""
    group: str = ""
    why: str = ""
    is_change: bool = False


@cache
def heading_in(titles: tuple[str, ...]) -> Heading:
    """Return what titles say, the highest first."""
    title, last = " ".join(titles), titles[-1] if titles else ""
    if _NO_MEASURE.fullmatch(last) or _INTERVAL.search(last):
        return Heading(title, why="a p-value, an interval or a deviation is no measure")
    if any(map(_is_change, titles)):
        name, group, _ = measure_in(tuple(map(_without_change, titles)))
        return Heading(title, name, group, is_change=True)
    in_percent = any(_SIGN.fullmatch(each) or heading_of(each)[1] for each in titles)
    name, group, why = measure_in(tuple(each for each in titles if not _SIGN.fullmatch(each)))
    if name and in_percent and not heading_of(name)[1]:
        name += " (%)"
    return Heading(title, name, group, why)


def _is_change(title: str) -> bool:
    """Return whether a title means a difference from another row."""
    return bool(_CHANGE.search(title)) and why_no_measure(title) != ""


def is_change_row(label: str) -> bool:
    """Return whether the name of a row means differences of others."""
    return bool(_CHANGE_ROW.fullmatch(label.strip()))


def _without_change(title: str) -> str:
    """Return what is left of a title such as ``Δ nDCG@10 vs BM25 (%)``."""
    return _BASE.sub("", _CHANGE.sub(" ", title)).strip(_EDGES + "()[]") if _is_change(title) else title


def measure_in(titles: tuple[str, ...]) -> tuple[str, str, str]:
    """Return the measure that titles name, what else they say, and, if they name none, why.

    The name is all of them, or the lowest measure: with its own cutoff, or the one that another title is.
    """
    titles = tuple(filter(None, (each if not why_no_measure(each) else bare(each) for each in titles)))
    if not titles:
        return "", "", "the column has no title"
    cutoffs = {each: without_cutoff(each)[1] or each for each in titles if is_cutoff(each)}
    named = {
        each for each in titles if each not in cutoffs and _has_cutoff(each) and not why_no_measure(each)
    }
    joined = " ".join(titles)
    if not why_no_measure(joined) and not (cutoffs and named):
        return joined, "", ""
    for title in (each for each in reversed(titles) if each not in cutoffs):
        others = [each for each in titles if each not in (title, *cutoffs)]
        if title in named:
            return title, " ".join(each for each in titles if each != title), ""
        name = f"{bare(title)}@{next(iter(cutoffs.values()), '')}"
        if len(set(cutoffs.values())) == 1 and not why_no_measure(name):
            return name, " ".join(others), ""
        if not why_no_measure(title):
            unread = [*cutoffs, *filter(_LIKE_A_CUTOFF.search, others)]
            why = f"what {title} has to do with {' and '.join(unread)} is not understood"
            return ("", "", why) if unread else (title, " ".join(others), "")
    return "", "", why_no_measure(titles[-1])


def _has_cutoff(title: str) -> bool:
    return "@" in title or bool(without_cutoff(title)[1] or split(title)[1])


def is_cutoff(title: str) -> bool:
    """Return whether a title is a cutoff alone, such as ``k = 5``, ``Top-5`` or ``5``."""
    return title.isdecimal() or (title != "" and not without_cutoff(title)[0])


def bare(title: str) -> str:
    """Return a title without a percent sign, the letter k for a cutoff, and marks at its ends."""
    return _ANY_CUTOFF.sub("", heading_of(title)[0].strip(_EDGES))


@cache
def why_no_measure(title: str) -> str:
    """Return why a title names no measure that is computed; empty if it names one."""
    try:
        measure = meaning_of(heading_of(title)[0])[0]
        if measure not in MEANT:
            PermedEvaluator([measure], {})
    except MeasureError as error:
        return str(error)
    return ""


def names_a_measure(title: str) -> bool:
    """Return whether a title is that of a measure, perhaps but for its cutoff."""
    return not (why_no_measure(title) and why_no_measure(f"{bare(title)}@1"))
