"""The command gate."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path

from permed_measures.cli.arguments import CLUSTERS, QRELS, READING, WRITING
from permed_measures.cli.driver import FilesRead, execute, status_of
from permed_measures.cli.inputs import Inputs, named_run
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
from permed_measures.records.gate import Gate, gate
from permed_measures.records.record import is_record
from permed_measures.wording import pluralize


def run(args: Namespace) -> int:
    """Check floors, and drops below a baseline."""
    floors, drops = _limits(args.min), _limits(args.max_drop)
    if not floors and not drops:
        hint = "Give --min MEASURE=X, or --baseline FILE with --max-drop MEASURE=X"
        raise InputError("there is no rule to check", hint=hint)
    if drops and args.baseline is None:
        raise InputError("--max-drop needs --baseline", hint="Name a run")
    name, file = named_run(args.run, Path(args.run).name)
    others, before = {}, None
    if args.baseline:
        baseline, path = named_run(args.baseline, "")
        others, before = {"baseline": path}, {baseline: path} if baseline and is_record(path) else path
    how = {key: vars(args)[key] for key in ("significant", "non_inferior", "clusters", "order", "query_ids")}

    def compute(_: Namespace, inputs: Inputs) -> Gate:
        return gate(inputs.qrels, file, floors, before, drops, **how)

    def about(_: Namespace, result: Gate) -> str:
        return pluralize(len(result.rules), "rule")

    files = FilesRead({name: file}, others)
    return status_of(execute(args, compute, files=files, about=about))


def _limits(rules: Iterable[str]) -> list[tuple[str, float]]:
    """Parse rules into measures and limits; the last = comes before the number."""
    limits = []
    for text in rules:
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
        option(INPUT, "--baseline RUN", "The run to compare with, or a record of it."),
        repeatable(MEASURES_GROUP, "--min MEASURE=X", "The smallest allowed mean. Can be repeated."),
        repeatable(MEASURES_GROUP, "--max-drop MEASURE=X", "The largest allowed drop. Can be repeated."),
        option(STATISTICS, "--significant", "Fail only if the whole interval is beyond a limit."),
        option(STATISTICS, "--non-inferior", "Pass only if each whole interval is within its limit."),
        *(CLUSTERS, *WRITING, *READING),
    ],
    examples=[
        "permed-sample permed-sample/runs/bm25 --min P@1=0.6",
        "medcorpus b.trec --baseline a.trec --max-drop P@1=0.1",
    ],
    details="Exit status 1 if a rule is broken. With --significant, confidence intervals decide: if one "
    "spans its limit or is missing, the rule is inconclusive, with exit status 0; with --non-inferior it "
    "fails too.",
)
