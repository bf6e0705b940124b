"""Pages of all results: they stand alone, whatever the names, and say how they were made."""

import base64
import hashlib
import html
import itertools
import re
import shlex
import sys
from importlib.resources import files

import pytest
from commands import run_main
from reporting import Page, assert_stands_alone, made

import permed_measures as pm
from permed_measures.escaping import one_line
from permed_measures.results.report import Plot, Report, Section
from permed_measures.results.table import Cell, Table

QRELS = {f"q_{number}": {"a": 1, "b": 1} for number in range(8)}
NAMES = [
    "<script>alert(1)</script>",
    "</style>\x1b\u202e",
    'a" onload b',
    "{{ 7 * 7 }}",
    "研究",
    "]]>--><!--",
]
COMMANDS = {
    "evaluate": ["--measure", "P@1"],
    "uncertainty": ["--measure", "P@1"],
    "leaderboard": ["--measure", "P@1", "--resamples", "20"],
    "audit": ["--claim", "P@1=1.000", "--claim", "RR=0.123"],
    "compare": ["--measure", "P@1", "--measure", "RR", "--resamples", "20", "--by", "_([0-3])?"],
}


def ranked(*documents):
    """Return a run that ranks these documents for each query."""
    return {query: {each: -float(rank) for rank, each in enumerate(documents)} for query in QRELS}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_page_stands_alone_and_says_how_it_was_made(name, tmp_path):
    """Whatever the names; the command can be pasted, and elsewhere no path is one of this machine alone."""
    pm.write_qrels(QRELS, tmp_path / "labels.tsv")
    for file, documents in (("<i>.trec", "axb"), ("other.trec", "xa")):
        pm.write_run(ranked(*documents), tmp_path / file)
    runs = [
        f"{each}={tmp_path / file}" for each, file in zip(NAMES, itertools.cycle(["other.trec", "<i>.trec"]))
    ]
    runs = [tmp_path / "<i>.trec", *(runs if name != "audit" else [])]
    arguments = [name, tmp_path / "labels.tsv", *runs, *COMMANDS[name], "--format", "html"]
    status, text, _ = run_main(*arguments)
    page = Page(text)
    assert status in (0, 1)
    assert_stands_alone(page)
    for markup in ("alert(1)<", "\x1b", "\u202e", "<i>"):
        assert markup not in text
    if name != "audit":  # whose tables do not name the only run
        assert {"<i>", *map(one_line, NAMES)} <= {cell for row in page.rows for cell in row[:3]}
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    assert all(given["aria-label"] for tag, given in page.tags if tag == "figure" and "role" in given)
    again = re.search(r"<code>(permed-measures .*?)</code>", text, re.DOTALL)[1]
    again = html.unescape(re.sub("</?span[^>]*>", "", again))
    assert shlex.split(again) == ["permed-measures", *(one_line(str(each)) for each in arguments)]
    assert text.count(str(tmp_path)) == again.count(str(tmp_path))
    inputs = [row for row in page.rows if len(row) == 4 and len(row[3]) == 64]
    assert [row[:2] for row in inputs][:2] == [["qrels", "labels.tsv"], ["run <i>", "<i>.trec"]]


def test_all_of_a_report_is_on_its_page():
    """What is markup is text; plots alone are HTML."""
    hostile = "<b>{{ 7 * 7 }}</b>"
    table = Table.of(["run", hostile], [[hostile, Cell("0.5", 1, "†")]], caption=hostile)
    section = Section(hostile, hostile, [table], [hostile], [Plot(hostile, lambda: "<svg></svg>")], [hostile])
    folded = Section("Folded", texts=["inside"], collapsed=True)
    report = Report(hostile, [hostile], [section, folded], [hostile], cautions=[hostile])
    text = report.to("html")
    assert hostile not in text
    assert "49" not in re.sub(r"<style>.*?</style>|<script.*?</script>", "", text, flags=re.DOTALL)
    assert text.count(html.escape(hostile)) >= 11
    assert re.search(r'<p class="finding">.*</p>\n<p class="caution">', text)
    assert "<summary>Folded</summary>" in text
    assert re.search(r"<figure[^>]*><svg></svg></figure>", text)
    assert "†" in text


SAMPLE = "permed-sample permed-sample/runs"
IN_CELLS = re.compile(r"<td( data-value=\"(.*?)\")?>(.*?)</td>")


@pytest.mark.parametrize(
    "line",
    [
        f"evaluate {SAMPLE} -m P@1 -m NumRet -m RR",
        f"compare {SAMPLE} -m RR --baseline lsa --resamples 99 --human permed-sample",
        f"uncertainty {SAMPLE} -m P@1 -m Judged@10",
        f"leaderboard {SAMPLE} -m P@1 --resamples 99",
        "audit permed-sample permed-sample/runs/bm25 --claim P@1=0.6458 --claim RR=0.123",
        "possible permed-sample --claim P@1=0.9583 --claim RR=0.97",
    ],
)
def test_every_number_of_a_table_has_the_value_that_a_page_sorts_by(line):
    page = run_main(*line.split(), "--format", "html")[1].partition('<section id="how"')[0]
    rows = [IN_CELLS.findall(row) for row in re.findall("<tr>(.*?)</tr>", page)]
    cells = [cell for row in rows if any(value for _, value, _ in row) for cell in row]
    assert len(cells) > 1
    for _, value, cell in cells:
        text = html.unescape(re.sub("<.*?>", "", cell))
        if found := re.match(r"[<\[]?([-+]?[0-9][0-9.,]*)", text):
            printed = float(found[1].replace(",", ""))
            assert float(value) == pytest.approx(printed, rel=0.01, abs=0.06), text


def test_runs_of_a_comparison_stand_by_value():
    result = made({"aa": [4] * 9, "bb": [1] * 9, "cc": [2] * 9}, baseline="aa")
    assert [row[0] for row in Page(result.to("html")).rows[:4]] == ["run", "bb", "cc", "aa"]


def test_the_script_puts_nothing_in_as_markup():
    script = files("permed_measures.results").joinpath("web", "page.js").read_text("utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", script)


def test_a_browser_may_run_and_style_only_what_the_page_has_from_us():
    """The policy's hashes are those of the one script that runs and of the one style, as they stand."""
    text = made({"old": [2] * 8, "new": [1] * 8, NAMES[0]: [3] * 8}).to("html")
    [policy] = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', text)
    rules = {rule.partition(" ")[0]: rule.partition(" ")[2] for rule in policy.split("; ")}
    assert rules.pop("style-src") == rules.pop("style-src-attr") == "'unsafe-inline'"
    for element, rule in (("script", "script-src"), ("style", "style-src-elem")):
        [content] = re.findall(f"<{element}>(.*?)</{element}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert rules.pop(rule) == f"'sha256-{digest}'"
    assert {*rules} == {"default-src", "base-uri", "form-action"}
    assert {*rules.values()} == {"'none'"}
    assert text.index("Content-Security-Policy") < min(text.index("<style"), text.index("<title"))


@pytest.mark.parametrize(
    "line", [f"evaluate {SAMPLE}", f"compare {SAMPLE} -m RR --baseline lsa --resamples 99"]
)
def test_pages_need_no_matplotlib_and_have_plots_where_it_is(line, monkeypatch):
    with_plots = run_main(*line.split(), "--format", "html")[1]
    for name in ("matplotlib", "matplotlib.figure", "matplotlib.axes"):
        monkeypatch.setitem(sys.modules, name, None)
    status, page, notes = run_main(*line.split(), "--format", "html")
    assert (status, page.startswith("<!DOCTYPE html>\n")) == (0, True)
    is_plotted = line.startswith("compare")
    assert [text.count('<figure role="img"') for text in (with_plots, page)] == [int(is_plotted), 0]
    assert ("note: the page has no plots: matplotlib is not installed" in notes) == is_plotted
    headings = [re.findall("<h2>(.*?)</h2>", text) for text in (with_plots, page)]
    assert {*headings[0]} - {*headings[1]} == ({"Differences to lsa"} if is_plotted else set())
