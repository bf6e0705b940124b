"""Claims in a file, as a paper prints them, or on the command line."""

from __future__ import annotations

import os
from pathlib import Path

from permed_measures.audits.claim_tables import PrintedClaims, claims_in
from permed_measures.errors import InputError
from permed_measures.papers.read import read_tables


def read_claims(
    path: Path | None, texts: list[str], runs: list[str]
) -> PrintedClaims | dict[str, dict[str, str]]:
    """Read the claims about runs: the tables of a file, or ``NAME=VALUE`` for a single run."""
    if bool(texts) == bool(path):
        raise InputError("give the published numbers with either --claim or --claims")
    if path is not None:
        return read_claims_file(path)
    if len(runs) > 1:
        raise InputError(
            f"--claim is for one run, but there are {len(runs)}",
            hint="Use --claims with a row for each run",
        )
    return {runs[0]: _one_by_one(texts)}


def read_claims_file(path: str | os.PathLike[str]) -> PrintedClaims:
    """Read the claims in the tables of a Markdown, LaTeX, HTML or CSV file."""
    return claims_in(read_tables(Path(path)), os.fspath(path))


def _one_by_one(texts: list[str]) -> dict[str, str]:
    claims: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.rpartition("=")
        if not equals or name in claims:
            raise InputError(f"a claim must be NAME=VALUE, each name once (found {text!r})")
        claims[name] = value
    return claims
