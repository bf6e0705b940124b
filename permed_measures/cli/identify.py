"""The command identify."""

from __future__ import annotations

import io
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from pathlib import Path

from permed_measures.cli.arguments import CONVENTIONS, WRITING
from permed_measures.cli.inputs import origin_of
from permed_measures.cli.output import format_of, write_report
from permed_measures.cli.parsing import INPUT, MEASURES, Command, argument, option
from permed_measures.datasets import SAMPLE_FOLDER
from permed_measures.errors import InputError
from permed_measures.identities.forms import FORMS
from permed_measures.identities.identify import identify
from permed_measures.identities.user_function import load_function

_PACKAGED = "permed-sample/script.py"


def run(args: Namespace) -> int:
    """Find the convention by which a script computes a measure."""
    if args.measure is None:
        raise InputError("no measure is named", hint="Say what it is to compute: -m MAP@10")
    place, colon, name = args.function.rpartition(":")
    path = Path(place)
    if place == _PACKAGED and not path.exists():
        path = SAMPLE_FOLDER / "script.py"
    form = format_of(args, [path])
    with _run_as_python_would(path):
        function = load_function(f"{path}:{name}" if colon else args.function)
        result = identify(function, args.measure, form=args.form, conventions=args.conventions)
    result = replace(result, origin=origin_of(args, {}, {"script": path}))
    write_report(result.report(), form, args, args.function)
    return int(not result.ok)


@contextmanager
def _run_as_python_would(path: Path) -> Iterator[None]:
    """Find modules beside a script, which was given no arguments; what it prints is left out."""
    before, arguments = [*sys.path], [*sys.argv]
    sys.path.insert(0, str(path.resolve().parent))
    sys.argv[:] = [str(path)]
    try:
        with redirect_stdout(io.StringIO()):
            yield
    finally:
        sys.path[:], sys.argv[:] = before, arguments  # a script may have changed them too


COMMAND = Command(
    run,
    [
        argument("function", "FILE.py:FUNCTION", "A function of your own script, which is run as it is."),
        option(
            MEASURES,
            "-m, --measure MEASURE",
            "What it is said to compute: MAP@10, nDCG@10, mrr.",
        ),
        option(
            INPUT,
            f"--form {'|'.join(FORMS)}",
            "What the function takes, if that is not found by trial: dicts of qrels and run; of one query "
            "the judgments, or the relevant documents, and the ranked ones; lists of grades; ...",
        ),
        *WRITING,
        CONVENTIONS,
    ],
    examples=[
        "permed-sample/script.py:mean_ap MAP@10",
        "permed-sample/script.py:mean_ap MAP@10 --format json",
    ],
    details="The function is called on small collections, and every convention that gives other numbers is "
    "ruled out. It may take qrels and run as dicts, lists, sets, arrays or frames, of all queries or of one, "
    "and returns the mean or the values of the queries.",
)
