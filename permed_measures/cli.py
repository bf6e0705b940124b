"""The command line: arguments to library calls. Results go to stdout, everything else to stderr."""

from __future__ import annotations

import io
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from enum import Enum
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from ir_measures.measures import Measure

from permed_measures import __version__, files
from permed_measures.audits.claims import read_claims
from permed_measures.comparisons.differences import notes_of
from permed_measures.comparisons.reports import ENDINGS
from permed_measures.comparisons.reports import FORMATS as COMPARE_FORMATS
from permed_measures.comparisons.significance import CORRECTIONS
from permed_measures.datasets import NAMES, SAMPLES, load, qrels_of
from permed_measures.engine import PermedEvaluator
from permed_measures.errors import InputError, NoSharedQueryWarning, PermedError
from permed_measures.groups import Groups
from permed_measures.inspections import inspect_file
from permed_measures.judgments import Judgments
from permed_measures.kernels import KERNELS
from permed_measures.markup import counted, one_line
from permed_measures.measures import LITSEARCH, MEDCORPUS
from permed_measures.parameters import values_of
from permed_measures.parsing import parse_measure
from permed_measures.progress import progress
from permed_measures.queryids import REWRITINGS, renamed
from permed_measures.rankings import JudgedRankings
from permed_measures.report import FORMATS, Report, meaning, with_judged
from permed_measures.sources import Source, Tick
from permed_measures.writing import FORMATS as WRITTEN
from permed_measures.writing import write_qrels, write_run, write_whole

__all__ = ["app", "main"]

PRESETS = {"medcorpus": MEDCORPUS, "litsearch": LITSEARCH}

Preset = Enum("Preset", {name: name for name in PRESETS})  # type: ignore[misc]
Format = Enum("Format", {name: name for name in FORMATS})  # type: ignore[misc]
Order = Enum("Order", {"score": "score", "list": "list"})
Rewriting = Enum("Rewriting", {name: name for name in REWRITINGS})  # type: ignore[misc]
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
        _say(f"error: {error}")
    except OSError as error:
        _say(f"error: {error.filename or ''}: {error.strerror or error}")
    sys.exit(2)


def _say(text: str) -> None:
    print(one_line(text), file=sys.stderr)  # names of files and runs could control the terminal


@contextmanager
def _notes() -> Iterator[None]:
    """Show warnings as notes, each once, and make a run that shares no query with the qrels an error."""
    said: set[str] = set()

    def say(message: Warning | str, *_: Any, **__: Any) -> None:
        if str(message) not in said:
            _say(f"note: {message}")
        said.add(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.simplefilter("error", NoSharedQueryWarning)
        warnings.showwarning = say
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
    lacking = (notes_of(name, each.rankings) for name, each in evaluations.items())
    for note in chain(groups.notes(), *lacking) if groups else ():  # without groups the table has the counts
        _say(f"note: {note}")
    print(FORMATS[format_.value](Report(parsed, evaluations, by_query, groups)), end="")


def _named(runs: list[str]) -> dict[str, Path]:
    """Return the run files by name: what stands before the =, or the name of the file; of a folder all."""
    named: dict[str, Path] = {}
    for name, file in [each for run in runs for each in _files(run)]:
        if name in named:
            raise InputError(
                f"two runs are named {name!r} ({named[name]} and {file})",
                hint="Name them: NAME=FILE NAME=FILE",
            )
        named[name] = file
    return named


def _files(run: str) -> list[tuple[str, Path]]:
    """Return the files of an argument with their names."""
    if Path(run).is_dir():
        return _in_folder(Path(run))
    name, equals, file = run.partition("=")
    if not equals or Path(run).exists():
        name, file = _name(Path(run)), run
    if not name or not file:
        raise InputError(f"a run is FILE or NAME=FILE (found {run!r})")
    return [(name, Path(file))]


def _in_folder(folder: Path) -> list[tuple[str, Path]]:
    """Return the files of a folder with their names, but for hidden ones."""
    inside = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    found = [path for path in inside if path.is_file()]
    if not found:
        raise InputError("a folder of runs must hold run files (found none)", where=str(folder))
    if len(found) < len(inside):
        others = [path.name for path in inside if path not in found]
        _say(f"note: {folder}: what is no file is not read ({', '.join(others)})")
    return [(_name(path), path) for path in found]


_RUN_ENDINGS = (".trec", ".run", ".res", ".txt", ".jsonl", ".json", ".csv", ".tsv", ".parquet", "")


def _name(path: Path) -> str:
    """Return the name of a file without the ending of its format: a dot may be part of the name."""
    name = path.name.removesuffix(".gz").removesuffix(".zst")
    return next(name.removesuffix(each) for each in _RUN_ENDINGS if name.endswith(each))


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
            _say(f"note: {path}: rewrote {counted(len(changed), 'query id')} (the first: {changed[0]})")
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
    from permed_measures.audits import audit as pm_audit
    from permed_measures.audits.reports import FORMATS as AUDIT_FORMATS

    named = _named(runs)
    rows = read_claims(claims, claim or [], list(named))
    with _notes():
        labels = _labels(qrels).qrels
        judgments = Judgments.of(labels)
        read_run = _Reader(order, query_ids, judgments).on(_checked(judgments))
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
    from permed_measures.comparisons import compare as pm_compare

    named = _named(runs)
    form = format_.value if format_ else _form_of(output)
    if output is not None:  # said before the work is done
        _check_output(output, [Path(qrels), *named.values()])
    with _notes():
        labels = _labels(qrels)
        judgments = Judgments.of(labels.qrels)
        parsed = _asked(preset, measures) or _default(judgments)
        read_run = _Reader(order, query_ids, judgments).on(_checked(judgments))
        result = pm_compare(
            labels.qrels if labels.dataset is None else labels.dataset,
            _RunFiles(named, read_run),
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
    with _notes(), redirect_stdout(sys.stdout if output is None else io.StringIO()):
        text = COMPARE_FORMATS[form](result)
    if output is None:
        print(text, end="")
        return
    write_whole(output, text.encode(errors="backslashreplace"))
    _say(f"{output}: {form} of {len(named):,} runs")


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


class _RunFiles(Mapping[str, Any]):
    """Runs by name, each read when it is asked for: one is held at a time."""

    def __init__(self, named: dict[str, Path], read_run: Callable[[Path], Any]) -> None:
        self._named, self._read_run = named, read_run

    def __getitem__(self, name: str) -> Any:
        return self._read_run(self._named[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._named)

    def __len__(self) -> int:
        return len(self._named)


def _checked(judgments: Judgments) -> Callable[[Any], Any]:
    """Return what gives back a run after a look at it, so that an error in it names its file."""

    def check(run: Any) -> Any:
        JudgedRankings.of(judgments, run)
        return run

    return check


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

    with _notes():
        labels = _labels(qrels)
        judgments = Judgments.of(labels.qrels)
        read_run = _Reader(order, query_ids, judgments).on(_checked(judgments))
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
