"""What pytrec_eval says, in ir_measures' terms: the reference for the differential tests."""

import math

import pytrec_eval

import permed_measures as pm

CUTOFFS = (1, 2, 3, 5, 10, 100)
LEVELS = (0.0, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0)

LIKE_JUDGED_ONLY = {
    "AP": "map",
    "nDCG": "ndcg",
    "RR": "recip_rank",
    "Rprec": "Rprec",
    "SetP": "set_P",
    "SetP(relative=True)": "set_relative_P",
    "SetAP": "set_map",
    **{f"AP@{k}": f"map_cut_{k}" for k in CUTOFFS},
    **{f"nDCG@{k}": f"ndcg_cut_{k}" for k in CUTOFFS},
    **{f"P@{k}": f"P_{k}" for k in CUTOFFS},
    **{f"R@{k}": f"recall_{k}" for k in CUTOFFS},
    **{f"Success@{k}": f"success_{k}" for k in CUTOFFS},
    **{f"IPrec@{level}": f"iprec_at_recall_{level:.2f}" for level in LEVELS},
}
"""Our measure by name, and trec_eval's: those that can leave out unjudged documents."""

PLAIN = {
    "SetR": "set_recall",
    "Bpref": "bpref",
    "infAP": "infAP",
    "NumRet": "num_ret",
    "NumRel": "num_rel",
    "NumQ": "num_q",
}
"""Those that cannot."""


def with_params(text, rel, judged_only):
    """Return our measure with these parameters where it has them."""
    measure = pm.parse_measure(text)
    wanted = {"rel": rel, "judged_only": judged_only}
    return measure(**{name: value for name, value in wanted.items() if name in measure.SUPPORTED_PARAMS})


def pairs(rel, judged_only, beta):
    """Return {our measure: pytrec_eval's name}."""
    texts = LIKE_JUDGED_ONLY if judged_only else {**LIKE_JUDGED_ONLY, **PLAIN}
    found = {with_params(text, rel, judged_only): name for text, name in texts.items() if text != "NumRet"}
    found[with_params("SetF", rel, judged_only)(beta=beta)] = "set_F" if beta == 1.0 else f"set_F_{beta}"
    if not judged_only:
        found[pm.parse_measure("NumRet")] = "num_ret"
        found[pm.parse_measure("NumRet")(rel=rel)] = "num_rel_ret"
    return found


def values_of(names, qrels, run, rel=1, judged_only=False):
    """Return {query: {name: value}} without the queries that crash it.

    These have only negative grades, nothing retrieved, or (bpref) a level more than one above their grades.
    """
    safe = {q: docs for q, docs in qrels.items() if max(docs.values()) >= max(0, rel - 1)}
    evaluator = pytrec_eval.RelevanceEvaluator(
        safe, set(names), relevance_level=rel, judged_docs_only_flag=judged_only
    )
    found = evaluator.evaluate({q: docs for q, docs in run.items() if docs})
    return {
        query: {name: values["set_F" if name.startswith("set_F") else name] for name in names}
        for query, values in found.items()
    }


def is_undefined(value):
    """Return whether pytrec_eval divided 0 by 0, as in iprec_at_recall_0.00 of an empty ranking."""
    return math.isnan(value)
