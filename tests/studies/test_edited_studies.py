"""A study, its data or the code may change between two sweeps into one folder; a report shows the last sweep."""

import shutil

import numpy as np
import pytest

from coalface import CoalClassifier, CostDataset
from coalface.data.formats.readers import write_dataset
from coalface.structured.tagging.tagger import SequenceTagger
from coalface.studies import write_report_of
from coalface.studies.collect_results import collect_results
from coalface.studies.results import FILE, Results
from coalface.studies.study import Study
from coalface.studies.sweep import run_sweep
from tests.studies.studies import STUDIES


@pytest.fixture
def pets(tmp_path):
    """A folder with a file of data, and a function that runs a study beside it."""

    def sweep(text, name="mine"):
        study = Study.from_toml(f"permutations = 1\n{text}", name, folder=tmp_path, allow_plugins=True)
        return run_sweep(study, tmp_path / "out")

    write_pets(tmp_path)
    return tmp_path, sweep


def write_pets(folder, shift=0):
    truth = np.arange(40) % 2
    X = np.stack([truth, 1 - truth], axis=1) + np.linspace(0, 0.1, 40)[:, None]
    write_dataset(CostDataset.from_labels(X, (truth + shift) % 2), folder / "pets.npz")


def table(name="pets"):
    return f'[data.{name}]\ntrain = "pets.npz"\n'


def findings(folder):
    return collect_results(Results(folder / "out"))


def test_data_that_was_changed_and_changed_back_is_reported_as_it_is_now(pets):
    folder, sweep = pets
    sweep(table() + "[lines.coal]")
    first = findings(folder)
    write_pets(folder, shift=1)
    assert sweep(table() + "[lines.coal]").finished == 1
    assert findings(folder).data != first.data
    write_pets(folder)
    assert sweep(table() + "[lines.coal]").finished == 0
    assert findings(folder).data == first.data
    assert findings(folder).runs[0].auc == first.runs[0].auc


def test_lines_and_data_can_be_taken_out_and_put_back(pets):
    folder, sweep = pets
    both = 'data = ["iris", "wine"]\n[lines.coal]\n[lines.some]\nmellowness = 0.5\n'
    sweep(both)
    assert sweep('data = ["iris"]\n[lines.coal]').finished == 0
    assert [(run.data, run.line) for run in findings(folder).runs] == [("iris", "coal")]
    assert sweep(both).finished == 0
    assert len(findings(folder).runs) == 4


def test_renamed_data_keeps_its_runs_under_the_new_name(pets):
    folder, sweep = pets
    sweep(table() + "[lines.coal]")
    assert sweep(table("animals") + "[lines.mine]").finished == 0
    assert [(run.data, run.line) for run in findings(folder).runs] == [("animals", "mine")]


def test_two_names_for_one_file_are_one_run_shown_twice(pets):
    folder, sweep = pets
    assert sweep(table() + table("animals") + "[lines.coal]").cells == 1
    assert [run.data for run in findings(folder).runs] == ["pets", "animals"]


def test_a_study_that_cannot_run_leaves_the_report_as_it_was(pets):
    folder, sweep = pets
    sweep(table() + "[lines.coal]")
    with pytest.raises(ValueError, match=r"nothing\.npz"):
        sweep(table().replace("pets.npz", "nothing.npz") + "[lines.coal]")
    assert len(findings(folder).runs) == 1


def test_a_report_needs_neither_the_data_nor_the_study_file(pets, monkeypatch):
    folder, sweep = pets
    sweep(table() + "[lines.coal]", name="named by its file")
    (folder / "pets.npz").unlink()
    monkeypatch.delenv("COALFACE_DATA", raising=False)
    found = findings(folder)
    assert (found.name, found.title, len(found.runs)) == ("named by its file", "named by its file", 1)


def test_a_report_of_a_tagging_sweep_constructs_no_learner(pets, monkeypatch):
    folder, sweep = pets
    (folder / "words.conll").write_text("the D\ndog N\n\na D\ncat N\n\n" * 10)
    shutil.copy(STUDIES / "tagger.py", folder)
    tagged = 'plugins = ["tagger"]\n[data.words]\ntrain = "words.conll"\n[lines.tagger]\nlearner = "tagger"\n'
    assert sweep(tagged + '[lines.all]\nlearner = "tagger"\nrule = "passive"\n').finished == 2

    def unconstructible(*_, **__):
        raise AssertionError("a learner was constructed")

    for kind in (SequenceTagger, CoalClassifier):
        monkeypatch.setattr(kind, "__init__", unconstructible)
    assert "tagger" in write_report_of(folder / "out").read_text(encoding="utf-8")


def test_a_sweep_writes_nothing_but_its_own_files(pets):
    folder, sweep = pets
    (folder / "out").mkdir()
    (folder / "out" / "study.toml").write_text("mine")
    sweep(table() + "[lines.coal]")
    assert {path.name for path in (folder / "out").iterdir()} == {"study.toml", FILE}
    assert (folder / "out" / "study.toml").read_text() == "mine"


def test_changed_code_runs_again_and_the_report_shows_the_new_runs(pets, monkeypatch):
    folder, sweep = pets
    sweep(table() + "[lines.coal]")
    monkeypatch.setattr("coalface.studies.sweep.code_of", lambda _: {"coal": "other"})
    assert sweep(table() + "[lines.coal]").finished == 1
    assert len(findings(folder).runs) == 1
    assert len(Results(folder / "out").finished) == 2
