"""``coalface vw`` predicts and asks what the wheel does, where both run the same algorithm."""

import numpy as np
import pytest

from coalface import CoalClassifier, read_dataset
from coalface.errors import CoalfaceError
from coalface.studies.vw_command import run_vw, translate
from tests.studies.vw_files import class_text, costs_text, raw_costs, run_wheel, write_examples


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(arguments):
    return run_vw(translate(arguments.split()))


def run_both(folder, arguments):
    """Our run and the wheel's, which write the same predictions."""
    ours = run(f"{arguments} -p ours.txt -r ours-raw.txt")
    wheel = run_wheel(arguments, folder)
    assert (folder / "ours.txt").read_text().splitlines() == wheel.chosen
    for mine, theirs in zip(raw_costs(folder / "ours-raw.txt"), wheel.raw, strict=True):
        if theirs:  # VW writes no costs for a line without labels
            assert mine.keys() == theirs.keys()
            np.testing.assert_allclose(list(mine.values()), list(theirs.values()), atol=2e-5)
    assert f"average loss = {wheel.average_loss:.6f}" in ours.summary()
    return ours, wheel


@pytest.mark.parametrize(
    "options",
    [
        "--mellowness 0.01",
        "--mellowness 0.01 --adax",
        "--adax",
        "--mellowness 0.001 --adax --range_c 0.2 -l 0.3",
        "--mellowness 0.001 --adax --domination 0",
        "--mellowness 0.001 --noconstant",
        "--mellowness 0.001 --adax -q ab --ngram 2",
        "--mellowness 0.001 --ngram a3 --skips a1 --ignore b",
        "--mellowness 0.01 --adax --passes 2 --holdout_off -k --cache_file train.cache",
        "--adaptive --normalized --invariant --power_t 0.5 --initial_t 0 --l2 0 --random_seed 3",
    ],
)
def test_as_many_costs_are_asked_for_and_the_same_labels_predicted(folder, options):
    write_examples("train.vw")
    ours, wheel = run_both(folder, f"--cs_active 4 --simulation {options} -d train.vw")
    assert ours.queries == wheel.queries
    assert "passes" in options or ours.queries < 4 * 120


@pytest.mark.parametrize("options", ["--interactions ab -q bb --keep ab", "--adax -q aa", "-q aa --ngram 2"])
def test_products_within_a_namespace_are_the_wheels_if_lines_have_one_order(folder, options):
    write_examples("train.vw", in_order=True)
    command = f"--cs_active 4 --simulation --mellowness 0.001 {options} -d train.vw"
    ours, wheel = run_both(folder, command)
    assert ours.queries == wheel.queries < 4 * 120
    assert any("different weights" in line for line in ours.command.differences)
    write_examples("train.vw", in_order=False)
    with pytest.raises(AssertionError):  # the wheel tells c1 c2 from c2 c1
        run_both(folder, command)


def test_any_letter_stands_for_all_pairs_of_letters(folder):
    write_examples("train.vw", in_order=True)
    command = "--cs_active 4 --simulation --mellowness 0.001 -d train.vw"
    run_both(folder, "--csoaa 4 -q :: -d train.vw")
    run_both(folder, "--csoaa 4 -q a: -d train.vw")
    ours = run(f"{command} -q ::")
    assert ours.queries == run_wheel(f"{command} -q aa -q ab -q bb", folder).queries
    assert ours.queries != run_wheel(f"{command} -q ::", folder).queries  # whose ranges leave the products out
    assert any("leaves the products of ':' out" in line for line in ours.command.differences)


@pytest.mark.parametrize("accumulator", ["", "--adax"])
@pytest.mark.parametrize("largest", [0.5, 2.0, 10.0])
def test_costs_of_another_range_give_the_wheels_numbers(folder, accumulator, largest):
    write_examples("train.vw", largest=largest)
    options = f"--cs_active 4 --simulation --mellowness 0.01 --cost_max {largest} {accumulator} -d train.vw"
    ours, wheel = run_both(folder, options)
    assert ours.queries == wheel.queries < 4 * 120


@pytest.mark.parametrize("options", ["", "--adax", "-l 0.1 -q ab --ngram 2", "--passes 3 --holdout_off -c -k"])
@pytest.mark.parametrize("largest", [1.0, 5.0])
def test_all_costs_are_learned_as_csoaa_learns_them(folder, options, largest):
    write_examples("train.vw", largest=largest)
    ours, wheel = run_both(folder, f"--csoaa 4 {options} -d train.vw")
    assert wheel.queries is None
    assert "queries" not in ours.summary()


def test_partial_costs_unlabelled_lines_and_tags_are_read_as_the_wheel_reads_them(folder):
    def write_label(number, cost):
        if number % 10 == 9:
            return " "
        listed = [label for label in range(4) if (number + label) % 3]
        pairs = "".join(f"{label + 1}:{cost[label]:g} " for label in listed)
        return pairs + (f"'n{number}" if number % 4 == 1 else f"n{number}" if number % 4 == 2 else "")

    write_examples("train.vw", write_label=write_label)
    # The wheel mixes up the labels' statistics unless all are learned equally often: passive, and adax.
    ours, _ = run_both(folder, "--csoaa 4 --adax -d train.vw")
    assert np.isnan(ours.loss).sum() == 12
    assert (folder / "ours.txt").read_text().splitlines()[1].endswith(" n1")


def test_an_unlabelled_line_is_not_a_round(folder):
    write_examples("train.vw", write_label=lambda number, cost: "" if number % 3 == 1 else costs_text(cost))
    ours, wheel = run_both(folder, "--cs_active 4 --simulation --adax --mellowness 0.01 -d train.vw")
    assert ours.queries == wheel.queries < 4 * 80
    assert ours.named.learner.round_ == 81


def test_labels_that_the_file_lacks_count(folder):
    write_examples("train.vw", n_labels=3, seed=3)
    ours, wheel = run_both(folder, "--cs_active 9 --simulation --adax --mellowness 0.002 -d train.vw")
    fewer = run("--cs_active 3 --simulation --adax --mellowness 0.002 -d train.vw")
    assert fewer.queries != ours.queries == wheel.queries  # more labels, more slack
    assert ours.named.learner.classes_.tolist() == list(range(1, 10))


def test_labels_may_begin_at_0(folder):
    def write_label(_number, cost):
        return "".join(f"{label}:{one:g} " for label, one in enumerate(cost.tolist()))

    write_examples("train.vw", write_label=write_label)
    ours, _ = run_both(folder, "--csoaa 4 -d train.vw")
    assert ours.named.learner.classes_.tolist() == [0, 1, 2, 3]


def test_a_multiclass_file_is_learned_as_costs_of_0_and_1(folder):
    write_examples("train.vw", n=300, write_label=class_text)
    ours = run("--oaa 4 -d train.vw -p ours.txt")
    data = read_dataset("train.vw", targets="classes")
    fitted = CoalClassifier.as_published(classes=data.classes, rule="passive", accumulator="adagrad")
    fitted.partial_fit(data.X, cost=data.cost)
    np.testing.assert_array_equal(ours.named.learner.predict_cost(data.X), fitted.predict_cost(data.X))
    wheel = run_wheel("--oaa 4 -d train.vw", folder)
    assert ours.loss.mean() == pytest.approx(wheel.average_loss, abs=0.1)
    assert any("regression of 0/1 costs" in line for line in ours.command.differences)


def test_a_saved_model_predicts_as_the_wheels_does(folder):
    write_examples("train.vw")
    write_examples("test.vw", n=40, seed=7)
    run_both(folder, "--csoaa 4 --adax -q ab --ngram 2 -d train.vw -f model")
    theirs = run_wheel("-t -i model -d test.vw", folder)
    run("--csoaa 4 --adax -q ab --ngram 2 -d train.vw -f model.coal")
    ours = run("-t -i model.coal -d test.vw --ngram 2 -p ours.txt")
    # The second file has other weights of the words but the same words, so that nothing is unseen but some bigrams.
    assert (folder / "ours.txt").read_text().splitlines() == theirs.chosen
    assert f"average loss = {theirs.average_loss:.6f}" in ours.summary()
    assert "queries" not in ours.summary()


def test_training_continues_where_it_ended(folder):
    write_examples("all.vw", n=100)
    lines = (folder / "all.vw").read_text().splitlines(keepends=True)
    (folder / "one.vw").write_text("".join(lines[:60]))
    (folder / "two.vw").write_text("".join(lines[60:]))
    whole = run("--cs_active 4 --simulation --adax -d all.vw")
    first = run("--cs_active 4 --simulation --adax -d one.vw -f m.coal")
    second = run("-i m.coal -d two.vw")
    assert first.queries + second.queries == whole.queries
    np.testing.assert_array_equal(np.concatenate([first.raw, second.raw]), whole.raw)


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("2 | a\n1 | b\n", "--csoaa 2", "pass --oaa K"),
        ("2 | a\n1 | b\n", "--cs_active 2 --simulation", "pass --oaa K"),
        ("1:0 2:1 | a\n", "--oaa 2", "targets"),
        ("1:0 |a x\n2:1 |a y\n\n1:1 |a x\n2:0 |a y\n", "--csoaa 2", "one line per label"),
        ("shared | a\n1:0 | b\n", "--csoaa 2", "label-dependent"),
        ("1:0 5:1 | a\n", "--csoaa 3", "labels from 1 to 3"),
        ("1:-1 2:1 | a\n", "--csoaa 2", "no negative costs"),
        ("1:0 2:3 | a\n", "--cs_active 2 --simulation", "must lie in [0, 1]"),
        ("cat:0 dog:1 | a\n", "--csoaa 2", "numbers as labels"),
    ],
)
def test_a_file_of_another_kind_is_refused_with_what_to_do(folder, text, options, said):
    (folder / "a.vw").write_text(text)
    with pytest.raises(CoalfaceError) as problem:
        run(f"{options} -d a.vw")
    assert said in str(problem.value)


def test_a_model_with_ngrams_is_not_used_without_them(folder):
    write_examples("train.vw", n=20)
    run("--csoaa 4 --ngram 2 -d train.vw -f m.coal")
    with pytest.raises(CoalfaceError, match="Repeat its --ngram"):
        run("-t -i m.coal -d train.vw")


def test_a_model_is_not_used_with_another_reduction(folder):
    write_examples("train.vw", n=20)
    run("--csoaa 4 -d train.vw -f m.coal")
    assert run("--csoaa 4 -t -i m.coal -d train.vw").loss.shape == (20,)
    for other in ("--csoaa 5", "--cs_active 4 --simulation"):
        with pytest.raises(CoalfaceError, match="was trained with --csoaa or --oaa 4"):
            run(f"{other} -t -i m.coal -d train.vw")


def test_new_features_cannot_join_products(folder):
    write_examples("train.vw", n=20)
    run("--csoaa 4 -q ab -d train.vw -f m.coal")
    (folder / "new.vw").write_text("1:0 2:1 |animals unheard |b c1\n")
    assert run("-t -i m.coal -d new.vw").loss.shape == (1,)
    with pytest.raises(CoalfaceError, match="they are new"):
        run("-i m.coal -d new.vw")
