"""Evaluations, audits, uncertainty and leaderboards as pages."""

import base64
import gzip
import html
import itertools
import json
import re
import sys
from types import SimpleNamespace

import pytest
from browsing import assert_accessible, assert_fits, assert_keyboard, assert_legible, chromium, opened
from commands import run_main
from reporting import Page, assert_stands_alone, pair

import permed_measures as pm
from permed_measures.engine.evaluator import PermedEvaluator
from permed_measures.engine.groups import Groups
from permed_measures.engine.judgments import Judgments
from permed_measures.errors import InputError
from permed_measures.markup import one_line
from permed_measures.measures.parsing import measures_of
from permed_measures.pages import bundle, display
from permed_measures.reports.report_page import report_page
from permed_measures.results.evaluation_report import evaluation_report
from permed_measures.results.evaluations import Evaluations, with_judged

QRELS = {f"q_{number}": {"a": 1, "b": 1} for number in range(8)}
NAMES = ["<script>alert(1)</script>", "</style>\x1b\u202e", 'a" onload="b', "{words}", "研究"]


def ranked(*documents):
    """Return a run that ranks these documents for each query."""
    return {query: {each: -float(rank) for rank, each in enumerate(documents)} for query in QRELS}


PLAIN = {"first": ranked("a", "x", "b"), "second": ranked("x", "a", "b")}
RUNS = {
    name: ranked(*["x"] * (place > 0), "a", *["y"] * (place % 2), "b") for place, name in enumerate(NAMES)
}


def evaluated(runs, measures=("P@1", "RR", "P@3"), by=None, macro=False):
    judgments, asked = Judgments.of(QRELS), measures_of(measures)
    evaluate = PermedEvaluator(with_judged(asked), judgments).evaluate
    groups = Groups.of(judgments.query_ids, by) if by else None
    evaluations = {name: evaluate(run) for name, run in runs.items()}
    return report_page(evaluation_report(Evaluations(asked, evaluations, groups=groups, macro=macro)))


def audited(runs):
    claims = {name: {"P@1": f"{place == 0:d}.000", "RR": "0.123"} for place, name in enumerate(runs)}
    return pm.audit(QRELS, runs, claims).report(explain=True).to("html")


def unsure(runs):
    return pm.uncertainty(QRELS, runs, ["P@1"]).to("html")


def ordered(runs):
    return pm.leaderboard(QRELS, runs, ["RR"], resamples=20).to("html")


def by_group(runs):
    return evaluated(runs, ["P@1"], "_([0-3])?")


PAGES = [evaluated, by_group, audited, unsure, ordered]


def finding(text):
    shown = re.search(r'<p class="finding">(.*?)</p>', text, re.DOTALL)[1]
    return html.unescape(shown).strip()


def copies(text):
    """Return what the buttons of a page copy."""
    packed = re.search(r'id="data">([^<]*)<', text)[1]
    return json.loads(gzip.decompress(base64.b64decode(packed)))["copies"]


@pytest.mark.parametrize("made", PAGES)
def test_a_page_stands_alone_whatever_the_names(made):
    text = made(RUNS)
    page = Page(text)
    assert_stands_alone(page)
    assert "alert(1)<" not in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "window.vegaEmbed" not in text  # it is small
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    assert all(given["aria-label"] for tag, given in page.tags if tag == "figure")


def test_names_stand_in_the_tables():
    shown = [one_line(name) for name in NAMES]
    assert [row[1] for row in Page(by_group(RUNS)).rows[1:6]] == shown
    assert [row[1] for row in Page(ordered(RUNS)).rows[1:]] == shown
    assert {row[0] for row in Page(unsure(RUNS)).rows[1:6]} == {*shown}
    assert {row[0] for row in Page(audited(RUNS)).rows[1:11]} == {*shown}


def test_an_evaluation_says_which_runs_are_highest():
    runs = {"low": ranked("x", "a"), "high": ranked("a", "x"), "full": ranked("x", "a", "b")}
    assert finding(evaluated(runs, measures=("P@1", "RR", "P@2", "R@3"))) == (
        "high has the highest P@1: 1.0000. Highest on RR: high; on P@2: low, high and full; on R@3: full. "
        "No significance test was run."
    )
    assert finding(evaluated({"only": runs["full"]})) == "only has P@1 0.0000, RR 0.5000 and P@3 0.6667."
    assert finding(evaluated({"a": runs["low"], "b": runs["low"]}, measures=["RR"])) == (
        "a and b have the highest RR: 0.5000. No significance test was run."
    )


def test_an_evaluation_says_that_a_mean_is_of_the_means_of_groups():
    first, groups = {"q_1": {"a": 1.0}, "q_2": {"a": 1.0}}, {"q_1": "one", "q_2": "one"}
    second = {query: {"a": 1.0} for query in QRELS if query not in first}
    runs = {"few": first, "many": second}
    by = lambda query: groups.get(query, query)  # noqa: E731
    assert finding(evaluated(runs, measures=["P@1"], by=by)).startswith("many has the highest P@1: 0.7500.")
    assert finding(evaluated(runs, measures=["P@1"], by=by, macro=True)).startswith(
        "many has the highest P@1 (macro): 0.8571."
    )


def test_the_table_of_an_evaluation_can_be_copied():
    text = evaluated(PLAIN)
    found = copies(text)["1"]
    assert found["markdown"].startswith("| run | P@1 |")
    assert found["csv"].startswith("run,P@1,")
    assert "\\begin{tabular}" in found["latex"]
    assert text.count('data-copies="1"') == 1


def test_an_audit_says_its_verdict():
    result = pm.audit(QRELS, PLAIN, {"first": {"P@1": "1.000"}, "second": {"P@1": "0.000"}})
    said = finding(result.to("html"))
    assert said.startswith(str(result).splitlines()[0])
    nothing = pm.audit(QRELS, PLAIN["first"], {"P@1": "0.987654"})
    assert finding(nothing.to("html")) == "No convention explains any claim."


@pytest.mark.parametrize(
    ("made", "module"),
    [(each, "jinja2") for each in PAGES],
)
def test_a_page_without_its_packages_says_what_to_install(made, module, monkeypatch):
    bundle._environment.cache_clear()
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=r"an HTML page needs .*pip install '\.\[report\]'"):
        made(PLAIN)


def test_what_has_no_plot_needs_no_plotting(monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    assert [finding(made(PLAIN)) != "" for made in (audited, ordered)] == [True] * 2
    assert finding(evaluated(PLAIN)) != ""


# --- the command line ------------------------------------------------------------------------------


COMMANDS = {
    "evaluate": "--measure P@1",
    "uncertainty": "--measure P@1",
    "leaderboard": "--measure P@1 --resamples 20",
    "audit": "--claim P@1=1.000",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text("".join(f"{query} 0 a 1\n{query} 0 b 1\n" for query in QRELS))
    (tmp_path / "<i>").write_text("".join(f"{query} Q0 a 1 2 t\n" for query in QRELS))
    return tmp_path


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_writes_a_page_that_says_how_it_was_made(name, folder):
    options = COMMANDS[name].split()
    status, out, err = run_main(name, "qrels", "<i>", *options, "--output", "page.html")
    assert (status, out, "html of 1 run" in err) == (0, "", True)
    text = (folder / "page.html").read_text()
    page = Page(text)
    assert_stands_alone(page)
    assert "<i>" not in text
    again = html.unescape(re.search(r"<pre><code>(permed-measures .*?)</code>", text)[1])
    assert again == f"permed-measures {name} qrels '<i>' {' '.join(options)} --format html"
    files = [row for row in page.rows if len(row) == 4 and len(row[3]) == 64]
    assert [row[1] for row in files] == ["qrels", "<i>"]


@pytest.mark.parametrize("name", [*COMMANDS, "compare"])
def test_a_page_has_no_absolute_path(name, folder):
    options = COMMANDS.get(name, "--measure P@1 --resamples 20").split()
    runs = [folder / "<i>", f"mine={folder / '<i>'}"][: 1 + (name == "compare")]
    status, text, _ = run_main(name, folder / "qrels", *runs, *options, "--format", "html")
    assert status == 0
    assert str(folder) not in text
    again = html.unescape(re.search(r"<pre><code>(permed-measures .*?)</code>", text)[1])
    named = ["'<i>'", "'mine=<i>'"][: len(runs)]
    assert again.startswith(f"permed-measures {name} qrels {' '.join(named)} ")


# --- a page where one looks at it ------------------------------------------------------------------


@pytest.mark.parametrize(
    "made",
    [
        lambda: pair(4),
        lambda: pm.uncertainty(QRELS, PLAIN, "P@1"),
    ],
)
def test_a_page_is_shown_in_the_browser(made, monkeypatch, tmp_path):
    opened = []
    monkeypatch.setattr(bundle, "_plotting", str)  # it takes long
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    path = made().show()
    assert opened == [path.as_uri()]
    assert path.parent == tmp_path
    assert path.read_text(encoding="utf-8").splitlines()[1] == '<html lang="en">'


def test_a_page_is_shown_in_a_notebook(monkeypatch):
    monkeypatch.setattr(display, "_in_notebook", lambda: True)
    shown = pm.uncertainty({"<q>": {"a": 1}}, {"<q>": {"a": 1.0}}, {"<m>": "P@1"}).show()
    page = Page(shown._repr_html_())
    [(tag, given)] = page.tags
    assert (tag, "<Uncertainty of run: " in given["title"]) == ("iframe", True)
    inside = Page(given["srcdoc"])
    assert ("base", {"href": "about:srcdoc"}) in inside.tags  # without it, #links would load the notebook
    assert "&lt;m&gt;" in given["srcdoc"]
    assert len(repr(shown)) < 200


def test_a_notebook_is_where_a_kernel_runs(monkeypatch):
    assert not display._in_notebook()
    for config, expected in (({"IPKernelApp": {}}, True), ({}, False)):
        shell = SimpleNamespace(config=config)
        monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda shell=shell: shell))
        assert display._in_notebook() is expected
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert not display._in_notebook()


# --- in Chromium -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.mark.thorough
@pytest.mark.parametrize("made", PAGES)
def test_a_page_can_be_read_and_used_on_a_phone(made, browser, tmp_path):
    (tmp_path / "page.html").write_text(made(RUNS), encoding="utf-8")
    with opened(browser, tmp_path / "page.html", 400, "dark") as page:
        for details in page.locator("details > summary").all():
            details.click()
        assert_fits(page)
        assert_legible(page, more_than=30)  # it is small
        assert_accessible(page)
        assert_keyboard(page)


@pytest.mark.thorough
def test_a_table_is_sorted_shaded_and_copied(browser, tmp_path):
    runs = {"b": PLAIN["second"], "a": PLAIN["first"], "c": ranked("a", "b")}
    text = evaluated(runs)
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    with opened(browser, tmp_path / "page.html") as page:
        names = page.locator(".sortable tbody th.run")
        assert names.all_text_contents()[:3] == ["b", "a", "c"]
        page.get_by_role("button", name="run").click()
        assert names.all_text_contents() == ["a", "b", "c", "best possible"]
        page.get_by_role("button", name="RR").click()
        assert names.all_text_contents() == ["a", "c", "b", "best possible"]
        assert page.locator("th[aria-sort]").text_content() == "RR"
        page.get_by_label("Shade by column").check()
        shades = page.locator("tbody td").evaluate_all("all => all.map((each) => each.style.backgroundColor)")
        assert len({*shades}) > 1
        for form, copied in copies(text)["1"].items():
            page.locator(f"[data-form={form}]").click()
            page.get_by_text("Copied").wait_for()
            assert page.evaluate("navigator.clipboard.readText()") == copied
