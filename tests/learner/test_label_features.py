"""Features of labels: every form of input, every method of the learner, ledgers, files and messages."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from coalface import CoalClassifier, MemoryLedger, simulate
from coalface.errors import InputError

LABELS = ["near", "middle", "far"]


def examples(n=60, seed=0):
    """Places at some distance; the cost of each is its distance, whatever its name."""
    random = np.random.default_rng(seed)
    X, features = random.normal(size=(n, 1)), random.random((n, 3, 2))
    return X, features, features[:, :, 0]


def learner(**others):
    return CoalClassifier(LABELS, model="shared", shuffle=False, **others)


def as_mappings(features):
    return [dict(zip(LABELS, row, strict=True)) for row in features]


def same_numbers(one, other):
    ours, theirs = one.model_.saved(), other.model_.saved()
    return all(np.array_equal(ours[name], theirs[name], equal_nan=True) for name in ours | theirs)


@pytest.mark.parametrize(
    "form",
    [
        as_mappings,
        lambda features: {label: features[:, k] for k, label in enumerate(LABELS)},
        lambda features: {label: csr_array(features[:, k]) for k, label in enumerate(LABELS)},
        lambda features: features.tolist(),
    ],
)
def test_all_forms_of_features_teach_the_same(form):
    X, features, cost = examples()
    array, other = learner(), learner()
    array.fit(X, cost=cost, candidates=features)
    other.fit(X, cost=cost, candidates=form(features))
    assert same_numbers(array, other)


def test_a_description_that_is_the_same_for_all_examples_is_given_once():
    X, _, cost = examples()
    once = {"near": [0.0, 1.0], "middle": [1.0, 0.0], "far": [1.0, 1.0]}
    often = np.tile(np.array(list(once.values())), (len(X), 1, 1))
    assert same_numbers(learner().fit(X, cost=cost, candidates=once), learner().fit(X, cost=cost, candidates=often))


def test_a_label_without_features_is_not_a_candidate():
    X, features, cost = examples()
    features[:, 1] = np.nan
    by_example = [{"near": row[0], "far": row[2]} for row in features]
    for candidates in (features, by_example):
        taught = learner().tell(X, cost, candidates=candidates)
        assert taught.costs_queried_ == 120
        assert "middle" not in taught.predict(X, candidates=candidates)
        assert not taught.ask(X, candidates=candidates).mask[:, 1].any()
        assert np.isnan(taught.predict_cost(X, candidates=candidates)[:, 1]).all()


def test_asking_and_telling_row_by_row_equals_simulating_and_interviewing():
    X, features, cost = examples()
    by_hand, interviewed, simulated = learner(), learner(), learner()
    for i in range(len(X)):
        one, its = X[[i]], features[[i]]
        known, asked = np.full((1, 3), np.nan), np.zeros((1, 3), bool)
        first = queries = by_hand.ask(one, candidates=its)
        while queries.next.any():
            known[queries.next], asked = cost[[i]][queries.next], asked | queries.next
            queries = by_hand.ask(one, candidates=its, known=known, asked=asked)
        by_hand.tell(one, known, first.restricted_to(asked), candidates=its)
    interviewed.interview(X, lambda i, label: cost[i, LABELS.index(label)], candidates=as_mappings(features))
    simulate(simulated, X, cost, candidates=features)
    assert same_numbers(by_hand, interviewed)
    assert same_numbers(by_hand, simulated)
    assert by_hand.costs_queried_ < 120  # of 180


def test_an_active_fit_asks_for_few_costs_and_ranks_well():
    X, features, cost = examples(400)
    taught = learner().fit(X, cost=cost, candidates=features, active=True)
    X_new, new_features, new_cost = examples(200, seed=1)
    assert taught.costs_queried_ < 400  # of 1,200
    regret = -taught.score(X_new, cost=new_cost, candidates=new_features) - new_cost.min(axis=1).mean()
    assert regret < 0.02


def test_ledgers_and_files_restore_it_bit_for_bit(tmp_path):
    X, features, cost = examples()
    features[::3, 1] = np.nan
    recorded = learner().record_to(ledger := MemoryLedger())
    simulate(recorded, X, cost, candidates=features)
    recorded.add_label("beyond")
    more = np.random.default_rng(4).random((5, 4, 2))
    recorded.tell(X[:5], more[:, :, 0], candidates=more)
    recorded.save(tmp_path / "model")
    assert same_numbers(CoalClassifier.from_ledger(ledger), recorded)
    again = CoalClassifier.load(tmp_path / "model")
    assert same_numbers(again, recorded)
    np.testing.assert_array_equal(again.predict(X[:5], candidates=more), recorded.predict(X[:5], candidates=more))
    assert next(iter(ledger)).candidates == ("near", "far")


def test_labels_are_served_and_observed_with_their_features():
    X, features, cost = examples(150)
    server = learner()
    for i in range(len(X)):
        action = server.act(X[[i]], candidates=features[[i]])
        paid = cost[i, LABELS.index(action.labels[0])]
        server.observe(X[[i]], action.labels, paid, action.probability, candidates=features[[i]])
    assert server.totals_.seen == 150
    assert (server.predict(X, candidates=features) == np.array(LABELS)[cost.argmin(axis=1)]).mean() > 0.8


@pytest.mark.parametrize(
    ("X", "candidates", "message"),
    [
        ([[1.0]], np.zeros((1, 2, 4)), r"\(examples, 3, features\), got shape \(1, 2, 4\)"),
        ([[1.0]], np.zeros((2, 3, 4)), "candidates must have 1 rows like X, got 2 for label number 0"),
        ([[1.0]], [{"beyond": [1.0]}], "beyond"),
        ([[1.0]], {"near": [np.inf]}, "finite"),
        (None, {"near": [1.0]}, "one row per example if X is None"),
        (["some text"], {"near": [1.0]}, "X must be numbers where labels have features, got list. Encode it first"),
    ],
)
def test_bad_features_are_refused_in_one_line(X, candidates, message):
    with pytest.raises(InputError, match=message):
        learner().ask(X, candidates=candidates)


def test_other_models_name_the_one_that_reads_features_of_labels():
    with pytest.raises(InputError, match="need a learner with model='shared', got CommitteeModel"):
        CoalClassifier(LABELS).ask([[1.0]], candidates=np.zeros((1, 3, 4)))


def test_without_features_of_labels_there_is_nothing_to_learn_from():
    with pytest.raises(InputError, match=r"got none\. Pass them as candidates"):
        learner().tell([[1.0]], [[0.1, 0.2, 0.3]])


def test_an_example_whose_labels_have_only_zeros_is_learned_in_any_batch_and_replayed():
    X, features, cost = [[1.0], [2.0]], np.zeros((2, 3, 2)), np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]])
    features[1] = 0.5
    together, apart, ledger = learner(), learner(), MemoryLedger()
    together.tell(X, cost, candidates=features)
    apart.record_to(ledger)
    apart.interview(X[:1], lambda i, label: cost[i, LABELS.index(label)], candidates=features[:1])
    assert same_numbers(CoalClassifier.from_ledger(ledger), apart)  # no label has had a feature yet
    apart.tell(X[1:], cost[1:], candidates=features[1:])
    assert same_numbers(together, apart)
    assert same_numbers(CoalClassifier.from_ledger(ledger), apart)


def test_no_examples_give_empty_answers_and_teach_nothing():
    X, features, cost = examples()
    taught = learner().fit(X, cost=cost, candidates=features)
    before = taught.model_.saved()
    for none in (features[:0], []):
        assert taught.predict(X[:0], candidates=none).shape == (0,)
        assert taught.predict_cost(X[:0], candidates=none).shape == (0, 3)
        assert len(taught.ask(X[:0], candidates=none)) == 0
        taught.tell(X[:0], cost[:0], candidates=none)
    assert all(np.array_equal(before[name], array, equal_nan=True) for name, array in taught.model_.saved().items())


def test_the_range_of_a_label_without_features_is_not_a_number():
    X, features, cost = examples()
    taught = learner().fit(X, cost=cost, candidates=features)
    one = [{"far": features[0, 2]}]
    ranges, of_all = taught.cost_range(X[:1], candidates=one), taught.cost_range(X[:1], candidates=features[:1])
    assert np.isnan(ranges.width[0]).tolist() == [True, True, False]
    assert ranges.lowest[0, 2] == of_all.lowest[0, 2]
    assert ranges.guaranteed_cost[0] == ranges.highest[0, 2]


@pytest.mark.parametrize("method", ["predict", "predict_cost", "cost_range", "ask", "act"])
def test_every_method_names_candidates_where_they_are_missing_or_of_another_form(method):
    X, features, cost = examples()
    taught = learner().fit(X, cost=cost, candidates=features)
    for given in (X, None):
        with pytest.raises(InputError, match=r"model='shared' predicts .* got none\. Pass them as candidates"):
            getattr(taught, method)(given)
    for wrong in (features[:, :, 0], np.ones((60, 3), bool), "near", (row for row in as_mappings(features))):
        with pytest.raises(InputError, match=r"candidates must be numbers .* with model='shared', got"):
            getattr(taught, method)(X, candidates=wrong)


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        (np.zeros((1, 3, 2), complex), "candidates must be numbers"),
        (np.zeros((1, 3, 2), "datetime64[s]"), "candidates must be numbers"),
        ([[[1.0, np.nan], [1.0, 1.0], [1.0, 1.0]]], "candidates of label 'near' must be finite .* column 1 is NaN"),
        (np.zeros((1, 3, 0)), r"candidates of label 'near' must .* 0 feature\(s\)"),
        ([{"far": [1.0]}, None], "per example, got None for example 1"),
        ([{"far": 3.0}], r"candidates of example 0, label 'far' must be one row of numbers, .* got 3\.0"),
        ([{"far": "words"}], "candidates of example 0, label 'far' must be one row of numbers, .* got 'words'"),
        ([{"far": [1.0, None]}], "candidates of example 0, label 'far' must be finite numbers: row 0, column 1 is NaN"),
        ({"far": 3.0}, r"got 3\.0 for label 'far'"),
        ({"far": [["words"]]}, "candidates of label 'far' must be finite numbers: dtype"),
        ({}, "at least one label, got an empty mapping"),
    ],
)
def test_a_wrong_feature_is_named_with_its_label(candidates, message):
    with pytest.raises(InputError, match=message) as refused:
        learner().ask([[1.0]], candidates=candidates)
    assert "X must" not in str(refused.value)


def test_a_missing_number_of_an_example_is_named_with_its_place():
    with pytest.raises(InputError, match="X must be finite: row 0, column 1 is NaN"):
        learner().ask(np.array([[1.0, np.nan]]), candidates={"near": [1.0]})
