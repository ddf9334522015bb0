"""The columns of conjunctions are the same in the kernel and in the general interface."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from coalface.structured.kernels.tagging import CONJUNCTION_BITS, conjunction
from coalface.structured.tagging.tag_features import FIRST_CONJUNCTION, conjunction_columns


@given(st.integers(0, 2**64 - 1), st.integers(0, 200))
def test_a_column_does_not_depend_on_who_computes_it(key, tag):
    first, second = conjunction_columns([key, key], tag)
    with np.errstate(over="ignore"):
        assert conjunction.py_func(np.uint64(key), tag) == first - FIRST_CONJUNCTION
    assert conjunction(np.uint64(key), tag) == first - FIRST_CONJUNCTION < 2**CONJUNCTION_BITS
    assert second == first + 2**CONJUNCTION_BITS < 2**31 - 1
