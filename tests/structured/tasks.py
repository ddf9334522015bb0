"""Small tasks whose roll-outs are counted, to test learning to search with."""

import numpy as np

from coalface.structured import SearchTask


class Spelling(SearchTask):
    """Spell a word of letters a, b and c, from noisy hints; every wrong letter costs 1."""

    actions = ("a", "b", "c")

    def __init__(self, *, free=False, keyed=False):
        self.free, self.keyed, self.called = free, keyed, []

    def start(self, example):
        word, hints = example
        return word, hints, ""

    def finished(self, state):
        return len(state[2]) == len(state[1])

    def allowed(self, state):  # noqa: ARG002
        return self.actions

    def step(self, state, action):
        return (*state[:2], state[2] + action)

    def features(self, state):
        place = len(state[2])
        return {f"hint {state[1][place]}": 1.0, f"last {state[2][-1:]}": 1.0, "place": place / 10}

    def reference(self, state):
        return state[0][len(state[2])]

    def loss(self, state):
        return float(sum(a != b for a, b in zip(state[0], state[2], strict=True)))

    def rollout(self, state, action):
        self.called.append((state, action))
        return super().rollout(state, action)

    def reference_loss(self, state):
        return float(sum(a != b for a, b in zip(state[0], state[2], strict=False))) if self.free else None

    def key(self, state):
        return state if self.keyed else None

    def output(self, state):
        return state[2]


def words(n, seed=0, length=5):
    """Words with hints that are right nine times in ten."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        word = "".join(rng.choice(list("abc"), size=length))
        yield word, "".join(letter if rng.random() < 0.9 else rng.choice(list("abc")) for letter in word)


def arrays(learner):
    """The policy's whole state."""
    return {name: array.tobytes() for name, array in learner.policy_.model_.arrays().items()}
