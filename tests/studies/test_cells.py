"""The key of a cell stands for everything that decides its result, and for nothing else."""

from coalface.data.known.catalogue import load_known
from coalface.studies import cells
from coalface.studies.cells import Cell, cells_of, code_of, fingerprint_of, opened, run_cell, save_problem
from coalface.studies.study import Study

from .studies import small_study

CODE = {"coal": "1"}


def keys(text='data = ["iris"]\npermutations = 1\n[lines.coal]\nlearning_rate = 0.1\n', data="a", code=CODE):
    return [cell.key for cell in cells_of(Study.from_toml(text), {"iris": data}, code)]


def test_settings_data_code_and_permutation_change_the_key():
    study = 'data = ["iris"]\npermutations = 1\n[lines.coal]\nlearning_rate = 0.1\n'
    others = [
        keys(study.replace("0.1", "0.2")),
        keys(study + "warm_up = 3\n"),
        keys("first_permutation = 1\n" + study),
        keys('budgets = "doubling"\n' + study),
        keys(data="b"),
        keys(code={"coal": "2"}),
    ]
    assert len({keys()[0], *(key for (key,) in others)}) == 7


def test_names_texts_and_the_order_of_settings_do_not():
    study = 'data = ["iris"]\npermutations = 1\n[lines.coal]\nlearning_rate = 0.1\nwarm_up = 3\n'
    turned = 'title = "Other"\ndata = ["iris"]\npermutations = 1\n'
    turned += "[settings]\nwarm_up = 3\n[lines.mine]\nlearning_rate = 0.1\n"
    assert keys(study) == keys(turned)


def test_the_code_of_a_rival_counts_for_that_rival_only(monkeypatch):
    study = small_study(lines='[lines.coal]\n[lines.some]\nlearner = "random-costs"\nshare = 0.5')
    before = code_of(study)
    cells._code_version.cache_clear()
    monkeypatch.setattr(cells, "_DECISIVE_FOR_RIVALS", ("errors.py",))
    after = code_of(study)
    cells._code_version.cache_clear()
    assert before["coal"] == after["coal"]
    assert before["random-costs"] != after["random-costs"]


def test_data_saved_for_other_processes_is_the_same_data(tmp_path):
    problem = load_known("iris")
    folder = save_problem(problem, tmp_path)
    assert fingerprint_of(opened(folder)) == fingerprint_of(problem)
    assert save_problem(problem, tmp_path) == folder
    assert len(list(tmp_path.iterdir())) == 1


def test_an_error_in_a_cell_is_a_text_in_its_record():
    cell = Cell("k", "iris", "coal", "coal", (("mellowness", -1.0),), 0, "doubling")
    record = run_cell(load_known("iris"), cell)
    assert record["error"] == "mellowness must be a finite number at least 0, got -1.0."
    assert "curve" not in record
    missing = run_cell("no such folder", cell)
    assert "There is no dataset folder" in missing["error"]
