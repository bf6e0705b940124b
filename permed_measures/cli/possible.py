"""The command possible."""

from __future__ import annotations

from argparse import Namespace

from ir_measures.measures import Measure

from permed_measures.cli.arguments import CLAIMS, CLUSTERS, CONVENTIONS, QRELS, WRITING
from permed_measures.cli.driver import FilesRead, result_command
from permed_measures.cli.inputs import Inputs
from permed_measures.cli.parsing import MEASURES_GROUP, STATISTICS, option, repeatable
from permed_measures.errors import MeasureError, short_repr
from permed_measures.feasibility.possible import possible
from permed_measures.feasibility.reports import Possible
from permed_measures.measures.parsing import parse_measure_args
from permed_measures.published_tables.tables import read_claims
from permed_measures.wording import pluralize


def _compute(args: Namespace, inputs: Inputs) -> Possible:
    rows = read_claims(args.claims, args.claim, ["row"], args.columns)
    return possible(
        inputs.qrels,
        rows,
        conventions=args.conventions,
        differences=args.differences,
        clusters=args.clusters,
        bound=[measure for text in args.bound for measure in _measures(text)],
        depth=args.depth,
    )


def _measures(text: str) -> list[Measure]:
    """Parse the measures of an option `--bound`."""
    if "," in text and "(" not in text:
        hint = f"Name one at a time: {' '.join(f'--bound {each}' for each in text.split(','))}"
        raise MeasureError(f"--bound takes one measure (found {short_repr(text)})", hint=hint)
    return parse_measure_args(text)


COMMAND = result_command(
    _compute,
    [
        *(QRELS, *CLAIMS),
        repeatable(
            MEASURES_GROUP,
            "--bound MEASURE",
            "Bound a measure that the rows do not print. Can be repeated.",
        ),
        option(MEASURES_GROUP, "--depth N", "For --bound: the largest number of documents in a list."),
        option(STATISTICS, "--differences", "List differences between rows that are surely significant."),
        CLUSTERS,
        CONVENTIONS,
        *WRITING,
    ],
    examples=[
        "permed-sample --claim P@1=.6458 --claim MAP@10=.4665",
        "medcorpus --claim P@1=0.9279 --claim MAP@10=0.5357",
        "litsearch --claim R@20=0.5683 --bound nDCG@10",
    ],
    details="Each number limits the others: this needs the qrels, but no run. Exit status 0 if every row "
    "has a convention that is not refuted, at least for runs that lack queries; 1 if some row has none.",
    files=FilesRead(),
    about=lambda _, result: pluralize(len(result.rows), "row"),
)
