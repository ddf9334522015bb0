"""The tagger as the learner ``tagger`` of studies with ``plugins = ["tagger"]``: a simulated run over sentences."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface import structured
from coalface.data import CostDataset, TrainTest
from coalface.errors import InputError
from coalface.evaluate import Checkpoint, CheckpointRecorder, Curve
from coalface.learner import by_path
from coalface.structured.policies import tagger_policy
from coalface.structured.tagging.runs import predict_tags
from coalface.structured.tagging.tag_features import TokenRows
from coalface.structured.tagging.tagger import SequenceTagger

Progress = Callable[[int, int], None] | None
Settings = Mapping[str, Any]
_OF_THE_TAGGER = ("conjunctions", "constraints", "history", "warm_up")
_OF_ITS_POLICY = ("abstain", "audits", "mellowness", "model", "rule")
_NOT_OF_A_LINE = ("model", "model.device", "model.interactions", "rule.miss_rate", "rule.warm_up")
_RATE = "model.learning_rate"  # of which studies show the best of several, for any learner


class TaggerLine:
    """What a study must know of the tagger, and how it runs a line: a pass over whole sentences.

    >>> TAGGER.name, TAGGER.asks, "history" in TAGGER.parameters
    ('tagger', 'costs', True)
    """

    name, asks, package, is_linear = "tagger", "costs", "", True
    sources = (Path(structured.__file__).parent,)

    def __init__(self) -> None:
        own = SequenceTagger().get_params(deep=False)
        policy = {**by_path(tagger_policy([]).get_params(deep=False)), "audits": "auto"}
        self.parameters: dict[str, Any] = {
            **{_name_of(path): policy[path] for path in policy if path.partition(".")[0] in _OF_ITS_POLICY},
            **{name: own[name] for name in _OF_THE_TAGGER},
        }
        for path in _NOT_OF_A_LINE:
            del self.parameters[path]

    def check(self, settings: Settings, n_labels: int) -> None:
        """Raise an InputError if the tagger rejects these settings."""
        self._tagger(settings, [], 0).check(n_labels)

    def run(
        self, settings: Settings, problem: TrainTest, permutation: int, checkpoints: Any, progress: Progress = None
    ) -> Curve:
        """One pass over the sentences in the order of the permutation, which also seeds everything random."""
        train, test = problem
        tagger = self._tagger(settings, train.classes.tolist(), permutation)
        order = np.random.default_rng(permutation).permutation(len(_lengths_of(train)))
        return tagging_curve(tagger, train, test, order=order, checkpoints=checkpoints, progress=progress)

    def _tagger(self, settings: Settings, tags: list[str], seed: int) -> SequenceTagger:
        """The tagger of a line, whose settings are its own and those of its policy."""
        own = {name: value for name, value in settings.items() if name in _OF_THE_TAGGER}
        chosen = {_argument(name): value for name, value in settings.items() if name not in own}
        return SequenceTagger(policy=tagger_policy(tags, random_state=seed, **chosen), **own)


def _name_of(path: str) -> str:
    """The setting of a line for a parameter of its policy."""
    return path.rpartition(".")[2] if path == _RATE else path


def _argument(setting: str) -> str:
    """The parameter of the policy for a setting of a line, as ``set_params`` takes it."""
    return (_RATE if setting == _name_of(_RATE) else setting).replace(".", "__")


TAGGER = TaggerLine()
LEARNERS = (TAGGER,)


def tagging_curve(
    tagger: SequenceTagger,
    train: CostDataset,
    test: CostDataset,
    *,
    order: Any = None,
    checkpoints: Any = "doubling",
    progress: Progress = None,
) -> Curve:
    """The test cost of a word against roll-outs, in one pass over the sentences in this ``order``.

    Words have the features of the data and the last predicted tags, but neither those of ``window`` nor
    ``conjunctions``. The tagger itself does not change.

    >>> X, y, sentence = np.tile(np.eye(2), (30, 1)), ["D", "N"] * 30, np.arange(60) // 2
    >>> data = CostDataset(X, classes=["D", "N"], truth=[0, 1] * 30, cost_matrix=1 - np.eye(2), sequence=sentence)
    >>> print(tagging_curve(SequenceTagger(policy=tagger_policy(["D", "N"], rule="passive")), data, data))
    120 costs on 60 of 60 examples, test cost 0.0000
    """
    words, held_out = (_words_of(part, tagger) for part in (train, test))
    truth, test_truth, costs = train.truth, test.truth, train.cost_matrix
    assert truth is not None
    assert test_truth is not None
    assert costs is not None
    own = SequenceTagger(**{**tagger.get_params(deep=False), "classes": train.classes, "cost_matrix": costs})
    sentences = np.arange(len(words.starts) - 1) if order is None else np.asarray(order, np.int64)
    run = own.start_run(train.classes, words, np.ascontiguousarray(truth), sentences)
    policy = run.policy

    def measure() -> Checkpoint:
        found = predict_tags(policy, held_out, run.rules.allowed)
        paid = float(costs[test_truth, found].astype(np.float64).mean())
        return Checkpoint(policy.costs_queried_, policy.examples_queried_, run.done, paid)

    started = time.perf_counter()
    recorder = CheckpointRecorder(checkpoints, len(train.classes), len(run.order), measure)
    while True:
        next_checkpoint = recorder.record(policy.costs_queried_)
        if run.finished:
            return recorder.curve(time.perf_counter() - started)
        run.play(next_checkpoint)
        if progress is not None:
            progress(run.done, len(run.order))


def _words_of(dataset: CostDataset, tagger: SequenceTagger) -> TokenRows:
    n_tags = len(dataset.classes)
    return TokenRows.of(dataset.X, _lengths_of(dataset), tagger.history, n_tags)


def _lengths_of(dataset: CostDataset) -> NDArray[np.int64]:
    """The number of words in each sentence."""
    if dataset.sequence is None or dataset.truth is None:
        raise InputError(f"{dataset!r} must consist of sequences with one true tag each. Read it from a CoNLL file.")
    ends = np.flatnonzero(np.diff(dataset.sequence, append=dataset.sequence[-1:] + 1)) + 1
    return np.diff(ends, prepend=0)
