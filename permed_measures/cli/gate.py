"""The command gate."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from permed_measures.cli.arguments import FORMAT, QRELS, READING
from permed_measures.cli.inputs import named_run, origin_of, reading
from permed_measures.cli.parsing import INPUT, MEASURES, Command, argument, option, repeatable
from permed_measures.errors import InputError
from permed_measures.records.gate import gate


def run(args: Namespace) -> int:
    """Check floors, and drops below a baseline."""
    floors, drops = _limits(args.min), _limits(args.max_drop)
    if not floors and not drops:
        hint = "Give --min MEASURE=X, or --baseline FILE with --max-drop MEASURE=X"
        raise InputError("there is no rule to check", hint=hint)
    if drops and args.baseline is None:
        raise InputError("--max-drop needs --baseline", hint="Name a run")
    name, file = named_run(args.run, Path(args.run).name)
    files, others = {"run": file}, {}
    if args.baseline:
        others["baseline"] = files["baseline"] = named_run(args.baseline, "baseline")[1]
    with reading(args.qrels, files, args.order, args.query_ids) as inputs:
        baseline = inputs.runs["baseline"] if args.baseline else None
        found = gate(inputs.source, inputs.runs["run"], floors, baseline, drops)
    found = replace(found, origin=origin_of(args, {name: file})._replace(others=others))
    print(found.to(args.format or "table"), end="")
    return int(not found.ok)


def _limits(given: Iterable[str]) -> dict[str, float]:
    """Return the limits by measure; the last = is before the number."""
    limits: dict[str, float] = {}
    for text in given:
        measure, _, number = text.rpartition("=")
        try:
            limits[measure.strip()] = float(number)
        except ValueError:
            measure = ""
        if not measure.strip():
            raise InputError(f"a rule is MEASURE=X, such as nDCG@10=0.8 (found {text!r})")
    return limits


COMMAND = Command(
    run,
    [
        *(QRELS, argument("run", "RUN", "A run file.")),
        option(INPUT, "--baseline RUN", "The run that it may not fall below."),
        repeatable(MEASURES, "--min MEASURE=X", "The least mean of a measure. Can be repeated."),
        repeatable(MEASURES, "--max-drop MEASURE=X", "How far a mean may fall. Can be repeated."),
        *(FORMAT, *READING),
    ],
    examples=["medcorpus b.trec --min P@1=0.5", "medcorpus b.trec --baseline a.trec --max-drop P@1=0.1"],
)
