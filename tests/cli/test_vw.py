"""``coalface vw``: its output, its files, and that the lines it prints give the same model."""

import re
import shlex
import warnings
from pathlib import Path

import numpy as np
import pytest

from coalface.cli import main
from coalface.learner.named_learner import NamedLearner
from tests.cli.commands import refused, run
from tests.studies.vw_files import class_text, costs_text, write_examples


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_examples("train.vw")
    write_examples("words", n_labels=3)
    write_examples("classes.vw", write_label=class_text)
    write_examples("gaps.vw", write_label=lambda number, cost: "" if number % 3 else costs_text(cost))
    return tmp_path


def printed_lines(out):
    """The command line and the Python lines that a run prints."""
    found = re.search(r"The same with coalface:\n\n(.*)\n\nThe same in Python:\n\n(.*)", out, re.DOTALL)
    return found[1], found[2]


def run_command_line(text):
    """Run the printed commands; return the model that they wrote."""
    for command in text.split(" && "):
        words = shlex.split(command)
        assert words[0] == "coalface"
        assert main(words[1:]) == 0
    return NamedLearner.load(next(path for path in map(Path, words) if path.suffix == ".coal"))


@pytest.mark.parametrize(
    ("options", "has_line"),
    [
        ("--cs_active 4 --simulation --mellowness 0.01 -l 0.4 -q ab --ngram 2 -d train.vw", True),
        ("--cs_active 4 --simulation --adax --domination 0 --range_c 0.3 --noconstant -d train.vw", True),
        ("--cs_active 6 --simulation --cost_max 2 -q :: --ignore b -d words", True),
        ("--cs_active 4 --simulation --adax --passes 2 --holdout_off -c -d train.vw", False),
        ("--cs_active 4 --simulation --adax -d gaps.vw", False),
        ("--csoaa 4 -q a: --ngram a3 --skips a1 -d train.vw", True),
        ("--csoaa 5 --adax --keep a -d words", True),
        ("--csoaa 4 --passes 3 --holdout_off -d train.vw", True),
        ("--csoaa 4 -d gaps.vw", True),
        ("--oaa 4 -d classes.vw", True),
    ],
)
def test_the_printed_lines_give_the_same_model(folder, capsys, options, has_line):
    code, out, _ = run(capsys, f"vw -- {options} -f model.coal")
    assert code == 0
    kept = NamedLearner.load(folder / "model.coal")
    line, python = printed_lines(out)
    names = {}
    exec(python, names)
    learners = [names["learner"]]
    X = names["data"].X
    if has_line:
        learners.append(run_command_line(line).learner)
    else:
        assert line.startswith("(coalface simulate")
    for learner in learners:
        np.testing.assert_array_equal(learner.predict_cost(X), kept.learner.predict_cost(X))
        if learner.rule != "passive":
            assert f"total queries = {learner.costs_queried_}\n" in out
    assert len(kept.learner.classes_) == int(options.split()[1])


def test_a_saved_model_predicts_and_prints_how_to_do_so(folder, capsys):
    run(capsys, "vw -- --csoaa 4 -q ab --ngram 2 -d train.vw -f model.coal --quiet")
    code, out, _ = run(capsys, "vw -- -t -i model.coal -d gaps.vw --ngram 2 -p chosen.txt -r raw.txt")
    assert code == 0
    line, python = printed_lines(out)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        code, predicted, _ = run(capsys, line.removeprefix("coalface "))
    assert code == 0
    names = {}
    exec(python, names)
    costs = names["named"].learner.predict_cost(names["data"].X)
    assert [line.split(":")[1] for line in predicted.splitlines()] != []
    chosen = (folder / "chosen.txt").read_text().splitlines()
    assert chosen == [str(column + 1) for column in costs.argmin(axis=1)]
    assert [int(re.search(r'"label": (\d+)', line)[1]) for line in predicted.splitlines()] == list(map(int, chosen))
    first = dict(word.split(":") for word in (folder / "raw.txt").read_text().splitlines()[0].split())
    np.testing.assert_allclose([float(cost) for cost in first.values()], costs[0], atol=1e-5)


def test_continued_training_prints_what_gives_the_same_model(folder, capsys):
    run(capsys, "vw -- --csoaa 4 -d train.vw -f model.coal --quiet")
    _, out, _ = run(capsys, "vw -- -i model.coal -d gaps.vw -f more.coal")
    line, python = printed_lines(out)
    names = {}
    exec(python, names)
    more, again = NamedLearner.load(folder / "more.coal"), run_command_line(line)
    X = names["data"].X
    for learner in (again.learner, names["named"].learner):
        np.testing.assert_array_equal(learner.predict_cost(X), more.learner.predict_cost(X))


def test_what_is_ignored_and_what_differs_is_said_on_standard_error(folder, capsys):
    code, out, err = run(capsys, "vw --csoaa 4 -d train.vw -b 22 -P 50")  # without "--" before the options, too
    assert code == 0
    assert out.startswith("number of examples = 120\naverage loss = 0.")
    assert "Ignored: -b 22: features have names here" in err
    assert "Different from VW: " in err
    assert [line.split()[2] for line in err.splitlines() if re.match(r" +\d", line)] == ["50", "100"]


def test_quiet_prints_nothing(folder, capsys):
    assert run(capsys, "vw -- --csoaa 4 -d train.vw -b 22 --quiet -p out.txt") == (0, "", "")
    assert len((folder / "out.txt").read_text().splitlines()) == 120


def test_a_mistake_is_one_line(folder, capsys):
    assert "--cubic abc would change the result" in refused(capsys, "vw -- --csoaa 4 -d train.vw --cubic abc")
    assert "label-dependent features" in refused(capsys, "vw -- --csoaa_ldf m -d train.vw")
    assert "There is no file missing.vw" in refused(capsys, "vw -- --csoaa 4 -d missing.vw")
    assert "There is no model m.coal" in refused(capsys, "vw -- -t -i m.coal -d train.vw")


def test_the_word_vw_of_a_pasted_command_is_left_out(folder, capsys):
    options = "--csoaa 4 -d train.vw"
    plain = run(capsys, f"vw -- {options}")
    assert plain[0] == 0
    for word in ("vw", "/usr/local/bin/vw", "./vw.exe"):
        assert run(capsys, f"vw -- {word} {options}") == plain
