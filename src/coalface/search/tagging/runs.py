"""A policy going over words: it tags, or it learns from roll-outs, in compiled loops."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from coalface.kernels import tagging as kernels
from coalface.kernels.state import COSTS_QUERIED
from coalface.kernels.tagging import Tagging
from coalface.learner.coal import CoalClassifier
from coalface.learner.simulating import UNLIMITED
from coalface.models.online import OnlineModel
from coalface.search.tagging.spans import allowed_tags, reference_tags
from coalface.search.tagging.tag_features import TokenRows
from coalface.search.warm_up import warm_up_goes_on

_PIECE = 20_000  # words learned between two looks at Ctrl-C and progress


def tagging_of(classes: NDArray[np.str_], costs: NDArray[np.float32], scheme: str | None) -> Tagging:
    """What the kernels know of the tags: what may follow what, the reference, and the costs of wrong ones."""
    return Tagging(*_tables(tuple(classes.tolist()), scheme), costs)


@lru_cache(maxsize=8)  # with hundreds of tags they take a second, and every prediction needs one
def _tables(names: tuple[str, ...], scheme: str | None) -> tuple[NDArray[np.bool_], NDArray[np.int32]]:
    allowed = allowed_tags(names, scheme)
    return allowed, reference_tags(names, allowed, scheme)


def tagged(policy: CoalClassifier, tokens: TokenRows, allowed: NDArray[np.bool_]) -> NDArray[np.int32]:
    """The tags of all words, as columns."""
    model = _model_of(policy)
    tags = np.zeros(len(tokens), np.int32)
    with model.lock:
        scratch = model.scratch_for(tokens.rows.longest)
        kernels.tag_rows(model.state, policy.settings_for(), scratch, tokens.rows.csr, tokens.sentences, allowed, tags)
    return tags


class TaggingRun:
    """The policy learns from sentences in their order, piece by piece; ``tags`` are those that it rolled in with.

    ``before`` says how many sentences it has learned from already, for the warm-up.
    """

    def __init__(
        self,
        policy: CoalClassifier,
        tokens: TokenRows,
        tagging: Tagging,
        truth: NDArray[np.int32],
        sentences: NDArray[np.int64],
        warm_up: int,
        before: int = 0,
    ) -> None:
        self.order = tokens.in_order(sentences)
        self.tags = np.zeros(len(tokens), np.int32)
        self._ends = np.cumsum(np.diff(tokens.starts)[sentences])
        self.policy, self.tagging = policy, tagging
        self._tokens, self._truth = tokens, truth
        self._warm_up, self._before = warm_up, before
        self._costs = np.zeros(tagging.costs.shape[0], np.float32)
        self._done = np.zeros(1, np.int64)  # where the kernel keeps it, so that it is right after Ctrl-C too

    @property
    def done(self) -> int:
        """Words learned."""
        return int(self._done[0])

    @property
    def sentences_done(self) -> int:
        """Sentences learned to their end."""
        return int(np.searchsorted(self._ends, self.done, side="right"))

    @property
    def finished(self) -> bool:
        """Whether there is nothing more to learn."""
        return self.done == len(self.order)

    def play(self, budget: int = UNLIMITED) -> None:
        """Go on for some sentences, or until ``budget`` costs have been asked for in all."""
        number = self.sentences_done
        begins = self.done == (self._ends[number - 1] if number else 0)
        if begins and warm_up_goes_on(self.policy, self._warm_up, self._before + number):
            self._play_to(int(self._ends[number]), budget)
        else:
            last = np.searchsorted(self._ends, min(self.done + _PIECE, len(self.order)))
            self._play_to(int(self._ends[last if begins else number]), budget)

    def _play_to(self, stop: int, budget: int) -> None:
        model, tokens = _model_of(self.policy), self._tokens
        with model.lock:
            scratch = model.scratch_for(tokens.rows.longest)
            while True:
                kernels.learn_tags(
                    model.state,
                    self.policy.settings_for(),
                    scratch,
                    tokens.rows.csr,
                    tokens.sentences,
                    self.tagging,
                    self._truth,
                    self.order,
                    self._done,
                    stop,
                    budget,
                    self._costs,
                    self.tags,
                )
                if self.done == stop or model.state.counters[COSTS_QUERIED] >= budget:
                    return
                model.make_room(int(scratch.unseen[0]))


def _model_of(policy: CoalClassifier) -> OnlineModel:
    assert isinstance(policy.model_, OnlineModel)
    return policy.model_
