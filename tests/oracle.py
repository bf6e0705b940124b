"""The measures as plain loops: an oracle for the engine, written from the definitions alone.

Nothing here is fast and nothing is shared with the package. Each measure is a function of one query: the
ranking, a list of (document id, grade or None if unjudged), the judgments {document id: grade}, and the
parameters by name. ``MEASURES`` maps the measures' names to these functions; ``evaluate`` and ``aggregate``
run one over all queries of the qrels.

A document is relevant if its grade is at least ``rel`` and not negative. A cutoff of None is no cutoff.
Standard measures follow trec_eval 9; where that is not plain from the formula, the docstring says so.
"""

import math
import struct

# --- the ranking ---------------------------------------------------------------------------------------


def float32(score):
    """Round to the nearest float32; what is too large becomes infinite."""
    try:
        return float(struct.unpack("f", struct.pack("f", score))[0])
    except OverflowError:
        return math.copysign(math.inf, score)


def rank(docs, ties="trec", grades=None):
    """Order documents by score, highest first; ``ties`` says how to order equal scores.

    Sorting is stable, so the last of several sorts decides and the ones before it break its ties.
    """
    if ties not in ("trec", "trec10", "docid_ascending", "input", "reversed", "optimistic", "pessimistic"):
        raise ValueError(f"unknown rule for ties: {ties!r}")
    known = grades or {}
    order = list(docs) if ties == "input" else sorted(docs, reverse=ties != "docid_ascending")
    if ties == "reversed":
        order = list(docs)[::-1]
    if ties == "optimistic":
        order.sort(key=lambda doc: -known.get(doc, 0))
    if ties == "pessimistic":
        order.sort(key=lambda doc: known.get(doc, 0))
    comparable = float if ties == "trec10" else float32
    return sorted(order, key=lambda doc: -comparable(docs[doc]))


# --- what the measures share ---------------------------------------------------------------------------


def is_relevant(grade, rel):
    """Tell whether a document is judged, not negative, and of grade ``rel`` or more."""
    return grade is not None and grade >= 0 and grade >= rel


def num_relevant(judgments, rel):
    """Count R, the relevant documents in the qrels."""
    return sum(1 for grade in judgments.values() if is_relevant(grade, rel))


def top(ranking, cutoff, judged_only):
    """List the grades of the first ``cutoff`` documents; None is unjudged.

    With ``judged_only`` unjudged documents leave the ranking first, and so do those with a negative grade:
    trec_eval takes a negative grade for "in the pool, but not judged".
    """
    grades = [grade for _, grade in ranking]
    if judged_only:
        grades = [grade for grade in grades if grade is not None and grade >= 0]
    return grades if cutoff is None else grades[:cutoff]


def found(ranking, cutoff, rel, judged_only):
    """Count the relevant documents among the first ``cutoff``."""
    return sum(1 for grade in top(ranking, cutoff, judged_only) if is_relevant(grade, rel))


def ratio(numerator, denominator):
    """Divide, with 0 for a denominator of 0."""
    return numerator / denominator if denominator != 0 else 0.0


# --- standard measures ---------------------------------------------------------------------------------


def precision(ranking, _, *, cutoff, rel=1, judged_only=False):
    """P: the relevant documents among the first k, over k even if fewer were retrieved."""
    return found(ranking, cutoff, rel, judged_only) / cutoff


def recall(ranking, judgments, *, cutoff, rel=1, judged_only=False):
    """R: the relevant documents among the first k, over R."""
    return ratio(found(ranking, cutoff, rel, judged_only), num_relevant(judgments, rel))


def f1(ranking, judgments, *, cutoff, rel=1, judged_only=False):
    """Harmonic mean of precision and recall at the cutoff."""
    p = precision(ranking, judgments, cutoff=cutoff, rel=rel, judged_only=judged_only)
    r = recall(ranking, judgments, cutoff=cutoff, rel=rel, judged_only=judged_only)
    return ratio(2 * p * r, p + r)


def success(ranking, _, *, cutoff=None, rel=1, judged_only=False):
    """Success, and Coverage: 1 if a relevant document is among the first k (or retrieved at all)."""
    return 1.0 if found(ranking, cutoff, rel, judged_only) else 0.0


def reciprocal_rank(ranking, _, *, cutoff=None, rel=1, judged_only=False):
    """RR: 1 over the rank of the first relevant document."""
    for i, grade in enumerate(top(ranking, cutoff, judged_only), start=1):
        if is_relevant(grade, rel):
            return 1 / i
    return 0.0


def average_precision(ranking, judgments, *, cutoff=None, rel=1, judged_only=False):
    """AP: the sum of P(i) over relevant ranks i <= k, over R whatever k is."""
    total, hits = 0.0, 0
    for i, grade in enumerate(top(ranking, cutoff, judged_only), start=1):
        if is_relevant(grade, rel):
            hits += 1
            total += hits / i
    return ratio(total, num_relevant(judgments, rel))


def r_precision(ranking, judgments, *, rel=1, judged_only=False):
    """Rprec: precision at R."""
    num_rel = num_relevant(judgments, rel)
    return ratio(found(ranking, num_rel, rel, judged_only), num_rel)


def interpolated_precision(ranking, judgments, *, recall, rel=1, judged_only=False):
    """IPrec: the highest precision at or after the rank where the recall is reached.

    As in trec_eval 9, the recall is reached with int(recall * R + 0.9) relevant documents (trec_eval 10
    rounds instead); 0 if fewer were retrieved. An empty ranking gives 0 (trec_eval: 0/0 = NaN at recall 0).
    """
    needed = int(recall * num_relevant(judgments, rel) + 0.9)
    best, hits = 0.0, 0
    for i, grade in enumerate(top(ranking, None, judged_only), start=1):
        if is_relevant(grade, rel):
            hits += 1
        if hits >= needed:
            best = max(best, hits / i)
    return best


def judged(ranking, _, *, cutoff=None):
    """Judged: the share of judged documents, of any grade, among the first k or as many as were retrieved."""
    grades = top(ranking, cutoff, judged_only=False)
    return ratio(sum(1 for grade in grades if grade is not None), len(grades))


def set_precision(ranking, judgments, *, rel=1, relative=False, judged_only=False):
    """SetP: relevant retrieved over retrieved; ``relative``: over min(retrieved, R), the most possible."""
    retrieved = len(top(ranking, None, judged_only))
    possible = min(retrieved, num_relevant(judgments, rel)) if relative else retrieved
    return ratio(found(ranking, None, rel, judged_only), possible)


def set_recall(ranking, judgments, *, rel=1):
    """SetR: relevant retrieved over R."""
    return ratio(found(ranking, None, rel, judged_only=False), num_relevant(judgments, rel))


def set_f(ranking, judgments, *, rel=1, beta=1.0, judged_only=False):
    """SetF: (b+1) P R / (b P + R); as in trec_eval, beta is not squared."""
    p = set_precision(ranking, judgments, rel=rel, judged_only=judged_only)
    r = set_recall(ranking, judgments, rel=rel)
    return ratio((beta + 1) * p * r, beta * p + r)


def set_average_precision(ranking, judgments, *, rel=1, judged_only=False):
    """SetAP: SetP times SetR."""
    p = set_precision(ranking, judgments, rel=rel, judged_only=judged_only)
    return p * set_recall(ranking, judgments, rel=rel)


def num_ret(ranking, _, *, rel=None):
    """NumRet: the documents retrieved; with ``rel`` the relevant ones."""
    return float(len(ranking) if rel is None else found(ranking, None, rel, judged_only=False))


def num_rel(_ranking, judgments, *, rel=1):
    """NumRel: R, whatever was retrieved."""
    return float(num_relevant(judgments, rel))


def rank_biased_precision(ranking, _, *, cutoff=None, p=0.8, rel=None):
    """RBP: (1-p) times the sum of p^(i-1) over relevant ranks; without ``rel``, each times its grade.

    The grade is taken as it stands, above 0 (trectools): with grades above 1 the value can exceed 1.
    """
    total = 0.0
    for i, grade in enumerate(top(ranking, cutoff, judged_only=False), start=1):
        utility = float(is_relevant(grade, rel)) if rel is not None else max(grade or 0, 0)
        total += utility * p ** (i - 1)
    return (1 - p) * total


def binary_preference(ranking, judgments, *, rel=1):
    """Bpref: 1 - min(n, R) / min(N, R) for each relevant document, n judged not relevant above it; over R.

    As in trec_eval, negative grades are neither relevant nor judged not relevant.
    """
    num_rel = num_relevant(judgments, rel)
    num_nonrel = sum(1 for grade in judgments.values() if 0 <= grade < rel)
    total, nonrel = 0.0, 0
    for _, grade in ranking:
        if grade is not None and 0 <= grade < rel:
            nonrel += 1
        elif is_relevant(grade, rel):
            total += 1 - min(nonrel, num_rel) / min(num_nonrel, num_rel) if nonrel else 1
    return ratio(total, num_rel)


def inferred_average_precision(ranking, judgments, *, rel=1):
    """InfAP with trec_eval's smoothing; a negative grade is in the pool, but not judged."""
    epsilon = 0.00001
    total, relevant, nonrel, unjudged = 0.0, 0, 0, 0
    for i, (_, grade) in enumerate(ranking, start=1):
        if grade is None:
            continue
        if grade < 0:
            unjudged += 1
        elif grade < rel:
            nonrel += 1
        else:
            total += 1 / i
            if i > 1:
                pooled = (relevant + nonrel + unjudged) / (i - 1)
                share = (relevant + epsilon) / (relevant + nonrel + 2 * epsilon)
                total += (i - 1) / i * pooled * share
            relevant += 1
    return ratio(total, num_relevant(judgments, rel))


def expected_reciprocal_rank(ranking, _, *, cutoff=None):
    """ERR as gdeval has it: a document stops the user with probability (2^g - 1) / 16."""
    total, reached = 0.0, 1.0
    for i, grade in enumerate(top(ranking, cutoff, judged_only=False), start=1):
        stops = (2 ** max(grade or 0, 0) - 1) / 16
        total += reached * stops / i
        reached *= 1 - stops
    return total


def num_q(_ranking, _):
    """NumQ: 1 for each query of the qrels."""
    return 1.0


# --- discounted cumulated gain -------------------------------------------------------------------------

DISCOUNTS = {
    "log2": lambda i: 1 / math.log2(i + 1),
    "jk": lambda i: 1 if i == 1 else 1 / math.log2(i),
    "zipf": lambda i: 1 / i,
}


def cumulated_gain(grades, gain, discount):
    """Sum the gains of the grades, each discounted by its place."""
    total = 0.0
    for i, grade in enumerate(grades, start=1):
        total += (2**grade - 1 if gain == "exp" else grade) * DISCOUNTS[discount](i)
    return total


def variant_ndcg(
    ranking,
    judgments,
    *,
    cutoff=None,
    gain="exp",
    discount="log2",
    ideal="qrels",
    negative="zero",
    judged_only=False,
):
    """VariantNDCG: DCG at k over that of an ideal list at k; 0 if the ideal is not positive.

    An unjudged document has grade 0, in the ideal list too where that is made of the retrieved documents.
    """
    within = [grade or 0 for grade in top(ranking, cutoff, judged_only)]
    retrieved = [grade or 0 for grade in top(ranking, None, judged_only)]
    best = {"qrels": list(judgments.values()), "run": retrieved, "cutoff": within}[ideal]
    if negative == "zero":
        within = [max(grade, 0) for grade in within]
        best = [max(grade, 0) for grade in best]
    best = sorted(best, reverse=True)[:cutoff]
    ideal_dcg = cumulated_gain(best, gain, discount)
    return cumulated_gain(within, gain, discount) / ideal_dcg if ideal_dcg > 0 else 0.0


def ndcg(ranking, judgments, *, cutoff=None, dcg="log2", gains=None, judged_only=False):
    """NDCG with the grade as gain (``log2``) or 2^grade - 1 (``exp-log2``); gain of negative grades is 0.

    ``gains`` replaces grades before anything else, as ir_measures does for pytrec_eval: a grade it leaves out
    keeps its value, and a document whose gain is negative is what ``judged_only`` removes.
    """
    table = gains or {}
    mapped = [(doc, None if grade is None else table.get(grade, grade)) for doc, grade in ranking]
    best = {doc: table.get(grade, grade) for doc, grade in judgments.items()}
    gain = {"log2": "linear", "exp-log2": "exp"}[dcg]
    return variant_ndcg(mapped, best, cutoff=cutoff, gain=gain, judged_only=judged_only)


# --- graded measures -----------------------------------------------------------------------------------


def graded_average_precision(
    ranking, judgments, *, cutoff=None, rel=1, max_rel=2, gains=None, norm="num_rel", judged_only=False
):
    """GradedAP: (1/N) times the sum of P(i) w(g_i) over relevant ranks i <= k."""
    total, hits = 0.0, 0
    for i, grade in enumerate(top(ranking, cutoff, judged_only), start=1):
        if grade is not None and is_relevant(grade, rel):
            hits += 1
            total += hits / i * (grade / max_rel if gains is None else gains[grade])
    relevant = [grade for grade in judgments.values() if is_relevant(grade, rel)]
    weights = [grade / max_rel if gains is None else gains[grade] for grade in relevant]
    norms = {
        "num_rel": len(relevant),
        "min": len(relevant[:cutoff]),
        "num_rel_ret": hits,
        "gain": sum(weights),
        "ideal": sum(sorted(weights, reverse=True)[:cutoff]),
        "none": 1,
    }
    return ratio(total, norms[norm])


def gap(ranking, judgments, *, cutoff=None, g=None, max_rel=2):
    """GAP: the mean of AP over thresholds j, each weighing g_j times its number of relevant documents."""
    shares = g if g is not None else dict.fromkeys(range(1, max_rel + 1), 1 / max_rel)
    total, weight = 0.0, 0.0
    for j, share in shares.items():
        num_rel_j = num_relevant(judgments, j)
        total += share * num_rel_j * average_precision(ranking, judgments, cutoff=cutoff, rel=j)
        weight += share * num_rel_j
    return ratio(total, weight)


def q_measure(ranking, judgments, *, cutoff=None, beta=1.0, gains=None):
    """QMeasure: (C(i) + b cg(i)) / (i + b cg*(i)) summed over relevant ranks i <= k, over min(R, k).

    Relevant is grade 1 or more; only relevant documents gain.
    """
    relevant = [grade for grade in judgments.values() if is_relevant(grade, 1)]
    ideal = sorted((grade if gains is None else gains[grade] for grade in relevant), reverse=True)
    total, count, cg = 0.0, 0, 0.0
    for i, grade in enumerate(top(ranking, cutoff, judged_only=False), start=1):
        if grade is not None and is_relevant(grade, 1):
            count += 1
            cg += grade if gains is None else gains[grade]
            total += (count + beta * cg) / (i + beta * sum(ideal[:i]))
    return ratio(total, len(relevant[:cutoff]))


# --- all queries ---------------------------------------------------------------------------------------

MEASURES = {
    "AP": average_precision,
    "Bpref": binary_preference,
    "F1": f1,
    "ERR": expected_reciprocal_rank,
    "NumQ": num_q,
    "infAP": inferred_average_precision,
    "Coverage": success,
    "GAP": gap,
    "GradedAP": graded_average_precision,
    "IPrec": interpolated_precision,
    "Judged": judged,
    "NumRel": num_rel,
    "NumRet": num_ret,
    "P": precision,
    "QMeasure": q_measure,
    "R": recall,
    "RBP": rank_biased_precision,
    "RR": reciprocal_rank,
    "Rprec": r_precision,
    "SetAP": set_average_precision,
    "SetF": set_f,
    "SetP": set_precision,
    "SetR": set_recall,
    "Success": success,
    "VariantNDCG": variant_ndcg,
    "nDCG": ndcg,
}

SUMMED = {"NumQ", "NumRel", "NumRet"}


def evaluate(measure_name, params, qrels, run, ties="trec"):
    """Compute the measure for every query of the qrels; one absent from the run has an empty ranking."""
    values = {}
    for query, judgments in qrels.items():
        order = rank(run.get(query, {}), ties, judgments)
        ranking = [(doc, judgments.get(doc)) for doc in order]
        values[query] = MEASURES[measure_name](ranking, judgments, **params)
    return values


def aggregate(measure_name, params, qrels, run, ties="trec"):
    """Average over all queries of the qrels (add up what is a count); NaN if there are none."""
    if not qrels:
        return math.nan
    total = math.fsum(evaluate(measure_name, params, qrels, run, ties).values())
    return total if measure_name in SUMMED else total / len(qrels)
