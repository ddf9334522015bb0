"""The key of a cell depends on everything that determines its result, and on nothing else."""

import shutil
from pathlib import Path

import pytest

import coalface
from coalface.data import read_train_test
from coalface.studies import cells
from coalface.studies.cells import Cell, cells_of, code_of, fingerprint_of, run_cell, save_problem
from coalface.studies.known.catalogue import load_known
from coalface.studies.study import Study

from .studies import small_study

CODE = {"coal": "1"}


def keys(text='data = ["iris"]\npermutations = 1\n[lines.coal]\nlearning_rate = 0.1\n', data="a", code=CODE):
    return [cell.key for cell in cells_of(Study.from_toml(text), {"iris": data}, code)]


def test_settings_data_code_and_permutation_change_the_key():
    study = 'data = ["iris"]\npermutations = 1\n[lines.coal]\nlearning_rate = 0.1\n'
    others = [
        keys(study.replace("0.1", "0.2")),
        keys(study + "rule.warm_up = 3\n"),
        keys("first_permutation = 1\n" + study),
        keys('checkpoints = "doubling"\n' + study),
        keys(data="b"),
        keys(code={"coal": "2"}),
    ]
    assert len({keys()[0], *(key for (key,) in others)}) == 7


def test_names_texts_and_the_order_of_settings_do_not():
    study = 'data = ["iris"]\npermutations = 1\n[lines.coal]\nlearning_rate = 0.1\nrule.warm_up = 3\n'
    turned = 'title = "Other"\ndata = ["iris"]\npermutations = 1\n'
    turned += "[settings]\nrule.warm_up = 3\n[lines.mine]\nlearning_rate = 0.1\n"
    assert keys(study) == keys(turned)


PACKAGE = Path(coalface.__file__).parent
STEERS_RUNS = ["learner/telling.py", "evaluate/checkpoints.py", "studies/learners.py"]
STEERS_RUNS += [f"{package}/__init__.py" for package in ("data", "files", "kernels", "models", "rounds", "learner")]
READS_RESULTS = ["studies/report/pages.py", "studies/demo.py"]


@pytest.fixture
def versions_after(tmp_path, monkeypatch):
    """A function that gives the code versions of all learners after a line was added to one source file."""
    copy = tmp_path / "coalface"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(cells, "__file__", str(copy / "studies" / "cells.py"))
    lines = '[lines.coal]\n[lines.tagger]\nlearner = "tagger"\n[lines.ridge]\nlearner = "ridge"'
    study = small_study(lines=lines, plugins=["tagger"])
    monkeypatch.setattr(type(study.lines[1].learner), "sources", (copy / "structured",))

    def versions(file, line):
        source = (PACKAGE / file).read_text(encoding="utf-8")
        (copy / file).write_text(f"{source}\n{line}\n", encoding="utf-8")
        cells._code_version.cache_clear()
        found = code_of(study)
        (copy / file).write_text(source, encoding="utf-8")
        cells._code_version.cache_clear()
        return found

    return versions


@pytest.mark.parametrize("file", STEERS_RUNS)
def test_an_edit_of_code_that_steers_runs_changes_every_key_and_a_comment_does_not(versions_after, file):
    before, after = versions_after(file, "# a comment"), versions_after(file, "EDITED = True")
    assert before == versions_after(file, "")
    assert all(before[learner] != after[learner] for learner in before)


@pytest.mark.parametrize("file", READS_RESULTS)
def test_an_edit_of_a_report_changes_no_key(versions_after, file):
    assert versions_after(file, "EDITED = True") == versions_after(file, "")


def test_an_edit_of_the_tagger_changes_its_keys_only(versions_after):
    before, after = (versions_after("structured/tagging/tagger.py", line) for line in ("", "EDITED = True"))
    assert [learner for learner in before if before[learner] != after[learner]] == ["tagger"]


def test_data_saved_for_other_processes_is_the_same_data(tmp_path):
    problem = load_known("iris")
    folder = save_problem(problem, tmp_path)
    assert fingerprint_of(read_train_test(Path(folder))) == fingerprint_of(problem)
    assert save_problem(problem, tmp_path) == folder
    assert len(list(tmp_path.iterdir())) == 1


def test_an_error_in_a_cell_is_a_text_in_its_record():
    cell = Cell("k", "iris", "coal", "coal", (("mellowness", -1.0),), 0, "doubling")
    record = run_cell(load_known("iris"), cell)
    assert record["error"] == "mellowness must be a finite number at least 0, got -1.0."
    assert "curve" not in record
    missing = run_cell("no such folder", cell)
    assert "There is no dataset folder" in missing["error"]
