"""The command leaderboard."""

from __future__ import annotations

from argparse import Namespace
from collections import ChainMap
from dataclasses import replace
from pathlib import Path
from typing import Any

from permed_measures.cli.arguments import (
    ASKED_MEASURES,
    CAPTION,
    CLUSTERS,
    DIGITS,
    QRELS,
    READING,
    RESAMPLES,
    SEED,
    WRITING,
)
from permed_measures.cli.inputs import find_runs, measures_asked, origin_of, reading
from permed_measures.cli.output import format_of, write_report
from permed_measures.cli.parsing import Command, argument
from permed_measures.markup import counted
from permed_measures.records.leaderboard import leaderboard
from permed_measures.records.record import is_record


def run(args: Namespace) -> None:
    """Order runs by the first measure."""
    files = find_runs(args.runs)
    form = format_of(args, [Path(args.qrels), *files.values()])
    records = {name: path for name, path in files.items() if is_record(path)}
    runs = {name: path for name, path in files.items() if name not in records}
    with reading(args.qrels, runs, args.order, args.query_ids) as inputs:
        chosen = measures_asked(args, inputs)
        both: ChainMap[str, Any] = ChainMap(records, inputs.runs)  # type: ignore[arg-type]
        how = (args.clusters, args.resamples, args.seed, args.order, args.query_ids)
        board = leaderboard(inputs.source, both, chosen, *how)
    board = replace(board, origin=origin_of(args, files))
    report = board.report(args.digits, args.caption or "")
    write_report(report, form, args.output, counted(len(board.entries), "run"))


COMMAND = Command(
    run,
    [
        QRELS,
        argument("runs", "RUN", "Runs, records of runs, or folders of them: FILE or NAME=FILE.", nargs="+"),
        *(*ASKED_MEASURES, CLUSTERS, *WRITING, RESAMPLES, SEED, DIGITS, CAPTION, *READING),
    ],
    examples=["permed-sample permed-sample/runs", "medcorpus runs/ --output board.html"],
)
