"""The command identify."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from permed_measures.cli.arguments import CONVENTIONS, WRITING
from permed_measures.cli.driver import FilesRead, execute, status_of
from permed_measures.cli.inputs import Inputs
from permed_measures.cli.messages import print_message
from permed_measures.cli.parsing import INPUT, MEASURES_GROUP, OUTPUT, Command, argument, option, repeatable
from permed_measures.datasets import SAMPLE_FOLDER
from permed_measures.errors import InputError
from permed_measures.identification.files import PROGRAM_FILES
from permed_measures.identification.forms import SIGNATURES, Function
from permed_measures.identification.identify import Identified, IdentifiedMeasures, identified
from permed_measures.identification.program import Program
from permed_measures.identification.script import Script
from permed_measures.identification.suite import write_cases
from permed_measures.wording import pluralize

_PACKAGED_SCRIPT = "permed-sample/script.py"


def run(args: Namespace) -> int:
    """Find the convention by which a script or a program computes measures."""
    measures = [*args.measures]
    if args.function is not None and (args.program is not None or args.write_cases is not None):
        measures, args.function = [args.function, *measures], None
    if args.write_cases is not None:
        return _write(args, measures)
    if not measures:
        raise InputError("no measure is named", hint="Name the measure that it should compute: -m MAP@10")
    if args.function is None and args.program is None:
        raise InputError("no function is named", hint="Write FILE.py:FUNCTION, or --command PROGRAM")
    _check_together(args)
    args.measures = measures
    others = {"script": _script_of(args)[0]} if args.program is None else {}
    about = args.function or args.program
    return status_of(execute(args, _compute, files=FilesRead(others=others), about=lambda *_: about))


def _script_of(args: Namespace) -> tuple[Path, str]:
    """Find the file of FILE.py:FUNCTION, which may be the packaged one, and write both with this file."""
    file, colon, name = args.function.rpartition(":")
    path = Path(file)
    if file == _PACKAGED_SCRIPT and not path.exists():
        path = SAMPLE_FOLDER / "script.py"
    return path, f"{path}:{name}" if colon else args.function


def _compute(args: Namespace, _: Inputs) -> IdentifiedMeasures:
    warned = list[str]()
    if args.program is None:
        with closing(Script(_script_of(args)[1])) as script:
            results = [_identified(args, script, measure) for measure in args.measures]
            warned = script.warned
    else:
        printed: dict[str, str | Exception] = {}  # the program runs once for all measures
        programs = [(_program(args, measure, printed), measure) for measure in args.measures]
        results = [_identified(args, program, measure) for program, measure in programs]
    notes = [*_warnings(warned)]
    return IdentifiedMeasures([replace(each, notes=[*each.notes, *notes]) for each in results])


def _warnings(warned: Iterable[str]) -> Iterator[str]:
    """Note the script's warnings: the first of each kind, and the number of others."""
    kinds: dict[str, list[str]] = {}
    for text in dict.fromkeys(warned):
        kinds.setdefault(text.partition(":")[0], []).append(text)
    for first, *others in kinds.values():
        more = f" (and {pluralize(len(others), 'other')} of this kind)" if others else ""
        yield f"the script warns: {first}{more}"


def _write(args: Namespace, measures: Sequence[str]) -> int:
    """Write the cases of measures into a folder, and report the files."""
    names = ("program", "files", "read", "numeric_ids", "form", "format", "output", "label", "caption")
    if excluded := [each for each in names if getattr(args, each)]:
        option = "command" if excluded[0] == "program" else excluded[0].replace("_", "-")
        problem = f"--{option} does not go with --write-cases, which calls no function"
        raise InputError(problem, hint="Leave it out")
    *files, index = write_cases(args.write_cases, measures, args.conventions)
    for path in files:
        print_message(f"{path}: cases")
    print_message(f"{index}: description of the files")
    return 0


def _program(args: Namespace, measure: str, printed: dict[str, str | Exception]) -> Program:
    return Program(args.program, measure, args.files or "trec", args.read, printed, args.numeric_ids)


def _check_together(args: Namespace) -> None:
    """Refuse a program's options without --command, and a function's form with it."""
    if args.program is None:
        options = {
            "--files": args.files is not None,
            "--read": args.read is not None,
            "--numeric-ids": args.numeric_ids,
        }
        for option, is_set in options.items():
            if is_set:
                raise InputError(f"{option} needs --command", hint="Name the program: --command PROGRAM")
    elif args.form is not None:
        hint = "Leave it out; --files chooses the files of a program"
        raise InputError("--form does not go with --command", hint=hint)


def _identified(args: Namespace, function: Function | Script, measure: str) -> Identified:
    return identified(function, measure, args.form, args.conventions)


COMMAND = Command(
    run,
    [
        argument(
            "function",
            "FILE.py:FUNCTION",
            "A function or CLASS.METHOD of your own script, which runs as it is.",
            nargs="?",
        ),
        repeatable(
            MEASURES_GROUP,
            "-m, --measure MEASURE",
            "The measure that it should compute: MAP@10, nDCG@10, mrr. Can be repeated.",
            dest="measures",
        ),
        option(
            INPUT,
            f"--form {'|'.join(SIGNATURES)}",
            "The function's arguments, if trial does not find them: dicts of qrels and run; the judgments, "
            "or the relevant documents, and the ranked documents of one query; lists of grades; ...",
        ),
        option(
            INPUT,
            "--command PROGRAM",
            "Run a program instead: 'python3 eval.py {qrels} {run}'; {k} is the cutoff.",
            dest="program",
        ),
        option(
            INPUT,
            f"--files {'|'.join(PROGRAM_FILES)}",
            "The program's input files, trec by default; beir: qrels as TSV, a run as JSON.",
        ),
        option(INPUT, "--numeric-ids", "Use numbers as ids of queries and documents, as gdeval needs."),
        option(INPUT, "--read REGEX", "Read its number by one group: 'MAP = ([0-9.]+)'."),
        option(
            OUTPUT,
            "--write-cases FOLDER",
            "Only write the cases as JSON, with the value by each convention.",
        ),
        *WRITING,
        CONVENTIONS,
    ],
    examples=[
        "permed-sample/script.py:mean_ap MAP@10",
        "--command 'python3 eval.py {qrels} {run}' MAP@10",
        "--write-cases cases MAP@10",
    ],
    details="The command calls the function on small collections, and rules out every convention that gives "
    "other numbers. The function may take qrels and run as dicts, lists, sets, arrays or frames, of all "
    "queries or of one. It returns the mean or the values of the queries.",
)
