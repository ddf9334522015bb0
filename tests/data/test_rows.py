"""Dense arrays, sparse matrices and DataFrames give the same rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from coalface.data.rows import check_row, check_rows
from coalface.errors import InputError

tables = arrays(
    np.float32,
    st.tuples(st.integers(0, 5), st.integers(1, 6)),
    elements=st.one_of(st.just(0.0), st.floats(width=32, allow_nan=False, allow_infinity=False)),
)


def as_table(rows):
    return sparse.csr_array((rows.values, rows.columns, rows.indptr), shape=(len(rows), rows.width)).toarray()


@given(tables)
def test_rows_hold_the_numbers_of_the_table(table):
    for form in (table, table.astype(np.float64), sparse.csr_array(table), sparse.csc_array(table), table.tolist()):
        if len(table) == 0 and isinstance(form, list):
            continue
        rows = check_rows(form)
        assert (rows.indptr.dtype, rows.columns.dtype, rows.values.dtype) == (np.int64, np.int32, np.float32)
        np.testing.assert_array_equal(as_table(rows), table)
        assert rows.longest == max((np.count_nonzero(row) for row in table), default=0)


@given(tables, st.data())
def test_rows_are_taken_in_the_order_asked_for(table, data):
    numbers = data.draw(st.lists(st.integers(0, max(len(table) - 1, 0)), max_size=6 if len(table) else 0))
    taken = check_rows(table).take(np.array(numbers, np.int64))
    np.testing.assert_array_equal(as_table(taken), table[numbers])


@given(st.dictionaries(st.integers(0, 2**31 - 2), st.floats(-(2.0**100), 2.0**100, width=32), max_size=8), st.randoms())
def test_a_row_is_sorted_whatever_the_order_it_came_in(values, random):
    items = list(values.items())
    random.shuffle(items)
    rows = check_row([column for column, _ in items], [value for _, value in items], 7)
    columns, numbers = rows.row(0)
    assert columns.tolist() == sorted(values)
    assert numbers.tolist() == [values[column] for column in sorted(values)]
    assert rows.width == max([7, *(column + 1 for column in values)])


def test_one_wrong_value_is_found_in_a_large_sparse_matrix():
    X = sparse.random_array((200, 300), density=0.05, rng=np.random.default_rng(0)).tocsr()
    X.data[777] = np.nan
    row = np.searchsorted(X.indptr, 777, side="right") - 1
    with pytest.raises(InputError, match=f"row {row}, column {X.indices[777]} is NaN"):
        check_rows(X)


def test_the_users_arrays_are_not_touched():
    X = sparse.csr_array((np.array([1.0, 2.0, 3.0]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3))
    dense = np.array([[1.0, 0.0, 2.0]])
    dense.flags.writeable = False
    check_rows(dense)
    check_rows(X)
    assert X.indices.tolist() == [2, 0, 2]
    assert X.data.tolist() == [1.0, 2.0, 3.0]
