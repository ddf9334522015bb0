"""The logger "coalface" says in a few lines what long work does; nothing is printed."""

import logging

import numpy as np
import pytest

from coalface import CoalClassifier
from coalface.desk.service.desk import Desk
from coalface.learner.named_learner import NamedLearner
from coalface.learner.streaming import Stream, Training
from coalface.models.forest import model as forest
from coalface.studies import run_sweep
from tests.desk.projects import costs_for, small_project, work
from tests.studies.studies import small_study


@pytest.fixture
def said(caplog, capfd):
    """A function that gives the messages so far; nothing may have been printed."""
    caplog.set_level(logging.INFO, logger="coalface")

    def messages():
        assert capfd.readouterr() == ("", "")
        return [record.getMessage() for record in caplog.records if record.name == "coalface"]

    return messages


def test_training_on_a_file(tmp_path, said):
    (tmp_path / "pets.csv").write_text("weight,kind\n4,cat\n20,dog\n")
    Training(NamedLearner(CoalClassifier()), Stream(tmp_path / "pets.csv", "auto", {"label": "kind"})).run()
    first, second, third = said()
    assert first == f"reading {tmp_path / 'pets.csv'}"
    assert second == "learning CostDataset('pets', 2 examples, 1 feature, 2 labels)"
    assert third.startswith(f"read and learned {tmp_path / 'pets.csv'} in 0.")


def test_growing_large_forests(said, monkeypatch):
    monkeypatch.setattr(forest, "_LARGE", 20)
    X = np.random.default_rng(0).normal(size=(30, 2))
    CoalClassifier(["a", "b"], model="forest").tell(X, (X > 0).astype(float))
    lines = said()
    assert lines
    assert set(lines) <= {f"growing a forest from {n} answered costs" for n in range(20, 61)}


def test_a_sweep(tmp_path, said):
    run_sweep(small_study(permutations=1), tmp_path, "threads", 1)
    first, last = said()
    assert first.endswith("to do, 0 done before, with 1 threads")
    assert last.endswith(", 0 failed")


def test_a_desk_that_closes_and_rebuilds(tmp_path, said):
    desk = Desk(small_project(tmp_path / "mail"))
    try:
        question = desk.lease("ada")
        receipt = desk.answer("ada", question.id, question.lease_id, costs_for(question), "k")
        desk.undo("ada", receipt.answer_id)
        desk.settle()
        work(desk, n=4)
    finally:
        desk.close()
    lines = said()
    assert any(line.startswith("the model was rebuilt from the log, up to event") for line in lines)
    assert any(line.startswith(f"wrote {desk.project.folder}") for line in lines)
