"""Measures with random parameters."""

import permed_measures as pm


def _maybe(draw, name, value):
    return {name: value} if draw.random() < 0.5 else {}


def _cutoff(draw, needed=False):
    return f"@{draw.randint(1, 6)}" if needed or draw.random() < 0.7 else ""


def _common(draw):
    return _maybe(draw, "rel", draw.choice([1, 2, 0.5, 3])) | _maybe(draw, "judged_only", draw.random() < 0.5)


def _gains(draw):
    return {grade: draw.choice([0, 0.5, 1, 2.25, 7]) for grade in (1, 2, 3)}


DRAWN = {
    "GradedAP": lambda d: (
        {"norm": d.choice(["num_rel", "min", "num_rel_ret", "gain", "ideal", "none"])}
        | (_common(d) | {"rel": d.choice([1, 2, 0.5])})
        | d.choice([{"max_rel": 3}, {"max_rel": 4.5}, {"gains": _gains(d)}]),
        _cutoff(d),
    ),
    "Coverage": lambda d: (_common(d), _cutoff(d)),
    "VariantNDCG": lambda d: (
        {
            "gain": d.choice(["exp", "linear"]),
            "discount": d.choice(["log2", "jk", "zipf"]),
            "ideal": d.choice(["qrels", "run", "cutoff"]),
            "negative": d.choice(["zero", "keep"]),
            **_maybe(d, "judged_only", True),
        },
        _cutoff(d),
    ),
    "GAP": lambda d: (
        d.choice([{}, {"max_rel": 1}, {"max_rel": 3}, {"max_rel": 5}, {"g": {1: 0.25, 3: 0.75}}]),
        _cutoff(d),
    ),
    "QMeasure": lambda d: (
        _maybe(d, "beta", d.choice([0, 0.5, 10])) | _maybe(d, "gains", _gains(d)),
        _cutoff(d),
    ),
    "F1": lambda d: (_common(d), _cutoff(d, needed=True)),
    "nDCG": lambda d: (
        d.choice([{"dcg": "exp-log2"}, {}, {"gains": {1: 3, 2: -1}}, {"gains": {0: 1, 2: 0.5, -1: 2}}])
        | _maybe(d, "judged_only", True),
        _cutoff(d),
    ),
    "ERR": lambda d: ({}, _cutoff(d)),
    "RBP": lambda d: ({"rel": d.choice([1, 2])} | _maybe(d, "p", d.choice([0.5, 0.95])), _cutoff(d)),
    "P": lambda d: (_common(d), _cutoff(d, needed=True)),
    "R": lambda d: (_common(d), _cutoff(d, needed=True)),
    "RR": lambda d: (_common(d), _cutoff(d)),
    "AP": lambda d: (_common(d), _cutoff(d)),
    "Success": lambda d: (_common(d), _cutoff(d, needed=True)),
    "Judged": lambda d: ({}, _cutoff(d)),
    "Rprec": lambda d: (_common(d), ""),
    "IPrec": lambda d: (_common(d), d.choice(["@0.5", "@0.0", "@1.0", "@0.3"])),
    "Bpref": lambda d: (_maybe(d, "rel", d.choice([1, 2])), ""),
    "infAP": lambda d: (_maybe(d, "rel", d.choice([1, 2])), ""),
    "SetP": lambda d: (_common(d) | _maybe(d, "relative", True), ""),
    "SetR": lambda d: (_maybe(d, "rel", 2), ""),
    "SetF": lambda d: (_common(d) | _maybe(d, "beta", d.choice([0.5, 2.0])), ""),
    "SetAP": lambda d: (_common(d), ""),
    "NumQ": lambda _: ({}, ""),
    "NumRet": lambda d: (_maybe(d, "rel", d.choice([1, 2])), ""),
    "NumRel": lambda d: (_maybe(d, "rel", d.choice([1, 2])), ""),
}
"""Parameters and a cutoff of each measure, drawn."""


def drawn_measure(draw, name):
    """Return a measure with random parameters."""
    given, at = DRAWN[name](draw)
    text = ",".join(f"{key}={value!r}" for key, value in given.items())
    return pm.parse_measure(f"{name}({text}){at}" if text else f"{name}{at}")
