"""Parquet files that are damaged: each is an error that names it."""

import polars as pl
import pytest

import permed_measures as pm

RUN = {"q": {f"d{number:03}": float(100 - number) for number in range(100)}}
ROWS = {"query_id": ["q"] * 100, "doc_id": list(RUN["q"]), "score": list(RUN["q"].values())}
DATA_PAGE = b",\x15\xc8\x01\x15\x00"
"""The header of a data page: 100 values, plain."""


@pytest.fixture
def damaged(tmp_path):
    """Return a function that writes a run with other bytes in the header of its first data page."""

    def write(header):
        path = tmp_path / "run.parquet"
        pl.DataFrame(ROWS).write_parquet(path, compression="uncompressed", use_pyarrow=False)
        content = path.read_bytes()
        assert DATA_PAGE in content
        path.write_bytes(content.replace(DATA_PAGE, header, 1))
        return path

    return write


UNKNOWN_ENCODING = DATA_PAGE[:-1] + b"\x4b"  # polars panics


def test_a_damaged_page_is_an_error_that_names_the_file(damaged):
    path = damaged(UNKNOWN_ENCODING)
    for read in (pm.read_run, lambda path: pm.calc_aggregate(["P@1"], {"q": {"d001": 1}}, pm.scan_run(path))):
        with pytest.raises(pm.InputError, match=r"run\.parquet: cannot be read as Parquet \(.+\)$"):
            read(path)
