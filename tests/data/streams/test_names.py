"""Named features of a stream have the columns that they would have in one file, however it is cut into blocks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from coalface import CoalClassifier, read_blocks
from coalface.data.alignment import Aligner
from coalface.data.formats import vw_names, vw_text
from coalface.data.formats.vw_text import read_vw_text
from coalface.data.streams.blocks import open_blocks
from coalface.learner.named_learner import NamedLearner
from coalface.learner.streaming import Stream, examples_of

NAMES = [
    "a",
    "b",
    "ab",
    "b^c",
    "c",
    "exactly14bytes",
    "longer than that".replace(" ", "_"),
    "longer_than_thaT",
    "ä" * 9,
]
SPACES = ["", "a", "a^b", "words", "a_namespace_with_a_long_name"]
LINES = st.lists(
    st.lists(st.tuples(st.sampled_from(SPACES), st.sampled_from(NAMES)), max_size=4), min_size=1, max_size=9
)


def write(path, lines):
    rows = [" ".join(f"|{space} {name}:{place + 1}" for place, (space, name) in enumerate(line)) for line in lines]
    path.write_text("".join(f"1:0 2:1 {row or '|'}\n" for row in rows))
    return path


def assert_same(blocks, whole):
    assert blocks[-1].feature_names == whole.feature_names
    width = whole.X.shape[1]
    wide = [sparse.csr_array((one.X.data, one.X.indices, one.X.indptr), shape=(len(one), width)) for one in blocks]
    np.testing.assert_array_equal(sparse.vstack(wide).toarray(), whole.X.toarray())


@given(LINES, st.integers(1, 4), st.sampled_from([False, True]))
def test_blocks_together_are_the_file(tmp_path_factory, lines, rows, collide):
    path = write(tmp_path_factory.mktemp("names") / "some.vw", lines)
    whole = read_vw_text(path, features="named")
    by_hand = list(dict.fromkeys(f"{s}^{n}" if s or "^" in n else n for line in lines for s, n in line))
    assert list(whole.feature_names) == by_hand
    with pytest.MonkeyPatch.context() as patch:
        if collide:
            patch.setattr(vw_names, "_FACTORS", (np.uint64(0),) * 3)  # all hashes are equal
        blocks = list(read_blocks(path, rows=rows, features="named"))
    assert_same(blocks, whole)


@given(LINES, st.integers(1, 4), st.integers(0, 5))
def test_a_learner_that_has_seen_other_names_keeps_its_columns(tmp_path_factory, lines, rows, most):
    path = write(tmp_path_factory.mktemp("names") / "some.vw", lines)
    own = ("words^c", "zebra", "a")
    whole = Aligner(path, True, feature_names=own, width=3).aligned(read_vw_text(path, features="named"))
    for grows in (False, True):
        aligner = Aligner(path, True, feature_names=own, width=3, grows=grows)
        with open_blocks(path, "vw", {"features": "named"}, rows=rows) as blocks:
            assert_same([aligner.aligned(block) for block in blocks], whole)
    learner = CoalClassifier([1, 2], model="online").partial_fit(np.eye(3), cost=[[0, 1]] * 3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vw_text, "_MOST_NAMES", most)  # more are forgotten, so columns of unknown names may change
        stream = Stream(path, "vw", {"features": "named"}, rows)
        found = list(examples_of(NamedLearner(learner, own), stream))
    seen = np.concatenate([block.X[:, :3].toarray() for block in found])
    np.testing.assert_array_equal(seen, whole.X[:, :3].toarray())


def test_python_reads_a_name_once(tmp_path):
    path = write(tmp_path / "some.vw", [[("", "a"), ("w", "b")]] * 6)
    read = []
    table = vw_names.NameTable()
    spans = np.array([[0x61, 0, 1, 0], [0x62, 0, 1 | 1 << 32, 3]])  # as the kernel packs them
    for _ in range(3):
        places = table.places(spans, ["", "w"], lambda new: read.append(len(new)) or ["a", "w^b"][: len(new)])
        assert places.tolist() == [0, 1]
    assert read == [2, 0, 0]
    assert [block.feature_names for block in read_blocks(path, rows=3)] == [("a", "w^b")] * 2
