"""Runs the compiled parsing loops: a policy parses all sentences, or learns sentence by sentence.

``Averages`` are those of a model's weights over a training run.
"""

import numpy as np
from numpy.typing import NDArray

from coalface.kernels import WEIGHT
from coalface.learner import CoalClassifier, settings_of
from coalface.models import OnlineModel
from coalface.structured.compiled_run import CompiledRun, online_model
from coalface.structured.kernels import parsing as kernels
from coalface.structured.kernels.paid_costs import PaidCosts, with_room
from coalface.structured.kernels.parse_columns import new_state_row
from coalface.structured.kernels.parse_state import N_MOVES, NO_WORD, Treebank, new_partial
from coalface.structured.parsing.grammar import Grammar

_WORDS_PER_FEATURE = 5  # of a template: a small treebank has more features per word than a large one
_MOMENTS = 20  # of a run with averages: to add all weights takes time
_SENTENCES_PER_CALL = 500  # of the compiled loop; in between, Ctrl-C and progress are handled


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
    policy: CoalClassifier, grammar: Grammar, treebank: Treebank, weights: NDArray[np.float32] | None = None
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The predicted head and the number of the predicted label of every word; roots have -1."""
    model, templates = online_model(policy), grammar.templates
    heads, labels = (np.full(len(treebank.codes), NO_WORD, np.int32) for _ in range(2))
    longest = int(np.diff(treebank.starts).max(initial=1)) - 1
    with model.lock:
        kernels.parse_sentences(
            model.state,
            weights_of(model) if weights is None else weights,
            settings_of(policy),
            model.scratch_for(len(templates.atoms)),
            treebank,
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


class ParsingRun(CompiledRun):
    """A run over the sentences of a treebank; ``paid`` are the costs paid for so far."""

    def __init__(
        self,
        policy: CoalClassifier,
        grammar: Grammar,
        treebank: Treebank,
        losses: kernels.Losses,
        paid: PaidCosts,
        order: NDArray[np.int64],
        warm_up: int,
        n_before: int = 0,
    ) -> None:
        super().__init__(policy, order, warm_up, n_before)
        self.paid, self._grammar, self._treebank, self._losses = paid, grammar, treebank, losses
        self._lengths = np.diff(treebank.starts) - 1
        self._actions = grammar.actions
        n_templates, n_words = len(grammar.templates.atoms), int(self._lengths.sum())
        # about as many features as a treebank of this size has, at most; the model grows if there are more
        self.model.reserve(min(n_templates << grammar.bits, n_templates * n_words // _WORDS_PER_FEATURE + 1))
        self._memory = _memory(grammar, int(self._lengths.max()))

    def play(self, n_sentences: int | None = None) -> None:
        """Learn some more sentences, by default a few hundred."""
        n_sentences = 1 if self._warms_up(self.done) else min(n_sentences or _SENTENCES_PER_CALL, _SENTENCES_PER_CALL)
        self._learn_to(min(self.done + n_sentences, len(self.order)))

    def _learn_to(self, stop: int) -> None:
        model, templates = self.model, self._grammar.templates
        with model.lock:
            scratch = model.scratch_for(len(templates.atoms), only_ones=True)
            while True:
                kernels.learn_sentences(
                    model.state,
                    settings_of(self.policy)._replace(only_ones=True),
                    scratch,
                    self._treebank,
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


class Averages:
    """The mean of the weights at several moments of a run; a feature that came later had the weight 0 before."""

    def __init__(self, model: OnlineModel, n_sentences: int) -> None:
        self.sentences_between = self._next = max(n_sentences // _MOMENTS, 1)
        self._model = model
        self._sum = np.zeros((0, 0), np.float32)
        self._n_added = 0
        self._is_present = False  # whether the last weights added are those of now

    def add(self, n_sentences: int) -> None:
        """Add the present weights, after so many sentences, unless that was done a moment ago."""
        self._is_present = n_sentences >= self._next
        if self._is_present:
            self._add()
            self._next = n_sentences + self.sentences_between

    @property
    def weights(self) -> NDArray[np.float32]:
        """The mean, with the present weights included."""
        if not self._is_present:
            self._add()
            self._is_present = True
        return self._sum / np.float32(self._n_added)

    def _add(self) -> None:
        weights = weights_of(self._model)
        if len(self._sum):
            weights[: len(self._sum)] += self._sum
        self._sum, self._n_added = weights, self._n_added + 1
