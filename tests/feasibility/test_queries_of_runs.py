"""Conventions that leave out the queries a run lacks, and options that a measure has for itself."""

import json
import random
import re

import numpy as np
import pytest
from commands import run_cli
from effort import effort
from simulations.possible import printed_counts

import permed_measures as pm
from permed_measures.conventions.named import read_conventions
from permed_measures.conventions.ranking_variants import label_policies
from permed_measures.engine.judgments import Judgments
from permed_measures.feasibility.candidates import usual_conventions
from permed_measures.feasibility.rows import Conventions, RowBudget
from permed_measures.published_tables.claims import parse_claims

TEN = {f"q{i}": {"a": 1, "b": 1} for i in range(10)}
ONE_LARGE = {f"q{i}": {f"d{j}": 1 for j in range(4 if i == 0 else 1)} for i in range(10)}
"""One query with four relevant documents, nine with one."""
ALL, OF_RUN = "ir_measures", "trec_eval, pytrec_eval"
ONLY = "only if the run lacks queries"


def said_of(name, qrels, claims, conventions=None):
    """Return the JSON status of a named convention."""
    [row] = json.loads(pm.possible(qrels, claims, conventions=conventions).to("json"))["rows"]
    kinds = [kind for kind, names in row["named"].items() if name in names]
    kinds += ["lacks"] * (name in row["named_only_if_the_run_lacks_queries"])
    return kinds + ["left out"] * (name in row["named_left_out"])


@pytest.mark.parametrize(
    ("qrels", "claims", "of_all", "of_run"),
    [
        (TEN, {"P@1": "0.3333"}, ["refuted"], ["not_refuted", "lacks"]),  # of three queries, one with a hit
        (TEN, {"P@1": "0.3000"}, ["not_refuted"], ["not_refuted"]),
        (TEN, {"P@1": "0.0909"}, ["refuted"], ["refuted"]),  # of eleven
        (TEN, {"P@1": "0.3333", "hit@5": "0.5000"}, ["refuted"], ["not_refuted", "lacks"]),  # of six
        (TEN, {"P@1": "0.3333", "hit@5": "0.7500"}, ["refuted"], ["refuted"]),  # of twelve
        (ONE_LARGE, {"P@1": "0.75", "MAP@10": "0.56"}, ["refuted"], ["not_refuted", "lacks"]),
        (ONE_LARGE, {"P@1": "0.75", "MAP@10": "0.54"}, ["refuted"], ["refuted"]),
        (ONE_LARGE, {"nDCG@10": "0.99", "MAP@10": "0.10"}, ["refuted"], ["refuted"]),
        (ONE_LARGE, {"P@1": "0.75", "R@10": "0.75"}, ["refuted"], ["not_refuted", "lacks"]),
    ],
)
def test_a_mean_over_the_queries_of_a_run_is_refuted_only_if_no_queries_have_it(
    qrels, claims, of_all, of_run
):
    """With four queries, three of them with a hit at rank 1, AP is at least (1/4 + 1 + 1) / 4 = 0.5625."""
    assert said_of(ALL, qrels, claims) == of_all
    assert said_of(OF_RUN, qrels, claims) == of_run


def test_queries_without_a_relevant_document_are_left_out_of_the_means_of_a_run_too(tmp_path):
    file = tmp_path / "mine.toml"
    options = '{ queries = "both_with_relevant" }'
    file.write_text(f'[[convention]]\nname = "mine"\nsource = "notes"\noptions = {options}\n')
    qrels = {f"q{i}": {"a": int(i < 3)} for i in range(10)}
    for name, said in (
        *(("sentence-transformers", ["not_refuted"]), ("mine", ["not_refuted"])),
        *((ALL, ["refuted"]), (OF_RUN, ["not_refuted", "lacks"])),
    ):
        assert said_of(name, qrels, {"P@1": "0.6667"}, file) == said
    assert said_of("mine", qrels, {"P@1": "0.5000"}, file) == ["not_refuted", "lacks"]
    assert said_of("mine", qrels, {"P@1": "0.2500"}, file) == ["refuted"]
    assert said_of(OF_RUN, qrels, {"P@1": "0.2500"}, file) == ["not_refuted", "lacks"]


def test_the_best_means_of_some_queries_are_those_of_the_best_queries():
    [claims] = parse_claims([dict.fromkeys(("P@1", "MAP@3", "nDCG@3"), "0.5")])
    grades = [(1, 1, 1), (1, 1), (1, 1), (1,), (1, 1, 1, 1)]
    each_alone = [{"q": {f"d{j}": grade for j, grade in enumerate(each)}} for each in grades]
    together = {f"q{i}": qrels["q"] for i, qrels in enumerate(each_alone)}
    policies = [label_policies(Judgments.of(qrels)) for qrels in (together, *each_alone)]
    [convention] = usual_conventions(claims, policies[0][0])[:1]
    rankings, *of_each = (Conventions(each).group(convention, claims).rankings for each in policies)
    directions = np.random.default_rng(0).normal(size=(20, 3))
    sums = np.sort([each.best(directions)[0] for each in of_each], axis=0)[::-1]
    for n in range(1, 6):
        found, means = rankings.with_share(n / 5).best(directions)
        assert found == pytest.approx(sums[:n].mean(axis=0), abs=1e-12)
        assert (means * directions).sum(axis=1) == pytest.approx(found, abs=1e-12)


# --- what is said ---


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ten").write_text("".join(f"{q} 0 {d} 1\n" for q, docs in TEN.items() for d in docs))
    (tmp_path / "rows.md").write_text(
        "| run | P@1 |\n|---|---|\n| a | 0.3333 |\n| b | 0.3000 |\n| c | 0.0909 |\n"
    )


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("p", "status", "said", "lacking"),
    [
        ("0.3333", 0, f"Not refuted for 1 of 2 conventions, all of them {ONLY}.", True),
        ("0.3000", 0, "Not refuted for 2 of 2 conventions.", False),
        ("0.0909", 1, "Refuted for 2 of 2 conventions.", False),
    ],
)
def test_status_headline_json_and_csv_agree(p, status, said, lacking):
    text, _ = run_cli("possible", "ten", "--claim", f"P@1={p}", status=status)
    text = " ".join(text.split())
    assert said in text
    assert (f"Named conventions not refuted, {ONLY} (" in text) is lacking
    assert (ONLY in text) is lacking
    refuted = "A convention that is not refuted only if the run lacks queries is refuted for every run with"
    assert (refuted in text) is lacking
    content = json.loads(
        run_cli("possible", "ten", "--claim", f"P@1={p}", "--format", "json", status=status)[0]
    )
    [row] = content["rows"]
    assert (content["ok"], row["ok"]) == (status == 0, status == 0)
    assert (OF_RUN in row["named_only_if_the_run_lacks_queries"]) is lacking
    found = {
        each["queries"]: (each["convention_possible"], each["lacks_queries"]) for each in content["claims"]
    }
    assert found == {"qrels": (p == "0.3000", False), "both": (status == 0, lacking)}
    result = pm.possible("ten", {"P@1": p})
    assert result.ok is (status == 0)
    assert [each.shared["queries"] for each in result.rows[0].lacking] == ["both"] * lacking


def test_of_several_conventions_it_is_said_of_how_many():
    """Over all queries half of AP is possible and AP is not; over the large query and another, AP is too."""
    text = " ".join(str(pm.possible(ONE_LARGE, {"P@1": "0.50", "MAP@10": "0.22"})).split())
    n, of, n_lacking = map(
        int, re.search(rf"Not refuted for (\d+) of (\d+) conventions, (\d+) of them {ONLY}\.", text).groups()
    )
    assert 0 < n_lacking < n < of
    anyhow, lacking = re.findall(
        r"Named conventions not refuted(?:, only[a-z ]*)?(?: \(\d+ refuted\))?: (.*?)\. ", text
    )
    assert "PerMed standard" in anyhow
    assert lacking.startswith(OF_RUN)
    assert OF_RUN not in anyhow


@pytest.mark.usefixtures("files")
def test_a_table_says_it_of_each_row():
    text, _ = run_cli("possible", "ten", "--claims", "rows.md", status=1)
    assert f"2 of 3 rows not refuted for some convention, 1 of them {ONLY}." in text
    assert re.search(
        rf"\n *a .*not a multiple of 1/10 +{ONLY}, as {OF_RUN}; trec_eval 10; BEIR; .* 1 of 2\n", text
    )
    assert re.search(r"\n *b +— +P@1; as ir_measures; .* 2 of 2\n", text)
    assert re.search(r"\n *c .*not a multiple of 1/10 +— +0 of 2\n", text)
    assert "in any row" not in text
    text = " ".join(str(pm.possible("ten", {"a": {"P@1": "0.3333"}, "b": {"P@1": "0.3"}})).split())
    assert f"Named conventions not refuted in any row, in some {ONLY}: {OF_RUN}; trec_eval 10; BEIR; " in text
    assert "in any row:" not in text


# --- options of one measure ---

ONE_OF_THREE = {"q1": {"a": 1}, "q2": {"b": 0}, "q3": {"c": 0}}
GRADED = {f"q{i}": {"a": 2 if i else 1, "b": 1} for i in range(4)}


@pytest.mark.parametrize(
    ("own", "qrels", "claims", "said"),
    [
        ("RR = { queries = 'with_relevant' }", ONE_OF_THREE, {"MRR": "1.0000"}, ["not_refuted"]),
        ("RR = { ties = 'input' }", ONE_OF_THREE, {"MRR": "1.0000"}, ["refuted"]),
        ("RR = { queries = 'with_relevant' }", ONE_OF_THREE, {"MRR": "1", "P@1": "1"}, ["left out"]),
        ("RR = { queries = 'qrels' }", TEN, {"MRR": "1.0000", "P@1": "1.0000"}, ["not_refuted"]),
        ("RR = { rounding = 'five_digits' }", TEN, {"MRR": "1.0000", "P@1": "1.0000"}, ["not_refuted"]),
        ("RR = { rounding = 'query_values' }", TEN, {"MRR": "1.0000"}, ["left out"]),
        ("RR = { ties = 'input' }", TEN, {"MRR": "1.0000", "P@1": "0.5000"}, ["left out"]),
        ("AP = { documents = 'judged' }", TEN, {"MAP@5": "1.00", "P@1": "0.50"}, ["left out"]),
        ("AP = { documents = 'judged' }\nP = { documents = 'judged' }", TEN, {"MAP@5": "1.00", "P@1": "0.50"},
         ["refuted"]),
        ("AP = { queries = 'with_hit' }", TEN, {"MAP@5": "0.50"}, ["left out"]),
        ("AP = { tied = 'one_step' }", TEN, {"MAP@5": "0.50"}, ["left out"]),
        ("P = { precision = 'min', averaging = 'micro' }", TEN, {"P@5": "1.0000"}, ["left out"]),
        ("P = { level = 2.0 }", GRADED, {"P@1": "0.75"}, ["not_refuted"]),
        ("P = { level = 2.0 }", GRADED, {"P@1": "1.00"}, ["refuted"]),
        ("P = { level = 2.0 }", GRADED, {"P@1": "0.75", "R@10": "1.00"}, ["not_refuted"]),
        ("P = { level = 2.0 }", GRADED, {"P@1": "0.75", "R@1": "0.00"}, ["refuted"]),
        ("P = { labels = 'strict' }", GRADED, {"P@1": "0.75"}, ["not_refuted"]),
        ("P = { labels = 'strict' }", GRADED, {"P@1": "1.00"}, ["refuted"]),
        ("P = { labels = 'strict' }", GRADED, {"P@1": "0.75", "R@1": "1.00"}, ["left out"]),
    ],
)  # fmt: skip
def test_a_measure_has_its_own_options(tmp_path, own, qrels, claims, said):
    """Measures that use different queries, documents, orders or labels are not bounded together."""
    path = tmp_path / "own.toml"
    path.write_text(f"[[convention]]\nname = 'mine'\nsource = 'nobody'\noptions = {{}}\n{own}\n")
    [row] = parse_claims([claims])
    groups, _ = Conventions(label_policies(Judgments.of(qrels)), read_conventions(path)).groups(row)
    told = [each for group in groups if "mine" in group.names for each in RowBudget(row).limits(group)]
    kinds = {True: "refuted", False: "not_refuted"}
    assert ([kinds[each.refuted] for each in told if "mine" in each.names] or ["left out"]) == said


def test_the_whole_reads_options_of_one_measure_from_a_file(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text("[[convention]]\nname = 'mine'\nsource = 'nobody'\nRR = { queries = 'with_relevant' }\n")
    assert said_of("mine", ONE_OF_THREE, {"MRR": "1.0000"}, path) == ["not_refuted"]
    assert said_of("mine", ONE_OF_THREE, {"MRR": "1.0000", "P@1": "1.0000"}, path) == ["left out"]


def test_named_conventions_that_are_not_tested_are_named():
    qrels = {"q1": {"a": 1}, "q2": dict.fromkeys("abcde", 1)}
    assert said_of("implicit", qrels, {"P@5": "0.1667"}) == ["left out"]
    text = " ".join(str(pm.possible(qrels, {"P@5": "0.1667"})).split())
    assert re.search(r"further conventions; JSON says why\. Named conventions left out: .*OpenSearch;", text)
    assert "Named conventions left out" not in str(pm.possible(qrels, {"GradedAP@5": "0.5"}))


# --- counts ---


def test_printed_counts_are_those_whose_shares_print_so():
    """Only the counts that a report names print as the number."""
    rows = [*printed_counts(random.Random(5), effort(25, 80))]
    assert [wanted for wanted, is_right in rows if not is_right] == []
    assert sum(bool(wanted) and "not a multiple" not in wanted for wanted, _ in rows) > 5
