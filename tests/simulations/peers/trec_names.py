"""trec_eval's names, for the measures that we have."""

import contextlib
import io
import re

import ir_measures


def measures_of(name, rel=1, judged_only=False):
    """Return ``{name as printed: measure}`` for a name that trec_eval is asked for; empty if not ours."""
    if gains := re.fullmatch(r"ndcg_([\d=.,]+)", name):
        pairs = (pair.split("=") for pair in gains[1].split(","))
        return {name: ir_measures.nDCG(gains={int(grade): float(gain) for grade, gain in pairs})}
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # it prints what it leaves out
            measures = ir_measures.parse_trec_measure(name)
    except ValueError:
        return {}
    params = {"rel": rel, "judged_only": judged_only} if name != "num_ret" else {}
    base = re.sub(r"[._][\d.,]+$", "", name)
    return {
        base + _parameter(measure.params): measure(
            **{key: value for key, value in params.items() if key in measure.SUPPORTED_PARAMS}
        )
        for measure in measures
    }


def _parameter(params):
    if "recall" in params:
        return f"_{params['recall']:.2f}"
    return f"_{params['cutoff']}" if "cutoff" in params else ""
