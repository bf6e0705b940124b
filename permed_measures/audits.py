"""Which convention gives a published number: all of them are computed, and compared digit by digit."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, is_dataclass
from enum import Enum
from typing import Any

from permed_measures.answers import (
    Answer,
    Fit,
    RowAudit,
    answers_to,
    both,
    changes_from,
    conflicts_of,
    fit_of,
)
from permed_measures.claims import MOST_DIGITS, Claim, longest, parse_claims
from permed_measures.conventions import AXES, Labels, QuerySet, RecallBase, says
from permed_measures.crosschecks import aligned
from permed_measures.engine import PermedEvaluator
from permed_measures.errors import InputError
from permed_measures.judgments import Judgments
from permed_measures.trials import (
    COMMUNITY,
    SETTINGS,
    ClaimAudit,
    Labelled,
    Match,
    Table,
    TriedRun,
    choices_of,
    label_policies,
    tabulate,
)

__all__ = ["FORMATS", "Audit", "audit"]

_LEVELS = 10
"""So many relevance levels are tried."""


@dataclass(frozen=True)
class Audit:
    """The outcome of an audit; ``print`` shows it.

    Attributes
    ----------
    rows : list of RowAudit
        One for each run.
    answers : list of Answer
        The named conventions that explain all claims of all rows with the fewest changes.
    conflicts : list of str
        Why the rows of a table were not made in one way, where they were not.
    """

    rows: list[RowAudit]
    answers: list[Answer]
    conflicts: list[str]

    @property
    def ok(self) -> bool:
        """Whether one convention explains every claim."""
        return bool(self.answers)

    @property
    def n_tried(self) -> int:
        """How many conventions were computed."""
        return sum(claim.n_tried for row in self.rows for claim in row.claims)

    def __str__(self) -> str:
        """Return the report as text."""
        return _as_text(self)


def audit(qrels: Any, run: Any, claims: Mapping[str, Any], decimals: int | None = None) -> Audit:
    """Say which convention gives published numbers, and where a table mixes conventions.

    Parameters
    ----------
    qrels : any form of qrels
    run : any form of a run, or mapping of str to runs
        A run; with several rows of claims, the runs by name.
    claims : mapping of str to number or str, or mapping of str to such mappings
        ``{"NDCG@10": 0.9044, "MAP@10": "0.5357"}``, in percent where above 1 or with %; for several runs such
        a row by the name of each. Names are read generously (ndcg, NDCG_cut_10, mrr, hit@10, coverage@10); a
        measure that is written out with its parameters is taken as it is.
    decimals : int, optional
        How many digits were printed; if left out, those of a text, and for numbers those of the longest.

    Returns
    -------
    Audit
        For each claim all conventions that print the same digits and the nearest that don't; for each row
        the named conventions that explain all its claims with the fewest changes; the same for the table, or
        why no convention does.

    Raises
    ------
    MeasureError
        For a name that means no measure.
    InputError
        For a claim that is no number, claims about a run that is not there, and as for an evaluation.

    Examples
    --------
    >>> import permed_measures as pm
    >>> qrels = {"q1": {"a": 2, "b": 1, "c": 1}, "q2": {"a": 1, "b": 0}}
    >>> run = {"q1": {"b": 3.0, "x": 2.0, "a": 1.0}, "q2": {"b": 2.0, "a": 1.0}}
    >>> result = pm.audit(qrels, run, {"MAP@10": 0.3194})
    >>> result.ok, result.answers[0].name
    (True, 'PerMed standard')
    """
    if decimals is not None and (type(decimals) is not int or not 0 <= decimals <= MOST_DIGITS):
        raise InputError(f"decimals must be a whole number from 0 to {MOST_DIGITS} (found {decimals!r})")
    several = bool(claims) and all(isinstance(row, Mapping) for row in claims.values())
    table = dict(claims) if several else {"run": claims}
    runs = run if several else {"run": run}
    unknown = [name for name in table if name not in runs]
    if unknown:
        raise InputError(
            f"there must be a run for each row of claims (found none named {unknown[0]!r}, "
            f"but {', '.join(map(repr, runs))})"
        )
    digits = decimals
    if decimals is None and several:
        digits = longest(value for row in table.values() for value in row.values())
    policies = label_policies(Judgments.of(qrels))
    rows = [
        _audit_row(name, policies, runs[name], _claims(row, digits, decimals is None))
        for name, row in table.items()
    ]
    if len(rows) == 1:
        return Audit(rows, rows[0].answers, [])
    answers = answers_to(_combined(rows))
    return Audit(rows, answers, [] if answers else conflicts_of(rows))


def _combined(rows: list[RowAudit]) -> dict[str, Fit]:
    fits: dict[str, Fit] = {}
    for row in rows:
        for family, fit in row.fits.items():
            fits[family] = both(fits[family], fit) if family in fits else fit
    return fits


def _claims(row: Mapping[str, Any], digits: int | None, own: bool) -> list[Claim]:
    """Return the claims of a row; texts keep their own digits unless the user says how many."""
    if not own or digits is None:
        return parse_claims(row, digits)
    parsed = [
        parse_claims({name: value}, None if isinstance(value, str) else digits) for name, value in row.items()
    ]
    return [claim for claims in parsed for claim in claims] or parse_claims(row)


def _audit_row(name: str, policies: dict[Labels, Labelled], run: Any, claims: list[Claim]) -> RowAudit:
    judgments = policies[Labels.GRADES].judgments
    for claim in claims:
        if claim.is_fixed:
            PermedEvaluator([claim.measure], judgments)  # which refuses what it does not support
    tried = TriedRun(policies, run)
    levels = (1.0, *(grade for grade in policies[Labels.GRADES].grades if grade != 1))[:_LEVELS]
    tables: dict[str, list[Table]] = {}
    audits = []
    for claim in claims:
        table = tabulate(tried, claim, choices_of(claim.family, levels))
        tables.setdefault(claim.family, []).append(table)
        n_tried = len(SETTINGS) * len(QuerySet) * len(table.choices) * len(claim.cutoffs)
        audits.append(ClaimAudit(claim, n_tried, table, tried))
    fits = {family: fit_of(tried, each) for family, each in tables.items()}
    return RowAudit(name, audits, answers_to(fits), judgments.n_queries, fits)


# --- the report ------------------------------------------------------------------------------------

_NEAREST = 3
"""So many single changes are shown for each claim."""
_HEADER = ["claim", "published", "computed", "measure"]


def _cells(row: RowAudit, answers: list[Answer]) -> list[list[str]]:
    """Return for each claim: name, published, computed and measure, by the joint answer if there is one."""
    given = row.given(answers[0]) if answers else [claim.simplest for claim in row.claims]
    cells = []
    for claim, match in zip(row.claims, given, strict=True):
        if match is None:
            near = ", ".join(f"{each.printed} {_typed(each)}" for each in claim.nearest)
            cells.append([claim.claim.name, claim.claim.text, "none", f"nearest: {near}"])
        else:
            cells.append([claim.claim.name, claim.claim.text, match.printed, _typed(match)])
    return cells


def _typed(match: Match) -> str:
    """Return the measure as one would type it."""
    if match.measure is not None:
        return str(match.measure)
    cutoff = "" if match.cutoff is None else f"@{match.cutoff}"
    level = getattr(match.choice, "level", 1)
    over = " over min(R, k)" if getattr(match.choice, "base", None) is RecallBase.MIN else ""
    return f"{match.claim.measure}{cutoff}{over}" + (f", {says(level)}" if level != 1 else "")


def _explained(rows: list[RowAudit], answers: list[Answer]) -> list[str]:
    """Return what is to be said of claims that one convention explains."""
    answer, row = answers[0], rows[0]
    lines = [
        f"One convention explains {'all claims' if len(rows) == 1 else 'the whole table'}: {answer.name}"
    ]
    lines += [f"  ({answer.named.source})", *(f"  change: {change}" for change in answer.changes)]
    lines += [f"  change: {change}" for row in rows for change in _other_cutoffs(row, answer)]
    if answers[1:]:
        lines += ["So do", f"  {'; '.join(other.name for other in answers[1:])}"]
    differences = answer.differences_from_default()
    lines += ["Against ir_measures' default", *(f"  {each}" for each in differences)] if differences else []
    lines += ["For the paper", f"  {row.sentence(answer)}", *(f"  ${each}$" for each in row.latex(answer))]
    return [*lines, *_otherwise(rows, answer), *_alike(rows, answer)]


def _other_cutoffs(row: RowAudit, answer: Answer) -> list[str]:
    """Return which claims need another cutoff than they say."""
    return [
        f"cutoff of {match.claim.name}: {match.cutoff or 'none'} (not: {match.claim.cutoffs[0] or 'none'})"
        for match in row.given(answer)
        if match.cutoff != match.claim.cutoffs[0]
    ]


def _unexplained(row: RowAudit) -> list[str]:
    open_claims = [claim for claim in row.claims if not claim.explained]
    lines = []
    for claim in open_claims:
        lines.append(
            f"No convention of {claim.n_tried:,} prints {claim.claim.name} as {claim.claim.text}; nearest"
        )
        for match in claim.nearest:
            how = changes_from(COMMUNITY, match.setting, {claim.claim.family: match.choice})
            lines.append(f"  {match.printed}, {_typed(match)}: {'; '.join(how) or 'as by default'}")
    return lines or ["Each claim is explained by itself, but no convention explains all of them together"]


def _otherwise(rows: list[RowAudit], answer: Answer) -> list[str]:
    """Return which single changes print something else, those first that would hardly be noticed."""
    lines = []
    for row in rows:
        changes = row.otherwise(answer)
        for claim in row.claims:
            ours = [each for each in changes if each[2].claim is claim.claim]
            ours.sort(key=lambda each: abs(each[2].value - float(each[2].claim.value)))
            name = claim.claim.name if len(rows) == 1 else f"{row.name}, {claim.claim.name}"
            lines += [
                f"  {match.printed} for {name}, with {AXES[axis][0]}: {says(value)}"
                for axis, value, match in ours[: _NEAREST if len(rows) == 1 else 1]
            ]
    return ["It would print", *lines] if lines else []


def _alike(rows: list[RowAudit], answer: Answer) -> list[str]:
    """Return what makes no difference to any claim."""
    alike = [row.alike(answer) for row in rows]
    lines = []
    for axis in alike[0]:
        values = [value for value in alike[0][axis] if all(value in found.get(axis, []) for found in alike)]
        ours = next(getattr(part, axis) for part in answer.parts if hasattr(part, axis))
        everything = isinstance(ours, Enum) and len(values) + 1 == len(type(ours))
        names = "any" if everything else " / ".join(says(value) for value in [ours, *values])
        if values:
            lines.append(f"  {AXES[axis][0]}: {names}; to tell, it takes {AXES[axis][1]}")
    return ["Makes no difference on these data", *lines] if lines else []


def _report(result: Audit) -> list[str]:
    """Return what is to be said after the numbers."""
    if result.answers:
        return _explained(result.rows, result.answers)
    lines = list(result.conflicts)
    for row in result.rows:
        title = [] if len(result.rows) == 1 else ["", row.name]
        lines += [*title, *(_explained([row], row.answers) if row.answers else _unexplained(row))]
    return lines


def _table_of(result: Audit) -> list[list[str]]:
    """Return the cells of all rows."""
    several = len(result.rows) > 1
    cells = [["run", *_HEADER] if several else _HEADER]
    for row in result.rows:
        found = _cells(row, result.answers or row.answers)
        cells += [[row.name, *each] if several else each for each in found]
    return cells


def _as_text(result: Audit) -> str:
    table = aligned(_table_of(result), ("run", "claim", "measure"))
    tried = f"{result.n_tried:,} conventions were computed."
    return "\n".join([*table, "", *_report(result), "", tried])


def _as_markdown(result: Audit) -> str:
    header, *cells = _table_of(result)
    table = [header, ["---"] * len(header), *cells]
    lines = ["| " + " | ".join(map(_escaped, each)) + " |" for each in table]
    for line in _report(result):
        text = line.strip() if line.startswith("  $") else _escaped(line.strip())
        lines += [f"- {text}" if line.startswith("  ") else f"\n**{text}**\n" if text else ""]
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    """Return a text whose characters mean nothing in Markdown or HTML."""
    for character in "\\`*_|[]":
        text = text.replace(character, f"\\{character}")
    return text.replace("<", "&lt;")


def _as_json(result: Audit) -> str:
    content = {
        "ok": result.ok,
        "n_tried": result.n_tried,
        "answers": [_answer_json(answer) for answer in result.answers],
        "conflicts": result.conflicts,
        "rows": [_row_json(row) for row in result.rows],
    }
    return json.dumps(content, ensure_ascii=False, indent=2, default=str) + "\n"


def _row_json(row: RowAudit) -> dict[str, Any]:
    return {
        "run": row.name,
        "ok": row.ok,
        "answers": [_answer_json(answer) for answer in row.answers],
        "sentence": row.sentence(row.answers[0]) if row.answers else None,
        "latex": row.latex(row.answers[0]) if row.answers else [],
        "claims": [_claim_json(claim) for claim in row.claims],
    }


def _claim_json(claim: ClaimAudit) -> dict[str, Any]:
    simplest = claim.simplest
    return {
        "claim": claim.claim.name,
        "published": claim.claim.text,
        "explained": claim.explained,
        "n_tried": claim.n_tried,
        "n_matches": claim.n_matches,
        "simplest": None if simplest is None else _match_json(simplest),
        "nearest": [_match_json(match) for match in claim.nearest],
    }


def _match_json(match: Match) -> dict[str, Any]:
    return {
        "measure": _typed(match),
        "value": match.value,
        "printed": match.printed,
        **_plain(match.setting),
        **_plain(match.choice),
    }


def _answer_json(answer: Answer) -> dict[str, Any]:
    return {
        "name": answer.named.name,
        "source": answer.named.source,
        "changes": answer.changes,
        "setting": _plain(answer.setting),
        "choices": {family: _plain(choice) for family, choice in answer.choices.items()},
    }


def _plain(value: Any) -> dict[str, Any]:
    assert is_dataclass(value)
    assert not isinstance(value, type)
    return {key: each.value if isinstance(each, Enum) else each for key, each in asdict(value).items()}


FORMATS: dict[str, Callable[[Audit], str]] = {
    "table": lambda result: f"{result}\n",
    "json": _as_json,
    "markdown": _as_markdown,
}
"""How an audit can be printed."""
