"""Published numbers: which measure a loose name means, and which values print as the number."""

from __future__ import annotations

import csv
import re
import string
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal, InvalidOperation
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
        The cutoffs to try, the one in the name first.
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
        """Print a value with as many digits as the claim."""
        shown = value * 100 if self.percent else value
        digits = self.decimals - 2 if self.percent else self.decimals
        return f"{shown:.{max(digits, 0)}f}{'%' if self.text.endswith('%') else ''}"

    def matches(self, values: NDArray[np.float64], first_to: int | None = None) -> NDArray[np.bool_]:
        """Return which values print as the claim, rounded half up or half to even.

        Parameters
        ----------
        values : ndarray
        first_to : int, optional
            The values were rounded to so many digits before they were printed. If the claim has more digits,
            it may also be the value as it is.
        """
        reach = 0.5 * 10.0**-self.decimals
        if first_to is not None:
            step = 10.0**-first_to
            if self.decimals < first_to:  # both roundings may go the same way
                reach += step / 2
            elif self.value == round(self.value, first_to):
                reach = step / 2
        whole = int(self.value)  # apart, so that counts keep the digits after their point
        away = np.abs(values - whole - float(self.value - whole))
        return np.asarray(away <= reach + _NOISE)

    def distance(self, values: NDArray[np.float64]) -> float:
        """Return the relative distance of the nearest value from the claim."""
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
        """Return which slip of rounding turns a value into the claim; empty if none does."""
        unit, exact = Decimal(1).scaleb(-self.decimals), Decimal(repr(value))
        if exact.quantize(unit, ROUND_DOWN, _WIDE) == self.value:
            return f"cut off, not rounded, this gives {self.text}"
        for digits in (1, 2):
            once = exact.quantize(unit.scaleb(-digits), ROUND_HALF_UP, _WIDE)
            if once.quantize(unit, ROUND_HALF_UP, _WIDE) == self.value:
                return f"rounded twice, this gives {self.text}"
        return ""


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
_SCORES = ("cosine_", "cos_sim_", "dot_score_", "dot_", "euclidean_", "manhattan_")
"""What sentence-transformers puts before the names of its measures."""
_ARROWS = "↑↓"
_WRITTEN = {"rprecision": "Rprec"}
"""Other names of measures that are written out."""
_PERCENT_SIGNS = ("%", "(%)", "[%]", "(in%)", "[in%]")
_WITHOUT_SEPARATORS = str.maketrans("", "", " _.-")
_MOST_DIGITS_OF_A_CUTOFF = 9
_MARKS = " *_†‡§¶△▲▽▼"
"""Marks around a number in a table: the best one, or a significant one."""
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NO_NUMBER = ("", "-", "\u2013", "\u2014", "n/a", "na")
"""Cells without a claim; two of these are dashes."""
_NOISE = 1e-12
"""What a sum of some thousand values may be off by."""
_WIDE = Context(prec=60)
"""For counts with more digits after the point than a claim has."""
_LARGEST_COUNT = 10**12
MOST_DIGITS = 15
"""How many digits after the point a claim may have."""
_NEEDS_CUTOFF = ("P", "R", "Success")
_USUAL = (None, 10, 100, 1000)


def _heading(title: str) -> tuple[str, bool]:
    """Return the name in the title of a column, without arrows and marks, and whether it is in percent."""
    name = unicodedata.normalize("NFKC", title).strip(_ARROWS + _MARKS)
    start = max(name.rfind("("), name.rfind("["))
    if name.endswith("%"):
        start = len(name) - 1
    percent = start >= 0 and name[start:].replace(" ", "") in _PERCENT_SIGNS
    return (name[:start] if percent else name).rstrip(_ARROWS + _MARKS), percent


def _meaning(name: str) -> tuple[str, tuple[int | None, ...]]:
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
    if name.endswith("@all"):
        word, cutoff = name[: -len("all")], "all"
    elif bracket >= 0 and _is_digits(name[bracket + 1 : -1]) and name.endswith(")"):
        word, cutoff = name[:bracket], name[bracket + 1 : -1]
    else:
        word = name.rstrip(string.digits)
        cutoff = name[len(word) :]
    word = word.rstrip(" _.@")
    marker = next((marker for marker in ("at", "cut", "top") if word.endswith(marker)), "")
    return word.removesuffix(marker).translate(_WITHOUT_SEPARATORS), cutoff


def _is_digits(text: str) -> bool:
    return text.isascii() and text.isdigit()


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


def read_claims(path: Path | None, texts: list[str], runs: list[str]) -> dict[str, dict[str, str]]:
    """Read the claims about each run: a CSV file with a row per run, or ``NAME=VALUE`` for a single run."""
    if bool(texts) == bool(path):
        raise InputError("give the published numbers with either --claim or --claims")
    if path is None:
        if len(runs) > 1:
            raise InputError(
                f"--claim is for one run, but there are {len(runs)}",
                hint="Use --claims with a row for each run",
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
            f"no claims for the run {missing[0]!r}; each run needs a row with a claim", where=str(path)
        )
    return found


def _csv_rows(path: Path) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield the rows of a CSV file: file and line, the first cell, and the other cells by title."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            header, *rows = [*csv.reader(file, strict=True), list[str]()]
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read as CSV ({error})", where=str(path)) from None
    titles = [title.strip() for title in header]
    if len(titles) == 1:
        what = "the header must name the runs and then the measures, with commas between"
        raise InputError(f"{what} (found {','.join(titles)!r})", where=f"{path}:1")
    twice = next((title for title, count in Counter(titles).items() if count > 1), None)
    if twice is not None:
        raise InputError(f"two columns are named {twice!r}", where=str(path))
    for line, row in enumerate(rows, start=2):
        if row and len(row) != len(titles):
            problem = f"the row has {len(row)} cells, but the header has {len(titles)}"
            raise InputError(problem, where=f"{path}:{line}")
        if row:
            name, *cells = map(str.strip, row)
            yield f"{path}:{line}", name, dict(zip(titles[1:], cells, strict=True))


def _one_by_one(texts: list[str]) -> dict[str, str]:
    claims: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.rpartition("=")
        if not equals or name in claims:
            raise InputError(f"a claim must be NAME=VALUE, each name once (found {text!r})")
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
        raise InputError("there are no claims; give them as {'MAP@10': 0.5357}")
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
        raise InputError(f"the name of a claim must be a string (found {name!r})")
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
        problem = f"a claim can have at most {MOST_DIGITS} digits after the point (found {value!r})"
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
    """Return a number without marks of significance, and its percent sign if it has one."""
    text = str(value).strip(_MARKS)
    sign = "%" if text.endswith("%") else ""
    text = text.rstrip("%").strip(_MARKS)
    try:
        if not isinstance(value, bool) and _NUMBER.fullmatch(text):
            return Decimal(text), sign
    except InvalidOperation:  # an exponent beyond all bounds
        pass
    problem, hint = "a claim must be a number", "Write it as 0.5357 or 53.57%"
    if re.fullmatch(r"[+-]?[0-9]*,[0-9]+", text):
        problem, hint = "a claim must have a decimal point, not a comma", f"Write {text.replace(',', '.')}"
    raise InputError(f"{problem} (found {value!r})", where=f"claim {name!r}", hint=hint)
