"""What may stand after the name of a command: declared in a table, parsed by argparse."""

from __future__ import annotations

import argparse
import re
import shlex
import shutil
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from permed_measures.cli.messages import print_message
from permed_measures.errors import InputError, PermedError, did_you_mean

PROGRAM = "permed-measures"

INPUT, MEASURES_GROUP, STATISTICS, OUTPUT, ADVANCED = "Input", "Measures", "Statistics", "Output", "Advanced"
GROUPS = (INPUT, MEASURES_GROUP, STATISTICS, OUTPUT, ADVANCED)
"""The groups of the help, in its order; what is rarely used is advanced."""

_WIDEST = 100  # columns of help

VALUES = {"FILE": Path, "FOLDER": Path, "N": int, "K": int, "GRADE": float, "P": float, "D": float}
"""What is read where the help says this; elsewhere a text."""


class Argument(NamedTuple):
    """An argument or an option.

    Attributes
    ----------
    group : str
        One of `GROUPS`.
    names : tuple of str
        ``("qrels",)``, or of an option ``("-m", "--measure")``.
    keywords : mapping of str to object
        What ``argparse`` takes.
    """

    group: str
    names: tuple[str, ...]
    keywords: Mapping[str, Any]


def argument(name: str, metavar: str, text: str, **keywords: Any) -> Argument:
    """Declare an argument, with what the help says of it."""
    return Argument(INPUT, (name,), {"metavar": metavar, "help": text, **keywords})


def option(group: str, form: str, text: str, **keywords: Any) -> Argument:
    """Declare an option as the help has it: ``-m, --measure MEASURE``; without a metavar it is a flag.

    A metavar of small letters has the choices, ``score|list``; what others take is in `VALUES`.
    """
    *names, last = form.replace(", ", " ").split()
    keywords = {"help": text.replace("%", "%%"), **keywords}
    if last.startswith("-"):
        return Argument(group, (*names, last), {"action": "store_true", **keywords})
    known = {"choices": last.split("|")} if last.islower() else {"type": VALUES.get(last, str)}
    return Argument(group, tuple(names), {"metavar": last, **known, **keywords})


def repeatable(group: str, form: str, text: str, **keywords: Any) -> Argument:
    """Declare an option that can be given several times."""
    return option(group, form, text, action="append", default=[], **keywords)


_EVERYWHERE = (
    option(OUTPUT, "--quiet", "Show no progress of long work."),
    option(OUTPUT, "-h, --help", "Show this help.", action="help"),
)
"""What every command takes."""


class Command(NamedTuple):
    """A command: what it does with its arguments, and what its help says.

    Attributes
    ----------
    run : callable
        Takes the parsed arguments; returns the exit status, or nothing if that is 0.
    arguments : sequence of Argument
        In the order of the help.
    examples : sequence of str
        What can be typed after its name.
    details : str
        What the help says below the first sentence.
    """

    run: Callable[[argparse.Namespace], int | None]
    arguments: Sequence[Argument]
    examples: Sequence[str]
    details: str = ""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are ours."""

    def error(self, message: str) -> NoReturn:
        raise InputError(message.removeprefix("argument "), hint=f"See {self.prog} --help")


def parse(name: str, summary: str, command: Command, words: Sequence[str]) -> argparse.Namespace:
    """Parse what follows the name of a command.

    Besides the arguments the result has the name (`command`), and the whole line as it was typed (`line`).
    """
    parser = _parser(f"{PROGRAM} {name}", summary, command)
    if elsewhere := dict(_options_elsewhere(command, words)):
        here = "; ".join(f"{option} {what}" for option, what in elsewhere.items())
        problem = f"unrecognized arguments, of trec_eval or ir_measures: {', '.join(elsewhere)}"
        raise InputError(problem, hint=f"Here {here}")
    parsed, left = parser.parse_known_intermixed_args(words)
    if ("measures" in parsed or "measure" in parsed) and not any(word.startswith("-") for word in left):
        left = _with_measures_apart(parser, command, parsed, left)
    for taking in ("claim", "min"):
        found = [*left, *vars(parsed).get("runs", ())] if taking in parsed else []
        for word in filter(_is_number_of_a_measure, found):
            parser.error(f"a number of a measure is an option: --{taking} {word}")
    if left:
        raise _unrecognized(parser, command, left)
    parsed.command, parsed.line = name, shlex.join([PROGRAM, name, *words])
    return parsed


_ELSEWHERE = {
    "-q": ("--by-query", "is --by-query"),
    "--by_query": ("--by-query", "is --by-query"),
    "-c": ("--measure", "is always so (leave it out)"),
    "-n": ("--by-query", "is always so with --by-query"),
    "--no_summary": ("--by-query", "is always so with --by-query"),
    "-M": ("--measure", "is the cutoff of a measure, as -m AP@{}"),
    "-l": ("--rel", "is --rel {}"),
    "-J": ("--measure", "is judged_only=True of a measure, as -m 'AP(judged_only=True)'"),
    "-p": ("--digits", "is --digits {}"),
    "--places": ("--digits", "is --digits {}"),
    "-o": ("--format", "is --format {}"),
    "--output_format": ("--format", "is --format {}"),
    "--provider": ("--measure", "is not needed: this command computes all measures itself (leave it out)"),
    "-m all_trec": ("--measure", "is each measure by its name, as -m AP -m nDCG -m P@10"),
    "-m official": ("--measure", "is each measure by its name, as -m AP -m nDCG -m P@10"),
}
"""What one types to trec_eval and ir_measures: the option that our command must have, and what it is here."""


def _options_elsewhere(command: Command, words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield what is typed to trec_eval or ir_measures alone, and what it is here."""
    ours = {name for each in (*command.arguments, *_EVERYWHERE) for name in each.names}
    for word, following in zip_longest(words, words[1:], fillvalue=""):
        if word == "--":
            return
        typed = f"-m {following}" if word in ("-m", "--measure") else re.sub("^-m(?=[^-])", "-m ", word)
        found = re.fullmatch(r"(-m .+|--\w+|-[A-Za-z])(?:=(.+)|(\d[\d.]*))?", typed)
        option = found[1] if found else ""
        needed, what = _ELSEWHERE.get(option, ("", ""))
        if found and option not in ours and needed in ours:
            value = found[2] or found[3] or following or "N"
            yield (f"{option} {value}", what.format(value)) if "{}" in what else (option, what)


def _unrecognized(parser: _Parser, command: Command, left: Sequence[str]) -> InputError:
    """Return the error for what no argument takes: an option of another name, or a file too many."""
    problem = f"unrecognized arguments: {' '.join(left)}"
    ours = [name for each in (*command.arguments, *_EVERYWHERE) for name in each.names if name[0] == "-"]
    for word in (word.partition("=")[0] for word in left if word.startswith("-")):
        option, what = _SYNONYMS.get(word, ("", ""))
        hint = (
            f"Here it is {what}"
            if option in ours
            else did_you_mean(word.replace("_", "-"), ours, _MIN_OPTION_SIMILARITY)
        )
        if hint:
            return InputError(problem, hint=hint)
    if not any(word.startswith("-") for word in left):
        *_, last = (each for each in command.arguments if each.names[0].isalpha())
        if not last.keywords.get("nargs"):
            problem = f"only one {last.keywords['metavar']} can be named (found also {' '.join(left)})"
    return InputError(problem, hint=f"See {parser.prog} --help")


_SYNONYMS = {
    "--alpha": ("--level", "--level, which is 1 - alpha"),
    "--metric": ("--measure", "-m"),
    "--metrics": ("--measure", "-m, once for each measure"),
    **{
        f"--{form}": ("--format", f"--format {form}") for form in ("json", "csv", "html", "latex", "markdown")
    },
}
"""What options are called elsewhere: the option that our command must have, and how it is written here."""

_MIN_OPTION_SIMILARITY = 0.7
"""How like two options are (by difflib) that may be meant for each other."""


def _with_measures_apart(
    parser: _Parser, command: Command, parsed: argparse.Namespace, left: list[str]
) -> list[str]:
    """Take the words that are measures from among the files after QRELS; return the words that are left."""
    files = [each for each in command.arguments if each.names[0].isalpha()][1:]
    given = [getattr(parsed, each.names[0]) for each in files]
    words = [word for each in given for word in (each if isinstance(each, list) else [each])] + left
    asked = [word for word in words if _is_measure(word)]
    words = [word for word in words if word not in asked]
    for each in files:
        [name], takes = each.names, each.keywords.get("nargs")
        if not words and takes != "*":
            parser.error(f"the following arguments are required: {each.keywords['metavar']}")
        setattr(parsed, name, words if takes else words[0])
        words = [] if takes else words[1:]
    if "measures" in parsed:
        parsed.measures = [*parsed.measures, *asked]
    elif asked:
        if len(asked) > 1 or parsed.measure is not None:
            parser.error(f"only one measure can be named (found also {asked[-1]})")
        [parsed.measure] = asked
    return words


_PATH = r"[/\\]|\.[A-Za-z]\w*$"
"""What a path has and no measure: a slash, or at its end a dot and a word that begins with a letter."""


def _is_measure(word: str) -> bool:
    """Return whether a word among the runs is a measure; where there is a file of that name, it is not.

    A word that is no measure, and has an @ as ``P@0``, is an error unless it is written as a path of a file.
    """
    from permed_measures.measures.parsing import parse_measure_args

    place = word.rpartition("=")[2]
    is_file = Path(word).exists() or Path(place).exists()
    try:
        parse_measure_args(word)
    except PermedError:
        if "@" in word and not is_file and not re.search(_PATH, place):
            raise
        return False
    if is_file:
        print_message(f"note: {word} is taken as a file; -m {shlex.quote(word)} is the measure")
        return False
    return True


def _is_number_of_a_measure(word: str) -> bool:
    """Return whether a word such as ``P@1=0.5`` is no run of that name."""
    from permed_measures.measures.parsing import parse_measure_args

    name, _, number = word.rpartition("=")
    if not re.fullmatch(r"\d*\.?\d+%?", number) or Path(number).exists():
        return False
    try:
        return bool(parse_measure_args(name))
    except PermedError:
        return False


_FILE = r"(?!permed-sample).*\.[a-z]"  # in an example, but for what comes with the package
_YOURS = " (permed-sample comes with the package; other files are yours)"


def _parser(program: str, summary: str, command: Command) -> _Parser:
    width = help_width()
    positionals = [_usage(each.keywords) for each in command.arguments if each.names[0].isalpha()]
    kinds = [each.keywords.get("dest") for each in command.arguments if "--measure" in each.names]
    positionals += ["[MEASURE...]" if kind == "measures" else "[MEASURE]" for kind in kinds]
    examples = [f"{program} {example}".rstrip() for example in command.examples]
    yours = any(re.match(_FILE, word) for example in command.examples for word in example.split())
    parser = _Parser(
        prog=program,
        usage=" ".join([program, "[options]", *positionals]),
        description="\n\n".join(textwrap.fill(text, width) for text in (summary, command.details) if text),
        epilog="\n  ".join([f"Examples{_YOURS if yours else ''}:", *examples]),
        formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(prog, 2, 27, width),
        add_help=False,
        allow_abbrev=False,
    )
    groups = {title: parser.add_argument_group(title) for title in GROUPS}
    for each in (*command.arguments, *_EVERYWHERE):
        groups[each.group].add_argument(*each.names, **each.keywords)
    return parser


def _usage(positional: Mapping[str, Any]) -> str:
    """Write an argument as the usage has it."""
    form = {"+": "{}...", "*": "[{}...]"}.get(positional.get("nargs", ""), "{}")
    return form.format(positional["metavar"])


def help_width() -> int:
    """Return how many columns help has."""
    return min(shutil.get_terminal_size().columns, _WIDEST)
