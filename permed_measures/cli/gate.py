"""The command gate."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from permed_measures.cli.arguments import CLUSTERS, FORMAT, QRELS, READING
from permed_measures.cli.inputs import named_run, origin_of, reading
from permed_measures.cli.messages import print_message
from permed_measures.cli.parsing import (
    INPUT,
    MEASURES,
    OUTPUT,
    STATISTICS,
    Command,
    argument,
    option,
    repeatable,
)
from permed_measures.errors import InputError
from permed_measures.records.gate import gate
from permed_measures.records.rules import read_rules


def run(args: Namespace) -> int:
    """Check floors, and drops below a baseline."""
    rules, source = _rules(args)
    name, file = named_run(args.run, Path(args.run).name)
    with reading(args.qrels, {name: file}, args.order, args.query_ids) as inputs:
        options = {key.replace("-", "_"): value for key, value in rules.items() if key != "min"}
        options |= {"minimum": rules.get("min"), "order": args.order, "query_ids": args.query_ids}
        found = gate(inputs.source, inputs.runs[name], **options)
    read = {"rules": source, "baseline": rules.get("baseline")}
    others = {role: Path(each) for role, each in read.items() if each}
    found = replace(found, origin=replace(origin_of(args, {name: file}), others=others))
    print(found.to(args.format or "table"), end="")
    for summary in filter(None, (args.summary, os.environ.get("GITHUB_STEP_SUMMARY"))):
        with Path(summary).open("a", encoding="utf-8") as target:
            target.write(found.to("markdown"))
    return int(not found.ok)


def _rules(args: Namespace) -> tuple[dict[str, Any], Path | None]:
    """Return the rules of a file, and before them those that are given here; and the file."""
    given = {
        "min": _limits(args.min),
        "max-drop": _limits(args.max_drop),
        "baseline": args.baseline,
        "significant": args.significant,
        "non-inferior": args.non_inferior,
        "clusters": args.clusters,
    }
    given = {name: value for name, value in given.items() if value not in (None, {})}
    file, project = args.rules, Path("pyproject.toml")
    if file is None and not {"min", "max-drop"} & given.keys() and project.is_file():
        file = project
        print_message(f"note: rules of [tool.permed-measures.gate] in {project}")
    asked = {**(read_rules(file) if file else {}), **given}
    if not {"min", "max-drop"} & asked.keys():
        hint = "Give --min MEASURE=X, or --baseline FILE with --max-drop MEASURE=X"
        raise InputError("there is no rule to check", hint=hint)
    if "max-drop" in asked and "baseline" not in asked:
        raise InputError("--max-drop needs --baseline", hint="Name a run, or a record of one")
    return asked, file


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
        option(INPUT, "--baseline RUN", "A run, or a record of one, that the run may not fall below."),
        option(
            INPUT,
            "--rules FILE",
            "A TOML file of rules; without any rule, tool.permed-measures.gate of pyproject.toml.",
        ),
        repeatable(MEASURES, "--min MEASURE=X", "The least mean of a measure. Can be repeated."),
        repeatable(MEASURES, "--max-drop MEASURE=X", "How far a mean may fall. Can be repeated."),
        option(
            STATISTICS,
            "--significant",
            "A drop beyond --max-drop counts only if it is significant too. That it is not significant does "
            "not show that it is small: see --non-inferior.",
            default=None,
        ),
        option(
            STATISTICS,
            "--non-inferior",
            "Pass only with evidence: if the 95 % interval of the change lies above minus --max-drop.",
            default=None,
        ),
        *(CLUSTERS, FORMAT),
        option(
            OUTPUT,
            "--summary FILE",
            "Append the table in Markdown to a file, and to $GITHUB_STEP_SUMMARY if set.",
        ),
        *READING,
    ],
    examples=["medcorpus b.trec --min P@1=0.5", "medcorpus b.trec --baseline base.json --max-drop P@1=0.1"],
    details="Rules that are given here come before those of a file.",
)
