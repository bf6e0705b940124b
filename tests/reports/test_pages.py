"""Pages of all results: they stand alone, whatever the names, and say how they were made."""

import html
import itertools
import re
import sys
from importlib.resources import files

import pytest
from commands import run_main
from reporting import Page, assert_stands_alone, made

import permed_measures as pm
from permed_measures.engine.evaluator import PermedEvaluator
from permed_measures.engine.judgments import Judgments
from permed_measures.markup import one_line
from permed_measures.measures.parsing import measures_of
from permed_measures.results.evaluation_report import evaluation_report
from permed_measures.results.evaluations import Evaluations, with_judged
from permed_measures.results.report import Plot, Report, Section
from permed_measures.results.table import Cell, Table

QRELS = {f"q_{number}": {"a": 1, "b": 1} for number in range(8)}
NAMES = [
    "<script>alert(1)</script>",
    "</style>\x1b\u202e",
    'a" onload="b',
    "{{ 7 * 7 }}",
    "研究",
    "]]>--><!--",
]


def ranked(*documents):
    """Return a run that ranks these documents for each query."""
    return {query: {each: -float(rank) for rank, each in enumerate(documents)} for query in QRELS}


PLAIN = {"first": ranked("a", "x", "b"), "second": ranked("x", "a", "b")}
RUNS = {
    name: ranked(*["x"] * (place > 0), "a", *["y"] * (place % 2), "b") for place, name in enumerate(NAMES)
}


def evaluated(runs):
    judgments, asked = Judgments.of(QRELS), measures_of(["P@1", "RR"])
    evaluate = PermedEvaluator(with_judged(asked), judgments).evaluate
    found = Evaluations(asked, {name: evaluate(run) for name, run in runs.items()})
    return evaluation_report(found).to("html")


def audited(runs):
    claims = {name: {"P@1": f"{place == 0:d}.000", "RR": "0.123"} for place, name in enumerate(runs)}
    return pm.audit(QRELS, runs, claims).to("html")


def budgeted(runs):
    return pm.uncertainty(QRELS, runs, ["P@1"]).to("html")


def ordered(runs):
    return pm.leaderboard(QRELS, runs, ["RR"], resamples=20).to("html")


def compared(runs):
    options = {"tests": "randomization", "resamples": 20, "by": "_([0-3])?", "baseline": next(iter(runs))}
    return pm.compare(QRELS, runs, ["P@1", "RR"], **options).to("html")


PAGES = [evaluated, audited, budgeted, ordered, compared]


@pytest.mark.parametrize("made", PAGES)
def test_a_page_stands_alone_whatever_the_names(made):
    text = made(RUNS)
    page = Page(text)
    assert_stands_alone(page)
    assert "alert(1)<" not in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert {one_line(name) for name in NAMES} <= {row[0] for row in page.rows} | {
        row[1] for row in page.rows if len(row) > 1
    }
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    assert all(given["aria-label"] for tag, given in page.tags if tag == "figure" and "role" in given)


def test_all_of_a_report_is_on_its_page():
    """What is markup is text; plots alone are HTML."""
    hostile = "<b>{{ 7 * 7 }}</b>"
    table = Table.of(["run", hostile], [[hostile, Cell("0.5", 1, "†")]], caption=hostile)
    section = Section(hostile, hostile, [table], [hostile], [Plot(hostile, lambda: "<svg></svg>")], [hostile])
    folded = Section("Folded", texts=["inside"], folded=True)
    report = Report(hostile, [hostile], [section, folded], [hostile], cautions=[hostile])
    text = report.to("html")
    assert hostile not in text
    assert "49" not in re.sub(r"<style>.*?</style>|<script.*?</script>", "", text, flags=re.DOTALL)
    assert text.count(html.escape(hostile)) >= 11
    assert re.search(r'<p class="finding">.*</p>\n<p class="caution">', text)
    assert "<summary>Folded</summary>" in text
    assert re.search(r"<figure[^>]*><svg></svg></figure>", text)
    assert "†" in text


def test_runs_of_a_comparison_stand_by_value():
    result = made({"aa": [4] * 9, "bb": [1] * 9, "cc": [2] * 9}, baseline="aa")
    assert [row[0] for row in Page(result.to("html")).rows[:4]] == ["run", "bb", "cc", "aa"]


def test_unjudged_documents_that_weaken_the_finding_are_said_below_it():
    def cautions(runs):
        qrels = {query: {**grades, "c": 0} for query, grades in QRELS.items()}
        page = pm.compare(qrels, runs, "P@2", baseline="old").to("html")
        return re.findall(r'<p class="caution">(.*?)</p>', page)

    [caution] = cautions({"old": ranked("a", "x"), "new": ranked("a", "b")})
    assert html.unescape(caution) == (
        "Judged@2: 'new' 1.00, 'old' 0.50; differences may be due to unjudged documents"
    )
    assert not cautions({"old": ranked("a", "b"), "new": ranked("b", "a")})


def test_the_script_puts_nothing_in_as_markup():
    script = files("permed_measures.results").joinpath("web", "page.js").read_text("utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", script)


def test_what_has_no_plot_needs_no_matplotlib(monkeypatch):
    for name in ("matplotlib", "matplotlib.figure", "matplotlib.axes"):
        monkeypatch.setitem(sys.modules, name, None)
    assert evaluated(PLAIN).startswith("<!DOCTYPE html>\n")


# --- the command line ------------------------------------------------------------------------------


COMMANDS = {
    "evaluate": "--measure P@1",
    "uncertainty": "--measure P@1",
    "leaderboard": "--measure P@1 --resamples 20",
    "audit": "--claim P@1=1.000",
    "compare": "--measure P@1 --resamples 20",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_page_says_how_it_was_made_without_absolute_paths(name, tmp_path):
    (tmp_path / "qrels").write_text("".join(f"{query} 0 a 1\n{query} 0 b 1\n" for query in QRELS))
    (tmp_path / "<i>").write_text("".join(f"{query} Q0 a 1 2 t\n" for query in QRELS))
    runs = [tmp_path / "<i>", f"mine={tmp_path / '<i>'}"][: 1 + (name == "compare")]
    status, text, _ = run_main(name, tmp_path / "qrels", *runs, *COMMANDS[name].split(), "--format", "html")
    assert status == 0
    assert str(tmp_path) not in text
    assert "<i>" not in text
    assert_stands_alone(page := Page(text))
    again = html.unescape(re.search(r"<code>(permed-measures .*?)</code>", text)[1])
    named = ["'<i>'", "'mine=<i>'"][: len(runs)]
    assert again == f"permed-measures {name} qrels {' '.join(named)} {COMMANDS[name]} --format html"
    inputs = [row for row in page.rows if len(row) == 4 and len(row[3]) == 64]
    assert [row[1] for row in inputs][:2] == ["qrels", "<i>"]
