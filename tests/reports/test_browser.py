"""Pages in Chromium: what one sees, what happens on a click or a key, and what must hold of every page."""

import re
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from commands import run_cli
from ir_measures import ScoredDoc
from reporting import HOSTILE

import permed_measures as pm
from permed_measures.comparison.compare import compare
from permed_measures.datasets import SAMPLES, load
from permed_measures.escaping import one_line
from permed_measures.results.report import Report, Section
from permed_measures.results.table import Cell, Table

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
]
CHECKS = Path(__file__).with_name("page_checks.js").read_text(encoding="utf-8")

IN_PAGES = [
    *(*HOSTILE, "<img src=x onerror=alert(1)>"),
    *("</script><script>alert(1)</script>", "${alert(1)}", "{run}"),
]
"""Names that mean something in a page or its scripts."""


@pytest.fixture(scope="module")
def browser():
    """Start the Chromium that is installed; nothing is downloaded."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("no Chromium is installed: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield browser
        browser.close()


@contextmanager
def opened(browser, path, width=1280, scheme="light", scripts=True, **options):
    """Open a page and wait for its script; nothing may be loaded, logged or shown in a dialog."""
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=scheme,
        java_script_enabled=scripts,
        permissions=["clipboard-read", "clipboard-write"],
        **options,
    )
    page = context.new_page()
    said, asked = [], []
    page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: asked.append(request.url.partition("#")[0]))
    page.goto(path.as_uri())
    if scripts:
        page.wait_for_selector("html[data-ready]", state="attached")
    yield page
    context.close()
    assert not said, said
    assert {*asked} == {path.as_uri()}, asked


def found_in(page, name):
    """Return what one of the functions of page_checks.js finds in a page."""
    return page.evaluate(f"() => {{ {CHECKS}; return {name}(); }}")


def assert_fits(page):
    """Check that the page does not scroll sideways; tables do so by themselves."""
    sizes = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert sizes[0] <= sizes[1]
    wide = found_in(page, "stickingOut")
    assert not wide, wide


def assert_legible(page, more_than=50):
    """Check that text and plots stand out from what is behind them as WCAG AA asks."""
    found = found_in(page, "contrasts")
    assert len(found) > more_than
    faint = [each for each in found if each["contrast"] < each["least"]]
    assert not faint, faint


def assert_named(page):
    """Check that whatever can have the focus has a name, and return what roles a reader is told."""
    nodes = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    told = [each for each in nodes if not each["ignored"]]
    focusable = [each for each in told if "focusable" in [found["name"] for found in each["properties"]]]
    assert len(focusable) > 5
    unnamed = [each for each in focusable if not each["name"]["value"].strip()]
    assert {each["role"]["value"] for each in unnamed} <= {"listitem"}, unnamed  # whose content is read
    return {each["role"]["value"] for each in told}


# --- pages -------------------------------------------------------------------------------------------


TEXTS = {query.query_id: query.text for query in load("permed-sample").queries_iter()}


@pytest.fixture(scope="module")
def against_lsa():
    """Return a comparison whose queries have texts, turns and groups."""
    options = {"baseline": "lsa", "by": "turn_number", "resamples": 99}
    return compare("permed-sample", SAMPLES[0].runs, ["nDCG@10", "P@1"], **options)


@pytest.fixture(scope="module")
def path(against_lsa, tmp_path_factory):
    """Return its page."""
    path = tmp_path_factory.mktemp("pages") / "lsa.html"
    path.write_text(against_lsa.to("html"), encoding="utf-8")
    return path


def values_of(result, run, measure=0):
    """Return the values of a run and of lsa by query."""
    first, second = (result.paired.values[name][measure].tolist() for name in (run, "lsa"))
    return dict(zip(result.paired.query_ids, zip(first, second, strict=True), strict=True))


def queries_shown(page):
    """Return the rows of the table of queries, all of them: id, difference, values of run and baseline."""
    while page.locator("#query-more").is_visible():
        page.locator("#query-more").click()
    rows = page.locator("#query-table tbody tr").evaluate_all(
        "rows => rows.map((row) => [row.dataset.query, ...[...row.cells].map((cell) => cell.textContent)])"
    )
    return {query: cells for query, _, *cells in rows}


@pytest.mark.thorough
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (400, "dark")])
def test_a_page_and_an_open_query_are_legible_and_fit_the_window(browser, path, width, scheme):
    with opened(browser, path, width, scheme) as page:
        assert page.locator(".finding").bounding_box()["y"] < 150
        for details in page.locator("details > summary").all():
            details.click()
        assert_fits(page)
        parts = {"main", "navigation", "contentinfo", "table", "columnheader", "rowheader"}
        assert parts <= assert_named(page)
        red = int(re.search(r"\d+", page.evaluate("getComputedStyle(document.body).backgroundColor"))[0])
        assert (red > 128) == (scheme == "light")
        page.locator(".query-open").nth(3).click()
        assert_fits(page)
        if scheme == "dark":
            assert_legible(page)
        assert_named(page)


@pytest.mark.thorough
def test_queries_have_their_values_and_are_searched_filtered_and_sorted(browser, path, against_lsa):
    with opened(browser, path) as page:
        for run, measure in (("tfidf", "P@1"), ("bm25", "nDCG@10")):
            page.locator("#query-run").select_option(run)
            page.locator("#query-measure").select_option(measure)
            known = values_of(against_lsa, run, ("nDCG@10", "P@1").index(measure))
            shown = queries_shown(page)
            for query, (first, second) in known.items():
                delta = f"{first - second:+.4f}".replace("-", "\N{MINUS SIGN}").replace("+0.0000", "0.0000")
                assert shown[query][:3] == [delta, f"{first:.4f}", f"{second:.4f}"]
            deltas = [round(first - second, 10) for first, second in map(known.get, shown)]
            assert deltas == sorted(deltas, reverse=True)
            counts = page.locator("button[data-outcome]").all_text_contents()
            [row] = [row for row in against_lsa.rows if (row.run, str(row.measure)) == (run, measure)]
            outcomes = [len(TEXTS), row.wins, row.ties, row.losses]
            assert [int(text.split()[1]) for text in counts] == outcomes
        page.get_by_role("searchbox").fill("the TREATMENT")
        words = {query for query, text in TEXTS.items() if {"the", "treatment"} <= {*_words(text)}}
        assert {*queries_shown(page)} >= words
        page.get_by_role("searchbox").fill("no query has this")
        assert queries_shown(page) == {}
        page.get_by_role("button", name="Clear filters").click()
        page.locator("select[data-field=turn_number]").select_option("2")
        page.locator("[data-outcome=loss]").click()
        losses = {query for query, (first, second) in known.items() if query[-2:] == "_2" and first < second}
        assert 0 < len(losses) < 12
        assert {*queries_shown(page)} == losses
        page.get_by_role("button", name="Clear filters").click()
        heading = page.locator("#query-table thead th").nth(2)
        for descending in (True, False):
            heading.get_by_role("button").click()
            found = [known[query][0] for query in queries_shown(page)]
            assert found == sorted(found, reverse=descending)


@pytest.mark.thorough
def test_the_overlap_of_two_runs_is_shown_of_each_query_and_on_average(browser, path):
    with opened(browser, path) as page:
        page.locator("#query-run").select_option("tfidf")
        expected = pm.reranking("permed-sample", SAMPLES[0].runs["lsa"], SAMPLES[0].runs["tfidf"], "P@1")
        said = f"Rank-biased overlap (RBO) of tfidf and lsa: {expected.overlap:.4f} on average (p = 0.9)."
        assert page.locator("#query-overlap").text_content() == said
        by_query = {query.query_id: query.overlap for query in expected.queries}
        headings = page.locator("#query-table thead th").all_text_contents()
        column = headings.index("RBO") - 1
        shown = queries_shown(page)
        assert {query: cells[column] for query, cells in shown.items()} == {
            query: f"{value:.4f}" for query, value in by_query.items()
        }
        page.locator("#query-table thead th").nth(column + 1).get_by_role("button").click()
        order = [by_query[query] for query in queries_shown(page)]
        assert [round(value, 4) for value in order] == sorted(
            (round(value, 4) for value in order), reverse=True
        )
        page.locator(".query-open").nth(2).click()
        opened_query = page.evaluate("decodeURIComponent(location.hash.slice(3))")
        row = page.locator("#query-rbo").locator("th, td").all_text_contents()
        assert row == ["RBO (p = 0.9)", f"{by_query[opened_query]:.4f}"]
        page.locator("[data-side=right] select").select_option("lsa")
        assert page.locator("#query-rbo").count() == 0
        page.get_by_role("button", name="Close").click()
        page.locator("#query-baseline").select_option("bm25")  # a pair that is not compared
        assert page.locator("#query-overlap").text_content() == ""
        assert "RBO" not in page.locator("#query-table thead th").all_text_contents()


def _words(text):
    return re.findall(r"\w+", text.lower())


@pytest.mark.thorough
def test_a_point_of_the_scatter_picks_its_queries(browser, path, against_lsa):
    with opened(browser, path) as page:
        run = page.locator("#query-run option:checked").text_content()
        known = values_of(against_lsa, run)
        points = page.locator("#query-scatter circle")
        assert points.count() == len({*known.values()})
        drawn = points.evaluate_all("all => all.map(each => [+each.getAttribute('r'), each.textContent])")
        sizes = sorted((int(title.split()[0]), radius) for radius, title in drawn)
        radii = [radius for _, radius in sizes]
        assert sum(n for n, _ in sizes) == len(known)
        assert min(radii) < max(radii)
        assert radii == sorted(radii)  # larger: more queries
        last = points.nth(points.count() - 1)  # drawn above the others
        about = last.locator("title").text_content()
        expected = {
            query
            for query, (first, second) in known.items()
            if about.endswith(f": lsa {second:.4f}, {run} {first:.4f}")
        }
        last.click(force=True)
        assert {*queries_shown(page)} == expected
        assert 0 < len(expected) < len(known)
        page.get_by_role("button", name="Clear filters").click()
        assert len(queries_shown(page)) == len(known)


@pytest.mark.thorough
def test_two_rankings_are_those_of_the_runs(browser, path):
    grades = pm.read_qrels(SAMPLES[0].qrels)
    with opened(browser, path) as page:
        run = page.locator("#query-run option:checked").text_content()
        for query in ("sample_01_1", "sample_08_3"):
            page.goto(f"{path.as_uri()}#q={query}")
            page.get_by_role("heading", name=TEXTS[query]).wait_for()
            before = page.locator(".turns li").all_text_contents()
            assert before == [TEXTS[f"{query[:-1]}{number}"] for number in range(1, int(query[-1]))]
            ranked = {name: ranking_of(pm.read_run(SAMPLES[0].runs[name])[query]) for name in (run, "lsa")}
            known = grades[query]
            for side, here, there in (("left", "lsa", run), ("right", run, "lsa")):
                expected = []
                for rank, document in enumerate(ranked[here][:10], 1):
                    other = ranked[there].index(document) + 1 if document in ranked[there] else None
                    seen = other is not None and (other <= 10 or document in known)
                    moved = "∅" if not seen else "=" if other == rank else f"#{other}"
                    expected.append([str(rank), document, str(known.get(document, "?")), moved])
                assert page.locator(f"[data-side={side}] li").evaluate_all(DOCUMENTS) == expected
            found = {*ranked[run][:10], *ranked["lsa"][:10]}
            both = {*ranked[run][:10]} & {*ranked["lsa"][:10]}
            assert page.locator(".rankings path").count() == len(both)
            missed = {document for document, grade in known.items() if grade > 0 and document not in found}
            assert page.locator(".missed li").count() == len(missed)


def ranking_of(scores):
    return sorted(scores, key=lambda document: (float(np.float32(scores[document])), document), reverse=True)


DOCUMENTS = """items => items.map((item) =>
  [".rank", ".document small", ".grade", ".move"].map((part) => item.querySelector(part).textContent))"""


@pytest.mark.thorough
def test_a_query_opens_by_click_key_and_address(browser, path):
    with opened(browser, path) as page:
        dialog, first = page.get_by_role("dialog"), page.locator(".query-open").first
        order = page.locator("#query-table tbody tr").evaluate_all(
            "rows => rows.map((row) => row.dataset.query)"
        )
        first.press("Enter")
        for key, place in (("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1)):
            page.keyboard.press(key)
            assert page.evaluate("decodeURIComponent(location.hash)") == f"#q={order[place]}"
        page.keyboard.press("Escape")
        dialog.wait_for(state="hidden")
        assert page.evaluate("document.activeElement.closest('tr').dataset.query") == order[0]
        page.evaluate("location.hash = '#q=sample_03_2'")
        dialog.wait_for()
        assert "sample_03_2" in dialog.text_content()
        page.get_by_role("button", name="Close").click()
        dialog.wait_for(state="hidden")


@pytest.mark.thorough
def test_a_page_sorts_by_values_and_an_ideal_ranking_stays_below(browser, tmp_path):
    rows = [
        [run, Cell(text, value=value), Cell("0.5", value=0.5)]
        for run, text, value in (("a", "0.0200", 0.02), ("b", "<0.0001", 1e-9), ("c", "1,000.0", 1000.0))
    ]
    table = Table.of(["run", "p", "RR"], [*rows, ["best possible", "", "0.9"]])
    (tmp_path / "sorted.html").write_text(Report(sections=[Section(tables=[table])]).to("html"), "utf-8")
    with opened(browser, tmp_path / "sorted.html") as page:
        button, names = page.locator("thead button").nth(1), page.locator("tbody th.run")
        for order in ("cab", "bac"):
            button.click()
            assert names.all_text_contents() == [*order, "best possible"]
        page.locator("thead button").last.click()
        assert names.all_text_contents()[-1] == "best possible"


@pytest.mark.thorough
def test_of_a_run_that_was_not_read_again_a_page_says_nothing(browser, tmp_path):
    qrels = {"q": {"a": 1, "b": 1}, "r": {"a": 1, "b": 1}}
    seen = {q: {"a": 3.0, "x": 2.0, "b": 1.0} for q in qrels}
    once = [
        ScoredDoc(q, d, s) for q, d, s in (("q", "b", 3.0), ("q", "y", 2.0), ("r", "b", 2.0), ("r", "a", 1.0))
    ]
    result = compare(qrels, {"seen": seen, "once": iter(once)}, "RR", baseline="seen")
    (tmp_path / "once.html").write_text(result.to("html"), encoding="utf-8")
    with opened(browser, tmp_path / "once.html") as page:
        for query, moves in (("q", ["∅", "?", "#1"]), ("r", ["#2", "∅", "#1"])):
            page.goto(f"{(tmp_path / 'once.html').as_uri()}#q={query}")
            page.locator("#query-title", has_text=query).wait_for()
            assert page.locator("[data-side=left] .move").all_text_contents() == moves
        assert "?: not known" in page.locator(".grades").text_content()


@pytest.mark.thorough
def test_ids_and_documents_with_markup_are_text(browser, tmp_path):
    qrels = {name: dict.fromkeys(IN_PAGES[place : place + 3], 1) for place, name in enumerate(IN_PAGES)}
    runs = {
        name: {q: {each: -float(rank) for rank, each in enumerate([*first, *qrels[q]])} for q in qrels}
        for name, first in (("<img src=y onerror=alert(2)>", ["x"]), ("</script>", []))
    }
    result = compare(qrels, runs, {"<b>": "RR"}, baseline="</script>")
    (tmp_path / "markup.html").write_text(result.to("html"), encoding="utf-8")
    with opened(browser, tmp_path / "markup.html", 400) as page:
        assert {*queries_shown(page)} == {*map(one_line, IN_PAGES)}
        page.locator(".query-open").first.click()
        for _ in IN_PAGES[1:]:
            page.keyboard.press("ArrowRight")
        assert page.locator("dialog li .document").count() >= 3
        assert page.locator("img, main script").count() == 0
        assert_fits(page)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "injected",
    [
        "<script>document.documentElement.dataset.injected = 1</script>",
        "<script src='data:text/javascript,document.documentElement.dataset.injected = 1'></script>",
        "<img src='data:,' onerror='document.documentElement.dataset.injected = 1'>",
        "<svg onload='document.documentElement.dataset.injected = 1'></svg>",
        "<iframe srcdoc='<script>parent.document.documentElement.dataset.injected = 1</script>'></iframe>",
        "<style>html { --injected: 1 }</style>",
    ],
)
def test_what_is_put_into_a_page_does_not_run_and_its_own_script_does(browser, path, tmp_path, injected):
    changed = tmp_path / "changed.html"
    text = path.read_text(encoding="utf-8")
    changed.write_text(text.replace("<main>", f"<main>{injected}"), encoding="utf-8")
    without = tmp_path / "without.html"
    without.write_text(
        re.sub("<meta http-equiv.*?>", "", changed.read_text(encoding="utf-8")), encoding="utf-8"
    )
    found = {}
    for file in (changed, without):
        page = browser.new_page()
        page.goto(file.as_uri())
        page.wait_for_selector("html[data-ready]", state="attached")  # our script
        page.wait_for_timeout(100)
        found[file] = page.evaluate(
            "[document.documentElement.dataset.injected ?? "
            "getComputedStyle(document.documentElement).getPropertyValue('--injected')]"
        )
        page.close()
    assert found == {changed: [""], without: ["1"]}


@pytest.mark.thorough
@pytest.mark.skipif(not shutil.which("pdftotext"), reason="no pdftotext is installed")
def test_each_printed_page_of_a_table_has_its_head(browser, path, tmp_path):
    with opened(browser, path) as page:
        queries_shown(page)
        page.pdf(path=tmp_path / "page.pdf")
    text = subprocess.run(
        ["pdftotext", "-layout", tmp_path / "page.pdf", "-"], capture_output=True, check=True
    )
    pages = [
        each for each in text.stdout.decode().split("\f") if len(re.findall(r"\bsample_\d+_\d", each)) > 9
    ]
    assert len(pages) > 1
    assert all(re.search(r"^ *query .*tfidf", each, re.MULTILINE) for each in pages)


@pytest.mark.thorough
def test_tables_are_sorted_and_copied(browser, path, against_lsa):
    with opened(browser, path) as page:
        runs = page.locator(".sortable").first.locator("tbody:last-of-type th.run")
        page.get_by_role("button", name="run", exact=True).first.click()
        assert runs.all_text_contents() == ["bm25", "lsa", "tfidf"]
        page.get_by_role("button", name="P@1", exact=True).first.click()
        means = {name: values[1].mean() for name, values in against_lsa.paired.values.items()}
        assert runs.all_text_contents() == sorted(means, key=lambda name: -means[name])
        tables = [table for section in against_lsa.report().sections for table in section.tables]
        for form, begins in (
            ("latex", "% needs"),
            ("markdown", "| turn\\_number | run |"),
            ("csv", "turn_number,run,nDCG@10"),
        ):
            page.locator(f"[data-form={form}]").first.click()
            page.get_by_text("Copied").wait_for()
            copied = page.evaluate("navigator.clipboard.readText()")
            assert copied.startswith(begins)
            rows = [line for line in copied.splitlines() if re.search(r"\b(bm25|lsa|tfidf)\b.*\d\.\d", line)]
            last = [re.search(r"bm25|lsa|tfidf", line)[0] for line in rows][-3:]
            assert last == sorted(means, key=lambda name: -means[name])
            assert sorted(rows) == sorted(line for line in tables[0].to(form).splitlines() if line in rows)


@pytest.mark.thorough
@pytest.mark.parametrize("command", ["gate", "leaderboard", "reranking", "identify"])
def test_a_narrow_page_shows_the_outcome_and_how_it_was_made(browser, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    sample = ["permed-sample", "permed-sample/runs/lsa"]
    arguments = {
        "gate": [*sample, "--baseline", "permed-sample/runs/bm25", "--max-drop", "P@1=0.2"],
        "leaderboard": ["permed-sample", "permed-sample/runs", "-m", "P@1"],
        "reranking": [*sample, "permed-sample/runs/bm25", "-m", "P@1"],
        "identify": ["permed-sample/script.py:mean_ap", "MAP@10"],
    }[command]
    run_cli(command, *arguments, "--output", "page.html")
    with opened(browser, tmp_path / "page.html", width=400) as page:
        assert page.locator("#how pre").text_content().startswith(f"permed-measures {command} ")
        heights = page.locator(".option").evaluate_all(
            "all => all.map((each) => each.getClientRects().length)"
        )
        assert heights
        assert {*heights} == {1}
        if command == "gate":
            outcome = page.locator("td, th").get_by_text("ok", exact=True)
            assert outcome.bounding_box()["x"] + outcome.bounding_box()["width"] < 400
        if command == "leaderboard":
            assert page.locator(".finding").text_content().startswith("bm25 has the highest P@1: 0.6458.")
        assert_fits(page)
