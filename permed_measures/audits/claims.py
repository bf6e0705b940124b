"""Published numbers: which measure a loose name means, and which values print as the number."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from pathlib import Path
from typing import Any, NamedTuple

import ir_measures
import numpy as np
from numpy.typing import NDArray

from permed_measures.errors import InputError, MeasureError, nearest
from permed_measures.measures.definitions import MEASURES
from permed_measures.measures.parsing import parse_measure

__all__ = ["Claim", "longest", "parse_claims", "read_claims", "with_other_readings"]


class Claim(NamedTuple):
    """A published number.

    Attributes
    ----------
    name : str
        What it was called.
    text : str
        The number as it was printed.
    measure : {'AP', 'nDCG', 'P', 'R', 'RR', 'Success'} or str
        What the name means; another measure as one would type it.
    cutoffs : tuple
        The cutoffs that are tried, the one that the name says first.
    value : Decimal
        The number as a fraction of 1, unless the measure counts.
    decimals : int
        Its digits after the point, as a fraction.
    percent : bool
        Whether it was printed in percent.
    other : Claim or None
        The other reading of a number that has no percent sign: as it stands if it is above 1 and the measure
        may be so; in percent if another number of the table is.
    """

    name: str
    text: str
    measure: str
    cutoffs: tuple[int | None, ...]
    value: Decimal
    decimals: int
    percent: bool
    other: Claim | None = None

    @property
    def family(self) -> str:
        """Which measures are computed by the same choices."""
        return _FAMILIES.get(self.measure, self.measure)

    @property
    def is_fixed(self) -> bool:
        """Whether the measure was written out."""
        return self.measure not in _FAMILIES

    def prints(self, value: float) -> str:
        """Return how a value would be printed."""
        shown = value * 100 if self.percent else value
        digits = self.decimals - 2 if self.percent else self.decimals
        return f"{shown:.{max(digits, 0)}f}{'%' if self.text.endswith('%') else ''}"

    def matches(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which values print as the claim, rounded half up or half to even."""
        step = 10.0**-self.decimals
        near = np.abs(values - float(self.value)) <= step / 2 + 1e-9
        for index in np.argwhere(near):
            near[tuple(index)] = self._rounds_to(float(values[tuple(index)]))
        return near

    def distance(self, values: NDArray[np.float64]) -> float:
        """Return how far the nearest value is from the claim, against the claim."""
        known = values[~np.isnan(values)]
        return float(np.abs(known - float(self.value)).min() / float(self.value)) if len(known) else np.inf

    def printed_as(self, text: str) -> Claim:
        """Return the claim that would have been printed so."""
        number = Decimal(text.rstrip("%"))
        return self._replace(text=text, value=number.scaleb(-2) if self.percent else number, other=None)

    def in_percent(self) -> Claim:
        """Return the same number as percent."""
        return self._replace(value=self.value.scaleb(-2), decimals=self.decimals + 2, percent=True)

    def slip(self, value: float) -> str:
        """Return which slip makes a value that prints otherwise the claim; empty if none does."""
        unit, exact = Decimal(1).scaleb(-self.decimals), Decimal(repr(value))
        if exact.quantize(unit, ROUND_DOWN, _WIDE) == self.value:
            return f"cut off, not rounded, it is {self.text}"
        for digits in (1, 2):
            once = exact.quantize(unit.scaleb(-digits), ROUND_HALF_UP, _WIDE)
            if once.quantize(unit, ROUND_HALF_UP, _WIDE) == self.value:
                return f"rounded twice it is {self.text}"
        return ""

    def _rounds_to(self, value: float) -> bool:
        unit = Decimal(1).scaleb(-self.decimals)
        if abs(abs(value - float(self.value)) - float(unit) / 2) <= _NOISE:  # both roundings of a tie
            return True
        exact, shown = Decimal(value), Decimal(repr(value))
        return any(
            number.quantize(unit, rounding=rounding) == self.value
            for number in (exact, shown)
            for rounding in (ROUND_HALF_EVEN, ROUND_HALF_UP)
        )


_FAMILIES = {"AP": "ap", "nDCG": "ndcg", **dict.fromkeys(("P", "R", "RR", "Success"), "level")}
_NAMES = {
    "AP": "ap map gradedap gradedmap meanaverageprecision averageprecision",
    "nDCG": "ndcg normalizeddcg normalizeddiscountedcumulativegain variantndcg ndcgcut ndcgburges",
    "P": "p prec precision",
    "R": "r rec recall rcap recallcap cappedrecall",
    "RR": "rr mrr reciprank reciprocalrank meanreciprocalrank",
    "Success": "success successrate hit hits hitrate hitratio hr coverage cov acc accuracy",
}
_MEANING = {word: measure for measure, words in _NAMES.items() for word in words.split()}
_NAME = re.compile(
    r"(?:(?:cosine|cos_sim|dot|dot_score|euclidean|manhattan)_)?"  # as sentence-transformers prints them
    r"(?P<word>[a-z _.-]*?)[ _.-]*(?:@|at|cut|top)?[ _.@]*(?P<cutoff>[0-9]+|\([0-9]+\)|(?<=@)all)?",
    re.ASCII,
)
_ARROWS = "↑↓"
_WRITTEN = {"rprecision": "Rprec"}
"""Other names of measures that are written out."""
_IN_PERCENT = re.compile(r"[(\[] *(?:in *)?% *[)\]]$|%$")
_MARKS = " *_†‡§¶△▲▽▼"
"""What stands around a number in a table to say that it is the best, or significant."""
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NO_NUMBER = ("", "-", "\u2013", "\u2014", "n/a", "na")
"""What stands in a cell that holds no claim; two of them are dashes."""
_NOISE = 1e-12
"""What a sum of some thousand values may be off by."""
_WIDE = Context(prec=60)
"""For counts with more digits after the point than a claim has."""
_LARGEST_COUNT = 10**12
MOST_DIGITS = 15
"""So many digits after the point a claim may have."""
_NEEDS_CUTOFF = ("P", "R", "Success")
_USUAL = (None, 10, 100, 1000)


def _heading(title: str) -> tuple[str, bool]:
    """Return the name that the title of a column says, without arrows and marks; and if it is in percent."""
    name = unicodedata.normalize("NFKC", title).strip(_ARROWS + _MARKS)
    percent = _IN_PERCENT.search(name)
    return (name[: percent.start()] if percent else name).rstrip(_ARROWS + _MARKS), bool(percent)


def _meaning(name: str) -> tuple[str, tuple[int | None, ...]]:
    """Return the measure that a name means, and the cutoffs to try."""
    found = _NAME.fullmatch(name.lower())
    measure = _MEANING.get(re.sub(r"[ _.-]", "", found["word"])) if found else None
    if measure is None or not found:
        return _written_out(name)
    if found["cutoff"] and found["cutoff"] != "all":
        cutoff = int(found["cutoff"].strip("()"))
        if cutoff < 1:
            raise MeasureError(f"a cutoff must be at least 1 (found {name!r})")
        return measure, (cutoff, None) if measure == "AP" else (cutoff,)
    if measure in _NEEDS_CUTOFF:
        example = re.sub("@all$", "", name, flags=re.IGNORECASE)
        raise MeasureError(f"{measure} needs a cutoff (found {name!r})", hint=f"Write {example}@10")
    return measure, (None,) if found["cutoff"] else _USUAL


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


def read_claims(path: Path | None, texts: list[str], runs: list[str]) -> dict[str, dict[str, str]]:
    """Return the claims about each run: of a CSV file with a row per run, or ``NAME=VALUE`` about one run."""
    if bool(texts) == bool(path):
        raise InputError("the published numbers must be given by --claim or by --claims (one of the two)")
    if path is None:
        if len(runs) > 1:
            raise InputError(
                f"--claim is about one run (found {len(runs)})", hint="Give a row for each run by --claims"
            )
        return {runs[0]: _one_by_one(texts)}
    found: dict[str, dict[str, str]] = {}
    for place, name, cells in _csv_rows(path):
        if name not in runs or name in found:
            known = f"one of the runs {', '.join(runs)}, each once"
            raise InputError(f"a row must begin with {known} (found {name!r})", where=place)
        found[name] = {title: cell for title, cell in cells.items() if cell.lower() not in _NO_NUMBER}
    missing = [name for name in runs if not found.get(name)]
    if missing:
        raise InputError(
            f"there must be a row of claims for each run (found none for {missing[0]!r})", where=str(path)
        )
    return found


def _csv_rows(path: Path) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield the rows of a CSV file: where each stands, its first cell, and the others by title."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            header, *rows = [*csv.reader(file, strict=True), list[str]()]
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read as CSV ({error})", where=str(path)) from None
    titles = [title.strip() for title in header]
    if len(titles) == 1:
        what = "the header must name the runs and then the measures, with commas between"
        raise InputError(f"{what} (found {','.join(titles)!r})", where=f"{path}:1")
    twice = next((title for title in titles if titles.count(title) > 1), None)
    if twice is not None:
        raise InputError(f"a column may stand once (found {twice!r} again)", where=str(path))
    for line, row in enumerate(rows, start=2):
        if row and len(row) != len(titles):
            problem = f"a row must have as many cells as the header (found {len(row)}, not {len(titles)})"
            raise InputError(problem, where=f"{path}:{line}")
        if row:
            name, *cells = map(str.strip, row)
            yield f"{path}:{line}", name, dict(zip(titles[1:], cells, strict=True))


def _one_by_one(texts: list[str]) -> dict[str, str]:
    claims: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.rpartition("=")
        if not equals or name in claims:
            raise InputError(f"a claim reads NAME=VALUE, each name once (found {text!r})")
        claims[name] = value
    return claims


def parse_claims(
    claims: Mapping[str, Any], decimals: int | None = None, digits: int | None = None
) -> list[Claim]:
    """Return the claims of a row.

    Parameters
    ----------
    claims : mapping of str to number or str
    decimals : int, optional
        How many digits were printed; if left out, those of each text, and `digits` for numbers.
    digits : int, optional
        Those of the longest number if left out.
    """
    if not claims:
        raise InputError("there must be a claim, such as {'MAP@10': 0.5357} (found none)")
    if digits is None:
        digits = longest(claims.values())
    return [_claim(name, value, decimals, digits) for name, value in claims.items()]


def longest(values: Iterable[Any]) -> int:
    """Return the most digits after the point among the numbers that are no texts."""
    texts = [str(value) for value in values if not isinstance(value, str)]
    return max((_digits(Decimal(text).normalize()) for text in texts if _NUMBER.fullmatch(text)), default=0)


def _digits(number: Decimal) -> int:
    return max(-int(number.as_tuple().exponent), 0)


def _claim(name: str, value: Any, decimals: int | None, digits: int) -> Claim:
    if not isinstance(name, str):
        raise InputError(f"the name of a claim must be a text (found {name!r})")
    heading, in_percent = _heading(name)
    measure, cutoffs = _meaning(heading)
    number, sign = _number(name, value)
    counts = measure.startswith("Num")
    percent = bool(sign) or in_percent or (abs(number) > 1 and not counts)
    if abs(number) > (_LARGEST_COUNT if counts else 100):
        most = f"a count is at most {_LARGEST_COUNT:,}" if counts else "a value is at most 1, or 100 percent"
        raise InputError(f"{most} (found {value!r})", where=f"claim {name!r}")
    if decimals is not None:
        digits = decimals
    elif isinstance(value, str):
        digits = _digits(number)
    if digits > MOST_DIGITS:
        problem = f"a claim has {MOST_DIGITS} digits after the point at most (found {value!r})"
        raise InputError(problem, where=f"claim {name!r}")
    number = number.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_EVEN)
    plain = Claim(name, f"{number:f}{sign}", measure, cutoffs, number, digits, False)
    if not percent:
        return plain
    may_be_above_1 = not sign and not in_percent and (measure == "AP" or plain.is_fixed)
    return plain.in_percent()._replace(other=plain if may_be_above_1 else None)


def with_other_readings(rows: list[list[Claim]]) -> list[list[Claim]]:
    """Return the rows of a table; where one number is in percent, those without a sign may be too."""
    if not any(claim.percent for row in rows for claim in row):
        return rows
    return [
        [c if c.percent or c.measure.startswith("Num") else c._replace(other=c.in_percent()) for c in row]
        for row in rows
    ]


def _number(name: str, value: Any) -> tuple[Decimal, str]:
    """Return the number that a value says, without marks of significance; and its percent sign."""
    text = str(value).strip(_MARKS)
    sign = "%" if text.endswith("%") else ""
    text = text.rstrip("%").strip(_MARKS)
    if isinstance(value, bool) or not _NUMBER.fullmatch(text):
        problem, hint = "a claim must be a number", "Write it as 0.5357 or 53.57%"
        if re.fullmatch(r"[+-]?[0-9]*,[0-9]+", text):
            problem, hint = (
                "a claim must have a decimal point, not a comma",
                f"Write {text.replace(',', '.')}",
            )
        raise InputError(f"{problem} (found {value!r})", where=f"claim {name!r}", hint=hint)
    return Decimal(text), sign
