"""The logger "coalface" says in a few lines what long work does; nothing is printed."""

import logging
import re
import subprocess
import sys
import time
from itertools import count

import numpy as np
import pytest

from coalface import CoalClassifier, read_dataset
from coalface.cli import main
from coalface.desk.service.desk import Desk
from coalface.kernels.compile import kernel
from coalface.learner.named_learner import NamedLearner
from coalface.learner.streaming import Stream, Training
from coalface.long_work import LongWork
from coalface.models.forest import model as forest
from coalface.studies import run_sweep
from tests.desk.projects import costs_for, small_project, work
from tests.studies.studies import small_study


@pytest.fixture
def said(caplog, capfd):
    """A function that gives the messages so far, without those about compiling, which depend on earlier tests.

    Nothing may have been printed.
    """
    caplog.set_level(logging.DEBUG, logger="coalface")

    def messages(about_compiling=False):
        assert capfd.readouterr() == ("", "")
        found = [record.getMessage() for record in caplog.records if record.name in ("coalface", "coalface.work")]
        return [message for message in found if message.startswith("compiling ") == about_compiling]

    return messages


@pytest.fixture
def everything_takes_long(monkeypatch):
    """A clock that moves by a minute whenever it is read, and timers that have run out."""

    class Now:
        def __init__(self, _, function, arguments):
            self.start, self.cancel = lambda: function(*arguments), lambda: None

    monkeypatch.setattr("coalface.long_work.Timer", Now)
    monkeypatch.setattr("coalface.long_work.perf_counter", count(step=60).__next__)


def test_work_is_logged_once_it_takes_long(said):
    with LongWork("counting", after=0.05):
        time.sleep(0.1)
        first = said()
    with LongWork("counting quickly", after=5.0):
        pass
    assert first == ["counting ..."]
    assert said()[1:] == [said()[-1]]
    assert re.fullmatch(r"counting: done in 0\.\d s", said()[-1])


def test_work_that_fails_is_not_done(said, everything_takes_long):
    with pytest.raises(ZeroDivisionError), LongWork("dividing", after=1.0):
        _ = 1 / 0
    assert said() == ["dividing ..."]


def test_a_fit_and_the_files_it_is_kept_in(tmp_path, said, everything_takes_long):
    CoalClassifier().fit([[0.0], [1.0]], ["a", "b"]).save(tmp_path / "m.coal")
    CoalClassifier.load(tmp_path / "m.coal")
    (tmp_path / "pets.csv").write_text("weight,kind\n4,cat\n20,dog\n")
    read_dataset(tmp_path / "pets.csv", label="kind")
    reading = [f"reading {tmp_path / name}" for name in ("m.coal", "pets.csv")]
    assert said() == [
        f"{what}{end}" for what in ("fitting CoalClassifier", *reading) for end in (" ...", ": done in 60.0 s")
    ]


def test_the_compilation_of_a_kernel_and_of_those_that_it_calls(said, everything_takes_long):
    inner = kernel(lambda x: x + 1)

    def outer(x):
        return inner(x)

    assert kernel(outer)(1) == 2
    name = "test_the_compilation_of_a_kernel_and_of_those_that_it_calls.<locals>.outer"
    begun = f"compiling {name} for this machine; the machine code is kept"
    assert said(about_compiling=True) == [f"{begun} ...", f"{begun}: done in 60.0 s"]


def test_the_command_line_shows_the_log_on_standard_error(tmp_path, capsys, everything_takes_long):
    (tmp_path / "pets.csv").write_text("weight,kind\n4,cat\n20,dog\n")
    assert main(["data", "info", f"{tmp_path}/pets.csv", "--label", "kind"]) == 0
    line = f"coalface: reading {tmp_path}/pets.csv"
    assert capsys.readouterr().err.splitlines() == [f"{line} ...", f"{line}: done in 60.0 s"]


def test_a_program_that_sets_up_no_log_sees_nothing():
    program = "import logging, coalface; logging.getLogger('coalface').error('a secret')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_training_on_a_file(tmp_path, said, everything_takes_long):
    (tmp_path / "pets.csv").write_text("weight,kind\n4,cat\n20,dog\n")
    Training(NamedLearner(CoalClassifier()), Stream(tmp_path / "pets.csv", "auto", {"label": "kind"})).run()
    learning = "learning CostDataset('pets', 2 examples, 1 feature, 2 labels)"
    begun, block, ended = said()
    assert (begun, block) == (f"reading and learning {tmp_path / 'pets.csv'} ...", learning)
    assert ended == f"reading and learning {tmp_path / 'pets.csv'}: done in 60.0 s"


def test_growing_large_forests(said, monkeypatch, everything_takes_long):
    monkeypatch.setattr(forest, "_LARGE", 20)
    X = np.random.default_rng(0).normal(size=(30, 2))
    CoalClassifier(["a", "b"], model="forest").tell(X, (X > 0).astype(float))
    lines = said()
    assert lines
    growing = {f"growing a forest from {n} answered costs" for n in range(20, 61)}
    assert set(lines) <= {f"{what}{end}" for what in growing for end in (" ...", ": done in 60.0 s")}


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
