"""The CUDA kernels of the ridge regression, run on the CPU, against the same steps in NumPy."""

import shutil
import sys

import numpy as np
import pytest

from coalface.models.device import SINGLE, CudaArrays
from coalface.models.ridge import root_regression
from coalface.models.ridge.root_regression import TOGETHER, CudaSteps, RootRegression, told_costs
from tests.models import fake_cupy
from tests.models.cuda_emulation import raw_module
from tests.models.host_gpu import MirrorArrays, MirrorSteps

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs a compiler of C++")
NO_WEIGHTS = np.zeros((0, 0), np.float32)


@pytest.fixture(scope="module")
def cuda(tmp_path_factory):
    """Arrays of a GPU whose kernels are compiled for the CPU."""
    found = fake_cupy.modules(raw_module=raw_module(tmp_path_factory.mktemp("kernels")))
    with pytest.MonkeyPatch.context() as patch:
        for name, module in found.items():
            patch.setitem(sys.modules, name, module)
        return CudaArrays()


@pytest.fixture(scope="module")
def steps(cuda):
    return CudaSteps(cuda)


def problem(seed, n_rows=20, n_labels=3, n_columns=32, known=0.3):
    random = np.random.default_rng(seed)
    costs = np.where(random.random((n_rows, n_labels)) < known, random.random((n_rows, n_labels)), np.nan)
    return random, random.normal(size=(n_rows, n_columns)).astype(np.float32), costs.astype(np.float32)


def test_tables_have_the_intercept_the_features_and_zeros(steps):
    _, features, _ = problem(1, n_rows=40, n_columns=9)
    table = steps.table(fake_cupy.array(features), 16, 1.0)
    np.testing.assert_array_equal(table, MirrorSteps().table(features, 16, 1.0))
    assert steps.table(fake_cupy.array(features[:0]), 16, 1.0).shape == (0, 16)


def test_ranges_are_those_of_numpy(steps):
    random, spread, _ = problem(2, n_rows=30, n_columns=11)
    predicted, factors = random.normal(0.5, 0.4, spread.shape), random.random(30 + 11 + 30)
    given = [fake_cupy.array(array) for array in (predicted, spread**2)]
    np.testing.assert_allclose(steps.ranges(*given, factors), MirrorSteps().ranges(*given, factors), rtol=1e-6)


@pytest.mark.parametrize(("n_rows", "known", "scale"), [(20, 0.3, 1.0), (TOGETHER, 1.0, 1.0), (9, 1.0, 1e4), (1, 1, 1)])
def test_told_costs_are_gathered_and_solved_as_in_numpy(steps, n_rows, known, scale):
    random, table, costs = problem(3, n_rows, known=known)
    weights, along_scale = random.normal(size=(3, 32)), np.float32(scale)
    importance = random.choice([0.5, 1.0, 4.0], costs.shape).astype(np.float32)
    [told] = told_costs(costs, importance)
    on_device = steps.on_device(told)
    table, weights = fake_cupy.array(table), fake_cupy.array(weights)
    inputs, errors = steps.gathered(table, weights, on_device)
    same_inputs, same_errors = MirrorSteps().gathered(table, weights, told)
    np.testing.assert_array_equal(inputs, same_inputs)
    np.testing.assert_allclose(errors, same_errors, atol=1e-12)
    along = fake_cupy.array(along_scale * inputs[:, :, ::-1])
    found, same = steps.turned(along, errors, on_device), MirrorSteps().turned(along, same_errors, told)
    np.testing.assert_allclose(found.rows, same.rows, rtol=1e-5, atol=1e-6 / scale)
    np.testing.assert_allclose(found.residuals, same.residuals, rtol=1e-9)


@pytest.mark.parametrize("importance", [NO_WEIGHTS, np.full((70, 3), 2.0, np.float32)])
def test_a_regression_learns_with_the_kernels_what_it_learns_with_numpy(cuda, importance, monkeypatch):
    _, table, costs = problem(5, n_rows=70, known=0.8)  # more than TOGETHER costs per label
    costs[10:20, 1] = np.nan
    found = []
    for arrays, own_steps in ((cuda, CudaSteps), (MirrorArrays(), MirrorSteps)):
        monkeypatch.setattr(root_regression, "CudaSteps", own_steps)
        state, residuals = RootRegression(3, 0.5, arrays, SINGLE), np.zeros(3)
        state.make_room(table.shape[1])
        given = fake_cupy.array(table)
        for part in (slice(0, 60), slice(60, 70)):
            state.learn(given[part], costs[part], importance[part] if len(importance) else importance, residuals)
        one_label = np.full((1, 3), np.nan, np.float32)
        one_label[0, 1] = 0.5
        state.learn(given[:1], one_label, NO_WEIGHTS, residuals)
        ranged = state.ranged(given, np.zeros(70), np.full(70, 0.01), np.ones(3))
        found.append([*ranged, residuals, *state.arrays().values()])
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)
