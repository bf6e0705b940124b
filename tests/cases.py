"""Random judgments and runs, measures to try on them, and the forms in which both can be given."""

import ir_measures
import pandas as pd
import polars as pl
import pyarrow as pa

import permed_measures as pm

QUERIES = ["q1", "q10", "q2", "9", "10", "ü", "日本語", "topic_001_1", "\U0001d4b3"]
DOCUMENTS = [*(f"d{i}" for i in range(14)), "D1", "é", "z", "Ω", "漢", "\U0001d4b3", "￿", "0"]
SCORES = [
    lambda rng: rng.random(),
    lambda rng: float(rng.randrange(4)),
    lambda rng: 1 + rng.randrange(5) * 1e-9,
    lambda rng: float(2**24 + rng.randrange(4)),
    lambda rng: rng.choice([0.0, -0.0, 1e-50, -1e-50]),
    lambda rng: rng.choice([1e39, 2e39, -1e39, float("inf"), float("-inf")]),
    lambda rng: rng.randrange(-3, 3),
]
GRADES = [[0, 1], [-1, 0, 1, 2], [0, 1, 2, 3, 4], [-2, -1, 0, 1, 2], [0, 0.5, 1, 1.5, 2.5]]


def random_case(rng):
    """Return qrels and run with ties, collisions, negative grades, and queries missing on either side."""
    queries = rng.sample(QUERIES, rng.randint(1, 5))
    grades = rng.choice(GRADES)
    qrels, run = {}, {}
    for query_id in queries:
        documents = rng.sample(DOCUMENTS, rng.randint(1, len(DOCUMENTS)))
        score = rng.choice(SCORES)
        if rng.random() < 0.85:
            judged = rng.sample(DOCUMENTS, rng.randint(1, len(DOCUMENTS)))
            qrels[query_id] = {doc_id: rng.choice(grades) for doc_id in judged}
        if rng.random() < 0.85:
            run[query_id] = {doc_id: score(rng) for doc_id in documents}
    return qrels, run


def random_measure(rng, name=None):
    """Return a measure with random parameters: of this name, or any."""
    name = name or rng.choice(["GradedAP", "VariantNDCG", "GradedAP", "VariantNDCG", *PARAMETERS])
    params = {key: value for key, choose in PARAMETERS[name].items() if (value := choose(rng)) is not None}
    return pm.parse_measure(name)(**params)


def _pick(*values):
    return lambda rng: rng.choice(values)


def _gains(rng):
    if rng.random() < 0.6:
        return None
    return {grade / 2: rng.choice([0, 0.25, 0.5, 1, 3]) for grade in range(9)}


def _whole_gains(rng):
    if rng.random() < 0.6:
        return None
    return {grade: rng.choice([-1, 0, 1, 2, 7]) for grade in rng.sample(range(-1, 5), 3)}


_CUTOFF = _pick(None, 1, 2, 3, 5, 10, 100)
_NEEDED = _pick(1, 2, 3, 5, 10, 100)
_FLAG = _pick(False, False, True)
_LEVEL = _pick(1, 1, 2, 3)

PARAMETERS = {
    "GradedAP": {
        "cutoff": _CUTOFF,
        "rel": _pick(0, 0.5, 1, 1, 2),
        "max_rel": _pick(4, 10),
        "gains": _gains,
        "norm": _pick("num_rel", "min", "num_rel_ret", "gain", "ideal", "none"),
        "judged_only": _FLAG,
    },
    "Coverage": {"cutoff": _CUTOFF, "rel": _pick(0.5, 1, 2), "judged_only": _FLAG},
    "VariantNDCG": {
        "cutoff": _CUTOFF,
        "gain": _pick("exp", "linear"),
        "discount": _pick("log2", "jk", "zipf"),
        "ideal": _pick("qrels", "run", "cutoff"),
        "negative": _pick("zero", "keep"),
        "judged_only": _FLAG,
    },
    "nDCG": {"cutoff": _CUTOFF, "gains": _whole_gains, "judged_only": _FLAG},
    "P": {"cutoff": _NEEDED, "rel": _LEVEL, "judged_only": _FLAG},
    "R": {"cutoff": _NEEDED, "rel": _LEVEL, "judged_only": _FLAG},
    "RR": {"cutoff": _CUTOFF, "rel": _LEVEL, "judged_only": _FLAG},
    "AP": {"cutoff": _CUTOFF, "rel": _LEVEL, "judged_only": _FLAG},
    "Success": {"cutoff": _NEEDED, "rel": _LEVEL, "judged_only": _FLAG},
    "Judged": {"cutoff": _CUTOFF},
    "GAP": {
        "cutoff": _CUTOFF,
        "g": _pick(None, {1: 0.5, 2: 0.5}, {0.5: 0.25, 3: 0.75}),
        "max_rel": _pick(None, 1, 4),
    },
    "QMeasure": {"cutoff": _CUTOFF, "beta": _pick(None, 0.0, 0.5, 10.0), "gains": _gains},
    "F1": {"cutoff": _NEEDED, "rel": _pick(0.5, 1, 2), "judged_only": _FLAG},
    "ERR": {"cutoff": _CUTOFF},
    "RBP": {"cutoff": _CUTOFF, "rel": _LEVEL, "p": _pick(None, 0.5, 0.95)},
    "Rprec": {"rel": _LEVEL, "judged_only": _FLAG},
    "IPrec": {"recall": _pick(0.0, 0.1, 0.25, 0.5, 0.75, 1.0), "rel": _LEVEL, "judged_only": _FLAG},
    "Bpref": {"rel": _LEVEL},
    "infAP": {"rel": _LEVEL},
    "SetP": {"rel": _LEVEL, "relative": _FLAG, "judged_only": _FLAG},
    "SetR": {"rel": _LEVEL},
    "SetF": {"rel": _LEVEL, "beta": _pick(None, 0.5, 2.0), "judged_only": _FLAG},
    "SetAP": {"rel": _LEVEL, "judged_only": _FLAG},
    "NumQ": {},
    "NumRet": {"rel": _pick(None, 1, 2)},
    "NumRel": {"rel": _LEVEL},
}


def rows_of(nested):
    """Return the rows of a nested dict, in its order."""
    return [(query_id, doc_id, value) for query_id, docs in nested.items() for doc_id, value in docs.items()]


def _nested(rows, value):  # noqa: ARG001 - the forms have one signature
    nested = {}
    for query_id, doc_id, item in rows:
        nested.setdefault(query_id, {})[doc_id] = item
    return nested


def _records(rows, value):
    kind = ir_measures.ScoredDoc if value == "score" else ir_measures.Qrel
    return (kind(*row) for row in rows)


def _columns(rows, value):
    numbers = [float(row[2]) for row in rows]
    return {"query_id": [row[0] for row in rows], "doc_id": [row[1] for row in rows], value: numbers}


def _pandas(rows, value, dtype):
    return pd.DataFrame(_columns(rows, value)).astype({"query_id": dtype, "doc_id": dtype, value: "float64"})


def _polars(rows, value, dtype=pl.String):
    ids = {"query_id": pl.String, "doc_id": pl.String, value: pl.Float64}
    return pl.DataFrame(_columns(rows, value), schema=ids).with_columns(
        pl.col("query_id", "doc_id").cast(dtype)
    )


def _by_queries(rows):
    """Return the rows of each query, in the order of the first."""
    queries = dict.fromkeys(row[0] for row in rows)
    return [[row for row in rows if row[0] == query_id] for query_id in queries]


def _pyarrow(rows, value):
    types = [("query_id", pa.string()), ("doc_id", pa.string()), (value, pa.float64())]
    return pa.table(_columns(rows, value), schema=pa.schema(types))


def _pyterrier(rows, value):
    names = {"query_id": "qid", "doc_id": "docno", "relevance": "label"}
    return _pandas(rows, value, "object").rename(columns=names).assign(rank=0)


FORMS = {
    "dict": _nested,
    "namedtuples": _records,
    "pandas, arrow strings": lambda rows, value: _pandas(rows, value, "str"),
    "pandas, Python strings": lambda rows, value: _pandas(rows, value, "object"),
    "pandas, categories": lambda rows, value: _pandas(rows, value, "category"),
    "PyTerrier": _pyterrier,
    "polars": _polars,
    "polars, lazy": lambda rows, value: _polars(rows, value).lazy(),
    "polars, lazy, in parts": lambda rows, value: [
        _polars(part, value).lazy() for part in _by_queries(rows) or [[]]
    ],
    "polars, categories": lambda rows, value: _polars(rows, value, pl.Categorical),
    "pyarrow": _pyarrow,
    "pyarrow, dictionary": lambda rows, value: _pyarrow(rows, value).set_column(
        1, "doc_id", pa.array([row[1] for row in rows], pa.string()).dictionary_encode()
    ),
}
"""How qrels and runs can be given."""
