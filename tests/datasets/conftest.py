"""An empty folder of ir_datasets for each test, or one with the real files, and a server."""

import pytest
from file_server import FileServer


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """Return an empty folder of ir_datasets."""
    folder = tmp_path / "home [1]"  # no pattern of names
    monkeypatch.setenv("IR_DATASETS_HOME", str(folder))
    monkeypatch.setenv("IR_DATASETS_TMP", str(tmp_path / "tmp"))
    monkeypatch.setenv("IR_DATASETS_DL_DISABLE_PBAR", "true")
    monkeypatch.setenv("IR_DATASETS_DL_TRIES", "1")
    monkeypatch.setenv("IR_DATASETS_DL_TIMEOUT", "5")
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "127.0.0.1,localhost")
    return folder


@pytest.fixture
def offline(monkeypatch):
    """Let a test fail that asks the network."""

    def get(*_, **options):
        pytest.fail(f"the network was asked: {options}")

    monkeypatch.setattr("requests.get", get)


@pytest.fixture
def real(dataset_cache, monkeypatch, offline):  # noqa: ARG001
    """Let ir_datasets have the real files, and no network."""
    monkeypatch.setenv("IR_DATASETS_HOME", str(dataset_cache))
    return dataset_cache


@pytest.fixture
def server():
    with FileServer() as running:
        yield running
