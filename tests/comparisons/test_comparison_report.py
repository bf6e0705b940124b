"""The report of a comparison: marks, captions and notes are those of the numbers."""

import dataclasses

import pytest
from reporting import made, pair

from permed_measures.comparisons.differences_table import differences_table
from permed_measures.comparisons.findings import findings
from permed_measures.comparisons.means_table import means_table
from permed_measures.comparisons.wording import p_or_dash


def cells_of(result):
    """Return the cells of the means, without labels."""
    table = means_table(result)
    return [[[tuple(cell) for cell in row[table.n_labels :]] for row in block] for block in table.blocks]


def labels_of(result):
    table = means_table(result)
    return [[[cell.text for cell in row[: table.n_labels]] for row in block] for block in table.blocks]


def caption_of(result):
    return " ".join(means_table(result).sentences())


def notes_of(result):
    """Return what stands below the differences."""
    return differences_table(result).notes


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


@pytest.mark.parametrize("n", [26, 27])
def test_more_runs_than_letters_have_no_marks(n):
    result = made({f"run{i}": [i] * 8 for i in range(1, n + 1)}, correction="none")
    assert labels_of(result)[0][-1] == ([f"run{n}"] if n == 27 else ["z", f"run{n}"])
    _, _, mark = cells_of(result)[0][0][0]
    assert mark == ("" if n == 27 else "bcdefghijklmnopqrstuvwxyz")
    assert ("No significance marks: more runs than 26 letters." in caption_of(result)) == (n == 27)
    assert ("Letters name" in caption_of(result)) == (n == 26)


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
    assert caption_of(result) == caption


def test_no_p_value_is_no_family():
    result = pair(1, tests="t-test", measures=["RR", "P@1"])
    assert caption_of(result).endswith(
        "second best underlined. No significance marks: no t-test has a p-value."
    )
    assert "p (adj.):" not in " ".join(notes_of(result))
    pairs = made({"old": [2], "new": [1]}, tests="t-test")
    assert means_table(pairs).headings == ["run", "RR"]
    assert "t-test has a p-value" in caption_of(pairs)


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
    margin = findings(result)[1]
    assert f"(p = {printed})" in margin
    assert (", a significant difference" in margin) == (p < 0.05) == (float(printed) < 0.05)
    assert printed in [cell.text for cell in differences_table(result).rows[0]]
    _, _, mark = cells_of(result)[0][1][0]
    assert mark == ("‡" if p < 0.01 else "†" if p < 0.05 else "")


def test_a_p_is_below_a_ten_thousandth_or_has_four_decimals():
    assert [p_or_dash(p) for p in (None, 0.0001, 0.000099, 0.0)] == ["—", "0.0001", "<0.0001", "<0.0001"]


def test_of_what_differs_between_rows_a_method_says_less():
    ranks = {"old": [2] * 12, "new": [1, 2, 4] * 4, "none": [1] * 12}
    by = {f"q{i:02}": "xxxxy"[i % 5] for i in range(12)}
    for options, said in (
        ({"tests": "t-test"}, "p: t-test (paired, 11 degrees of freedom);"),
        ({"tests": "t-test", "by": by}, "p: t-test (paired);"),
        ({"tests": "wilcoxon"}, "p: Wilcoxon's test (signed ranks, exact);"),
    ):
        assert said in " ".join(notes_of(made(ranks, baseline="old", **options)))
    many = {"old": [2] * 301, "new": [1] * 301, "other": [1] * 300 + [2]}
    said = " ".join(notes_of(made(many, baseline="old", tests="wilcoxon")))
    assert "p: Wilcoxon's test (signed ranks, exact or normal approximation);" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "95% CI: simultaneous (max-T) for 1 difference"),
        (
            {"by": TWO_GROUPS},
            "95% CI: simultaneous (max-T) for 2 differences of all group groups, and for 1 difference "
            "of all queries",
        ),
        ({"correction": "none"}, "95% CI: Student's t, 8 queries"),
        (
            {"correction": "holm", "by": TWO_GROUPS},
            "95% CI: Student's t, 8 queries; of a group, from its own; not adjusted for multiple testing",
        ),
        ({"correction": "holm", "clusters": {"q00": 1, "q01": 1}}, "95% CI: Student's t, 7 clusters"),
    ],
)
def test_how_intervals_were_made_is_said(options, said):
    result = made({"old": [2] * 8, "new": [1, 2, 4, 1, 1, 2, 4, 1]}, baseline="old", **options)
    assert [note for note in notes_of(result) if note.startswith("95% CI: ")] == [said]
    assert not any("CI" in note for note in notes_of(pair(8)))  # without variance


def test_an_interval_of_another_test_may_have_0_inside():
    ranks = {"old": [4] * 30, "new": [3] * 25 + [100] * 5}
    found = made(ranks, baseline="old", tests="wilcoxon")
    [row] = found.rows
    assert row.tests["wilcoxon"].adjusted < 0.05
    assert row.interval[0] < 0 < row.interval[1]
    said = "1 of 1 interval with 0 inside though p (adj.) < 0.05: they are not of the same test"
    assert said in notes_of(found)
    assert said not in notes_of(made(ranks, baseline="old", tests="t-test"))


def test_a_naive_test_is_not_to_be_reported():
    naive = "naive: treats the queries of a cluster as independent; do not report it"
    for tests, said in ((["wilcoxon", "t-test"], True), (["t-test"], False)):
        assert (naive in notes_of(pair(16, clusters=IN_FOURS, tests=tests))) == said
    assert naive not in notes_of(pair(16, tests="wilcoxon"))
