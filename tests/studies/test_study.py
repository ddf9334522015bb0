"""A study file: what it says, and one line for what is wrong with it."""

import numpy as np
import pytest

from coalface import CoalClassifier, simulate
from coalface.data.formats.readers import write_dataset
from coalface.data.known.catalogue import load_known
from coalface.errors import StudyError
from coalface.studies.cells import cells_of, code_of, run_cell
from coalface.studies.learners import order_of, run
from coalface.studies.study import Study
from coalface.studies.toml_lines import places

WHOLE = """name = "whole"
title = "Everything"
text = "All keys."
permutations = 3
first_permutation = 5
budgets = [100, 200]
baseline = "coal 0.1"
data = ["digits", "iris"]

[settings]
learning_rate = [0.1, 0.3]
warm_up = 5

[lines.coal]
mellowness = [0.1, 0.01]
sensitivity = ["shadow", "derivative"]

[lines.half]
learner = "random-costs"
share = 0.5
"""


def test_lists_multiply_into_lines_and_learning_rates_into_cells():
    study = Study.from_toml(WHOLE.replace("coal 0.1", "half"))
    names = ["coal 0.1 shadow", "coal 0.1 derivative", "coal 0.01 shadow", "coal 0.01 derivative", "half"]
    assert [line.name for line in study.lines] == names
    assert study.lines[1].settings == {"mellowness": 0.1, "sensitivity": "derivative", "warm_up": 5}
    assert study.lines[1].rates == (0.1, 0.3)
    assert study.n_cells == 2 * 3 * 5 * 2
    cells = list(cells_of(study, {"digits": "a", "iris": "b"}, code_of(study)))
    assert len({cell.key for cell in cells}) == len(cells) == study.n_cells
    assert {cell.permutation for cell in cells} == {5, 6, 7}


def test_a_line_may_ask_in_batches():
    study = Study.from_toml('data = ["iris"]\n[lines.coal]\nbatch = [1, 10]\naudit_rate = 0.2')
    assert [line.name for line in study.lines] == ["coal 1", "coal 10"]
    train, test = problem = load_known("iris")
    for line in study.lines:
        learner = CoalClassifier(classes=train.classes, audit_rate=0.2, random_state=3)
        batch, test_set = line.settings["batch"], {"X_test": test.X, "cost_test": test.cost}
        curve = simulate(learner, train.X, train.cost, order=order_of(3, len(train)), batch=batch, **test_set)
        found = run(line.learner, line.settings, problem, 3, "doubling")
        assert found.costs_queried.tolist() == curve.costs_queried.tolist()
        assert found.test_cost.tolist() == curve.test_cost.tolist()
    assert np.all(found.rounds[:-1] % 10 == 0)


def test_what_is_not_said_has_a_default():
    study = Study.from_toml('data = ["iris"]\n[lines.coal]', name="mine")
    assert (study.name, study.title, study.baseline, study.budgets) == ("mine", "mine", "coal", "quarter-doubling")
    assert (study.permutations, study.lines[0].rates) == (range(20), (CoalClassifier().learning_rate,))


@pytest.mark.parametrize(
    ("old", "new", "line", "rule"),
    [
        ("permutations = 3", "permutations = 0", 4, "permutations must be a whole number from 1 on, got 0"),
        ("permutations = 3", "permutations = true", 4, "permutations must be a whole number from 1 on, got True"),
        ("budgets = [100, 200]", "budgets = [200, 100]", 6, "budgets must be increasing whole numbers"),
        ('baseline = "coal 0.1"', 'baseline = "x"', 7, "baseline must be one of coal 0.1 shadow, .*, half, got 'x'"),
        ('["digits", "iris"]', "[]", 8, "data must name at least one dataset"),
        ('["digits", "iris"]', "[3]", 8, "data must be a list of names, got 3 in it"),
        ('["digits", "iris"]', '["nothing*"]', 8, "data has no known name like 'nothing\\*'"),
        ("[0.1, 0.3]", '"fast"', 11, "learning_rate must be 'auto' or a number, got 'fast'"),
        ("warm_up = 5", "warm_up = 5.5", 12, "warm_up must be a whole number of at least 0, got 5.5"),
        ("warm_up = 5", "colour = 5", 12, "settings.colour is not known here; possible are .*mellowness"),
        ("[0.1, 0.01]", "[0.1, -1]", 15, "mellowness must be a finite number at least 0, got -1"),
        ('"derivative"', '"guess"', 16, "sensitivity must be one of .*, got 'guess'"),
        ("warm_up = 5", "batch = 0", 12, "batch must be a whole number of at least 1, got 0"),
        ("warm_up = 5", "alike = 2", 12, "alike must be a finite number greater than 0 and at most 1, got 2"),
        ("share = 0.5", "batch = 10", 20, "lines.half.batch is not known here; possible are .*share"),
        ("share = 0.5", "share = 2.0", 20, "share must be .*, got 2.0"),
        ("share = 0.5", "mellowness = 0.1", 20, "lines.half.mellowness is not known here; possible are .*share"),
        ('"random-costs"', '"guess"', 19, "learner must be one of coal, ridge, tagger, random-costs, .*, got 'guess'"),
        ("[lines.half]", "[lines.coal]", 18, "must be TOML: Cannot declare"),
        ("[0.1, 0.01]", "[]", 15, "mellowness must have at least one value"),
        ("[0.1, 0.3]", "[]", 11, "learning_rate must have at least one value"),
        ("[0.1, 0.3]", "[1, 1.0]", 11, r"learning_rate must have each value once, got \[1, 1.0\]"),
        ("[0.1, 0.3]", "[[0.1]]", 11, "learning_rate must be a finite number"),
        ("warm_up = 5", "cost_bounds = 3", 12, "cost_bounds must be a pair"),
        ("warm_up = 5", "cost_bounds = [0, 1, 2]", 12, "cost_bounds must be a pair"),
        ('"random-costs"', '["random-costs"]', 19, "learner must be one name, got"),
        ('["digits", "iris"]', '["iriss"]', 8, "There is no data named 'iriss'. Did you mean 'iris'"),
        ('"All keys."', '"""\n[lines.coal]\nmellowness = -3\n"""', 18, "mellowness must be"),
        ("title = ", "titel = ", 2, "titel is not known here; possible are name, title"),
        ("title = ", "title ", 2, "must be TOML: "),
    ],
)
def test_a_mistake_is_one_line_with_its_place_and_rule(old, new, line, rule):
    text = WHOLE.replace('baseline = "coal 0.1"', 'baseline = "half"') if "baseline" not in old else WHOLE
    text = text.replace("[0.1, 0.01]", "[0.1, -1]") if "mellowness = -3" in new else text
    assert old in text
    with pytest.raises(StudyError, match=rule) as caught:
        Study.from_toml(text.replace(old, new, 1), file="mine.toml")
    message = str(caught.value)
    assert f"line {line}" in message
    assert message.startswith("mine.toml")
    assert "\n" not in message


def test_a_file_that_cannot_be_read_is_one_line(tmp_path):
    with pytest.raises(StudyError, match=r"none\.toml cannot be read: No such file"):
        Study.read(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b'title = "\xe9"')
    with pytest.raises(StudyError, match="must be UTF-8"):
        Study.read(tmp_path / "latin.toml")


def test_data_may_be_files_beside_the_study(tmp_path):
    train, test = load_known("iris")
    write_dataset(train, tmp_path / "train.npz")
    write_dataset(test, tmp_path / "test.npz")
    tables = (
        '[data.mine]\ntrain = "train.npz"\ntest = "test.npz"\n[data.part]\ntrain = "train.npz"\ntest_fraction = 0.5\n'
    )
    (tmp_path / "study.toml").write_text(f"{tables}[lines.coal]\n")
    mine, part = (source.load() for source in Study.read(tmp_path / "study.toml").sources)
    assert (mine.train.fingerprint, mine.test.fingerprint) == (train.fingerprint, test.fingerprint)
    assert len(part.train) + len(part.test) == len(train)
    assert np.array_equal(part.train.classes, train.classes)


@pytest.mark.parametrize(
    ("table", "rule"),
    [
        ('[data.mine]\ntest = "x.npz"\n', "line 2: mine must say train = a file"),
        ('[data.mine]\ntrain = "x.npz"\ntest_fraction = 2\n', "line 3: test_fraction must be between 0 and 1"),
        ("[data.mine]\ntrain = 3\n", "line 2: train must be a text in .data.mine., got 3"),
        ("[data.iris]\nknown = 3\n", "line 2: known must be a text in .data.iris., got 3"),
        ('[data.mine]\nknown = "iriss"\n', "line 1: There is no data named 'iriss'"),
    ],
)
def test_a_table_of_data_is_checked(table, rule):
    with pytest.raises(StudyError, match=rule):
        Study.from_toml(f"{table}[lines.coal]\n")


def test_an_error_in_the_data_names_the_dataset(tmp_path):
    study = Study.from_toml('[data.mine]\ntrain = "none.csv"\nlabel = "x"\n[lines.coal]\n', folder=tmp_path)
    with pytest.raises(StudyError, match=r"study.toml, line 1, data 'mine': There is no file or folder .*none.csv"):
        study.sources[0].load()


@pytest.mark.parametrize(
    ("classes", "rule"), [("", r"they differ in \['b', 'c'\]"), ('classes = ["a", "b"]\n', "Unknown label 'c'")]
)
def test_a_test_file_with_other_labels_is_one_line(tmp_path, classes, rule):
    (tmp_path / "train.csv").write_text("x,y\n1,a\n2,b\n")
    (tmp_path / "test.csv").write_text("x,y\n1,a\n2,c\n")
    table = f'[data.mine]\ntrain = "train.csv"\ntest = "test.csv"\nlabel = "y"\n{classes}'
    with pytest.raises(StudyError, match=rule) as caught:
        Study.from_toml(f"{table}[lines.coal]\n", folder=tmp_path).sources[0].load()
    assert "\n" not in str(caught.value)


def test_places_survive_quoted_names_and_long_texts():
    found = places('text = """\n[not a table]\n"""\n["lines"."a b"]\n"odd key".x = 1\n')
    assert found[("lines", "a b")] == 4
    assert found[("lines", "a b", "odd key", "x")] == 5


def test_a_budget_is_a_table_or_several_and_is_for_all_training_rows_unless_it_says_otherwise():
    lines = """[lines.coal]
budget = [{costs = 60}, {examples = 5, over = 40}]
[lines.priced.budget]
price = 90.5
price_per_example = 2
"""
    study = Study.from_toml(f'data = ["iris"]\npermutations = 1\n{lines}')
    assert [line.name for line in study.lines] == ["coal costs 60", "coal examples 5, over 40", "priced"]
    problem = load_known("iris")
    spent = {}
    for cell in cells_of(study, {"iris": "a"}, code_of(study)):
        record = run_cell(problem, cell)
        spent[cell.line] = (record["curve"]["costs_queried"][-1], record["curve"]["examples_queried"][-1])
    assert spent["coal costs 60"][0] == 60
    assert spent["coal examples 5, over 40"][1] == 5
    costs, examples = spent["priced"]
    assert 80 < costs + 2 * examples <= 90.5


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        ("{costs = -1}", "budget costs must be a finite number at least 0, got -1"),
        ("{cost = 1}", "budget has no 'cost'"),
        ("[{costs = 5}, 3]", "budget must be a Budget, or a mapping"),
    ],
)
def test_a_bad_budget_is_named_with_its_line(value, rule):
    with pytest.raises(StudyError, match=f"line 3: {rule}"):
        Study.from_toml(f'data = ["iris"]\n[lines.coal]\nbudget = {value}')
