"""A study file: what it says, and one line for what is wrong with it."""

import re

import numpy as np
import pytest

from coalface import Audits, CoalClassifier, OnlineModel, simulate
from coalface.data.formats.readers import write_dataset
from coalface.errors import StudyError
from coalface.studies.cells import cells_of, code_of, run_cell
from coalface.studies.known.catalogue import load_known
from coalface.studies.learners import order_of
from coalface.studies.study import Study
from tests.studies.studies import STUDIES

WHOLE = """name = "whole"
title = "Everything"
text = "All keys."
permutations = 3
first_permutation = 5
checkpoints = [100, 200]
baseline = "coal 0.1"
plugins = ["baselines"]
data = ["digits", "iris"]

[settings]
learning_rate = [0.1, 0.3]
rule.warm_up = 5

[lines.coal]
mellowness = [0.1, 0.01]
model.sensitivity = ["shadow", "derivative"]

[lines.half]
learner = "random-costs"
share = 0.5
"""


def test_lists_multiply_into_lines_and_learning_rates_into_cells():
    study = Study.from_toml(WHOLE.replace("coal 0.1", "half"), folder=STUDIES, allow_plugins=True)
    names = ["coal 0.1 shadow", "coal 0.1 derivative", "coal 0.01 shadow", "coal 0.01 derivative", "half"]
    assert [line.name for line in study.lines] == names
    assert study.lines[1].settings == {"mellowness": 0.1, "model.sensitivity": "derivative", "rule.warm_up": 5}
    assert study.lines[1].rates == (0.1, 0.3)
    assert study.n_cells == 2 * 3 * 5 * 2
    cells = list(cells_of(study, {"digits": "a", "iris": "b"}, code_of(study)))
    assert len({cell.key for cell in cells}) == len(cells) == study.n_cells
    assert {cell.permutation for cell in cells} == {5, 6, 7}


@pytest.mark.parametrize(
    "passive",
    [
        'rule = { variant = "passive", warm_up = 10 }\nmodel = { kind = "online", learning_rate = [0.1, 0.3] }',
        'rule.variant = "passive"\nrule.warm_up = 10\nmodel.learning_rate = [0.1, 0.3]',
        'rule = "passive"\nlearning_rate = [0.1, 0.3]',
    ],
)
def test_a_parameter_of_a_part_may_be_in_a_table_or_have_a_path(passive):
    study = Study.from_toml(
        f'data = ["iris"]\n[settings]\nrule.warm_up = 10\nrule.slack = "published"\n[lines.a]\n{passive}'
    )
    (line,) = study.lines
    model = {"model": "online"} if "kind" in passive else {}
    assert line.settings == {"rule": "passive", "rule.warm_up": 10, "rule.slack": "published", **model}
    assert (line.rule, line.rates) == ("passive", (0.1, 0.3))


def test_a_line_may_ask_in_batches():
    study = Study.from_toml('data = ["iris"]\n[lines.coal]\nbatch = [1, 10]\naudits.rate = 0.2')
    assert [line.name for line in study.lines] == ["coal 1", "coal 10"]
    train, test = problem = load_known("iris")
    for line in study.lines:
        learner = CoalClassifier(classes=train.classes, audits=Audits(0.2), random_state=3, model="online")
        batch, test_set = line.settings["batch"], {"X_test": test.X, "cost_test": test.cost}
        curve = simulate(learner, train.X, train.cost, order=order_of(3, len(train)), batch=batch, **test_set)
        found = line.learner.run(line.settings, problem, 3, "doubling")
        assert found.costs_queried.tolist() == curve.costs_queried.tolist()
        assert found.test_cost.tolist() == curve.test_cost.tolist()
    assert np.all(found.rounds[:-1] % 10 == 0)


def test_what_is_not_said_has_a_default():
    study = Study.from_toml('data = ["iris"]\n[lines.coal]', name="mine")
    assert (study.name, study.title, study.baseline, study.checkpoints) == ("mine", "mine", "coal", "quarter-doubling")
    assert (study.permutations, study.lines[0].rates) == (range(20), (OnlineModel().learning_rate,))


@pytest.mark.parametrize(
    ("old", "new", "place", "rule"),
    [
        ("permutations = 3", "permutations = 0", "", "permutations must be a whole number, at least 1, got 0"),
        ("permutations = 3", "permutations = true", "", "permutations must be a whole number, at least 1, got True"),
        ("checkpoints = [100, 200]", "checkpoints = [200, 100]", "", "checkpoints must be increasing"),
        ('baseline = "coal 0.1"', 'baseline = "x"', "", "baseline must be one of coal 0.1 shadow, .*, half, got 'x'"),
        ('["digits", "iris"]', "[]", "", "data must name at least one dataset"),
        ('["digits", "iris"]', "[3]", "", "data must be a list of names, got one that is 3"),
        ('["digits", "iris"]', '["nothing*"]', "", "data must name known data, nothing matches 'nothing\\*'"),
        ("[0.1, 0.3]", '"fast"', "settings", "learning_rate must be 'auto' or a number, got 'fast'"),
        ("rule.warm_up = 5", "rule.warm_up = 5.5", "settings", "warm_up must be .*, got 5.5"),
        ("rule.warm_up = 5", "colour = 5", "settings", "colour is not a known key. Use one of .*mellowness"),
        ("[0.1, 0.01]", "[0.1, -1]", "lines.coal", "mellowness must be a finite number at least 0, got -1"),
        ('"derivative"', '"guess"', "lines.coal", "sensitivity must be one of .*, got 'guess'"),
        ("rule.warm_up = 5", "batch = 0", "settings", "batch must be .*, got 0"),
        (
            "rule.warm_up = 5",
            "rule.alike = 2",
            "settings",
            "alike must be a finite number greater than 0 and at most 1, got 2",
        ),
        ("share = 0.5", "batch = 10", "lines.half", "batch is not a known key. Use one of .*share"),
        ("share = 0.5", "share = 2.0", "lines.half", "share must be .*, got 2.0"),
        ("share = 0.5", "mellowness = 0.1", "lines.half", "mellowness is not a known key. Use one of .*share"),
        (
            '"random-costs"',
            '"guess"',
            "lines.half",
            "learner must be one of coal, ridge, or of a plug-in .*, got 'guess'",
        ),
        ("[lines.half]", "[lines.coal]", "line 19", "must be TOML: Cannot declare"),
        ("[0.1, 0.01]", "[]", "lines.coal", "mellowness must have at least one value"),
        ("[0.1, 0.3]", "[]", "settings", "learning_rate must have at least one value"),
        ("[0.1, 0.3]", "[1, 1.0]", "settings", r"learning_rate must have each value once, got \[1, 1.0\]"),
        ("[0.1, 0.3]", "[[0.1]]", "settings", "learning_rate must be a finite number"),
        ("rule.warm_up = 5", "cost_bounds = 3", "settings", "cost_bounds must be a pair"),
        ("rule.warm_up = 5", "cost_bounds = [0, 1, 2]", "settings", "cost_bounds must be a pair"),
        ('"random-costs"', '["random-costs"]', "lines.half", "learner must be one name, got"),
        ('["digits", "iris"]', '["iriss"]', "", "There is no data named 'iriss'. Did you mean 'iris'"),
        ('"All keys."', '"""\n[lines.coal]\nmellowness = -3\n"""', "lines.coal", "mellowness must be"),
        ("title = ", "titel = ", "", "titel is not a known key. Use one of name, title"),
        ("title = ", "title ", "line 2", "must be TOML: "),
    ],
)
def test_a_mistake_is_one_line_with_its_table_and_rule(old, new, place, rule):
    text = WHOLE.replace('baseline = "coal 0.1"', 'baseline = "half"') if "baseline" not in old else WHOLE
    text = text.replace("[0.1, 0.01]", "[0.1, -1]") if "mellowness = -3" in new else text
    assert old in text
    with pytest.raises(StudyError, match=rule) as caught:
        Study.from_toml(text.replace(old, new, 1), folder=STUDIES, file="mine.toml", allow_plugins=True)
    message = str(caught.value)
    assert message.startswith(f"mine.toml, {place}: " if "." in place or place == "settings" else "mine.toml")
    assert place in message
    assert bool(re.search(r"\bline \d", message)) == ("line" in place.split())
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
        ('[data.mine]\ntest = "x.npz"\n', "data.mine: train must name a file"),
        ('[data.mine]\ntrain = "x.npz"\ntest_fraction = 2\n', "data.mine: test_fraction must be between 0 and 1"),
        ("[data.mine]\ntrain = 3\n", "data.mine: train must be a text, got 3"),
        ("[data.iris]\nknown = 3\n", "data.iris: known must be a text, got 3"),
        ('[data.mine]\nknown = "iriss"\n', "data.mine: There is no data named 'iriss'"),
    ],
)
def test_a_table_of_data_is_checked(table, rule):
    with pytest.raises(StudyError, match=rule):
        Study.from_toml(f"{table}[lines.coal]\n")


def test_an_error_in_the_data_names_the_dataset(tmp_path):
    study = Study.from_toml('[data.mine]\ntrain = "none.csv"\nlabel = "x"\n[lines.coal]\n', folder=tmp_path)
    with pytest.raises(StudyError, match=r"study.toml, data.mine: There is no file or folder .*none.csv"):
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
        ("[{costs = 5}, true]", "budget must be a number of costs, a Budget, or a mapping"),
    ],
)
def test_a_bad_budget_is_named_with_its_table(value, rule):
    with pytest.raises(StudyError, match=f"study.toml, lines.coal: {rule}"):
        Study.from_toml(f'data = ["iris"]\n[lines.coal]\nbudget = {value}')
