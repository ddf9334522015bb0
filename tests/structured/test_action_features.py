"""Features of actions: a policy that chooses among things it has never seen, learned from few roll-outs."""

import numpy as np
import pytest

from coalface import Budget, CoalClassifier
from coalface.errors import InputError
from coalface.structured import SearchLearner, SearchTask
from tests.structured.tasks import Spelling, arrays, words


class Ranking(SearchTask):
    """Put documents into order, the most relevant first; each is known by its features alone.

    An example is the features (n, 3) of some documents. Their relevance is the first feature.
    """

    actions = tuple(range(8))

    def start(self, example):
        return example, ()

    def finished(self, state):
        return len(state[1]) == min(len(state[0]), 3)

    def allowed(self, state):
        return [place for place in range(len(state[0])) if place not in state[1]]

    def step(self, state, action):
        return state[0], (*state[1], action)

    def features(self, state):
        return {f"place {len(state[1])}": 1.0}

    def action_features(self, state, action):
        return {f"feature {j}": value for j, value in enumerate(state[0][action])}

    def reference(self, state):
        return max(self.allowed(state), key=lambda place: state[0][place][0])

    def loss(self, state):
        documents, order = state
        gains = [documents[place][0] for place in order]
        best = sorted((document[0] for document in documents), reverse=True)[: len(order)]
        return float(np.sum(best) - np.sum(gains))

    def output(self, state):
        return state[1]


def lists(n, seed=0):
    random = np.random.default_rng(seed)
    return [tuple(map(tuple, random.random((random.integers(4, 9), 3)))) for _ in range(n)]


def test_it_ranks_documents_that_it_has_never_seen_after_few_roll_outs():
    learner, passive = (
        SearchLearner(Ranking()),
        SearchLearner(Ranking(), CoalClassifier(model="shared", rule="passive")),
    )
    examples = lists(150)
    learner.fit(examples), passive.fit(examples)
    assert learner.rollouts_ < passive.rollouts_ / 2
    assert learner.score(lists(50, seed=1)) > -0.05  # a random order loses 0.7


def test_one_regressor_per_place_learns_nothing():
    """The same task without features of actions: places mean nothing, so only features of states are left."""
    learner = SearchLearner(type("Blind", (Ranking,), {"action_features": SearchTask.action_features})())
    assert learner.fit(lists(150)).score(lists(50, seed=1)) < -0.4


def test_a_saved_learner_continues_exactly(tmp_path):
    one, examples = SearchLearner(Ranking()), lists(40)
    one.fit(examples[:20]).save(tmp_path / "learner")
    other = SearchLearner.load(tmp_path / "learner", Ranking())
    one.partial_fit(examples[20:])
    other.partial_fit(examples[20:])
    assert arrays(one) == arrays(other)
    assert one.predict(lists(5, seed=2)) == other.predict(lists(5, seed=2))


def test_a_failed_example_changes_nothing():
    learner = SearchLearner(Ranking()).fit(lists(10))
    before = arrays(learner)
    with pytest.raises(InputError, match="Example 1, step 0"):
        learner.partial_fit([lists(1)[0], ((0.5, np.nan, 0.1), (0.1, 0.2, 0.3))])
    learner.partial_fit(lists(1))
    again = SearchLearner(Ranking()).fit(lists(10)).partial_fit(lists(1)).partial_fit(lists(1))
    assert arrays(learner) == arrays(again)
    assert arrays(learner) != before


def test_side_by_side_episodes_and_budgets_see_the_same_rows():
    one, other = (
        SearchLearner(Ranking(), CoalClassifier(model="shared", budget=b)) for b in (None, Budget(costs=10_000))
    )
    assert one.fit(lists(30)).predict(lists(5)) == other.fit(lists(30)).predict(lists(5))
    assert len(SearchLearner(Ranking(), at_once=4).fit(lists(30)).predict(lists(5))) == 5


@pytest.mark.parametrize(
    ("task", "model", "message"),
    [
        (Ranking(), "online", "policy must have model='shared'"),
        (Spelling(), "shared", "policy must have another model"),
    ],
)
def test_the_policy_fits_the_task(task, model, message):
    with pytest.raises(InputError, match=message):
        SearchLearner(task, CoalClassifier(model=model)).fit(list(words(2)))


def test_every_allowed_action_needs_features():
    class Silent(Ranking):
        def action_features(self, state, action):
            return None if action == 2 else super().action_features(state, action)

    with pytest.raises(InputError, match="must give features of every allowed action, got None for 2"):
        SearchLearner(Silent()).fit(lists(2))
