"""What may stand after the name of a command: declared in a table, parsed by argparse."""

from __future__ import annotations

import argparse
import shlex
import shutil
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from permed_measures.errors import InputError, nearest

PROGRAM = "permed-measures"

INPUT, MEASURES, STATISTICS, OUTPUT, ADVANCED = "Input", "Measures", "Statistics", "Output", "Advanced"
GROUPS = (INPUT, MEASURES, STATISTICS, OUTPUT, ADVANCED)
"""The groups of the help, in its order; what is rarely used is advanced."""

_WIDEST = 100  # columns of help


# --- values ------------------------------------------------------------------------------------------


def whole_number(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return what reads a whole number in a range."""
    expected = f"a whole number of at least {least}" if most is None else f"a whole number, {least} to {most}"

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least or (most is not None and value > most):
            raise _unexpected(expected, text)
        return value

    return read


def number(text: str) -> float:
    """Read a number."""
    try:
        return float(text)
    except ValueError:
        raise _unexpected("a number", text) from None


def one_of(choices: Iterable[str]) -> Callable[[str], str]:
    """Return what reads one of some words."""
    known = tuple(choices)

    def read(text: str) -> str:
        if text not in known:
            raise _unexpected(f"one of {', '.join(known)}", text)
        return text

    return read


def folder(text: str) -> Path:
    """Read the path of a folder."""
    if not Path(text).is_dir():
        raise _unexpected("a folder", text)
    return Path(text)


def _unexpected(expected: str, found: str) -> argparse.ArgumentTypeError:
    return argparse.ArgumentTypeError(f"expected {expected} (found {found!r})")


VALUES: dict[str, Callable[[str], object]] = {
    "FILE": Path,
    "FOLDER": folder,
    "N": whole_number(1),
    "K": whole_number(1),
    "GRADE": number,
    "P": number,
    "D": number,
}
"""What is read where the help says this."""


# --- declarations ------------------------------------------------------------------------------------


class Argument(NamedTuple):
    """An argument or an option.

    Attributes
    ----------
    group : str
        One of `GROUPS`.
    names : tuple of str
        ``("qrels",)``, or of an option ``("-m", "--measure")``: the long name is the last.
    keywords : mapping of str to object
        What ``argparse`` takes.
    """

    group: str
    names: tuple[str, ...]
    keywords: Mapping[str, Any]

    @property
    def is_option(self) -> bool:
        """Whether its name is typed."""
        return self.names[-1].startswith("-")

    @property
    def takes_value(self) -> bool:
        """Whether a value follows its name."""
        return self.is_option and self.keywords.get("action") in (None, "append")

    @property
    def attribute(self) -> str:
        """What the parsed arguments call it."""
        return str(self.keywords.get("dest", self.names[-1].lstrip("-").replace("-", "_")))


def argument(name: str, metavar: str, text: str, **keywords: Any) -> Argument:
    """Declare an argument, with what the help says of it."""
    return Argument(INPUT, (name,), {"metavar": metavar, "help": text, **keywords})


def option(group: str, form: str, text: str, **keywords: Any) -> Argument:
    """Declare an option as the help has it: ``-m, --measure MEASURE``; without a metavar it is a flag.

    A metavar of small letters has the choices, ``score|list``; what others take is in `VALUES`.
    """
    *names, last = form.replace(", ", " ").split()
    if last.startswith("-"):
        return Argument(group, (*names, last), {"action": "store_true", "help": text, **keywords})
    kind = one_of(last.split("|")) if last.islower() else VALUES.get(last, str)
    return Argument(group, tuple(names), {"metavar": last, "help": text, "type": kind, **keywords})


def repeatable(group: str, form: str, text: str, **keywords: Any) -> Argument:
    """Declare an option that can be given several times."""
    return option(group, form, text, action="append", default=[], **keywords)


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


_HELP = option(OUTPUT, "-h, --help", "Show this help.", action="help")


# --- parsing -----------------------------------------------------------------------------------------


def parse(name: str, summary: str, command: Command, words: Sequence[str]) -> argparse.Namespace:
    """Parse what follows the name of a command.

    Besides the arguments the result has the name (`command`), and what one types to compute the same again
    (`line`).
    """
    parser = _parser(name, summary, command)
    parsed = parser.parse_args(_options_first(parser, command, words))
    parsed.command = name
    parsed.line = _line(name, command, parsed)
    return parsed


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are ours."""

    def error(self, message: str) -> NoReturn:
        raise InputError(message.removeprefix("argument "), hint=f"See {self.prog} --help")


def _parser(name: str, summary: str, command: Command) -> _Parser:
    width = help_width()
    program = f"{PROGRAM} {name}"
    positionals = [_usage(each) for each in command.arguments if not each.is_option]
    examples = [f"{program} {example}".rstrip() for example in command.examples]
    parser = _Parser(
        prog=program,
        usage=" ".join([program, "[options]", *positionals]),
        description="\n\n".join(textwrap.fill(text, width) for text in (summary, command.details) if text),
        epilog="\n  ".join(["Examples:", *examples]),
        formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(prog, 2, 27, width),
        add_help=False,
        allow_abbrev=False,
    )
    groups = {title: parser.add_argument_group(title) for title in GROUPS}
    for each in (*command.arguments, _HELP):
        text = each.keywords["help"].replace("%", "%%")
        groups[each.group].add_argument(*each.names, **{**each.keywords, "help": text})
    return parser


def help_width() -> int:
    """Return how many columns help has."""
    return min(shutil.get_terminal_size().columns, _WIDEST)


def _usage(positional: Argument) -> str:
    """Write an argument as the usage has it."""
    form = {"+": "{}...", "?": "[{}]", "*": "[{}...]"}.get(positional.keywords.get("nargs", ""), "{}")
    return form.format(positional.keywords["metavar"])


def _options_first(parser: _Parser, command: Command, words: Sequence[str]) -> list[str]:
    """Put each option into one word with its value, before all arguments.

    So they may be typed in any order, and a value may begin with a dash; argparse alone takes neither
    ``QRELS --baseline NAME RUN RUN`` nor ``--by '-([0-9])'``.
    """
    known = {name: each for each in (*command.arguments, _HELP) if each.is_option for name in each.names}
    options: list[str] = []
    others: list[str] = []
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if not word.startswith("--") and word[:2] in known:  # -mP@1
            name, equals, value = word[:2], word[2:], word[2:]
        if word == "--":
            others.extend(rest)
        elif word == "-" or not word.startswith("-"):
            others.append(word)
        elif name not in known:
            hint = nearest(name, [each for each in known if each.startswith("--")])
            raise InputError(f"no such option: {name}", hint=hint or f"See {parser.prog} --help")
        elif not known[name].takes_value:
            if equals:
                parser.error(f"{name} takes no value (found {value!r})")
            options.append(name)
        else:
            value = value if equals else next(rest, name)
            if not equals and value in known:
                parser.error(f"{name} needs a value")
            options.append(f"{known[name].names[-1]}={value}")
    return [*options, "--", *others] if others else options


NOT_COMPUTED = {"format", "output", "record", "summary"}
"""Options about what is written; the numbers are the same without them."""


def _line(name: str, command: Command, parsed: argparse.Namespace) -> str:
    """Write what one types to compute the same again: all that is not a default, nor about the output."""
    words = [PROGRAM, name]
    for each in command.arguments:
        value = getattr(parsed, each.attribute)
        default = each.keywords.get("default")
        if value is None or value is False or value == default or each.attribute in NOT_COMPUTED:
            continue
        for one in value if isinstance(value, list) else [value]:
            words += [each.names[-1]] * each.is_option + [str(one)] * (one is not True)
    return shlex.join(words)
