"""Arrays on a GPU: matrix products through cuBLAS, memory, and the one line without a GPU."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface.errors import InputError
from coalface.models.device import SINGLE, TF32, CudaArrays, is_gpu
from tests.models import fake_cupy


def opened(**given):
    with pytest.MonkeyPatch.context() as patch:
        for name, module in fake_cupy.modules(**given).items():
            patch.setitem(sys.modules, name, module)
        return CudaArrays()


def stack(random, count, rows, columns, layout):
    """Matrices, whose rows or columns may be contiguous, or neither."""
    shape = {"rows": (rows, columns), "columns": (columns, rows), "neither": (rows, 2 * columns)}[layout]
    values = fake_cupy.array(random.normal(size=(*([count] if count else []), *shape)).astype(np.float32))
    if layout == "columns":
        return values.swapaxes(-1, -2)
    return values[..., ::2] if layout == "neither" else values


@given(
    seed=st.integers(0, 1000),
    count=st.sampled_from([None, 1, 3]),
    shape=st.tuples(*[st.integers(1, 6)] * 3),
    layouts=st.tuples(*[st.sampled_from(["rows", "columns", "neither"])] * 2),
)
def test_products_are_those_of_numpy_for_every_layout(seed, count, shape, layouts):
    random, arrays = np.random.default_rng(seed), opened()
    left = stack(random, count, shape[0], shape[1], layouts[0])
    right = stack(random, count, shape[1], shape[2], layouts[1])
    exact = np.matmul(np.array(left), np.array(right))
    np.testing.assert_allclose(arrays.product(left, right, SINGLE), exact, rtol=1e-4, atol=1e-5)
    target = fake_cupy.array(random.normal(size=exact.shape).astype(np.float32))
    before = np.array(target)
    arrays.subtract_product(target, left, right, SINGLE)
    np.testing.assert_allclose(target, before - exact, rtol=1e-4, atol=1e-5)


def test_a_part_of_a_stack_is_multiplied_in_place():
    random, arrays = np.random.default_rng(0), opened()
    stacked = stack(random, 5, 4, 4, "rows")
    left = stack(random, 2, 3, 4, "rows")
    np.testing.assert_allclose(
        arrays.product(left, stacked[1:3], SINGLE), np.array(left) @ np.array(stacked[1:3]), 1e-4
    )


def test_an_empty_product_is_not_computed():
    cublas = fake_cupy.Cublas()
    arrays = opened(cublas=cublas)
    assert arrays.product(fake_cupy.array(np.zeros((0, 3), np.float32)), np.zeros((3, 2)), SINGLE).shape == (0, 2)
    assert cublas.computed == []


def test_each_precision_has_its_own_way_to_compute():
    cublas = fake_cupy.Cublas()
    arrays, one = opened(cublas=cublas), fake_cupy.array(np.ones((2, 2), np.float32))
    for precision in (SINGLE, TF32):
        arrays.product(one, one, precision)
    assert cublas.computed == [cublas.CUBLAS_COMPUTE_32F, cublas.CUBLAS_COMPUTE_32F_FAST_TF32]


def test_available_memory_is_what_the_gpu_has_free_and_what_is_kept_for_reuse():
    assert opened().available_bytes() == 1050


@pytest.mark.parametrize("n_devices", [0, None])
def test_without_a_gpu_there_is_one_line_with_a_remedy(n_devices):
    with pytest.raises(InputError, match=r"^device='cuda' needs a GPU.*Run: pip install 'coalface\[cuda\]'") as refused:
        opened(n_devices=n_devices)
    assert "\n" not in str(refused.value)


def test_devices_have_names():
    assert (is_gpu("cuda"), is_gpu("cpu")) == (True, False)
    with pytest.raises(InputError, match="device must be one of 'cpu', 'cuda', got 3"):
        is_gpu(3)
