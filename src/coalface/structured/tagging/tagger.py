"""The sequence tagger: AggreVaTe in compiled loops, with COAL choosing which tags to roll out."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from coalface.data import flag, whole_number
from coalface.errors import InputError
from coalface.files import rebuilding
from coalface.learner import Budget, CoalClassifier, abstain_of, audits_of, warn_of_unlearned
from coalface.structured.compiled_run import begun_compiled
from coalface.structured.kernels.tagging import TagRules
from coalface.structured.policies import PolicyLearner, Progress, tagger_policy
from coalface.structured.tagging.runs import TaggingRun, predict_tags
from coalface.structured.tagging.sentences import (
    check_legal,
    check_tagged,
    check_words,
    split_like,
    tag_codes,
    tag_names,
)
from coalface.structured.tagging.spans import OUTSIDE, span_f1
from coalface.structured.tagging.tag_features import TokenRows, check_history, conjunction_keys, word_rows
from coalface.structured.tagging.tag_rules import check_scheme, tag_rules


@dataclass(eq=False, repr=False)
class SequenceTagger(PolicyLearner):
    """Tags the words of sentences, and learns from as few roll-outs as possible.

    A word's tag is predicted from its features, those of ``window`` neighbours on each side and the last ``history``
    predicted tags. With ``conjunctions``, the last tag also counts together with the word, and with the shapes of this
    word and the next. ``cost_matrix`` (row = truth, column = prediction, in [0, 1]) gives the cost of each mistake.
    ``constraints`` "bio" or "bilou" allows only tags that form valid spans. ``policy`` is an unfitted
    ``CoalClassifier``, by default ``CoalClassifier(model="online")``, which audits by loss if the tags mark spans. The
    first ``warm_up`` sentences are rolled out in full. ``budget`` limits the roll-outs: a number of them, spread over
    the words of one call of ``fit``, or a ``Budget``. If the policy abstains, a word gets its ``abstain.label``
    where every tag is predicted to cost more.

    >>> sentences, tags = [["The", "cat", "sleeps"], ["A", "dog"]] * 30, [["D", "N", "V"], ["D", "N"]] * 30
    >>> tagger = SequenceTagger().fit(sentences, tags)
    >>> tagger.predict([["The", "dog", "sleeps"]])
    [['D', 'N', 'V']]
    >>> tagger.rollouts_ < 3 * 5 * 30
    True
    """

    classes: Any = None
    cost_matrix: Any = None
    policy: CoalClassifier | None = None
    passes: int = 1
    window: int = 2
    history: int = 2
    conjunctions: bool = True
    constraints: str | None = None
    roll_out: str = "reference"
    warm_up: int = 10
    budget: Any = None
    random_state: int = 0
    classes_: NDArray[np.str_] = field(init=False)
    sentences_ = 0  # learned so far; a sentence counts once per pass
    _kind, _not_saved = "tagger", ("policy", "budget")

    # -- learning ------------------------------------------------------------------------------

    def fit(self, sentences: Any, tags: Any, progress: Progress | None = None) -> Self:
        """Forget everything, then learn the sentences in order, ``passes`` times.

        The tagger calls ``progress(words_done, words_in_total, rollouts)`` from time to time.
        """
        return self._fit(sentences, tags, whole_number("passes", self.passes, least=1), progress)

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
        run = TaggingRun(policy, tokens, rules, truth, order, self.warm_up, before)
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
            learned, limited = run.tags[run.order].__getitem__, self.budget is not None
            audits = audits_of(policy.audits)
            warn_of_unlearned(known, truth[run.order], learned, on_budget=limited, audits=audits)
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
        """The predicted tags of every sentence; ``abstain.label`` for words that it gives no tag."""
        self._check_fitted()
        words = check_words(sentences)
        tokens = self._tokens(words, len(self.classes_))
        codes = predict_tags(self.policy_, tokens, self._rules(self.classes_).allowed)
        answers = np.array([*self.classes_.tolist(), self._no_tag], object)  # the last is for words without a tag
        return split_like(words, answers[codes].tolist())

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
        if self.policy_.abstain is not None:  # a word without a tag is outside all spans
            names = {self._no_tag: OUTSIDE}
            predicted = [[names.get(tag, tag) for tag in sentence] for sentence in predicted]
        return span_f1(given, predicted)

    # -- saving and loading --------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole state to one file, atomically; ``load`` continues exactly from there."""
        budget = None if self.budget is None else self._checked_budget().plain()
        self._write(path, {"sentences": self.sentences_, "budget": budget})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The tagger that ``save`` wrote."""
        tagger, policy, own, _ = cls._read(path)
        with rebuilding(path, cls._kind):
            tagger.budget, tagger.sentences_ = own["budget"], int(own["sentences"])
        tagger.classes_, tagger.policy_ = policy.classes_, policy
        return tagger if tagger.policy is None else tagger.set_params(policy__budget=None)

    def start_run(
        self, classes: NDArray[np.str_], tokens: TokenRows, truth: NDArray[np.int32], sentences: NDArray[np.int64]
    ) -> TaggingRun:
        """A run of a new policy over prepared words, for studies and benchmarks; the tagger is not changed."""
        return TaggingRun(self._new_policy(classes), tokens, self._rules(classes), truth, sentences, self.warm_up)

    # -- internals -----------------------------------------------------------------------------

    def _default_policy(self, classes: Any = None) -> CoalClassifier:
        tags = self.classes if classes is None else classes
        return tagger_policy([] if tags is None else list(tags), random_state=self.random_state)

    def _new_policy(self, classes: NDArray[np.str_]) -> CoalClassifier:
        given = self._default_policy(classes) if self.policy is None else self.policy
        return begun_compiled(given, classes, may_have=["abstain"])

    @property
    def _no_tag(self) -> Any:
        """What ``predict`` returns for a word where the policy abstains."""
        abstain = abstain_of(self.policy_.abstain)
        return None if abstain is None else abstain.label

    def _tokens(self, words: list[list[str]], n_tags: int) -> TokenRows:
        lengths = [len(sentence) for sentence in words]
        history = self._history(n_tags)
        keys = conjunction_keys(words) if self.conjunctions and history else None  # no history: no tags are seen
        return TokenRows.of(word_rows(words, whole_number("window", self.window)), lengths, history, n_tags, keys)

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
        flag("conjunctions", self.conjunctions)
        whole_number("warm_up", self.warm_up)
        if self.budget is not None:
            self._checked_budget()

    def _history(self, n_tags: int) -> int:
        return check_history(self.history, n_tags, self.conjunctions)

    def check(self, n_tags: int) -> None:
        """Raise an InputError if a parameter is invalid for ``n_tags`` tags, whatever the names of the tags."""
        self._new_policy(np.array([f"tag {number}" for number in range(n_tags)]))
        self._check_choices()
        self._history(n_tags)
