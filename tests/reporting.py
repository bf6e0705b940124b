"""Comparisons that tests of reports make, and readers of what reports print."""

import io
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

from permed_measures.comparison.compare import compare

TURN = "_([0-9]+)$"


def run_of(ranks):
    """Return a run with the one relevant document of each query at this rank: RR is one over it."""
    return {
        f"q{i:02}": {**{f"x{j}": -float(j) for j in range(1, rank)}, "d": 0.5 - rank}
        for i, rank in enumerate(ranks)
    }


def made(ranks, measures="RR", **options):
    """Compare runs by the ranks of their relevant documents, with the randomization test alone."""
    qrels = {f"q{i:02}": {"d": 1} for i in range(len(next(iter(ranks.values()))))}
    runs = {name: run_of(each) for name, each in ranks.items()}
    return compare(qrels, runs, measures, **{"tests": "randomization", **options})


def pair(n, old=2, new=1, measures="RR", **options):
    """Compare two runs that rank alike on n queries."""
    return made({"old": [old] * n, "new": [new] * n}, measures, **{"baseline": "old", **options})


MARKUP = [
    # text, LaTeX, Markdown, HTML
    ("a_b", r"a\_b", r"a\_b", "a_b"),
    ("50%", r"50\%", "50%", "50%"),
    ("x|y", r"x\textbar{}y", r"x\|y", "x|y"),
    ("<b>", r"\textless{}b\textgreater{}", "&lt;b&gt;", "&lt;b&gt;"),
    ("$x$", r"\$x\$", r"\$x\$", "$x$"),
    ("\\", r"\textbackslash{}", r"\\", "\\"),
    ("^", r"\textasciicircum{}", "^", "^"),
    ("~~a", r"\textasciitilde{}\textasciitilde{}a", r"\~\~a", "~~a"),
    ("two\r\nlines", "two lines", "two lines", "two lines"),
    ("a\x1b[31m\u202eb", "a {[}31m b", r"a \[31m b", "a [31m b"),
    ("查询重写", "查询重写", "查询重写", "查询重写"),
    ("[a]", "{[}a{]}", r"\[a\]", "[a]"),
    ("*", "{*}", r"\*", "*"),
    ("a---b", "a-{}-{}-b", "a---b", "a---b"),
    ("- a", "- a", r"\- a", "- a"),
    ("1. a", "1. a", r"1\. a", "1. a"),
    ("2) a", "2) a", r"2\) a", "2) a"),
    ("v1. a", "v1. a", "v1. a", "v1. a"),
    ("# a", r"\# a", r"\# a", "# a"),
    ("&amp;", r"\&amp;", "&amp;amp;", "&amp;amp;"),
    ("{a}", r"\{a\}", r"\{a\}", "{a}"),
    ("`a`", r"\textasciigrave{}a\textasciigrave{}", r"\`a\`", "`a`"),
    ("''a\"", "'{}'a{\\char34}", "''a\"", "&#x27;&#x27;a&quot;"),
    ("—†‡Δ", r"\textemdash{}$^{\dagger}$$^{\ddagger}$$\Delta$", "—†‡Δ", "—†‡Δ"),
]


HOSTILE = [
    *(text for text, *_ in MARKUP),
    *("<script>alert(1)</script>", "</td></table>", "a\\|b", "]]>-->", "![a](b)", "> a", "=== a", "+ a"),
    *("https://a.b/?c=d&e", "=1+1", 'a,"b"\t;'),
]


LATIN = [name for name in HOSTILE if not re.search("[\u4e00-\u9fff]", name)]


def needed(text):
    """Return the packages that the first line of a LaTeX table names."""
    return re.findall(r"\\usepackage(?:\[[^]]+\])?\{\w+\}", text.splitlines()[0])


def assert_compiles(texts, folder, layout="", program="pdflatex"):
    """Compile LaTeX tables with the packages they name, where there is LaTeX: nothing may stick out."""
    texts = [texts] if isinstance(texts, str) else texts
    assert all(r"\begin{tabular}" in text for text in texts)
    packages = "".join(dict.fromkeys(package for text in texts for package in needed(text)))
    tables = "\\clearpage\n".join(texts)
    source = (
        f"\\documentclass[{layout}]{{article}}{packages}\n\\begin{{document}}\n{tables}\\end{{document}}\n"
    )
    (folder / "table.tex").write_text(source)
    if not shutil.which(program):
        pytest.skip(f"{program} is not installed")
    command = [program, "-interaction=nonstopmode", "-halt-on-error", "table"]
    command += ["-draftmode"] * (program == "pdflatex")
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    log = (folder / "table.log").read_text(errors="replace")
    wrong = re.findall("^!.*|Missing character.*|Overfull.*|.*Float too large.*", log, re.MULTILINE)
    assert (done.returncode, wrong) == (0, []), log[-2000:] if done.returncode else wrong


class Page(HTMLParser):
    """What a page has; it must be well nested."""

    VOID = ("meta", "br", "input", "base")

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.ids, self.links, self.rows, self.paragraphs = [], [], [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append((tag, given))
        self.open += [] if tag in self.VOID else [tag]
        self.ids += [given["id"]] if "id" in given else []
        self.links += [v for k, v in attrs if k.split(":")[-1] in ("src", "href") or "url(" in (v or "")]
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag == "p":
            self.paragraphs.append("")

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, (tag, self.getpos())

    def handle_data(self, data):
        if {"td", "th"} & {*self.open}:
            self.rows[-1][-1] += data
        elif "p" in self.open:
            self.paragraphs[-1] += data


def loaded(result):
    """Return JSON that has numbers only."""
    return json.loads(result.to("json"), parse_constant=lambda name: pytest.fail(f"JSON has {name}"))


STYLES = re.compile(r"\x1b\[[0-9;]*m")


class Terminal(io.StringIO):
    def isatty(self):
        return True


def assert_stands_alone(page):
    tags = [tag for tag, _ in page.tags]
    assert [tags.count(each) for each in ("html", "head", "title", "body", "main", "h1")] == [1] * 6
    assert not {"link", "img", "iframe", "object", "form"} & {*tags}
    assert [("charset", "utf-8")] in [list(given.items()) for tag, given in page.tags if tag == "meta"]
    contents = [given.get("content") for tag, given in page.tags if tag == "meta"]
    assert "width=device-width, initial-scale=1" in contents
    assert all(re.fullmatch(r"#\S+|url\(#\S+\)", link) for link in page.links)
    assert {re.sub(r"^url\(|\)$", "", link)[1:] for link in page.links} <= {*page.ids}
    assert len(page.ids) == len({*page.ids})
    assert {given.get("scope") for tag, given in page.tags if tag == "th"} == {"col", "row"}
    assert not [name for _, given in page.tags for name in given if name.startswith("on")]
