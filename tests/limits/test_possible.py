"""What is said of published rows without any run: known outcomes, counts, readings, errors, reports."""

import json

import pytest
from commands import run_cli

import permed_measures as pm
from permed_measures.conventions.options import DEFAULT
from permed_measures.conventions.values import label_policies
from permed_measures.engine.judgments import Judgments
from permed_measures.limits.counts import Counts
from permed_measures.limits.row_conventions import conventions_of, is_usual, shared_of
from permed_measures.limits.rows import Conventions, Row
from permed_measures.papers.claims import parse_claims

COLUMNS = ("P@1", "MAP@10", "NDCG@10")
AP, HALF = "AP@10", "GradedAP@10"
NDCG = ("nDCG@10", "nDCG(dcg='exp-log2')@10")


def row_of(*numbers):
    return dict(zip(COLUMNS, numbers, strict=True))


LITSEARCH = [
    (row_of("0.0687", "0.0877", "0.2588"), AP, HALF),
    (row_of("0.34", "0.2003", "0.4336"), AP, HALF),
    (row_of("0.3266", "0.1948", "0.4251"), AP, HALF),
    (row_of("0.2596", "0.1687", "0.3846"), AP, HALF),
    (row_of("0.4204", "0.4653", "0.4840"), HALF, AP),
]
MEDCORPUS = [
    row_of(".9279", ".5357", ".9044"),
    row_of(".8154", ".5110", ".8272"),
    row_of(".9642", ".5640", ".9406"),
]


def quick_and_thorough(cases, quick):
    """Return the cases as parameters; those with other numbers than `quick` are only for thorough runs."""
    return [
        pytest.param(*case, marks=() if number in quick else pytest.mark.thorough, id=str(number))
        for number, case in enumerate(cases)
    ]


def usual(result):
    """Return for each usual way to compute AP and nDCG whether it is possible."""
    [row] = result.rows
    return {(each.measures[1], each.measures[2]): each.possible for each in row.conventions if each.usual}


@pytest.mark.parametrize(("claims", "wrong", "right"), quick_and_thorough(LITSEARCH, (0, 4)))
def test_published_rows_of_litsearch(data, claims, wrong, right):
    result = pm.possible(data / "litsearch" / "query_to_texts.jsonl", claims)
    assert usual(result) == {(wrong, NDCG[0]): False, (right, NDCG[0]): True}
    assert result.ok


@pytest.mark.parametrize("row", quick_and_thorough([(row,) for row in MEDCORPUS], (0,)))
def test_published_rows_of_medcorpus(data, row):
    policies = label_policies(Judgments.of(pm.read_qrels(data / "medcorpus" / "query_to_texts.jsonl")))
    [claims] = parse_claims([row])
    conventions = [each for each in conventions_of(claims, policies[:1]) if is_usual(each, claims)]
    groups = [Conventions(policies, None).group(each, claims) for each in conventions]
    found = [Row(claims).limits(each) for each in groups]
    possible = {(each.measures[1], each.measures[2]): each.possible for each in found}
    assert possible == {(ap, ndcg): ap == HALF for ap in (AP, HALF) for ndcg in NDCG}


@pytest.mark.thorough
def test_the_report_of_a_published_row_of_medcorpus(data):
    result = pm.possible(data / "medcorpus" / "query_to_texts.jsonl", MEDCORPUS[0])
    assert result.ok
    assert "Not P@1 · AP@10 · nDCG@10: given the others, MAP@10 is 0.74" in str(result)
    assert "P@1 0.9279 is 3,192 of 3,440" in str(result)


# --- counts ---


def claim(name, text):
    [[found]] = parse_claims([{name: text}])
    return found


def test_of_the_numbers_that_can_be_printed_for_few_queries_few_are_counts():
    found = [bool(Counts.of(claim("P@1", f"{n / 10_000:.4f}"), 597).rounded) for n in range(10_000)]
    assert sum(found) == 597  # and 1.0000
    assert Counts.of(claim("P@1", "0.0687"), 597).rounded == range(41, 42)
    assert not Counts.of(claim("P@1", "0.0690"), 597).anyhow


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("0.5", "0.449995", "0.6"),
        ("50%", "0.494995", "0.51"),
        ("0.123456", "0.1234555", "0.123457"),
        ("-0.5", "-0.6", "-0.449995"),
    ],
)
def test_a_number_may_be_rounded_cut_off_or_rounded_twice(text, low, high):
    printed = claim("nDCG@10", text).anyhow
    assert [float(end) for end in printed] == pytest.approx([float(low), float(high)], abs=1e-15)
    assert printed.ends[0] < float(low) < float(high) < printed.ends[1]


QRELS = {f"q{i}": {"a": 1, "b": 1} for i in range(10)}


def test_a_number_that_is_no_count_is_impossible_and_said_so():
    result = pm.possible(QRELS, {"P@1": "0.84", "P@5": "0.3"})
    assert not result.ok
    text = str(result)
    assert text.startswith("Refuted for 1 of 1 convention.\nNot P@1 · P@5: "), text
    assert "P@1 0.84 is no whole number of 10" in text
    assert "P@1 0.84 is no count of 10: 8 is 0.80 and 9 is 0.90" in text
    assert "of the numbers that can be printed, 10 % are counts" in " ".join(text.split())
    assert pm.possible(QRELS, {"P@1": "0.80", "P@5": "0.3"}).ok


def test_a_count_that_was_cut_off_is_told_apart():
    qrels = {f"q{i}": {"a": 1} for i in range(7)}
    [row] = pm.possible(qrels, {"P@1": "0.2857"}).rows
    assert [(each.possible, each.rounded) for each in row.conventions] == [(True, True)]
    [row] = pm.possible(qrels, {"P@1": "0.571", "hit@1": "0.571"}).rows
    assert all(each.possible and each.rounded for each in row.conventions)
    [row] = (result := pm.possible(qrels, {"P@1": "0.28"})).rows  # 2 of 7 is 0.2857
    assert [(each.possible, each.rounded) for each in row.conventions] == [(True, False)]
    assert "unless cut off" in result.report(every=True).to()
    assert "P@1 0.28 is no rounded count of 7: 1 is 0.14 and 2 is 0.29" in " ".join(str(result).split())


def test_precision_is_no_more_than_there_are_relevant_documents():
    [row] = pm.possible(QRELS, {"P@10": "0.21"}).rows
    [limits] = row.conventions
    assert not limits.possible
    assert limits.ranges[0].alone.high == pytest.approx(0.2)


# --- what each number says of the others ---


def test_ranges_are_those_that_follow_by_hand():
    """With 9 of 10 first documents relevant, and one more of each query, AP is half of that at least."""
    result = pm.possible(QRELS, {"P@1": "0.90", "MAP@10": "0.30", "hit@10": "0.90"})
    low, high = result.ranges["row"]["MAP@10"]
    assert (low, high) == pytest.approx((0.45, 0.9), abs=0.041)
    assert not result.rows[0].conventions[0].possible
    assert next(each.measures[1] for each in result.possible) == "GradedAP@10"


def test_a_number_above_its_ceiling_is_impossible():
    [row] = pm.possible(QRELS, {"MAP@10": "0.6"}).rows
    assert row.conventions[0].measures == ["AP@10"]
    half = next(each for each in row.conventions if each.measures == ["GradedAP@10"])
    assert not half.possible
    assert half.ranges[0].alone.high == pytest.approx(0.5)


def test_numbers_in_percent_are_read_so():
    for texts in (("90%", "95"), ("90 %", "95.0"), ("0.9", "0.95")):
        claims = dict(zip(("P@1", "MAP@10"), texts, strict=True))
        assert pm.possible(QRELS, claims).rows[0].conventions[0].possible, texts


def test_a_mean_over_some_of_the_queries_may_be_higher():
    qrels = {f"q{i}": {"a": int(i < 5), "b": int(i < 5)} for i in range(10)}
    assert not pm.possible(qrels, {"nDCG@10": "0.9"}).rows[0].conventions[0].possible
    result = pm.possible(qrels, {"nDCG@10": "0.9"}, queries=5)
    assert result.rows[0].conventions[0].possible
    assert "over 5 of their 10 queries" in str(result)


# --- what is given ---


def test_measures_without_bounds_are_left_out_and_said_so():
    result = pm.possible(QRELS, {"P@1": "0.9", "ERR@10": "0.3"})
    assert result.skipped == ["ERR@10"]
    assert "No bounds are known for ERR@10." in str(result)
    with pytest.raises(pm.MeasureError, match=r"no bounds are known for ERR@10.*Give AP"):
        pm.possible(QRELS, {"ERR@10": "0.3"})


@pytest.mark.parametrize(
    ("qrels", "claims", "options", "message"),
    [
        (QRELS, [0.3], {}, "claims must be a mapping"),
        (QRELS, {"P@1": "x"}, {}, "a claim must be a number"),
        (QRELS, {"P@1": "0.3"}, {"decimals": 99}, "decimals must be a whole number from 0 to 15"),
        (QRELS, {"P@1": "0.3"}, {"queries": 11}, "queries must be at most 10, as many as the qrels have"),
        (QRELS, {"P@1": "0.3"}, {"queries": 0}, "queries"),
        (
            {"q": {f"d{i}": 1 + i / 99 for i in range(70)}},
            {"P@1": "0.3"},
            {},
            "70 relevant grades, more than 10",
        ),
        ({"q": {"a": 0}}, {"P@1": "0.3"}, {}, "the qrels have no relevant document"),
    ],
)
def test_bad_input_is_refused(qrels, claims, options, message):
    with pytest.raises(pm.InputError, match=message):
        pm.possible(qrels, claims, **options)


def test_measures_that_are_written_out_have_one_formula():
    graded = {f"q{i}": {"a": 2, "b": 1, "c": -1} for i in range(4)}
    written = (
        "GradedAP(norm='ideal')@10",
        "VariantNDCG(negative='keep')@10",
        "P(rel=2)@1",
        "nDCG(dcg='exp-log2')@5",
    )
    result = pm.possible(graded, dict.fromkeys(written, "0.5"))
    assert result.rows[0].conventions[0].measures == list(written)
    assert result.skipped == []
    assert all(each.alone.high == pytest.approx(1) for each in result.rows[0].conventions[0].ranges[:1])


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
    return tmp_path


@pytest.mark.usefixtures("table")
def test_a_table_as_printed_is_taken():
    result = pm.possible("qrels", "table.md")
    assert [row.name for row in result.rows] == ["bm25", "ours"]
    assert [row.conventions[0].possible for row in result.rows] == [False, True]
    text = str(result)
    assert text.startswith("2 of 2 rows not refuted for some convention.\n")
    assert "bm25: not AP@10: given the others, MAP@10 is 0.4" in text
    assert "tokens" in text  # which is no measure


@pytest.mark.usefixtures("table")
def test_the_command_prints_what_the_function_does():
    stdout, _ = run_cli("possible", "qrels", "--claims", "table.md")
    assert stdout.rstrip("\n") == str(pm.possible("qrels", "table.md"))
    content = json.loads(run_cli("possible", "qrels", "--claims", "table.md", "--format", "json")[0])
    assert content["ok"]
    assert [row["row"] for row in content["rows"]] == ["bm25", "ours"]
    lines, told = run_cli("possible", "qrels", "--claims", "table.md", "--format", "csv")
    assert lines.startswith("row,convention,claim,published,")
    assert "note: a column that is no measure left out: tokens" in told
    first = content["rows"][0]["conventions"][0]
    assert (first["possible"], first["usual"]) == (False, True)
    assert [each["measure"] for each in first["claims"]] == ["P@1", "AP@10"]
    assert first["claims"][1]["given_the_others"] == pytest.approx([0.45, 0.95], abs=0.05)
    assert first["claims"][0]["counts"] == {"of": 10, "rounded": [9, 9]}
    assert {each["role"] for each in content["provenance"]["inputs"]} == {"qrels", "claims"}
    markdown, _ = run_cli("possible", "qrels", "--claim", "P@1=0.90", "--format", "markdown", "--all")
    assert "| convention | P@1 | refuted |" in markdown
    assert "| P@1 | 0.00 to 1.00 | no |" in markdown


@pytest.mark.usefixtures("table")
def test_the_exit_status_says_whether_any_convention_is_possible():
    run_cli("possible", "qrels", "--claim", "P@1=0.9")
    stdout, _ = run_cli("possible", "qrels", "--claim", "P@1=0.84", status=1)
    assert stdout.startswith("Refuted for ")


def test_a_result_is_a_frame():
    result = pm.possible(QRELS, {"P@1": "0.90", "MAP@10": "0.30"})
    frame = result.to_polars()
    assert frame.columns[:4] == ["row", "convention", "claim", "published"]
    assert len(frame) == 2 * len(result.rows[0].conventions)
    assert set(frame["convention_possible"]) == {True, False}
    assert repr(result).startswith("<Possible: ")


# --- names that fix everything ---


@pytest.mark.parametrize(
    "measure",
    [
        "GradedAP@3",
        "GradedAP(norm='ideal')@3",
        "VariantNDCG@3",
        "VariantNDCG(negative='keep')@3",
        "Coverage@3",
        "Coverage",
    ],
)
def test_a_measure_of_ours_as_it_prints_fixes_every_convention(measure):
    graded = {f"q{i}": {"a": 2, "b": 1, "c": -1, "d": 0} for i in range(4)}
    [row] = pm.possible(graded, {measure: "0.5"}).rows
    assert [each.measures for each in row.conventions] == [[measure]]
    assert shared_of(row.conventions[0].convention) == shared_of(DEFAULT)
    [loose] = pm.possible(graded, {"ndcg@3": "0.5", "MAP@3": "0.4"}).rows
    assert len(loose.conventions) > 1


def test_a_measure_of_ours_as_it_prints_is_refuted_where_another_one_is_not():
    """Half of AP has a ceiling of 0.5; AP@10 is no name of ours and may be anything."""
    assert not pm.possible(QRELS, {"GradedAP@10": "0.6"}).ok
    assert pm.possible(QRELS, {"GradedAP(max_rel=1)@10": "0.6"}).ok
    assert pm.possible(QRELS, {"AP@10": "0.6"}).ok


def test_negative_grades_of_one_measure_do_not_count_in_another():
    """All runs rank what has grade -1: nDCG is 0 as usual, and negative where negative grades are kept."""
    graded = {f"q{i}": {"a": 1, "b": -1} for i in range(4)}
    run = {query: {"b": 1.0} for query in graded}
    measures = ["VariantNDCG(negative='keep')@3", "nDCG(dcg='exp-log2')@3", "VariantNDCG@3"]
    values = pm.calc_aggregate(measures, graded, run).values()
    claims = {name: f"{value:.4f}" for name, value in zip(measures, values, strict=True)}
    assert claims == {measures[0]: "-0.7304", measures[1]: "0.0000", measures[2]: "0.0000"}
    result = pm.possible(graded, claims)
    assert result.ok
    ranges = result.ranges["row"]
    assert [ranges[name].low for name in measures] == pytest.approx([-0.7304, 0, 0], abs=1e-3)
