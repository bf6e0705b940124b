"""The table of a paper, its caption, and the sentences."""

import dataclasses

import pytest
from reporting import assert_compiles, latex_rows, made, pair

from permed_measures.markup import as_markdown
from permed_measures.reports.paper_table import paper_table, sentences


def cells_of(result):
    return [[[tuple(cell) for cell in row.cells] for row in block] for block in paper_table(result).blocks]


@pytest.mark.parametrize(
    ("ranks", "means", "places"),
    [
        ([4, 1, 2], ["0.2500", "1.0000", "0.5000"], [0, 1, 2]),
        ([1, 1, 2], ["1.0000", "1.0000", "0.5000"], [1, 1, 2]),
        ([2, 1, 2, 4], ["0.5000", "1.0000", "0.5000", "0.2500"], [2, 1, 2, 0]),
        ([2, 2], ["0.5000", "0.5000"], [0, 0]),
        ([201, 200, 1000], ["0.0050", "0.0050", "0.0010"], [1, 1, 2]),
        ([200, 201], ["0.0050", "0.0050"], [0, 0]),
    ],
)
def test_the_best_and_the_second_are_those_that_print_so(ranks, means, places):
    result = made({f"r{i}": [rank] for i, rank in enumerate(ranks)}, tests=())
    [column] = zip(*cells_of(result)[0], strict=True)
    assert list(column) == [(text, place, "") for text, place in zip(means, places, strict=True)]
    assert ("best in bold, second best underlined" in paper_table(result).caption()) == (places != [0, 0])


@pytest.mark.parametrize(("n", "mark"), [(8, "‡"), (7, "†"), (6, "†"), (5, "")])  # p is 2 / 2^n
@pytest.mark.parametrize("ranks", [(2, 1), (1, 2)])
def test_daggers_are_those_of_the_exact_p(n, mark, ranks):
    [[[(_, _, baseline)], [(_, _, run)]]] = cells_of(pair(n, *ranks))
    assert (baseline, run) == ("", mark)


@pytest.mark.parametrize(("resamples", "mark"), [(100, "‡"), (99, "†"), (20, "†"), (19, "")])
def test_a_p_of_a_level_is_not_below_it(resamples, mark):
    result = pair(40, resamples=resamples)
    assert result.rows[0].tests["randomization"].p == 1 / (1 + resamples)
    assert cells_of(result)[0][1][0][2] == mark


def test_marks_are_of_adjusted_p_values():
    ranks = {"old": [4] * 8, "a": [1] * 8, "b": [2] * 8}  # each p is 2 / 256
    marks = {c: cells_of(made(ranks, baseline="old", correction=c))[0][1][0][2] for c in ("none", "holm")}
    assert marks == {"none": "‡", "holm": "†"}


def test_letters_are_of_the_runs_that_one_is_better_than():
    result = made({"first": [1] * 8, "second": [2] * 8, "third": [4] * 8})
    labels = [row.labels for row in paper_table(result).blocks[0]]
    assert labels == [["a", "first"], ["b", "second"], ["c", "third"]]
    assert cells_of(result) == [[[("1.0000", 1, "bc")], [("0.5000", 2, "c")], [("0.2500", 0, "")]]]
    assert latex_rows(result.to("latex"))[1:3] == [
        ["a", "first", r"\textbf{1.0000}", r"\textsuperscript{bc}"],
        ["b", "second", r"\underline{0.5000}", r"\textsuperscript{c}"],
    ]
    assert result.to("markdown").splitlines()[2:4] == [
        "| a | first | **1.0000**<sup>bc</sup> |",
        "| b | second | <u>0.5000</u><sup>c</sup> |",
    ]
    assert result.to("table").splitlines()[2].split() == ["a", "first", "1.0000", "bc"]


@pytest.mark.parametrize(("n", "last", "kind"), [(26, "z", "letter"), (27, "27", "number")])
def test_more_runs_than_letters_have_numbers(n, last, kind, tmp_path):
    result = made({f"run{i}": [i] * 8 for i in range(1, n + 1)}, correction="none")
    table = paper_table(result)
    assert table.blocks[0][-1].labels == [last, f"run{n}"]
    first = table.blocks[0][0].cells[0]
    assert first.mark == {"letter": "bcdefghijklmnopqrstuvwxyz", "number": "2-27"}[kind]
    meaning = f"{kind.capitalize()}s name the runs that a run is significantly better than, p < 0.05"
    assert meaning in table.caption()
    assert_compiles(result.to("latex"), tmp_path)


IN_FOURS = {f"q{i:02}": i // 4 for i in range(16)}


TWO_GROUPS = {f"q{i:02}": "xxyy"[i % 4] for i in range(8)}


EXACT = "randomization test (all 256 sign patterns of 8 queries)"


DAGGERS = "† p < 0.05, ‡ p < 0.01 against old: "


LETTERS = "Letters name the runs that a run is significantly better than, p < 0.05: "


DRAWN = "randomization test (1,234 random sign patterns of 40 queries, seed 5)"


NONE_HOLDS = "No significance marks: the tests treat the queries of a cluster as independent."


RANKS = "Wilcoxon's test (signed ranks of 8 non-zero differences, exact)"


VARIANT = "nDCG(dcg='exp-log2')@10"


@pytest.mark.parametrize(
    ("n", "options", "about", "marks"),
    [
        (8, {}, "8 queries", f"{DAGGERS}{EXACT}, max-T correction over 1 test."),
        (
            *(8, {"measures": ["RR", "P@1"], "correction": "bonferroni"}, "8 queries"),
            f"{DAGGERS}{EXACT}, Bonferroni correction over 2 tests.",
        ),
        (8, {"baseline": None, "correction": "none"}, "8 queries", f"{LETTERS}{EXACT}, uncorrected."),
        (
            40,
            {"resamples": 1234, "seed": 5},
            "40 queries",
            f"{DAGGERS}{DRAWN}, max-T correction over 1 test.",
        ),
        (
            *(16, {"clusters": IN_FOURS}, "16 queries in 4 clusters"),
            f"{DAGGERS}randomization test (all 16 sign patterns of 4 clusters), "
            "max-T correction over 1 test.",
        ),
        (16, {"clusters": IN_FOURS, "tests": "wilcoxon"}, "16 queries in 4 clusters", NONE_HOLDS),
        (8, {"tests": ()}, "8 queries", "No significance test was run."),
        (
            *(8, {"tests": "wilcoxon", "correction": "benjamini-hochberg"}, "8 queries"),
            f"{DAGGERS}{RANKS}, Benjamini-Hochberg correction over 1 test.",
        ),
        (
            *(8, {"by": TWO_GROUPS}, "8 queries"),
            f"{DAGGERS}{EXACT}, max-T correction over 2 tests on groups and over 1 test on all queries.",
        ),
        (
            *(8, {"measures": VARIANT, "tests": ()}, "8 queries"),
            f"No significance test was run. nDCG-exp@10 is {VARIANT}.",
        ),
    ],
)
def test_a_caption_says_how_the_marks_were_made(n, options, about, marks):
    result = pair(n, **options)
    start = f"Means{' by group' if 'by' in options else ''} over {about}"
    caption = f"{start}; best in bold, second best underlined. {marks}"
    assert paper_table(result).caption() == caption
    assert f"\n{as_markdown(caption)}\n" in result.to("markdown")
    assert f"{start}. {marks}" in " ".join(result.to("table").split())  # without bold letters


@pytest.mark.parametrize("tests", ["randomization", "wilcoxon", ()])
def test_what_only_naive_tests_find_has_no_mark(tests):
    result = pair(16, clusters=IN_FOURS, tests=tests)  # 4 clusters: p is 2 / 16, naive 2 / 2^16
    assert cells_of(result)[0][1] == [("1.0000", 1, "")]


def test_no_p_value_is_no_family():
    result = pair(1, tests="t-test", measures=["RR", "P@1"])
    caption, text = paper_table(result).caption(), str(result)
    assert caption.endswith("second best underlined. No significance marks: no t-test has a p-value.")
    assert "adjusted" not in text
    assert "1 query\n" in text
    pairs = paper_table(made({"old": [2], "new": [1]}, tests="t-test"))
    assert pairs.labels == ["run"]
    assert "t-test has a p-value" in pairs.caption()


def test_groups_without_p_values_are_no_family():
    by = {f"q{i:02}": i for i in range(3)}
    result = made({"old": [2, 2, 2], "new": [1, 3, 1]}, baseline="old", tests="t-test", by=by)
    assert "Holm correction over 1 test on all queries" in paper_table(result).caption()
    assert "p (adj.) of t-test, interaction: Holm over 1 p-value of all queries" in str(result).splitlines()


@pytest.mark.parametrize(
    ("p", "printed"),
    [
        *((0.04996, "0.04996"), (0.049999, "0.049999"), (0.05, "0.0500"), (0.05004, "0.0500")),
        *((0.009996, "0.009996"), (0.01, "0.0100"), (0.0499, "0.0499"), (1.0, "1.0000")),
    ],
)
def test_a_p_that_is_below_a_level_prints_so(p, printed):
    result = pair(8, correction="none", tests="wilcoxon")
    [row] = result.rows
    test = dataclasses.replace(row.tests["wilcoxon"], p=p, adjusted=p)
    result = dataclasses.replace(result, rows=[dataclasses.replace(row, tests={"wilcoxon": test})])
    [sentence] = sentences(result)
    assert f"p = {printed})" in sentence
    assert ("is significantly better" in sentence) == (p < 0.05) == (float(printed) < 0.05)
    assert f" {printed}" in str(result)
    mark = paper_table(result).blocks[0][1].cells[0].mark
    assert mark == ("‡" if p < 0.01 else "†" if p < 0.05 else "")


@pytest.mark.parametrize(("level", "printed"), [(0.9, "90%"), (0.999, "99.9%"), (0.99999, "99.999%")])
def test_the_level_of_an_interval_is_not_rounded(level, printed):
    result = made({"old": [2] * 8, "new": [1, 2, 1, 2, 4, 1, 1, 1]}, tests=(), level=level)
    assert f" {printed} CI " in str(result)


@pytest.mark.parametrize("correction", ["holm", "none"])
def test_intervals_are_said_not_to_be_adjusted_where_p_values_are(correction):
    ranks = {"old": [2] * 12, "new": [1, 2, 4] * 4}
    texts = [
        str(made(ranks, measures, tests="wilcoxon", correction=correction))
        for measures in ("RR", ["RR", "P@1"])
    ]
    assert ["not adjusted" in text for text in texts] == [False, correction == "holm"]


def test_a_legend_counts_the_p_values():
    assert "p (adj.) of randomization: max-T over 1 p-value" in str(pair(8)).splitlines()
    groups = "over 2 p-values of all group groups, and over 1 p-value of all queries"
    assert f"p (adj.) of randomization: max-T {groups}" in str(pair(8, by=TWO_GROUPS)).splitlines()


def test_groups_are_blocks_with_their_own_best():
    ranks = {"old": [1, 1, 4, 4], "new": [2, 2, 2, 2]}
    table = paper_table(made(ranks, baseline="old", by={f"q{i:02}": "xxyy"[i] for i in range(4)}))
    assert table.labels == ["group", "run"]
    assert [[row.labels for row in block] for block in table.blocks] == [
        [["x", "old"], ["x", "new"]],
        [["y", "old"], ["y", "new"]],
        [["(all)", "old"], ["(all)", "new"]],
    ]
    assert [[cell[:2] for row in block for cell in row.cells] for block in table.blocks] == [
        [("1.0000", 1), ("0.5000", 2)],
        [("0.2500", 2), ("0.5000", 1)],
        [("0.6250", 1), ("0.5000", 2)],
    ]


BETTER, WORSE = "significantly better", "significantly worse"
ADJUSTED = "max-T-adjusted p"


UP, SAME = "1.0000 against 0.5000, +100.0%", "0.5000 against 0.5000, +0.0%"


@pytest.mark.parametrize(
    ("arguments", "options", "sentence"),
    [
        ([8], {}, f"new is {BETTER} than old on RR ({UP}, p = 0.0078)."),
        (
            [12, 1, 2],
            {},
            f"new is {WORSE} than old on RR (0.5000 against 1.0000, -50.0%, p < 0.001).",
        ),
        ([5], {}, f"new does not differ significantly from old on RR ({UP}, p = 0.0625)."),
        (
            [40],
            {"resamples": 19},
            f"new does not differ significantly from old on RR ({UP}, p = 0.0500).",
        ),
        ([8, 2, 2], {}, f"new does not differ significantly from old on RR ({SAME}, p = 1.0000)."),
        ([8], {"tests": ()}, f"new differs from old on RR ({UP})."),
        ([8], {"tests": "t-test"}, f"new differs from old on RR ({UP}, no p-value)."),
        ([16], {"clusters": IN_FOURS, "tests": "wilcoxon"}, f"new differs from old on RR ({UP})."),
        ([8, 2, 2], {"tests": ()}, f"new is equal to old on RR ({SAME})."),
        (
            [8],
            {"measures": "P@1"},
            f"new is {BETTER} than old on P@1 (1.0000 against 0.0000, p = 0.0078).",
        ),
        (
            *([8], {"measures": ["RR", "NumRet", "P@1", "P@5"]}),
            f"new is {BETTER} than old on RR ({UP}, {ADJUSTED} = 0.0078) and P@1 (1.0000 against 0.0000, "
            f"{ADJUSTED} = 0.0078); it is {WORSE} than old on NumRet (1.0000 against 2.0000, -50.0%, "
            f"{ADJUSTED} = 0.0078); it does not differ significantly from old on P@5 (0.2000 against 0.2000, "
            f"+0.0%, {ADJUSTED} = 1.0000).",
        ),
    ],
)
def test_a_sentence_says_what_was_found(arguments, options, sentence):
    assert sentences(pair(*arguments, **options)) == [sentence]


def test_a_sentence_has_the_interval_of_the_table():
    [row] = (result := made({"old": [2] * 12, "new": [1, 2, 4] * 4}, baseline="old")).rows
    low, high = (f"{bound:+.4f}" for bound in row.interval)
    assert f"95% CI of the difference [{low}, {high}], p" in sentences(result)[0]
    assert f"  [{low}, {high}]  " in result.to("table")


def test_every_pair_has_a_sentence():
    down = "RR (0.5000 against 1.0000, -50.0%) and P@1 (0.0000 against 1.0000, -100.0%)"
    assert sentences(made({"a": [1] * 8, "b": [2] * 8, "c": [2] * 8}, ["RR", "P@1", "P@2"], tests=())) == [
        f"b differs from a on {down}; it is equal to a on P@2 ({SAME}).",
        f"c differs from a on {down}; it is equal to a on P@2 ({SAME}).",
        f"c is equal to b on RR ({SAME}), P@1 (0.0000 against 0.0000) and P@2 ({SAME}).",
    ]
