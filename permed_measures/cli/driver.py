"""Run the commands that have a result: find and read the files, compute the result, write its report."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from permed_measures.cli.inputs import Inputs, find_runs, origin_of, reading
from permed_measures.cli.output import (
    FIGURE,
    FIGURES,
    format_of,
    write_figure,
    write_methods,
    write_notes,
    write_report,
)
from permed_measures.cli.parsing import Argument, Command
from permed_measures.provenance import Origin
from permed_measures.results.report import Report
from permed_measures.wording import pluralize

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class FilesRead(NamedTuple):
    """The files of the runs by name, and other files that a command reads, by their role."""

    runs: Mapping[str, Path] = {}
    others: Mapping[str, Path] = {}

    @property
    def paths(self) -> list[Path]:
        """All files."""
        return [*self.runs.values(), *self.others.values()]


def result_command(
    compute: Callable[[Namespace, Inputs], Any],
    arguments: Sequence[Argument],
    examples: Sequence[str],
    details: str = "",
    **steps: Any,
) -> Command:
    """Make a command that computes a result; `steps` are further arguments of `execute`."""
    return Command(lambda args: status_of(execute(args, compute, **steps)), arguments, examples, details)


def execute(
    args: Namespace,
    compute: Callable[[Namespace, Inputs], Any],
    *,
    files: FilesRead | None = None,
    check: Callable[[str], None] | None = None,
    about: Callable[[Namespace, Any], str] | None = None,
    report: Callable[[Any, Namespace], Report] = lambda result, _: result.report(),
    figure: Callable[[Namespace, Any], list[Axes]] | None = None,
) -> Any:
    """Compute the result of a command, and write its report or its figure.

    Parameters
    ----------
    args : Namespace
    compute : callable
        Returns a result with an `origin`. The qrels and the runs are read when it uses them.
    files : FilesRead, optional
        If left out, the files of the argument RUN.
    check : callable, optional
        Refuses options that do not go with the format, before any work.
    about : callable, optional
        Describes the result in messages; if left out, it is the number of runs.
    report : callable, optional
        Builds the report; if left out, the result's own without arguments.
    figure : callable, optional
        Draws the figure of a command that has one.

    Returns
    -------
    Result
        With the command, its files and its options as its origin.
    """
    files = FilesRead(find_runs(args.runs)) if files is None else files
    form = format_of(args, files.paths, FIGURES if figure else None)
    if check is not None:
        check(form)
    with reading(args, files.runs) as inputs:
        result = compute(args, inputs)
    result = replace(result, origin=_with_command(result.origin, args, files))
    built = report(result, args)
    text = pluralize(len(files.runs), "run") if about is None else about(args, result)
    if form == FIGURE and figure is not None:
        write_figure(partial(figure, args, result), args.output, text)
        write_notes(built.cautions)
        write_methods(built, form, args)
    else:
        write_report(built, form, args, text)
    return result


def status_of(result: Any) -> int:
    """Return the exit status: 1 if the result says that it is not ok."""
    return int(not getattr(result, "ok", True))


def _with_command(origin: Origin | None, args: Namespace, files: FilesRead) -> Origin:
    """Add the command to the origin of a result; what the command does not know stays, as from a record."""
    command, made = origin_of(args, files.runs, files.others), origin or Origin()
    return command._replace(
        qrels=command.qrels or made.qrels,
        runs=command.runs or made.runs,
        others={**command.others, **made.others},
        options={**command.options, **made.options},
    )
