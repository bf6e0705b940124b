"""The command gate."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from permed_measures.cli.arguments import CLUSTERS, QRELS, READING, WRITING
from permed_measures.cli.inputs import named_run, origin_of, reading
from permed_measures.cli.output import format_of, write_report
from permed_measures.cli.parsing import (
    INPUT,
    MEASURES_GROUP,
    STATISTICS,
    Command,
    argument,
    option,
    repeatable,
)
from permed_measures.errors import InputError
from permed_measures.escaping import pluralize
from permed_measures.records.gate import gate
from permed_measures.records.record import is_record


def run(args: Namespace) -> int:
    """Check floors, and drops below a baseline."""
    floors, drops = _limits(args.min), _limits(args.max_drop)
    if not floors and not drops:
        hint = "Give --min MEASURE=X, or --baseline FILE with --max-drop MEASURE=X"
        raise InputError("there is no rule to check", hint=hint)
    if drops and args.baseline is None:
        raise InputError("--max-drop needs --baseline", hint="Name a run")
    name, file = named_run(args.run, Path(args.run).name)
    files, before = [file], None
    if args.baseline:
        baseline, path = named_run(args.baseline, "")
        files, before = [file, path], {baseline: path} if baseline and is_record(path) else path
    form = format_of(args, files)
    how = {key: vars(args)[key] for key in ("significant", "non_inferior", "clusters", "order", "query_ids")}
    with reading(args, {}) as inputs:
        found = gate(inputs.qrels, file, floors, before, drops, **how)
    others = {"baseline": files[1]} if args.baseline else {}
    found = replace(found, origin=origin_of(args, {name: file}, others))
    write_report(found.report(), form, args, pluralize(len(found.rules), "rule"), found.notes)
    return int(not found.ok)


def _limits(given: Iterable[str]) -> list[tuple[str, float]]:
    """Return measures and their limits; the last = is before the number."""
    limits = []
    for text in given:
        measure, _, number = text.rpartition("=")
        try:
            limits.append((measure.strip(), float(number)))
        except ValueError:
            measure = ""
        if not measure.strip():
            raise InputError(f"a rule is MEASURE=X, such as nDCG@10=0.8 (found {text!r})")
    return limits


COMMAND = Command(
    run,
    [
        *(QRELS, argument("run", "RUN", "A run file.")),
        option(INPUT, "--baseline RUN", "What it may not fall below: a run, or a record of one."),
        repeatable(MEASURES_GROUP, "--min MEASURE=X", "The least mean of a measure. Can be repeated."),
        repeatable(MEASURES_GROUP, "--max-drop MEASURE=X", "How far a mean may fall. Can be repeated."),
        option(STATISTICS, "--significant", "Fail only where it is shown that a limit is broken."),
        option(STATISTICS, "--non-inferior", "Pass only where it is shown that no limit is broken."),
        *(CLUSTERS, *WRITING, *READING),
    ],
    examples=[
        "permed-sample permed-sample/runs/bm25 --min P@1=0.6",
        "medcorpus b.trec --baseline a.trec --max-drop P@1=0.1",
    ],
    details="Exit status 1 if a rule is broken. With --significant intervals decide: what is shown neither "
    "to be broken nor to hold is inconclusive, with exit status 0; with --non-inferior that fails too.",
)
