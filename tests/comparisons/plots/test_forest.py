"""Forest plots: what is drawn, against the comparison's rows and its table."""

import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from plotting import QRELS, made, made_runs

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


def test_axes_are_as_many_as_measures(against_old):
    with pytest.raises(pm.InputError, match=r"one Axes for each of 2 measures \(found 1\).*subplots\(2\)"):
        plot_forest(against_old, ax=Figure().subplots())


def test_measures_share_a_scale_where_they_can():
    left, right = plot_forest(compared())
    assert left.get_xlim() == right.get_xlim()
    left, right = plot_forest(made(measures=("NumRet", "P@1"), tests="randomization"))
    assert left.get_xlim() == right.get_xlim()  # no difference in the number of documents
