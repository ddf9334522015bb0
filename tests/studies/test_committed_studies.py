"""The committed studies: their files can be read, and their reports come from their tables byte for byte."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from coalface import CoalClassifier, OnlineModel
from coalface.learner.parameters import nested
from coalface.learner.state import settings_of
from coalface.studies.learners import CLASSIFIERS
from coalface.studies.report.pages import write_report
from coalface.studies.study import Study
from coalface.studies.tables import read_tables

STUDIES = Path(__file__).parents[2] / "studies"
EVERY = sorted(path.stem for path in STUDIES.glob("*.toml"))
DRAWN = EVERY[::8]  # Matplotlib takes most of the time to draw what was put into a figure
COMPARED = [name for name in EVERY if name.startswith("default-")]
GRIDS = {"default-digits": "rivals-digits", "default-digits-distance": "rivals-digits", "default-in20": "imagenet20"}
GRIDS |= {"default-in40": "imagenet40", "default-newsgroups20": "text", "default-clinc150": "text"}


def test_there_is_a_result_beside_every_study():
    assert len(EVERY) >= 5
    assert sorted(path.parent.name for path in STUDIES.glob("*/sweep.json")) == EVERY


@pytest.mark.parametrize("name", EVERY)
def test_a_result_has_every_run_of_its_study(name):
    study, findings = Study.read(STUDIES / f"{name}.toml", allow_plugins=True), read_tables(STUDIES / name)
    assert [line.name for line in study.lines] == list(findings.lines)
    assert [source.name for source in study.sources] == [data.name for data in findings.data]
    assert len(findings.runs) == study.n_cells
    assert (findings.missing, findings.failures) == (0, ())


@pytest.mark.parametrize("name", EVERY)
def test_a_study_keeps_its_meaning_when_the_defaults_of_the_learner_change(name):
    for line in Study.read(STUDIES / f"{name}.toml", allow_plugins=True).lines:
        if line.learner.name == "coal" and not line.name.startswith(("default", "online")):
            # alike is for batches, and the online model has no rate of misses
            settings = {
                "model.learning_rate": line.rates[0],
                "rule.alike": None,
                "rule.miss_rate": None,
                **line.settings,
            }
            if line.rule == "passive":
                settings["mellowness"] = 0.01  # means nothing there
            changed = {path.replace(".", "__"): value for path, value in settings.items()}
            published = CoalClassifier.as_published(**{"rule__warm_up": 10, **changed})
            learner = CLASSIFIERS["coal"](**nested(settings, {"model": {"kind": "online"}}))
            assert settings_of(learner.begin(["a", "b"])) == settings_of(published.begin(["a", "b"])), line.name


def blank_page(_figure, file, **_):
    file.write('<svg viewBox="0 0 1 1"></svg>')


@pytest.mark.parametrize("name", EVERY)
def test_the_tables_alone_give_the_savings_and_the_figures_again(name, tmp_path, monkeypatch):
    if name not in DRAWN:
        monkeypatch.setattr(Figure, "savefig", blank_page)
    for file in (STUDIES / name).glob("*.*"):
        shutil.copy(file, tmp_path)
    page = write_report(tmp_path)
    assert page.name == "report.html"
    for made in ("tables/savings.csv", "tables/mean_savings.csv", "tables/best_rates.csv"):
        assert (tmp_path / made).read_bytes() == (STUDIES / name / made).read_bytes(), made
    figures = {path.name for path in (STUDIES / name / "figures").iterdir()}
    assert figures == {path.name for path in (tmp_path / "figures").iterdir()}


@pytest.mark.parametrize("name", COMPARED)
def test_the_online_model_is_compared_without_any_setting(name):
    study = Study.read(STUDIES / f"{name}.toml", allow_plugins=True)
    lines = {line.name: line for line in study.lines}
    kinds = dict.fromkeys(name.split()[0] for name in lines if name != "vw")
    assert list(kinds) == ["passive", "hindsight", "published", "online"]
    online = lines["online"]
    assert (online.settings, online.rates) == ({}, (OnlineModel().learning_rate,))
    for recommended in (lines[name] for name in ("published", "vw") if name in lines):
        assert (recommended.settings["mellowness"], recommended.rates) == (0.01, (0.5,))


def tried(name, data, permutations, field):
    """The median of a field over some permutations, by mellowness (None for passive) and learning rate."""
    found = {}
    for run in read_tables(STUDIES / name).runs:
        if run.data == data and run.permutation in permutations and run.rule in ("passive", "coal"):
            mellowness = None if run.rule == "passive" else float(run.line.split()[1])
            found.setdefault((mellowness, run.learning_rate), []).append(getattr(run, field))
    assert {len(values) for values in found.values()} == {len(permutations)}
    return {setting: np.median(values) for setting, values in found.items()}


@pytest.mark.parametrize("name", COMPARED)
def test_hindsight_has_the_best_area_and_passive_the_best_end_on_as_many_other_permutations(name):
    study = Study.read(STUDIES / f"{name}.toml", allow_plugins=True)
    grid = GRIDS.get(name, name.removeprefix("default-"))
    every = Study.read(STUDIES / f"{grid}.toml", allow_plugins=True).permutations
    chosen_on = every[: len(study.permutations)]
    assert not set(every) & set(study.permutations)
    used = {kind: set() for kind in ("passive", "hindsight")}
    for line in study.lines:
        if (kind := line.name.split()[0]) in used:
            used[kind] |= {(line.settings.get("mellowness"), rate) for rate in line.rates}
    if len(study.sources) > 1:  # many small datasets: hindsight has the whole grid, and is chosen for each of them
        whole = {(mellowness, rate) for mellowness, rate in tried(grid, study.sources[0].name, chosen_on, "auc")}
        assert used["hindsight"] | used["passive"] == whole
        return
    (source,) = study.sources
    areas = tried(grid, source.name, chosen_on, "auc")
    assert min((setting for setting in areas if setting[0] is not None), key=areas.get) in used["hindsight"]
    assert used["hindsight"] <= set(areas)
    ends = tried(grid, source.name, chosen_on, "test_cost")
    assert {min((setting for setting in ends if setting[0] is None), key=ends.get)} == used["passive"]
