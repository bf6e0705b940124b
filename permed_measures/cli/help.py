"""The help of a command: its arguments by their names, and examples."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

EXAMPLES = {
    "evaluate": ("permed-sample permed-sample/runs", "medcorpus results.jsonl --by turn_number"),
    "crosscheck": ("permed-sample permed-sample/runs", "medcorpus results.jsonl -m nDCG@10 -m AP@10"),
    "audit": (
        "medcorpus results.jsonl --claim MAP@10=53.57%",
        "permed-sample permed-sample/runs --claims paper.md",
    ),
    "possible": (
        "litsearch --claim P@1=0.0687 --claim MAP@10=0.0877",
        "medcorpus --claim P@1=0.9279 --claim MAP@10=0.5357",
    ),
    "compare": (
        "permed-sample permed-sample/runs --baseline bm25",
        "medcorpus runs/ -m GradedAP@10 --output table.tex",
    ),
    "reranking": ("medcorpus runs/bm25.trec runs/b.csv", "medcorpus bm25=runs/bm25.trec b=runs/b.csv -m P@1"),
    "uncertainty": (
        "permed-sample permed-sample/runs",
        "medcorpus results.jsonl --label-error 0.1",
    ),
    "verify": ("base.json", "records/"),
    "gate": ("medcorpus b.trec --min P@1=0.5", "medcorpus b.trec --baseline base.json --max-drop P@1=0.1"),
    "leaderboard": ("permed-sample permed-sample/runs", "medcorpus runs/ --output board.html"),
    "convert": ("results.jsonl results.trec", "query_to_texts.jsonl qrels.tsv --as qrels"),
    "inspect": ("results.jsonl", "runs/bm25.trec runs/b.csv"),
    "demo": ("", "| less"),
    "measures": ("", "GradedAP"),
}
"""What can be typed after the name of each command."""


class _Converter:
    """Keeps values that need no conversion: typer would import pydantic for them, a third of the start."""

    def __init__(self, param: Any) -> None:
        self._param, self._of_typer = param, param.get_runtime_param

    def coerce(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """Return the value of an argument or an option in its type."""
        wanted = self._param.type_descriptor
        if wanted.is_choice and value in wanted.choices:
            return wanted.choices[wanted.choices.index(value)]
        if value is None or value == self._param.default or wanted.annotation in (str, list[str]):
            return value
        return self._of_typer().coerce(value, *args, **kwargs)


def _converting_late(params: Iterable[Any]) -> None:
    """Give parameters our converter, with versions of typer that ask one for the value."""
    for param in params:
        known = hasattr(getattr(param, "type_descriptor", None), "is_choice")  # a later typer may have others
        if known and hasattr(param, "get_runtime_param") and "get_runtime_param" not in vars(param):
            converter = _Converter(param)
            param.get_runtime_param = lambda converter=converter: converter


class Command(TyperCommand):
    """A command whose help names arguments by their metavars, and shows examples."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments."""
        _converting_late(self.get_params(ctx))
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ARG002 - as typer calls it
        """Return what follows the name of the command in its usage."""
        arguments = [str(each.metavar) for each in self.params if each.param_type_name == "argument"]
        return [*arguments, "[OPTIONS]"]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and options; Python types are no help."""
        for kind in ("argument", "option"):
            params = [each for each in self.get_params(ctx) if each.param_type_name == kind]
            records = [(each.metavar, *(each.get_help_record(ctx) or ("", ""))) for each in params]
            rows = [
                (_shown(name, metavar), text.replace("  [required]", "")) for metavar, name, text in records
            ]
            if rows:
                with formatter.section(f"{kind.capitalize()}s"):
                    formatter.write_dl(rows)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - as typer calls it
        """Write the examples."""
        with formatter.section("Examples"):
            for example in EXAMPLES[self.name or ""]:
                formatter.write(f"  {f'permed-measures {self.name} {example}'.rstrip()}\n")


_TYPES = {"str": "TEXT", "int": "N", "float": "X", "path": "FILE"}


def _shown(record: str, metavar: str | None) -> str:
    """Replace the Python type in the name of an option or argument, if there is one."""
    name, opened, kind = record.partition(" <")
    kind = re.sub(r"^list\[(.*)\]$", r"\1", kind.removesuffix(">"))
    if not opened or not name.startswith("-"):
        return name
    return f"{name} {metavar or _TYPES.get(kind.removesuffix(' range'), kind)}"


MODULES = {
    "evaluate": "evaluations",
    "crosscheck": "checks",
    "audit": "checks",
    "possible": "possible",
    "compare": "comparing",
    "reranking": "comparing",
    "uncertainty": "budgets",
    "verify": "recording",
    "gate": "recording",
    "leaderboard": "recording",
    "convert": "conversions",
    "inspect": "conversions",
    "demo": "demo",
    "measures": "measures",
}
"""The module of each command, in the order of the help."""


def function_of(name: str) -> Any:
    """Return the function of a command."""
    return getattr(import_module(f"permed_measures.cli.{MODULES[name]}"), name)


class Commands(Mapping[str, Any]):
    """All commands by name; the module of one is imported when it is asked for, as that takes a while."""

    def __getitem__(self, name: str) -> Any:
        """Return a command; the list of all shows the first sentence of each whole."""
        function = function_of(name)
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command(cls=Command, short_help=(function.__doc__ or "").partition("\n")[0])(function)
        return typer.main.get_command(app)

    def __iter__(self) -> Iterator[str]:
        """Return the names, in the order of the help."""
        return iter(MODULES)

    def __len__(self) -> int:
        """Return the number of commands."""
        return len(MODULES)


class Group(TyperGroup):
    """The group of all commands."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{**settings, "commands": Commands()})

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the options before the command."""
        _converting_late(self.get_params(ctx))
        return super().parse_args(ctx, args)
