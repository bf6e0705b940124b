"""Forest plots: what is drawn, against the comparison's rows and its table."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from plotting import CONVERSATION, QRELS, TURN, made, made_runs, per_query

import permed_measures as pm
from permed_measures.comparisons.compare import compare
from permed_measures.comparisons.means_table import means_table
from permed_measures.comparisons.plots.forest import plot_forest
from permed_measures.intervals import measure_intervals

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
        (
            {"correction": "holm", "resamples": 999},
            "bar: 95% CI\nfilled: p < 0.05 (randomization, adjusted)",
        ),
        ({"family": "measure"}, "bar: 95% CI, for all differences of each measure at once\nfilled: p"),
        ({"tests": "t-test"}, "bar: 95% CI\nfilled: p < 0.05 (t-test, adjusted)"),
        ({"tests": ()}, "bar: 95% CI\nno significance test was run that is valid here"),
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
    order = []
    for number, (ax, measure) in enumerate(zip(axes, MEASURES, strict=True)):
        table = {row[1].text: (row[0].text, row[2 + number].mark) for row in block}
        means = {}
        for name, run in runs_of_all_kinds().items():
            values = np.array([*per_query(QRELS, run, pm.parse_measure(measure)).values()])
            asked = [pm.parse_measure(measure)]
            [interval] = measure_intervals(asked, values[:, None], np.arange(len(values)))
            means[name] = [f"{name}  {table[name][0]}", values.mean(), interval.value, True]
        order = order if number else sorted(means, key=lambda name: -means[name][1])
        rows = [means[name] for name in order]
        assert [row[0] for row in drawn(ax)] == [row[0] for row in rows]
        for row, (_, value, interval, filled) in zip(drawn(ax), rows, strict=True):
            assert row[1] == pytest.approx(value)
            assert row[2] == (interval and pytest.approx(interval))
            assert row[3] == filled
        assert [text.get_text() for text in ax.texts] == [table[row[0].split()[0]][1] for row in rows]
        assert any(text.get_text() for text in ax.texts)
        assert ax.get_xlabel() == f"mean {measure}"
    assert axes[0].get_title(loc="left") == (
        "bar: 95% CI of the mean\n"
        "letters: significantly better than these runs,\n"
        "p < 0.05 (randomization, adjusted)"
    )


def test_of_many_runs_the_number_of_those_that_are_worse_is_shown():
    runs = {f"run {i}": runs_of_all_kinds()["bad" if i else "good"] for i in range(27)}
    result = compare(QRELS, runs, "RR", tests="randomization", resamples=1000)
    [ax] = plot_forest(result, ax=Figure().subplots())
    assert ax.get_yticklabels()[0].get_text() == "run 0"
    assert [text.get_text() for text in ax.texts] == ["> 26", *[""] * 26]
    assert "> n: significantly better than n runs" in ax.get_title(loc="left")


def test_several_baselines_have_a_section_each():
    result = compared(baseline=["old", "new"])
    [ax] = plot_forest(result, "RR", Figure().subplots())
    parts = [
        [[f"minus {name}", None, None, None], *expected([r for r in result.rows[:7] if r.baseline == name])]
        for name in ("old", "new")
    ]
    assert drawn(ax) == [*parts[0], *parts[1]]
    assert "minus" not in ax.get_title(loc="left")
    [ax] = plot_forest(result, "RR", Figure().subplots(), runs=["old", "good"])
    assert [row[0] for row in drawn(ax)] == ["minus old", "good", "minus new", "good"]


def test_groups_have_a_section_each_and_small_ones_no_bars():
    result = compared(by=lambda query_id: "few" if query_id in ("u_1", "v_1", "w_1", "x_1") else "most")
    [ax] = plot_forest(result, "P@1", Figure().subplots(), groups=True)
    rows = drawn(ax)
    assert "at once\nno bar: fewer than 5 queries, or no variance\n" in ax.get_title(loc="left")
    few, most = (result.groups[name].rows[4:] for name in ("few", "most"))
    assert rows[0][0] == "group few (n=4, no bars)"
    assert rows[1:5] == [[name, value, None, filled] for name, value, _, filled in expected(few)]
    assert rows[5][0] == "group most (n=14)"
    assert rows[6:10] == expected(most)
    assert rows[10][0] == "all queries (n=18)"
    assert rows[11:] == expected(result.rows[4:])
    assert drawn(plot_forest(result, "P@1", Figure().subplots())[0]) == rows[11:]
    several = compared(by=TURN, baseline=["old", "new"], tests=(), resamples=20)
    [ax] = plot_forest(several, "P@1", Figure().subplots(), groups=True)
    assert [row[0] for row in drawn(ax) if row[1] is None][1:3] == [
        "group 1 (n=6): minus new",
        "group 2 (n=6): minus old",
    ]
    few = compared(by=lambda query_id: "x" * 40 + query_id[-2:], tests=(), resamples=20)
    heading = plot_forest(few, "P@1", Figure().subplots(), groups=True)[0].get_yticklabels()[0].get_text()
    assert heading == f"group {'x' * 21}…{'x' * 10}_1 (n=6)"  # a heading is long where it has to be


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measures": []}, "measures is empty: there is nothing to draw"),
        ({"measures": ["RR", "P@2"]}, r"a measure of the comparison .*found 'P@2'"),
        ({"runs": "old"}, "no run to draw is compared with a baseline"),
        ({"groups": True}, "groups=True, but the comparison has no groups"),
        (
            {"ax": Figure().subplots()},
            r"ax must be one Axes for each of 2 measures \(found 1\).*subplots\(2\)",
        ),
        ({"ax": Figure()}, r"ax must be an Axes of matplotlib, .*found Figure\)"),
        ({"ax": "x.pdf"}, r"ax must be an Axes of matplotlib, .*found str\)"),
    ],
)
def test_what_cannot_be_drawn(options, message, against_old):
    with pytest.raises(pm.InputError, match=message):
        plot_forest(against_old, **options)


def test_measures_share_a_scale_where_they_can():
    left, right = plot_forest(compared())
    assert left.get_xlim() == right.get_xlim()
    left, right = plot_forest(made(measures=("NumRet", "P@1"), tests="randomization"))
    assert left.get_xlim() == right.get_xlim()  # no difference in the number of documents
    runs = {"none": {}, "all": {query: dict.fromkeys("abcdef", 1.0) for query in QRELS}}
    left, right = plot_forest(compare(QRELS, runs, ("NumRet", "P@1"), baseline="none"))
    assert left.get_xlim()[1] > 6 > right.get_xlim()[1]
