"""Labels that come and go: every model keeps what the others have learned, and ledgers and files repeat each change."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coalface import Abstain, CoalClassifier, JsonLinesLedger, MemoryLedger, SqlLedger, simulate
from coalface.errors import FileFormatError, InputError, UnansweredWarning, UnknownLabelError
from coalface.models.classes import ClassModel
from coalface.models.committee import CommitteeModel
from coalface.models.forest import ForestModel
from coalface.models.online import OnlineModel
from coalface.models.ridge import RidgeModel
from coalface.paper.model import ExactModel
from coalface.rounds.label_change import LabelChange
from tests.models.test_contract import MeanModel

MODELS = {
    "online": OnlineModel(),
    "online, interactions": OnlineModel(interactions=2),
    "ridge": RidgeModel(),
    "ridge, rbf": RidgeModel(kernel="rbf"),
    "ridge, rbf, few landmarks": RidgeModel(kernel="rbf", n_components=6),
    "forest": ForestModel(n_trees=4),
    "classes": ClassModel(),
    "committee": CommitteeModel(),
    "exact": ExactModel(),
}
_RANDOM = np.random.default_rng(3)
X = _RANDOM.normal(size=(64, 3))
COST = 1.0 / (1.0 + np.exp(-X @ _RANDOM.normal(size=(3, 12)) * 2.0))  # of up to 12 labels
NAMES = ["ant", "bee", "cow"]


def state_of(learner):
    return learner.model_.saved()


def same(one, other):
    ours, theirs = state_of(one), state_of(other)
    arrays = ours.keys() == theirs.keys() and all(
        np.array_equal(ours[name], theirs[name], equal_nan=ours[name].dtype.kind == "f") for name in ours
    )
    return arrays and one.classes_.tolist() == other.classes_.tolist() and one.labels_.retired == other.labels_.retired


def play(learner, rows):
    """Ask about rows, one by one, and tell the costs; which labels each was asked about."""
    asked = []
    for row in rows:
        queries = learner.ask(X[[row]])
        cost = np.where(queries.mask, COST[[row], : len(learner.classes_)], np.nan)
        learner.tell(X[[row]], cost, asked=queries)
        asked.append(queries.labels(0).tolist())
    return asked


@pytest.fixture(params=MODELS)
def learner(request):
    return CoalClassifier(NAMES, model=MODELS[request.param])


@pytest.mark.filterwarnings("ignore::coalface.errors.EmptyVersionSpaceWarning")
class TestEveryModel:
    """What holds for every model that can grow."""

    def test_a_new_label_is_uncertain_and_asked_about_and_the_others_keep_what_they_know(self, learner):
        play(learner, range(15))
        predicted, known = learner.predict_cost(X), state_of(copy.deepcopy(learner))
        learner.add_label("dog")
        assert learner.classes_.tolist() == [*NAMES, "dog"]
        if not isinstance(learner.model_, ClassModel):  # there, the new class takes a little probability
            np.testing.assert_array_equal(learner.predict_cost(X)[:, :3], predicted)
        assert (learner.cost_range(X).width[:, 3] == 1.0).all()
        for name in ("weights", "factors", "norm_sum", "updates", "squared_residuals"):
            if name in known and not isinstance(learner.model_, ClassModel):
                now = state_of(learner)[name]
                np.testing.assert_array_equal(now[:3], known[name][:3])
        assert all("dog" in asked for asked in play(learner, range(15, 25)))  # its own warm-up

    def test_a_new_label_is_learned_as_the_others_are(self, learner):
        play(learner, range(8))
        learner.add_label("dog")
        learner.tell(X[:30], COST[:30, :4])
        wrong = np.abs(learner.predict_cost(X) - COST[:, :4]).mean(axis=0)
        assert wrong[3] < max(1.2 * wrong[:3].max(), 0.2)

    def test_a_retired_label_is_never_predicted_or_asked_about_and_keeps_its_history(self, learner):
        learner.tell(X[:20], np.column_stack([COST[:20, 0] * 0.1, COST[:20, 1:3]]))  # "ant" is best
        before = learner.predict_cost(X)
        assert "ant" in learner.predict(X)
        learner.retire_label("ant")
        np.testing.assert_array_equal(learner.predict_cost(X), before)
        assert learner.labels_.retired == ["ant"]
        assert "ant" not in learner.predict(X)
        assert not learner.ask(X).mask[:, 0].any()
        assert all("ant" not in asked for asked in play(learner, range(20, 40)))
        learner.add_label("ant")  # brings it back
        assert learner.labels_.retired == []
        assert learner.model_.state.answered[0] == 20
        assert "ant" in learner.predict(X)

    def test_saved_copied_and_replayed_learners_are_equal_bit_for_bit(self, learner, tmp_path):
        ledger = MemoryLedger()
        learner.record_to(ledger)
        play(learner, range(8))
        learner.add_label("dog")
        play(learner, range(8, 14))
        learner.rename_label("ant", "auk").retire_label("bee")
        play(learner, range(14, 18))
        learner.add_label("elk").tell(X[[30]], COST[[30], :5], late=True)
        play(learner, range(31, 36))
        learner.save(tmp_path / "model")
        for other in (
            CoalClassifier.from_ledger(ledger),
            CoalClassifier.load(tmp_path / "model"),
            copy.deepcopy(learner),
            pickle.loads(pickle.dumps(learner)),
        ):
            assert same(other, learner)
            assert (other.ask(X[40:]).mask == learner.ask(X[40:]).mask).all()
            assert play(copy.deepcopy(other), range(40, 42)) == play(copy.deepcopy(learner), range(40, 42))

    def test_a_model_that_grows_beyond_its_lanes_learns_on(self, learner):
        for number in range(9):
            play(learner, [number])
            learner.add_label(f"new {number}")
        learner.tell(X[:10], COST[:10])
        assert learner.predict_cost(X).shape == (len(X), 12)
        assert (learner.model_.state.answered[:12] >= 10).all()


CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("play"), st.integers(1, 6)),
        st.tuples(st.just("add"), st.sampled_from("defg")),
        st.tuples(st.just("rename"), st.tuples(st.integers(0, 6), st.sampled_from("defgxyz"))),
        st.tuples(st.just("retire"), st.integers(0, 6)),
    ),
    max_size=12,
)


@pytest.mark.parametrize("model", ["online", "forest", "committee", "classes"])
@settings(max_examples=6, deadline=None)
@given(steps=CHANGES)
def test_any_sequence_of_changes_and_answers_is_replayed_bit_for_bit(model, steps):
    ledger = MemoryLedger()
    learner, row = CoalClassifier(NAMES, model=MODELS[model]).record_to(ledger), 0
    for step, what in steps:
        entries, before = len(ledger), learner.labels_
        try:
            if step == "play":
                for asked in play(learner, [number % 64 for number in range(row, row + what)]):
                    assert not {*asked} & {*learner.labels_.retired}
                row += what
            elif step == "add":
                learner.add_label(what)
            elif step == "rename":
                learner.rename_label(before.classes[what[0] % len(before.classes)], what[1])
            else:
                learner.retire_label(before.classes[what % len(before.classes)])
        except InputError:  # an impossible change leaves everything as it was
            assert len(ledger) == entries
            np.testing.assert_array_equal(learner.classes_, before.classes)
    assert same(CoalClassifier.from_ledger(ledger), learner)


@pytest.fixture(params=["memory", "json lines", "sql"])
def ledger(request, tmp_path):
    kinds = {
        "memory": lambda: MemoryLedger(),
        "json lines": lambda: JsonLinesLedger(tmp_path / "answers.jsonl"),
        "sql": lambda: SqlLedger(f"sqlite:///{tmp_path}/answers.db"),
    }
    return kinds[request.param]()


def test_every_ledger_keeps_the_changes_between_the_rounds(ledger):
    learner = CoalClassifier(NAMES).record_to(ledger).tell(X[:2], COST[:2, :3])
    learner.add_label("dog").tell(X[2:3], COST[2:3, :4]).rename_label("dog", "fox").retire_label("cow")
    kinds = [one.kind if isinstance(one, LabelChange) else one.number for one in ledger]
    assert kinds == [1, 2, "add", 3, "rename", "retire"]
    assert len(ledger) == 6
    again = CoalClassifier.from_ledger(ledger)
    assert same(again, learner)
    again.tell(X[3:4], COST[3:4, :4])  # and it goes on
    assert [one.number for one in ledger if not isinstance(one, LabelChange)] == [1, 2, 3, 4]


def test_a_crash_after_the_ledger_was_written_loses_no_change(tmp_path, monkeypatch):
    path = tmp_path / "answers.jsonl"
    learner = CoalClassifier(NAMES).record_to(JsonLinesLedger(path)).tell(X[:2], COST[:2, :3])
    monkeypatch.setattr(CommitteeModel, "add_label", lambda *_: (_ for _ in ()).throw(MemoryError("lost")))
    with pytest.raises(MemoryError):
        learner.add_label("dog")
    monkeypatch.undo()
    with pytest.raises(InputError, match=r"differ.*from_ledger"):
        learner.tell(X[2:3], COST[2:3, :3])
    assert CoalClassifier.from_ledger(JsonLinesLedger(path)).classes_.tolist() == [*NAMES, "dog"]


def test_a_learner_that_lost_a_label_cannot_begin_a_ledger():
    learner = CoalClassifier(NAMES).retire_label("ant")
    with pytest.raises(InputError, match=r"before a label is retired.*'ant'"):
        learner.record_to(MemoryLedger())


def test_a_damaged_change_is_refused(tmp_path):
    path = tmp_path / "answers.jsonl"
    CoalClassifier(NAMES).record_to(JsonLinesLedger(path)).add_label("dog")
    path.write_text(path.read_text().replace('"labels":"add"', '"labels":"eat"'))
    with pytest.raises(FileFormatError, match=r"line 2 is damaged.*'add', 'rename', 'retire'.*'eat'"):
        JsonLinesLedger(path)


# -- names ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda one: one.add_label("ant"), r"'ant' exists already"),
        (lambda one: one.add_label(7), r"all strings or all numbers"),
        (lambda one: one.rename_label("ant", "bee"), r"'ant' cannot be renamed to 'bee'"),
        (lambda one: one.rename_label("fox", "elk"), r"Unknown label 'fox'"),
        (lambda one: one.retire_label("fox"), r"Unknown label 'fox'"),
        (lambda one: one.retire_label("ant").retire_label("ant"), r"'ant' is retired already"),
        (lambda one: one.retire_label("ant").retire_label("bee").retire_label("cow"), r"'cow' cannot be retired"),
        (lambda one: one.add_label("dog", cost_matrix=np.eye(4)), r"cost_matrix must be left out"),
    ],
)
def test_an_impossible_change_is_one_clear_line(change, error):
    learner = CoalClassifier(NAMES).tell(X[:2], COST[:2, :3])
    with pytest.raises(InputError, match=error) as found:
        change(learner)
    assert "\n" not in str(found.value)
    assert learner.classes_.tolist() == NAMES


def test_numbers_stay_numbers():
    learner = CoalClassifier([1, 2]).tell(X[:2], COST[:2, :2]).add_label(np.int64(5))
    assert learner.classes_.tolist() == [1, 2, 5]
    with pytest.raises(InputError, match=r"must be like the others, such as 1, got 2.5"):
        learner.add_label(2.5)


def test_the_name_of_abstaining_stays_distinct():
    learner = CoalClassifier(NAMES, abstain=Abstain(0.4)).tell(X[:2], COST[:2, :3])
    with pytest.raises(InputError, match=r"abstain label must differ"):
        learner.add_label("abstain")


def test_a_model_of_ones_own_without_growth_says_so_and_can_still_rename_and_retire():
    learner = CoalClassifier(NAMES, model=MeanModel()).tell(X[:2], COST[:2, :3])
    with pytest.raises(InputError, match=r"MeanModel cannot take a new label.*no method grow"):
        learner.add_label("dog")
    assert learner.rename_label("ant", "auk").retire_label("bee").labels_.retired == ["bee"]
    assert learner.classes_.tolist() == ["auk", "bee", "cow"]


def test_an_unknown_label_names_the_method_that_adds_it():
    learner = CoalClassifier(NAMES).tell(X[:2], COST[:2, :3])
    with pytest.raises(UnknownLabelError, match=r"learner\.add_label\('dog'\)"):
        learner.partial_fit(X[:1], ["dog"])


# -- questions and costs ------------------------------------------------------------------------------


@pytest.mark.parametrize("abstain", [None, Abstain(0.3)], ids=str)
def test_questions_asked_before_a_change_can_be_answered_after_it(abstain):
    learner = CoalClassifier(NAMES, model="online", abstain=abstain).tell(X[:12], COST[:12, :3])
    other = copy.deepcopy(learner)
    queries = learner.ask(X[12:20])
    cost = np.where(queries.mask, COST[12:20, :3], np.nan)
    other.tell(X[12:20], cost, asked=queries)
    learner.add_label("dog").retire_label("ant").rename_label("bee", "ape").tell(X[12:20], cost, asked=queries)
    np.testing.assert_array_equal(learner.predict_cost(X)[:, :3], other.predict_cost(X))
    assert learner.costs_queried_ == other.costs_queried_
    assert learner.saving_ == other.saving_


def test_a_learner_with_a_cost_matrix_needs_the_costs_of_the_new_label():
    matrix = 1.0 - np.eye(3)
    learner = CoalClassifier(NAMES, cost_matrix=matrix, price_of_truth=2).tell(X[:6], truth=["ant", "bee", "cow"] * 2)
    wider = np.pad(matrix, (0, 1), constant_values=0.7)
    wider[3, 3] = 0.0
    with pytest.raises(InputError, match=r"costs of all 4 labels"):
        learner.add_label("dog")
    with pytest.raises(InputError, match=r"keep the costs of the earlier labels"):
        learner.add_label("dog", cost_matrix=wider * 0.5)
    ledger = MemoryLedger()
    recorded = CoalClassifier(NAMES, cost_matrix=matrix, price_of_truth=2).record_to(ledger)
    for one in (learner, recorded):
        one.add_label("dog", cost_matrix=wider).tell(X[6:8], truth=["dog", "ant"])
    assert learner.model_.state.answered[3] == 2
    again = CoalClassifier.from_ledger(ledger)
    assert same(again, recorded)
    np.testing.assert_array_equal(again.cost_matrix, wider)


@pytest.mark.filterwarnings("ignore::coalface.errors.UnansweredWarning")
def test_the_class_model_learns_on_after_a_label_is_retired():
    learner = CoalClassifier(NAMES, model="classes").tell(X[:8], COST[:8, :3]).retire_label("bee")
    learner.tell(X[20:26], np.where([True, False, True], COST[20:26, :3], np.nan))
    assert len(learner.model_.examples) == 8 + 6
    assert {*learner.predict(X)} <= {"ant", "cow"}


@pytest.mark.parametrize("model", ["online", "ridge"])
def test_a_new_label_starts_at_the_mean_prediction_of_the_others_in_use(model):
    learner = CoalClassifier(NAMES, model=MODELS[model]).tell(X[:20], COST[:20, :3]).retire_label("bee")
    learner.add_label("dog")
    predicted = learner.predict_cost(X)
    np.testing.assert_allclose(predicted[:, 3], predicted[:, [0, 2]].mean(axis=1), atol=1e-5)


def test_predictions_warn_of_a_new_label_and_not_of_a_retired_one():
    learner = CoalClassifier(NAMES, model="online").tell(X[:20], COST[:20, :3]).add_label("dog")
    with pytest.warns(UnansweredWarning, match="dog"):
        assert "dog" not in learner.predict(X)
    assert learner.predict(X[:1], candidates=[[False, False, False, True]]).tolist() == ["dog"]
    learner.retire_label("dog").predict(X)
    assert "dog" not in learner.labels_.rare


def test_a_simulated_run_goes_on_with_the_labels_of_the_learner():
    learner = CoalClassifier(NAMES, model="online")
    simulate(learner, X[:30], COST[:30, :3])
    learner.add_label("dog").retire_label("bee")
    loop = copy.deepcopy(learner)
    simulate(learner, X[30:], COST[30:, :4])
    loop.interview(X[30:], lambda i, label: COST[30 + i, learner.classes_.tolist().index(label)])
    assert same(loop, learner)
    assert learner.model_.state.asked[1] <= 30


def test_the_exact_learner_of_the_paper_takes_new_labels():
    learner = CoalClassifier(NAMES, model=ExactModel(schedule="theory", dimension=4, horizon=100)).tell(
        X[:4], COST[:4, :3]
    )
    assert learner.add_label("dog").cost_range(X[:1]).width[0, 3] == 1.0
    assert learner.tell(X[4:6], COST[4:6, :4]).model_.theory.schedule.n_labels == 4


def test_before_the_first_round_a_new_label_is_one_of_the_first():
    early, whole = CoalClassifier(NAMES).add_label("dog"), CoalClassifier([*NAMES, "dog"])
    assert play(early, range(20)) == play(whole, range(20))
    assert same(early, whole)
