"""The parser of VW text: compiled loops equal their Python bodies, and numbers read back exactly."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from coalface.kernels import vw_text, words

LINES = [
    "1:0.5 2:1.0 3 | f1:0.3 f2 |ns:2.0 a:2 b 17 17:1e-3",
    "1:-1e2 2:+.5 3:5. 'tag| 12:3 x:0 \tlong_name_of_a_feature:1234567890.125",
    "other:2 1:0 tag|ns a |ns2 a | a 99999999999999",
    "|n 007 7",
    "1:1",
    "1:1x | a",
    "1: | a",
    "1:1 | a:x",
    "1:1 | a:1e39",
    "1:nan | a",
    ":1 | a",
    "1:1 | :3",
    "1:1| a",
    "1:1 'tag 2 | a",
    "1:1 |:2 a",
    "1:1 |n:x a",
    "1:1 |n:1e99 a",
]


def placed(lines):
    text = "\n".join(lines).encode()
    ends = np.cumsum([len(line.encode()) + 1 for line in lines]) - 1
    return text, np.array([0, *(ends[:-1] + 1)]), ends


@pytest.mark.parametrize("mode", [vw_text.NUMBERED, vw_text.NAMED, vw_text.HASHED])
@pytest.mark.parametrize("lines", [LINES[:1], LINES[1:2], LINES[:4], *([LINES[0], line] for line in LINES[4:])])
def test_compiled_loops_equal_their_python_bodies(lines, mode):
    text, starts, ends = placed(lines)
    buffer = np.frombuffer(text, np.uint8)
    problems = np.zeros((4, 4), np.int64)
    compiled = vw_text.parse_labels(buffer, starts, ends, 50, problems[0])
    plain = vw_text.parse_labels.py_func(text, starts, ends, 50, problems[1])
    for first, second in zip(compiled, plain, strict=True):
        np.testing.assert_array_equal(first, second)
    if problems[0, 0] == vw_text.FINE:
        bars = compiled[0]
        compiled = vw_text.parse_features(buffer, bars, ends, 50, mode, 2**18 - 1, problems[2])
        plain = vw_text.parse_features.py_func(text, bars, ends, 50, mode, 2**18 - 1, problems[3])
        for first, second in zip(compiled, plain, strict=True):
            np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(problems[0], problems[1])
    np.testing.assert_array_equal(problems[2], problems[3])


def read_value(text):
    return words.read_number(np.frombuffer(text.encode(), np.uint8), 0, len(text))


@settings(deadline=None)
@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
@example(1e-45)
@example(float(np.finfo(np.float32).max))
def test_the_shortest_text_of_a_float32_reads_back_exactly(number):
    text = str(np.float32(number))
    value, after = read_value(text)
    assert after == len(text)
    assert np.float32(value) == np.float32(number)
    assert words.read_number.py_func(text.encode(), 0, len(text)) == (value, after)


@settings(deadline=None)
@given(st.from_regex(r"\A[+-]?([0-9]{1,30}(\.[0-9]{0,30})?|\.[0-9]{1,30})([eE][+-]?[0-9]{1,2})?\Z"))
@example("0.00000000000000000000000000000012345")
@example("123456789012345678901234567890e-30")
def test_any_decimal_reads_within_one_ulp_of_python(text):
    value, after = read_value(text)
    assert after == len(text)
    with np.errstate(over="ignore"):
        expected, found = np.float32(float(text)), np.float32(value)
    if np.isfinite(expected):
        assert abs(found - expected) <= np.spacing(abs(expected))
    else:
        assert abs(value) > words.LARGEST * (1 - 1e-9)


@pytest.mark.parametrize("text", ["", "-", ".", "e5", "1e", "1e+", "x1", "nan", "inf", "+-1"])
def test_text_that_is_not_a_number_is_not_read(text):
    assert read_value(text) == (0.0, 0)


def test_the_table_of_names_grows_and_keeps_equal_names_together():
    long = "a-name-that-is-longer-than-two-words-"
    names = [f"{long if place % 2 else ''}{place % 3000}" for place in range(9000)]
    text, starts, ends = placed([f"| {' '.join(names)}"])
    problem = np.zeros(4, np.int64)
    _, columns, _, spans, _ = vw_text.parse_features(
        np.frombuffer(text, np.uint8), starts, ends, 9000, vw_text.NAMED, 0, problem
    )
    np.testing.assert_array_equal(columns, np.arange(9000) % 3000)
    assert [text[start : start + length].decode() for _, _, length, start in spans] == names[:3000]


def test_a_label_listed_twice_stops_the_filling_at_its_line():
    cost = np.full((2, 2), np.nan, np.float32)
    listed = np.zeros((2, 2), bool)
    arguments = (np.array([0, 2, 4]), np.array([0, 1, 1, 1]), np.arange(4, dtype=np.float32))
    assert vw_text.fill_costs(*arguments, cost, listed) == 1
    assert vw_text.fill_costs.py_func(*arguments, cost.copy(), listed.copy()) == 1
    np.testing.assert_array_equal(cost[0], [0, 1])
    assert listed[0].all()
