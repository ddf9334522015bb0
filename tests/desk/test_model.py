"""The model is rebuilt after an undo; callers get a model that agrees with the log, or an error."""

import time

import numpy as np
import pytest

from coalface import CoalClassifier
from coalface.desk.project.project import Project
from coalface.desk.service.desk import Desk
from coalface.desk.service.model import LiveModel
from coalface.errors import ConflictError
from coalface.kernels.features import INTERCEPT
from tests.desk.projects import same_bits, small_project, work


@pytest.fixture
def desk(tmp_path):
    found = Desk(small_project(tmp_path / "mail"))
    work(found, n=12)
    yield found
    found.close()


@pytest.fixture
def broken(desk, monkeypatch):
    """A desk whose log cannot be replayed; ``monkeypatch.undo`` repairs it."""
    monkeypatch.setattr(Project, "new_learner", lambda _: 1 / 0)
    desk.undo("ada", learned(desk)[0])
    return desk


def learned(desk):
    """Answers with which examples began that the model has learned."""
    project, closed = desk.project, desk.state.counters.closed
    first = [answer for answer in desk.recent("ada", 1000) if answer.question_id.endswith(".0") and not answer.undone]
    return [answer.answer_id for answer in first if project.pool.place(answer.example_id) in closed]


def folded(desk):
    return LiveModel(desk.project, desk.state.log).learner


def test_a_rebuilding_that_fails_is_shown_and_nothing_stale_is_given(broken):
    for _ in range(2):
        with pytest.raises(ConflictError, match="division by zero"):
            broken.settle()
        with pytest.raises(ConflictError, match="were undone"):
            broken.export("model")
    overview = broken.overview()
    assert overview.rebuilding
    assert "division by zero" in overview.problem
    broken.close()
    assert list(broken.project.folder.glob("snapshot-*")) == []


def test_it_is_tried_again_until_it_works(broken, monkeypatch):
    with pytest.raises(ConflictError):
        broken.settle()
    monkeypatch.undo()
    work(broken, who="bob", n=3)
    deadline = time.monotonic() + 60
    while broken.overview().rebuilding and time.monotonic() < deadline:
        time.sleep(0.05)
    overview = broken.overview()
    assert (overview.rebuilding, overview.problem) == (False, None)
    assert same_bits(broken.state.model.learner, folded(broken))


def test_what_is_taken_back_while_the_log_is_folded_is_not_in_the_model(desk, monkeypatch):
    first, second, third = learned(desk)[:3]
    fold, more = LiveModel._fold, [second, third]

    def folding(model, learner, last):
        found = fold(model, learner, last)
        if more:
            desk.undo("ada", more.pop())
        return found

    monkeypatch.setattr(LiveModel, "_fold", folding)
    desk.undo("ada", first)
    desk.settle()
    monkeypatch.undo()
    assert more == []
    assert same_bits(desk.state.model.learner, folded(desk))
    assert not {first, second, third} & set(learned(desk))


def test_an_exported_model_is_what_the_log_said(desk, tmp_path):
    desk.undo("ada", learned(desk)[0])
    pieces = desk.export("model")
    wanted = folded(desk)
    work(desk, who="bob", n=5)  # while the pieces are on their way
    (tmp_path / "model.coalface").write_bytes(b"".join(pieces))
    assert same_bits(CoalClassifier.load(tmp_path / "model.coalface"), wanted)


def test_a_project_whose_model_has_interactions_is_replayed_and_exported(tmp_path):
    small_project(tmp_path / "mail", learner={"model": {"kind": "OnlineModel", "interactions": 2}})
    desk = Desk(Project.open(tmp_path / "mail"))
    try:
        work(desk, n=12)
        desk.settle()
        products = desk.state.model.learner.model_.arrays()["features"] < INTERCEPT
        assert products.sum() > 10
        assert same_bits(desk.state.model.learner, folded(desk))
        (tmp_path / "model.coalface").write_bytes(b"".join(desk.export("model")))
        assert same_bits(CoalClassifier.load(tmp_path / "model.coalface"), folded(desk))
    finally:
        desk.close()


def test_a_project_may_have_a_committee(tmp_path):
    vectors = np.random.default_rng(0).normal(size=(120, 6))
    small_project(tmp_path / "mail", features=vectors, learner={"model": "auto"})
    desk = Desk(Project.open(tmp_path / "mail"))
    try:
        work(desk, n=60)
        desk.undo("ada", learned(desk)[0])  # rebuilds the model
        desk.settle()
        assert [member.name for member in desk.state.model.learner.committee_] == ["online", "forest", "rbf"]
        pieces, wanted = desk.export("model"), folded(desk)
        assert same_bits(desk.state.model.learner, wanted)
        work(desk, who="bob", n=20)  # while the pieces are on their way
        (tmp_path / "model.coalface").write_bytes(b"".join(pieces))
        assert same_bits(CoalClassifier.load(tmp_path / "model.coalface"), wanted)
    finally:
        desk.close()
    again = Desk(Project.open(tmp_path / "mail"))  # from its snapshot
    try:
        assert again.state.model.kept[0] > 0
        assert same_bits(again.state.model.learner, desk.state.model.learner)
    finally:
        again.close()
