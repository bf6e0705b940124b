"""Write results to stdout, or to a file, whole or not at all."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from permed_measures.cli.inputs import files_read
from permed_measures.cli.messages import print_message, warnings_as_notes
from permed_measures.errors import InputError
from permed_measures.inputs.write import write_whole
from permed_measures.plots.savefig import PLOT_ENDINGS, matplotlib, save_plot
from permed_measures.results.report import ENDINGS, Report, check_latex
from permed_measures.terminal import NO_LIMIT
from permed_measures.wording import pluralize

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from permed_measures.results.evaluations import Evaluations


FIGURE = "figure"
FIGURES = dict.fromkeys(PLOT_ENDINGS, FIGURE)
"""The endings of figures, as `others` of `format_of` for commands that draw."""

WITHOUT_NOTES = ("csv", "tsv", "jsonl")
"""The formats that have only rows."""


def format_of(args: Namespace, runs: Iterable[Path], others: Mapping[str, str] | None = None) -> str:
    """Choose the output format, and refuse options that do not go with it, before any work.

    Parameters
    ----------
    args : Namespace
    runs : iterable of Path
        The run files that the command reads, and so must not overwrite.
    others : mapping of str to str, optional
        Further formats by ending, besides those of reports.
    """
    known = {**ENDINGS, **(others or {})}
    output: Path | None = args.output
    if output is None:
        form = args.format or "table"
    else:
        check_folder(output)
        form = args.format or known.get(output.suffix.lower())
        if form is None:
            raise InputError(
                f"the ending {output.suffix.lower()!r} does not belong to a format",
                where=str(output),
                hint=f"End the name in {', '.join(known)}, or choose the format: --format",
            )
        for path in [output, *_methods_beside(args, form)]:
            if _is_among(path, files_read(args, runs)):
                raise InputError("the output would overwrite a file that is read", where=str(path))
    if vars(args).get("methods") and output is None and args.format:
        hint = "Leave out --format, or write the table to a file: --output FILE"
        problem = "--methods prints methods in place of a table, and --format is for tables"
        raise InputError(problem, hint=hint)
    if form == FIGURE:
        matplotlib()  # raises its error before any work if it is missing
    if form in (*WITHOUT_NOTES, "json", FIGURE):
        _refuse_what_is_for_tables(args, str(form))
    check_latex(str(form), args.label, args.caption)
    return str(form)


def _methods_beside(args: Namespace, form: str) -> list[Path]:
    """List the files of the methods and of their citations, beside the file of a LaTeX table."""
    output: Path | None = args.output
    if "methods" not in args or output is None or form != "latex" or output.suffix.lower() != ".tex":
        return []
    return [output.with_suffix(ending) for ending in (".methods.tex", ".methods.bib")]


def _refuse_what_is_for_tables(args: Namespace, form: str) -> None:
    """Refuse options for tables if the format is not a table."""
    values = vars(args)
    options = [each for each in ("percent", "no_judged") if values.get(each)]
    options += ["digits"] if values.get("digits") is not None else []
    for option in options:
        has = "a figure has points" if form == FIGURE else f"{form} has all numbers as they are"
        raise InputError(f"--{option.replace('_', '-')} is for tables; {has}", hint="Leave it out")


def check_folder(output: Path) -> None:
    """Refuse an output file whose folder does not exist, or that is named -."""
    if str(output) == "-":
        hint = "Without --output the result goes to standard output"
        raise InputError("a file to write must have a name (found -)", hint=hint)
    if not output.parent.is_dir():
        raise InputError(f"there is no folder {str(output.parent)!r} to write into", where=str(output))
    with suppress(FileNotFoundError):
        output.stat()  # raises an error for links in a circle


def _is_among(output: Path, read: Iterable[Path]) -> bool:
    """Check whether an output file is one of the files that are read."""
    return any(path.is_file() and _is_one_file(output, path) for path in read)


def _is_one_file(one: Path, other: Path) -> bool:
    """Check whether two paths lead to one file, which need not exist yet."""
    if one.exists() and other.exists():
        return one.samefile(other)
    return os.path.realpath(one) == os.path.realpath(other)  # does not raise for links in a circle


def check_record(args: Namespace, runs: Iterable[Path]) -> None:
    """Refuse a record that would overwrite a file of the command, or whose folder does not exist."""
    record, output = args.record, args.output
    if record is None:
        return
    check_folder(record)
    written = [] if output is None else [output, *_methods_beside(args, args.format or "latex")]
    if any(_is_one_file(record, path) for path in written) or _is_among(record, files_read(args, runs)):
        raise InputError("the record would overwrite the output, the qrels or a run", where=str(record))


def write_record(args: Namespace, evaluations: Evaluations) -> None:
    """Write a record of an evaluation, and print a message."""
    from permed_measures.records.record import make_record

    make_record(evaluations, args.order, args.query_ids).write(args.record)
    print_message(f"{args.record}: record of {pluralize(len(evaluations.evaluations), 'run')}")


def write_report(report: Report, form: str, args: Namespace, about: str) -> None:
    """Print a report, or write it to a file and print a message.

    Its cautions and notes go to stderr if the format has no place for them.
    """
    output: Path | None = args.output
    if output is not None or not vars(args).get("methods"):
        width = None if output is None else NO_LIMIT
        with warnings_as_notes():
            text = report.to(form, label=args.label, caption=args.caption, width=width)
        if output is None:
            print(text, end="")
        else:
            _write(output, text, f"{form} of {about}")
    write_methods(report, form, args)
    if form == "html" and any(each.plots for each in report.sections) and not find_spec("matplotlib"):
        print_message("note: the page has no plots: matplotlib is not installed")
    write_notes([*report.cautions, *report.notes] if form in WITHOUT_NOTES else ())


def write_notes(notes: Iterable[str]) -> None:
    """Print notes to stderr."""
    for note in notes:
        print_message(f"note: {note}")


def _write(path: Path, text: str, about: str) -> None:
    """Write a text to a file, and print a message."""
    write_whole(path, text.encode(errors="backslashreplace"))
    print_message(f"{path}: {about}")


def write_methods(report: Report, form: str, args: Namespace) -> None:
    """Write the methods beside a LaTeX table, and print them if --methods asks for it."""
    if report.methods is None or not (vars(args).get("methods") or _methods_beside(args, form)):
        return
    methods = report.methods()
    abouts = "methods, for a paper", "the works that these cite"
    for path, kind, about in zip(_methods_beside(args, form), ("latex", "bibtex"), abouts, strict=False):
        _write(path, methods.to(kind), about)
    if args.methods:
        print(methods.to(args.methods), end="")


def write_figure(draw: Callable[[], list[Axes]], output: Path, about: str) -> None:
    """Draw a figure to a file, and print a message."""
    matplotlib().use("agg")  # draws without a window
    with warnings_as_notes():
        save_plot(draw(), output)
    print_message(f"{output}: figure of {about}")
