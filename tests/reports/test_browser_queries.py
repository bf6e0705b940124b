"""The queries of a page in Chromium: table, scatter, two rankings."""

import numpy as np
import pytest
from browsing import IN_PAGES, PLACES, assert_fits, assert_legible, assert_named, found_in, opened

from permed_measures.comparisons.compare import compare
from permed_measures.markup import one_line


@pytest.fixture(scope="module")
def against_lsa(dataset, sample_runs):
    """Return a comparison whose queries have texts, turns and groups."""
    options = {"baseline": "lsa", "by": "turn_number", "tests": "randomization", "resamples": 99}
    return compare(dataset, sample_runs, ["nDCG@10", "P@1"], **options)


def values_of(result, run, baseline, measure=0):
    """Return the values of two runs by query, and their difference as the page writes it."""
    found = {}
    for query, first, second in zip(
        result.paired.query_ids,
        result.paired.values[run][measure].tolist(),
        result.paired.values[baseline][measure].tolist(),
        strict=True,
    ):
        delta = f"{first - second:+.4f}".replace("-", "\N{MINUS SIGN}").replace("+0.0000", "0.0000")
        found[query] = (delta, first, second)
    return found


def queries_shown(page):
    """Return the rows of the table of queries, all of them: id, difference, values of run and baseline."""
    while page.locator("#query-more").is_visible():
        page.locator("#query-more").click()
    rows = page.locator("#query-table tbody tr").evaluate_all(
        "rows => rows.map((row) => [row.dataset.query, ...[...row.cells].map((cell) => cell.textContent)])"
    )
    return {query: cells for query, _, *cells in rows}


@pytest.mark.thorough
def test_queries_have_their_values_for_each_choice_of_runs_and_measure(browser, saved, against_lsa):
    expected = {(row.run, str(row.measure)): [row.wins, row.ties, row.losses] for row in against_lsa.rows}
    with opened(browser, saved("lsa", against_lsa)) as page:
        assert page.locator("#query-baseline option:checked").text_content() == "lsa"
        for run in ("bm25", "tfidf"):
            page.locator("#query-run").select_option(run)
            for number, measure in enumerate(("nDCG@10", "P@1")):
                page.locator("#query-measure").select_option(measure)
                known = values_of(against_lsa, run, "lsa", number)
                shown = queries_shown(page)
                assert {query: cells[:3] for query, cells in shown.items()} == {
                    query: [delta, f"{first:.4f}", f"{second:.4f}"]
                    for query, (delta, first, second) in known.items()
                }
                counts = page.locator(".query-outcomes button[data-outcome]").all_text_contents()
                outcomes = expected[run, measure]
                assert [int(text.split()[1]) for text in counts] == [sum(outcomes), *outcomes]
                deltas = [first - second for _, first, second in map(known.get, shown)]
                assert deltas == sorted(deltas, reverse=True)


@pytest.mark.thorough
def test_queries_are_searched_filtered_and_sorted(browser, saved, against_lsa, dataset):
    texts = {query.query_id: query.text for query in dataset.queries_iter()}
    with opened(browser, saved("lsa", against_lsa)) as page:
        run = page.locator("#query-run option:checked").text_content()
        known = values_of(against_lsa, run, "lsa")
        search = page.get_by_role("searchbox")
        search.fill("the TREATMENT")
        expected = {
            query for query, text in texts.items() if "the" in text.lower() and "treatment" in text.lower()
        }
        assert 0 < len(expected) < 20
        assert {*queries_shown(page)} == expected
        search.fill("no query has this")
        assert queries_shown(page) == {}
        assert page.get_by_text("No query fits these filters.").is_visible()
        page.get_by_role("button", name="Clear filters").click()
        page.locator("select[data-field=turn_number]").select_option("2")
        assert {*queries_shown(page)} == {query for query in known if query.endswith("_2")}
        page.locator("[data-outcome=loss]").click()
        losses = {
            query for query, (_, first, second) in known.items() if query.endswith("_2") and first < second
        }
        assert 0 < len(losses) < 12
        assert {*queries_shown(page)} == losses
        assert page.locator("[data-outcome=loss]").get_attribute("aria-pressed") == "true"
        page.get_by_role("button", name="Clear filters").click()
        assert len(queries_shown(page)) == len(known)
        for number, key in (
            (1, lambda query: known[query][1] - known[query][2]),
            (2, lambda query: known[query][1]),
        ):
            for _ in range(2):
                heading = page.locator("#query-table thead th").nth(number)
                heading.get_by_role("button").click()
                descending = heading.get_attribute("aria-sort") == "descending"
                found = [key(query) for query in queries_shown(page)]
                assert found == sorted(found, reverse=descending)


@pytest.mark.thorough
def test_a_point_selects_its_queries_and_a_query_its_point(browser, saved, against_lsa):
    with opened(browser, saved("lsa", against_lsa)) as page:
        run = page.locator("#query-run option:checked").text_content()
        known = values_of(against_lsa, run, "lsa")
        points = page.locator("#query-scatter .mark-symbol path[aria-label]")
        assert points.count() == len({(first, second) for _, first, second in known.values()})
        places = points.evaluate_all(PLACES)
        last = points.nth(len(places) - 1)  # drawn above the others
        last.click(force=True)
        shown = queries_shown(page)
        label = places[-1]["label"]
        assert page.locator("#query-point").text_content() == label
        expected = {
            query
            for query, (_, first, second) in known.items()
            if label.endswith(f"with lsa {second:.4f}, {run} {first:.4f}")
        }
        assert {*shown} == expected
        assert 0 < len(expected) < len(known)
        last.click(force=True)
        assert len(queries_shown(page)) == len(known)
        for row in (page.locator("#query-table tbody tr").nth(number) for number in (0, 7)):
            row.hover()
            _, first, second = known[row.get_attribute("data-query")]
            [there] = [
                each for each in places if each["label"].endswith(f"lsa {second:.4f}, {run} {first:.4f}")
            ]
            page.wait_for_function(RINGED, arg=[there["x"], there["y"]])


RINGED = """([x, y]) => [...document.querySelectorAll("#query-scatter .mark-symbol path:not([aria-label])")]
  .some((each) => {
    const { e, f } = each.transform.baseVal.consolidate().matrix;
    return e === x && f === y;
  })"""


@pytest.mark.thorough
def test_a_query_opens_by_click_key_and_address(browser, saved, against_lsa):
    path = saved("lsa", against_lsa)
    with opened(browser, path) as page:
        dialog = page.get_by_role("dialog")
        first = page.locator("#query-table tbody tr").first
        query = first.get_attribute("data-query")
        for open_it in (
            lambda: first.get_by_role("button").click(),
            lambda: first.get_by_role("button").press("Enter"),
        ):
            open_it()
            assert dialog.is_visible()
            assert page.evaluate("decodeURIComponent(location.hash)") == f"#q={query}"
            page.keyboard.press("Escape")
            dialog.wait_for(state="hidden")
            page.wait_for_function("location.hash === '#queries'")
            assert page.evaluate("document.activeElement.closest('tr').dataset.query") == query
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        order = [*queries_shown_now(page)]
        for step, place in (("ArrowRight", 2), ("ArrowLeft", 1), ("ArrowLeft", 0)):
            page.keyboard.press(step)
            assert page.evaluate("decodeURIComponent(location.hash)") == f"#q={order[place]}"
        page.get_by_role("button", name="Close").click()
        page.goto(f"{path.as_uri()}#q=sample_03_2")
        dialog.wait_for()
        page.reload()
        dialog.wait_for()
        assert "sample_03_2" in dialog.text_content()


def queries_shown_now(page):
    return page.locator("#query-table tbody tr").evaluate_all("rows => rows.map((row) => row.dataset.query)")


@pytest.mark.thorough
def test_two_rankings_are_those_of_the_runs(browser, saved, against_lsa, dataset, sample_runs):
    grades = {}
    for each in dataset.qrels_iter():
        grades.setdefault(each.query_id, {})[each.doc_id] = each.relevance
    texts = {query.query_id: query.text for query in dataset.queries_iter()}
    path = saved("lsa", against_lsa)
    with opened(browser, path) as page:
        run = page.locator("#query-run option:checked").text_content()
        for query in ("sample_01_1", "sample_03_2", "sample_08_3"):
            page.goto(f"{path.as_uri()}#q={query}")
            page.get_by_role("heading", name=texts[query]).wait_for()
            before = page.locator(".turns li").all_text_contents()
            turn = int(query[-1])
            assert before == [texts[f"{query[:-1]}{number}"] for number in range(1, turn)]
            ranked = {name: ranking_of(sample_runs[name].get(query, {})) for name in (run, "lsa")}
            for side, here, there in (("left", "lsa", run), ("right", run, "lsa")):
                items = page.locator(f"[data-side={side}] li").evaluate_all(DOCUMENTS)
                known = grades[query]
                expected = []
                for rank, document in enumerate(ranked[here][:10], 1):
                    other = ranked[there].index(document) + 1 if document in ranked[there] else None
                    seen = other is not None and (other <= 10 or document in known)
                    moved = "∅" if not seen else "=" if other == rank else f"#{other}"
                    expected.append([str(rank), document, str(known.get(document, "?")), moved])
                assert items == expected
            both = {*ranked[run][:10]} & {*ranked["lsa"][:10]}
            assert page.locator(".rankings path").count() == len(both)
            found = {*ranked[run][:10], *ranked["lsa"][:10]}
            missed = {document for document, grade in known.items() if grade > 0 and document not in found}
            assert page.locator(".missed li").count() == len(missed)


def ranking_of(scores):
    return sorted(scores, key=lambda document: (float(np.float32(scores[document])), document), reverse=True)


DOCUMENTS = """items => items.map((item) => [
  item.querySelector(".rank").textContent,
  item.querySelector(".document small").textContent,
  item.querySelector(".grade [aria-hidden]").textContent,
  item.querySelector(".move [aria-hidden]").textContent,
])"""


@pytest.mark.thorough
@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (400, "light")])
def test_an_open_query_is_legible_and_accessible(browser, saved, against_lsa, width, scheme):
    with opened(browser, saved("lsa", against_lsa), width, scheme) as page:
        page.locator(".query-open").nth(3).click()
        assert_fits(page)
        assert_legible(page)
        box = page.get_by_role("dialog").bounding_box()
        assert box["width"] > 0.8 * min(width, 1100)
        assert_named(page)
        for _ in range(40):  # the focus stays in the dialog, or goes to the browser's own controls
            page.keyboard.press("Tab")
            reached = found_in(page, "focused")
            assert reached is None or reached["seen"], reached
            assert page.evaluate(
                "document.activeElement === document.body || !!document.activeElement.closest('dialog')"
            )


@pytest.mark.thorough
def test_ids_and_documents_with_markup_are_text(browser, saved):
    qrels = {name: dict.fromkeys(IN_PAGES[number : number + 3], 1) for number, name in enumerate(IN_PAGES)}
    runs = {
        "old": {
            query: {each: -float(rank) for rank, each in enumerate(["x", *found])}
            for query, found in qrels.items()
        },
        "new": {
            query: {each: -float(rank) for rank, each in enumerate(found)} for query, found in qrels.items()
        },
    }
    result = compare(qrels, runs, "RR", baseline="old", tests="randomization")
    with opened(browser, saved("markup", result), 400) as page:
        assert {*queries_shown(page)} == {*map(one_line, IN_PAGES)}
        for number in range(0, len(IN_PAGES), 5):
            page.locator(".query-open").nth(number).click()
            page.keyboard.press("Escape")
        page.locator(".query-open").first.click()
        for _ in IN_PAGES[1:]:
            page.keyboard.press("ArrowRight")
        assert page.locator("dialog li .document").count() >= 3
        assert page.locator("img, main script").count() == 0
        assert_fits(page)
