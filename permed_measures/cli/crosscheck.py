"""The command crosscheck."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator

from permed_measures.cli.arguments import ASKED_MEASURES, QRELS, READING, RUNS, WRITING
from permed_measures.cli.driver import result_command
from permed_measures.cli.inputs import Inputs, chosen_measures
from permed_measures.crosschecks import DEFAULT_MEASURES, CrossChecks, crosscheck, default_measures
from permed_measures.engine.evaluator import PermedEvaluator
from permed_measures.engine.judgments import Judgments
from permed_measures.wording import join_names


def _compute(args: Namespace, inputs: Inputs) -> CrossChecks:
    chosen = chosen_measures(args, inputs)
    if chosen is None:
        inputs.notes.extend(_left_out(inputs.judgments))
    inputs.notes.extend(PermedEvaluator(chosen or [], inputs.judgments).notes())
    runs = inputs.runs
    return CrossChecks({name: crosscheck(inputs.qrels, runs[name], chosen, args.rel) for name in runs})


def _left_out(judgments: Judgments) -> Iterator[str]:
    """Note the default measures that cannot be computed for these grades."""
    chosen = default_measures(judgments)
    left_out = [str(each) for each in DEFAULT_MEASURES if each not in chosen]
    if left_out:
        yield (
            f"no measure was named; left out for grades up to {judgments.grade.max():g}: "
            f"{join_names(left_out)}"
        )


COMMAND = result_command(
    _compute,
    [QRELS, RUNS, *ASKED_MEASURES, *WRITING, *READING],
    examples=["permed-sample permed-sample/runs", "permed-sample permed-sample/runs nDCG@10 AP@10"],
    details="By default, it compares the measures of the presets and others that papers often report, if "
    "pytrec_eval has them.",
)
