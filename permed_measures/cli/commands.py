"""The command line: arguments to library calls. Results go to stdout, everything else to stderr."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Callable
from typing import Annotated, NoReturn

import typer

from permed_measures import __version__
from permed_measures.cli.checks import audit, crosscheck
from permed_measures.cli.comparing import compare, reranking
from permed_measures.cli.conversions import convert, inspect
from permed_measures.cli.evaluations import evaluate
from permed_measures.cli.measures import measures
from permed_measures.cli.messages import message_of, tell
from permed_measures.cli.possible import possible
from permed_measures.cli.recording import gate, leaderboard, verify
from permed_measures.cli.uncertainty import uncertainty


def demo() -> None:
    """Evaluate the packaged sample: three rankings for synthetic conversations about medicine."""
    command = ["evaluate", "permed-sample", "permed-sample/runs"]
    print(f"$ permed-measures {' '.join(command)}", flush=True)
    app(command, prog_name="permed-measures", standalone_mode=False)
    print("\nIs bm25 surely better? Type compare in the place of evaluate, and --baseline bm25 behind it.")


EXAMPLES: dict[Callable[..., None], tuple[str, ...]] = {
    demo: ("",),
    evaluate: ("permed-sample permed-sample/runs", "medcorpus results.jsonl --by turn_number"),
    crosscheck: ("permed-sample permed-sample/runs", "medcorpus results.jsonl -m nDCG@10 -m AP@10"),
    audit: (
        "medcorpus results.jsonl --claim MAP@10=53.57%",
        "permed-sample permed-sample/runs --claims paper.md",
    ),
    possible: (
        "litsearch --claim P@1=0.0687 --claim MAP@10=0.0877",
        "medcorpus --claim P@1=0.9279 --claim MAP@10=0.5357",
    ),
    compare: (
        "permed-sample permed-sample/runs --baseline bm25",
        "medcorpus runs/ -m GradedAP@10 --output table.tex",
    ),
    reranking: ("medcorpus runs/bm25.trec runs/b.csv", "medcorpus bm25=runs/bm25.trec b=runs/b.csv -m P@1"),
    uncertainty: ("permed-sample permed-sample/runs", "medcorpus results.jsonl --label-error 0.1"),
    verify: ("base.json", "records/ --folder ."),
    gate: ("medcorpus b.trec --min P@1=0.5", "medcorpus b.trec --baseline base.json --max-drop P@1=0.1"),
    leaderboard: ("permed-sample permed-sample/runs", "medcorpus runs/ --output board.html"),
    convert: ("results.jsonl results.trec", "query_to_texts.jsonl qrels.tsv --as qrels"),
    inspect: ("results.jsonl", "runs/bm25.trec runs/b.csv"),
    measures: ("", "GradedAP"),
}
"""The commands in the order of the help, each with what can be typed after its name."""

app = typer.Typer(
    help="Graded MAP, Coverage and exact nDCG for MedCorpus and LitSearch.",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)

for function, examples in EXAMPLES.items():
    lines = [f"permed-measures {function.__name__} {example}".rstrip() for example in examples]
    about = [" ".join(text.split()) for text in (function.__doc__ or "").split("\n\n")]
    app.command(help="\n\n".join(about), epilog="\n\n".join(["Examples:", *lines]))(function)


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        print(f"permed-measures {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())


def main() -> NoReturn:
    """Run the command line; whatever goes wrong is one message and exit status 2."""
    if hasattr(signal, "SIGPIPE"):  # end as other programs do when nobody reads on
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what the terminal cannot show is escaped
            stream.reconfigure(errors="backslashreplace")
    try:
        status = _run()
    except SystemExit:
        raise
    except KeyboardInterrupt:
        status = 130  # as shells have it
    except BaseException as error:  # panics of polars too, which are not an Exception
        if sys.flags.dev_mode:
            raise
        tell(f"error: {message_of(error)}")
        status = 2
    sys.exit(status)


def _run() -> int:
    try:
        return app(prog_name="permed-measures", standalone_mode=False) or 0
    finally:
        try:
            sys.stdout.flush()
        except OSError:  # Python would try again when it ends, and print a traceback
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise
