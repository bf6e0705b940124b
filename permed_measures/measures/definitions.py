"""The package's own measures: their parameters, formulas and sources.

All of them share the following, unless their docstring differs.

Parameters
----------
cutoff : int, optional
    The number of ranks that count, at least 1; written ``GradedAP@10``. Without a cutoff all ranks count. A
    cutoff beyond the end of the list changes nothing.
rel : float, default 1
    The lowest relevant grade, at least 0.
judged_only : bool, default False
    Rank among judged documents only (grade 0 or more), as trec_eval's ``-J`` does.

Returns
-------
float
    Per query, from 0 to 1; averaged over all queries of the qrels.

Raises
------
MeasureError
    For a parameter that is not allowed, when the measure is created.

Notes
-----
A query that is absent from the run, or has no relevant document, scores 0 and counts. Unjudged documents, and
those of negative grade, occupy ranks and are not relevant. Documents are sorted by score (as float32)
descending, ties by document id descending.
"""

from __future__ import annotations

from ir_measures.measures import AP, RR, Measure, P, R, nDCG

from permed_measures.measures.parameters import (
    CUTOFF,
    JUDGED_ONLY,
    NEEDED_CUTOFF,
    REL,
    CheckedMeasure,
    Param,
    choice,
    gain_table,
    nonnegative,
    number_in_range,
    positive_int,
    probabilities,
)


class _GradedAP(CheckedMeasure):
    r"""Relevance-weighted average precision: the precision at each relevant document, weighted by its grade.

    .. math::

        \frac{1}{N} \sum_{i \le k,\; g_i \ge rel} P(i) \cdot w(g_i)

    :math:`g_i` is the grade at rank *i*, :math:`P(i)` the share of relevant documents (grade at least
    `rel`) among the first *i*, and :math:`w(g)` the weight of a grade: ``gains[g]``, or ``g / max_rel``.

    Parameters
    ----------
    cutoff, rel, judged_only
        As described for all measures (``permed_measures.measures.definitions``).
    max_rel : float, default 2
        The grade whose weight is 1. **On binary labels set** ``max_rel=1``: with the default every value is
        half of AP.
    gains : dict of number to number, optional
        The weight (at least 0) of each relevant grade, instead of ``g / max_rel``.
    norm : str, default 'num_rel'
        The denominator *N*: ``num_rel`` the number *R* of relevant documents in the qrels · ``min``
        min(*R*, *k*) · ``num_rel_ret`` the number of relevant documents within rank *k* · ``gain`` the sum of
        the weights of all relevant documents (NCU\ :sub:`gu,P` of [1]_) · ``ideal`` the sum of the ideal
        ranking at *k*, so that a perfect ranking scores 1 · ``none`` 1. If *N* is 0, the value is 0.

    Returns
    -------
    float
        From 0 to 1; above 1 with ``norm='none'``, or weights above 1.

    Raises
    ------
    MeasureError
        Also for a relevant grade above `max_rel` (without `gains`) or missing from `gains`, before the
        computation.

    Notes
    -----
    With all weights 1 and ``num_rel`` it is ``AP@k``. It is not graded average precision, GAP [2]_, which
    models a user whose relevance threshold is unknown, nor Kishida's generalised average precision, whose
    precision is graded. If there are partly relevant documents, its ceiling is below 1 (0.6076 on MedCorpus
    at 10). ``permed_measures.ceiling`` computes the ceiling; ``norm='ideal'`` divides by it per query.

    References
    ----------
    .. [1] Sakai and Robertson. Modelling a user population for designing information retrieval metrics.
       EVIA 2008.
    .. [2] Robertson, Kanoulas and Yilmaz. Extending average precision to graded relevance judgments.
       SIGIR 2010.

    Examples
    --------
    Rank 1 has precision 1 and weight 1/2, rank 3 has precision 2/3 and weight 1; 3 documents are relevant.

    >>> import permed_measures as pm
    >>> qrels = {"q": {"a": 2, "b": 1, "c": 0, "d": 1}}
    >>> run = {"q": {"b": 4.0, "x": 3.0, "a": 2.0, "c": 1.0}}
    >>> pm.calc_aggregate([pm.GradedAP @ 10, pm.GradedAP(norm="min") @ 2], qrels, run)
    {GradedAP@10: 0.38888888888888884, GradedAP(norm='min')@2: 0.25}
    """

    __name__ = "GradedAP"
    NAME = __name__
    PRETTY_NAME = "Relevance-weighted average precision"
    SUPPORTED_PARAMS = {
        "cutoff": CUTOFF,
        "rel": REL,
        "max_rel": Param(
            number_in_range(above=0), "a number above 0", default=2, desc="the grade that weighs 1"
        ),
        "gains": gain_table("weight", desc="weight of each grade, instead of grade / max_rel"),
        "norm": choice(
            desc="what the sum is divided by",
            num_rel="the number of relevant documents",
            min="that number, or the cutoff if it is smaller",
            num_rel_ret="the number of relevant documents found up to the cutoff",
            gain="the weights of all relevant documents, summed",
            ideal="the sum of the ideal ranking, so that a perfect ranking scores 1",
            none="1",
        ),
        "judged_only": JUDGED_ONLY,
    }


class _Coverage(CheckedMeasure):
    """Coverage: 1 if a relevant document is within the first k, else 0.

    The mean is the share of queries with a relevant document within the first k.

    Parameters
    ----------
    cutoff, rel, judged_only
        As described for all measures (``permed_measures.measures.definitions``).

    Notes
    -----
    It equals ``Success@k`` of trec_eval and ir_measures (hit rate in some papers), but the cutoff is optional
    and `rel` may be a float.

    References
    ----------
    trec_eval, measure ``success``.

    Examples
    --------
    >>> import permed_measures as pm
    >>> qrels = {"q1": {"a": 1}, "q2": {"b": 2}}
    >>> run = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 2.0, "c": 1.0}}
    >>> pm.calc_aggregate([pm.Coverage @ 1], qrels, run)
    {Coverage@1: 0.5}
    """

    __name__ = "Coverage"
    NAME = __name__
    PRETTY_NAME = "Coverage"
    SUPPORTED_PARAMS = {"cutoff": CUTOFF, "rel": REL, "judged_only": JUDGED_ONLY}


class _VariantNDCG(CheckedMeasure):
    r"""NDCG with an explicit choice of gain, discount, ideal list and negative grades.

    .. math::

        \frac{\sum_{i \le k} gain(g_i) \cdot discount(i)}{\sum_{i \le k} gain(g^*_i) \cdot discount(i)}

    :math:`g_i` is the grade at rank *i* and :math:`g^*_i` that of the ideal list.

    Parameters
    ----------
    cutoff, judged_only
        As described for all measures (``permed_measures.measures.definitions``).
    gain : str, default 'exp'
        ``exp`` :math:`2^g - 1` [1]_ · ``linear`` *g* [2]_.
    discount : str, default 'log2'
        At rank *i*: ``log2`` :math:`1/\log_2(i+1)` · ``jk`` 1 at rank 1, then :math:`1/\log_2 i` ([2]_ with
        base 2) · ``zipf`` :math:`1/i`.
    ideal : str, default 'qrels'
        The source of the ideal list, which is sorted by grade: ``qrels`` all judged documents · ``run`` the
        whole retrieved list · ``cutoff`` the first *k* of the retrieved list.
    negative : str, default 'zero'
        The gain of grades below 0: 0 (``zero``), or the gain of the grade itself (``keep``).

    Returns
    -------
    float
        From 0 to 1. With ``negative='keep'`` the value can be below 0, if the losses of the ranking exceed
        its gains, and above 1, if the ideal list has losses that the ranking leaves out.

    Notes
    -----
    The default is ``nDCG(dcg='exp-log2')@k``; ``gain='linear'`` is ``nDCG@k``, trec_eval's ``ndcg_cut``.
    If the ideal sum is not above 0, the value is 0. With an ideal list from the run, any run that sorts its
    own documents correctly scores 1, even if it retrieves few relevant ones; this choice exists to explain
    published numbers. Unjudged documents have grade 0.

    References
    ----------
    .. [1] Burges et al. Learning to rank using gradient descent. ICML 2005.
    .. [2] Järvelin and Kekäläinen. Cumulated gain-based evaluation of IR techniques. TOIS 20(4), 2002.

    Examples
    --------
    >>> import permed_measures as pm
    >>> qrels = {"q": {"a": -1, "b": 1}}
    >>> run = {"q": {"a": 2.0, "b": 1.0}}
    >>> pm.calc_aggregate([pm.VariantNDCG @ 10, pm.VariantNDCG(negative="keep") @ 10], qrels, run)
    {VariantNDCG@10: 0.6309297535714575, VariantNDCG(negative='keep')@10: 0.19126813092755546}

    The ideal list includes the loss of document a, and this ranking does not:

    >>> [value] = pm.calc_aggregate(pm.VariantNDCG(negative="keep") @ 10, qrels, {"q": {"b": 1.0}}).values()
    >>> round(value, 4)
    1.4608
    """

    __name__ = "VariantNDCG"
    NAME = __name__
    PRETTY_NAME = "nDCG with every choice spelled out"
    SUPPORTED_PARAMS = {
        "cutoff": CUTOFF,
        "gain": choice(desc="gain of a grade", exp="2^grade - 1", linear="the grade"),
        "discount": choice(
            desc="discount of a rank",
            log2="1 / log2(rank + 1)",
            jk="1 at rank 1, then 1 / log2(rank)",
            zipf="1 / rank",
        ),
        "ideal": choice(
            desc="where the ideal list comes from",
            qrels="all judged documents",
            run="the whole retrieved list",
            cutoff="the retrieved list up to the cutoff",
        ),
        "negative": choice(desc="gain of grades below 0", zero="0", keep="as they stand"),
        "judged_only": JUDGED_ONLY,
    }


class _GAP(CheckedMeasure):
    r"""GAP: average precision for a user whose relevance threshold is unknown.

    .. math::

        \frac{\sum_j g_j \, R_{\ge j} \, AP_{rel=j}}{\sum_j g_j \, R_{\ge j}}

    With probability :math:`g_j` the user considers grade *j* and above as relevant; then :math:`R_{\ge j}`
    documents are relevant.

    Parameters
    ----------
    cutoff
        As described for all measures (``permed_measures.measures.definitions``).
    g : dict of number to number, optional
        The probability of each threshold; a list has the probabilities of 1, 2, … They must sum to 1.
    max_rel : int from 1 to 1000, default 2
        Without `g`, the thresholds 1 to `max_rel` are equally probable.

    Notes
    -----
    An ideal ranking scores 1; with `GradedAP`, which weighs each relevant document by its grade, it may score
    less. With a single threshold GAP is ``AP``. With a cutoff the sums stop at rank *k*; the denominator does
    not change.

    References
    ----------
    Robertson, Kanoulas and Yilmaz. Extending average precision to graded relevance judgments. SIGIR 2010.

    Examples
    --------
    At threshold 1 the sum is 1 + 2/3 over 2 relevant documents; at threshold 2 it is 1/3 over 1.

    >>> import permed_measures as pm
    >>> run = {"q": {"d1": 3.0, "d2": 2.0, "d3": 1.0}}
    >>> pm.calc_aggregate([pm.GAP], {"q": {"d1": 1, "d2": 0, "d3": 2}}, run)
    {GAP: 0.6666666666666666}
    """

    __name__ = "GAP"
    NAME = __name__
    PRETTY_NAME = "GAP, average precision over unknown thresholds"
    SUPPORTED_PARAMS = {
        "cutoff": CUTOFF,
        "g": Param(
            probabilities,
            "a mapping from thresholds above 0 to probabilities that sum to 1",
            default=None,
            desc="probability of each threshold; equal ones if left out",
        ),
        "max_rel": positive_int(1000, default=2, desc="the highest threshold without g"),
    }


class _QMeasure(CheckedMeasure):
    r"""Q-measure: average precision whose precision is blended with cumulated gain.

    .. math::

        \frac{1}{N} \sum_{i \le k,\; g_i \ge 1} \frac{C(i) + \beta\, cg(i)}{i + \beta\, cg^*(i)}

    :math:`C(i)` is the number of relevant documents (grade at least 1) within rank *i*, :math:`cg(i)` their
    cumulated gain, and :math:`cg^*(i)` that of the ideal list.

    Parameters
    ----------
    cutoff
        As described for all measures (``permed_measures.measures.definitions``).
    beta : float, default 1.0
        The weight of the gain, at least 0. With 0 the measure is AP.
    gains : dict of number to number, optional
        The gain (at least 0) of each relevant grade; without it, the gain is the grade.

    Raises
    ------
    MeasureError
        Also for a relevant grade that is missing from `gains`, before the computation.

    Notes
    -----
    *N* is the number of relevant documents *R* without a cutoff, and min(*R*, *k*) with one, as in NTCIREVAL.
    So ``QMeasure(beta=0)@k`` is not trec_eval's ``map_cut``, which divides by *R*.

    References
    ----------
    Sakai. New performance metrics based on multigrade relevance: their application to question answering.
    NTCIR-4, 2004.

    Examples
    --------
    At rank 1 the blended ratio is (1 + 1) / (1 + 2), at rank 3 it is (2 + 3) / (3 + 3).

    >>> import permed_measures as pm
    >>> run = {"q": {"d1": 3.0, "d2": 2.0, "d3": 1.0}}
    >>> pm.calc_aggregate([pm.QMeasure], {"q": {"d1": 1, "d2": 0, "d3": 2}}, run)
    {QMeasure: 0.75}
    """

    __name__ = "QMeasure"
    NAME = __name__
    PRETTY_NAME = "Q-measure"
    SUPPORTED_PARAMS = {
        "cutoff": CUTOFF,
        "beta": nonnegative(default=1, desc="how much the gain counts; with 0 it is AP"),
        "gains": gain_table("gain", desc="gain of each grade, instead of the grade"),
    }


class _F1(CheckedMeasure):
    r"""F1 of a query: the harmonic mean of its precision and its recall within the first k.

    .. math::

        \frac{2 \cdot P@k \cdot R@k}{P@k + R@k} = \frac{2 r}{k + R}

    :math:`r` relevant documents are within the first *k*, and :math:`R` are in the qrels.

    Parameters
    ----------
    cutoff
        The number of ranks that count, at least 1. It is required; ``SetF`` is F1 of the whole list.
    rel, judged_only
        As described for all measures (``permed_measures.measures.definitions``).

    Notes
    -----
    The mean is taken over the F1 values of the queries. F1 of the mean precision and the mean recall, which
    some papers print, is a different number. A query without relevant documents scores 0 and counts.

    References
    ----------
    van Rijsbergen. Information Retrieval. 2nd edition, 1979, chapter 7.

    Examples
    --------
    One of two relevant documents is within the first 2: precision and recall are 1/2.

    >>> import permed_measures as pm
    >>> run = {"q": {"a": 3.0, "x": 2.0, "b": 1.0}}
    >>> pm.calc_aggregate([pm.F1 @ 2, pm.F1 @ 3], {"q": {"a": 1, "b": 1}}, run)
    {F1@2: 0.5, F1@3: 0.8}
    """

    __name__ = "F1"
    NAME = __name__
    PRETTY_NAME = "F1 of precision and recall"
    SUPPORTED_PARAMS = {"cutoff": NEEDED_CUTOFF, "rel": REL, "judged_only": JUDGED_ONLY}


GradedAP: Measure = _GradedAP()
Coverage: Measure = _Coverage()
VariantNDCG: Measure = _VariantNDCG()
GAP: Measure = _GAP()
QMeasure: Measure = _QMeasure()
F1: Measure = _F1()

_EXP_NDCG_10: Measure = nDCG(dcg="exp-log2") @ 10

MEDCORPUS: tuple[Measure, ...] = (_EXP_NDCG_10, GradedAP @ 10, P @ 1, Coverage @ 10)
"""The measures that papers report on MedCorpus."""

LITSEARCH: tuple[Measure, ...] = (_EXP_NDCG_10, AP @ 10, P @ 1, R @ 5, R @ 20, Coverage @ 10)
"""The measures that papers report on LitSearch."""

BEIR: tuple[Measure, ...] = (nDCG @ 10, R @ 100)
"""The measures of BEIR (Thakur et al., NeurIPS Datasets and Benchmarks 2021), as trec_eval computes them."""

TREC_DL: tuple[Measure, ...] = (nDCG @ 10, AP(rel=2), RR(rel=2), R(rel=2) @ 1000)
"""The measures of the passage task of TREC Deep Learning (Craswell et al., TREC 2019); its binary measures
count grade 1 as not relevant."""

PRESETS = {"medcorpus": MEDCORPUS, "litsearch": LITSEARCH, "beir": BEIR, "trec-dl": TREC_DL}
"""Names of benchmarks, each of which can be given in place of all the benchmark's measures."""
