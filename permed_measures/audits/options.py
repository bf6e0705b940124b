"""The options in which conventions differ; `options.toml` says what each value means and who uses it."""

from __future__ import annotations

import tomllib
from enum import Enum
from importlib.resources import files
from typing import Any, NamedTuple

from permed_measures.engine.ranks import TieBreak
from permed_measures.papers.names import Rank as Rank


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
    CUTOFF = "cutoff"


class Weights(Option):
    """What a relevant document counts in AP."""

    BINARY = "binary"
    LINEAR = "linear"
    HALF = "half"
    EXP = "exp"
    CAPPED = "capped"


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
    UNCUT = "uncut"
    RETURNED = "returned"
    FULL = "full"


class TiedGains(Option):
    """What a document gains in nDCG whose score others have too."""

    IN_ORDER = "in_order"
    AVERAGED = "averaged"


class Negative(Option):
    """What a negative grade gains in nDCG."""

    ZERO = "zero"
    KEEP = "keep"


class RecallBase(Option):
    """What recall is divided by."""

    NUM_REL = "num_rel"
    MIN = "min"
    ANY = "any"
    ALL = "all"
    MICRO = "micro"


class PrecisionBase(Option):
    """What precision is divided by."""

    CUTOFF = "cutoff"
    RETURNED = "returned"
    MIN = "min"
    MICRO = "micro"


class FMean(Option):
    """Of what F1 is the harmonic mean."""

    QUERIES = "queries"
    MEANS = "means"
    MICRO = "micro"


class QuerySet(Option):
    """Over which queries the mean is taken."""

    QRELS = "qrels"
    BOTH = "both"
    WITH_RELEVANT = "with_relevant"
    BOTH_WITH_RELEVANT = "both_with_relevant"
    RUN = "run"
    ALL_RUNS = "all_runs"
    WITH_HIT = "with_hit"
    WITH_FOUND = "with_found"
    WITH_LIST = "with_list"
    NOTHING_IS_ONE = "nothing_is_one"
    CONVERSATIONS = "conversations"
    TURNS = "turns"
    GROUPS = "groups"


class LabelPolicy(Option):
    """Which judged documents can be relevant."""

    GRADES = "grades"
    POOL = "pool"
    STRICT = "strict"
    LISTED = "listed"


class SelfMatch(Option):
    """What becomes of a retrieved document whose id is the query's."""

    KEPT = "kept"
    REMOVED = "removed"


class Documents(Option):
    """Which documents of the list are ranked."""

    ALL = "all"
    JUDGED = "judged"
    POSITIVE = "positive"
    FIRST_K = "first_k"
    IN_PLACE = "in_place"
    LAST = "last"


class Rounding(Option):
    """To how many digits a mean is rounded before somebody prints it with fewer; None if it is not."""

    EXACT = None
    FIVE_DIGITS = 5


class Cutoff(NamedTuple):
    """The rank to which a claim is computed."""

    rank: Rank

    def __str__(self) -> str:
        """Return it as part of a sentence."""
        if isinstance(self.rank, tuple) and self.rank[0] != self.rank[1]:
            return f"{self.rank[0]} for precision, {self.rank[1]} for recall"
        return str((self.rank[0] if isinstance(self.rank, tuple) else self.rank) or "none")


RARE = frozenset(
    {
        TieBreak.REVERSED,
        *(QuerySet.ALL_RUNS, QuerySet.WITH_HIT, QuerySet.WITH_FOUND, QuerySet.WITH_LIST),
        *(QuerySet.NOTHING_IS_ONE, QuerySet.CONVERSATIONS, QuerySet.TURNS, QuerySet.GROUPS),
        *(LabelPolicy.STRICT, LabelPolicy.LISTED),
        *(Documents.JUDGED, Documents.POSITIVE, Documents.FIRST_K),
        *(Documents.IN_PLACE, Documents.LAST),
        *(Denominator.CUTOFF, Weights.CAPPED, TiedGains.AVERAGED),
        *(Ideal.UNCUT, Ideal.RETURNED, Ideal.FULL),
        *(RecallBase.ANY, RecallBase.ALL, RecallBase.MICRO, FMean.MICRO),
        *(PrecisionBase.RETURNED, PrecisionBase.MIN, PrecisionBase.MICRO),
    }
)
"""The values that are tried alone, or together as a named convention has them.

Crossed with all other options, each of them would double or treble the numbers that some convention prints,
and with them the chance that one prints a number by accident.
"""


def n_rare(part: Any) -> int:
    """Count the rare values of a setting or a choice."""
    return sum(value in RARE for value in vars(part).values() if isinstance(value, Enum))


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
        return str(value)
    return text_of(option, value, "description") or f"relevant from grade {value:g} on"


def title(option: str) -> str:
    """Return the title of an option; a cutoff option is its own title."""
    return str(TEXTS.get(option, {"title": option})["title"])
