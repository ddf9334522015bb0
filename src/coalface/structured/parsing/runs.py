"""Runs the compiled parsing loops: a policy parses all sentences, or learns sentence by sentence."""

import numpy as np
from numpy.typing import NDArray

from coalface.kernels.state import WEIGHT
from coalface.learner.estimator import CostClassifier
from coalface.models.online import OnlineModel
from coalface.structured.kernels import parsing as kernels
from coalface.structured.kernels.paid_costs import PaidCosts, can_store, copy_paid_costs, new_paid_costs
from coalface.structured.kernels.parse_columns import new_state_row
from coalface.structured.kernels.parse_state import N_MOVES, NO_WORD, new_partial
from coalface.structured.parsing.grammar import Grammar
from coalface.structured.policies import set_warm_up

_WORDS_PER_FEATURE = 5  # of a template: a small treebank has more features per word than a large one
_SENTENCES_PER_CALL = 500  # of the compiled loop; in between, Ctrl-C and progress are handled


def _most_features(n_templates: int, bits: int, n_words: int) -> int:
    """About as many features as a treebank of this size has, at most; the model grows if there are more."""
    return min(n_templates << bits, n_templates * n_words // _WORDS_PER_FEATURE + 1)


def _memory(grammar: Grammar, longest: int) -> kernels.ParsingMemory:
    """Working memory for sentences of up to ``longest`` words."""
    templates, n_actions = grammar.templates, len(grammar.names)
    return kernels.ParsingMemory(
        new_partial(longest),
        new_state_row(templates),
        np.zeros(N_MOVES, np.int64),
        np.zeros(n_actions),
        np.zeros(n_actions, np.float32),
    )


def parse(
    policy: CostClassifier, grammar: Grammar, treebank: kernels.Treebank, weights: NDArray[np.float32] | None = None
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The predicted head and the number of the predicted label of every word; roots have -1."""
    model, templates = model_of(policy), grammar.templates
    heads, labels = (np.full(len(treebank.codes), NO_WORD, np.int32) for _ in range(2))
    longest = int(np.diff(treebank.starts).max(initial=1)) - 1
    with model.lock:
        kernels.parse_sentences(
            model.state,
            weights_of(model) if weights is None else weights,
            policy.settings_for(),
            model.scratch_for(len(templates.atoms)),
            treebank,
            grammar.code,
            grammar.actions,
            templates,
            _memory(grammar, longest),
            heads,
            labels,
        )
    return heads, labels


def weights_of(model: OnlineModel) -> NDArray[np.float32]:
    """The weights alone, (slots, lanes): a third of the model, which makes parsing faster."""
    return np.ascontiguousarray(model.arrays()["cells"][:, WEIGHT])


class ParsingRun:
    """A training run over the sentences of a treebank in a given order, done in pieces.

    ``n_before`` is the number of sentences that the policy has learned already; the warm-up counts them.
    """

    def __init__(
        self,
        policy: CostClassifier,
        grammar: Grammar,
        treebank: kernels.Treebank,
        losses: kernels.Losses,
        paid: PaidCosts,
        order: NDArray[np.int64],
        warm_up: int,
        n_before: int = 0,
    ) -> None:
        self.policy, self.paid, self.order = policy, paid, order
        self._grammar, self._treebank, self._losses = grammar, treebank, losses
        self._warm_up, self._n_before = warm_up, n_before
        self._lengths = np.diff(treebank.starts) - 1
        self._actions = grammar.actions
        model_of(policy).reserve(_most_features(len(grammar.templates.atoms), grammar.bits, int(self._lengths.sum())))
        self._memory = _memory(grammar, int(self._lengths.max()))
        self._done = np.zeros(1, np.int64)  # the kernel updates it in place, so it is right after Ctrl-C too

    @property
    def done(self) -> int:
        """Number of sentences learned."""
        return int(self._done[0])

    @property
    def finished(self) -> bool:
        """Whether all sentences are learned."""
        return self.done == len(self.order)

    def play(self, n_sentences: int | None = None) -> None:
        """Learn some more sentences, by default a few hundred."""
        warms_up = set_warm_up(self.policy, self._warm_up, self._n_before + self.done)
        n_sentences = 1 if warms_up else min(n_sentences or _SENTENCES_PER_CALL, _SENTENCES_PER_CALL)
        self._learn_to(min(self.done + n_sentences, len(self.order)))

    def _learn_to(self, stop: int) -> None:
        model, grammar = model_of(self.policy), self._grammar
        templates = grammar.templates
        with model.lock:
            scratch = model.scratch_for(len(templates.atoms), only_ones=True)
            while True:
                kernels.learn_sentences(
                    model.state,
                    self.policy.settings_for()._replace(only_ones=True),
                    scratch,
                    self._treebank,
                    grammar.code,
                    self._actions,
                    templates,
                    self._losses,
                    self._memory,
                    self.paid,
                    self.order,
                    self._done,
                    stop,
                )
                if self.done == stop:
                    return
                n_states = 2 * int(self._lengths[self.order[self.done]])
                model.make_room(int(scratch.unseen[0]))
                self.paid = with_room(self.paid, n_states, len(self._actions.moves))


def with_room(paid: PaidCosts, n_states: int, n_actions: int) -> PaidCosts:
    """The same paid costs in a table with room for this many more states."""
    while not can_store(paid, n_states):
        larger = new_paid_costs(n_actions, 2 * len(paid.keys))
        copy_paid_costs(paid, larger)
        paid = larger
    return paid


def model_of(policy: CostClassifier) -> OnlineModel:
    """The policy's model, which the compiled loops use directly."""
    assert isinstance(policy.model_, OnlineModel)
    return policy.model_
