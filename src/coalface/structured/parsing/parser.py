"""The dependency parser: a transition parser in compiled loops, with COAL choosing which actions' costs to pay for."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from coalface.data import Tree, flag, one_of, whole_number
from coalface.errors import FileFormatError, InputError
from coalface.files import rebuilding
from coalface.learner import CoalClassifier
from coalface.structured.compiled_run import begun_compiled, online_model
from coalface.structured.kernels.paid_costs import PAID, PaidCosts, new_paid_costs
from coalface.structured.kernels.parsing import Losses
from coalface.structured.parsing.grammar import Grammar, labels_of
from coalface.structured.parsing.known_tags import KnownTags
from coalface.structured.parsing.runs import Averages, ParsingRun, parse, weights_of
from coalface.structured.parsing.scores import Attachment, attachment_scores
from coalface.structured.parsing.task import best_roll_out, loss_of_label
from coalface.structured.parsing.treebank import checked_trees, treebank_of
from coalface.structured.policies import PolicyLearner, Progress, parser_policy
from coalface.structured.policy_choice import AUTO

_ROLL_OUTS = (AUTO, "reference", "none")


@dataclass(eq=False, repr=False)
class DependencyParser(PolicyLearner):
    """Finds the head and the label of every word, and learns from as few costs of parser actions as possible.

    ``fit`` and ``partial_fit`` take ``coalface.data.formats.conllu.Tree`` objects with heads and labels. ``policy`` is
    an unfitted ``CoalClassifier``, by default ``CoalClassifier(model="online", mellowness=0.5)``; it chooses between
    the actions of a transition system. All costs of the first ``warm_up`` sentences are asked for.
    ``docs/parsing.md`` explains the others.

    >>> tree = Tree(("cats", "chase", "mice"), ("NOUN", "VERB", "NOUN"), (2, 0, 2), ("nsubj", "root", "obj"))
    >>> parser = DependencyParser().fit([tree] * 30)
    >>> parser.predict([Tree(("dogs", "chase", "cats"), tree.tags)])[0].heads
    (2, 0, 2)
    >>> parser.score([tree])
    Attachment(unlabelled=1.0, labelled=1.0)
    """

    system: Literal["arc-eager", "arc-hybrid"] = "arc-eager"
    policy: CoalClassifier | None = None
    passes: int = 4
    shuffle: bool = True
    averaged: bool = False
    wrong_label: float = 1.0
    roll_out: Literal["auto", "reference", "none"] = "auto"
    hash_bits: int = 14
    warm_up: int = 10
    random_state: int = 0
    labels_: NDArray[np.str_] = field(init=False)
    root_labels_: NDArray[np.str_] = field(init=False)
    sentences_ = 0  # learned so far; a sentence counts once per pass
    _kind, _not_saved = "parser", ("policy", "system", "hash_bits")
    _grammar: Grammar = field(init=False)

    # -- learning ------------------------------------------------------------------------------

    def fit(self, trees: Iterable[Tree], progress: Progress | None = None) -> Self:
        """Forget everything, then learn the trees, ``passes`` times.

        The parser calls ``progress(sentences_done, sentences_in_total, costs)`` from time to time.
        """
        return self._fit(trees, whole_number("passes", self.passes, least=1), progress)

    def learn(self, trees: Iterable[Tree], progress: Progress | None = None) -> Self:
        """Learn from more trees, ``passes`` times; unlike ``fit``, it forgets nothing.

        >>> tree = Tree(("cats", "sleep"), ("NOUN", "VERB"), (2, 0), ("nsubj", "root"))
        >>> DependencyParser(passes=2).learn([tree]).learn([tree]).sentences_
        4
        """
        return self._learn(trees, whole_number("passes", self.passes, least=1), progress)

    def partial_fit(self, trees: Iterable[Tree], progress: Progress | None = None) -> Self:
        """Learn from more trees, once; the labels of the first call are all the labels there can be.

        Costs that were paid for in earlier calls or passes are used again. After Ctrl-C or an error in ``progress``,
        the parser keeps what it has learned so far; ``sentences_`` counts the sentences learned completely.

        >>> tree = Tree(("cats", "sleep"), ("NOUN", "VERB"), (2, 0), ("nsubj", "root"))
        >>> DependencyParser(warm_up=1).partial_fit([tree]).partial_fit([tree]).sentences_
        2
        """
        return self._learn(trees, 1, progress)

    def _learn(self, given: Iterable[Tree], passes: int, progress: Progress | None) -> Self:
        """Check everything first, so that invalid input changes nothing; then learn."""
        trees = checked_trees(given, with_heads=True)
        losses, averaged, _ = self._losses(), flag("averaged", self.averaged), flag("shuffle", self.shuffle)
        grammar = self._same_grammar() if hasattr(self, "policy_") else self._grammar_with(*labels_of(trees))
        policy = (
            self.policy_ if hasattr(self, "policy_") else begun_compiled(self._given_policy(), np.array(grammar.names))
        )
        treebank = treebank_of(trees, grammar.all_labels, learned=True)
        if not hasattr(self, "policy_"):
            self.policy_, self._paid = policy, new_paid_costs(len(grammar.names))
            self.labels_, self.root_labels_ = np.array(grammar.labels, str), np.array(grammar.root_labels, str)
            self._tags, self._grammar = KnownTags(), grammar
        self._tags.add(trees)
        warm_up = whole_number("warm_up", self.warm_up)
        for number in range(passes):
            before, order = self.sentences_, self._order(len(trees))
            run = ParsingRun(policy, grammar, treebank, losses, self._paid, order, warm_up, before)
            averages = Averages(online_model(policy), len(trees)) if averaged and number == passes - 1 else None
            try:
                while not run.finished:
                    run.play(None if averages is None else averages.sentences_between)
                    self._paid = run.paid  # the run replaces its table when the table is full
                    if averages is not None:
                        averages.add(run.done)
                    if progress is not None:
                        progress(number * len(trees) + run.done, passes * len(trees), self.costs_paid_)
            finally:
                self._paid, self.sentences_ = run.paid, before + run.done
                self._weights = None if averages is None else averages.weights
        return self

    def _order(self, n_sentences: int) -> NDArray[np.int64]:
        """The order of the sentences in the next pass."""
        if not self.shuffle:
            return np.arange(n_sentences)
        return np.random.default_rng([self.random_state, self.sentences_]).permutation(n_sentences)

    @property
    def has_subtypes_(self) -> bool:
        """Whether a label has a subtype, such as "nsubj:pass"; trees are then read with ``subtypes=True``."""
        self._check_fitted()
        return any(":" in label for label in (*self.labels_, *self.root_labels_))

    @property
    def costs_paid_(self) -> int:
        """How many costs were paid for: a cost asked for again in the same state of a sentence is known."""
        return int(self._paid.counts[PAID]) if hasattr(self, "policy_") else 0

    # -- predicting ----------------------------------------------------------------------------

    def predict(self, trees: Iterable[Tree]) -> list[Tree]:
        """The sentences with predicted heads and labels; heads and labels that they have already are not used."""
        self._check_fitted()
        given = checked_trees(trees, with_heads=False)
        if not given:
            return []
        self._tags.warn_of_unknown(given)
        grammar = self._grammar
        names = grammar.all_labels
        treebank = treebank_of(given, names, learned=False)
        heads, labels = (found.tolist() for found in parse(self.policy_, grammar, treebank, self._prediction_weights()))
        found = []
        for tree, start in zip(given, treebank.starts.tolist(), strict=False):
            words = slice(start + 1, start + 1 + len(tree))
            found.append(
                replace(tree, heads=tuple(heads[words]), labels=tuple(names[number] for number in labels[words]))
            )
        return found

    def score(self, trees: Iterable[Tree], *, punctuation: bool = True) -> Attachment:
        """The attachment scores UAS and LAS on trees with heads; ``punctuation`` says whether punctuation counts.

        >>> tree = Tree(("It", "rained", "."), ("PRON", "VERB", "PUNCT"), (2, 0, 2), ("expl", "root", "punct"))
        >>> DependencyParser().fit([tree] * 20).score([tree], punctuation=False).labelled
        1.0
        """
        given = checked_trees(trees, with_heads=True)
        return attachment_scores(given, self.predict(given), punctuation=punctuation)

    def _prediction_weights(self) -> NDArray[np.float32]:
        """The averaged weights, or those of the policy."""
        if self._weights is None:
            self._weights = weights_of(online_model(self.policy_))
        return self._weights

    # -- saving and loading --------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole state with its labels to one file, atomically; ``load`` continues exactly from there."""
        self._check_fitted()
        learned_with = {"system": self._grammar.system, "hash_bits": self._grammar.bits}
        own = {**learned_with, "sentences": self.sentences_, "tags": self._tags.plain()}
        arrays = {"labels_": self.labels_, "roots_": self.root_labels_, "weights": self._prediction_weights()}
        arrays |= {f"paid_{name}": array for name, array in self._paid._asdict().items()}
        self._write(path, own, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The parser that ``save`` wrote."""
        parser, policy, own, arrays = cls._read(path)
        with rebuilding(path, cls._kind):
            parser.system, parser.hash_bits = own["system"], own["hash_bits"]
            parser.sentences_, parser._tags = int(own["sentences"]), KnownTags(own["tags"])
            parser.labels_, parser.root_labels_ = np.array(arrays["labels_"]), np.array(arrays["roots_"])
            parser._grammar = parser._grammar_with(parser.labels_.tolist(), parser.root_labels_.tolist())
            parser._weights = np.array(arrays["weights"])
            parser._paid = PaidCosts(*(np.array(arrays[f"paid_{name}"]) for name in PaidCosts._fields))
            if policy.classes_.tolist() != parser._grammar.names:
                raise FileFormatError(f"{path} has a policy of other actions than its labels give. Save it again.")
        parser.policy_ = policy
        return parser

    # -- internals -----------------------------------------------------------------------------

    def _grammar_with(self, labels: list[str], root_labels: list[str]) -> Grammar:
        return Grammar.checked(self.system, labels, root_labels, self.hash_bits)

    def _same_grammar(self) -> Grammar:
        """What was learned; an InputError if the parameters ask for another system or other columns."""
        learned = self._grammar
        for name, before, now in (("system", learned.system, self.system), ("hash_bits", learned.bits, self.hash_bits)):
            if now != before:
                raise InputError(f"{name} must stay {before!r}, with which this parser learned, got {now!r}. Use fit.")
        return learned

    def _losses(self) -> Losses:
        wrong_label = loss_of_label(self.wrong_label, most=1.0)
        given = one_of("roll_out of DependencyParser", self.roll_out, _ROLL_OUTS)
        roll_out = best_roll_out(wrong_label) if given == AUTO else given
        return Losses(wrong_label, imitates=roll_out == "none")

    def _default_policy(self) -> CoalClassifier:
        return parser_policy(random_state=self.random_state)
