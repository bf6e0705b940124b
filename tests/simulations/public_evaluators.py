"""What `identify` finds of public evaluators: as read in their source, and as found by asking.

It asks what is installed (ranx, scikit-learn, torchmetrics, ...), and what is checked out or built below a
folder, each repository under its own name (``trec_eval``, ``Metrics``, ...; its commit in a file ``COMMIT``).
What is missing is skipped, and said.

    PERMED_EVALUATORS=folder python tests/simulations/public_evaluators.py [name ...]

It prints the table of notebooks/guide/public-evaluators.md.
"""

import ast
import math
import os
import shlex
import sys
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

from permed_measures.errors import PermedError
from permed_measures.identification.identify import identify
from permed_measures.identification.program import Program

FOLDER = Path(os.environ.get("PERMED_EVALUATORS", "evaluators"))


class MissingError(Exception):
    """The evaluator is not installed, nor in the folder."""


class Evaluator(NamedTuple):
    """An evaluator, how it is asked, and what a reader of its source expects.

    Attributes
    ----------
    name, measure : str
    typed : str
        What one types behind ``identify`` to ask it, or how it is wrapped.
    make : callable
        Returns what is asked, or raises `MissingError`.
    expected : str
        The named convention that it was read to follow, or a part of the sentence that says how it computes.
    package : str
        The package or the repository that has it.
    """

    name: str
    measure: str
    typed: str
    make: Callable[[], Callable]
    expected: str
    package: str


def installed(module):
    """Import a module by its name."""
    if not find_spec(module.partition(".")[0]):
        raise MissingError(f"{module} is not installed")
    __import__(module)
    return sys.modules[module]


def checked_out(path):
    """Return a file below the folder."""
    if not (FOLDER / path).is_file():
        raise MissingError(f"{FOLDER / path} is not there")
    return FOLDER / path


def functions_of(path, **names):
    """Run the functions and classes of a file without its imports, most of which they do not need.

    Names that NumPy 2 has no more are those of NumPy 1.
    """
    tree = ast.parse(checked_out(path).read_text(encoding="utf-8"))
    tree.body = [each for each in tree.body if isinstance(each, ast.FunctionDef | ast.ClassDef)]
    old = {"float": float, "NaN": math.nan, "asfarray": lambda values: np.asarray(values, float)}
    for name, value in old.items():
        if name not in vars(np):
            setattr(np, name, value)
    found = {"np": np, "math": math, "List": list, **names}
    exec(compile(tree, str(path), "exec"), found)
    return found


def program(command, measure, **options):
    """Ask a program by its command line."""
    return Program(command, measure, **options)


# --- wrappers, where a function takes objects of its own ------------------------------------------------


def of_pytrec_eval():
    pytrec_eval = installed("pytrec_eval")

    def pytrec_eval_map(qrels, run):
        values = pytrec_eval.RelevanceEvaluator(qrels, {"map_cut.10"}).evaluate(run)
        return sum(each["map_cut_10"] for each in values.values()) / len(values)

    return pytrec_eval_map


def of_ranx():
    ranx = installed("ranx")

    def ranx_ndcg(qrels, run):
        return ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), "ndcg@10", make_comparable=True)

    ranx_ndcg({"q": {"d": 1}}, {"q": {"d": 1.0}})  # which compiles it, once
    return ranx_ndcg


def of_ms_marco():
    found = functions_of("MSMARCO-Document-Ranking/ms_marco_eval.py")

    def ms_marco(qrels, run):
        relevant = {query: [doc for doc, grade in docs.items() if grade > 0] for query, docs in qrels.items()}
        ranked = {query: [(doc, n) for n, doc in enumerate(docs, 1)] for query, docs in run.items()}
        return found["compute_metrics"](relevant, ranked, set())["MRR @100"]

    return ms_marco


def of_sentence_transformers():
    evaluation = installed("sentence_transformers.evaluation")

    def sentence_transformers(qrels, run):  # its scores are those of tensors, in single precision
        relevant = {
            query: {doc for doc, grade in docs.items() if grade >= 1} for query, docs in qrels.items()
        }
        evaluator = evaluation.InformationRetrievalEvaluator(
            dict.fromkeys(qrels, ""), {}, relevant, map_at_k=[10], show_progress_bar=False
        )
        lists = [
            [
                {"corpus_id": doc, "score": float(np.float32(score))}
                for doc, score in run.get(query, {}).items()
            ]
            for query in evaluator.queries_ids
        ]
        return evaluator.compute_metrics(lists)["map@k"][10]

    return sentence_transformers


def of_rec_bole():
    ndcg = functions_of("RecBole/recbole/evaluator/metrics.py", **_BASES_OF_REC_BOLE)["NDCG"]

    def rec_bole(relevant, ranked):
        hits = np.array([[doc in relevant for doc in ranked[:10]] + [False] * (10 - len(ranked[:10]))])
        return ndcg.metric_info(None, hits, np.array([len(relevant)]))[0, -1]

    return rec_bole


_BASES_OF_REC_BOLE = dict.fromkeys(("TopkMetric", "AbstractMetric", "LossMetric"), object) | {
    "EvaluatorType": type("EvaluatorType", (), {"RANKING": 0, "VALUE": 1})
}


def of_ncf():
    ndcg = functions_of("neural_collaborative_filtering/evaluate.py", xrange=range)["getNDCG"]

    def ncf(grades, ranked):
        first = next((doc for doc in ranked[:10] if grades.get(doc, 0) >= 1), None)
        return ndcg(ranked[:10], first) if first else 0

    return ncf


def of_ignite():
    torch, rec_sys = installed("torch"), installed("ignite.metrics.rec_sys")

    def ignite(grades, scores):
        metric = rec_sys.NDCG(top_k=[10], ignore_zero_hits=False)
        metric.update((torch.tensor([scores]), torch.tensor([grades]).float()))
        return metric.compute()[0]

    return ignite


def of_all_rank():
    torch = installed("torch")
    ndcg = functions_of("allRank/allrank/models/metrics.py", torch=torch, PADDED_Y_VALUE=-1)["ndcg"]

    def all_rank(grades, scores):
        return ndcg(torch.tensor([scores]), torch.tensor([grades]).float(), ats=[10]).mean().item()

    return all_rank


def of_ranker_eval():
    sys.path.insert(0, str(checked_out("rankerEval/rankereval/__init__.py").parents[1]))
    functions_of("rankerEval/setup.py")  # for names that NumPy 2 has no more
    rankereval = installed("rankereval")

    def ranker_eval(grades, ranked):
        docs = [*dict.fromkeys([*ranked, *grades])]
        labels = rankereval.NumericLabels.from_matrix([[grades.get(doc, 0) for doc in docs]])
        ranking = rankereval.Rankings.from_ranked_indices([[docs.index(doc) for doc in ranked]])
        return rankereval.NDCG(10, log_base="2").mean(labels, ranking)

    return ranker_eval


def of_beir():
    evaluation = checked_out("beir/beir/retrieval/evaluation.py")
    found = functions_of(
        evaluation.relative_to(FOLDER),
        pytrec_eval=installed("pytrec_eval"),
        BaseSearch=object,
        logger=installed("logging").getLogger("beir"),
    )
    return found["EvaluateRetrieval"].evaluate


_OF_PERMED = "--dataset {} --gt {{qrels}} --results {{run}} --k {{k}}"


def of_permed(dataset, measure, files):
    script = checked_out("CLPR/core/evaluate.py")
    return program(
        f"{shlex.quote(sys.executable)} {script} {_OF_PERMED.format(dataset)}", measure, files=files
    )


EVALUATORS = [
    Evaluator(
        "trec_eval",
        "MAP@10",
        "--command 'trec_eval -m map_cut.10 {qrels} {run}'",
        lambda: program(f"{checked_out('trec_eval/trec_eval')} -m map_cut.10 {{qrels}} {{run}}", "MAP@10"),
        "trec_eval 10",
        "trec_eval",
    ),
    Evaluator(
        "trec_eval -c",
        "nDCG@10",
        "--command 'trec_eval -c -m ndcg_cut.10 {qrels} {run}'",
        lambda: program(
            f"{checked_out('trec_eval/trec_eval')} -c -m ndcg_cut.10 {{qrels}} {{run}}", "nDCG@10"
        ),
        "trec_eval 10 -c",
        "trec_eval",
    ),
    Evaluator(
        "gdeval",
        "nDCG@10",
        "--command 'perl gdeval.pl -k {k} {qrels} {run}' --numeric-ids",
        lambda: program(
            f"perl {checked_out('trec-web-2014/src/eval/gdeval.pl')} -k {{k}} {{qrels}} {{run}}",
            "nDCG@10",
            numeric_ids=True,
        ),
        "gdeval",
        "trec-web-2014",
    ),
    Evaluator(
        "ir_measures",
        "nDCG@10",
        "--command 'ir_measures {qrels} {run} nDCG@10'",
        lambda: program(f"{shlex.quote(sys.executable)} -m ir_measures {{qrels}} {{run}} nDCG@10", "nDCG@10"),
        "ir_measures",
        "ir-measures",
    ),
    Evaluator(
        "pytrec_eval",
        "MAP@10",
        "a function of 3 lines",
        of_pytrec_eval,
        "trec_eval, pytrec_eval",
        "pytrec-eval-terrier",
    ),
    Evaluator("ranx", "nDCG@10", "a function of 2 lines", of_ranx, "ranx", "ranx"),
    Evaluator(
        "scikit-learn, ndcg_score",
        "nDCG@10",
        "mine.py:ndcg_score",
        lambda: installed("sklearn.metrics").ndcg_score,
        "scikit-learn",
        "scikit-learn",
    ),
    Evaluator(
        "scikit-learn, label_ranking_average_precision_score",
        "MAP",
        "mine.py:label_ranking_average_precision_score",
        lambda: installed("sklearn.metrics").label_ranking_average_precision_score,
        "scikit-learn",
        "scikit-learn",
    ),
    Evaluator(
        "torchmetrics, retrieval_normalized_dcg",
        "nDCG@10",
        "mine.py:retrieval_normalized_dcg",
        lambda: installed("torchmetrics.functional.retrieval").retrieval_normalized_dcg,
        "torchmetrics",
        "torchmetrics",
    ),
    Evaluator(
        "torchmetrics, retrieval_average_precision",
        "MAP@10",
        "mine.py:retrieval_average_precision",
        lambda: installed("torchmetrics.functional.retrieval").retrieval_average_precision,
        "torchmetrics",
        "torchmetrics",
    ),
    Evaluator(
        "pytorch-ignite", "nDCG@10", "a function of 4 lines", of_ignite, "pytorch-ignite", "pytorch-ignite"
    ),
    Evaluator(
        "sentence-transformers",
        "MAP@10",
        "a function of 6 lines",
        of_sentence_transformers,
        "sentence-transformers",
        "sentence-transformers",
    ),
    Evaluator("BEIR", "nDCG@10", "evaluation.py:EvaluateRetrieval.evaluate", of_beir, "BEIR", "beir"),
    Evaluator(
        "ml_metrics",
        "MAP@10",
        "average_precision.py:mapk",
        lambda: functions_of("Metrics/Python/ml_metrics/average_precision.py")["mapk"],
        "ml_metrics",
        "Metrics",
    ),
    Evaluator(
        "recmetrics",
        "MAP@10",
        "metrics.py:mapk",
        lambda: functions_of("recmetrics/recmetrics/metrics.py", pd=installed("pandas"))["mapk"],
        "AP@10 with binary relevance, divided by the relevant documents found",
        "recmetrics",
    ),
    Evaluator(
        "cute_ranking (rank_metrics.py)",
        "nDCG@10",
        "core.py:ndcg_at_k",
        lambda: functions_of("cute_ranking/cute_ranking/core.py")["ndcg_at_k"],
        "rank_metrics.py",
        "cute_ranking",
    ),
    Evaluator(
        "cute_ranking, mean_average_precision",
        "MAP",
        "core.py:mean_average_precision",
        lambda: functions_of("cute_ranking/cute_ranking/core.py")["mean_average_precision"],
        "rank_metrics.py",
        "cute_ranking",
    ),
    Evaluator(
        "PerMed group, average_precision",
        "MAP@10",
        "core/evaluate.py:average_precision",
        lambda: functions_of("CLPR/core/evaluate.py")["average_precision"],
        "PerMed standard",
        "CLPR",
    ),
    Evaluator(
        "PerMed group, ndcg_at_k",
        "nDCG@10",
        "core/evaluate.py:ndcg_at_k",
        lambda: functions_of("CLPR/core/evaluate.py")["ndcg_at_k"],
        "PerMed standard",
        "CLPR",
    ),
    Evaluator(
        "PerMed group, evaluate.py",
        "MAP@10",
        f"--command 'python3 core/evaluate.py {_OF_PERMED.format('medcorpus')}' --files medcorpus",
        lambda: of_permed("medcorpus", "MAP@10", "medcorpus"),
        "PerMed standard",
        "CLPR",
    ),
    Evaluator(
        "PerMed group, evaluate.py",
        "nDCG@10",
        f"--command 'python3 core/evaluate.py {_OF_PERMED.format('litsearch')}' --files jsonl",
        lambda: of_permed("litsearch", "nDCG@10", "jsonl"),
        "nDCG@10 with linear gains, log2 discount, ideal from the qrels; averaged over queries of the run "
        "with at least one relevant document; ties are broken by a stable sort (input order)",
        "CLPR",
    ),
    Evaluator(
        "LitSearch",
        "nDCG",
        "utils/utils.py:calculate_ndcg",
        lambda: functions_of(
            "LitSearch/utils/utils.py", **dict.fromkeys(("Any", "Tuple", "Dataset", "OPENAIBaseEngine"), list)
        )["calculate_ndcg"],
        "LitSearch repository",
        "LitSearch",
    ),
    Evaluator(
        "MS MARCO, documents",
        "MRR@100",
        "a function of 4 lines",
        of_ms_marco,
        "RR; averaged over all queries of the qrels; ties are broken by a stable sort (input order)",
        "MSMARCO-Document-Ranking",
    ),
    Evaluator("RecBole", "nDCG@10", "a function of 3 lines", of_rec_bole, "RecBole", "RecBole"),
    Evaluator(
        "NCF",
        "nDCG@10",
        "a function of 3 lines",
        of_ncf,
        "NCF (leave-one-out)",
        "neural_collaborative_filtering",
    ),
    Evaluator("allRank", "nDCG@10", "a function of 2 lines", of_all_rank, "allRank", "allRank"),
    Evaluator(
        "rankerEval",
        "nDCG@10",
        "a function of 5 lines",
        of_ranker_eval,
        "nDCG@10 with linear gains, log2 discount, ideal from the qrels",
        "rankerEval",
    ),
]


def version_of(package):
    """Return the version of a package, or the commit of a repository."""
    try:
        return version(package)
    except PackageNotFoundError:
        commit = FOLDER / package / "COMMIT"
        return commit.read_text().strip() if commit.is_file() else ""


def as_expected(each, found):
    """Return whether what is found is what a reader expects: a name among the equal ones, or the sentence."""
    if not found.ok:
        return False
    names = [name.partition(" (")[0] for name in found.names]
    names += [answer.named.name for answer in found.answers if not answer.changes]
    is_named = any(name.startswith(each.expected) for name in [*found.names, *names])
    return is_named or each.expected in [
        found.nearest.sentence(),
        found.nearest.sentence().partition("; ")[0],
    ]


def main(names):
    """Ask the evaluators whose names have one of these words, or all, and print the table."""
    print("| evaluator | asked | expected by reading | found by asking | as read | cases | left out | s |")
    print("|---|---|---|---|---|---:|---:|---:|")
    counts = {"asked": 0, "named": 0, "as read": 0}
    skipped = []
    for each in EVALUATORS:
        if names and not any(name in each.name for name in names):
            continue
        start = time.perf_counter()
        try:
            asked = each.make()
        except Exception as reason:  # missing, or not to be imported with what else is installed
            skipped.append(f"{each.name}: {type(reason).__name__}: {reason}")
            continue
        try:
            found = identify(asked, each.measure)
        except PermedError as error:
            text, same, read, n, left = f"error: {error}", False, "no", 0, 0
        else:
            sentence = found.nearest.sentence()
            text = sentence if found.ok else f"none; nearest ({found.n_agree}): {sentence}"
            same, n, left = as_expected(each, found), found.n_cases, sum(group.n for group in found.left_out)
            of_ties = (found.open.get(option, "") for option in ("ties", "tied"))
            is_skipped = any(why.startswith("no known value") for why in of_ties)
            read = f"yes{', but for ties' * is_skipped}" if same else "no"
            counts["named"] += found.ok
        counts["asked"] += 1
        counts["as read"] += same
        name = f"{each.name} {version_of(each.package)}".strip()
        is_typed = ".py:" in each.typed or "--command" in each.typed
        how = f"`{each.typed} {each.measure}`" if is_typed else f"`{each.measure}`, {each.typed}"
        cells = [name, how, each.expected]
        cells = [*cells, text, read, n, left, f"{time.perf_counter() - start:.1f}"]
        print(f"| {' | '.join(map(str, cells))} |", flush=True)
    print("\n" + ", ".join(f"{number} {what}" for what, number in counts.items()))
    for line in skipped:
        print(f"skipped: {line}")


if __name__ == "__main__":
    main(sys.argv[1:])
