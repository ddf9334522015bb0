"""Entities and relations together: the types of all mentions of a sentence, then the relation of each pair."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from coalface.data import finite_number, label_array
from coalface.errors import InputError, shortened
from coalface.structured.task import Action, LabelledSoFar, SearchTask

NO_RELATION = "none"
_MOST_BETWEEN = 5  # words between two mentions that are features


@dataclass(frozen=True)
class MentionSentence:
    """A sentence whose mentions are marked: (start, end) in words; ``types`` and ``relations`` are missing if unknown.

    ``relations`` has the related pairs only: the numbers of two mentions, and the relation from the first to the
    second.

    >>> words = ["Ada", "Lovelace", "wrote", "to", "Babbage"]
    >>> sentence = MentionSentence(words, [(0, 2), (4, 5)], ["person", "person"], {(0, 1): "writes to"})
    >>> [" ".join(sentence.words[start:end]) for start, end in sentence.mentions]
    ['Ada Lovelace', 'Babbage']
    """

    words: Sequence[str]
    mentions: Sequence[tuple[int, int]]
    types: Sequence[str] | None = None
    relations: Mapping[tuple[int, int], str] = field(default_factory=dict)


_Labelled = LabelledSoFar[MentionSentence]


class RelationTask(SearchTask[MentionSentence, _Labelled]):
    """Gives every mention one of ``types``, then every ordered pair of mentions one of ``relations`` or "none".

    ``rules`` say which pairs of types a relation may have, such as ``{"works for": [("person", "company")]}``;
    ``predict`` keeps to them, and the policy learns about all relations. A wrong type costs 1, a wrong relation
    ``wrong_relation``. The output is a ``MentionSentence``.

    >>> from coalface.structured import SearchLearner
    >>> words, mentions = "Ada works for Acme".split(), [(0, 1), (3, 4)]
    >>> sentence = MentionSentence(words, mentions, ["person", "company"], {(0, 1): "job"})
    >>> learner = SearchLearner(RelationTask(["person", "company"], ["job"])).fit([sentence] * 20)
    >>> learner.predict([MentionSentence(words, mentions)])[0].relations
    {(0, 1): 'job'}
    """

    charges_every_mistake = True

    def __init__(
        self,
        types: Sequence[str],
        relations: Sequence[str],
        rules: Mapping[str, Collection[tuple[str, str]]] | None = None,
        wrong_relation: float = 1.0,
    ) -> None:
        self.types, self.relations = tuple(types), (*relations, NO_RELATION)
        label_array([*self.types, *self.relations], "types and relations")  # refuses repeated names
        self.actions = (*self.types, *self.relations)
        if rules is not None and not isinstance(rules, Mapping):
            raise InputError(f"rules must map each relation to pairs of types, got {shortened(rules)}.")
        self.rules = {relation: {tuple(pair) for pair in pairs} for relation, pairs in (rules or {}).items()}
        for relation, pairs in self.rules.items():
            if any(len(pair) != 2 for pair in pairs):
                raise InputError(
                    f"rules of {relation!r} must be a list of pairs of types, got {shortened((rules or {})[relation])}."
                )
            unknown = [relation] if relation not in relations else [t for pair in pairs for t in pair if t not in types]
            if unknown:
                raise InputError(
                    f"rules must be about the types and relations of the task, got {unknown[0]!r}. Add it "
                    "to the task, or correct the rule."
                )
        self.wrong_relation = finite_number("wrong_relation", wrong_relation, 0.0, above=True)
        self.scale = max(1.0, self.wrong_relation)

    def start(self, example: MentionSentence) -> _Labelled:
        """The state before any label."""
        _check_mentions(example)
        if example.types is not None:
            _check_names(example.types, self.types, "types")
            if len(example.types) != len(example.mentions):
                raise InputError(
                    f"types must be one per mention, {len(example.mentions)}, got {len(example.types)}. Give "
                    "each mention its type."
                )
            _check_pairs(example)
            _check_names(example.relations.values(), self.relations, "relations")
        return _Labelled(example)

    def finished(self, state: _Labelled) -> bool:
        """Whether every mention and every pair has its label."""
        return len(state.given) == len(state.sentence.mentions) ** 2

    def allowed(self, state: _Labelled) -> Sequence[Action]:
        """Types for a mention, relations for a pair."""
        return self.types if _pair(state) is None else self.relations

    def valid(self, state: _Labelled) -> list[Action]:
        """What the rules allow for the types given to a pair."""
        pair = _pair(state)
        if pair is None:
            return list(self.types)
        types = (state.given[pair[0]], state.given[pair[1]])
        return [one for one in self.relations if one not in self.rules or types in self.rules[one]]

    def step(self, state: _Labelled, action: Action) -> _Labelled:
        """The state after one more label."""
        lost = state.lost + (0.0 if state.sentence.types is None else self._cost(state, action))
        return replace(state, given=(*state.given, action), lost=lost)

    def features(self, state: _Labelled) -> dict[str, float]:
        """The words of a mention and beside it; for a pair also its types and the words between."""
        words, mentions, pair = state.sentence.words, state.sentence.mentions, _pair(state)
        if pair is None:
            return dict.fromkeys(_of_mention(words, mentions[len(state.given)], "mention"), 1.0)
        (first, second), types = ((mentions[i][0], mentions[i][1]) for i in pair), [state.given[i] for i in pair]
        between = [word.lower() for word in words[min(first[1], second[1]) : max(first[0], second[0])]]
        direction = "forward" if first < second else "backward"
        seen = [f"types={types[0]},{types[1]}", f"{direction} types={types[0]},{types[1]}", f"distance={len(between)}"]
        seen += [f"{direction} between={word}" for word in between[:_MOST_BETWEEN]]
        seen += [f"{direction} between={' '.join(between[:_MOST_BETWEEN])}"]
        return dict.fromkeys([*seen, *_of_mention(words, first, "first"), *_of_mention(words, second, "second")], 1.0)

    def reference(self, state: _Labelled) -> Action:
        """The true label."""
        sentence, pair = state.sentence, _pair(state)
        if sentence.types is None:
            raise InputError(
                "a sentence must have types to be learned or scored, got none. Pass the type of each mention."
            )
        return sentence.types[len(state.given)] if pair is None else sentence.relations.get(pair, NO_RELATION)

    def loss(self, state: _Labelled) -> float:
        """Wrong types, and wrong relations times their cost."""
        return state.lost

    def rollout(self, state: _Labelled, action: Action) -> float:
        """The loss after a label: the reference makes no further mistake."""
        return state.lost + self._cost(state, action)

    def reference_loss(self, state: _Labelled) -> float:
        """The loss so far."""
        return state.lost

    def output(self, state: _Labelled) -> MentionSentence:
        """The sentence with its types and relations."""
        pairs, n = _pairs(len(state.sentence.mentions)), len(state.sentence.mentions)
        related = {pair: str(one) for pair, one in zip(pairs, state.given[n:], strict=True) if one != NO_RELATION}
        return replace(state.sentence, types=tuple(map(str, state.given[:n])), relations=related)

    def _cost(self, state: _Labelled, action: Action) -> float:
        is_wrong = action != self.reference(state)
        return is_wrong * (1.0 if _pair(state) is None else self.wrong_relation)


def _pairs(n_mentions: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(n_mentions) for j in range(n_mentions) if i != j]


def _pair(state: _Labelled) -> tuple[int, int] | None:
    """The pair of mentions to decide on; None while mentions still need a type."""
    n = len(state.sentence.mentions)
    return None if len(state.given) < n else _pairs(n)[len(state.given) - n]


def _of_mention(words: Sequence[str], mention: tuple[int, int], name: str) -> list[str]:
    start, end = mention
    before = words[start - 1].lower() if start else "^"
    after = words[end].lower() if end < len(words) else "$"
    inside = [f"{name} has {word.lower()}" for word in words[start:end]]
    return [*inside, f"{name} after {before}", f"{name} before {after}", f"{name} ends {words[end - 1][-3:]}", name]


def _check_mentions(example: MentionSentence) -> None:
    if not isinstance(example, MentionSentence):
        raise InputError(f"an example must be a MentionSentence, got {shortened(example)}.")
    if isinstance(example.words, str) or not all(isinstance(word, str) for word in example.words):
        raise InputError(f"words must be a list of texts, got {shortened(example.words)}. Split the sentence.")
    for mention in example.mentions:
        places = tuple(mention) if isinstance(mention, Iterable) else (mention,)
        if len(places) != 2 or not all(isinstance(place, int | np.integer) for place in places):
            raise InputError(f"a mention must be (start, end) in whole words, got {shortened(mention)}.")
        if not 0 <= places[0] < places[1] <= len(example.words):
            raise InputError(f"a mention must lie within the {len(example.words)} words, got {mention!r}.")


def _check_pairs(example: MentionSentence) -> None:
    """A relation between other mentions would never be met, and the pair be learned as not related."""
    if not isinstance(example.relations, Mapping):
        raise InputError(f"relations must map pairs of mentions to relations, got {shortened(example.relations)}.")
    pairs = set(_pairs(len(example.mentions)))
    wrong = next((pair for pair in example.relations if pair not in pairs), None)
    if wrong is not None:
        raise InputError(
            f"relations must be between two of the {len(example.mentions)} mentions, by their numbers from 0, got "
            f"{wrong!r}."
        )


def _check_names(given: Collection[Any], known: Sequence[str], what: str) -> None:
    unknown = next((one for one in given if one not in known), None)
    if unknown is not None:
        raise InputError(f"{what} must be among {', '.join(map(repr, known))}, got {unknown!r}.")
