"""The methods paragraphs of a paper: data, measures, statistics and software behind the numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ir_measures.measures import Measure

from permed_measures.errors import PACKAGE, check_choice
from permed_measures.inputs.runs import run_name
from permed_measures.measures.formulas import LatexFormula, number
from permed_measures.measures.headings import headings_of
from permed_measures.measures.specs import latex_formula
from permed_measures.provenance import Origin, provenance
from permed_measures.results.prose import PROSE_FORMATS, Paragraph, literal, plain_text
from permed_measures.wording import grouped, join_names, pluralize

_MOST_RUNS = 10
"""The largest number of runs that are named; of more runs only the number is given."""

_HASH = 16
"""The number of hexadecimal digits of a hash; records have all 64."""


class Methods(NamedTuple):
    """Paragraphs on how numbers were computed.

    Attributes
    ----------
    paragraphs : sequence of Paragraph
    """

    paragraphs: Sequence[Paragraph]

    def to(self, form: str = "text") -> str:
        """Write the paragraphs as ``text``, ``markdown`` or ``latex``, or their references as ``bibtex``."""
        check_choice("form", form, PROSE_FORMATS)
        return PROSE_FORMATS[form](self.paragraphs)


def methods_of(
    measures: Sequence[Measure],
    origin: Origin | None,
    runs: Sequence[str],
    n_queries: int | Mapping[str, int],
    means: Iterable[str],
    statistics: Iterable[str] = (),
    packages: Iterable[str] = (),
) -> Methods:
    """Describe how the numbers of a result were computed.

    Parameters
    ----------
    measures : sequence of Measure
    origin : Origin or None
        The source of the qrels; the files of the judgments are read once more for their hashes.
    runs : sequence of str
        The names of the runs.
    n_queries : int, or mapping of str to int
        Number of queries of the qrels; of several collections, that of each by its name.
    means : iterable of str
        Sentences that describe the means.
    statistics : iterable of str
        Sentences on tests, intervals and other statistics.
    packages : iterable of str
        Packages that the numbers depend on, in addition to the packages in `provenance`.
    """
    known = provenance(measures, origin._replace(runs={}) if origin else None, None, packages)
    named_runs = _names_of_runs(runs, origin)
    paragraphs = [
        Paragraph("Data", [*_data(known, named_runs, n_queries), *map(plain_text, known["conventions"])]),
        Paragraph("Measures", [*_measures(measures), *means]),
        Paragraph("Statistics", [*statistics]),
        Paragraph("Software", [_software(known["versions"])]),
    ]
    return Methods([paragraph for paragraph in paragraphs if paragraph.sentences])


# --- data and software -----------------------------------------------------------------------------------


def _names_of_runs(names: Sequence[str], origin: Origin | None) -> list[str]:
    """Name the runs, with the file of a run whose name is another."""
    paths = origin.runs.items() if origin else ()
    others = {name: path for name, path in paths if run_name(path) != name}
    files = {name: path for name, path in others.items() if not str(path).startswith(PACKAGE)}
    return [
        f"{literal(name)} (the file {literal(files[name].name)})" if name in files else literal(name)
        for name in names
    ]


def _data(known: dict[str, Any], runs: Sequence[str], n_queries: int | Mapping[str, int]) -> Iterator[str]:
    """Describe the judgments, of each collection if there are several, and the runs."""
    sizes = {} if isinstance(n_queries, int) else n_queries
    roles = _ROLES | {f"{name} qrels": f"{_ROLES['qrels']} of {literal(name)}" for name in sizes}
    for file in known.get("inputs", []):
        yield f"{roles.get(file['role'], plain_text(file['role']))} are those of {_source(file)}."
    if isinstance(n_queries, int):
        yield f"The qrels have {pluralize(n_queries, 'query')}."
    else:
        (first, n_first), *others = n_queries.items()
        rest = "".join(f", those of {literal(name)} {n:,}" for name, n in others)
        yield f"The qrels of {literal(first)} have {pluralize(n_first, 'query')}{rest}."
    if len(runs) > _MOST_RUNS:
        yield f"There are {len(runs):,} runs."
    else:
        yield f"The {'runs are' if len(runs) > 1 else 'run is'} {join_names(runs)}."


_ROLES = {"qrels": "The relevance judgments (qrels)", "human qrels": "People's labels"}


def _source(file: dict[str, Any]) -> str:
    """Name a file or a data set, with the beginning of its hash."""
    digest = f"`{file['sha256'][:_HASH]}`" if file["sha256"] else ""
    if "dataset" in file:
        name = f"the data set {literal(file['dataset'])} of ir_datasets [@macavaney2021simplified]"
        return f"{name}, whose labels have a SHA-256 hash that begins with {digest}" if digest else name
    name = "standard input" if file["path"] == "-" else f"the file {literal(Path(file['path']).name)}"
    return f"{name}, whose SHA-256 hash begins with {digest}" if digest else name


def _software(versions: dict[str, str | None]) -> str:
    """Name the packages that computed the numbers, with their versions."""
    named = {name: version for name, version in versions.items() if version is not None}
    own_version, python = named.pop("permed-measures"), named.pop("python")
    toolkit = f" {named.pop('ir-measures')}" if "ir-measures" in named else ""
    others = join_names(f"{name} {version}" for name, version in named.items())
    return (
        f"All values were computed by permed-measures {own_version}, a plugin of ir-measures{toolkit} "
        f"[@macavaney2022streamlining], with {others} on Python {python}."
    )


# --- measures --------------------------------------------------------------------------------------------


def measure_methods(measures: Sequence[Measure]) -> Methods:
    r"""Describe measures by themselves.

    Examples
    --------
    >>> from ir_measures import P
    >>> first, level, *_, last = measure_methods([P @ 5]).paragraphs[0].sentences
    >>> print(level)
    A document is relevant if its grade is at least 1.
    >>> print(last)
    The value of `P@5` [@vanrijsbergen1979] is $$\frac{1}{k} \sum_{i=1}^{k} r_i$$.
    """
    return Methods([Paragraph("Measures", [*_measures(measures)])])


def _measures(measures: Sequence[Measure]) -> Iterator[str]:
    """Define the measures: shared notation first, then each formula."""
    names = [_name(*pair) for pair in zip(headings_of(measures), map(str, measures), strict=True)]
    formulas = [latex_formula(measure) for measure in measures]
    yield f"The {'measures are' if len(names) > 1 else 'measure is'} {join_names(names)}."
    headings = [*map(literal, headings_of(measures))]
    yield from _levels(headings, formulas)
    if notation := list(dict.fromkeys(text for formula in formulas for text in formula.notation)):
        yield f"For a query, {'; '.join(notation)}."
    by_formula = grouped(
        (formula._replace(level=None), heading) for heading, formula in zip(headings, formulas, strict=True)
    )
    yield from (_definition(same, formula) for formula, same in by_formula.items())
    if any(formula.divides for formula in formulas):
        yield "A fraction counts as 0 where its denominator is not above 0."


def _name(heading: str, whole: str) -> str:
    return literal(heading) if heading == whole else f"{literal(heading)} ({literal(whole)})"


def _levels(headings: Sequence[str], formulas: Sequence[LatexFormula]) -> Iterator[str]:
    """Define the lowest relevant grade, for each measure if measures differ."""
    levels = grouped((formula.level, heading) for heading, formula in zip(headings, formulas, strict=True))
    levels.pop(None, None)
    if len(levels) == 1:
        yield f"A document is relevant if its grade is at least {_grade(next(iter(levels)))}."
    elif levels:
        parts = [f"at least {_grade(level)} for {join_names(names)}" for level, names in levels.items()]
        yield f"A document is relevant if its grade is {_clauses(parts)}."


def _grade(level: float | None) -> str:
    text = number(level or 0)
    return f"${text}$" if "\\" in text else text


def _clauses(parts: Sequence[str]) -> str:
    return ", and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _definition(names: Sequence[str], formula: LatexFormula) -> str:
    """Define measures by their formula and its symbols."""
    cited = f" [{'; '.join(f'@{key}' for key in formula.cited)}]" if formula.cited else ""
    subject = f"The {'values' if len(names) > 1 else 'value'} of {join_names(names)}{cited}"
    where = f", where {_clauses(formula.where)}" if formula.where else ""
    return f"{subject} {'are' if len(names) > 1 else 'is'} $${formula.latex}$${where}."


def means_over_queries(n_queries: int, summed: Sequence[str] = ()) -> str:
    """Define the value of a run: a mean over queries, or a sum for counts.

    >>> means_over_queries(48, ["NumQ"])
    'The value of a run is the mean over the 48 queries of the qrels; `NumQ` is summed.'
    """
    over = f"over the {pluralize(n_queries, 'query')} of the qrels" if n_queries != 1 else "that of its query"
    return f"The value of a run is {'the mean ' * (n_queries != 1)}{over}{_also_summed(summed)}."


def means_over_collections(n_collections: int, summed: Sequence[str] = ()) -> str:
    """Define the value of a run on a collection, and its mean over several of them.

    >>> print(means_over_collections(1, ["NumQ"]))
    The value of a run on a collection is the mean over the queries of its qrels; `NumQ` is summed.
    >>> means_over_collections(3)[len(means_over_collections(1)) :]
    ' The mean is that of the values on the 3 collections, each counting once.'
    """
    value = "The value of a run on a collection is the mean over the queries of its qrels"
    mean = f" The mean is that of the values on the {n_collections:,} collections, each counting once."
    return f"{value}{_also_summed(summed)}.{mean * (n_collections > 1)}"


def _also_summed(headings: Sequence[str]) -> str:
    """Name the measures that are summed, as a clause; empty if there are none."""
    verb = "is" if len(headings) == 1 else "are"
    return f"; {join_names(map(literal, headings))} {verb} summed" if headings else ""


def independent_units(n_clusters: int, clusters: str) -> str:
    """Name the independent units: clusters, or queries if there are no clusters.

    >>> print(independent_units(12, "conversation_id"))
    Queries of one cluster are not taken as independent; there are 12 clusters, by `conversation_id`.
    >>> print(independent_units(48, ""))
    Queries are taken as independent.
    """
    if not clusters:
        return "Queries are taken as independent."
    named = "" if clusters == "clusters" else f", by {literal(clusters)}"  # a mapping or a function has none
    there = f"there {'are' if n_clusters != 1 else 'is'} {pluralize(n_clusters, 'cluster')}"
    return f"Queries of one cluster are not taken as independent; {there}{named}."
