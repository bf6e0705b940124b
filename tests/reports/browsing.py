"""A page in Chromium, and what must hold of every page there."""

import shutil
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest
from reporting import HOSTILE

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


@contextmanager
def chromium():
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


def assert_accessible(page):
    """Check that a page has its parts, no level of headings left out, and names for what one can operate."""
    headings = page.locator("h1, h2, h3, h4").evaluate_all(
        "all => all.map((each) => Number(each.tagName[1]))"
    )
    assert headings[0] == 1
    assert headings.count(1) == 1
    assert all(below - above <= 1 for above, below in pairwise(headings))
    roles = {each["role"]["value"] for each in assert_named(page)}
    assert {"main", "navigation", "contentinfo", "table", "columnheader", "rowheader"} <= roles


def assert_named(page):
    """Check that whatever can have the focus has a name, and return what a screen reader is told."""
    nodes = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    told = [each for each in nodes if not each["ignored"]]
    focusable = [
        each for each in told if {"name": "focusable", "value": True} in map(_plain, each["properties"])
    ]
    assert len(focusable) > 5
    unnamed = [each for each in focusable if not each["name"]["value"].strip()]
    unnamed = [each for each in unnamed if each["role"]["value"] != "listitem"]  # its content is read
    assert not unnamed, unnamed
    return told


def _plain(each):
    return {"name": each["name"], "value": each["value"].get("value")}
