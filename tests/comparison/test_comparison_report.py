"""The report of a comparison: marks, captions and notes are those of the numbers."""

import dataclasses

import pytest
from reporting import made, pair

from permed_measures.comparison.findings import findings
from permed_measures.comparison.tables import differences_table, means_table


def cells_of(result):
    """Return the cells of the means, without labels."""
    table = means_table(result)
    return [[[cell[:3] for cell in row[table.n_labels :]] for row in block] for block in table.blocks]


def caption_of(result):
    return " ".join(means_table(result).sentences())


def notes_of(result):
    """Return what stands below the differences."""
    return differences_table(result).notes


@pytest.mark.parametrize(
    ("n", "resamples", "p", "mark"),
    [
        *((8, 50_000, 2 / 2**8, "‡"), (7, 50_000, 2 / 2**7, "†"), (5, 50_000, 2 / 2**5, "")),
        *((40, 100, 1 / 101, "‡"), (40, 99, 0.01, "†"), (40, 20, 1 / 21, "†"), (40, 19, 0.05, "")),
    ],
)
@pytest.mark.parametrize("ranks", [(2, 1), (1, 2)])
def test_daggers_are_those_of_p_below_a_level(n, resamples, p, mark, ranks):
    result = pair(n, *ranks, resamples=resamples)
    assert result.rows[0].tests["randomization"].p == p
    [[[(_, _, baseline)], [(_, _, run)]]] = cells_of(result)
    assert (baseline, run) == ("", mark)


def test_marks_are_of_adjusted_p_values():
    ranks = {"old": [4] * 8, "a": [1] * 8, "b": [2] * 8}  # each p is 2 / 256
    marks = {c: cells_of(made(ranks, baseline="old", correction=c))[0][1][0][2] for c in ("none", "holm")}
    assert marks == {"none": "‡", "holm": "†"}


@pytest.mark.parametrize("n", [26, 27])
def test_more_runs_than_letters_have_no_marks(n):
    result = made({f"run{i}": [i] * 8 for i in range(1, n + 1)}, correction="none")
    assert means_table(result).rows[-1][0].text == (f"run{n}" if n == 27 else "z")
    _, _, mark = cells_of(result)[0][0][0]
    assert mark == ("" if n == 27 else "bcdefghijklmnopqrstuvwxyz")
    said = "No significance marks: more runs than 26 letters." if n == 27 else "Letters name the runs"
    assert said in caption_of(result)


@pytest.mark.parametrize(
    ("n", "baseline", "left_out"),
    [(6, None, 0), (7, None, 21), (17, "run1", 0)],
)
def test_differences_of_many_pairs_are_left_out_of_what_is_printed(n, baseline, left_out):
    result = made({f"run{i}": [i] * 8 for i in range(1, n + 1)}, baseline=baseline)
    said = (
        f"Not shown: the differences of {left_out} pairs. baseline=NAME shows those to one run, to(all_pairs"
    )
    assert (said in str(result), "W/T/L" in str(result)) == (left_out > 0, left_out == 0)
    assert "W/T/L" in result.to(all_pairs=True)
    assert "Not shown" not in result.to(all_pairs=True)
    [section] = [each for each in result.report().sections if each.heading == "Differences"]
    assert (bool(section.tables), section.collapsed, bool(section.text_version)) == (True, True, left_out > 0)
    assert len(result.to_polars()) == len(result.rows)


@pytest.mark.parametrize("n", [50, 51])
def test_of_more_than_50_runs_a_page_has_no_plots(n):
    result = made({f"run{i}": [1 + i % 3] * 6 for i in range(n)}, baseline="run0", resamples=9)
    plots = [plot for section in result.report().sections for plot in section.plots]
    assert [plot.about.count(";") for plot in plots] == [10] * (n == 50)
    assert all(plot.about.endswith("; 39 other runs") for plot in plots)
    few = made({f"run{i}": [1 + i % 3] * 6 for i in range(11)}, baseline="run0", resamples=9)
    [plot] = few.report().sections[0].plots
    assert (plot.about.count(";"), "other" in plot.about) == (9, False)


IN_FOURS = {f"q{i:02}": i // 4 for i in range(16)}
TWO_GROUPS = {f"q{i:02}": "xxyy"[i % 4] for i in range(8)}
EXACT = "randomization test (all 256 sign patterns of 8 queries)"
CLUSTERED = "randomization test (all 16 sign patterns of 4 clusters)"
DRAWN = "randomization test (1,234 random sign patterns of 40 queries, seed 5)"
RANKS = "Wilcoxon's test (signed ranks of 8 non-zero differences, exact)"
DAGGERS = "† p < 0.05, ‡ p < 0.01 against old: {}, {} correction over"
LETTERS = "Letters name the runs that a run is significantly better than, p < 0.05: {}, uncorrected."
NONE_HOLDS = "No significance marks: the tests treat the queries of a cluster as independent."
NO_TEST = "No significance test was run."
VARIANT = "nDCG(dcg='exp-log2')@10"
BONFERRONI = {"measures": ["RR", "P@1"], "correction": "bonferroni"}
OF_RANKS = {"tests": "wilcoxon", "correction": "benjamini-hochberg"}


@pytest.mark.parametrize(
    ("n", "options", "marks"),
    [
        (8, {}, f"{DAGGERS.format(EXACT, 'max-T')} 1 test."),
        (8, BONFERRONI, f"{DAGGERS.format(EXACT, 'Bonferroni')} 2 tests."),
        (8, {"baseline": None, "correction": "none"}, LETTERS.format(EXACT)),
        (40, {"resamples": 1234, "seed": 5}, f"{DAGGERS.format(DRAWN, 'max-T')} 1 test."),
        (16, {"clusters": IN_FOURS}, f"{DAGGERS.format(CLUSTERED, 'max-T')} 1 test."),
        (16, {"clusters": IN_FOURS, "tests": "wilcoxon"}, NONE_HOLDS),
        (8, {"tests": ()}, NO_TEST),
        (8, OF_RANKS, f"{DAGGERS.format(RANKS, 'Benjamini-Hochberg')} 1 test."),
        (
            8,
            {"by": TWO_GROUPS},
            f"{DAGGERS.format(EXACT, 'max-T')} 2 tests on groups and over 1 test on all queries.",
        ),
        (8, {"measures": VARIANT, "tests": ()}, f"{NO_TEST} nDCG-exp@10 is {VARIANT}."),
    ],
)
def test_a_caption_says_how_the_marks_were_made(n, options, marks):
    about = f"{n} queries{' in 4 clusters' if 'clusters' in options else ''}"
    means = f"Means{' by group' if 'by' in options else ''} over {about}"
    result = pair(n, **options)
    assert caption_of(result) == f"{means}; best in bold, second best underlined. {marks}"


def test_no_p_value_is_no_family():
    result = pair(1, tests="t-test", measures=["RR", "P@1"])
    assert caption_of(result).endswith(" No significance marks: no t-test has a p-value.")
    assert "p (adj.):" not in " ".join(notes_of(result))
    assert means_table(made({"old": [2], "new": [1]}, tests="t-test")).headings == ["run", "RR"]


@pytest.mark.parametrize(
    ("p", "printed"),
    [
        *((0.04996, "0.04996"), (0.049999, "0.049999"), (0.05, "0.0500"), (0.05004, "0.0500")),
        *((0.009996, "0.009996"), (0.01, "0.0100"), (0.0499, "0.0499"), (1.0, "1.0000"), (0.001, "0.0010")),
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


def test_a_method_names_every_way_in_which_its_p_values_were_computed():
    ranks = {"old": [2] * 12, "new": [1, 2, 4] * 4, "none": [1] * 12}
    by = {f"q{i:02}": "xxxxy"[i % 5] for i in range(12)}
    one_of_y = {"q00": "x", "q01": "x", "q02": "x", "q05": "y"}  # which has no p
    first_two = {"q00": "a", "q01": "a"}  # queries of x in one cluster; those of y have their own
    for options, said in (
        ({"tests": "t-test"}, "p: t-test (paired, 11 degrees of freedom);"),
        ({"tests": "t-test", "by": by}, "p: t-test (paired);"),
        ({"tests": "t-test", "by": by, "clusters": first_two}, "p: t-test (cluster-robust or paired);"),
        ({"tests": "t-test", "by": one_of_y, "clusters": first_two}, "p: t-test (cluster-robust);"),
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


def test_a_naive_test_is_not_to_be_reported():
    naive = "naive: treats the queries of a cluster as independent; do not report it"
    for tests, said in ((["wilcoxon", "t-test"], True), (["t-test"], False)):
        assert (naive in notes_of(pair(16, clusters=IN_FOURS, tests=tests))) == said
    assert naive not in notes_of(pair(16, tests="wilcoxon"))
    both = differences_table(pair(16, clusters=IN_FOURS, tests=["wilcoxon", "t-test"]))
    assert both.headings[-3:] == ["wilcoxon (naive) p", "p", "p (adj.)"]
