"""Parse the headings of a printed table: the measure that the titles of a number name."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from permed_measures.engine.evaluator import PermedEvaluator
from permed_measures.errors import MeasureError
from permed_measures.published_tables.measure_names import (
    LOOSE_MEASURES,
    meaning_of,
    split,
    strip_heading,
    without_cutoff,
)

_DEVIATION = re.compile(
    r"(?:std\.?(?: *dev\w*\.?)?|stdev|s\.?[de]\.?|var(?:iance)?|median|min|max)", re.IGNORECASE
)
_NO_MEASURE = re.compile(
    r"p(?: *[(\[].*)?|(?i:p[ _-]?val(?:ue)?s?(?: *[(\[].*)?|p值|显著性.*|sig(?:nificance|\.)?)"
    rf"|(?i:{_DEVIATION.pattern})"
)
_INTERVAL_HEADING = re.compile(r"\bci\b|confidence|\binterval|置信区间|\bci9[059]", re.IGNORECASE)
_CHANGED = r"delta|diff(?:erence)?|impr(?:ov)?\w*|gains?|lift|change", r"[Δ∆δ]|提升|提高|增幅|变化|差值|差异"
"""Words and signs of changes."""
_CHANGE = re.compile(rf"\b(?:{_CHANGED[0]})\b|{_CHANGED[1]}", re.IGNORECASE)
_CHANGE_ROW = re.compile(
    rf"(?:(?:abs|rel)\w*\.? *)?(?:{'|'.join(_CHANGED)})\.? *"
    r"(?:%|[(\[].*|(?:vs|over|to|from|against|相对|比|对).*)?",
    re.IGNORECASE,
)
_BASE = re.compile(
    r"\b(?:vs|versus|over|against|from|to)\b\.? *.*|\b(?:rel|abs)(?:ative|olute)?\b\.?|[%+-]", re.IGNORECASE
)
_PERCENT_SIGN = re.compile(r"[(\[]? *(?:in )?% *[)\]]?")
_ANY_CUTOFF = re.compile(r"@ *(?:[kK]|\{?[0-9]+(?: *[,/] *[0-9]+)+\}?)$")
_LIKE_A_CUTOFF = re.compile(r"@|\bk *[=<>≤≥]|\btop[- ]?[0-9k]|cut-?off", re.IGNORECASE)
_GROUPED = re.compile(r"(?P<first>[^/:()]+?) *(?:/|: ?|\()(?P<last>[^/:()]*[^\W\d_][^/:()]*)\)?")
_EDGES = " .,:;_/"
_YEAR = re.compile(r"(?:19[5-9]|20[0-4])[0-9]")


BESIDE = "a p-value, an interval or a deviation is not a measure"
"""Why numbers beside measures are left out."""


class Heading(NamedTuple):
    """The heading of a number.

    Attributes
    ----------
    title : str
        All titles, joined.
    name : str
        The measure, or for a change the measure that changes; empty if none is named.
    group : str
        The rest of the titles, such as a data set.
    why : str
        Why the heading is not a measure.
    is_change : bool
        Whether the number is a change from another row.
    """

    title: str
    name: str = ""
    group: str = ""
    why: str = ""
    is_change: bool = False


@cache
def heading_in(titles: tuple[str, ...]) -> Heading:
    """Parse the titles of a number, the highest first."""
    title = " ".join(titles)
    titles = tuple(part for text in titles for part in _split_off_group(text))
    last = titles[-1] if titles else ""
    if _is_beside(last) or any(map(_DEVIATION.fullmatch, titles)):
        return Heading(title, why=BESIDE)
    if any(map(_is_change, titles)):
        name, group, _ = measure_in(tuple(map(_without_change, titles)))
        return Heading(title, name, group, is_change=True)
    in_percent = any(_PERCENT_SIGN.fullmatch(text) or strip_heading(text)[1] for text in titles)
    name, group, why = measure_in(tuple(text for text in titles if not _PERCENT_SIGN.fullmatch(text)))
    if name and in_percent and not strip_heading(name)[1]:
        name += " (%)"
    return Heading(title, name, group, why)


def _split_off_group(title: str) -> list[str]:
    """Split ``LitSearch/NDCG@10`` into data set and measure; a deviation or change comes last."""
    match = _GROUPED.fullmatch(title)
    for name, group in ((match["last"], match["first"]), (match["first"], match["last"])) if match else ():
        if _has_cutoff(name) and not why_no_measure(name) and not names_a_measure(group):
            if _is_beside(group) or is_change_row(group):
                return [name, group]
            return [title] if title.endswith(")") or is_cutoff(group) else [group, name]
    return [title]


def _is_beside(title: str) -> bool:
    """Check whether a title is above p-values, intervals or deviations."""
    return bool(_NO_MEASURE.fullmatch(title) or _INTERVAL_HEADING.search(title))


def _is_change(title: str) -> bool:
    """Check whether a title means differences from another row."""
    return bool(_CHANGE.search(title)) and why_no_measure(title) != ""


def is_change_row(label: str) -> bool:
    """Check whether the name of a row means differences between other rows."""
    return bool(_CHANGE_ROW.fullmatch(label.strip()))


def _without_change(title: str) -> str:
    """Reduce a title such as ``Δ nDCG@10 vs BM25 (%)`` to its measure."""
    return _BASE.sub("", _CHANGE.sub(" ", title)).strip(_EDGES + "()[]") if _is_change(title) else title


def measure_in(titles: tuple[str, ...]) -> tuple[str, str, str]:
    """Find the measure that titles name, the rest of the titles, and if they name none, why.

    The measure is named by all titles together, or by the lowest one that names a measure. Its cutoff is its
    own, or another title.
    """
    titles = tuple(filter(None, (text if not why_no_measure(text) else bare(text) for text in titles)))
    if not titles:
        return "", "", "the column has no title"
    cutoffs = {text: without_cutoff(text)[1] or text for text in titles if is_cutoff(text)}
    named = {
        text for text in titles if text not in cutoffs and _has_cutoff(text) and not why_no_measure(text)
    }
    joined = " ".join(titles)
    if not why_no_measure(joined) and not (cutoffs and named):
        return joined, "", ""
    for title in (text for text in reversed(titles) if text not in cutoffs):
        others = [text for text in titles if text not in (title, *cutoffs)]
        if title in named:
            return title, " ".join(text for text in titles if text != title), ""
        name = f"{bare(title)}@{next(iter(cutoffs.values()), '')}"
        if len(set(cutoffs.values())) == 1 and not why_no_measure(name):
            return name, " ".join(others), ""
        if not why_no_measure(title):
            unread = [*cutoffs, *filter(_LIKE_A_CUTOFF.search, others)]
            why = f"the cutoff of {title} is not clear from {' and '.join(unread)}"
            return ("", "", why) if unread else (title, " ".join(others), "")
    return "", "", why_no_measure(titles[-1])


def _has_cutoff(title: str) -> bool:
    return "@" in title or bool(without_cutoff(title)[1] or split(title)[1])


def is_cutoff(title: str) -> bool:
    """Check whether a title is only a cutoff, such as ``k = 5``, ``Top-5`` or ``5``; ``2019`` is a year."""
    if title.isdecimal():
        return not _YEAR.fullmatch(title)
    return title != "" and not without_cutoff(title)[0]


def bare(title: str) -> str:
    """Strip a title of its percent sign, a cutoff such as ``@k``, and marks at its ends."""
    return _ANY_CUTOFF.sub("", strip_heading(title)[0].strip(_EDGES))


@cache
def why_no_measure(title: str) -> str:
    """Explain why a title names no measure that can be computed; empty if it names one."""
    try:
        measure = meaning_of(strip_heading(title)[0])[0]
        if measure not in LOOSE_MEASURES:
            PermedEvaluator([measure], {})
    except MeasureError as error:
        return str(error)
    return ""


def names_a_measure(title: str) -> bool:
    """Check whether a title names a measure, perhaps without its cutoff."""
    return not (why_no_measure(title) and why_no_measure(f"{bare(title)}@1"))
