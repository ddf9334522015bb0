"""Vowpal Wabbit as a baseline, compared with direct runs of it."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from baselines import vw
from coalface.data import CostDataset
from coalface.errors import CoalfaceError, InputError
from tests.studies.baseline_problems import BASELINES, order_of, pets, priced, prices_for, with_table

pytest.importorskip("vowpalwabbit")
from tests.reference.vw import collision_free_bits, example_line, run_cs_active

TEST = pets(40, seed=1)
SETTINGS = {"mellowness": 0.02, "learning_rate": 0.4}


def run(train, checkpoints=(20, 50, 90)):
    return BASELINES["vw"].curve(SETTINGS, train, TEST, order_of(train), np.array(checkpoints), 0)


def direct_test_cost(folder, examples, n_rows):
    """Learn the first rows by one command, predict by another."""
    X = examples.X.toarray()
    lines = [example_line(X[i], examples.cost[i]) for i in range(n_rows)]
    (folder / "train").write_text("\n".join(lines) + "\n")
    (folder / "test").write_text("\n".join(example_line(row, []) for row in TEST.X.toarray()) + "\n")
    options = (
        f"--cs_active 3 --simulation --adax --mellowness 0.02 -l 0.4 -b {collision_free_bits(3, 4)} -d train -f model"
    )
    learned = _vw(folder, options)
    _vw(folder, "-t -i model -d test -p chosen --quiet")
    chosen = np.array([int(line.split()[0]) for line in (folder / "chosen").read_text().splitlines()]) - 1
    asked = int(re.search(r"total queries = (\d+)", learned)[1])
    return asked, TEST.cost[np.arange(len(TEST)), chosen].mean()


def _vw(folder, options):
    command = [sys.executable, "-m", "vowpalwabbit", *options.split()]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stderr


def test_costs_asked_and_test_costs_equal_direct_runs_over_all_and_over_part_of_the_data(tmp_path):
    data = pets()
    curve = run(with_table(data, feature_names=["a b", "c:d", "|", "e"]))  # names that VW could not read
    assert len(curve.rounds) == 4
    assert 20 <= curve.costs_queried[0] < 210
    for number, n_rows in enumerate(curve.rounds.tolist()):
        asked, test_cost = direct_test_cost(tmp_path, data.subset(order_of(data)), n_rows)
        assert curve.costs_queried[number] == asked
        assert curve.test_cost[number] == pytest.approx(test_cost)


def test_examples_asked_about_are_those_of_its_log():
    data = pets()
    examples = data.subset(order_of(data))
    reference = run_cs_active(examples.X.toarray(), examples.cost, **SETTINGS)
    curve = run(data)
    assert curve.rounds[-1] == 70
    for n_rows, costs, asked_about in zip(curve.rounds, curve.costs_queried, curve.examples_queried, strict=True):
        assert costs == reference.queried[:n_rows].sum()
        assert asked_about == reference.queried[:n_rows].any(axis=1).sum()
    assert 0 < curve.examples_queried[-1] < 70


def test_costs_that_were_not_asked_for_change_nothing():
    data = with_table(pets())
    order = order_of(data)
    asked = np.empty((70, 3), bool)
    asked[order] = run_cs_active(data.X[order].toarray(), data.cost[order], **SETTINGS).queried
    other = with_table(data, cost=np.where(asked, data.cost, 1 - data.cost))
    given, changed = run(data), run(other)
    assert changed.test_cost.tolist() == given.test_cost.tolist()
    assert changed.costs_queried.tolist() == given.costs_queried.tolist()


def test_candidates_unknown_costs_and_examples_without_any_are_counted_as_it_counts_them():
    random = np.random.default_rng(2)
    data = pets()
    candidates = random.random((70, 3)) < 0.8
    candidates[:, 2] = True
    cost = np.where(random.random((70, 3)) < 0.8, data.cost, np.nan)
    cost[:20:5] = np.nan
    some = with_table(data, cost=cost, candidates=candidates)
    order = order_of(data)
    visible = np.where(candidates, cost, np.nan)[order]
    listed = candidates[order] & ~np.isnan(visible).all(axis=1, keepdims=True)
    assert 0 < (~listed.any(axis=1)).sum() < 35
    reference = run_cs_active(data.X[order].toarray(), visible, listed=listed, **SETTINGS)
    curve = run(priced(some))
    assert curve.costs_queried[-1] == reference.queried.sum()
    assert curve.examples_queried[-1] == reference.queried.any(axis=1).sum()
    paid = (prices_for(data)[order] * reference.queried).sum(axis=1)
    assert curve.spent == pytest.approx([paid[:n_rows].sum() for n_rows in curve.rounds])


def test_its_files_are_the_same_on_a_system_with_another_encoding_and_other_line_ends(monkeypatch):
    written, usual_open, learn = [], Path.open, vw._Session._learn

    def open_elsewhere(path, mode="r", buffering=-1, encoding=None, errors=None, newline=None):
        if "b" not in mode:
            encoding = encoding or "utf-16"
            newline = "\r\n" if newline is None and mode == "w" else newline
        return usual_open(path, mode, buffering, encoding, errors, newline)

    def spy(session, name, *rest, **options):
        written.append((session.folder / name).read_bytes())
        return learn(session, name, *rest, **options)

    monkeypatch.setattr(Path, "open", open_elsewhere)
    monkeypatch.setattr(vw._Session, "_learn", spy)
    run(pets())
    first, second = written
    assert re.sub(rb"'save_model\d+ \|\n", b"", second) == first
    assert second != first


def test_a_run_that_is_stopped_takes_its_process_with_it(monkeypatch):
    killed, kill = [], subprocess.Popen.kill

    def spy(process):
        killed.append(process)
        kill(process)

    def stop(_done, _total):
        raise InterruptedError

    monkeypatch.setattr(subprocess.Popen, "kill", spy)
    with pytest.raises(InterruptedError):
        BASELINES["vw"].curve(SETTINGS, pets(), TEST, range(70), progress=stop)
    assert [process.poll() is not None for process in killed] == [True]


def test_the_error_of_a_failure_quotes_its_last_line(tmp_path):
    session = vw._Session.__new__(vw._Session)
    session.folder = tmp_path
    with pytest.raises(CoalfaceError, match=r"exit code 1: .*no_such_option"):
        session._vw(["-d", "nothing", "--no_such_option"], lambda _line: None)


@pytest.mark.parametrize(("n_features", "n_labels"), [(2**25, 2), (2**23, 100)])
def test_a_table_that_would_not_fit_is_refused(n_features, n_labels):
    wide = CostDataset(csr_array((4, n_features)), np.zeros((4, n_labels)))
    with pytest.raises(InputError, match=rf"{n_features} features and {n_labels} labels is too large .*2\^28 weights"):
        BASELINES["vw"].curve({}, wide, wide, range(4))


@pytest.mark.parametrize(("n_features", "n_labels"), [(6_000, 40), (47_236, 102), (1, 2)])
def test_the_table_is_the_smallest_that_holds_features_and_intercept_apart(n_features, n_labels):
    label_bits = (n_labels - 1).bit_length()
    places = [{number % 2**bits for number in (*range(n_features), vw._CONSTANT)} for bits in range(26 - label_bits)]
    wanted = next(bits for bits, found in enumerate(places) if len(found) == n_features + 1)
    assert vw.table_bits(n_features, n_labels) == wanted + label_bits


def test_the_reference_refuses_more_features_than_lie_before_the_intercept():
    assert collision_free_bits(2, 11_650_396) == 25
    with pytest.raises(ValueError, match=r"at most 11650396 features .*, got 11650397"):
        collision_free_bits(2, 11_650_397)


def test_mellowness_is_checked():
    with pytest.raises(InputError, match=r"^mellowness must be"):
        BASELINES["vw"].check({"mellowness": -0.1}, n_labels=3)
