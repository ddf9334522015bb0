"""One kind of name on less than one word in a hundred: audits look where a tag may be wrong."""

import numpy as np
import pytest

from coalface import Audits, Coal, CoalClassifier
from coalface.errors import UnlearnedWarning
from coalface.kernels.rules import audit_by_loss
from coalface.kernels.state import COSTS_QUERIED, MEAN_PREDICTED, ROUND, ROUNDS, new_counts, new_scratch
from coalface.learner.state import settings_of
from coalface.structured import SequenceTagger


def rare_names(n, seed):
    """Sentences of ten words; 0.7 % of the words are names, and look like other capitalised words."""
    rng = np.random.default_rng(seed)
    sentences, tags = [], []
    for _ in range(n):
        words = [f"{'Word' if rng.random() < 0.1 else 'word'}{rng.integers(400)}" for _ in range(10)]
        marks = ["O"] * 10
        if rng.random() < 0.07:
            place = int(rng.integers(1, 10))
            words[place - 1], words[place] = f"title{rng.integers(8)}", f"Name{rng.integers(200)}"
            marks[place] = "B-PER"
        sentences.append(words)
        tags.append(marks)
    return sentences, tags


def test_audits_by_loss_find_a_rare_tag_with_fewer_roll_outs_than_passive():
    train, test = rare_names(3000, seed=0), rare_names(1000, seed=1)
    passive = SequenceTagger(policy=CoalClassifier(rule="passive")).fit(*train)
    default = SequenceTagger().fit(*train)
    assert default.span_f1(*test) >= 0.95 * passive.span_f1(*test)
    assert default.rollouts_ <= passive.rollouts_ / 5


def test_a_tag_that_was_never_learned_is_a_warning():
    silent = CoalClassifier(mellowness=0.0, audits=None)
    with pytest.warns(UnlearnedWarning, match=r"'B-PER' .*'B-PER' \(\d+ "):
        SequenceTagger(policy=silent, warm_up=1).fit(*rare_names(1500, seed=0))


def test_an_audit_by_loss_asks_first_about_the_predicted_label_and_then_about_those_it_leaves_possible():
    rng = np.random.default_rng(0)
    X = rng.random((400, 3))
    learner = CoalClassifier(
        range(3), model="online", audits=Audits(1.0, by="loss"), mellowness=0.0, rule=Coal(in_turn=True)
    )
    learner.interview(X, lambda _i, label: 0.5 * (label != 0))  # label 0 is always best
    queries = learner.ask(X[:50])
    in_turn = queries.next.sum(axis=1) == 1
    assert in_turn.any()
    assert queries.mask[in_turn].all()
    assert (queries.next[in_turn].argmax(axis=1) == queries.predicted[in_turn].argmin(axis=1)).all()
    rows = np.flatnonzero(in_turn)[:1]
    known, asked = np.full((1, 3), np.nan), np.zeros((1, 3), bool)
    known[0, 0], asked[0, 0] = 0.0, True
    assert not learner.ask(X[rows], known=known, asked=asked).mask.any()  # settled by a cost of 0
    known[0, 0] = 1.0
    assert learner.ask(X[rows], known=known, asked=asked).mask[0, 1:].all()


def test_the_chance_of_an_audit_grows_with_the_predicted_cost():
    rng = np.random.default_rng(0)
    X = rng.random((2000, 3)) < 0.3
    learner = CoalClassifier(range(2), model="online", audits="loss", mellowness=0.0, rule=Coal(alike=None, warm_up=50))
    learner.interview(X, lambda i, label: (0.3 if X[i, 0] else 0.1) if label else 0.9)
    queries = learner.ask(X[:500])
    risk, chance = queries.predicted.min(axis=1), queries.propensity.max(axis=1)
    assert np.all(np.diff(chance[np.argsort(risk)]) >= -1e-9)
    assert chance.min() >= 0.5 * Audits().rate - 1e-9
    assert chance.max() > 2 * chance.min()


def test_audits_are_more_frequent_where_the_other_labels_are_rare():
    X, chances = np.ones((3000, 1)), {}
    for often in (4, 100):
        rule = Coal(alike=None, warm_up=200)
        learner = CoalClassifier(
            range(2), model="online", audits=Audits(0.02, by="loss"), mellowness=0.0, rule=rule, shuffle=False
        )  # rare labels come at even distances
        learner.interview(X, lambda i, label, often=often: float(label == 0) if i % often == 0 else float(label != 0))
        chances[often] = learner.ask(X[:1]).propensity.max()
    assert chances[100] > 1.5 * chances[4]


def chance_of_audit(predicted, often, n_labels=3, audit_rate=0.02, asked=0):
    """The chance if label 0 is predicted to cost so much, and another was best of one in ``often`` examples."""
    learner = CoalClassifier(range(n_labels), model="online", audits=Audits(audit_rate, by="loss")).begin()
    counts, scratch = new_counts(n_labels), new_scratch(n_labels, 1)
    counts.counters[ROUND], counts.was_best[0], counts.was_best[1] = 6001, 6000 - 6000 // often, 6000 // often
    counts.saving[ROUNDS], counts.saving[MEAN_PREDICTED], counts.counters[COSTS_QUERIED] = 1000.0, 0.01, asked
    scratch.predicted[:] = 1.0
    scratch.predicted[0] = predicted
    audit_by_loss(counts, settings_of(learner), scratch, 6001)
    return scratch.propensity[0]


def test_where_other_labels_are_rare_unsure_predictions_are_audited_more_than_sure_ones():
    assert chance_of_audit(-0.1, often=100) > 2 * chance_of_audit(-0.6, often=100)
    assert chance_of_audit(-0.1, often=20) == chance_of_audit(-0.6, often=20)


def test_twice_as_rare_is_audited_more_than_twice_as_often():
    assert chance_of_audit(0.0, often=80, audit_rate=0.01) > 2 * chance_of_audit(0.0, often=40, audit_rate=0.01)


def test_the_limit_of_audits_grows_with_the_labels_that_passive_would_ask_about():
    few, many = (chance_of_audit(0.0, often=1000, n_labels=n, audit_rate=0.01) for n in (2, 4))
    assert many > 1.5 * few


def test_a_rare_label_leaves_no_prediction_without_audits():
    assert chance_of_audit(-5.0, often=1000) >= 0.5 * 0.02


def test_a_learner_that_has_asked_for_a_fifth_of_all_costs_audits_rare_labels_no_more_than_others():
    assert chance_of_audit(-0.1, often=100, asked=3 * 6000 // 5) == chance_of_audit(-0.1, often=20)
    assert chance_of_audit(-0.1, often=100, asked=3 * 6000 // 6) > 2 * chance_of_audit(-0.1, often=20)
