"""The options in which conventions differ; `options.toml` says what each value means and who uses it."""

from __future__ import annotations

import tomllib
from enum import Enum
from importlib.resources import files
from typing import Any, NamedTuple


class Option(Enum):
    """An option of a convention; the members are its values."""


class Denominator(Option):
    """What AP is divided by; the values are the `norm` of GradedAP."""

    NUM_REL = "num_rel"
    MIN = "min"
    NUM_REL_RET = "num_rel_ret"
    GAIN = "gain"
    IDEAL = "ideal"
    NONE = "none"


class Weights(Option):
    """What a relevant document counts in AP."""

    BINARY = "binary"
    LINEAR = "linear"
    HALF = "half"
    EXP = "exp"


class Gain(Option):
    """What a document gains in nDCG."""

    BINARY = "binary"
    LINEAR = "linear"
    EXP = "exp"


class Discount(Option):
    """How much less a document counts at rank i in nDCG."""

    LOG2 = "log2"
    JK = "jk"
    ZIPF = "zipf"


class Ideal(Option):
    """Of what the ideal list of nDCG is made."""

    QRELS = "qrels"
    RUN = "run"
    CUTOFF = "cutoff"


class Negative(Option):
    """What a negative grade gains in nDCG."""

    ZERO = "zero"
    KEEP = "keep"


class RecallBase(Option):
    """What recall is divided by."""

    NUM_REL = "num_rel"
    MIN = "min"


class QuerySet(Option):
    """Over which queries the mean is taken."""

    QRELS = "qrels"
    BOTH = "both"
    WITH_RELEVANT = "with_relevant"
    BOTH_WITH_RELEVANT = "both_with_relevant"
    RUN = "run"


class LabelPolicy(Option):
    """Which judged documents can be relevant."""

    GRADES = "grades"
    POOL = "pool"


class SelfMatch(Option):
    """What becomes of a retrieved document whose id is the query's."""

    KEPT = "kept"
    REMOVED = "removed"


class Rounding(Option):
    """To how many digits a mean is rounded before somebody prints it with fewer; None if it is not."""

    EXACT = None
    FIVE_DIGITS = 5


class Cutoff(NamedTuple):
    """The rank to which a claim is computed; None for the whole ranking."""

    rank: int | None


TEXTS: dict[str, dict[str, Any]] = tomllib.loads(
    files("permed_measures.audits").joinpath("options.toml").read_text(encoding="utf-8")
)
"""The texts of each option, by the name of its field."""


def text_of(option: str, value: Any, key: str) -> Any:
    """Return a text of a value of an option; empty if it has none."""
    return TEXTS[option][str(value.value)].get(key, "") if isinstance(value, Enum) else ""


def describe(option: str, value: Any) -> str:
    """Describe the value of an option."""
    if isinstance(value, Cutoff):
        return str(value.rank or "none")
    return text_of(option, value, "description") or f"relevant from grade {value:g} on"


def title(option: str) -> str:
    """Return the title of an option; a cutoff option is its own title."""
    return str(TEXTS.get(option, {"title": option})["title"])
