"""Scenarios of ASlib, as published and as archives."""

from collections import defaultdict
from statistics import median

import numpy as np
import pytest

from coalface.data.formats.aslib import read_aslib_folder, read_aslib_npz, read_description
from coalface.errors import FileFormatError
from tests.data.scenarios import CUTOFF, SOLVERS, runs_by_hand, write_archive, write_scenario


def by_instance(runs):
    """Plain dictionaries: (instance, solver) -> values of the repetitions, a failed one None."""
    found = defaultdict(list)
    for instance, _, solver, value, status in runs:
        found[instance, solver].append((value, status == "ok"))
    return found


def instances(n, test):
    return [f"inst{i:02}" for i in range(n) if (i % 10 >= 8) == test]


@pytest.mark.parametrize("n_repetitions", [1, 2, 3])
def test_a_cost_is_the_median_run_time_over_the_cut_off_and_its_price_the_run_time(tmp_path, n_repetitions):
    runs = [run for run in runs_by_hand() if run[1] <= n_repetitions]
    train, test = read_aslib_folder(write_scenario(tmp_path / "TOY", runs))
    times = {key: median(v if ok else CUTOFF for v, ok in values) for key, values in by_instance(runs).items()}
    for part, dataset in (((False), train), ((True), test)):
        expected = np.array([[times[i, s] for s in SOLVERS] for i in instances(20, part)])
        np.testing.assert_allclose(dataset.cost, expected / CUTOFF, rtol=1e-6)
        np.testing.assert_allclose(dataset.price, expected, rtol=1e-6)
    assert train.classes.tolist() == SOLVERS
    assert train.cost[3].tolist() == [1.0, 1.0]  # unsolved instances are kept
    assert train.name == "aslib/TOY"


def test_graphs_2015_has_logarithmic_costs(tmp_path):
    folder = write_scenario(tmp_path / "g", list(runs_by_hand()), scenario="GRAPHS-2015")
    train = read_aslib_folder(folder).train
    np.testing.assert_allclose(train.cost, np.log1p(train.price) / np.log1p(CUTOFF), rtol=1e-5)


@pytest.mark.parametrize("maximize", ["no", "true"])
def test_quality_is_scaled_by_instance_and_failures_cost_1(tmp_path, maximize):
    runs = [(i, 1, s, v, status) for i, r, s, v, status in runs_by_hand(by_time=False) if r == 1]
    train, _ = read_aslib_folder(write_scenario(tmp_path / "q", runs, kind="solution_quality", maximize=maximize))
    assert train.price is None
    sign = -1 if maximize == "true" else 1
    quality = {key: values[0] for key, values in by_instance(runs).items()}
    for row, instance in enumerate(instances(20, False)):
        values = [sign * quality[instance, s][0] for s in SOLVERS]
        for column, solver in enumerate(SOLVERS):
            ok = quality[instance, solver][1]
            best, worst = min(values), max(values)
            scaled = 0.0 if best == worst else (values[column] - best) / (worst - best)
            assert train.cost[row, column] == pytest.approx(scaled if ok else 1.0)


def test_features_are_scaled_by_the_training_rows_alone(tmp_path):
    train, test = read_aslib_folder(write_scenario(tmp_path / "TOY", list(runs_by_hand())))
    size, depth, same = train.X.toarray().T
    i = np.array([i for i in range(20) if i % 10 < 8], dtype=float)
    np.testing.assert_allclose(size, (i**2 - (i**2).mean()) / (i**2).std(), rtol=1e-5, atol=1e-6)
    known = np.where(i % 4 == 0, np.median(i[i % 4 != 0]), i)
    np.testing.assert_allclose(depth, (known - known.mean()) / known.std(), rtol=1e-5, atol=1e-6)
    assert not same.any()
    assert train.feature_names == ("size", "the depth", "same")
    np.testing.assert_allclose(test.X.toarray()[0, 0], (64 - (i**2).mean()) / (i**2).std(), rtol=1e-5)


def test_a_missing_run_is_an_unknown_training_cost_and_drops_a_test_row(tmp_path):
    runs = [run for run in runs_by_hand() if (run[0], run[2]) not in (("inst01", "slow"), ("inst08", "slow"))]
    train, test = read_aslib_folder(write_scenario(tmp_path / "TOY", runs))
    assert np.argwhere(np.isnan(train.cost)).tolist() == [[1, 1]]
    assert train.price[1, 1] == CUTOFF
    assert len(test) == len(instances(20, True)) - 1
    assert not np.isnan(test.cost).any()


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        (
            "description.txt",
            "performance_type:\n- runtime",
            "",
            r"description.txt must have the entry performance_type",
        ),
        ("description.txt", "- runtime", "- speed", r"must be runtime or solution_quality, got 'speed'"),
        ("description.txt", "'100.0'", "'?'", r"algorithm_cutoff_time must be a number above 0, got '\?'"),
        ("description.txt", "[false]", "[true]", r"maximize must be false"),
        ("description.txt", "[false]", "[false", r"description.txt must be YAML: .* line \d+"),
        ("cv.arff", "inst05,1,", "other,1,", r"a fold for every instance, but 'inst05' has none"),
        ("algorithm_runs.arff", "score NUMERIC", "points NUMERIC", r"must have the attribute score, got instance_id"),
        ("algorithm_runs.arff", ",ok", ",fine", r"line \d+: runstatus must be one of crash, .*, got 'fine'"),
        ("feature_values.arff", ", 7", ", seven", r"line \d+: same must be a number, got 'seven'"),
    ],
)
def test_an_error_in_a_scenario_is_one_line(tmp_path, file, old, new, said):
    folder = write_scenario(tmp_path / "TOY", list(runs_by_hand()))
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1))
    with pytest.raises(FileFormatError, match=said) as caught:
        read_aslib_folder(folder)
    assert "\n" not in str(caught.value)


def test_a_negative_run_time_is_refused(tmp_path):
    runs = list(runs_by_hand())
    runs[0] = (*runs[0][:3], -1.0, "ok")
    with pytest.raises(FileFormatError, match=r"must not be negative, got -1"):
        read_aslib_folder(write_scenario(tmp_path / "TOY", runs))


def test_a_scenario_without_test_folds_is_refused(tmp_path):
    folder = write_scenario(tmp_path / "TOY", list(runs_by_hand()))
    text = (folder / "cv.arff").read_text()
    (folder / "cv.arff").write_text(text.replace(",9\n", ",1\n").replace(",10\n", ",1\n"))
    with pytest.raises(FileFormatError, match="in 9 and 10, got 20 and 0"):
        read_aslib_folder(folder)


@pytest.mark.parametrize(
    "measures",
    [
        "performance_measures: runtime\n",
        "performance_measures: [runtime, x]\n",
        'performance_measures:\n  - "runtime"\n',
    ],
)
def test_all_spellings_of_a_list_are_understood(tmp_path, measures):
    path = tmp_path / "description.txt"
    path.write_text(
        f"{measures}scenario_id: A\nmaximize: no\nperformance_type: runtime\nalgorithm_cutoff_time: 1.0e+08\n"
    )
    found = read_description(path)
    assert (found.measure, found.cutoff, found.maximize) == ("runtime", 1e8, False)


def test_a_description_without_entries_is_refused(tmp_path):
    (tmp_path / "description.txt").write_text("just a note")
    with pytest.raises(FileFormatError, match=r"must consist of lines such as .*, got 'just a note'"):
        read_description(tmp_path / "description.txt")


@pytest.mark.parametrize(("scenario", "key"), [("TOY", "cost01"), ("GRAPHS-2015", "cost01_alt")])
def test_an_archive_gives_its_own_costs_and_run_times(tmp_path, scenario, key):
    arrays = write_archive(tmp_path, scenario)
    is_test = arrays["fold"] >= 9
    train, test = read_aslib_npz(tmp_path / f"{scenario}.npz")
    np.testing.assert_array_equal(train.cost, arrays[key][~is_test])
    np.testing.assert_array_equal(test.cost, arrays[key][is_test])
    np.testing.assert_array_equal(train.price, arrays["perf"][~is_test])
    np.testing.assert_allclose(train.X.toarray().std(axis=0), 1, rtol=1e-5)


def test_an_archive_of_qualities_has_no_prices_and_failures_cost_1(tmp_path):
    arrays = write_archive(tmp_path, kind="solution_quality")
    train = read_aslib_npz(tmp_path / "TOY.npz").train
    ok = arrays["ok"][arrays["fold"] < 9] == 1
    assert not ok.all()
    assert (train.cost[~ok] == 1).all()
    np.testing.assert_array_equal(train.cost[ok], arrays["cost01_alt"][arrays["fold"] < 9][ok])
    assert train.price is None


def test_an_archive_needs_all_its_arrays_and_its_summary(tmp_path):
    write_archive(tmp_path)
    (tmp_path / "summary.json").write_text("[]")
    with pytest.raises(FileFormatError, match=r"summary.json must name TOY and its ptype"):
        read_aslib_npz(tmp_path / "TOY.npz")
    write_archive(tmp_path)
    np.savez(tmp_path / "TOY.npz", X=np.eye(2))
    with pytest.raises(FileFormatError, match=r"TOY.npz must hold perf, .* got X"):
        read_aslib_npz(tmp_path / "TOY.npz")
    (tmp_path / "TOY.npz").write_bytes(b"PK no archive")
    with pytest.raises(FileFormatError, match="must be a NumPy archive"):
        read_aslib_npz(tmp_path / "TOY.npz")
