"""The command line: arguments to library calls. Results go to stdout, everything else to stderr."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from ir_measures.measures import Measure

from permed_measures import __version__, files
from permed_measures.datasets import SAMPLES, load_qrels
from permed_measures.engine import PermedEvaluator
from permed_measures.errors import InputError, NoSharedQueryWarning, PermedError
from permed_measures.judgments import Judgments
from permed_measures.kernels import KERNELS
from permed_measures.measures import LITSEARCH, MEDCORPUS
from permed_measures.parameters import values_of
from permed_measures.parsing import parse_measure
from permed_measures.progress import progress
from permed_measures.report import FORMATS, Report, meaning, with_judged
from permed_measures.sources import Tick

__all__ = ["app", "main"]

PRESETS = {"medcorpus": MEDCORPUS, "litsearch": LITSEARCH}

Preset = Enum("Preset", {name: name for name in PRESETS})  # type: ignore[misc]
Format = Enum("Format", {name: name for name in FORMATS})  # type: ignore[misc]
Order = Enum("Order", {"score": "score", "list": "list"})

Qrels = Annotated[str, typer.Argument(help="A file of judgments, or an id of ir_datasets.")]
Runs = Annotated[list[str], typer.Argument(metavar="RUN...", help="Run files: FILE or NAME=FILE.")]
Measures = Annotated[
    list[str] | None,
    typer.Option("-m", "--measure", help="A measure, such as GradedAP@10; may be given several times."),
]
ByOrder = Annotated[Order, typer.Option(help="Rank a list by its scores, or as it is.")]

app = typer.Typer(
    help="Graded MAP, Coverage and exact nDCG for MedCorpus and LitSearch.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def main() -> None:
    """Run the command line; what is wrong with the input is one message and exit status 2."""
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
) -> None:
    """Evaluate runs: a row per run, with the share of judged documents and the best possible values.

    Files may be TREC, MedCorpus, PerMed or LitSearch files, plain, .gz or .zst; their content tells which.
    """
    named = _named(runs)
    with _notes():
        judgments = Judgments.of(_qrels(qrels))
        parsed = _asked(preset, measures) or _default(judgments)
        evaluator = PermedEvaluator(with_judged(parsed), judgments)
        evaluations = {name: _on_run(evaluator.evaluate, path, order) for name, path in named.items()}
    print(FORMATS[format_.value](Report(parsed, evaluations, by_query)), end="")


def _named(runs: list[str]) -> dict[str, Path]:
    """Return the run files by name: what stands before the =, or the name of the file."""
    named: dict[str, Path] = {}
    for argument in runs:
        name, equals, file = argument.partition("=")
        if not equals or Path(argument).exists():
            name, file = Path(argument).name.partition(".")[0], argument
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


def _qrels(qrels: str) -> Any:
    if not Path(qrels).exists() and not Path(qrels).suffix:
        return load_qrels(qrels)
    return files.read_qrels(qrels)


def _on_run(evaluate: Callable[[Any], Any], path: Path, order: Order) -> Any:
    """Evaluate a run file; an error that is about the run as a whole names the file."""
    try:
        with progress(path.name) as tick:
            return evaluate(_run(path, order.value, tick))
    except NoSharedQueryWarning as warning:
        raise InputError(str(warning), where=str(path)) from None


def _run(path: Path, order: str, tick: Tick) -> Any:
    loaded = files.load(path, "run", order=order, tick=tick)
    if loaded.labels:
        _say(f"note: {path} holds {loaded.labels}: the order of its lines is taken as the run")
    for note in loaded.notes:
        _say(f"note: {note}")
    return loaded.table


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
) -> None:
    """Compare our values with pytrec_eval's, query by query; exit status 1 if any differs.

    Without measures, those of the presets and some that papers report often are compared. Measures that
    pytrec_eval does not have are compared by an identity, which the table shows.
    """
    from permed_measures.crosschecks import crosscheck as pm_crosscheck

    named = _named(runs)
    with _notes():
        labels = _qrels(qrels)
        asked = _asked(preset, measures)
        check = partial(pm_crosscheck, labels, measures=asked)
        results = {name: _on_run(check, path, order) for name, path in named.items()}
    for name, result in results.items():
        print(f"{name}\n\n{result}\n")
    if not all(result.ok for result in results.values()):
        raise typer.Exit(1)


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
