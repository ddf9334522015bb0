"""A policy going over words: it tags, or it learns from roll-outs, in compiled loops."""

import numpy as np
from numpy.typing import NDArray

from coalface.kernels import tagging as kernels
from coalface.kernels.state import COSTS_QUERIED
from coalface.kernels.tagging import Tagging
from coalface.learner import CoalClassifier
from coalface.queries.rounds import UNLIMITED
from coalface.regressors.online import OnlineRegressors
from coalface.search.features import TokenRows
from coalface.search.spans import allowed_tags, reference_tags


def tagging_of(classes: NDArray[np.str_], costs: NDArray[np.float32], scheme: str | None) -> Tagging:
    """What the kernels know of the tags: what may follow what, the reference, and the costs of wrong ones."""
    names = classes.tolist()
    allowed = allowed_tags(names, scheme)
    return Tagging(allowed, reference_tags(names, allowed, scheme), costs)


def tagged(policy: CoalClassifier, tokens: TokenRows, allowed: NDArray[np.bool_]) -> NDArray[np.int32]:
    """The tags of all words, as columns."""
    regressors = _regressors_of(policy)
    tags = np.zeros(len(tokens), np.int32)
    with regressors.lock:
        scratch = regressors.scratch_for(tokens.rows.longest)
        kernels.tag_rows(
            regressors.model, policy._settings(), scratch, tokens.rows.csr, tokens.sentences, allowed, tags
        )
    return tags


class TaggingRun:
    """The policy learns from the words ``order``, piece by piece; ``tags`` are those that it rolled in with."""

    def __init__(
        self,
        policy: CoalClassifier,
        tokens: TokenRows,
        tagging: Tagging,
        truth: NDArray[np.int32],
        order: NDArray[np.int64],
    ) -> None:
        self.done, self.order = 0, order
        self.tags = np.zeros(len(tokens), np.int32)
        self._policy, self._tokens, self._tagging, self._truth = policy, tokens, tagging, truth
        self._costs = np.zeros(tagging.costs.shape[0], np.float32)

    def play(self, n_words: int, budget: int = UNLIMITED) -> None:
        """Go on for at most ``n_words`` words, or until ``budget`` costs have been asked for in all."""
        regressors, tokens = _regressors_of(self._policy), self._tokens
        stop = min(self.done + n_words, len(self.order))
        with regressors.lock:
            scratch = regressors.scratch_for(tokens.rows.longest)
            while True:
                self.done = kernels.learn_tags(
                    regressors.model,
                    self._policy._settings(),
                    scratch,
                    tokens.rows.csr,
                    tokens.sentences,
                    self._tagging,
                    self._truth,
                    self.order,
                    self.done,
                    stop,
                    budget,
                    self._costs,
                    self.tags,
                )
                if self.done == stop or regressors.model.counters[COSTS_QUERIED] >= budget:
                    return
                regressors.make_room(int(scratch.unseen[0]))


def _regressors_of(policy: CoalClassifier) -> OnlineRegressors:
    assert isinstance(policy.regressors_, OnlineRegressors)
    return policy.regressors_
