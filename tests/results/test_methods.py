"""What a methods paragraph says is what was done: each sentence and no other, by random calls."""

import hashlib
import json
import random
import re
import shlex
import shutil
import subprocess
from itertools import product
from pathlib import Path

import pytest
from commands import run_cli, run_main
from drawn_measures import DRAWN, drawn_measure
from effort import THOROUGH, effort

import permed_measures as pm
from permed_measures.errors import InputError
from permed_measures.measures.descriptions import ranking_conventions
from permed_measures.measures.specs import with_rel
from permed_measures.results.methods import measure_methods
from permed_measures.results.prose import PROSE_FORMATS, references

FOLDER = Path(__file__).parents[2]
CONVERSATIONS, TURNS = 8, 3
RUNS = ("one", "two_x", "three")
CLUSTERS = {"c([0-9])_": 8, "_t([0-9])": 3}


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Write qrels, people's labels of half of the queries, and three runs, of which one lacks a query."""
    monkeypatch.chdir(tmp_path)
    draw = random.Random(57)
    queries = [f"c{c}_t{t}" for c, t in product(range(CONVERSATIONS), range(TURNS))]
    labels = [(q, f"d{i}", draw.choice([-1, 0, 1, 1, 2])) for q in queries for i in range(5)]
    lines = [f"{q} 0 {d} {grade}\n" for q, d, grade in labels]
    (tmp_path / "qrels.txt").write_text("".join(lines))
    people = [f"{q} 0 {d} {max(grade + draw.choice([0, 0, 1]), 0) % 3}\n" for q, d, grade in labels[:60]]
    (tmp_path / "people.txt").write_text("".join(people))
    for name in RUNS:
        rows = []
        for query in queries[name == "three" :]:
            documents = draw.sample([f"d{i}" for i in range(8)], 6)
            scores = sorted((draw.randint(1, 9) for _ in documents), reverse=True)
            rows += [
                f"{query} Q0 {d} {i} {s} t\n"
                for i, (d, s) in enumerate(zip(documents, scores, strict=True), 1)
            ]
        (tmp_path / name).write_text("".join(rows))
    return tmp_path


# --- calls -----------------------------------------------------------------------------------------------


def _sometimes(draw, options):
    """Draw some of the options; of each one of its values."""
    return {name: draw.choice(values) for name, values in options.items() if draw.random() < 0.4}


READING = {"--order": ["score", "list"], "--query-ids": ["s/^c/c/"]}
CLEANING = {"--duplicates": ["best", "first"], "--max-passage": ["#"], "--ignore-self": [True]}
SEEDED = {"--seed": [0, 7, 12], "--level": [0.9, 0.99]}
OPTIONS = {
    "evaluate": READING | CLEANING | {"--no-judged": [True]},
    "compare": {
        **(READING | CLEANING | SEEDED | {"--no-judged": [True], "--clusters": ["c([0-9])_", "none"]}),
        "--baseline": RUNS,
        "--by": ["_t([0-9])"],
        "--correction": ["max-t", "holm", "bonferroni", "benjamini-hochberg", "none"],
        "--equivalence-margin": [0.02, 0.1],
        "--detect": [0.05, 0.1],
        "--human": ["people.txt"],
    },
    "reranking": READING | {"--rel": [2], "--judged-only": [True], "--rbo-p": [0.8]},
    "uncertainty": {
        **(READING | SEEDED | {"--clusters": ["c([0-9])_", "none"]}),
        "--label-error": [0.1, 0.25],
        "--human": ["people.txt"],
    },
}


ALWAYS_GIVEN = {"compare": {"--resamples": [200, 300]}, "uncertainty": {"--draws": [5, 11]}}
"""What would take long by default."""


class Call:
    """A random call of a command, and what it wrote."""

    def __init__(self, draw, command, folder):
        self.command, self.given = command, _sometimes(draw, OPTIONS[command])
        names = draw.sample(sorted(DRAWN), 1 if command == "reranking" else draw.randint(1, 3))
        self.measures = list(dict.fromkeys(drawn_measure(draw, name) for name in names))
        self.runs = RUNS[: 2 if command == "reranking" else 3]
        self.tests = ()
        if command == "compare":
            self.tests = tuple(draw.sample(["randomization", "t-test", "wilcoxon"], draw.randint(0, 3)))
            if self.given.get("--correction") == "max-t" and "randomization" not in (
                self.tests or ["randomization"]
            ):
                self.tests = (*self.tests, "randomization")
        self.given |= {name: draw.choice(values) for name, values in ALWAYS_GIVEN.get(command, {}).items()}
        self.measures = [pm.parse_measure(str(measure)) for measure in self.measures]  # without defaults
        self.measures = [with_rel(measure, self.given.get("--rel")) for measure in self.measures]
        if command == "evaluate":
            groups = [
                {},
                {},
                {"--by-query": True},
                {"--by": "_t([0-9])"},
                {"--by": "_t([0-9])", "--macro": True},
            ]
            self.given |= draw.choice(groups)
        if "--human" in self.given:
            self.given.pop("--label-error", None)
        words = [*(f"-m{measure}" for measure in self.measures), *(f"--tests={name}" for name in self.tests)]
        words += [name if value is True else f"{name}={value}" for name, value in self.given.items()]
        self.line = [command, "qrels.txt", *(f"{name}={name}" for name in self.runs), *words]
        self.paragraphs = sentences_of(run_cli(*self.line, "--methods", "latex")[0])
        words = [word for word in self.line if word != "--no-judged"]  # which JSON always has
        self.json = json.loads(run_cli(*words, "--format", "json")[0])
        self.tests = self.tests or ("randomization",) * (command == "compare")
        self.folder = folder

    def get(self, name, default=None):
        return self.given.get(name, default)

    @property
    def n_clusters(self):
        """Return the number of clusters of queries, if there are any."""
        return CLUSTERS.get(self.get("--clusters"))

    @property
    def units(self):
        return "clusters" if self.n_clusters else "queries"

    def rows(self):
        """Return the rows of a comparison, those of groups first."""
        groups = [row for group in self.json["groups"] for row in group["rows"]]
        return groups, self.json["rows"]

    @property
    def correction(self):
        return self.get("--correction", "max-t" if "randomization" in self.tests else "holm")

    def sizes(self, name, noun="p-value", word="over"):
        """Say how many p-values of a test are adjusted together."""
        groups, whole = ([row["tests"][name]["p"] is not None for row in rows] for rows in self.rows())
        said = [(sum(groups), " of all groups")] if groups else []
        said += [(sum(whole), " of all queries" if groups else "")]
        texts = [f"{n} {noun}{'s' * (n != 1)}{of}" for n, of in said if n]
        return f", and {word} ".join(texts) or "no p-value"


def sentences_of(latex):
    """Return the sentences of each paragraph, formulas between dollar signs."""
    found = {}
    for heading, body in re.findall(r"\\paragraph\{(\w+)\.\}\n(.*?)(?=\n\\paragraph|\Z)", latex, re.DOTALL):
        body = re.sub(r"\n\\\[ (.*?)([.,]?) \\\]\n(?=where)", r" $$\1$$\2 ", body.strip())
        body = re.sub(r"\n\\\[ (.*?)([.,]?) \\\](?=\n|$)", r" $$\1$$\2", body)
        found[heading] = body.splitlines()
    return found


# --- what must be said -----------------------------------------------------------------------------------


def texttt(name):
    return rf"\texttt{{{name.replace('_', chr(92) + '_')}}}"


def number(value):
    return f"{value:g}"


def hashed(name):
    return lambda call: (
        texttt(name),
        hashlib.sha256((call.folder / name).read_bytes()).hexdigest()[:16],
    )


def listed(names):
    *first, last = names
    return " and ".join([*([", ".join(first)] if first else []), last])


FILE = r"the file (\S+), whose SHA-256 hash begins with \\texttt\{([0-9a-f]+)\}"
NAMES = {
    **{"randomization": "the randomization test", "t-test": "the t-test", "wilcoxon": "Wilcoxon's test"},
    **{"non-inferiority": "the test of non-inferiority", "non-superiority": "the test of non-superiority"},
    "equivalence": "the test of equivalence",
}
CORRECTIONS = {
    "max-t": r"the step-down max-T procedure~\cite{westfall1993resampling,boytsov2013deciding}",
    "holm": r"Holm's procedure~\cite{holm1979simple}",
    "bonferroni": "Bonferroni's correction",
    "benjamini-hochberg": r"the procedure of Benjamini and Hochberg~\cite{benjamini1995controlling}",
}


def is_compare(call):
    return call.command == "compare"


def with_test(name):
    return lambda call: is_compare(call) and name in call.tests


def _order_of(call, name):
    return "also tested" if call.tests.index(name) else "tested"


def naive(call):
    return with_test("wilcoxon")(call) and call.n_clusters is not None


def corrected(call):
    """Return the corrections with tests and sizes, as sentences have them."""
    if not is_compare(call) or call.correction == "none":
        return []
    names = [*call.tests, *([*NAMES][3:] if call.get("--equivalence-margin") else [])]
    groups = {}
    for name in names:
        if name == "wilcoxon" and call.n_clusters:
            continue
        own = "holm" if call.correction == "max-t" and name != "randomization" else call.correction
        groups.setdefault((own, call.sizes(name)), []).append(NAMES[name])
    by = sorted(groups.items(), key=lambda each: [key[0] for key in groups].index(each[0][0]))
    return [(listed(tests), CORRECTIONS[own], size) for (own, size), tests in by]


def deciding(call):
    names = [name for name in NAMES if name in call.tests and not (name == "wilcoxon" and call.n_clusters)]
    return names[0] if names else None


def verdict(call):
    if not is_compare(call) or not deciding(call):
        return None
    more = len(call.tests) + 3 * bool(call.get("--equivalence-margin")) > 1
    return ("adjusted " * (call.correction != "none"), f" of {NAMES[deciding(call)]}" if more else "")


def differences(call):
    """Return what is said of the intervals of differences, where there are any."""
    if not is_compare(call) or not any(row["interval"] for rows in call.rows() for row in rows):
        return None
    error = r"its cluster-robust standard error~\cite{cameron2015practitioner}"
    error = error if call.n_clusters else "its standard error"
    quantile = "Student's quantile, for each by itself"
    if call.correction == "max-t":
        sizes = call.sizes("randomization", "difference", "for")
        quantile = f"the quantile of max-T, which makes the intervals simultaneous for {sizes}"
    return number(100 * call.get("--level", 0.95)), error, quantile


def topics(call):
    """Return what is said of the intervals of means; proportions are told by the values of the queries."""
    if call.command != "uncertainty" or not any(row["interval"] for row in call.json["rows"]):
        return None
    values = {}
    for run in RUNS:
        for each in pm.iter_calc(call.measures, "qrels.txt", run_of(call, run)):
            values.setdefault((run, str(each.measure)), set()).add(each.value)
    shares = {row["measure"] for row in call.json["rows"]} - {"NumQ", "NumRet", "NumRel"}
    shares -= {name for name in shares if name.startswith(("NumRet", "NumRel", "NumQ"))}
    kinds = set()
    for row in call.json["rows"]:
        if row["interval"]:
            binary = values[row["run"], row["measure"]] <= {0.0, 1.0} and may_be_proportion(row["measure"])
            kinds.add(binary)
    clustered = bool(call.n_clusters)
    student = "Student's, cut to what the measure can be"
    student += r", with cluster-robust standard errors~\cite{cameron2015practitioner}" * clustered
    proportion = r"that of Clopper and Pearson~\cite{clopper1934use}"
    proportion += r" on the effective sample size of Korn and Graubard~\cite{korn1998confidence}" * clustered
    said = [text for kind, text in ((False, student), (True, proportion)) if kind in kinds]
    return number(100 * call.get("--level", 0.95)), ", and where all values are 0 or 1 ".join(said)


def run_of(call, run):
    """Return a run as the options read it."""
    rows = [line.split() for line in (call.folder / run).read_text().splitlines()]
    by_list = call.get("--order") == "list"
    found = {}
    for query, _, document, rank, score, _ in rows:
        found.setdefault(query, {})[document] = -float(rank) if by_list else float(score)
    return found


def may_be_proportion(measure):
    """Return whether a measure lies between 0 and 1 by its definition."""
    unbounded = measure.startswith(("Num", "GradedAP(")) and ("norm='none'" in measure or "gains" in measure)
    return not (unbounded or measure.startswith("Num") or "negative='keep'" in measure)


def inexact(name, what):
    def ending(call):
        partly = not all(row["exact"].get(name, True) for row in call.json["rows"])
        return (f"; of some measures only some {what} were tried" if partly else "",)

    return ending


def in_people(call):
    """Return the rows that are corrected by people's labels."""
    if "--human" not in call.given:
        return []
    return [
        row["people"] for row in call.json["rows"] if row["people"] and row["people"]["value"] is not None
    ]


def kinds_of_intervals(call):
    """Return the kinds of the intervals by people's labels, as the paragraph names them."""
    rows = [row for row in in_people(call) if row["interval"]]
    binary = {row["binary"] for row in rows}
    where = ", where all values are 0 or of one size" if len(binary) == 2 else ""
    return "; ".join(
        [
            *["Student's t with two degrees of freedom fewer than the sample has units"] * (False in binary),
            *[rf"the adjusted Wald interval of proportions~\cite{{bonett2012adjusted}}{where}"]
            * (True in binary),
            *["the variance has the correction for a finite population"]
            * any(row["sampled"] < row["units"] for row in rows),
        ]
    )


def together(call):
    n = len(call.json["rows"])
    if not is_compare(call) or call.correction == "none" or n == 1:
        return ""
    return f", simultaneous for {n} differences by Bonferroni's correction"


def values_are(call):
    return "differences" if is_compare(call) else "means"


def always(_):
    return True


def just(*groups):
    """Return what gives the same groups of a pattern for each call."""
    return lambda _: groups


ROWS = [
    (rf"The relevance judgments \(qrels\) are those of {FILE}\.", always, hashed("qrels.txt")),
    (rf"People's labels are those of {FILE}\.", lambda call: "--human" in call.given, hashed("people.txt")),
    (r"The qrels have (\d+) queries\.", always, just("24")),
    (r"The runs are (.*)\.", always, lambda call: (listed(map(texttt, call.runs)),)),
    # measures
    (
        r"The value of a run is the mean over the (\d+) queries of the qrels(.*)\.",
        lambda call: not call.get("--by-query"),
        lambda call: ("24", summed(call)),
    ),
    (r"The values are those of each query\.", lambda call: call.get("--by-query"), just()),
    (
        r"The macro average is the mean over the values of the (\d) groups of queries by (\S+), each "
        r"counting once\.",
        lambda call: call.get("--macro"),
        just("3", texttt("_t({[}0-9{]})")),
    ),
    (
        r"The values are also given for each of the (\d) groups of queries by (\S+)\.",
        lambda call: call.command == "evaluate" and call.get("--by") and not call.get("--macro"),
        just("3", texttt("_t({[}0-9{]})")),
    ),
    (
        r"The best possible value is that of an ideal ranking of each query\.",
        lambda call: call.command == "evaluate" and not call.get("--by-query") and any_ceiling(call),
        just(),
    ),
    (
        r"The same is computed for each of the (\d) groups of queries by (\S+)\.",
        lambda call: is_compare(call) and call.get("--by"),
        just("3", texttt("_t({[}0-9{]})")),
    ),
    (
        r"Judged@k is the share of the first \$k\$ documents that have a label, over the queries for "
        r"which a run "
        r"retrieves something\.",
        lambda call: (
            is_compare(call) and not call.get("--no-judged") and any(call.json["judged"]["one"].values())
        ),
        just(),
    ),
    (
        r"Judged@k is the share of the documents retrieved, down to the cutoff, that have a label, over "
        r"the queries "
        r"for which a run retrieves something\.",
        lambda call: call.command == "uncertainty",
        just(),
    ),
    # comparisons
    (
        r"Each run is compared with (\S+) on each measure, query by query\.",
        lambda call: is_compare(call) and call.get("--baseline"),
        lambda call: (texttt(call.get("--baseline")),),
    ),
    (
        r"Each pair of runs is compared on each measure, query by query\.",
        lambda call: is_compare(call) and not call.get("--baseline"),
        just(),
    ),
    (
        r"Queries are taken as independent\.",
        lambda call: call.command in ("compare", "uncertainty") and not call.n_clusters,
        just(),
    ),
    (
        r"Queries of one cluster are not taken as independent; there are (\d+) clusters, by (\S+)\.",
        lambda call: call.n_clusters,
        lambda call: (
            str(call.n_clusters),
            texttt(call.get("--clusters").replace("[", "{[}").replace("]", "{]}")),
        ),
    ),
    (
        r"Differences are ((?:also )?tested) by a two-sided paired randomization "
        r"test~\\cite\{smucker2007comparison\} "
        r"that changes the signs of the differences of (.*), with the statistic \$T = .*\$ of the (summed )?"
        r"differences \$d_c\$ of the (\w+)\.",
        with_test("randomization"),
        lambda call: (
            _order_of(call, "randomization"),
            "all queries of a cluster together" if call.n_clusters else "each query",
            "summed " if call.n_clusters else None,
            call.units,
        ),
    ),
    (
        r"All (\d+) patterns of signs are used, so that its p-values are exact\.",
        lambda call: with_test("randomization")(call) and exhaustive(call),
        just("256"),
    ),
    (
        r"It uses ([0-9,]+) random patterns of signs \(seed (\d+)\), and its p-value is \$\(1 \+ m\) / "
        r"\(1 \+ (\d+)\)\$ "
        r"where \$m\$ patterns give a \$T\$ that is at least as large~\\cite\{phipson2010permutation\}\.",
        lambda call: with_test("randomization")(call) and not exhaustive(call),
        lambda call: (f"{resamples(call):,}", str(call.get("--seed", 0)), str(resamples(call))),
    ),
    (
        r"Differences are ((?:also )?tested) by a two-sided (paired t-test|cluster-robust "
        r"t-test~\\cite\{cameron2015"
        r"practitioner\})(?:, with (\d+) degrees of freedom)?\.",
        with_test("t-test"),
        lambda call: (
            _order_of(call, "t-test"),
            r"cluster-robust t-test~\cite{cameron2015practitioner}" if call.n_clusters else "paired t-test",
            None if call.get("--by") else str((call.n_clusters or 24) - 1),
        ),
    ),
    (
        r"Differences are ((?:also )?tested) by Wilcoxon's two-sided signed-rank "
        r"test~\\cite\{wilcoxon1945individual\}, "
        r"without the queries on which runs are equal; its p-values are (.*)\.",
        with_test("wilcoxon"),
        lambda call: (_order_of(call, "wilcoxon"), r"exact~\cite{streitberg1986exact}"),
    ),
    (
        r"It takes the queries of a cluster as independent, and decides nothing here\.",
        naive,
        just(),
    ),
    (
        r"Whether a difference is within \$\\pm (\S+)\$ is tested by two one-sided t-tests~"
        r"\\cite\{schuirmann1987comparison\}\.",
        lambda call: call.get("--equivalence-margin"),
        lambda call: (number(call.get("--equivalence-margin")),),
    ),
    (
        r"P-values are not adjusted for the number of tests\.",
        lambda call: is_compare(call) and call.correction == "none",
        just(),
    ),
    (
        r"A difference is significant where the (adjusted )?p-value( of .*)? is below 0\.05\.",
        verdict,
        lambda call: tuple(each or None for each in verdict(call)),
    ),
    (
        r"The (\S+)\\% confidence interval of a difference is the difference plus and minus (.*) times "
        r"(.*), cut to "
        r"what a difference can be\.",
        differences,
        differences,
    ),
    (
        r"The effect size is Cohen's \$d_z\$~\\cite\{cohen1988statistical\}, the mean difference over "
        r"the standard "
        r"deviation of the differences of the queries\.",
        lambda call: (
            is_compare(call) and any(r["effect_size"] is not None for rows in call.rows() for r in rows)
        ),
        just(),
    ),
    (
        r"Two values of a query are equal if they differ by at most \$10\^\{-12\}\$\.",
        is_compare,
        just(),
    ),
    (
        r"The number of (\w+) needed for a difference of \$(\S+)\$ is that of one two-sided t-test at "
        r"\$(\S+)\$ with a "
        r"power of 0\.8~\\cite\{cohen1988statistical,sakai2016topic\}\.",
        lambda call: call.get("--detect"),
        lambda call: (call.units, number(call.get("--detect")), number(1 - call.get("--level", 0.95))),
    ),
    # people's labels
    (
        r"The agreement of the qrels with people's labels is Cohen's kappa, also with quadratic weights, and "
        r"Krippendorff's alpha for ordinal grades\.",
        lambda call: "--human" in call.given,
        just(),
    ),
    (
        r"The (\w+) are corrected by people's labels with prediction-powered inference~"
        r"\\cite\{angelopoulos2023prediction,angelopoulos2023ppi\}, which takes these as labels of a "
        r"simple random "
        r"sample of the (.*)\.",
        in_people,
        lambda call: (values_are(call), "queries"),
    ),
    (
        r"The corrected (\w+) have (\S+)\\% confidence intervals(.*): (.*)\.",
        lambda call: any(each["interval"] for each in in_people(call)),
        lambda call: (
            *(values_are(call), number(100 * call.get("--level", 0.95)), together(call)),
            kinds_of_intervals(call),
        ),
    ),
    (
        r"The orders of the runs by both sets of labels are compared by Kendall's \$\\tau_b\$ and by "
        r"\$\\tau_\{AP\}\$~"
        r"\\cite\{yilmaz2008new\}, on the (\d+) queries of which people judged all documents\.",
        lambda call: is_compare(call) and "--human" in call.given and call.json["orders"]["measures"],
        just("12"),
    ),
    # rerankings
    (
        r"The reranked run (\S+) is compared with (\S+)\.",
        lambda call: call.command == "reranking",
        just(texttt("two_x"), texttt("one")),
    ),
    (
        r"A query gains or loses if its value changes by more than \$10\^\{-12\}\$\.",
        lambda call: call.command == "reranking",
        just(),
    ),
    (
        r"The rankings agree by their extrapolated rank-biased overlap~\\cite\{webber2010similarity\} with "
        r"\$p = (\S+)\$, averaged over the queries for which a run retrieves something\.",
        lambda call: call.command == "reranking",
        lambda call: (number(call.get("--rbo-p", 0.9)),),
    ),
    (
        r"The moves are those of documents of grade (\S+) and above\.",
        lambda call: call.command == "reranking",
        lambda call: (number(call.get("--rel", 1)),),
    ),
    (
        r"Pairs are of two documents of a query with different grades that both runs retrieve; (.*), and "
        r"a pair is "
        r"right if the higher grade has the better rank\.",
        lambda call: call.command == "reranking",
        lambda call: (
            "only judged documents count"
            if call.get("--judged-only")
            else "an unjudged document has grade 0",
        ),
    ),
    (
        r"P-imp@(\d+) is the share of pairs that the reranking puts right, of the pairs whose documents "
        r"both runs have "
        r"within the first (\d+) ranks?\.",
        lambda call: call.command == "reranking" and call.json["p_imp"]["share"] is not None and cutoff(call),
        lambda call: (cutoff(call),) * 2,
    ),
    # uncertainty
    (
        r"The (\S+)\\% confidence interval for other topics is (.*)\.",
        topics,
        topics,
    ),
    (
        r"The range by ties is the least and the most over the orders of documents with equal scores(.*)\.",
        lambda call: call.command == "uncertainty",
        inexact("ties", "orders"),
    ),
    (
        r"The range by unjudged documents is the least and the most over their gradings by 0, 1, 2(.*)\.",
        lambda call: call.command == "uncertainty" and any(row["unjudged"] for row in call.json["rows"]),
        inexact("unjudged", "gradings"),
    ),
    (
        r"For the range by wrong labels, each label is another with probability (\S+), moved to a "
        r"neighbouring grade: "
        r"it is the middle (\S+)\\% of the means in ([0-9,]+) draws of all labels \(seed (\d+)\)\.",
        lambda call: "--label-error" in call.given,
        lambda call: (
            number(call.get("--label-error")),
            number(100 * call.get("--level", 0.95)),
            str(call.get("--draws")),
            str(call.get("--seed", 0)),
        ),
    ),
]
"""Sentences that may be said: their pattern, whether a call must have one, and what its groups must be."""


def exhaustive(call):
    return call.n_clusters == 8 and resamples(call) >= 256


def resamples(call):
    return call.get("--resamples")


def cutoff(call):
    [measure] = call.measures
    return str(measure).rpartition("@")[2] if "@" in str(measure) and "IPrec" not in str(measure) else None


def summed(call):
    names = [texttt(str(measure)) for measure in call.measures if str(measure).startswith("Num")]
    is_said = names and call.command == "evaluate"
    return f"; {listed(names)} {'is' if len(names) == 1 else 'are'} summed" if is_said else ""


def any_ceiling(call):
    return bool(call.json[0]["ceilings"])


ESCAPES = {
    **{character: f"\\{character}" for character in "{}_#"},
    **{"[": "{[}", "]": "{]}", "^": r"\textasciicircum{}"},
}


def escaped(text):
    return "".join(ESCAPES.get(character, character) for character in text)


# --- tests -----------------------------------------------------------------------------------------------


def test_each_sentence_is_of_what_was_done_and_all_of_it_is_said(files):
    said = set()
    for command in OPTIONS:
        draw = random.Random(command)
        for _ in range(effort(1, 40)):
            said |= check(Call(draw, command, files))
    if THOROUGH:  # no pattern is there that no call has
        assert said == {pattern for pattern, _, _ in ROWS}


def check(call):
    """Compare each sentence of a call with what the call was; return the patterns that it has."""
    line, found = shlex.join(call.line), {key: [*value] for key, value in call.paragraphs.items()}
    shown = [pm.parse_measure(name) for name in columns(call)]
    defined = sentences_of(measure_methods(shown).to("latex"))["Measures"]
    for sentence in defined:
        assert found["Measures"].count(sentence) == 1, (line, sentence)
        found["Measures"].remove(sentence)
    options = {name.removeprefix("--"): value for name, value in call.given.items()}
    for convention in map(escaped, ranking_conventions(shown, options)):
        assert found["Data"].count(convention) == 1, (line, convention, found["Data"])
        found["Data"].remove(convention)
    [software] = found.pop("Software")
    packages = {*re.findall(r"(\w[\w-]*) [0-9][0-9.]*[0-9]", software)}
    with_scipy = {"scipy"} if call.command in ("compare", "uncertainty") else set()
    assert packages == {"permed-measures", "ir-measures", "numpy", "polars", "Python", *with_scipy}, line
    sentences = [sentence for each in found.values() for sentence in each]
    expected = [("The p-values of {} are adjusted by {} over {}.".format(*each)) for each in corrected(call)]
    adjusted = [each for each in sentences if re.match("The p-values of .* are adjusted", each)]
    assert adjusted == expected, line
    sentences = [each for each in sentences if each not in adjusted]
    said = set()
    for pattern, must, groups in ROWS:
        matches = [match for each in sentences if (match := re.fullmatch(pattern, each))]
        wanted = [groups(call)] if must(call) else []
        assert [match.groups() for match in matches] == wanted, (line, pattern)
        for match in matches:
            sentences.remove(match[0])
            said.add(pattern)
    assert sentences == [], line
    return said


def columns(call):
    """Return the measures that a table of the call has."""
    names = [str(measure) for measure in call.measures]
    if call.command != "evaluate" or call.get("--no-judged"):
        return names
    means = [each["judged"] for each in call.json]
    partly = [name for name in means[0] if name not in names and any(each[name] < 1 for each in means)]
    return [*names, *sorted(partly, key=lambda name: int(name.partition("@")[2] or 10**9))]


# --- where it goes ---------------------------------------------------------------------------------------

EVALUATE = ("evaluate", "qrels.txt", "one", "two_x", "-mAP@3")


def test_a_latex_table_has_its_methods_and_their_references_beside_it(files):
    _, out, err = run_main(*EVALUATE, "--output", "table.tex")
    assert (out, err) == (
        "",
        "table.tex: latex of 2 runs\ntable.methods.tex: methods, for a paper\n"
        "table.methods.bib: the works that these cite\n",
    )
    latex, bib = ((files / f"table.methods.{ending}").read_text() for ending in ("tex", "bib"))
    assert (latex, bib) == tuple(run_cli(*EVALUATE, "--methods", form)[0] for form in ("latex", "bibtex"))
    result = pm.evaluate("qrels.txt", {"one": "one", "two_x": "two_x"}, "AP@3")
    assert (result.methods("latex"), result.methods("bibtex")) == (latex, bib)
    assert cited_keys(latex) == set(re.findall(r"^@\w+\{(\w+),", bib, re.MULTILINE))


@pytest.mark.parametrize("output", ["table.md", "table.csv", "table.html", "/dev/stdout"])
def test_other_outputs_have_none(output, files):
    form = [] if output.startswith("table") else ["--format", "latex"]
    _, out, err = run_main(*EVALUATE, "--output", output, *form)
    assert "methods" not in out + err
    assert not [*files.glob("*.methods.*")]


def test_methods_are_printed_in_place_of_the_table_which_may_go_to_a_file(files):
    printed, _ = run_cli(*EVALUATE, "--methods", "markdown")
    assert printed.startswith("**Data.** The relevance judgments")
    again, said = run_cli(*EVALUATE, "--methods", "markdown", "--output", "table.csv")
    assert (again, said) == (printed, "table.csv: csv of 2 runs\n")
    assert (files / "table.csv").read_text().startswith("run,")
    assert run_cli(*EVALUATE, "--methods")[0] == run_cli(*EVALUATE, "--methods=text")[0]
    status, out, err = run_main(*EVALUATE, "--methods", "--format", "csv")
    assert (status, out) == (2, "")
    assert "--methods prints methods in place of a table" in err
    table, _ = run_cli(*EVALUATE, "--format", "csv", "--output", "other.csv", "--methods")  # as the hint says
    assert table.startswith("Data. ")


@pytest.mark.thorough
def test_a_figure_may_have_its_methods_printed(files):
    pytest.importorskip("matplotlib")
    for command in (EVALUATE, ("compare", *EVALUATE[1:])):
        printed, _ = run_cli(*command, "--output", "means.svg", "--methods")
        assert printed == run_cli(*command, "--methods")[0]
    assert (files / "means.svg").exists()


def test_no_file_that_is_read_or_recorded_is_overwritten(files):
    (files / "t.methods.bib").write_text((files / "qrels.txt").read_text())
    for line in (
        ("evaluate", "t.methods.bib", "one", "-mAP", "--output", "t.tex"),
        (*EVALUATE, "--output", "r.tex", "--record", "r.methods.tex"),
    ):
        status, _, err = run_main(*line)
        assert (status, "would overwrite" in err) == (2, True)


@pytest.mark.usefixtures("files")
def test_an_unknown_form_of_methods_is_refused():
    with pytest.raises(InputError, match="form must be one of text, markdown, latex, bibtex"):
        pm.evaluate("qrels.txt", {"one": "one"}, "AP").methods("html")


def test_several_collections_have_the_methods_of_each(files):
    """Each sentence on the data names one collection, with its hash and its queries."""
    (files / "b.txt").write_text("".join((files / "qrels.txt").read_text().splitlines(True)[:25]))
    for name in ("a", "b"):
        (files / f"{name}.trec").write_text((files / "one").read_text())
    shutil.copy(pm.datasets.SAMPLES[0].runs["bm25"], files / "sample.trec")
    (files / "all.toml").write_text(
        COLLECTIONS.format('a = "qrels.txt"\nb = "b.txt"\nsample = "permed-sample"')
    )
    (files / "one.toml").write_text(COLLECTIONS.format('a = "qrels.txt"'))
    digest_a, digest_b = (
        hashlib.sha256((files / n).read_bytes()).hexdigest()[:16] for n in ("qrels.txt", "b.txt")
    )
    text = " ".join(run_cli("evaluate", "all.toml", "-mAP", "-mNumRel(rel=1)", "--methods")[0].split())
    run_cli("evaluate", "all.toml", "-mAP", "--output", "all.tex")
    qrels = "The relevance judgments (qrels) of"
    for said in (
        f"{qrels} a are those of the file qrels.txt, whose SHA-256 hash begins with {digest_a}.",
        f"{qrels} b are those of the file b.txt, whose SHA-256 hash begins with {digest_b}.",
        f"{qrels} sample are those of the data set permed-sample of ir_datasets",
        "The qrels of a have 24 queries, those of b 5, those of sample 48. The run is one.",
        "the mean over the queries of its qrels; NumRel is summed. The mean is that of the values on "
        "the 3 collections, each counting once.",
    ):
        assert said in text, (said, text)
    assert text.count("hash") == 3
    assert "toml" not in text
    written = (files / "all.methods.tex").read_text()
    assert r"\texttt{AP}" in written
    assert "{harman1992evaluation," in (files / "all.methods.bib").read_text()
    single = " ".join(run_cli("evaluate", "one.toml", "-mAP", "--methods")[0].split())
    assert "The qrels of a have 24 queries. The run is one." in single
    assert "counting once" not in single


COLLECTIONS = '[qrels]\n{}\n[runs]\none = "{{collection}}.trec"\n'


def test_a_measure_is_written_by_itself():
    latex, _ = run_cli("measures", "GradedAP(norm=min)@10", "R@5", "--format", "latex")
    assert r"$N = \min(R, k)$" in latex
    assert sentences_of(latex).keys() == {"Measures"}
    for line, said in (
        (["measures", "--format", "latex"], "found without a measure"),
        (["measures", "P", "--format", "text"], "P needs a cutoff. Write P@10"),
        (["measures", "RBP", "--format", "text"], "The nearest is RBP(rel=1)"),
        (["measures", "AP", "--format", "text", "--qrels", "permed-sample"], "found with --qrels"),
    ):
        status, out, err = run_main(*line)
        assert (status, out, said in err) == (2, "", True)
    assert run_cli("measures", "P@10", "RBP(rel=1)", "--format", "text")[0]


# --- what there is beside the options --------------------------------------------------------------------

QRELS = {f"q{i}": {"a": 1, "b": 2} for i in range(3)}


def test_in_python_only_what_has_a_name_is_named():
    run = {query: {"a": 1.0, "x": 0.5} for query in QRELS}
    clusters = {"q0": "x", "q1": "x", "q2": "y"}
    compared = pm.compare(QRELS, {"one": run, "two": {}}, "RR", clusters=clusters, resamples=9)
    text = " ".join(compared.methods("markdown").split())
    assert "judgments" not in text
    assert "there are 2 clusters. Differences" in text
    many = pm.evaluate(QRELS, {f"r{i}": run for i in range(11)}, {"MAP`": "AP"}).methods()
    many = " ".join(many.split())
    assert "There are 11 runs." in many
    assert "The measure is MAP` (AP). A document" in many
    assert "hash" not in many


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("runs", "said"),
    [
        (("one", "two_x"), "before (the file one) and after (the file two_x)"),
        (("first=one", "two_x=two_x"), "first (the file one) and two_x"),
        (("one=one", "two_x=two_x"), "one and two_x"),
    ],
)
def test_the_file_of_a_run_with_another_name_is_named(runs, said):
    text = run_cli("reranking", "qrels.txt", *runs, "-mRR", "--methods", "text")[0]
    assert f"The runs are {said}." in " ".join(text.split())


def test_a_data_set_is_named_with_its_hash():
    text = " ".join(pm.evaluate("permed-sample", {"bm25": "permed-sample/runs/bm25"}, "AP").methods().split())
    labels = pm.datasets.SAMPLES[0].qrels.read_bytes()
    digest = hashlib.sha256(labels).hexdigest()[:16]
    said = (
        "the data set permed-sample of ir_datasets (MacAvaney et al., 2021), whose labels have a SHA-256 hash"
    )
    assert f"{said} that begins with {digest}. The qrels have 48 queries. The run is bm25." in text


def test_wilcoxons_approximation_is_said_where_it_is_used():
    qrels = {f"q{i}": {"a": 1} for i in range(320)}
    runs = {"one": {q: {"a": 1.0} for q in qrels}, "two": {q: {"b": 2.0, "a": 1.0} for q in qrels}}
    text = " ".join(pm.compare(qrels, runs, "RR", tests="wilcoxon").methods().split())
    assert "its p-values are by the normal approximation." in text
    assert "Streitberg" not in text
    by = {query: int(query[1:]) < 310 for query in qrels}
    text = " ".join(pm.compare(qrels, runs, "RR", tests="wilcoxon", by=by).methods().split())
    assert (
        "exact (Streitberg and Röhmel, 1986) for up to 300 differences, and by the normal approximation"
        in text
    )


# --- formats ---------------------------------------------------------------------------------------------

ODD = "a`b$x$[@holm1979simple]\\c{_}%&~^|<i>\N{GREEK SMALL LETTER ALPHA}"


def odd():
    run = {query: {"a": 1.0} for query in QRELS}
    return pm.compare(QRELS, {ODD: run, "$$": {}, "`": {}}, {"[@x] $k$": "AP@3"}, baseline=ODD, by=by_odd)


def by_odd(query):
    return "x" if query == "q0" else "y"


def cited_keys(latex):
    return {key for keys in re.findall(r"\\cite\{(.*?)\}", latex) for key in keys.split(",")}


def test_names_mean_nothing_in_any_format():
    result = odd()
    latex = result.methods("latex")
    assert r"\texttt{a\textasciigrave{}b\$x\${[}@holm1979simple{]}\textbackslash{}c\{\_\}\%" in latex
    assert r"\texttt{\$\$}" in latex
    bare = re.sub(r"\\[{}]", "", latex)
    assert bare.count("{") == bare.count("}")
    assert "% compile it with XeLaTeX" in latex
    assert ODD in " ".join(result.methods().split())
    assert f"``{ODD}``" in result.methods("markdown")
    assert "`` ` ``" in result.methods("markdown")
    keys = set(re.findall(r"@\w+\{(\w+),", result.methods("bibtex")))
    assert cited_keys(latex) == keys


@pytest.mark.parametrize("form", PROSE_FORMATS)
def test_each_format_ends_with_a_line(form):
    text = pm.evaluate(QRELS, {"one": QRELS}, "AP@3").methods(form)
    assert text.endswith("\n")
    assert not text.endswith("\n\n")


def test_each_work_is_cited_somewhere_and_known():
    sources = [path.read_text() for path in (FOLDER / "permed_measures").rglob("*.py")]
    known = set(references())
    cited = {key for text in sources for key in re.findall("@([a-z]+[0-9]{4}[a-z]*)", text)}
    written = {key for key in known for text in sources if f'"{key}"' in text}
    assert cited <= known
    assert known <= cited | written


@pytest.mark.parametrize("key", references())
def test_a_reference_is_whole(key):
    work = references()[key]
    assert {"type", "author", "title", "year"} <= set(work)
    place = {
        "article": "journal",
        "inproceedings": "booktitle",
        "incollection": "booktitle",
        "book": "publisher",
    }
    assert place.get(work["type"], "howpublished") in work
    assert str(work["year"]) in key
    assert all("," in name for name in work["author"])


DOCUMENT = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage{amsmath, booktabs, adjustbox}
\begin{document}
%s
\bibliographystyle{plain}
\bibliography{%s}
\end{document}
"""


@pytest.mark.thorough
@pytest.mark.skipif(
    not (shutil.which("pdflatex") and shutil.which("bibtex")), reason="LaTeX is not installed"
)
def test_latex_typesets_it(files):
    """Each kind of measure, the commands with their tables, and names with all that means something."""
    draw = random.Random(1)
    compared = pm.compare("qrels.txt", {name: name for name in RUNS}, "AP@3", human="people.txt")
    measures = measure_methods([drawn_measure(draw, name) for name in DRAWN for _ in range(3)])
    letters = {"\N{GREEK SMALL LETTER ALPHA}": "a"}  # the document is for pdfLaTeX
    texts = [measures.to("latex"), compared.methods("latex"), odd().methods("latex")]
    (files / "texts.tex").write_text("".join(texts).translate(str.maketrans(letters)))
    inputs = ["texts.tex"]
    for command in ("compare", "uncertainty", "evaluate"):
        run_cli(
            command, "permed-sample", "permed-sample/runs", "-mAP@3", "-mP@1", "--output", f"{command}.tex"
        )
        inputs += [f"{command}.methods.tex", command]
    written = [path.read_text() for path in files.glob("*.methods.bib")]
    bibs = [measures.to("bibtex"), compared.methods("bibtex"), odd().methods("bibtex"), *written]
    entries = {entry for bib in bibs for entry in bib.split("\n\n")}
    (files / "all.bib").write_text("\n\n".join(sorted(entry.strip() for entry in entries)))
    (files / "doc.tex").write_text(DOCUMENT % ("".join(rf"\input{{{name}}}" for name in inputs), "all"))
    tex = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "doc"]
    for words in (tex, ["bibtex", "doc"], tex, tex):
        done = subprocess.run(words, cwd=files, capture_output=True, text=True, errors="replace", check=False)
        assert (words, done.returncode) == (words, 0), done.stdout[-2000:]
        assert words[0] != "bibtex" or "Warning" not in done.stdout, done.stdout
    assert "undefined" not in (files / "doc.log").read_text(errors="replace")
