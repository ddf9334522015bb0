"""The study of questions under Massart noise: its runs, its tables, and that any learner can take part."""

import runpy
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).parents[2] / "studies" / "massart.py"
STUDY = runpy.run_path(str(SCRIPT))
Line, Checkpoint = STUDY["Line"], STUDY["Checkpoint"]


class AsksTheFirstLabel:
    """As little as a learner must have; always answers with the first label."""

    def __init__(self):
        self.examples_queried_ = self.costs_queried_ = self.batches = 0

    def ask(self, X):
        mask = np.zeros((len(X), STUDY["N_LABELS"]), bool)
        mask[:, 0] = True
        return type("Asked", (), {"mask": mask})

    def tell(self, X, cost, asked):
        assert np.array_equal(~np.isnan(cost), asked)
        self.batches += 1
        self.examples_queried_ += len(X)
        self.costs_queried_ += int(asked.sum())

    def predict(self, X):
        return np.zeros(len(X))


def test_any_learner_with_ask_and_tell_can_run():
    learner = AsksTheFirstLabel()
    first, last = STUDY["run_line"]("mine", Line(lambda _problem, _seed: learner), 3, [100, 400])
    assert (first.examples, first.costs_queried, last.costs_queried) == (100, 100, 400)
    assert learner.batches == 200 + 50 + 33 + 1  # one by one to 200, two at a time to 300, three to 399
    _, expected, _ = STUDY["problem_for"](3).draw(STUDY["N_TEST"], seed=7)
    assert last.excess_cost == pytest.approx((expected[:, 0] - expected.min(axis=1)).mean())


def test_a_run_stops_where_its_line_can_no_longer_be_afforded():
    made = STUDY["run_line"]("mine", Line(lambda _problem, _seed: AsksTheFirstLabel(), 250), 0, [100, 200, 300])
    assert [point.examples for point in made] == [100, 200]


@pytest.mark.parametrize("name", ["online", "finite", "theorem"])
def test_the_lines_of_the_study_run_and_only_the_theorems_constants_ask_for_everything(name):
    (point,) = STUDY["run_line"](name, STUDY["LINES"][name], 0, [100])
    share = point.costs_queried / (100 * STUDY["N_LABELS"])
    assert share > 0.98 if name == "theorem" else 0.02 < share < 0.8


def test_the_growth_of_a_logarithm_and_of_a_line_differ():
    points = [100, 1_000, 3_000, 10_000, 100_000]
    runs = [Checkpoint("finite", 0, n, n, round(100 * np.log(n)), 0.0) for n in points]
    runs += [Checkpoint("passive", 0, n, n, 5 * n, 0.0) for n in points]
    passive, finite = STUDY["growth_rows"](runs)
    rows = {row[0]: dict(zip(STUDY["GROWTH"], row, strict=True)) for row in (passive, finite)}
    assert rows["passive"]["power"] == pytest.approx(1)
    assert rows["passive"]["share"] == 1
    assert rows["finite"]["slope"] == pytest.approx(100, rel=0.01)
    assert rows["finite"]["by_log"] > 0.999 > rows["finite"]["by_line"]


def _cells(path):
    """The cells of a table; numbers may differ in their last digits, as those of SciPy 1.17 and 1.18 do."""

    def value(cell):
        try:
            return pytest.approx(float(cell), rel=1e-9, abs=1e-12)
        except ValueError:
            return cell

    return [[value(cell) for cell in line.split(",")] for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_tables_and_the_figure_come_from_the_runs_alone(tmp_path):
    (tmp_path / "runs.csv").write_bytes((SCRIPT.with_suffix("") / "runs.csv").read_bytes())
    STUDY["main"](["--draw", "--out", str(tmp_path)])
    for name in ("runs.csv", "growth.csv", "beginnings.csv"):
        made, kept = (_cells(folder / name) for folder in (tmp_path, SCRIPT.with_suffix("")))
        assert made == kept, name
    assert "<svg" in (tmp_path / "massart.svg").read_text()


def test_what_is_run_again_replaces_its_runs_and_keeps_the_others(tmp_path):
    keep = Checkpoint("passive", 0, 100, 100, 500, 0.1)
    with pytest.raises(SystemExit):
        STUDY["main"](["--lines", "nobody", "--out", str(tmp_path)])
    STUDY["write"](tmp_path, [keep, Checkpoint("online", 9, 100, 1, 1, 0.5)])
    STUDY["main"](["--lines", "online", "--seeds", "1", "--most", "100", "--out", str(tmp_path)])
    runs = STUDY["read_runs"](tmp_path / "runs.csv")
    assert keep in runs
    assert [point.seed for point in runs if point.line == "online"] == [0]
