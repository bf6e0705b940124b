"""Fixtures that several test files use."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data() -> Path:
    """Return the folder of real label and run files, which the project does not ship."""
    folder = os.environ.get("PERMED_DATA")
    if not folder:
        pytest.skip("PERMED_DATA names no folder with the MedCorpus and LitSearch files")
    return Path(folder)
