"""Where results go: stdout, or a file that is written whole or not at all."""

from __future__ import annotations

import io
import sys
from argparse import Namespace
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

from permed_measures.cli.messages import print_message, warnings_as_notes
from permed_measures.comparisons.plots.save import PLOT_ENDINGS
from permed_measures.comparisons.plots.style import matplotlib
from permed_measures.errors import InputError
from permed_measures.files.whole import write_whole
from permed_measures.markup import counted
from permed_measures.results.page import check_installed
from permed_measures.results.report import CAPTIONED, ENDINGS, FORMATS, Report

if TYPE_CHECKING:
    from permed_measures.comparisons.compare import Comparison
    from permed_measures.results.evaluations import Evaluations


FIGURE = "figure"
"""The format of a file that ends like a plot."""


def format_of(
    args: Namespace,
    read: Iterable[Path],
    headings: Collection[str] = (),
    formats: Collection[str] = FORMATS,
) -> str:
    """Return the format that is asked for; refuse what does not go with it, before any work."""
    known = {**ENDINGS, **dict.fromkeys(PLOT_ENDINGS, FIGURE)}
    output: Path | None = args.output
    form = str(args.format or ("table" if output is None else known.get(output.suffix.lower(), "")))
    if output is not None:
        if form not in formats:
            endings = ", ".join(ending for ending, each in known.items() if each in formats)
            raise InputError(
                f"the ending {output.suffix.lower()!r} means no format",
                where=str(output),
                hint=f"End the name in {endings}, or choose the format: --format",
            )
        check_folder(output)
        if output.is_file() and any(path.is_file() and output.samefile(path) for path in read):
            raise InputError("the output would overwrite the qrels or a run", where=str(output))
    if form == "html":
        check_installed()
    given = vars(args)
    _check_options(form, given.get("digits"), given.get("caption"), headings)
    return form


def _check_options(form: str, digits: int | None, caption: str | None, headings: Collection[str]) -> None:
    """Refuse options that do not go with a format."""
    if digits is not None and form in (*WITHOUT_NOTES, "json"):
        raise InputError(f"--digits is for tables; {form} has all digits", hint="Leave it out")
    if caption is not None and form not in CAPTIONED:
        hint = "Leave it out, or choose --format latex or markdown"
        raise InputError(f"--caption is for the tables of papers, not for the format {form}", hint=hint)
    if headings and form not in ("table", "markdown", "latex", "html"):
        hint = "Leave it out, or choose --format table, markdown, latex or html"
        raise InputError("--columns chooses the columns of a table", hint=hint)


def check_folder(output: Path) -> None:
    """Refuse a file to write that stands in no folder."""
    if not output.parent.is_dir():
        raise InputError(f"there is no folder {str(output.parent)!r} to write into", where=str(output))


def check_record(record: Path | None, output: Path | None, read: Iterable[Path]) -> None:
    """Refuse a place for a record that cannot be one, before any work."""
    if record is None:
        return
    check_folder(record)
    if record == output or any(
        record.is_file() and path.is_file() and record.samefile(path) for path in read
    ):
        raise InputError("the record would overwrite the output, the qrels or a run", where=str(record))


def write_record(
    record: Path, found: Evaluations, options: Mapping[str, Any], compared: Comparison | None = None
) -> None:
    """Write a record of an evaluation or a comparison, and say so."""
    from permed_measures.records.record import assembled

    assembled(found, options, compared, created=True).write(record)
    print_message(f"{record}: record of {counted(len(found.evaluations), 'run')}")


def write_figure(result: Comparison, output: Path) -> None:
    """Write the forest plot of a comparison to a file, with its groups if it has any, and say so."""
    from permed_measures.comparisons.plots.forest import plot_forest
    from permed_measures.comparisons.plots.save import save_plot

    matplotlib().use("agg")  # no window
    with warnings_as_notes():
        save_plot(plot_forest(result, groups=bool(result.groups)), output)
    print_message(f"{output}: figure of {counted(len(result.paired.values), 'run')}")


WITHOUT_NOTES = ("csv", "tsv", "jsonl")
"""The formats that have rows and nothing else."""


def write_report(
    report: Report, form: str, output: Path | None, about: str, above: Iterable[str] = ()
) -> None:
    """Print a report or write it to a file.

    Its notes, and those `above` its tables, go to stderr where the format has no place for them.
    """
    _write(lambda: report.to(form), output, f"{form} of {about}")
    for note in [*above, *report.notes] if form in WITHOUT_NOTES else ():
        print_message(f"note: {note}")


def _write(text_of: Callable[[], str], output: Path | None, about: str) -> None:
    """Print a result or write it to a file, and say so."""
    # A file is as wide as it needs to be, and has no bold letters.
    with warnings_as_notes(), redirect_stdout(sys.stdout if output is None else io.StringIO()):
        text = text_of()
    if output is None:
        print(text, end="")
        return
    write_whole(output, text.encode(errors="backslashreplace"))
    print_message(f"{output}: {about}")
