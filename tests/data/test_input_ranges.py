"""The ranges of columns that a file holds."""

import numpy as np
import pytest

from coalface.data.input_ranges import InputRanges
from coalface.data.rows import check_rows
from coalface.errors import FileFormatError


def ranges_of_a_few_rows():
    ranges = InputRanges()
    rows = check_rows(np.random.default_rng(0).normal(size=(30, 3)))
    ranges.tell(rows, 3, np.ones((30, 2), np.bool_), np.zeros((30, 2), np.float32))
    return ranges


def test_ranges_are_read_as_they_were_written():
    plain = ranges_of_a_few_rows().plain()
    assert InputRanges.of(plain).plain() == plain
    assert InputRanges.of(InputRanges().plain()).plain() == InputRanges().plain()


@pytest.mark.parametrize(
    "damage",
    [
        {"lowest": [0.0]},
        {"filled": [1, 2]},
        {"highest": [[0.0, 0.0, 0.0]]},
        {"lowest": [9.0, 9.0, 9.0]},
        {"filled": [-1, 0, 0]},
        {"lowest": [float("nan"), 0.0, 0.0]},
    ],
    ids=str,
)
def test_impossible_ranges_are_refused(damage):
    with pytest.raises(FileFormatError, match="damaged"):
        InputRanges.of(ranges_of_a_few_rows().plain() | damage)
