"""Test `possible`: known outcomes, counts, readings of numbers, errors, and reports."""

import json
import random
import re
from itertools import combinations

import pytest
from commands import run_cli

import permed_measures as pm
from permed_measures.conventions.named import NAMED
from permed_measures.conventions.options import DEFAULT, SHARED
from permed_measures.conventions.ranking_variants import label_policies
from permed_measures.engine.judgments import Judgments
from permed_measures.feasibility.bounds import AttainableMeans, Interval
from permed_measures.feasibility.candidates import candidate_conventions, usual_conventions
from permed_measures.feasibility.reports import _join_first, _range_text
from permed_measures.feasibility.rows import MOST_TOGETHER, ClaimRange, Conventions, RowBudget, _parts
from permed_measures.published_tables.claims import parse_claims

AP, HALF = "AP@10", "GradedAP@10"
NDCG = ("nDCG@10", "nDCG(dcg='exp-log2')@10")
LITSEARCH = [
    ("0.0687 0.0877 0.2588", AP),
    ("0.4204 0.4653 0.4840", HALF),
    pytest.param("0.34 0.2003 0.4336", AP, marks=pytest.mark.thorough),
    pytest.param("0.3266 0.1948 0.4251", AP, marks=pytest.mark.thorough),
    pytest.param("0.2596 0.1687 0.3846", AP, marks=pytest.mark.thorough),
]
MEDCORPUS = [
    ".9279 .5357 .9044",
    pytest.param(".8154 .5110 .8272", marks=pytest.mark.thorough),
    pytest.param(".9642 .5640 .9406", marks=pytest.mark.thorough),
]


def row_of(numbers):
    return dict(zip(("P@1", "MAP@10", "NDCG@10"), numbers.split(), strict=True))


@pytest.mark.parametrize(("numbers", "wrong"), LITSEARCH)
def test_published_rows_of_litsearch(data, numbers, wrong):
    result = pm.possible(data / "litsearch" / "query_to_texts.jsonl", row_of(numbers))
    [row] = result.rows
    possible = {each.measures[1]: not each.refuted for each in row.conventions if each.usual}
    assert possible == {AP: wrong != AP, HALF: wrong != HALF}
    assert result.ok


@pytest.mark.parametrize("numbers", MEDCORPUS)
def test_published_rows_of_medcorpus(data, numbers):
    policies = label_policies(Judgments.of(pm.read_qrels(data / "medcorpus" / "query_to_texts.jsonl")))
    [claims] = parse_claims([row_of(numbers)])
    groups = [Conventions(policies).group(each, claims) for each in usual_conventions(claims, policies[0])]
    found = [limits for each in groups for limits in RowBudget(claims).limits(each)]
    possible = {(each.measures[1], each.measures[2]): not each.refuted for each in found}
    assert possible == {(ap, ndcg): ap == HALF for ap in (AP, HALF) for ndcg in NDCG}


# --- counts ---


QRELS = {f"q{i}": {"a": 1, "b": 1} for i in range(10)}


def first_of(qrels, claims):
    """Return the first convention of a row, which is the usual one, and the report."""
    result = pm.possible(qrels, claims)
    return result.rows[0].conventions[0], " ".join(str(result).split())


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("0.5", "0.449995", "0.6"),
        ("50%", "0.494995", "0.51"),
        ("0.123456", "0.1234555", "0.123457"),
        ("-0.5", "-0.6", "-0.449995"),
        ("0.0", "-0.1", "0.1"),
    ],
)
def test_a_number_may_be_rounded_cut_off_or_rounded_twice(text, low, high):
    [[claim]] = parse_claims([{"nDCG@10": text}])
    interval = ClaimRange(claim, "nDCG@10", None).interval
    assert interval == pytest.approx((float(low), float(high)), abs=1e-15)
    assert interval.low < float(low) < float(high) < interval.high


def test_ends_of_ranges_are_rounded_outwards_and_have_no_sign_at_0():
    [[claim]] = parse_claims([{"nDCG@10": "0.50"}])
    told = ClaimRange(claim, "nDCG@10", None)
    for low, high, said in (
        (0.0, 0.0, "0.00 to 0.00"),
        (-2e-11, 0.4501, "0.00 to 0.46"),
        (0.459, 0.46, "0.45 to 0.46"),
    ):
        assert _range_text(told, Interval(low, high)) == said


def test_a_number_that_is_no_count_is_refuted_and_said_so():
    limits, text = first_of(QRELS, {"P@1": "0.84", "P@5": "0.3"})
    assert limits.refuted
    assert text.startswith("P@1 0.84 is not a multiple of 1/10. Refuted for 3 of 3 conventions."), text
    limits, text = first_of(QRELS, {"P@1": "0.80", "hit@5": "0.90"})
    assert not limits.refuted
    assert "P@1 0.80 is 8 of 10" in text
    assert "hit@5 0.90 is 9 of 10" in text
    _, text = first_of(QRELS, {"P@1": "0.8"})
    assert "Counts" not in text  # so is every number with one digit


@pytest.mark.parametrize(("text", "counts"), [("0.2857", "2"), ("0.28", "2"), ("0.29", "2"), ("0.1", "1")])
def test_a_count_may_be_cut_off(text, counts):
    _, report = first_of({f"q{i}": {"a": 1} for i in range(7)}, {"P@1": text})  # 2 of 7 is 0.2857
    assert f"P@1 {text} is {counts} of 7" in report


# --- what each number says of the others ---


def test_ranges_are_those_that_follow_by_hand():
    """Nine of ten queries have a relevant first document, and one more each: AP is at least half of 0.9."""
    result = pm.possible(QRELS, {"P@1": "0.90", "MAP@10": "0.30", "hit@10": "0.90"})
    assert result.ranges["row"]["MAP@10"] == pytest.approx((0.45, 0.9), abs=0.041)
    assert result.possible[0].measures[1] == "GradedAP@10"
    text = " ".join(str(result).split())
    assert text.startswith(
        "MAP@10 cannot be AP@10 (given the others it is 0.45 to 0.90, not 0.30); half of it, "
    )
    assert "half of it, GradedAP@10, can be. GradedAP@10: not refuted." in text
    assert "MAP@10 GradedAP@10 0.30" in text
    assert "MAP@10 AP@10" not in text  # a range of what is refuted is in words
    both = "permed-measures medcorpus; PerMed standard"
    assert re.search(rf"Named conventions not refuted \([0-9]+ refuted\): {both}\.", text)
    assert {"permed-measures medcorpus", "ir_measures"} == {
        *result.rows[0].named(False)[:1],
        *result.rows[0].named(True)[:1],
    }
    [row] = json.loads(result.to("json"))["rows"]
    assert row["named"]["refuted"][0] in result.rows[0].named(True)
    assert row["named"]["not_refuted"] == result.rows[0].named(False)
    assert len({*result.rows[0].named(False), *result.rows[0].named(True)}) == sum(
        map(len, row["named"].values())
    )
    graded = {query: {**docs, "c": 2} for query, docs in QRELS.items()}
    text = str(pm.possible(graded, {"P@1": "1.00", "MAP@10": "0.30"}))
    assert "cannot be AP@10 (given the others it is " in text
    assert "half of it" not in text


def test_names_of_what_no_row_refutes_are_said_once():
    result = pm.possible(QRELS, {"a": {"P@1": "0.9", "MAP@10": "0.7"}, "b": {"P@1": "0.8", "MAP@10": "0.3"}})
    both = [name for name in result.rows[0].named(False) if name in result.rows[1].named(False)]
    said = f" Named conventions not refuted in any row: {_join_first(both, 6)}. "
    assert said in " ".join(str(result).split())
    assert [_join_first([*"abc"], most) for most in (1, 2, 3)] == ["a; 2 more", "a; b; 1 more", "a; b; c"]


def test_what_is_not_refuted_is_not_said_to_be():
    _, text = first_of(QRELS, {"P@1": "0.90", "MAP@10": "0.46"})
    assert "cannot be" not in text
    assert text.startswith("AP@10; GradedAP@10: not refuted.")
    _, text = first_of(QRELS, {"P@1": "0.90", "MAP@10": "0.99"})
    assert text.startswith("MAP@10 cannot be 0.99: given the others it is ")
    assert " (as AP@10). MAP@10 cannot be 0.99: " in text  # neither can be


@pytest.mark.parametrize(
    ("claims", "high"),
    [({"P@10": "0.21"}, 0.2), ({"MAP@10": "1.1%"}, 1), ({"GradedAP@10": "0.6"}, 0.5)],
)
def test_a_number_alone_has_the_range_of_any_run(claims, high):
    limits, text = first_of(QRELS, claims)
    given = limits.ranges[0].given
    assert given == pytest.approx((0, high), abs=1e-9)
    assert given.low <= 0 < high <= given.high  # what is off by a sum's noise is off to the safe side
    assert limits.refuted is (high < 1)
    assert "given the others" not in text


def test_numbers_that_are_not_possible_together_are_said_to_be_so():
    """A first document is among the first two, and one among the first three is among the first five."""
    limits, text = first_of(QRELS, {"P@1": "0.90", "hit@2": "0.10", "hit@3": "0.90", "hit@5": "0.10"})
    assert all(each.given.is_empty for each in limits.ranges)
    assert "these numbers are not possible together. Refuted for 3 of 3 conventions." in text
    limits, text = first_of(QRELS, {"P@1": "0.90", "hit@2": "0.10"})
    assert re.match(r"(hit@2|P@1) cannot be 0\.[19]0: given the others it is ", text)


def test_what_takes_too_much_is_not_checked(monkeypatch):
    monkeypatch.setattr("permed_measures.feasibility.bounds.MOST_STEPS", 0)
    limits, text = first_of(QRELS, {"MRR@10": "0.5"})
    assert limits.refuted is None
    assert "RR@10: not checked." in text
    assert "Not checked: there are too many rankings or numbers to search in some seconds." in text


@pytest.mark.parametrize(("p", "ap"), [("90%", "95"), ("90 %", "95.0"), ("0.9", "0.95")])
def test_numbers_in_percent_are_read_so(p, ap):
    assert not first_of(QRELS, {"P@1": p, "MAP@10": ap})[0].refuted


@pytest.mark.parametrize(("p", "read"), [("1.2", True), ("1.2%", False), ("0.9", False)])
def test_a_number_above_1_is_said_to_be_read_as_percent(p, read):
    assert ("Above 1, so read as percent: P@1 1.2." in first_of(QRELS, {"P@1": p})[1]) is read


@pytest.mark.thorough
def test_the_published_convention_of_medcorpus_keeps_negative_grades_and_is_not_refuted(data):
    qrels = data / "medcorpus" / "query_to_texts.jsonl"
    [row] = pm.possible(qrels, row_of(".9279 .5357 .9044")).rows
    assert "PerMed standard" in row.named(False)
    [permed] = [each for each in row.conventions if "PerMed standard" in each.names]
    assert permed.measures == ["P@1", "GradedAP@10", "VariantNDCG(negative='keep')@10"]
    assert "ir_measures" in row.named(True)


@pytest.mark.parametrize(("grades", "levels"), [((1, 2, 3), {1, 2, 3}), ((1, 2, 3, 4, 5), {1, 2, 3, 4})])
def test_four_relevance_levels_are_tried(grades, levels):
    policies = label_policies(Judgments.of({"q": {f"d{grade}": grade for grade in grades}}))
    [claims] = parse_claims([{"P@1": "0.5"}])
    assert {each["P"]["level"] for each in candidate_conventions(claims, policies)} == levels


def test_ndcg_has_bounds_on_grades_below_1():
    result = pm.possible({f"q{i}": {"a": 0.5, "b": 0.25} for i in range(4)}, {"nDCG@5": "0.5", "P@1": "0.5"})
    assert result.ok
    assert result.skipped == ["P@1"]


def test_queries_without_a_relevant_document_may_be_left_out():
    qrels = {f"q{i}": {"a": int(i < 5), "b": int(i < 5)} for i in range(10)}
    result = pm.possible(qrels, {"nDCG@10": "0.9"})
    assert result.rows[0].conventions[0].refuted
    grades = [each for each in result.possible if each.shared["labels"] == "grades"]
    assert {each.shared["queries"] for each in grades if not each.lacks_queries} == {
        *("with_relevant", "both_with_relevant", "with_relevant_and_list")
    }
    said = "Also not refuted: nDCG(dcg='exp-log2')@10, queries with at least one relevant document; "
    assert said in " ".join(str(result).split())


# --- what is given ---


def test_measures_without_bounds_are_left_out_and_said_so():
    """Denominators that depend on the run, and other lists, have no formula."""
    unknown = ["ERR@10", "F1@3", "GradedAP(norm='num_rel_ret')@3", "nDCG(judged_only=True)@3", "P(rel=0)@1"]
    result = pm.possible(QRELS, {"P@1": "0.9", **dict.fromkeys(unknown, "0.3")})
    assert result.skipped == unknown
    assert f"No bounds are known for {', '.join(unknown)}." in " ".join(str(result).split())
    with pytest.raises(pm.MeasureError, match=r"no bounds are known for ERR@10.*Give AP"):
        pm.possible(QRELS, {"ERR@10": "0.3"})


GRADES, TEN = ({"q": {f"d{i}": 1 + i / 99 for i in range(n)}} for n in (11, 10))


@pytest.mark.parametrize(
    ("qrels", "claims", "message"),
    [
        (QRELS, [0.3], "claims must be a mapping"),
        (QRELS, {"P@1": "x"}, "a claim must be a number"),
        (GRADES, {"P@1": "0.3"}, "11 relevant grades, more than 10"),
        ({"q": {"a": 0}}, {"P@1": "0.3"}, "of the qrels is relevant: AP, .* and Success are 0 for every run"),
        ({"q": {"a": 0.5}}, {"P@1": "0.3"}, r"no document .* a grade of 1 or more \(the highest is 0.5\)"),
    ],
)
def test_bad_input_is_refused(qrels, claims, message):
    with pytest.raises(pm.InputError, match=message):
        pm.possible(qrels, claims)


def test_ten_grades_are_few_enough():
    assert pm.possible({"q": {**TEN["q"], "a": 0, "b": -1}}, {"P@1": "1.0"}).ok


def test_measures_that_are_written_out_have_one_formula():
    graded = {f"q{i}": {"a": 2, "b": 1, "c": -1} for i in range(4)}
    written = ["GradedAP(norm='ideal')@10", "VariantNDCG(gain='linear')@10", "P(rel=2)@1", NDCG[1]]
    result = pm.possible(graded, dict.fromkeys(written, "0.5"))
    assert result.rows[0].conventions[0].measures == written
    assert result.skipped == []


@pytest.mark.parametrize(
    ("name", "option", "most"), [("nDCG@10", "discount", 1), ("MAP@10", "denominator", 2)]
)
def test_conventions_differ_from_a_usual_one_in_few_options(name, option, most):
    labels = label_policies(Judgments.of({"q": {"a": 2, "b": 1}}))[:1]
    [claims] = parse_claims([{name: "0.5"}])
    usual = usual_conventions(claims, labels[0])
    changed = [
        min(([o for o in each if each[o] != base[measure][o]] for base in usual), key=len)
        for convention in candidate_conventions(claims, labels, named=())
        for measure, each in convention.items()
    ]
    assert {*map(len, changed)} == {*range(most + 1)}
    assert [option] in changed


@pytest.mark.parametrize(
    ("name", "option", "changed"),
    [("nDCG@10", "discount", {"grades"}), ("MAP@10", "denominator", {"grades", "pool", "strict"})],
)
def test_where_grades_are_changed_ndcg_is_as_usual(name, option, changed):
    policies = label_policies(Judgments.of({"q": {"a": 2, "b": 1}}))
    [claims] = parse_claims([{name: "0.5"}])
    found = [
        options for each in candidate_conventions(claims, policies, named=()) for options in each.values()
    ]
    assert {each["labels"] for each in found if each[option] != DEFAULT[option]} == changed


# --- reports ---


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"{query} 0 {doc} {grade}" for query, docs in QRELS.items() for doc, grade in docs.items()]
    (tmp_path / "qrels").write_text("\n".join(lines) + "\n")
    (tmp_path / "table.md").write_text(
        "| run | P@1 | MAP@10 | tokens |\n|---|---|---|---|\n"
        "| bm25 | 0.90 | 0.30 | 12 |\n| ours | **0.90** | 0.85 | 13 |\n"
    )


@pytest.mark.usefixtures("table")
def test_the_command_prints_what_the_function_does():
    stdout, _ = run_cli("possible", "qrels", "--claims", "table.md")
    result = pm.possible("qrels", "table.md")
    assert stdout.rstrip("\n") == str(result)
    text = " ".join(stdout.split())
    assert text.startswith(
        "In 1 of 2 rows MAP@10 cannot be AP@10; half of it, GradedAP@10, can be. In 1 of 2 "
    )
    assert "In 1 of 2 rows MAP@10 cannot be GradedAP@10; AP@10 can be." in text
    assert "2 of 2 rows not refuted for some convention." in text
    bm25, ours = result.rows
    assert (bm25.conventions[0].refuted, ours.conventions[0].refuted) == (True, False)
    assert not {*bm25.named(False)} & {*ours.named(False)}
    assert "in any row" not in text
    assert re.search(r"\n *bm25 +MAP@10 cannot be \S+ given the others ", stdout)
    assert re.search(rf"\n *ours .* {len(ours.with_status(False))} of {len(ours.conventions)}\n", stdout)
    assert re.search(r"\n *ours .*\(as GradedAP@10\).* AP@10; as ", stdout)
    stdout, _ = run_cli("possible", "qrels", "--claim", "P@1=0.84", status=1)
    assert "\nRefuted for " in stdout


@pytest.mark.usefixtures("table")
def test_a_page_says_each_thing_once():
    page, _ = run_cli("possible", "qrels", "--claims", "table.md", "--format", "html")
    assert page.count("Refuted means proved") == 1


@pytest.mark.usefixtures("table")
def test_other_programs_get_every_convention():
    content = json.loads(run_cli("possible", "qrels", "--claims", "table.md", "--format", "json")[0])
    assert (content["ok"], content["n_queries"]) == (True, 10)
    assert [(row["row"], row["ok"]) for row in content["rows"]] == [("bm25", True), ("ours", True)]
    second = content["claims"][1]
    assert (second["row"], second["convention"], second["measure"]) == ("bm25", 1, "AP@10")
    assert (second["usual"], second["convention_possible"]) == (True, False)
    usual = {each["measure"] for each in content["claims"] if each["usual"]}
    assert usual == {"P@1", "AP@10", "GradedAP@10"}
    assert (second["low"], second["high"]) == pytest.approx((0.45, 0.95), abs=0.05)
    assert {each["role"] for each in content["provenance"]["inputs"]} == {"qrels", "claims"}
    assert pm.possible("qrels", "table.md").to_polars().to_dicts() == content["claims"]
    lines, told = run_cli("possible", "qrels", "--claims", "table.md", "--format", "csv")
    assert lines.startswith("row,convention,claim,published,")
    assert "note: 1 column left out, not a measure: tokens" in told


# --- names that fix everything ---


@pytest.mark.parametrize("measure", ["GradedAP@3", "GradedAP(norm='ideal')@3", "VariantNDCG@3", "Coverage"])
def test_a_measure_of_ours_as_it_prints_fixes_every_convention(measure):
    graded = {f"q{i}": {"a": 2, "b": 1, "c": -1, "d": 0} for i in range(4)}
    [row] = pm.possible(graded, {measure: "0.5"}).rows
    assert [each.measures for each in row.conventions] == [[measure]]
    assert all(row.conventions[0].shared[option] == DEFAULT[option] for option in SHARED)


def test_another_measure_may_have_what_a_measure_of_ours_cannot():
    """Half of AP has a ceiling of 0.5; AP@10 is a loose name and may be any variant."""
    assert not pm.possible(QRELS, {"GradedAP@10": "0.6"}).ok
    assert pm.possible(QRELS, {"GradedAP(max_rel=1)@10": "0.6"}).ok
    assert pm.possible(QRELS, {"AP@10": "0.6"}).ok


def test_progress_is_of_each_group_of_conventions_of_each_row(steps_of):
    steps = steps_of("permed_measures.feasibility.rows")
    rows = {"a": {"P@1": "0.9", "MAP@10": "0.5"}, "b": {"P@1": "0.8", "MAP@10": "0.5"}}
    pm.possible(QRELS, rows)
    groups, _ = Conventions(label_policies(Judgments.of(QRELS))).groups(parse_claims(rows.values())[0])
    assert steps == [["conventions of rows", n := 2 * len(groups), n]]
    assert n > 2


def test_every_convention_is_in_one_group_or_without_bounds():
    policies = label_policies(Judgments.of({"q": {"a": 2, "b": 1, "c": 0}, "r": {"a": 1}}))
    [claims] = parse_claims([{"MAP@10": "0.5", "P@1": "0.5"}])
    groups, unknown = Conventions(policies).groups(claims)
    known = [each for group in groups for each in group.conventions]
    every = list(candidate_conventions(claims, policies, NAMED))
    assert sorted(map(str, [*known, *unknown])) == sorted(map(str, every))
    assert max(len(group.conventions) for group in groups) > 1


def test_parts_of_a_row_do_not_grow_with_its_subsets():
    """14 numbers have 16,382 parts that could be refuted by themselves."""
    assert {part for part in _parts(14) if len(part) == 2} == {*combinations(range(14), 2)}
    assert max(len(_parts(n)) for n in range(2, 51)) <= 1023


def test_a_row_of_very_many_numbers_is_checked_number_by_number():
    """Only the parts of such a row are searched: what they do not refute is not checked."""
    qrels = {f"q{i}": {f"d{j}": 1 for j in range(30)} for i in range(2)}
    wide = {f"P@{k}": "1.0000" for k in range(1, MOST_TOGETHER + 6)}
    [row] = pm.possible(qrels, {name: wide[name] for name in [*wide][:30]}).rows
    assert row.with_status(False)
    result = pm.possible(qrels, dict.fromkeys(wide, "0.5"))
    assert result.ok
    assert not result.rows[0].with_status(False)
    assert "Not checked: there are too many rankings or numbers to search in some seconds." in " ".join(
        str(result).split()
    )
    assert not pm.possible(qrels, {**wide, "P@1": "0.3000"}).ok  # no multiple of 1/2
    conventions = pm.possible(qrels, wide).rows[0].conventions  # P@31 of 30 documents is at most 30/31
    assert {limits.measures[30]: limits.refuted for limits in conventions} == {
        "P@31": True,
        "P@31 over min(R, k)": None,
    }


@pytest.mark.thorough
def test_rows_share_what_the_qrels_decide(monkeypatch):
    """Rows have the verdicts that they have by themselves, with fewer programmes."""
    solved = []
    programme = AttainableMeans._programme
    monkeypatch.setattr(AttainableMeans, "_programme", lambda *given: solved.append(1) or programme(*given))
    rng = random.Random(5)
    qrels = {f"q{i}": {f"d{j}": rng.choice((1, 1, 2)) for j in range(i % 5 + 1)} for i in range(20)}
    rows = {
        f"run {n}": {"P@1": f"{rng.randint(6, 20) / 20:.2f}", "MAP@10": f"{rng.random():.4f}"}
        for n in range(12)
    }
    alone = [pm.possible(qrels, row).rows[0] for row in rows.values()]
    n_alone = len(solved)
    together = pm.possible(qrels, rows).rows
    for one, row in zip(alone, together, strict=True):
        assert one.conventions == row.conventions
    assert {limits.refuted for row in together for limits in row.conventions} == {True, False}
    assert len(solved) - n_alone < 0.7 * n_alone


def test_r_precision_of_a_level_that_its_name_hides_is_not_refuted():
    """At level 3 it is 2/3 here, which is possible neither at level 1 nor at 2."""
    grades = {"q0": {"a": 3, "b": 2, "c": 2, "d": 2}, "q1": {"a": 3, "b": 3, "c": 3, "d": 2, "e": 1}}
    row = {"Rprec": "0.6667", "P@1": "1.0000"}
    assert pm.possible(grades, {"Rprec(rel=3)": "0.6667", "P(rel=3)@1": "1.0000"}).ok
    assert not pm.possible(grades, {"Rprec(rel=2)": "0.6667", "P(rel=2)@1": "1.0000"}).ok
    assert pm.possible(grades, row).ok
    up_to_2 = {query: {doc: min(grade, 2) for doc, grade in docs.items()} for query, docs in grades.items()}
    assert not pm.possible(up_to_2, row).ok
