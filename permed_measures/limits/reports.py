"""Which conventions are refuted without any run, and the report: as text, Markdown, JSON, HTML and frames."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from enum import Enum
from fractions import Fraction
from typing import Any, NamedTuple

from permed_measures.audits.conventions import Convention
from permed_measures.audits.options import LabelPolicy, QuerySet, describe
from permed_measures.files.provenance import Origin, provenance
from permed_measures.frames import Tabular
from permed_measures.limits.bounds import Interval
from permed_measures.limits.rows import ClaimRange, ConventionLimits, RowLimits
from permed_measures.markup import as_json, as_markdown, counted, html_section, html_table
from permed_measures.terminal import section, terminal_table


@dataclass(frozen=True)
class Possible(Tabular):
    """Which conventions of published rows the qrels refute; ``print`` shows it.

    ``to_polars`` and ``to_pandas`` give a row for each claim of each convention: ``row``, ``convention`` (its
    number in the row, from 1), ``claim``, ``published``, ``measure``, ``labels`` and ``queries`` (of the
    convention), ``ceiling``, ``low`` and ``high`` (the range given the others; null if these are not possible
    together), ``possible`` (this number), and ``convention_possible`` (all of them).

    Attributes
    ----------
    rows : list of RowLimits
    n_queries : int
        How many queries the means are taken over.
    n_judged : int
        How many queries the qrels have.
    skipped : list of str
        The claims that cannot be bounded.
    notes : list of str
        What was left out of a printed table.
    origin : Origin or None
        The command and its files.
    """

    rows: list[RowLimits]
    n_queries: int
    n_judged: int
    skipped: list[str]
    notes: list[str]
    origin: Origin | None = field(default=None, repr=False)

    @property
    def ok(self) -> bool:
        """Whether some convention is not refuted for every row."""
        return all(row.ok for row in self.rows)

    @property
    def possible(self) -> list[ConventionLimits]:
        """The conventions that are not refuted: the bounds let a run have the numbers of its row."""
        return [each for row in self.rows for each in row.possible]

    @property
    def impossible(self) -> list[ConventionLimits]:
        """The conventions by which no run can have them, which is proved."""
        return [each for row in self.rows for each in row.impossible]

    @property
    def ranges(self) -> dict[str, dict[str, Interval]]:
        """By row and claim, what the number can be given the others, by the first convention.

        That is ir_measures' default, where it has all measures.
        """
        return {
            row.name: {each.claim.name: each.given for each in row.conventions[0].ranges} for row in self.rows
        }

    def __str__(self) -> str:
        """Return the report as text."""
        return _as_text(self).rstrip("\n")

    def __repr__(self) -> str:
        """Say how many conventions are not refuted."""
        n = len(self.possible) + len(self.impossible)
        return f"<Possible: {len(self.possible):,} of {counted(n, 'convention')} not refuted>"

    def _repr_html_(self) -> str:
        """Return the report for a notebook."""
        parts = []
        for each in _parts(self, every=False):
            parts.append(html_section(each.heading, each.lines, is_open=True))
            parts.append(html_table(each.headings, each.cells, each.n_labels))
        return "".join([*parts, *(html_section(heading, lines) for heading, lines in _notes(self))])

    def _records(self) -> list[dict[str, Any]]:
        return [
            {
                "row": row.name,
                "convention": number,
                "claim": each.claim.name,
                "published": each.claim.text,
                "measure": each.measure,
                "labels": limits.convention.setting.labels.value,
                "queries": limits.convention.setting.queries.value,
                "ceiling": each.alone.high,
                "low": None if each.given.is_empty else each.given.low,
                "high": None if each.given.is_empty else each.given.high,
                "possible": each.possible,
                "convention_possible": limits.possible,
            }
            for row in self.rows
            for number, limits in enumerate(row.conventions, start=1)
            for each in limits.ranges
        ]


# --- what is said ----------------------------------------------------------------------------------


class _Part(NamedTuple):
    """A heading, what is said below it, and a table."""

    heading: str
    lines: list[str]
    headings: list[str]
    cells: list[list[str]]
    n_labels: int


def _parts(result: Possible, every: bool) -> Iterator[_Part]:
    """Yield a part for each row, or one for all of several."""
    several = len(result.rows) > 1
    if several and not every:
        n = sum(row.ok for row in result.rows)
        lines = [f"{row.name}: {line}" for row in result.rows for line in _usual(row)]
        heading = f"{n} of {counted(len(result.rows), 'row')} not refuted for some convention"
        yield _Part(heading, lines, *_by_convention(result.rows, only_usual=True))
        return
    for row in result.rows:
        start = f"{row.name}: " if several else ""
        n, of = len(row.possible), counted(len(row.conventions), "convention")
        heading = f"not refuted for {n} of {of}" if n else f"refuted for {len(row.conventions):,} of {of}"
        heading = start + (heading if several else heading.capitalize())
        table = _by_convention([row], only_usual=False) if every else _by_measure(row)
        lines = [*_usual(row), *([] if every else _otherwise(row))]
        yield _Part(heading, lines, *table)


def _usual(row: RowLimits) -> list[str]:
    """Say which of the usual conventions are refuted, and why, and which are not."""
    refuted, others = [], []
    for each in (each for each in row.conventions if each.usual):
        named = " · ".join(_telling(each, row))
        if each.possible:
            others.append(f"{named}: not refuted")
        else:
            refuted.append(f"not {named}: {_reason(each, row)}")
    return [*refuted, *others]


def _telling(limits: ConventionLimits, row: RowLimits) -> list[str]:
    """Return the measures that not all conventions share."""
    different = [name for place, name in enumerate(limits.measures) if len(_measures(row, place)) > 1]
    return different or limits.measures


def _measures(row: RowLimits, place: int) -> set[str]:
    return {each.measures[place] for each in row.conventions}


def _reason(limits: ConventionLimits, row: RowLimits) -> str:
    """Say why a convention is refuted, by the number that can be made in most ways."""
    told = max(
        (each for each in limits.ranges if not each.possible),
        key=lambda each: (not each.given.is_empty, len(_measures(row, limits.ranges.index(each)))),
    )
    claim = told.claim
    if told.counts is not None and not told.counts.anyhow:
        return f"{claim.name} {claim.text} is no whole number of {told.counts.total:,}"
    if told.given.is_empty:
        return "these numbers are not possible together"
    if not told.alone.meets(Interval(float(claim.value), float(claim.value))):
        return f"{claim.name} is {_shown(told, told.alone)} in any run, not {claim.text}"
    return f"given the others, {claim.name} is {_shown(told, told.given)}, not {claim.text}"


def _otherwise(row: RowLimits) -> list[str]:
    """Say what is not refuted with other labels or of other queries, which the table leaves out."""
    found: dict[str, list[ConventionLimits]] = {}
    for limits in row.conventions:
        found.setdefault(", ".join(_setting(limits.convention)), []).append(limits)
    counts = {how: sum(each.possible for each in those) for how, those in found.items() if how}
    return [f"{how}: not refuted for {n} of {len(found[how])}" for how, n in counts.items()]


def _by_measure(row: RowLimits) -> tuple[list[str], list[list[str]], int]:
    """Return a line for each measure that a claim may be, with the range by the most usual convention."""
    cells = []
    for place, claim in enumerate(row.claims):
        found: dict[str, list[ConventionLimits]] = {}
        for limits in (each for each in row.conventions if not _setting(each.convention)):
            found.setdefault(limits.measures[place], []).append(limits)
        for measure, those in found.items():
            ranges = [limits.ranges[place] for limits in those]
            told = next((each for each in ranges if not each.given.is_empty), ranges[0])
            numbers = [claim.text, _end(told, told.alone.high, up=True), _shown(told, told.given)]
            n = sum(each.possible for each in those)
            cells.append([claim.name, measure, *numbers, f"{n} of {len(those)}"])
    return ["claim", "measure", "published", "at most", "given the others", "not refuted"], cells, 2


def _by_convention(rows: list[RowLimits], only_usual: bool) -> tuple[list[str], list[list[str]], int]:
    """Return a line for each convention: what each number can be given the others."""
    names = list(dict.fromkeys(claim.name for row in rows for claim in row.claims))
    cells = []
    for row in rows:
        for limits in (each for each in row.conventions if each.usual or not only_usual):
            of_claim = {each.claim.name: _shown(each, each.given) for each in limits.ranges}
            label = ", ".join([" · ".join(_telling(limits, row)), *_setting(limits.convention)])
            texts = [label, *(of_claim.get(name, "") for name in names), _said(limits)]
            cells.append([row.name, *texts] if len(rows) > 1 else texts)
    headings = ["convention", *names, "refuted"]
    return (["row", *headings], cells, 2) if len(rows) > 1 else (headings, cells, 1)


def _said(limits: ConventionLimits) -> str:
    if not limits.possible:
        return "yes"
    return "no" if limits.rounded else "unless cut off"


def _setting(convention: Convention) -> list[str]:
    """Describe the labels and the queries, where they are not as they are in the qrels."""
    setting = convention.setting
    labels = [] if setting.labels is LabelPolicy.GRADES else [describe("labels", setting.labels)]
    return labels + ([] if setting.queries is QuerySet.QRELS else [describe("queries", setting.queries)])


def _shown(told: ClaimRange, interval: Interval) -> str:
    if interval.is_empty:
        return "none"
    return f"{_end(told, interval.low, up=False)} to {_end(told, interval.high, up=True)}"


_NOISE = 1e-9


def _end(told: ClaimRange, value: float, up: bool) -> str:
    """Print the end of a range with the digits of the claim, rounded away from the middle."""
    claim = told.claim
    unit, rounding = Decimal(1).scaleb(-claim.decimals), ROUND_CEILING if up else ROUND_FLOOR
    inwards = Decimal(value + (-_NOISE if up else _NOISE))
    return claim.prints(float(inwards.quantize(unit, rounding, Context(prec=60))) + 0.0)


def _notes(result: Possible) -> Iterator[tuple[str, list[str]]]:
    """Yield what stands below the tables: counts, and what is assumed."""
    counts = [line for row in result.rows for line in _counts(row, len(result.rows) > 1)]
    if counts:
        yield "Counts", list(dict.fromkeys(counts))
    n, of = result.n_queries, result.n_judged
    over = f"all {n:,} queries of the qrels" if n == of else f"{n:,} of their {of:,} queries"
    lines = [
        f"The mean is taken over {over}; one that the run lacks scores 0. A run may rank any documents, and "
        "return as few as it likes.",
        "What is refuted is proved: no run has these numbers. What is not refuted may be possible, or not. A "
        "range is that of the most usual convention that has one.",
    ]
    if n_skipped := max(row.n_skipped for row in result.rows):
        values = dict.fromkeys(text for row in result.rows for text in row.not_known)
        among = f", among them: {'; '.join(values)}" if values else ""
        lines.append(f"Left out, without bounds: {counted(n_skipped, 'further convention')}{among}.")
    if result.skipped:
        lines.append(f"No bounds are known for {', '.join(result.skipped)}.")
    yield "What this says", lines
    if result.notes:
        yield "Read from the table", result.notes


def _counts(row: RowLimits, named: bool) -> Iterator[str]:
    """Say which count each number is, where most numbers that can be printed are none."""
    for place, claim in enumerate(row.claims):
        first = row.conventions[0].ranges[place]
        if first.counts is None or first.counts.total >= 10**claim.decimals:
            continue
        start = f"{row.name}, {claim.name}" if named else claim.name
        total, found = first.counts.total, first.counts.rounded
        share = f"of the numbers that can be printed, {100 * total / 10**claim.decimals:.2g} % are counts"
        if found:
            between = f"{found[0]:,}" if len(found) == 1 else f"{found[0]:,} to {found[-1]:,}"
            yield f"{start} {claim.text} is {between} of {total:,}; {share}"
        else:
            below = int(Fraction(claim.value) * total)
            near = " and ".join(f"{n:,} is {claim.prints(n / total)}" for n in (below, below + 1))
            count = "rounded count" if first.counts.anyhow else "count"
            yield f"{start} {claim.text} is no {count} of {total:,}: {near}; {share}"


# --- how it is printed -----------------------------------------------------------------------------


def _as_text(result: Possible, every: bool = False) -> str:
    texts = []
    for each in _parts(result, every):
        texts.append(section(each.heading, each.lines))
        texts.append(terminal_table(each.headings, each.cells, each.n_labels, spare=["at most"]))
    return "\n".join([*texts, "".join(section(heading, lines) for heading, lines in _notes(result))])


def _as_markdown(result: Possible, every: bool = False) -> str:
    lines = []
    for each in _parts(result, every):
        lines += [
            f"**{as_markdown(each.heading)}**\n",
            *(f"- {as_markdown(text)}" for text in each.lines),
            "",
        ]
        rows = [[as_markdown(cell) for cell in row] for row in [each.headings, *each.cells]]
        sides = ["---"] * each.n_labels + ["---:"] * (len(each.headings) - each.n_labels)
        lines += [f"| {' | '.join(row)} |" for row in [rows[0], sides, *rows[1:]]] + [""]
    for heading, texts in _notes(result):
        lines += [f"**{as_markdown(heading)}**\n", *(f"- {as_markdown(text)}" for text in texts), ""]
    return "\n".join(lines)


def _as_json(result: Possible, every: bool = True) -> str:  # noqa: ARG001 (all is there)
    origin = provenance([], result.origin, packages=["scipy"])
    origin["conventions"] = [
        line for heading, lines in _notes(result) for line in lines if heading != "Counts"
    ]
    content = {
        "ok": result.ok,
        "n_queries": result.n_queries,
        "skipped": result.skipped,
        "notes": result.notes,
        "rows": [
            {
                "row": row.name,
                "ok": row.ok,
                "n_possible": len(row.possible),
                "n_conventions": len(row.conventions),
                "n_left_out": row.n_skipped,
                "not_known": row.not_known,
                "conventions": [_convention_json(each) for each in row.conventions],
            }
            for row in result.rows
        ],
        "provenance": origin,
    }
    return as_json(content, indent=2, default=str) + "\n"


def _convention_json(limits: ConventionLimits) -> dict[str, Any]:
    return {
        "possible": limits.possible,
        "only_if_cut_off": limits.possible and not limits.rounded,
        "usual": limits.usual,
        "claims": [_claim_json(each) for each in limits.ranges],
        "setting": _options_json(limits.convention.setting),
        "choices": {family: _options_json(choice) for family, choice in limits.convention.choices.items()},
        "n_alike": len(limits.alike),
    }


def _claim_json(told: ClaimRange) -> dict[str, Any]:
    counts = told.counts
    return {
        "claim": told.claim.name,
        "published": told.claim.text,
        "measure": told.measure,
        "possible": told.possible,
        "alone": list(told.alone),
        "given_the_others": None if told.given.is_empty else list(told.given),
        "counts": None if counts is None else {"of": counts.total, "rounded": _ends(counts.rounded)},
    }


def _ends(found: range) -> list[int] | None:
    return [found[0], found[-1]] if found else None


def _options_json(part: Any) -> dict[str, Any]:
    return {key: each.value if isinstance(each, Enum) else each for key, each in vars(part).items()}


POSSIBLE_FORMATS: dict[str, Callable[..., str]] = {
    "table": _as_text,
    "json": _as_json,
    "markdown": _as_markdown,
}
"""The formats of a report, by name: each takes the result, and whether every convention is shown."""
