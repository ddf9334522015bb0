"""The sequence tagger: AggreVaTe in compiled loops, with COAL choosing which tags to roll out."""

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from coalface.data.labels import label_array
from coalface.data.numbers import flag, whole_number
from coalface.errors import FileFormatError, InputError
from coalface.files.bundle import read_bundle, write_bundle
from coalface.learner.budget import Budget
from coalface.learner.classifiers import CoalClassifier
from coalface.learner.settings import AS_PUBLISHED
from coalface.structured.kernels.tagging import TagRules
from coalface.structured.sentence_learner import POLICY_PARAMS, SentenceLearner
from coalface.structured.tagging.runs import TaggingRun, predict_tags
from coalface.structured.tagging.sentences import (
    check_legal,
    check_tagged,
    check_words,
    split_like,
    tag_codes,
    tag_names,
)
from coalface.structured.tagging.spans import OUTSIDE, marks_spans, span_f1
from coalface.structured.tagging.tag_features import TokenRows, check_history, conjunction_keys, word_rows
from coalface.structured.tagging.tag_rules import check_scheme, tag_rules
from coalface.structured.tagging.unlearned_tags import warn_of_unlearned

_POLICY_PARAMS = (*POLICY_PARAMS, "audits", "abstain_cost", "abstain_label", "alike")
Progress = Callable[[int, int, int], None]


class SequenceTagger(SentenceLearner):
    """Tags the words of sentences, and learns to from as few roll-outs as possible.

    A word's tag is predicted from its features, those of ``window`` neighbours on each side and the last ``history``
    predicted tags. With ``conjunctions``, the last tag also counts together with the word, and with the shapes of this
    word and the next. The policy is a ``CoalClassifier`` and takes its parameters, but ``warm_up`` counts sentences.
    ``cost_matrix`` (row = truth, column = prediction, in [0, 1]) gives the cost of each mistake. ``constraints``
    "bio" or "bilou" allows only tags that form valid spans. ``budget`` limits the roll-outs: a number of them, spread
    over the words of one call of ``fit``, or a ``Budget``. With ``abstain_cost``, a word gets ``abstain_label`` if
    every tag is predicted to cost more.

    >>> sentences, tags = [["The", "cat", "sleeps"], ["A", "dog"]] * 30, [["D", "N", "V"], ["D", "N"]] * 30
    >>> tagger = SequenceTagger().fit(sentences, tags)
    >>> tagger.predict([["The", "dog", "sleeps"]])
    [['D', 'N', 'V']]
    >>> tagger.rollouts_ < 3 * 5 * 30
    True
    """

    classes: Any
    cost_matrix: Any
    audits: str
    abstain_cost: float | None
    abstain_label: str | None
    budget: Any
    alike: float | None
    window: int
    history: int
    constraints: str | None
    roll_out: str
    conjunctions: bool
    classes_: NDArray[np.str_]

    def __init__(
        self,
        classes: Any = None,
        cost_matrix: Any = None,
        rule: str = "coal",
        mellowness: float = 0.12,
        width_scale: float = 0.5,
        learning_rate: float | str = "auto",
        warm_up: int = 10,
        slack: str = "noise-scaled",
        in_turn: bool = True,
        audit_rate: float = 0.1,
        audits: str = "auto",
        accumulator: str = "adax",
        sensitivity: str = "shadow",
        fit_intercept: bool = True,
        random_state: int = 0,
        abstain_cost: float | None = None,
        abstain_label: str | None = None,
        budget: Any = None,
        alike: float | None = 1.0,
        passes: int = 1,
        window: int = 2,
        history: int = 2,
        constraints: str | None = None,
        roll_out: str = "reference",
        conjunctions: bool = True,
    ) -> None:
        self._store(locals())

    @classmethod
    def as_published(cls, mellowness: float = 0.01, learning_rate: float = 0.5, **others: Any) -> Self:
        """A tagger with the paper's policy and a warm-up of 10 sentences; ``others`` set more parameters.

        >>> SequenceTagger.as_published().slack
        'published'
        """
        own = {name: value for name, value in AS_PUBLISHED.items() if name in _POLICY_PARAMS}
        return cls(**{**own, "mellowness": mellowness, "learning_rate": learning_rate, **others})

    # -- learning ------------------------------------------------------------------------------

    def fit(self, sentences: Any, tags: Any, progress: Progress | None = None) -> Self:
        """Forget everything, then learn the sentences in order, ``passes`` times.

        The tagger calls ``progress(words_done, words_in_total, rollouts)`` from time to time.
        """
        fresh = type(self)(**self.get_params(deep=False))
        fresh._learn(sentences, tags, whole_number("passes", self.passes, least=1), progress)
        self._become(fresh)
        return self

    def partial_fit(self, sentences: Any, tags: Any, classes: Any = None, progress: Progress | None = None) -> Self:
        """Learn from more sentences, once; on the first call, ``classes`` names all tags.

        After Ctrl-C or an error in ``progress``, the tagger keeps what it has learned so far; ``sentences_`` counts
        the sentences learned completely.

        >>> tagger = SequenceTagger(warm_up=1).partial_fit([["The", "cat"]], [["D", "N"]], classes=["D", "N", "V"])
        >>> tagger.partial_fit([["It", "sleeps"]], [["N", "V"]]).sentences_
        2
        """
        known = getattr(self, "classes_", None)
        if classes is not None and known is not None and tag_names(classes).tolist() != known.tolist():
            raise InputError(f"classes must stay as on the first call, {known.tolist()}, got {classes!r}.")
        return self._learn(sentences, tags, 1, progress, classes)

    def _learn(self, sentences: Any, tags: Any, passes: int, progress: Progress | None, classes: Any = None) -> Self:
        """Check everything first, so that invalid input changes nothing; then learn."""
        words, given = check_tagged(sentences, tags)
        known = self._known_tags(given, classes)
        truth, rules = tag_codes(given, known), self._rules(known)
        check_legal(truth, given, rules.allowed, self.constraints)
        policy = self.policy_ if hasattr(self, "policy_") else self._new_policy(known)
        tokens = self._tokens(words, len(known))
        order, before = np.tile(np.arange(len(words)), passes), self.sentences_
        run = TaggingRun(policy, tokens, rules.costs, truth, order, whole_number("warm_up", self.warm_up), before)
        if self.budget is not None:
            self._start_budget(policy, len(run.order))
        self.classes_, self.policy_ = known, policy
        try:
            while not run.finished:
                run.play()
                if progress is not None:
                    progress(run.done, len(run.order), self.rollouts_)
        finally:
            self.sentences_ = before + run.sentences_done
        if self.cost_matrix is None:  # otherwise a tag may be right and yet not worth its risk
            warn_of_unlearned(known, truth[run.order], run.tags[run.order], self.budget is not None)
        return self

    def _start_budget(self, policy: CoalClassifier, n_words: int) -> None:
        """Spread what is left of the budget over the next words; one that says over how many begins only once."""
        budget = self._checked_budget()
        if budget.over is None:
            left = budget.amount - budget.price_of(policy.examples_queried_, policy.costs_queried_)
            rest: dict[str, Any] = {"over": n_words, budget.unit: max(left, 0.0)}
            policy.start_budget(replace(budget, **rest))
        elif policy.budget is None:
            policy.start_budget(budget)

    def _checked_budget(self) -> Budget:
        given = self.budget
        return Budget.of(given) if isinstance(given, Budget | Mapping) else Budget(costs=whole_number("budget", given))

    def _known_tags(self, given: list[list[str]], classes: Any) -> NDArray[np.str_]:
        """All tags: as named in ``classes``, or else those of the data in alphabetical order."""
        if hasattr(self, "classes_"):
            return self.classes_
        named = self.classes if classes is None else classes
        return np.unique([tag for sentence in given for tag in sentence]) if named is None else tag_names(named)

    @property
    def rollouts_(self) -> int:
        """How many roll-outs were run: one per cost, since the reference's own loss needs none."""
        return self.costs_queried_

    # -- predicting ----------------------------------------------------------------------------

    def predict(self, sentences: Any) -> list[list[Any]]:
        """The predicted tags of every sentence; ``abstain_label`` for words that it gives no tag."""
        self._check_fitted()
        words = check_words(sentences)
        tokens = self._tokens(words, len(self.classes_))
        codes = predict_tags(self.policy_, tokens, self._rules(self.classes_).allowed)
        return split_like(words, self._answers()[codes].tolist())

    def score(self, sentences: Any, tags: Any) -> float:
        """The accuracy: the share of words whose tag is right.

        >>> tagger = SequenceTagger().fit([["The", "cat"]] * 9, [["D", "N"]] * 9)
        >>> tagger.score([["The", "cat"], ["The"]], [["D", "V"], ["D"]])
        0.6666666666666666
        """
        words, given = check_tagged(sentences, tags)
        right = [
            got == wanted
            for predicted, sentence in zip(self.predict(words), given, strict=True)
            for got, wanted in zip(predicted, sentence, strict=True)
        ]
        return float(np.mean(right))

    def span_f1(self, sentences: Any, tags: Any) -> float:
        """The F1 score of the predicted spans: see ``coalface.structured.tagging.spans.span_f1``.

        >>> tagger = SequenceTagger(constraints="bio").fit([["Ada", "sleeps"]] * 9, [["B-PER", "O"]] * 9)
        >>> tagger.span_f1([["Ada", "sleeps"]], [["B-PER", "O"]])
        1.0
        """
        words, given = check_tagged(sentences, tags)
        predicted = self.predict(words)
        if self.abstain_cost is not None:  # a word without a tag is outside all spans
            names = {self.abstain_label: OUTSIDE}
            predicted = [[names.get(tag, tag) for tag in sentence] for sentence in predicted]
        return span_f1(given, predicted)

    # -- saving and loading --------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole state to one file, atomically; ``load`` continues exactly from there."""
        self._check_fitted()
        params = {
            name: None if value is None else np.asarray(value).tolist()
            for name, value in self.get_params().items()
            if name != "budget"
        }
        if self.budget is not None:
            params["budget"] = self._checked_budget().plain()
        meta = {"params": params, "policy": self.policy_.plain_params(), "sentences": self.sentences_}
        with self.policy_.model_.lock:
            write_bundle(path, "tagger", meta, {"classes_": self.classes_, **self.policy_.model_.saved()})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The tagger that ``save`` wrote."""
        meta, arrays = read_bundle(path, "tagger")
        try:
            tagger, policy = cls(**meta["params"]), CoalClassifier(**meta["policy"])
            tagger.sentences_ = int(meta["sentences"])
            tagger.classes_ = label_array(arrays.pop("classes_"))
            policy.begin(tagger.classes_).model_.restore(arrays)
        except (KeyError, TypeError, InputError) as problem:
            raise FileFormatError(f"{path} was not saved by {cls.__name__}.save: {problem}.") from None
        tagger.policy_ = policy
        return tagger

    def start_run(
        self, classes: NDArray[np.str_], tokens: TokenRows, truth: NDArray[np.int32], sentences: NDArray[np.int64]
    ) -> TaggingRun:
        """A run of a new policy over prepared words, for studies and benchmarks; the tagger is not changed."""
        policy, warm_up = self._new_policy(classes), whole_number("warm_up", self.warm_up)
        return TaggingRun(policy, tokens, self._rules(classes).costs, truth, sentences, warm_up)

    def allowed_tags(self, classes: NDArray[np.str_]) -> NDArray[np.bool_]:
        """Which tag may follow which in a prediction: see ``coalface.structured.tagging.tag_rules.allowed_tags``."""
        return self._rules(classes).allowed

    # -- internals -----------------------------------------------------------------------------

    def _new_policy(self, classes: NDArray[np.str_]) -> CoalClassifier:
        params = {name: getattr(self, name) for name in _POLICY_PARAMS}
        if self.audits == "auto":  # O is nearly always right, and an even audit hardly ever meets a span
            params["audits"] = "loss" if OUTSIDE in classes and marks_spans(classes.tolist()) else "even"
        if self.abstain_label is not None:
            tag_names([*classes.tolist(), self.abstain_label], "classes and abstain_label")
        return CoalClassifier(classes=classes, warm_up=0, model="online", **params).begin()

    def _answers(self) -> NDArray[Any]:
        """All that ``predict`` may return for a word: the tags and, last, ``abstain_label``."""
        if self.abstain_cost is None:
            return self.classes_
        return np.array([*self.classes_.tolist(), self.abstain_label], object)

    def _tokens(self, words: list[list[str]], n_tags: int) -> TokenRows:
        lengths = [len(sentence) for sentence in words]
        history = self._history(n_tags)
        keys = conjunction_keys(words) if self.conjunctions and history else None  # no history: no tags are seen
        return TokenRows.of(word_rows(words, self._window), lengths, history, n_tags, keys)

    def _rules(self, classes: NDArray[np.str_]) -> TagRules:
        self._check_choices()
        return tag_rules(classes, self.cost_matrix, self.constraints)

    def _check_choices(self) -> None:
        if self.roll_out != "reference":
            raise InputError(
                f"roll_out must be 'reference' for SequenceTagger, got {self.roll_out!r}. Use "
                "coalface.structured.SearchLearner for other roll-outs."
            )
        check_scheme(self.constraints)
        flag(vars(self), "conjunctions")
        whole_number("warm_up", self.warm_up)
        if self.budget is not None:
            self._checked_budget()

    @property
    def _window(self) -> int:
        return whole_number("window", self.window)

    def _history(self, n_tags: int) -> int:
        return check_history(self.history, n_tags, self.conjunctions)

    def check(self, n_tags: int) -> None:
        """Raise an InputError if a parameter is invalid for ``n_tags`` tags, whatever the names of the tags."""
        self._new_policy(np.array([f"tag {number}" for number in range(n_tags)]))
        self._check_choices()
        self._history(n_tags)
