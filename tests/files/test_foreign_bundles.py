"""Bundles that coalface did not write: their checksums fit, their values do not."""

import hashlib
import json
import struct

import numpy as np
import pytest

from coalface import CoalClassifier
from coalface.errors import FileFormatError
from coalface.files.bundle import read_bundle, write_bundle
from tests.cli.commands import refused

PREFIX = struct.Struct("<8sIQ")


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "x.coal"
    CoalClassifier(["walk", "fly"], model="online").tell([[1.0, 2.0]], [[0.2, 0.9]]).save(path)
    return path


def rewrite(path, change, more=b""):
    """Change the header of a bundle and give it the checksum that fits."""
    content = path.read_bytes()
    _, version, length = PREFIX.unpack_from(content)
    header = json.loads(content[PREFIX.size : PREFIX.size + length])
    plain = change(header) or json.dumps(header).encode()
    whole = PREFIX.pack(b"COALFACE", version, len(plain)) + plain + content[PREFIX.size + length : -32] + more
    path.write_bytes(whole + hashlib.sha256(whole).digest())


@pytest.mark.parametrize(
    "change",
    [
        lambda _: b"[1]",
        lambda _: b"{",
        lambda _: b"[" * 100_000,
        lambda header: header.pop("kind") and None,
        lambda header: header.pop("meta") and None,
        lambda header: header.update(meta=3),
        lambda header: header.update(arrays={"x": 1}),
        lambda header: header["arrays"]["cells"].__setitem__(0, "|O"),
        lambda header: header["arrays"]["cells"].__setitem__(0, "nonsense"),
        lambda header: header["arrays"]["cells"].__setitem__(1, [-1, 3, 8]),
        lambda header: header["arrays"]["cells"].__setitem__(1, [2**40, 2**40]),
        lambda header: header["arrays"]["cells"].__setitem__(1, []),
        lambda header: header["meta"].update(width="two"),
        lambda header: header["meta"]["params"].update(cost_matrix=[[1, [2]], 3]),
    ],
)
def test_a_model_with_a_crafted_header_is_refused_in_one_line(model, capsys, change):
    rewrite(model, change)
    with pytest.raises(FileFormatError) as caught:
        CoalClassifier.load(model)
    assert "\n" not in str(caught.value)
    assert str(model) in str(caught.value)
    (model.parent / "x.csv").write_text("a,b\n1,2\n")
    assert "x.coal" in refused(capsys, f"predict {model} {model.parent / 'x.csv'}")


def test_bytes_that_no_array_takes_are_refused(model):
    rewrite(model, lambda _: None, more=b"1234")
    with pytest.raises(FileFormatError, match="more bytes than its arrays"):
        CoalClassifier.load(model)


def test_letters_that_unicode_does_not_have_are_refused(tmp_path):
    letters = np.array([0x7FFFFFFF, 0], np.uint32)
    write_bundle(tmp_path / "b", "example", {}, {"x": letters})
    rewrite(tmp_path / "b", lambda header: header["arrays"]["x"].__setitem__(0, "<U1"))
    with pytest.raises(FileFormatError, match="letters that Unicode does not have"):
        read_bundle(tmp_path / "b", "example")
