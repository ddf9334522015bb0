"""Sequence tagging as a search task, with the features and the reference of ``SequenceTagger``."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import ArrayLike

from coalface.data import flag, whole_number
from coalface.errors import InputError
from coalface.structured.tagging.sentences import check_legal, check_tagged, check_words, tag_codes, tag_names
from coalface.structured.tagging.tag_features import (
    check_history,
    conjunction_columns,
    conjunction_keys,
    history_columns,
    word_rows,
)
from coalface.structured.tagging.tag_rules import tag_rules
from coalface.structured.task import Action, LabelledSoFar, SearchTask


@dataclass(frozen=True, eq=False)
class _SentenceFeatures:
    """The columns and values of each word's features, and the true tags if known."""

    columns: tuple[list[int], ...]
    values: tuple[list[float], ...]
    keys: list[list[int]]  # of the conjunctions
    truth: tuple[int, ...] | None

    def __len__(self) -> int:
        return len(self.columns)


_TaggedPrefix = LabelledSoFar[_SentenceFeatures]


class SequenceTask(SearchTask[Any, _TaggedPrefix]):
    """Gives every word a tag; an example is (words, tags), or only words for ``predict``.

    The loss is the number of wrong tags, or the sum of ``cost_matrix`` (row = truth, column = prediction, in [0, 1]).
    With ``constraints`` "bio" or "bilou", ``predict`` gives only tags that may follow the last one; the policy learns
    about all tags. It sees a word and ``window`` neighbours on each side, and the last ``history`` tags; with
    ``conjunctions`` also the last tag together with the word, and with the shapes of the word and the next one.

    >>> task = SequenceTask(["O", "B-PER", "I-PER"], constraints="bio")
    >>> state = task.start((["Ada", "Lovelace", "wrote"], ["B-PER", "I-PER", "O"]))
    >>> task.valid(state), task.reference(state), task.rollout(state, "O")
    (['O', 'B-PER'], 'B-PER', 1.0)
    """

    charges_every_mistake = True

    def __init__(
        self,
        tags: Sequence[str],
        cost_matrix: ArrayLike | None = None,
        constraints: str | None = None,
        window: int = 2,
        history: int = 2,
        conjunctions: bool = True,
    ) -> None:
        self._names = tag_names(tags, "tags")
        names: list[str] = self._names.tolist()
        self.actions = names
        self.constraints = constraints
        self.conjunctions = flag("conjunctions", conjunctions)
        self.window = whole_number("window", window)
        self.history = check_history(history, len(names), self.conjunctions)
        self._column: dict[Action, int] = {tag: column for column, tag in enumerate(names)}
        rules = tag_rules(self._names, cost_matrix, constraints)
        self._may_follow = rules.allowed
        self._costs: list[list[float]] = rules.costs.tolist()
        self._valid = self._may_follow.tolist()  # by whether it is the last word, and by the previous tag

    def start(self, example: Any) -> _TaggedPrefix:
        """The state before any word has a tag."""
        words, tags = _parts(example)
        (checked,), truth = check_words([words]), None
        if tags is not None:
            check_tagged([words], [tags])
            codes = tag_codes([tags], self._names)
            check_legal(codes, [tags], self._may_follow, self.constraints)
            truth = tuple(codes.tolist())
        rows = word_rows([checked], self.window)
        spans = list(zip(rows.indptr[:-1], rows.indptr[1:], strict=True))
        columns, values = rows.indices.tolist(), rows.data.tolist()
        features = tuple(columns[a:b] for a, b in spans), tuple(values[a:b] for a, b in spans)
        keys: list[list[int]] = [[]] * len(checked)
        if self.conjunctions and self.history:
            keys = conjunction_keys([checked]).tolist()
        return _TaggedPrefix(_SentenceFeatures(*features, keys, truth))

    def finished(self, state: _TaggedPrefix) -> bool:
        """Whether every word has a tag."""
        return len(state.given) == len(state.sentence)

    def allowed(self, state: _TaggedPrefix) -> Sequence[Action]:  # noqa: ARG002
        """All tags."""
        return self.actions

    def valid(self, state: _TaggedPrefix) -> list[Action]:
        """The tags that may follow the last one."""
        last = int(len(state.given) + 1 == len(state.sentence))
        before = state.given[-1] if state.given else len(self.actions)
        return [tag for tag, may in zip(self.actions, self._valid[last][before], strict=True) if may]

    def step(self, state: _TaggedPrefix, action: Action) -> _TaggedPrefix:
        """The state after the next word has got this tag."""
        tag = self._column[action]
        lost = state.lost
        if state.sentence.truth is not None:
            lost += self._costs[state.sentence.truth[len(state.given)]][tag]
        return replace(state, given=(*state.given, tag), lost=lost)

    def features(self, state: _TaggedPrefix) -> dict[int, float]:
        """The features of the next word and the last tags, as in ``SequenceTagger``."""
        place = len(state.given)
        previous = state.given[max(place - self.history, 0) :]
        seen = dict(zip(state.sentence.columns[place], state.sentence.values[place], strict=True))
        seen.update(dict.fromkeys(history_columns(previous, len(self.actions), self.history), 1.0))
        last = previous[-1] if previous else len(self.actions)
        seen.update(dict.fromkeys(conjunction_columns(state.sentence.keys[place], last), 1.0))
        return seen

    def reference(self, state: _TaggedPrefix) -> Action:
        """The true tag."""
        return self.actions[_truth(state)[len(state.given)]]

    def loss(self, state: _TaggedPrefix) -> float:
        """The sum of the costs of all tags."""
        _truth(state)
        return state.lost

    def rollout(self, state: _TaggedPrefix, action: Action) -> float:
        """The loss after this tag: the reference gives all others their true tags."""
        return state.lost + self._costs[_truth(state)[len(state.given)]][self._column[action]]

    def reference_loss(self, state: _TaggedPrefix) -> float:
        """The loss so far: the reference loses nothing more."""
        return state.lost

    def output(self, state: _TaggedPrefix) -> tuple[Action, ...]:
        """The tags."""
        return tuple(self.actions[tag] for tag in state.given)


def _parts(example: Any) -> tuple[Any, Any]:
    """Words and tags; tags are None where only words are given."""
    if hasattr(example, "words") and hasattr(example, "tags"):
        return example.words, example.tags or None
    if isinstance(example, tuple) and len(example) == 2 and not isinstance(example[0], str):
        return example
    return example, None


def _truth(state: _TaggedPrefix) -> tuple[int, ...]:
    if state.sentence.truth is None:
        raise InputError("an example must have tags to be learned or scored, got only words. Pass (words, tags).")
    return state.sentence.truth
