"""Runs the compiled tagging loops: a policy tags all words, or learns sentence by sentence."""

import numpy as np
from numpy.typing import NDArray

from coalface.kernels import COSTS_QUERIED
from coalface.learner import UNLIMITED, CoalClassifier, settings_of
from coalface.structured.compiled_run import CompiledRun, online_model
from coalface.structured.kernels import tagging as kernels
from coalface.structured.kernels.tagging import TagRules
from coalface.structured.tagging.tag_features import TokenRows

_WORDS_PER_CALL = 20_000  # of the compiled loop; in between, Ctrl-C and progress are handled


def predict_tags(policy: CoalClassifier, tokens: TokenRows, allowed: NDArray[np.bool_]) -> NDArray[np.int32]:
    """The predicted tag of every word, as its number in ``classes_``."""
    model = online_model(policy)
    tags = np.zeros(len(tokens), np.int32)
    with model.lock:
        scratch = model.scratch_for(tokens.rows.longest)
        kernels.tag_rows(model.state, settings_of(policy), scratch, tokens.rows.csr, tokens.sentences, allowed, tags)
    return tags


class TaggingRun(CompiledRun):
    """A run word by word; ``tags`` are the policy's tags of the roll-in."""

    def __init__(
        self,
        policy: CoalClassifier,
        tokens: TokenRows,
        rules: TagRules,
        truth: NDArray[np.int32],
        sentences: NDArray[np.int64],
        warm_up: int,
        n_before: int = 0,
    ) -> None:
        super().__init__(policy, tokens.in_order(sentences), warm_up, n_before)
        self.tags = np.zeros(len(tokens), np.int32)
        self._ends = np.cumsum(np.diff(tokens.starts)[sentences])
        self.rules, self._tokens, self._truth = rules, tokens, truth

    @property
    def sentences_done(self) -> int:
        """Number of sentences learned completely."""
        return int(np.searchsorted(self._ends, self.done, side="right"))

    def play(self, budget: int = UNLIMITED) -> None:
        """Learn some more sentences, or until ``budget`` costs were asked for in total."""
        number = self.sentences_done
        begins = self.done == (self._ends[number - 1] if number else 0)
        if begins and self._warms_up(number):
            self._learn_to(int(self._ends[number]), budget)
        else:
            last = np.searchsorted(self._ends, min(self.done + _WORDS_PER_CALL, len(self.order)))
            self._learn_to(int(self._ends[last if begins else number]), budget)

    def _learn_to(self, stop: int, budget: int) -> None:
        model, tokens = self.model, self._tokens
        with model.lock:
            scratch = model.scratch_for(tokens.rows.longest)
            while True:
                kernels.learn_tags(
                    model.state,
                    settings_of(self.policy),
                    scratch,
                    tokens.rows.csr,
                    tokens.sentences,
                    self.rules.costs,
                    self._truth,
                    self.order,
                    self._done,
                    stop,
                    budget,
                    self.tags,
                )
                if self.done == stop or model.state.counters[COSTS_QUERIED] >= budget:
                    return
                model.make_room(int(scratch.unseen[0]))
