"""True and false stay the same values, whether they come as flags, numbers or texts."""

import numpy as np
import pytest

from coalface import Encoder
from coalface.errors import InputError

TRUE = [True, np.True_, 1, 1.0, np.int8(1), "True", "true", "TRUE", " true ", "1", "1.0"]
FALSE = [False, np.False_, 0, 0.0, np.float32(0), "False", "false", "0"]
OTHERS = [2, 0.5, "yes", "maybe", "-1"]


def encoded(encoder, cells):
    return encoder.transform([{"paid": cell, "size": 1.0} for cell in cells]).toarray()[:, : encoder.groups["paid"][1]]


@pytest.mark.parametrize(
    "first", [[True, False], ["true", "false"], ["TRUE", "FALSE"], [True, "false"]], ids=["flags", "a", "b", "mixed"]
)
def test_truth_values_are_recognised_in_every_form(first):
    encoder = Encoder().fit([{"paid": cell, "size": 1.0} for cell in [*first, None]])
    yes, no, missing = encoded(encoder, [*first, None])
    assert encoded(encoder, TRUE).tolist() == [yes.tolist()] * len(TRUE)
    assert encoded(encoder, FALSE).tolist() == [no.tolist()] * len(FALSE)
    assert encoded(encoder, [None, np.nan, ""]).tolist() == [missing.tolist()] * 3
    others = encoded(encoder, OTHERS)
    assert others.tolist() == [[0.0, 0.0, 0.0, 1.0]] * len(OTHERS)


def test_categories_of_0_and_1_take_flags():
    encoder = Encoder(category=["paid"]).fit([{"paid": "0", "size": 1.0}, {"paid": "1", "size": 2.0}])
    assert encoded(encoder, [True, "true", 1]).tolist() == encoded(encoder, ["1"] * 3).tolist()
    assert encoded(encoder, [False, "False", 0.0]).tolist() == encoded(encoder, ["0"] * 3).tolist()


def test_a_value_that_never_occurred_stays_unknown_in_every_form():
    encoder = Encoder().fit([{"paid": True, "size": 1.0}] * 2)
    assert encoded(encoder, FALSE).tolist() == [[0.0, 1.0]] * len(FALSE)


def test_other_categories_are_compared_as_they_are():
    encoder = Encoder().fit([{"paid": "true", "size": 1.0}, {"paid": "late", "size": 2.0}] * 3)
    assert encoded(encoder, ["TRUE", 1]).tolist() == [[0.0, 0.0, 1.0]] * 2


def test_a_column_of_numbers_takes_flags_and_refuses_their_names():
    encoder = Encoder().fit([{"paid": 0, "size": "a"}, {"paid": 1, "size": "b"}])
    assert encoded(encoder, [True, False]).tolist() == encoded(encoder, [1, 0]).tolist()
    with pytest.raises(InputError, match="Column 'paid' must have numbers, as in the first rows, got 'yes' in row 0"):
        encoded(encoder, ["yes"])
