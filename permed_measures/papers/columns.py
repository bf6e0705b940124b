"""Columns of a printed table: what their headings say, which name its rows, and which hold numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from permed_measures.engine.evaluator import PermedEvaluator
from permed_measures.errors import MeasureError
from permed_measures.papers.cells import PrintedTable, Row, is_blank, printed_in, title_of
from permed_measures.papers.names import MEANT, heading_of, meaning_of, split, without_cutoff

_NO_MEASURE = re.compile(
    r"p(?: *[(\[].*)?|(?i:p[ _-]?val(?:ue)?s?(?: *[(\[].*)?|p值|显著性.*|sig(?:nificance|\.)?)"
    r"|(?i:std\.?(?: *dev\w*\.?)?|stdev|s\.?[de]\.?|var(?:iance)?|median|min|max)"
)
_INTERVAL = re.compile(r"\bci\b|confidence|\binterval|置信区间|\bci9[059]", re.IGNORECASE)
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


# --- columns ---------------------------------------------------------------------------------------

_CUTOFF_HEADING = re.compile(r"@?k|@|cut-?offs?|top-?k|截断", re.IGNORECASE)
_MEASURE_HEADING = re.compile(r"metrics?|measures?|评价指标|指标", re.IGNORECASE)
_GROUP_HEADING = re.compile(r"data[ -]?sets?|corpus|collection|benchmark|数据集", re.IGNORECASE)
_RUN_HEADING = re.compile(r"(?:run|system|model|method|retriever|ranker|模型|系统|方法)", re.IGNORECASE)
_VALUE = re.compile(r"values?|scores?|means?|results?|avg\.?|average|得分|结果|值", re.IGNORECASE)


class Columns(NamedTuple):
    """The columns of a table, by their numbers.

    Attributes
    ----------
    labels : list of int
        Those that name the rows.
    heads : list of int
        Those that head the rest of their row: measures, cutoffs and data sets.
    values : dict of int to tuple of str
        Those that hold values, with their titles.
    others : dict of int to str
        Those that hold something else in a table with a column of values.
    """

    labels: list[int]
    heads: list[int]
    values: dict[int, tuple[str, ...]]
    others: dict[int, str]

    @classmethod
    def of(cls, table: PrintedTable) -> Columns:
        """Tell the columns of a table apart."""
        heads = _heads(table)
        rest = [n for n in range(len(table.titles)) if n not in heads]
        labels = _labels(table, rest)
        values, others = {n: table.titles[n] for n in rest if n not in labels}, {}
        titled = [n for n, titles in values.items() if _VALUE.fullmatch(" ".join(titles))]
        if titled and _has_measures(table, heads):
            others = {n: " ".join(titles) for n, titles in values.items() if n not in titled}
            values = dict.fromkeys(titled, ())
        return cls(labels, heads, values, others)

    def headings(self, row: Row) -> dict[int, Heading]:
        """Return what heads each number of a row; a change is of the measure before it, if it names none."""
        cells = [title_of(row.cells[n]) for n in self.heads]
        heads = tuple(
            filter(None, [row.section, *(f"@{each}" if each.isdecimal() else each for each in cells)])
        )
        found = {n: Heading(title) for n, title in self.others.items()}
        last = Heading("")
        for n, titles in self.values.items():
            heading = heading_in((*heads, *titles))
            if heading.is_change:
                heading = heading._replace(name=heading.name or last.name, group=heading.group or last.group)
            last = heading if heading.name else last
            found[n] = heading
        return found


def oriented(table: PrintedTable) -> PrintedTable:
    """Return a table with its runs as rows, and of what stands between them only cutoffs and measures."""
    table = _filled_down(table._replace(rows=list(_with_sections(table.rows))))
    heads = _heads(table)
    leading = [n for n in heads if not _GROUP_HEADING.fullmatch(_lowest(table, n))]
    n_leading = next(n for n in range(len(leading) + 1) if n not in leading)
    turned = table.transposed(max(n_leading, 1))
    if _has_measures(table, heads):
        has_names = any(_is_text(n, table) for n in range(len(table.titles)) if n not in leading)
        return table if has_names else turned
    return max(table, turned, key=_n_measures)


def _n_measures(table: PrintedTable) -> int:
    """Count the measures of the first row."""
    headings = Columns.of(table).headings(table.rows[0]).values()
    return sum(bool(each.name) and not each.is_change for each in headings)


def _has_measures(table: PrintedTable, heads: list[int]) -> bool:
    return any(_MEASURE_HEADING.fullmatch(_lowest(table, n)) for n in heads)


def _labels(table: PrintedTable, columns: list[int]) -> list[int]:
    """Return the columns that name the rows: text left of the first measure, that of the run first."""
    text = [n for n in columns if _is_text(n, table)]
    headings = {n: heading_in(table.titles[n]) for n in columns}
    named = [n for n, each in headings.items() if each.name or each.is_change]
    first = min(named or [n for n in columns if n not in text], default=len(table.titles))
    labels = [n for n in text if n < first] or columns[:1]
    return sorted(labels, key=lambda n: not _RUN_HEADING.match(_lowest(table, n)))


def _lowest(table: PrintedTable, column: int) -> str:
    """Return the lowest title of a column."""
    return table.titles[column][-1] if table.titles[column] else ""


def _heads(table: PrintedTable) -> list[int]:
    """Return the columns that head the rest of their row: cutoffs, measures, and data sets beside names."""
    lowest = [_lowest(table, n) for n in range(len(table.titles))]
    found = [n for n, title in enumerate(lowest) if _MEASURE_HEADING.fullmatch(title)]
    found += [
        n
        for n, title in enumerate(lowest)
        if _CUTOFF_HEADING.fullmatch(title)
        and all(is_cutoff(title_of(row.cells[n])) for row in table.rows if row.cells[n].strip())
    ]
    groups = [n for n, title in enumerate(lowest) if _GROUP_HEADING.fullmatch(title)]
    if any(_is_text(n, table) for n in range(len(lowest)) if n not in found + groups):
        found += groups
    return sorted(found)


def _filled_down(table: PrintedTable) -> PrintedTable:
    """Write names and headings into the rows below that leave them out, in a table with such headings."""
    heads = _heads(table)
    rows = [row._replace(cells=list(row.cells)) for row in table.rows]
    for n in (n for n in range(len(table.titles)) if heads and (n in heads or _is_text(n, table))):
        for above, row in pairwise(rows):
            row.cells[n] = row.cells[n] if row.cells[n].strip() else above.cells[n]
    return table._replace(rows=rows)


def _with_sections(rows: list[Row]) -> Iterator[Row]:
    """Yield the rows with the cutoff or measure that stands above each."""
    section = ""
    for row in rows:
        if is_cutoff(row.section) or names_a_measure(row.section):
            section = row.section
        yield row._replace(section=section)


def _is_text(number: int, table: PrintedTable) -> bool:
    """Return whether a column holds names rather than numbers."""
    cells = [row.cells[number] for row in table.rows if not is_blank(row.cells[number])]
    return 2 * sum(printed_in(cell) is None for cell in cells) > len(cells)
