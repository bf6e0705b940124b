"""Declare the arguments of commands in a table, and parse them by argparse."""

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
"""The groups of the help, in order; rarely used options are advanced."""

_WIDEST = 100  # columns of help

VALUES = {"FILE": Path, "FOLDER": Path, "N": int, "K": int, "GRADE": float, "P": float, "D": float}
"""The type of a value by its name in the help; other values are texts."""


class Argument(NamedTuple):
    """An argument or an option.

    Attributes
    ----------
    group : str
        One of `GROUPS`.
    names : tuple of str
        ``("qrels",)``, or for an option ``("-m", "--measure")``.
    keywords : mapping of str to object
        The keywords of ``argparse``.
    """

    group: str
    names: tuple[str, ...]
    keywords: Mapping[str, Any]


def argument(name: str, metavar: str, text: str, **keywords: Any) -> Argument:
    """Declare an argument with its help text."""
    return Argument(INPUT, (name,), {"metavar": metavar, "help": text, **keywords})


def option(group: str, form: str, text: str, **keywords: Any) -> Argument:
    """Declare an option as it looks in the help: ``-m, --measure MEASURE``; without a metavar it is a flag.

    A lower-case metavar lists the choices, ``score|list``. `VALUES` has the types of the others.
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
"""The options of every command."""


class Command(NamedTuple):
    """A command with its arguments and its help.

    Attributes
    ----------
    run : callable
        Takes the parsed arguments; returns the exit status, or None for 0.
    arguments : sequence of Argument
        In the order of the help.
    examples : sequence of str
        Examples of what can follow its name.
    details : str
        The text of the help below the first sentence.
    """

    run: Callable[[argparse.Namespace], int | None]
    arguments: Sequence[Argument]
    examples: Sequence[str]
    details: str = ""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are an `InputError`."""

    def error(self, message: str) -> NoReturn:
        raise InputError(message.removeprefix("argument "), hint=f"See {self.prog} --help")


def parse(name: str, summary: str, command: Command, words: Sequence[str]) -> argparse.Namespace:
    """Parse the words after the name of a command.

    The result also has the name (`command`), and the whole line as it was typed (`line`).
    """
    parser = _parser(f"{PROGRAM} {name}", summary, command)
    if elsewhere := dict(_options_elsewhere(command, words)):
        here = "; ".join(f"{option} {what}" for option, what in elsewhere.items())
        problem = f"unrecognized arguments, of trec_eval or ir_measures: {', '.join(elsewhere)}"
        raise InputError(problem, hint=f"Here {here}")
    parsed, left = parser.parse_known_intermixed_args(words)
    if ("measures" in parsed or "measure" in parsed) and not any(word.startswith("-") for word in left):
        left = _split_off_measures(parser, command, parsed, left)
    for option_name in ("claim", "min"):
        others = [*left, *vars(parsed).get("runs", ())] if option_name in parsed else []
        for word in filter(_is_number_of_a_measure, others):
            parser.error(f"the number of a measure needs an option: --{option_name} {word}")
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
"""Options of trec_eval and ir_measures: the option that our command must have, and the advice."""


def _options_elsewhere(command: Command, words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the options of trec_eval or ir_measures among the words, and the advice for each."""
    known = {name for each in (*command.arguments, *_EVERYWHERE) for name in each.names}
    for word, following in zip_longest(words, words[1:], fillvalue=""):
        if word == "--":
            return
        typed = f"-m {following}" if word in ("-m", "--measure") else re.sub("^-m(?=[^-])", "-m ", word)
        match = re.fullmatch(r"(-m .+|--\w+|-[A-Za-z])(?:=(.+)|(\d[\d.]*))?", typed)
        option = match[1] if match else ""
        needed, advice = _ELSEWHERE.get(option, ("", ""))
        if match and option not in known and needed in known:
            value = match[2] or match[3] or following or "N"
            yield (f"{option} {value}", advice.format(value)) if "{}" in advice else (option, advice)


def _unrecognized(parser: _Parser, command: Command, left: Sequence[str]) -> InputError:
    """Make the error for words that no argument takes: an unknown option, or one file too many."""
    problem = f"unrecognized arguments: {' '.join(left)}"
    known = [name for each in (*command.arguments, *_EVERYWHERE) for name in each.names if name[0] == "-"]
    for word in (word.partition("=")[0] for word in left if word.startswith("-")):
        option, advice = _SYNONYMS.get(word, ("", ""))
        hint = (
            f"Here it is {advice}"
            if option in known
            else did_you_mean(word.replace("_", "-"), known, _MIN_OPTION_SIMILARITY)
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
"""Names of options in other programs: the option that our command must have, and how to write it here."""

_MIN_OPTION_SIMILARITY = 0.7
"""The smallest similarity (by difflib) of an unknown option to one that the hint suggests."""


def _split_off_measures(
    parser: _Parser, command: Command, parsed: argparse.Namespace, left: list[str]
) -> list[str]:
    """Move the words that are measures from the files after QRELS to the measures; return the words left."""
    files = [argument for argument in command.arguments if argument.names[0].isalpha()][1:]
    values = [getattr(parsed, argument.names[0]) for argument in files]
    words = [word for value in values for word in (value if isinstance(value, list) else [value])] + left
    asked = [word for word in words if _is_measure(word)]
    words = [word for word in words if word not in asked]
    for argument in files:
        [name], nargs = argument.names, argument.keywords.get("nargs")
        if not words and nargs != "*":
            parser.error(f"the following arguments are required: {argument.keywords['metavar']}")
        setattr(parsed, name, words if nargs else words[0])
        words = [] if nargs else words[1:]
    if "measures" in parsed:
        parsed.measures = [*parsed.measures, *asked]
    elif asked:
        if len(asked) > 1 or parsed.measure is not None:
            parser.error(f"only one measure can be named (found also {asked[-1]})")
        [parsed.measure] = asked
    return words


_PATH = r"[/\\]|\.[A-Za-z]\w*$"
"""Matches a path, and no measure: a slash, or an ending of a dot and a word that begins with a letter."""


def _is_measure(word: str) -> bool:
    """Check whether a word among the runs is a measure; if a file of that name exists, it is not.

    Other words with an @, such as ``P@0``, are an error unless they look like a path.
    """
    from permed_measures.measures.parsing import parse_measure_args

    path = word.rpartition("=")[2]
    is_file = Path(word).exists() or Path(path).exists()
    try:
        parse_measure_args(word)
    except PermedError:
        if "@" in word and not is_file and not re.search(_PATH, path):
            raise
        return False
    if is_file:
        print_message(f"note: {word} is taken as a file; -m {shlex.quote(word)} is the measure")
        return False
    return True


def _is_number_of_a_measure(word: str) -> bool:
    """Check whether a word such as ``P@1=0.5`` is a measure with a number, and not a run of that name."""
    from permed_measures.measures.parsing import parse_measure_args

    name, _, number = word.rpartition("=")
    if not re.fullmatch(r"\d*\.?\d+%?", number) or Path(number).exists():
        return False
    try:
        return bool(parse_measure_args(name))
    except PermedError:
        return False


_FILE = r"(?!permed-sample).*\.[a-z]"  # a file in an example, except the packaged sample
_YOURS = " (permed-sample comes with the package; other files are yours)"


def _parser(program: str, summary: str, command: Command) -> _Parser:
    width = help_width()
    positionals = [_usage(argument.keywords) for argument in command.arguments if argument.names[0].isalpha()]
    kinds = [argument.keywords.get("dest") for argument in command.arguments if "--measure" in argument.names]
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
    for argument in (*command.arguments, *_EVERYWHERE):
        groups[argument.group].add_argument(*argument.names, **argument.keywords)
    return parser


def _usage(positional: Mapping[str, Any]) -> str:
    """Write an argument for the usage line."""
    form = {"+": "{}...", "*": "[{}...]"}.get(positional.get("nargs", ""), "{}")
    return form.format(positional["metavar"])


def help_width() -> int:
    """Choose the width of the help in columns."""
    return min(shutil.get_terminal_size().columns, _WIDEST)
