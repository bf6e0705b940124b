"""A report of a result in sections of tables, texts and plots, and a function for each format."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, cast

from ir_measures.measures import Measure

from permed_measures.errors import InputError, PermedError, check_choice
from permed_measures.escaping import as_html, as_json, as_latex, as_markdown, nonfinite_to_str
from permed_measures.frames import Tabular
from permed_measures.measures.headings import headings_of
from permed_measures.provenance import Origin, provenance
from permed_measures.results.methods import Methods
from permed_measures.results.page import html_section, page_of
from permed_measures.results.table import Table, separated
from permed_measures.terminal import paragraph, section
from permed_measures.wording import pluralize

Records = Iterable[Mapping[str, Any]]


class Plot(NamedTuple):
    """A plot of a page: its text version, and the function that draws it as SVG."""

    about: str
    svg: Callable[[], str]


class Section(NamedTuple):
    """A part of a report; empty fields are left out.

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
    collapsed : bool
        Whether pages and notebooks show only its heading until the reader opens it.
    text_version : Section, optional
        The section that other formats show in its place, if it is long.
    """

    heading: str = ""
    note: str = ""
    tables: Sequence[Table] = ()
    texts: Sequence[str] = ()
    plots: Sequence[Plot] = ()
    code: Sequence[str] = ()
    collapsed: bool = False
    text_version: Section | None = None


def _nothing() -> Any:
    return []


class Report(NamedTuple):
    """The content of a result, independent of its format.

    Attributes
    ----------
    title : str
        Title of a page.
    finding : sequence of str
        The answer, in sentences.
    cautions : sequence of str
        Facts that weaken the finding, such as unjudged documents; shown right below it. Without full stops.
    sections : sequence of Section
    notes : sequence of str
        Notes on the numbers.
    data : callable
        Returns the content of the JSON.
    rows : callable
        Returns the rows of CSV, TSV and JSONL as mappings, with numbers that are not rounded.
    provenance : callable
        Returns how to make the result again, for a page: command, versions, files with hashes.
    queries : callable
        Returns the details of each query for a page, as `comparison.queries` describes them.
    methods : callable, optional
        Returns the methods paragraphs of a paper.
    """

    title: str = ""
    finding: Sequence[str] = ()
    sections: Sequence[Section] = ()
    notes: Sequence[str] = ()
    data: Callable[[], Any] = _nothing
    rows: Callable[[], Records] = _nothing
    provenance: Callable[[], dict[str, Any]] = dict
    cautions: Sequence[str] = ()
    queries: Callable[[], dict[str, Any]] = dict
    methods: Callable[[], Methods] | None = None

    @property
    def text_sections(self) -> list[Section]:
        """The sections of formats without plots."""
        sections = (section.text_version or section for section in self.sections)
        return [part for part in sections if part.tables or part.texts or part.code or not part.plots]

    @property
    def html_sections(self) -> list[Section]:
        """The sections of pages and notebooks: with plots, if matplotlib is installed."""
        if find_spec("matplotlib"):
            return [*self.sections]
        return [section._replace(plots=()) for section in self.text_sections]

    def records(self) -> list[dict[str, Any]]:
        """Return the rows of frames, CSV, TSV and JSONL, all with the same fields in the same order.

        Raises
        ------
        PermedError
            If a row has other fields than the first row: a column would mix two quantities.
        """
        rows = [dict(row) for row in self.rows()]
        for row in rows:
            if list(row) != list(rows[0]):
                other = ", ".join(sorted({*row} ^ {*rows[0]})) or "their order"
                hint = "This is a fault of permed-measures: please report it"
                raise PermedError(f"rows of one table have different fields ({other})", hint=hint)
        return rows

    def to(self, form: str = "table", *, label: str = "", caption: str = "", width: int | None = None) -> str:
        """Write the report in one of `FORMATS`.

        Parameters
        ----------
        form : str
        label, caption : str
            Label and caption of the first table in LaTeX; further tables have the labels ``label-2`` and so
            on. A label without a colon gets the prefix ``tab:``. A caption with a backslash or ``$`` is
            LaTeX; other captions are text.
        width : int, optional
            The columns of the format ``table``, as plain text; if left out, those of the terminal, in bold
            where it can.
        """
        check_choice("form", form, FORMATS)
        check_latex(form, label, caption)
        if form == "table":
            return _terminal(self, width)
        return _latex(self, label, caption) if form == "latex" else FORMATS[form](self)


class Result(Tabular):
    """A result of the package; ``print`` shows the output of the command."""

    @abstractmethod
    def report(self) -> Report:
        """Build the report of the result."""

    def to(self, form: str = "table", *, label: str = "", caption: str = "") -> str:
        """Write the result as a ``table`` for the terminal, or in another of `FORMATS`; see `Report.to`."""
        return self.report().to(form, label=label, caption=caption)

    def __str__(self) -> str:
        """Return the output of the command."""
        return self.to("table").rstrip("\n")

    def _repr_html_(self) -> str:
        return notebook(self.report())

    def _records(self) -> list[dict[str, Any]]:
        return self.report().records()


class DescribedResult(Result):
    """A result with the methods paragraphs of a paper."""

    def methods(self, form: str = "text") -> str:
        """Describe how the numbers were computed: judgments, measures with formulas, statistics, software.

        Parameters
        ----------
        form : {'text', 'markdown', 'latex', 'bibtex'}
            ``latex`` cites works by keys, and ``bibtex`` gives the works of these keys. The other forms have
            a list of references.

        Raises
        ------
        InputError
            If the form is unknown.
        """
        described = cast(Callable[[], Methods], self.report().methods)  # each report of these has them
        return described().to(form)


def low_high_fields(name: str, pair: tuple[float, float] | None) -> dict[str, float | None]:
    """Turn a pair into two fields of a row.

    >>> low_high_fields("ties_", (0.1, 0.2)), low_high_fields("", None)
    ({'ties_low': 0.1, 'ties_high': 0.2}, {'low': None, 'high': None})
    """
    return dict(zip((f"{name}low", f"{name}high"), pair or (None, None), strict=True))


# --- how it was made -------------------------------------------------------------------------------


def titled(origin: Origin | None, n_runs: int, n_queries: int) -> str:
    """Write a title: the name of the qrels, if any, and the numbers of runs and queries.

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
    """Describe how to make a result again: command, measures, conventions, files with hashes, versions, seed.

    The command is as typed. Files with absolute paths are listed by name only: readers do not have the
    folder.
    """
    content = provenance(measures, origin, seed, packages)
    return {
        "again": origin.line if origin else "",
        "measures": [
            {"heading": heading, "measure": measure["measure"], "description": measure["description"]}
            for heading, measure in zip(headings_of(measures), content["measures"], strict=True)
        ],
        "conventions": content["conventions"],
        "inputs": [
            {**file, "path": _shareable_path(file.get("path", ""))} for file in content.get("inputs", [])
        ],
        "versions": content["versions"],
        "seed": content.get("seed"),
    }


def _shareable_path(path: str) -> str:
    """Return a relative path unchanged, and the file name of an absolute path."""
    return Path(path).name if Path(path).is_absolute() else path


# --- text --------------------------------------------------------------------------------------------


def _noted(notes: Iterable[str]) -> list[str]:
    return [f"Note: {note.rstrip('.')}." for note in notes]


def _terminal(report: Report, width: int | None = None) -> str:
    first = [*report.finding, *_noted(report.cautions)]
    sections = [_terminal_section(part, width) for part in report.text_sections]
    parts = [_lines(first, width), *sections, _lines(_noted(report.notes), width)]
    return "\n".join(part for part in parts if part)


def _lines(texts: Iterable[str], width: int | None) -> str:
    return "".join(f"{paragraph(text, 2, width=width)}\n" for text in texts)


def _terminal_section(part: Section, width: int | None) -> str:
    tables = "\n".join(table.to("table", width) for table in part.tables)
    code = "".join(f"  {line}\n" for line in part.code)
    heading = section(part.heading, [], width) if part.heading else ""
    texts = _lines(part.texts, width)
    if heading:
        texts = section(part.heading, part.texts, width).removeprefix(heading)
    under = [heading + _lines([part.note] if part.note else [], width), tables]
    if tables:
        return "\n".join(part for part in [*under, texts, code] if part)
    return "".join([*under, texts, code])


def _markdown(report: Report) -> str:
    first = [" ".join(report.finding), *_noted(report.cautions)]
    parts = ["\n".join(f"{as_markdown(text)}\n" for text in first if text)]
    for part in report.text_sections:
        parts += [f"**{as_markdown(part.heading)}**\n"] if part.heading else []
        parts += [f"{as_markdown(part.note)}\n"] if part.note else []
        parts += [table.to("markdown") for table in part.tables]
        parts += ["".join(f"- {as_markdown(text)}\n" for text in part.texts)]
        parts += ["```\n{}\n```\n".format("\n".join(part.code))] if part.code else []
    parts += [f"{as_markdown(note)}\n" for note in _noted(report.notes)]
    return "\n".join(part for part in parts if part)


def check_latex(form: str, label: str, caption: str) -> None:
    """Raise InputError for a label or a caption in another format than LaTeX, and for an invalid label."""
    if form != "latex" and (label or caption):
        raise InputError(
            f"label and caption are for LaTeX tables (found the format {form})", hint="Leave them out"
        )
    if invalid := re.search(r"[\s,\\{}%#~^$&]", label):
        raise InputError(f"a label in LaTeX can have no {invalid[0]!r} (found {label!r})")


def _latex(report: Report, label: str = "", caption: str = "") -> str:
    """Write the tables in LaTeX, and everything else in comments."""
    lines = [*report.finding, *_noted(report.cautions)]
    for part in report.text_sections:
        lines += [*filter(None, [part.note]), *part.texts]
    comments = "".join(f"% {as_latex(text)}\n" for text in [*lines, *_noted(report.notes)])
    tables = [table for part in report.text_sections for table in part.tables]
    names = [label or table.label for table in tables]
    numbers = [names[:index].count(name) for index, name in enumerate(names)]  # labels are unique
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
    for part in report.html_sections:
        parts.append(html_section(part, "h4", [table.to("html") for table in part.tables]))
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
"""The formats of a report, each a function."""

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
"""The format for each ending of a file."""
