"""Averages of a model's weights over a training run."""

import numpy as np
from numpy.typing import NDArray

from coalface.models.online import OnlineModel
from coalface.structured.parsing.runs import weights_of

_MOMENTS = 20  # of a run: to add all weights takes time


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
