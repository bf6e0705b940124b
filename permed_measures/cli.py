"""The command line: arguments to library calls. Results go to stdout, everything else to stderr."""

from __future__ import annotations

import io
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from ir_measures.measures import Measure

from permed_measures import __version__, files
from permed_measures.claims import read_claims
from permed_measures.datasets import NAMES, SAMPLES, load, qrels_of
from permed_measures.engine import PermedEvaluator
from permed_measures.errors import InputError, NoSharedQueryWarning, PermedError
from permed_measures.groups import Groups
from permed_measures.inspections import inspect_file
from permed_measures.judgments import Judgments
from permed_measures.kernels import KERNELS
from permed_measures.measures import LITSEARCH, MEDCORPUS
from permed_measures.parameters import values_of
from permed_measures.parsing import parse_measure
from permed_measures.progress import progress
from permed_measures.queryids import REWRITINGS, renamed
from permed_measures.rankings import JudgedRankings
from permed_measures.report import FORMATS, Report, meaning, with_judged
from permed_measures.sources import Source, Tick
from permed_measures.writing import FORMATS as WRITTEN
from permed_measures.writing import write_qrels, write_run

__all__ = ["app", "main"]

PRESETS = {"medcorpus": MEDCORPUS, "litsearch": LITSEARCH}

Preset = Enum("Preset", {name: name for name in PRESETS})  # type: ignore[misc]
Format = Enum("Format", {name: name for name in FORMATS})  # type: ignore[misc]
Order = Enum("Order", {"score": "score", "list": "list"})
Rewriting = Enum("Rewriting", {name: name for name in REWRITINGS})  # type: ignore[misc]
AuditFormat = Enum("AuditFormat", {"table": "table", "json": "json", "markdown": "markdown"})
Holds = Enum("Holds", {"qrels": "qrels", "run": "run"})
Written = Enum("Written", {name: name for name in WRITTEN})  # type: ignore[misc]

Qrels = Annotated[str, typer.Argument(help="A file of judgments, or an id of ir_datasets.")]
Runs = Annotated[list[str], typer.Argument(metavar="RUN...", help="Run files: FILE or NAME=FILE.")]
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
        _say(f"error: {error}")
    except OSError as error:
        _say(f"error: {error.filename or ''}: {error.strerror or error}")
    sys.exit(2)


def _say(text: str) -> None:
    print(text, file=sys.stderr)


@contextmanager
def _notes() -> Iterator[None]:
    """Show warnings as notes, and make a run that shares no query with the qrels an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.simplefilter("error", NoSharedQueryWarning)
        warnings.showwarning = lambda message, *_, **__: _say(f"note: {message}")
        yield


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
    named = _named(runs)
    with _notes():
        labels = _labels(qrels)
        judgments = Judgments.of(labels.qrels)
        groups = Groups.of(judgments.query_ids, by, labels.dataset) if by is not None else None
        parsed = _asked(preset, measures) or _default(judgments)
        evaluate_run = _Reader(order, query_ids, judgments).on(
            PermedEvaluator(with_judged(parsed), judgments).evaluate
        )
        evaluations = {name: evaluate_run(path) for name, path in named.items()}
    for note in groups.notes() if groups else []:
        _say(f"note: {note}")
    print(FORMATS[format_.value](Report(parsed, evaluations, by_query, groups)), end="")


def _named(runs: list[str]) -> dict[str, Path]:
    """Return the run files by name: what stands before the =, or the name of the file."""
    named: dict[str, Path] = {}
    for argument in runs:
        name, equals, file = argument.partition("=")
        if not equals or Path(argument).exists():
            name, file = Path(argument).name.partition(".")[0], argument
        if not name or not file:
            raise InputError(f"a run is FILE or NAME=FILE (found {argument!r})")
        if name in named:
            raise InputError(
                f"two runs are named {name!r} ({named[name]} and {file})",
                hint="Name them: NAME=FILE NAME=FILE",
            )
        named[name] = Path(file)
    return named


def _asked(preset: Preset | None, measures: list[str] | None) -> list[Measure] | None:
    """Return the measures of the preset, then those named one by one; None if there are none."""
    asked = [*(PRESETS[preset.value] if preset else ()), *(measures or ())]
    return list(dict.fromkeys(map(parse_measure, asked))) or None


class _Labels(NamedTuple):
    """Judgments as they were read, and the data set that they are of, if any."""

    qrels: Any
    dataset: Any


def _labels(qrels: str) -> _Labels:
    """Read the judgments of a file, or of a data set by its id or folder."""
    path = Path(qrels)
    if qrels in NAMES and path.is_file():
        _say(f"note: {qrels} is a file here, and is taken rather than the data set of this name")
    if path.is_dir() or (not path.exists() and not path.suffix):
        dataset = load(qrels)
        return _Labels(qrels_of(dataset, qrels), dataset)
    return _Labels(files.read_qrels(path), None)


class _Reader(NamedTuple):
    """How run files are read."""

    order: Order
    query_ids: Rewriting | None
    judgments: Judgments

    def on(self, evaluate: Callable[[Any], Any]) -> Callable[[Path], Any]:
        """Return what evaluates a run file; an error that is about the run as a whole names the file."""

        def evaluate_file(path: Path) -> Any:
            try:
                with progress(path.name) as tick:
                    return evaluate(self._run(path, tick))
            except NoSharedQueryWarning as warning:
                raise InputError(str(warning), where=str(path)) from None

        return evaluate_file

    def _run(self, path: Path, tick: Tick) -> Any:
        loaded = files.load(path, "run", order=self.order.value, tick=tick)
        if loaded.labels:
            _say(f"note: {path} holds {loaded.labels}: the order of its lines is taken as the run")
        for note in loaded.notes:
            _say(f"note: {note}")
        if self.query_ids is None:
            return loaded.table
        try:
            run, renaming = renamed(loaded.table, self.judgments, self.query_ids.value)
        except InputError as error:
            raise InputError(error.problem, where=str(path), hint=error.hint) from None
        changed = [f"{old!r} to {new!r}" for old, new in renaming.items() if old != new]
        if changed:
            _say(f"note: {path}: {len(changed):,} query ids were rewritten (the first: {changed[0]})")
        return run


def _default(judgments: Judgments) -> list[Measure]:
    name = "medcorpus" if len(judgments.grade) and judgments.grade.max() > 1 else "litsearch"
    _say(f"note: no measure was named; these are those of --preset {name}")
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
    from permed_measures.crosschecks import crosscheck as pm_crosscheck

    named = _named(runs)
    with _notes():
        labels = _labels(qrels).qrels
        asked = _asked(preset, measures)
        check_run = _Reader(order, query_ids, Judgments.of(labels)).on(
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
    from permed_measures.audits import FORMATS as AUDIT_FORMATS
    from permed_measures.audits import audit as pm_audit

    named = _named(runs)
    rows = read_claims(claims, claim or [], list(named))
    with _notes():
        labels = _labels(qrels).qrels
        judgments = Judgments.of(labels)

        def checked(run: Any) -> Any:
            JudgedRankings.of(judgments, run)
            return run

        read_run = _Reader(order, query_ids, judgments).on(checked)
        result = pm_audit(labels, {name: read_run(path) for name, path in named.items()}, rows, decimals)
    print(AUDIT_FORMATS[format_.value](result), end="")
    if not result.ok:
        raise typer.Exit(1)


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
    with _notes(), progress(source.name) as tick:
        file = Source(source, tick)
        holds = as_.value if as_ else files.holds_of(file)
        if holds is None:
            raise InputError(
                "this file can be read as qrels and as a run", where=str(source), hint="Say which by --as"
            )
        loaded = files.load(file, holds, order=order.value)
        for note in loaded.notes:
            _say(f"note: {note}")
        write = write_qrels if holds == "qrels" else write_run
        write(loaded.table, target, to=to.value if to else None)
    _say(f"{target}: {holds} of {source}")


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
        judgments = Judgments.of(files.read_qrels(sample.qrels))
        evaluator = PermedEvaluator(with_judged(PRESETS[name]), judgments)
        evaluations = {run: evaluator.evaluate(files.read_run(path)) for run, path in sample.runs.items()}
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
