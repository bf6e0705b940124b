"""The command line: arguments to library calls. Results go to stdout, everything else to stderr."""

from __future__ import annotations

import io
import signal
import sys
from contextlib import redirect_stdout
from enum import Enum
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer
from ir_measures.measures import Measure

from permed_measures import __version__
from permed_measures.audits.claims import read_claims
from permed_measures.cli.arguments import (
    Order,
    Rewriting,
    RunFiles,
    RunReader,
    checked,
    labels_of,
    notes,
    runs_named,
    tell,
)
from permed_measures.cli.progress import progress
from permed_measures.comparisons.differences import notes_of
from permed_measures.comparisons.significance import CORRECTIONS
from permed_measures.datasets import SAMPLES
from permed_measures.engine.evaluator import PermedEvaluator
from permed_measures.engine.groups import Groups
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.kernels import KERNELS
from permed_measures.errors import InputError, PermedError
from permed_measures.files.inspection import inspect_file
from permed_measures.files.read import kind_of, load, read_qrels, read_run
from permed_measures.files.sources import Source
from permed_measures.files.whole import write_whole
from permed_measures.files.write import FORMATS as WRITTEN
from permed_measures.files.write import write_qrels, write_run
from permed_measures.measures.definitions import LITSEARCH, MEDCORPUS
from permed_measures.measures.parameters import values_of
from permed_measures.measures.parsing import parse_measure
from permed_measures.reports.comparison import COMPARISON_ENDINGS as ENDINGS
from permed_measures.reports.comparison import COMPARISON_FORMATS as COMPARE_FORMATS
from permed_measures.reports.evaluation import EVALUATION_FORMATS as FORMATS
from permed_measures.reports.evaluation import Report, meaning, with_judged

__all__ = ["app", "main"]

PRESETS = {"medcorpus": MEDCORPUS, "litsearch": LITSEARCH}

Preset = Enum("Preset", {name: name for name in PRESETS})  # type: ignore[misc]
Format = Enum("Format", {name: name for name in FORMATS})  # type: ignore[misc]
AuditFormat = Enum("AuditFormat", {"table": "table", "json": "json", "markdown": "markdown"})
Correction = Enum("Correction", {name: name for name in CORRECTIONS})  # type: ignore[misc]
CompareFormat = Enum("CompareFormat", {name: name for name in COMPARE_FORMATS})  # type: ignore[misc]
Holds = Enum("Holds", {"qrels": "qrels", "run": "run"})
Written = Enum("Written", {name: name for name in WRITTEN})  # type: ignore[misc]

Qrels = Annotated[
    str, typer.Argument(help="A file of judgments, an id of ir_datasets, or a folder with a data set.")
]
Runs = Annotated[
    list[str], typer.Argument(metavar="RUN...", help="Run files, or folders of them: FILE or NAME=FILE.")
]
Measures = Annotated[
    list[str] | None,
    typer.Option("-m", "--measure", help="A measure, such as GradedAP@10; may be given several times."),
]
ByOrder = Annotated[Order, typer.Option(help="Rank a list by its scores, or as it is.")]
QueryIds = Annotated[
    Rewriting | None,
    typer.Option("--query-ids", help="Rewrite the query ids of the runs so that they meet the qrels."),
]

app = typer.Typer(
    help="Graded MAP, Coverage and exact nDCG for MedCorpus and LitSearch.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def main() -> None:
    """Run the command line; what is wrong with the input is one message and exit status 2."""
    if hasattr(signal, "SIGPIPE"):  # end as other programs do when nobody reads on
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what the terminal cannot show is escaped
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except PermedError as error:
        tell(f"error: {error}")
    except OSError as error:
        tell(f"error: {error.filename or ''}: {error.strerror or error}")
    sys.exit(2)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    pass


@app.command()
def evaluate(
    qrels: Qrels,
    runs: Runs,
    measures: Measures = None,
    preset: Annotated[Preset | None, typer.Option(help="The measures of a benchmark.")] = None,
    by_query: Annotated[bool, typer.Option("--by-query", help="Give the values of each query.")] = False,
    format_: Annotated[Format, typer.Option("--format", help="How to print.")] = Format("table"),  # noqa: B008
    order: ByOrder = Order.score,
    by: Annotated[
        str | None,
        typer.Option(
            help="Give the means by turn_number, conversation_id, specificity or another field of a data "
            "set's queries, or by what a REGEX with one group finds in the query ids."
        ),
    ] = None,
    query_ids: QueryIds = None,
) -> None:
    """Evaluate runs: a row per run, with the share of judged documents and the best possible values.

    Files may be TREC, BEIR, MTEB, MedCorpus, PerMed, LitSearch, CSV or Parquet files; their content tells
    which.
    """
    if by is not None and by_query:
        raise InputError("either --by or --by-query can be given (found both)")
    named = runs_named(runs)
    with notes():
        labels = labels_of(qrels)
        judgments = Judgments.of(labels.qrels)
        groups = Groups.of(judgments.query_ids, by, labels.dataset) if by is not None else None
        parsed = _asked(preset, measures) or _default(judgments)
        evaluate_run = RunReader(order, query_ids, judgments).on(
            PermedEvaluator(with_judged(parsed), judgments).evaluate
        )
        evaluations = {name: evaluate_run(path) for name, path in named.items()}
    lacking = (notes_of(name, each.rankings) for name, each in evaluations.items())
    for note in chain(groups.notes(), *lacking) if groups else ():  # without groups the table has the counts
        tell(f"note: {note}")
    print(FORMATS[format_.value](Report(parsed, evaluations, by_query, groups)), end="")


def _asked(preset: Preset | None, measures: list[str] | None) -> list[Measure] | None:
    """Return the measures of the preset, then those named one by one; None if there are none."""
    asked = [*(PRESETS[preset.value] if preset else ()), *(measures or ())]
    return list(dict.fromkeys(map(parse_measure, asked))) or None


def _default(judgments: Judgments) -> list[Measure]:
    name = "medcorpus" if len(judgments.grade) and judgments.grade.max() > 1 else "litsearch"
    tell(f"note: no measure was named; these are those of --preset {name}")
    return list(PRESETS[name])


@app.command()
def crosscheck(
    qrels: Qrels,
    runs: Runs,
    measures: Measures = None,
    preset: Annotated[Preset | None, typer.Option(help="The measures of a benchmark.")] = None,
    order: ByOrder = Order.score,
    query_ids: QueryIds = None,
) -> None:
    """Compare our values with pytrec_eval's, query by query; exit status 1 if any differs.

    Without measures, those of the presets and some that papers report often are compared. Measures that
    pytrec_eval does not have are compared by an identity, which the table shows.
    """
    from permed_measures.crosschecks.check import crosscheck as pm_crosscheck

    named = runs_named(runs)
    with notes():
        labels = labels_of(qrels).qrels
        asked = _asked(preset, measures)
        check_run = RunReader(order, query_ids, Judgments.of(labels)).on(
            partial(pm_crosscheck, labels, measures=asked)
        )
        results = {name: check_run(path) for name, path in named.items()}
    for name, result in results.items():
        print(f"{name}\n\n{result}\n")
    if not all(result.ok for result in results.values()):
        raise typer.Exit(1)


@app.command()
def audit(
    qrels: Qrels,
    runs: Runs,
    claim: Annotated[
        list[str] | None, typer.Option("--claim", help="A published number, such as 'MAP@10=0.5357'.")
    ] = None,
    claims: Annotated[
        Path | None,
        typer.Option("--claims", help="A CSV file with a row for each run: its name, then the numbers."),
    ] = None,
    decimals: Annotated[int | None, typer.Option(help="How many digits were printed.", min=0, max=15)] = None,
    format_: Annotated[AuditFormat, typer.Option("--format", help="How to print.")] = AuditFormat("table"),  # noqa: B008
    order: ByOrder = Order.score,
    query_ids: QueryIds = None,
) -> None:
    """Say which convention gives published numbers; exit status 1 if none explains all of them.

    Names are read generously: map@10, NDCG_cut_10, mrr, hit@10, coverage@10. In percent where above 1 or
    with %.
    """
    from permed_measures.audits.audit import audit as pm_audit
    from permed_measures.audits.reports import FORMATS as AUDIT_FORMATS

    named = runs_named(runs)
    rows = read_claims(claims, claim or [], list(named))
    with notes():
        labels = labels_of(qrels).qrels
        judgments = Judgments.of(labels)
        read_run = RunReader(order, query_ids, judgments).on(checked(judgments))
        result = pm_audit(labels, {name: read_run(path) for name, path in named.items()}, rows, decimals)
    print(AUDIT_FORMATS[format_.value](result), end="")
    if not result.ok:
        raise typer.Exit(1)


@app.command()
def compare(
    qrels: Qrels,
    runs: Runs,
    baseline: Annotated[
        str | None, typer.Option(help="The run to compare with; without one, every pair is compared.")
    ] = None,
    measures: Measures = None,
    preset: Annotated[Preset | None, typer.Option(help="The measures of a benchmark.")] = None,
    by: Annotated[
        str | None, typer.Option(help="Compare by group of queries too: a field or REGEX, as for evaluate.")
    ] = None,
    clusters: Annotated[
        str | None,
        typer.Option(
            help="Queries that belong together: a field or REGEX, or none. By default the conversation_id of "
            "a data set that has it."
        ),
    ] = None,
    correction: Annotated[Correction, typer.Option(help="For testing several times.")] = Correction("holm"),  # noqa: B008
    resamples: Annotated[int, typer.Option(help="Of randomization test and bootstrap.", min=1)] = 10_000,
    seed: Annotated[int, typer.Option(help="Of the resamples.", min=0)] = 0,
    level: Annotated[float, typer.Option(help="Of the confidence intervals.")] = 0.95,
    format_: Annotated[
        CompareFormat | None, typer.Option("--format", help="How to print; by default a table.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            help=f"Write to this file. Its ending tells the format ({', '.join(ENDINGS)}) unless --format "
            "does."
        ),
    ] = None,
    order: ByOrder = Order.score,
    query_ids: QueryIds = None,
) -> None:
    """Compare runs: differences, intervals and tests, as a table for a terminal, a paper or a browser.

    A folder of runs is one table. Turns of a conversation are not independent: tests and intervals take
    whole conversations of a data set that has them.
    """
    from permed_measures.comparisons.compare import compare as pm_compare

    named = runs_named(runs)
    form = format_.value if format_ else _form_of(output)
    if output is not None:  # said before the work is done
        _check_output(output, [Path(qrels), *named.values()])
    with notes():
        labels = labels_of(qrels)
        judgments = Judgments.of(labels.qrels)
        parsed = _asked(preset, measures) or _default(judgments)
        read_run = RunReader(order, query_ids, judgments).on(checked(judgments))
        result = pm_compare(
            labels.qrels if labels.dataset is None else labels.dataset,
            RunFiles(named, read_run),
            parsed,
            baseline,
            clusters,
            correction.value,
            resamples=resamples,
            seed=seed,
            level=level,
            by=by,
        )
    # A file is as wide as it needs to be, and has no bold letters.
    with notes(), redirect_stdout(sys.stdout if output is None else io.StringIO()):
        text = COMPARE_FORMATS[form](result)
    if output is None:
        print(text, end="")
        return
    write_whole(output, text.encode(errors="backslashreplace"))
    tell(f"{output}: {form} of {len(named):,} runs")


def _form_of(output: Path | None) -> str:
    """Return the format that the ending of a file tells."""
    if output is None:
        return "table"
    if output.suffix.lower() not in ENDINGS:
        raise InputError(
            f"a comparison is written as {', '.join(ENDINGS)} (found the ending {output.suffix!r})",
            where=str(output),
            hint="Or name the format: --format",
        )
    return ENDINGS[output.suffix.lower()]


def _check_output(output: Path, read: list[Path]) -> None:
    """Refuse a file that cannot be written, and one of those that are read."""
    if not output.parent.is_dir():
        raise InputError(f"there is no folder {str(output.parent)!r} to write into", where=str(output))
    if output.is_file() and any(path.is_file() and output.samefile(path) for path in read):
        raise InputError("the output must be another file than the judgments and the runs", where=str(output))


@app.command()
def reranking(
    qrels: Qrels,
    before: Annotated[Path, typer.Argument(help="The run that was reranked.")],
    after: Annotated[Path, typer.Argument(help="The reranked run.")],
    measure: Annotated[
        str, typer.Option("-m", "--measure", help="What queries gain and lose in.")
    ] = "nDCG@10",
    top: Annotated[
        int, typer.Option(help="So many queries that gained most, and that lost most.", min=0)
    ] = 5,
    rel: Annotated[float, typer.Option(help="The grade from which a document is relevant.")] = 1,
    judged_only: Annotated[
        bool, typer.Option("--judged-only", help="Pairs of judged documents only.")
    ] = False,
    order: ByOrder = Order.score,
    query_ids: QueryIds = None,
) -> None:
    """Say what a reranking changed: ranks of relevant documents, pairs of documents, queries."""
    from permed_measures.comparisons.reranking import reranking as pm_reranking

    with notes():
        labels = labels_of(qrels)
        judgments = Judgments.of(labels.qrels)
        read_run = RunReader(order, query_ids, judgments).on(checked(judgments))
        result = pm_reranking(
            judgments, read_run(before), read_run(after), measure, labels.dataset, top, rel, judged_only
        )
    print(result)


@app.command()
def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="A run or qrels in any format.")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="Its ending tells the format.")],
    to: Annotated[Written | None, typer.Option(help="The format, whatever the ending.")] = None,
    as_: Annotated[Holds | None, typer.Option("--as", help="Read IN as this.")] = None,
    order: ByOrder = Order.score,
) -> None:
    """Write a run or qrels in another format.

    OUT ends in .trec, .jsonl (PerMed results; for qrels MedCorpus labels or PerMed ground truth), .json (BEIR
    and MTEB), .parquet, .csv or .tsv (for qrels BEIR's), perhaps followed by .gz.
    """
    with notes(), progress(source.name) as tick:
        file = Source(source, tick)
        holds = as_.value if as_ else kind_of(file)
        if holds is None:
            raise InputError(
                "this file can be read as qrels and as a run", where=str(source), hint="Say which by --as"
            )
        loaded = load(file, holds, order=order.value)
        for note in loaded.notes:
            tell(f"note: {note}")
        write = write_qrels if holds == "qrels" else write_run
        write(loaded.table, target, to=to.value if to else None)
    tell(f"{target}: {holds} of {source}")


@app.command()
def inspect(
    paths: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Run or qrels files.")],
) -> None:
    """Say what files are and hold: format, counts, ids, grades, ties, duplicates, lists against scores."""
    for path in paths:
        with progress(path.name) as tick:
            print(inspect_file(path, tick), end="\n\n" if path != paths[-1] else "\n")


@app.command()
def demo() -> None:
    """Evaluate the packaged sample: three rankings of a medical and of a literature search."""
    for sample, name in zip(SAMPLES, PRESETS, strict=True):
        judgments = Judgments.of(read_qrels(sample.qrels))
        evaluator = PermedEvaluator(with_judged(PRESETS[name]), judgments)
        evaluations = {run: evaluator.evaluate(read_run(path)) for run, path in sample.runs.items()}
        report = Report(list(PRESETS[name]), evaluations)
        print(f"permed-sample, {sample.name} (measures of --preset {name})\n")
        print(FORMATS["table"](report))
        for column, says in report.legend().items():
            print(f"{column:>25}  {says}")
        print(f"\nThe same by hand:\n  permed-measures evaluate {sample.qrels} \\\n    ", end="")
        print(*(f"{run}={path}" for run, path in sample.runs.items()), sep=" \\\n    ", end="\n\n")


@app.command()
def measures() -> None:
    """List the measures and their parameters."""
    for name in KERNELS:
        measure = parse_measure(name)
        print(f"{name}: {meaning(measure)}")
        for parameter, value in values_of(measure).items():
            default = "" if value is None else f" (default {value!r})"
            print(f"    {parameter}: {measure.SUPPORTED_PARAMS[parameter].desc}{default}")
