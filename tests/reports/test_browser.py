"""Pages in a browser: what one sees in Chromium, and what happens on a click or a key."""

import itertools
import re

import pytest
from browsing import (
    IN_PAGES,
    PLACES,
    assert_accessible,
    assert_fits,
    assert_keyboard,
    assert_legible,
    opened,
)
from reporting import loaded, made

from permed_measures.comparisons.wording import LEVELS
from permed_measures.markup import one_line

RANDOMIZATION = "randomization"


RANKS = {"old": [2] * 40, "better": [1] * 40, "worse": [4] * 40, "alike": [1, 4] * 20}
TENS = r"q(\d)"


@pytest.fixture(scope="module")
def ranked():
    return made(RANKS, ["RR", "P@1"], baseline="old", correction="none")


@pytest.fixture(scope="module")
def grouped():
    return made(RANKS, ["RR", "P@1"], baseline="old", correction="none", by=TENS)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_page_is_legible_and_fits_the_window(browser, saved, grouped, width, scheme):
    with opened(browser, saved("grouped", grouped), width, scheme) as page:
        assert page.locator(".finding").bounding_box()["y"] < 150
        assert page.locator(".charts svg").count() == 4
        for details in page.locator("details > summary").all():
            details.click()
        assert_fits(page)
        assert_legible(page)
        assert_accessible(page)
        red, *_ = map(
            int, re.findall(r"\d+", page.evaluate("getComputedStyle(document.body).backgroundColor"))
        )
        assert (red > 128) == (scheme == "light")


@pytest.mark.thorough
def test_forest_plots_are_the_comparison(browser, saved, ranked):
    rows = loaded(ranked)["rows"]
    with opened(browser, saved("ranked", ranked)) as page:
        for number, heading in enumerate(["RR", "P@1"]):
            expected = sorted(rows[3 * number : 3 * number + 3], key=lambda row: -row["difference"])
            figure = page.locator("#forest-charts figure").nth(number)
            assert figure.locator(".mark-text.role-title-text").text_content() == heading
            points = figure.locator(".mark-symbol path").evaluate_all(PLACES)
            assert [point["label"].split(":")[0] for point in points] == [row["run"] for row in expected]
            assert [point["y"] for point in points] == sorted(point["y"] for point in points)
            significant = [row["tests"][RANDOMIZATION]["adjusted"] < LEVELS["†"] for row in expected]
            assert [point["fill"] == point["stroke"] for point in points] == significant
            bounds = figure.locator(".role-mark.mark-rule line:not([stroke-dasharray])").evaluate_all(ENDS)
            [zero] = figure.locator(".mark-rule line[stroke-dasharray]").evaluate_all(PLACES)
            scale = (points[0]["x"] - points[-1]["x"]) / (
                expected[0]["difference"] - expected[-1]["difference"]
            )
            assert scale > 0
            for point, row in zip(points, expected, strict=True):
                assert point["x"] - zero["x"] == pytest.approx(scale * row["difference"], abs=0.01)
            for ends, row in zip(bounds, [row for row in expected if row["interval"]], strict=True):
                assert [end - zero["x"] for end in ends] == pytest.approx(
                    [scale * bound for bound in row["interval"]], abs=0.01
                )


ENDS = """all => all.map((each) => {
  const { e: x } = each.transform.baseVal.consolidate().matrix;
  return [x, x + Number(each.getAttribute("x2"))].sort((a, b) => a - b);
})"""


def column(page, table, number):
    return page.locator(f"{table} tbody tr").evaluate_all(
        "(rows, number) => rows.map((row) => row.cells[number].textContent)", number
    )


def numbers(texts):
    return [float(re.match(r"[-+]?[\d.]+", text)[0]) for text in texts]


@pytest.mark.thorough
def test_click_on_a_heading_sorts(browser, saved, ranked):
    with opened(browser, saved("ranked", ranked)) as page:
        headings = page.locator("#means thead th")
        assert headings.all_text_contents() == ["run", "RR", "P@1"]
        for number in (1, 2):
            unsorted = numbers(column(page, "#means", number))
            for direction, sign in (("descending", -1), ("ascending", 1), ("descending", -1)):
                headings.nth(number).get_by_role("button").click()
                assert numbers(column(page, "#means", number)) == sorted(unsorted, key=lambda x: sign * x)
                marked = headings.evaluate_all("all => all.map((each) => each.ariaSort)")
                assert marked == [direction if place == number else None for place in range(3)]
        headings.nth(0).get_by_role("button").press("Enter")
        assert column(page, "#means", 0) == sorted(RANKS)
        headings.nth(0).get_by_role("button").press("Enter")
        assert column(page, "#means", 0) == sorted(RANKS, reverse=True)


@pytest.mark.thorough
def test_rows_are_sorted_within_their_group(browser, saved, sample):
    with opened(browser, saved("sample", sample)) as page:
        table = "#by-group details:last-of-type table"
        page.get_by_text("Means by group").click()
        before = list(zip(column(page, table, 0), numbers(column(page, table, 3)), strict=True))
        page.locator(f"{table} thead button", has_text="nDCG@10").click()
        after = list(zip(column(page, table, 0), numbers(column(page, table, 3)), strict=True))
        groups = [label for label, _ in itertools.groupby(before, key=lambda row: row[0])]
        assert len(groups) == len(sample.groups) + 1
        assert after == sorted(before, key=lambda row: (groups.index(row[0]), -row[1]))
        assert after != before


@pytest.mark.thorough
def test_columns_are_shaded_on_demand(browser, saved, ranked):
    with opened(browser, saved("ranked", ranked), scheme="dark") as page:
        colours = "all => all.map((each) => getComputedStyle(each).backgroundColor)"
        cells = page.locator("#means tbody td:nth-child(2)")
        assert len({*cells.evaluate_all(colours)}) == 1
        page.get_by_label("Shade by column").check()
        means = numbers(column(page, "#means", 1))
        shares = [(mean - min(means)) / (max(means) - min(means)) for mean in means]
        opacities = [float(colour[5:-1].split(",")[3]) for colour in cells.evaluate_all(colours)]
        assert opacities == pytest.approx([0.4 * share for share in shares], abs=0.005)
        assert_legible(page)
        page.get_by_label("Shade by column").uncheck()
        assert len({*cells.evaluate_all(colours)}) == 1


@pytest.mark.parametrize("allowed", [True, pytest.param(False, marks=pytest.mark.thorough)])
def test_table_is_copied_as_python_writes_it(browser, saved, ranked, allowed):
    with opened(browser, saved("ranked", ranked)) as page:
        if not allowed:
            page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')); }")
        for form in ("LaTeX", "Markdown", "CSV"):
            page.get_by_role("button", name=form, exact=True).click()
            page.get_by_text("Copied").wait_for()
            copied = page.evaluate("navigator.clipboard.readText()")
            if form != "CSV":
                assert ranked.to(form.lower()).startswith(copied)
            else:
                shown = page.locator("#means tr").evaluate_all(
                    "rows => rows.map((row) => [...row.cells].map((cell) => cell.firstChild.textContent))"
                )
                assert copied.count("\n") == 1 + len(RANKS)
                assert [line.split(",") for line in copied.splitlines()] == shown


@pytest.mark.thorough
def test_buttons_pick_runs_of_the_plots_by_group(browser, saved, grouped):
    with opened(browser, saved("grouped", grouped), 400) as page:
        lines = page.locator("#group-charts .mark-line path")
        names = lines.evaluate_all("all => all.map((each) => each.ariaLabel.split(',')[0])")
        assert names == 2 * [*RANKS]
        buttons = page.locator(".runs button")
        assert buttons.all_text_contents() == [*RANKS]
        colours = page.locator(".runs path").evaluate_all(
            "all => all.map((each) => getComputedStyle(each).stroke)"
        )
        strokes = lines.evaluate_all("all => all.map((each) => getComputedStyle(each).stroke)")
        assert strokes == 2 * colours
        assert len({*colours}) == 4
        picked = set()
        for run in ("better", "worse", "better", "worse"):
            picked ^= {run}
            buttons.get_by_text(run).press("Space")
            seen = [not picked or name in picked for name in names]
            page.wait_for_function(OPACITIES, arg=seen)
            pressed = buttons.evaluate_all("all => all.map((each) => each.ariaPressed)")
            assert pressed == [str(name in picked).lower() for name in RANKS]


OPACITIES = """(seen) => [...document.querySelectorAll("#group-charts .mark-line path")]
  .every((line, number) => (getComputedStyle(line).opacity === "1") === seen[number])"""


@pytest.mark.thorough
def test_page_is_operated_by_keys(browser, saved, grouped):
    with opened(browser, saved("grouped", grouped), scheme="dark") as page:
        for summary in page.locator("summary").all():
            summary.press("Enter")
        assert page.locator("details[open]").count() == page.locator("details").count()
        assert_keyboard(page)


@pytest.mark.thorough
def test_links_lead_to_the_sections(browser, saved, grouped):
    with opened(browser, saved("grouped", grouped), 400, reduced_motion="reduce") as page:
        assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"
        links = page.get_by_role("navigation").get_by_role("link")
        assert links.all_text_contents() == page.locator("h2").all_text_contents()
        for link in links.all():
            page.evaluate("scrollTo(0, 0)")
            link.click()
            section = page.get_by_role("region", name=link.text_content(), exact=True)
            assert section.bounding_box()["y"] < 900


@pytest.mark.thorough
@pytest.mark.parametrize("width", [1280, 400])
def test_hostile_names_are_text(browser, saved, width):
    ranks = dict(zip(IN_PAGES, itertools.cycle([[1, 1], [2, 1], [3, 4]]), strict=False))
    measures = {"<img src=y onerror=alert(2)>": "RR", "</script>": "P@1"}
    options = {"baseline": IN_PAGES[0], "correction": "none", "by": r"q\d(\d)"}
    with opened(browser, saved("hostile", made(ranks, measures, **options)), width) as page:
        names = [one_line(name) for name in IN_PAGES]
        shown = [re.sub(r"\s+", " ", text) for text in column(page, "#means", 0)]
        assert shown == [re.sub(r"\s+", " ", name) for name in names]
        assert page.locator(".runs button").all_text_contents() == names
        assert page.locator("#forest-charts .role-title-text").all_text_contents() == [*measures]
        labels = (
            page.locator("#forest-charts figure").first.locator(".role-axis-label text").all_text_contents()
        )
        assert {name for name in names[1:] if len(name) <= 30 and name.strip() == name} <= {*labels}
        assert page.locator("img, main script").count() == 0
        page.locator(".runs button").first.click()
        page.locator("#means thead button").first.click()
        assert_fits(page)


@pytest.mark.thorough
def test_page_is_printed_whole(browser, saved, sample):
    with opened(browser, saved("sample", sample), 718) as page:  # A4 with Chromium's margins
        for details in page.locator("details > summary").all():
            details.click()
        page.emulate_media(media="print")
        controls = page.locator("nav, input, select, button:not(th *, .query-open, .runs *)")
        assert [each for each in controls.all() if each.is_visible()] == []
        headings = page.locator("#means thead th, #query-table thead th").evaluate_all(ON_PAPER)
        assert headings[:5] == ["", "run", "nDCG@10", "GradedAP@10", "P@1"]
        assert {"Δ", "bm25"} <= {*headings}, headings
        widths = page.locator(".wide").evaluate_all(
            "all => all.map((each) => [each.scrollWidth, each.clientWidth, each.textContent.slice(0, 99)])"
        )
        assert len(widths) >= 4
        assert [pair for pair in widths if pair[0] > pair[1]] == []
        assert_fits(page)
        assert page.locator(".charts svg").count() == 6
        assert len(page.pdf()) > 20_000


ON_PAPER = """all => all.map((each) => {
  if (each.querySelector("button").checkVisibility()) return "a button"; // not repeated on the next sheet
  return getComputedStyle(each, "::before").content.slice(1, -1);
})"""


@pytest.mark.thorough
def test_tables_are_read_without_scripts(browser, saved, ranked):
    with opened(browser, saved("ranked", ranked), 400, scripts=False) as page:
        assert not page.locator("#tools").is_visible()
        assert column(page, "#means", 0) == [*RANKS]
        assert page.locator("#means").is_visible()
        assert_fits(page)


@pytest.mark.thorough
def test_plots_follow_the_width_of_the_window(browser, saved, grouped):
    with opened(browser, saved("grouped", grouped)) as page:
        for width in (500, 900, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            page.wait_for_function(FILLED)
            assert_fits(page)


FILLED = """() => [...document.querySelectorAll("figure")].every((each) =>
  Math.abs(each.clientWidth - each.querySelector("svg").getBoundingClientRect().width) < 20)"""


@pytest.mark.thorough
def test_many_runs_and_measures(browser, saved):
    """All plots are drawn, after the page is ready; long names differ at their ends."""
    names = [f"a-system-with-a-name-of-some-sixty-characters-in-all-number-{i:02}" for i in range(40)]
    ranks = {name: [1 + (i + j) % 5 for j in range(20)] for i, name in enumerate(names)}
    measures = [f"{measure}@{cutoff}" for measure in ("P", "nDCG", "Success") for cutoff in (1, 3, 5)]
    result = made(ranks, measures, baseline=names[0], by=r"q(\d)")
    with opened(browser, saved("many", result), 400) as page:
        page.wait_for_function("document.querySelectorAll('.charts svg').length === 18")
        assert_fits(page)
        for figure in page.locator("#forest-charts figure").all():
            assert figure.locator(".mark-symbol path").count() == 39
            labels = figure.locator(".role-axis-label text").all_text_contents()
            assert {label[-2:] for label in labels} >= {name[-2:] for name in names[1:]}
        assert page.locator(".runs button").count() == 40
