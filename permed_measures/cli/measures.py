"""The command measures: what one can ask for."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator

from ir_measures.measures import Measure

from permed_measures.cli.parsing import Command, argument
from permed_measures.engine.kernels import KERNELS
from permed_measures.errors import MeasureError
from permed_measures.measures.names import WORDS
from permed_measures.measures.parameters import CheckedMeasure, allowed, values_of
from permed_measures.measures.parsing import parse_measure
from permed_measures.provenance import description_of
from permed_measures.terminal import paragraph, section


def run(args: Namespace) -> None:
    """List the measures, or explain some."""
    asked = [str(parse_measure(name).NAME) for name in args.names]
    for name in asked:
        if name not in KERNELS:
            raise MeasureError(f"permed-measures does not compute {name}")
    if not asked:
        for name in KERNELS:
            print(f"{name:11}  {description_of(parse_measure(name))}")
        print("\nParameters of one: permed-measures measures GradedAP")
    for number, name in enumerate(asked):
        if number:
            print()
        _explain(name)


def _explain(name: str) -> None:
    """Print what a measure is, its parameters, and the values that these can have."""
    measure = parse_measure(name)
    print(section(f"{name}: {description_of(measure)}", []), end="")
    for parameter in measure.SUPPORTED_PARAMS:
        _print(_described(measure, parameter))
        for value, text in _meanings(measure, parameter).items():
            _print(f"{value}: {text}", indent=4)
    for text in _more(measure):
        _print(text)


def _print(text: str, indent: int = 2) -> None:
    print(paragraph(" " * indent + text, hang=indent + 2))


_PARAMETERS = {
    ("RBP", "rel"): "minimum relevance score to be considered relevant (inclusive), which must be given"
}
"""What is said of parameters that ir_measures has otherwise."""


def _described(measure: Measure, name: str) -> str:
    """Describe a parameter, what it may be, and its default."""
    param, default = measure.SUPPORTED_PARAMS[name], values_of(measure)[name]
    about = _PARAMETERS.get((str(measure.NAME), name), str(param.desc).replace("NOT_PROVIDED", "left out"))
    return f"{name}: {about}; {allowed(param)}" + ("" if default is None else f"; by default {default!r}")


def _meanings(measure: Measure, name: str) -> dict[str, str]:
    """Return what each value of a parameter means, if it is one of some strings."""
    return getattr(measure.SUPPORTED_PARAMS[name], "meanings", {})


def _more(measure: Measure) -> Iterator[str]:
    """Yield other names of a measure, an example with a parameter, and where more is said."""
    name = str(measure.NAME)
    if name in WORDS:
        yield f"Also: {', '.join(WORDS[name].split())}"
    choices = ((each, list(_meanings(measure, each))) for each in measure.SUPPORTED_PARAMS)
    given = next((f"({each}={values[1]})" for each, values in choices if values), "")
    given = given or ("(rel=2)" if "rel" in measure.SUPPORTED_PARAMS else "")
    at = {"cutoff": "@10", "recall": "@0.5"}[measure.AT_PARAM]
    at = at if measure.AT_PARAM in measure.SUPPORTED_PARAMS else ""
    yield f"Example: permed-measures evaluate QRELS RUN -m '{name}{given}{at}'"
    module = "permed_measures" if isinstance(measure, CheckedMeasure) else "ir_measures"
    yield f"More: help({module}.{name}) in Python"


COMMAND = Command(
    run,
    [argument("names", "MEASURE", "Explain these, such as GradedAP.", nargs="*")],
    examples=["", "GradedAP"],
)
