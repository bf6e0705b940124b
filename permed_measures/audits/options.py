"""The options in which conventions differ: the values of each, what they mean and who uses them."""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

from permed_measures.engine.ranks import TieBreak


class Option(Enum):
    """An option of a convention; the members are its values.

    Attributes
    ----------
    description : str
        What the value means, as part of a sentence.
    used_by : str
        Who does it so.
    """

    description: str
    used_by: str

    def __new__(cls, value: object, description: str, used_by: str) -> Option:
        """Make a value with its texts."""
        option = object.__new__(cls)
        option._value_, option.description, option.used_by = value, description, used_by
        return option


class Denominator(Option):
    """What AP is divided by; the values are the `norm` of GradedAP."""

    NUM_REL = "num_rel", "the number of relevant documents", "trec_eval, ranx; PerMed's evaluate.py"
    MIN = "min", "the smaller of that number and the cutoff", "sentence-transformers; recommender systems"
    NUM_REL_RET = (
        "num_rel_ret",
        "the number of relevant documents found within the cutoff",
        "scripts that take the mean of the precisions found; the MAP@K note; the top-3 note",
    )
    GAIN = "gain", "the summed weight of the relevant documents", "Sakai and Robertson, EVIA 2008 (NCU_gu,P)"
    IDEAL = "ideal", "what the ideal ranking gets", "normalised variants: a perfect ranking scores 1"
    NONE = "none", "nothing", "scripts that forget to normalise"


class Weights(Option):
    """What a relevant document counts in AP."""

    BINARY = "binary", "1 for each relevant document", "trec_eval, ranx, sentence-transformers"
    LINEAR = (
        "linear",
        "its grade over the highest grade",
        "PerMed's evaluate.py on grades 0/1/2 (1.0 and 0.5)",
    )
    HALF = "half", "its grade over 2", "PerMed's evaluate.py, where labels are binary too"
    EXP = "exp", "(2^g - 1) over that of the highest grade", "analogues of exp-gain nDCG"


class Gain(Option):
    """What a document gains in nDCG."""

    BINARY = "binary", "gain 1 for each relevant document", "sentence-transformers; scripts on lists of 0/1"
    LINEAR = "linear", "gain g", "Järvelin and Kekäläinen 2002; trec_eval, ranx ndcg, BEIR, MTEB"
    EXP = "exp", "gain 2^g - 1", "Burges et al. 2005; gdeval; ranx ndcg_burges; PerMed's evaluate.py"


class Discount(Option):
    """How much less a document counts at rank i in nDCG."""

    LOG2 = "log2", "discount 1/log2(i+1)", "trec_eval, gdeval, ranx, BEIR, MTEB, PerMed"
    JK = "jk", "discount 1 at rank 1, then 1/log2(i)", "Järvelin and Kekäläinen 2002; the tweet-search lab"
    ZIPF = "zipf", "discount 1/i", "the LitSearch repository (utils.calculate_ndcg)"


class Ideal(Option):
    """Of what the ideal list of nDCG is made."""

    QRELS = "qrels", "ideal list from all judged documents", "trec_eval, gdeval, ranx, BEIR, MTEB, PerMed"
    RUN = "run", "ideal list from the retrieved documents", "the tweet-search lab; the top-3 note"
    CUTOFF = "cutoff", "ideal list from the documents within the cutoff", "scripts that sort the first k"


class Negative(Option):
    """What a negative grade gains in nDCG."""

    ZERO = "zero", "negative grades gain 0", "trec_eval, gdeval"
    KEEP = "keep", "negative grades are used as they stand", "PerMed's evaluate.py (2**rel - 1 of -1 is -1/2)"


class RecallBase(Option):
    """What recall is divided by."""

    NUM_REL = "num_rel", "recall over all relevant documents", "trec_eval; the LitSearch repository"
    MIN = "min", "recall over the smaller of their number and the cutoff", "BEIR's capped recall (R_cap)"


class QuerySet(Option):
    """Over which queries the mean is taken."""

    QRELS = "qrels", "all queries of the qrels", "ir_measures; trec_eval -c"
    BOTH = (
        "both",
        "the queries of the qrels that the run has",
        "trec_eval, pytrec_eval, BEIR, PerMed's scripts",
    )
    WITH_RELEVANT = (
        "with_relevant",
        "the queries that have a relevant document",
        "sentence-transformers' InformationRetrievalEvaluator",
    )
    BOTH_WITH_RELEVANT = (
        "both_with_relevant",
        "the queries of the run that have a relevant document",
        "gdeval; scripts that skip queries without one",
    )
    RUN = "run", "all queries of the run", "scripts that loop over the results"


class LabelPolicy(Option):
    """Which judged documents can be relevant."""

    GRADES = "grades", "grades as they are, negative ones not relevant", "trec_eval; MedCorpus' label file"
    POOL = (
        "pool",
        "every judged document relevant",
        "PerMed's baselines/data/MedCorpus/query_to_texts.jsonl, which lists the whole pool as relevant",
    )


class SelfMatch(Option):
    """What becomes of a retrieved document whose id is the query's."""

    KEPT = "kept", "a document with the id of the query is kept", "trec_eval, ir_measures, ranx"
    REMOVED = "removed", "a document with the id of the query is removed", "BEIR (ignore_identical_ids)"


class Rounding(Option):
    """To how many digits a mean is rounded before somebody prints it with fewer; None if it is not."""

    EXACT = None, "means are printed as they are", "trec_eval, ir_measures"
    FIVE_DIGITS = (
        5,
        "means are rounded to five digits before they are printed",
        "BEIR (EvaluateRetrieval.evaluate), MTEB (retrieval_metrics.py)",
    )


class Cutoff(NamedTuple):
    """The rank to which a claim is computed; None for the whole ranking."""

    rank: int | None


_TIES = {
    TieBreak.TREC: ("ties by document id descending", "trec_eval 9, pytrec_eval"),
    TieBreak.TREC10: ("ties by document id descending, scores as doubles", "trec_eval 10"),
    TieBreak.DOCID_ASCENDING: (
        "ties by document id ascending",
        "sentence-transformers 6; ir_measures' msmarco and judged providers",
    ),
    TieBreak.INPUT: ("ties as they stand in the file", "scripts that read lists; stable sorts"),
    TieBreak.OPTIMISTIC: ("ties with the best document first", "an upper bound"),
    TieBreak.PESSIMISTIC: ("ties with the worst document first", "a lower bound"),
}


def describe(value: Any) -> str:
    """Describe the value of an option."""
    if isinstance(value, TieBreak):
        return _TIES[value][0]
    if isinstance(value, Option):
        return value.description
    if isinstance(value, Cutoff):
        return str(value.rank or "none")
    return f"relevant from grade {value:g} on"


def users_of(value: Any) -> str:
    """Return who uses the value of an option."""
    if isinstance(value, TieBreak):
        return _TIES[value][1]
    return value.used_by if isinstance(value, Option) else ""


def title(option: str) -> str:
    """Return the title of an option; a cutoff option is its own title."""
    return TITLES.get(option, option)


TITLES = {
    "ties": "tie rule",
    "queries": "query set",
    "labels": "label policy",
    "self_match": "document with the query's id",
    "rounding": "rounding",
    "denominator": "denominator of AP",
    "weights": "weights of AP",
    "ap_level": "relevance level of AP",
    "level": "relevance level of P, R, RR and Success",
    "gain": "gain of nDCG",
    "discount": "discount of nDCG",
    "ideal": "ideal list of nDCG",
    "negative": "negative grades in nDCG",
    "base": "denominator of recall",
}
"""What each option is called, by the name of its field."""
