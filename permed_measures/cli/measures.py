"""The command measures: list and explain the measures."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from math import inf

from ir_measures.measures import Measure

from permed_measures.cli.parsing import INPUT, OUTPUT, Command, argument, option
from permed_measures.engine.evaluator import supported
from permed_measures.errors import InputError, MeasureError
from permed_measures.evaluation import calc_aggregate, ceiling
from permed_measures.inputs.door import read
from permed_measures.measures.descriptions import description_of
from permed_measures.measures.parameters import CheckedMeasure, allowed, values_of
from permed_measures.measures.parsing import parse_measure
from permed_measures.measures.specs import SPECS, range_of, spec_of
from permed_measures.results.methods import measure_methods
from permed_measures.results.prose import PROSE_FORMATS
from permed_measures.terminal import paragraph, section


def run(args: Namespace) -> None:
    """List the measures, or explain some."""
    asked = [parse_measure(name) for name in args.names]
    for measure in asked:
        if str(measure.NAME) not in SPECS:
            raise MeasureError(f"permed-measures does not compute {measure.NAME}")
    if not asked and args.qrels:
        hint = "Name one: permed-measures measures GradedAP@10 --qrels QRELS"
        raise InputError("a ceiling needs a measure", hint=hint)
    if args.format:
        _write_formulas(asked, args)
        return
    ceilings = _ceilings(asked, args.qrels) if args.qrels else {}
    if not asked:
        for name in SPECS:
            print(f"{name:11}  {description_of(parse_measure(name))}")
        print("\nExplain one: permed-measures measures GradedAP")
    for number, measure in enumerate(asked):
        if number:
            print()
        _explain(parse_measure(str(measure.NAME)))
        if measure in ceilings:
            _print(f"Ceiling of {measure} on {args.qrels}: {ceilings[measure]:.4f}")


def _write_formulas(measures: list[Measure], args: Namespace) -> None:
    """Print the formulas of measures for a paper."""
    if not measures or args.qrels:
        mode = "with --qrels" if args.qrels else "without a measure"
        hint = "Name measures alone: permed-measures measures GradedAP@10 --format latex"
        raise InputError(f"--format writes the formulas of measures alone (found {mode})", hint=hint)
    print(measure_methods([*map(supported, measures)]).to(args.format), end="")


def _ceilings(measures: list[Measure], qrels: str) -> dict[Measure, float]:
    """Compute the highest value that a run can have, for each measure."""
    table = read(qrels, "relevance")
    return {measure: ceiling(measure, table) for measure in measures}


def _explain(measure: Measure) -> None:
    """Print the definition of a measure, an example worked by hand, and its parameters with their values."""
    print(section(f"{measure.NAME}: {description_of(measure)}", []), end="")
    for text in _explained(measure):
        _print(text)
    for parameter in measure.SUPPORTED_PARAMS:
        _print(_parameter_text(measure, parameter))
        for value, text in _meanings(measure, parameter).items():
            _print(f"{value}: {text}", indent=4)
    for text in _more(measure):
        _print(text)


def _explained(measure: Measure) -> Iterator[str]:
    """Yield the formula of a measure, its range, differences from others, its source, and an example."""
    spec, (low, high) = spec_of(measure), range_of(measure)
    yield f"For a query: {spec.formula.replace('`', '')}"
    half_open = "any number below 1" if low == -inf else f"at least {low:g}"
    yield f"Range: {f'from {low:g} to {high:g}' if high < inf else half_open}"
    yield spec.unlike
    yield f"Source: {spec.source}"
    text, arithmetic = spec.example
    [value] = calc_aggregate([text], *EXAMPLE).values()
    yield "By hand, with grades a = 2, b = 1, c = 1, d = 0 and the ranking b, x, a, d:"
    number = "" if arithmetic.isdecimal() else f" = {value:.4f}"
    yield f"  {text} = {arithmetic}{number}"


EXAMPLE = {"q": {"a": 2, "b": 1, "c": 1, "d": 0}}, {"q": {"b": 4.0, "x": 3.0, "a": 2.0, "d": 1.0}}
"""The qrels and the run of the example of each measure."""


def _print(text: str, indent: int = 2) -> None:
    print(paragraph(" " * indent + text, hang=indent + 2))


def _parameter_text(measure: Measure, name: str) -> str:
    """Describe a parameter, its allowed values, and its default."""
    param, default = measure.SUPPORTED_PARAMS[name], values_of(measure)[name]
    about = spec_of(measure).parameters.get(name, str(param.desc).replace("NOT_PROVIDED", "left out"))
    return f"{name}: {about}; {allowed(param)}" + ("" if default is None else f"; by default {default!r}")


def _meanings(measure: Measure, name: str) -> dict[str, str]:
    """Return the meaning of each value of a parameter, if its values are strings."""
    return getattr(measure.SUPPORTED_PARAMS[name], "meanings", {})


def _more(measure: Measure) -> Iterator[str]:
    """Yield other names of a measure, an example with a parameter, and how to get its help in Python."""
    name = str(measure.NAME)
    if aliases := spec_of(measure).aliases:
        yield f"Also: {', '.join(aliases.split())}"
    choices = ((each, list(_meanings(measure, each))) for each in measure.SUPPORTED_PARAMS)
    parameter = next((f"({each}={values[1]})" for each, values in choices if values), "")
    parameter = parameter or ("(rel=2)" if "rel" in measure.SUPPORTED_PARAMS else "")
    cutoff = {"cutoff": "@10", "recall": "@0.5"}[measure.AT_PARAM]
    cutoff = cutoff if measure.AT_PARAM in measure.SUPPORTED_PARAMS else ""
    yield f"Example: permed-measures evaluate QRELS RUN -m '{name}{parameter}{cutoff}'"
    module = "permed_measures" if isinstance(measure, CheckedMeasure) else "ir_measures"
    yield f"More: help({module}.{name}) in Python"


COMMAND = Command(
    run,
    [
        argument("names", "MEASURE", "The measures to explain, such as GradedAP.", nargs="*"),
        option(INPUT, "--qrels QRELS", "Show the highest value that a run can have on these labels."),
        option(
            OUTPUT,
            "--format FORMAT",
            "Write the formula with these parameters, for a paper: text, markdown, latex or bibtex.",
            choices=PROSE_FORMATS,
        ),
    ],
    examples=["", "GradedAP", "GradedAP@10 --qrels permed-sample", "GradedAP@10 --format latex"],
)
