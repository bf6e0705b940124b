"""A report: what a result says, in sections of tables, texts and plots; a function for each format."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from ir_measures.measures import Measure

from permed_measures.errors import InputError, PermedError, check_choice
from permed_measures.escaping import as_html, as_json, as_latex, as_markdown, nonfinite_to_str, pluralize
from permed_measures.frames import Tabular
from permed_measures.measures.headings import headings_of
from permed_measures.provenance import Origin, provenance
from permed_measures.results.methods import Methods
from permed_measures.results.page import html_section, page_of
from permed_measures.results.table import Table, separated
from permed_measures.terminal import paragraph, section

Records = Iterable[Mapping[str, Any]]


class Plot(NamedTuple):
    """A plot of a page: what it shows, in words, and what draws it as SVG."""

    about: str
    svg: Callable[[], str]


class Section(NamedTuple):
    """A part of a report; whatever is empty is left out.

    Attributes
    ----------
    heading, note : str
    tables : sequence of Table
    texts : sequence of str
        Sentences, each on its own line.
    plots : sequence of Plot
        For pages and notebooks.
    code : sequence of str
        Lines to type.
    folded : bool
        Whether pages and notebooks show it only when one opens it by its heading.
    instead : Section, optional
        What other formats show in its place, where it is long.
    """

    heading: str = ""
    note: str = ""
    tables: Sequence[Table] = ()
    texts: Sequence[str] = ()
    plots: Sequence[Plot] = ()
    code: Sequence[str] = ()
    folded: bool = False
    instead: Section | None = None


def _nothing() -> Any:
    return []


class Report(NamedTuple):
    """What a result says, whatever it is written in.

    Attributes
    ----------
    title : str
        Of a page.
    finding : sequence of str
        The answer, in sentences.
    cautions : sequence of str
        What weakens the finding, such as unjudged documents; said right below it. Without full stops.
    sections : sequence of Section
    notes : sequence of str
        What is to be known about the numbers.
    data : callable
        Returns what the JSON holds.
    rows : callable
        Returns the lines of CSV, TSV and JSONL as mappings, numbers as they are.
    how : callable
        Returns how to make it again, for a page: command, versions, files with hashes.
    queries : callable
        Returns what a page shows query by query, as `comparison.queries` describes it.
    methods : callable, optional
        Returns how the numbers were made, as a paper says it.
    """

    title: str = ""
    finding: Sequence[str] = ()
    sections: Sequence[Section] = ()
    notes: Sequence[str] = ()
    data: Callable[[], Any] = _nothing
    rows: Callable[[], Records] = _nothing
    how: Callable[[], dict[str, Any]] = dict
    cautions: Sequence[str] = ()
    queries: Callable[[], dict[str, Any]] = dict
    methods: Callable[[], Methods] | None = None

    @property
    def written(self) -> list[Section]:
        """The sections of formats without plots."""
        shown = (each.instead or each for each in self.sections)
        return [each for each in shown if each.tables or each.texts or each.code or not each.plots]

    @property
    def shown(self) -> list[Section]:
        """The sections of pages and notebooks: with plots, if matplotlib is there to draw them."""
        if find_spec("matplotlib"):
            return [*self.sections]
        return [each._replace(plots=()) for each in self.written]

    def records(self) -> list[dict[str, Any]]:
        """Return the rows, which frames, CSV, TSV and JSONL have: all with the same fields in the same order.

        Raises
        ------
        PermedError
            If a row has other fields than the first: a column would stand for two things.
        """
        rows = [dict(row) for row in self.rows()]
        for row in rows:
            if list(row) != list(rows[0]):
                other = ", ".join(sorted({*row} ^ {*rows[0]})) or "their order"
                hint = "This is a fault of permed-measures: please report it"
                raise PermedError(f"rows of one table have different fields ({other})", hint=hint)
        return rows

    def to(self, form: str = "table", *, label: str = "", caption: str = "") -> str:
        """Write the report in one of `FORMATS`; ``table`` is as wide as the terminal.

        Parameters
        ----------
        form : str
        label, caption : str
            In LaTeX those of its first table; further tables have ``label-2`` and so on. Without a colon
            ``tab:`` is put before the label. A caption with a backslash or ``$`` is LaTeX, another is text.
        """
        check_choice("form", form, FORMATS)
        check_latex(form, label, caption)
        return _latex(self, label, caption) if form == "latex" else FORMATS[form](self)


class Result(Tabular):
    """A result of the package: ``print`` shows what the command prints."""

    @abstractmethod
    def report(self) -> Report:
        """Return what the result says."""

    def to(self, form: str = "table", *, label: str = "", caption: str = "") -> str:
        """Write the result as a ``table`` for the terminal, or in another of `FORMATS`, as a `Report` is."""
        return self.report().to(form, label=label, caption=caption)

    def __str__(self) -> str:
        """Return what the command prints."""
        return self.to("table").rstrip("\n")

    def _repr_html_(self) -> str:
        return notebook(self.report())

    def _records(self) -> list[dict[str, Any]]:
        return self.report().records()


class DescribedResult(Result):
    """A result that says how it was made as the methods paragraph of a paper does."""

    def methods(self, form: str = "text") -> str:
        """Write how the numbers were made: judgments, measures by their formulas, statistics, software.

        Parameters
        ----------
        form : {'text', 'markdown', 'latex', 'bibtex'}
            LaTeX cites works by keys, which ``bibtex`` has with what is known of the works. The others have a
            list of references.

        Raises
        ------
        InputError
            For another form.
        """
        described = self.report().methods
        assert described is not None, "the report of a DescribedResult has methods"
        return described().to(form)


def low_high_fields(name: str, pair: tuple[float, float] | None) -> dict[str, float | None]:
    """Return a pair as two fields of a line of a table.

    >>> low_high_fields("ties_", (0.1, 0.2)), low_high_fields("", None)
    ({'ties_low': 0.1, 'ties_high': 0.2}, {'low': None, 'high': None})
    """
    return dict(zip((f"{name}low", f"{name}high"), pair or (None, None), strict=True))


# --- how it was made -------------------------------------------------------------------------------


def titled(origin: Origin | None, n_runs: int, n_queries: int) -> str:
    """Write a title: the name of the qrels, where they have one, and how much there is.

    Examples
    --------
    >>> titled(Origin(qrels="data/sample.qrels"), 2, 1)
    'sample.qrels: 2 runs, 1 query'
    """
    qrels = f"{Path(origin.qrels).name}: " if origin and origin.qrels else ""
    return f"{qrels}{pluralize(n_runs, 'run')}, {pluralize(n_queries, 'query')}"


def how_made(
    measures: Sequence[Measure],
    origin: Origin | None,
    seed: int | None = None,
    packages: Iterable[str] = (),
) -> dict[str, Any]:
    """Say how to make it again: command, measures, conventions, files with hashes, versions, seed.

    The command is as it was typed, to be pasted. Of files that were not, in a folder that only this machine
    has, a report for others says the names.
    """
    found = provenance(measures, origin, seed, packages)
    return {
        "again": origin.line if origin else "",
        "measures": [
            {"heading": heading, "measure": each["measure"], "description": each["description"]}
            for heading, each in zip(headings_of(measures), found["measures"], strict=True)
        ],
        "conventions": found["conventions"],
        "inputs": [
            {**each, "path": _without_folder(each.get("path", ""))} for each in found.get("inputs", [])
        ],
        "versions": found["versions"],
        "seed": found.get("seed"),
    }


def _without_folder(path: str) -> str:
    """Return a path; of an absolute one the name alone."""
    return Path(path).name if Path(path).is_absolute() else path


# --- text --------------------------------------------------------------------------------------------


def _noted(notes: Iterable[str]) -> list[str]:
    return [f"Note: {note.rstrip('.')}." for note in notes]


def _terminal(report: Report) -> str:
    first = [*report.finding, *_noted(report.cautions)]
    parts = [_lines(first), *map(_terminal_section, report.written), _lines(_noted(report.notes))]
    return "\n".join(part for part in parts if part)


def _lines(texts: Iterable[str]) -> str:
    return "".join(f"{paragraph(text, 2)}\n" for text in texts)


def _terminal_section(each: Section) -> str:
    tables = "\n".join(table.to("table") for table in each.tables)
    code = "".join(f"  {line}\n" for line in each.code)
    heading = section(each.heading, []) if each.heading else ""
    texts = section(each.heading, each.texts).removeprefix(heading) if heading else _lines(each.texts)
    under = [heading + _lines([each.note] if each.note else []), tables]
    if tables:
        return "\n".join(part for part in [*under, texts, code] if part)
    return "".join([*under, texts, code])


def _markdown(report: Report) -> str:
    first = [" ".join(report.finding), *_noted(report.cautions)]
    parts = ["\n".join(f"{as_markdown(text)}\n" for text in first if text)]
    for each in report.written:
        parts += [f"**{as_markdown(each.heading)}**\n"] if each.heading else []
        parts += [f"{as_markdown(each.note)}\n"] if each.note else []
        parts += [table.to("markdown") for table in each.tables]
        parts += ["".join(f"- {as_markdown(text)}\n" for text in each.texts)]
        parts += ["```\n{}\n```\n".format("\n".join(each.code))] if each.code else []
    parts += [f"{as_markdown(note)}\n" for note in _noted(report.notes)]
    return "\n".join(part for part in parts if part)


def check_latex(form: str, label: str, caption: str) -> None:
    """Refuse a label or a caption where there is no LaTeX, and a label that LaTeX cannot have."""
    if form != "latex" and (label or caption):
        raise InputError(
            f"label and caption are for LaTeX tables (found the format {form})", hint="Leave them out"
        )
    if found := re.search(r"[\s,\\{}%#~^$&]", label):
        raise InputError(f"a label in LaTeX can have no {found[0]!r} (found {label!r})")


def _latex(report: Report, label: str = "", caption: str = "") -> str:
    """Write the tables; all else stands in comments."""
    lines = [*report.finding, *_noted(report.cautions)]
    for each in report.written:
        lines += [*filter(None, [each.note]), *each.texts]
    comments = "".join(f"% {as_latex(text)}\n" for text in [*lines, *_noted(report.notes)])
    tables = [table for each in report.written for table in each.tables]
    names = [label or table.label for table in tables]
    numbers = [names[:place].count(name) for place, name in enumerate(names)]  # a label is that of one table
    tables = [
        table._replace(label=f"{name}-{number + 1}" if number else name)
        for table, name, number in zip(tables, names, numbers, strict=True)
    ]
    tables[:1] = [table._replace(own_caption=caption) for table in tables[:1]]
    return "\n".join([*(table.to("latex") for table in tables), comments])


# --- notebooks and pages -----------------------------------------------------------------------------


def notebook(report: Report) -> str:
    """Write the report in HTML, for a notebook."""
    first = [" ".join(report.finding), *_noted(report.cautions)]
    parts = [f"<p>{as_html(text)}</p>" for text in first if text]
    for each in report.shown:
        parts.append(html_section(each, "h4", [table.to("html") for table in each.tables]))
    return "\n".join([*parts, *(f"<p>{as_html(note)}</p>" for note in _noted(report.notes))])


# --- other programs ----------------------------------------------------------------------------------


def _json(report: Report) -> str:
    return as_json(nonfinite_to_str(report.data()), indent=2, allow_nan=False) + "\n"


def _jsonl(report: Report) -> str:
    return "".join(as_json(nonfinite_to_str(row), allow_nan=False) + "\n" for row in report.records())


def _separated(report: Report, delimiter: str = ",") -> str:
    rows = report.records()
    return separated([list(rows[0]), *(list(row.values()) for row in rows)] if rows else [], delimiter)


FORMATS: dict[str, Callable[[Report], str]] = {
    "table": _terminal,
    "markdown": _markdown,
    "latex": _latex,
    "html": page_of,
    "csv": _separated,
    "tsv": lambda report: _separated(report, "\t"),
    "json": _json,
    "jsonl": _jsonl,
}
"""The formats of a report; a format is one function."""

ENDINGS = {
    ".txt": "table",
    ".md": "markdown",
    ".tex": "latex",
    ".html": "html",
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".jsonl": "jsonl",
}
"""The format that the ending of a file means."""
