"""Forest plots: what is drawn, against the comparison's rows and its table."""

import random

import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from plotting import CONVERSATION, QRELS, TURN, made, made_runs

import permed_measures as pm
from permed_measures.comparisons.compare import compare
from permed_measures.comparisons.means_table import means_table
from permed_measures.comparisons.plots.forest import plot_forest

MEASURES = ("RR", "P@1")


def runs_of_all_kinds():
    """Return runs that are better than the first, worse, and neither."""
    good = {query: {"a": 2.0, "b": 1.0} for query in QRELS}
    return {**made_runs(("old", "new", "other")), "good": good, "bad": {}}


def compared(**options):
    options = {"baseline": "old", "tests": "randomization", "resamples": 300, **options}
    return compare(QRELS, runs_of_all_kinds(), MEASURES, **options)


@pytest.fixture(scope="module")
def against_old():
    return compared()


@pytest.fixture(scope="module")
def without_baseline():
    return compared(baseline=None)


def drawn(ax):
    """Return label, value, bar, and whether it is filled, of each row from the top."""
    labels = ax.figure.axes[0].get_yticklabels()  # which a row of Axes shares
    rows = [[text.get_text(), None, None, None] for text in labels]
    for points in ax.lines:
        if points.get_marker() == "o":
            filled = to_hex(points.get_markerfacecolor()) == to_hex(points.get_color())
            for value, y in points.get_xydata().tolist():
                rows[int(y)][1], rows[int(y)][3] = value, filled
    for bars in ax.collections:
        for (low, y), (high, _) in bars.get_segments():
            rows[int(y)][2] = (low, high)
    return rows


def expected(rows):
    """Return the same of the rows of a measure and a baseline, by plain sorting."""
    found = [
        [row.run, row.difference, row.interval, row.tests["randomization"].adjusted < 0.05] for row in rows
    ]
    return sorted(found, key=lambda row: -row[1])


def test_the_rows_of_each_measure_are_drawn_sorted(against_old):
    axes = plot_forest(against_old)
    order = [row[0] for row in expected(against_old.rows[:4])]  # of the first measure
    assert len(axes) == len(axes[0].figure.axes) == 2
    for ax, measure in zip(axes, against_old.measures, strict=True):
        rows = [row for row in against_old.rows if row.measure == measure]
        assert drawn(ax) == sorted(expected(rows), key=lambda row: order.index(row[0]))
        assert ax.get_xlabel() == f"difference in {measure}"
        assert ax.get_ylim()[0] > 3 > 0 > ax.get_ylim()[1]  # the first row is on top
        low, high = ax.get_xlim()
        intervals = [row.interval for row in rows if row.interval]
        assert low < min(ends[0] for ends in intervals) <= max(ends[1] for ends in intervals) < high
        assert [0, 0] in [list(each.get_xdata()) for each in ax.lines]
        assert {each.get_label() for each in ax.lines} >= {"better", "worse", "open"}
    assert axes[0].get_title(loc="left") == (
        "minus old\nbar: 95% CI, for all differences at once\nfilled: p < 0.05 (randomization, adjusted)"
    )


@pytest.mark.parametrize(
    ("options", "note"),
    [
        ({"correction": "none", "level": 0.8}, "bar: 80% CI\nfilled: p < 0.05 (randomization)"),
        ({"tests": "t-test"}, "bar: 95% CI\nfilled: p < 0.05 (t-test, adjusted)"),
        (
            {"tests": "wilcoxon", "clusters": CONVERSATION},
            "bar: 95% CI\nno significance test was run that is valid here",
        ),
    ],
)
def test_the_note_says_what_bars_and_points_are(options, note):
    result = compared(**options)
    [ax] = plot_forest(result, "P@1", Figure().subplots())
    assert ax.get_title(loc="left").startswith(f"minus old\n{note}")
    assert any(row[3] for row in drawn(ax)) == ("no significance" not in note)


def test_means_have_their_intervals_and_the_letters_of_the_table(without_baseline):
    axes = plot_forest(without_baseline)
    [block] = means_table(without_baseline).blocks
    values = without_baseline.paired.values
    order = sorted(values, key=lambda name: -values[name][0].mean())
    for number, ax in enumerate(axes):
        table = {row[1].text: (row[0].text, row[2 + number].mark) for row in block}
        rows = without_baseline.rows_of(number)
        intervals = {row.baseline: row.intervals["baseline_mean"] for row in rows}
        intervals |= {row.run: row.intervals["mean"] for row in rows}
        assert drawn(ax) == [
            [f"{name}  {table[name][0]}", values[name][number].mean(), intervals[name], True]
            for name in order
        ]
        assert [text.get_text() for text in ax.texts] == [table[name][1] for name in order]
        assert any(text.get_text() for text in ax.texts)
        assert ax.get_xlabel() == f"mean {MEASURES[number]}"
    assert axes[0].get_title(loc="left") == (
        "bar: 95% CI of the mean\n"
        "letters: significantly better than these runs, p < 0.05 (randomization, adjusted)"
    )


def test_letters_stand_only_where_each_run_has_one_and_there_is_a_test():
    for n, tests, letters in ((26, "randomization", "yz"), (27, "randomization", ""), (26, (), "")):
        runs = {f"run {i}": runs_of_all_kinds()["good" if i < 2 else "bad"] for i in range(n)}
        [ax] = plot_forest(compare(QRELS, runs, "RR", tests=tests, resamples=1000))
        labels = [text.get_text() for text in ax.get_yticklabels()]
        assert labels[24:26] == [
            f"run {i}" + f"  {each}" * bool(letters) for i, each in ((24, "y"), (25, "z"))
        ]
        assert ax.texts[0].get_text()[-2:] == letters
        assert ("letters" in ax.get_title(loc="left")) == bool(letters)


@pytest.mark.parametrize(("n", "said"), [(4, "no CI: fewer than 5 queries"), (5, "bar: 95% CI")])
def test_few_queries_have_no_bars_and_that_is_said(n, said):
    rng = random.Random(0)
    runs = {name: {f"q{i}": {d: rng.random() for d in "abcd"} for i in range(n)} for name in ("old", "new")}
    result = compare({f"q{i}": {"a": 1} for i in range(n)}, runs, ("RR", "nDCG"), baseline="old")
    ax, _ = plot_forest(result)
    assert f"\n{said}" in ax.get_title(loc="left")
    assert [row[2] is None for row in drawn(ax)] == [n == 4]


def test_runs_without_variance_have_no_bar_and_that_is_said():
    [ax] = plot_forest(compared(), "P@1", Figure().subplots())
    assert "no bar" not in ax.get_title(loc="left")
    same = compare(QRELS, {**runs_of_all_kinds(), "copy": made_runs(("old",))["old"]}, "P@1", baseline="old")
    [ax] = plot_forest(same)
    assert "\nno bar: fewer than 5 queries, or no variance\n" in ax.get_title(loc="left")


def test_groups_are_not_drawn_but_their_differences_are_among_all():
    result = compared(by=TURN)
    [ax] = plot_forest(result, "P@1", Figure().subplots())
    assert drawn(ax) == expected(result.rows[4:])
    alone = plot_forest(compare(QRELS, made_runs(("old", "new")), "P@1", baseline="old"))
    assert ["at once" in each.get_title(loc="left") for each in (ax, *alone)] == [True, False]


def test_axes_are_as_many_as_measures(against_old):
    with pytest.raises(pm.InputError, match=r"one Axes for each of 2 measures \(found 1\).*subplots\(2\)"):
        plot_forest(against_old, ax=Figure().subplots())


def test_measures_share_a_scale_where_they_can():
    left, right = plot_forest(compared())
    assert left.get_xlim() == right.get_xlim()
    left, right = plot_forest(made(measures=("NumRet", "P@1"), tests="randomization"))
    assert left.get_xlim() == right.get_xlim()  # no difference in the number of documents
    runs = {"none": {}, "all": {query: dict.fromkeys("abcdef", 1.0) for query in QRELS}}
    left, right = plot_forest(compare(QRELS, runs, ("NumRet", "P@1"), baseline="none"))
    assert left.get_xlim()[1] > 6 > right.get_xlim()[1]
