"""A pipeline of several paid calls, such as language models: which option to call at each stage.

Each stage turns a text into the next one. Calls cost money and only the last text is judged, so the roll-outs that
teach the policy are bought, and the same call is never bought twice.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import Future
from copy import copy
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, NamedTuple, Self

import numpy as np

from coalface.data import finite_number, label_array
from coalface.errors import InputError, shortened
from coalface.structured.known_losses import fingerprint
from coalface.structured.task import Action, Features, SearchTask


class Reply(NamedTuple):
    """What a call returned, and its price.

    >>> Reply("PARIS", price=0.002).price, Reply("a free one").price
    (0.002, 0.0)
    """

    text: str
    price: float = 0.0


Call = Callable[[str, str, str], Reply]  # (stage, option, text)


@dataclass(frozen=True, eq=False)
class _Progress:
    """A state: the text now, the options taken so far, what they cost, and the truth if known."""

    text: str
    truth: Any = None
    taken: tuple[str, ...] = ()
    spent: float = 0.0


class PipelineTask(SearchTask[Any, _Progress]):
    """Chooses an option at each stage of a pipeline; an example is (text, truth), or only a text for ``predict``.

    ``stages`` has the options of each stage, in order; ``call(stage, option, text)`` returns a ``Reply``. The loss is
    ``error(last text, truth)`` plus ``price_weight`` times the prices of all calls. The last option of a stage is the
    reference: list the one last that you would trust. ``features(text)`` is by default the words of the text.

    Costs are relative to a right answer for free, not to the reference's loss: so an option that is cheaper than the
    reference, and as good, is learned to be better.

    >>> from coalface.structured import SearchLearner
    >>> def call(stage, model, text):  # the small model cannot shout
    ...     return Reply(text.upper() if model == "large" else text, price=0.1 if model == "large" else 0.01)
    >>> task = PipelineTask({"shout": ["small", "large"]}, call, error=lambda text, truth: float(text != truth))
    >>> learner = SearchLearner(task).fit([("whisper 1", "whisper 1"), ("shout hey", "SHOUT HEY")] * 10)
    >>> learner.predict(["whisper 1", "shout hey"])
    [('whisper 1', ('small',)), ('SHOUT HEY', ('large',))]
    """

    def __init__(
        self,
        stages: Mapping[str, Sequence[str]],
        call: Call,
        error: Callable[[str, Any], float],
        price_weight: float = 1.0,
        scale: float = 1.0,
        features: Callable[[str], Mapping[str, float]] | None = None,
    ) -> None:
        if not isinstance(stages, Mapping):
            raise InputError(f"stages must map the name of each stage to its options, got {shortened(stages)}.")
        if not stages or any(not options for options in stages.values()):
            raise InputError(f"stages must have at least one option each, got {dict(stages)!r}.")
        for stage, options in stages.items():
            if isinstance(options, str) or not all(isinstance(one, str) for one in options):
                raise InputError(f"options of {stage!r} must be a list of texts, got {shortened(options)}.")
            label_array(list(options), f"options of {stage!r}")
        self.stages = {stage: tuple(options) for stage, options in stages.items()}
        self.actions = tuple(dict.fromkeys(option for options in self.stages.values() for option in options))
        self._names = tuple(self.stages)
        self._call, self._error, self._words = call, error, features or _words_of
        self.price_weight = finite_number("price_weight", price_weight, 0.0)
        self.scale = finite_number("scale", scale, 0.0, above=True)
        self._bought: dict[tuple[str, str, str], Future[Reply]] = {}
        self._lock = Lock()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """A task that buys on its own and has all replies bought so far; the functions are the same ones."""
        twin = memo[id(self)] = copy(self)
        with self._lock:
            twin._bought = {wanted: reply for wanted, reply in self._bought.items() if _has_reply(reply)}
        twin._lock = Lock()
        return twin

    @property
    def calls(self) -> int:
        """How many calls were bought."""
        return len(self._bought)

    @property
    def spent(self) -> float:
        """The price of all calls."""
        with self._lock:  # a call may be bought meanwhile
            bought = list(self._bought.values())
        return sum(each.result().price for each in bought if _has_reply(each))

    def start(self, example: Any) -> _Progress:
        """The text as it is given."""
        pair = (example, None) if isinstance(example, str) else example
        if not isinstance(pair, tuple | list) or len(pair) != 2 or not isinstance(pair[0], str):
            raise InputError(f"an example must be (text, truth), or a text for predict, got {shortened(example)}.")
        return _Progress(*pair)

    def finished(self, state: _Progress) -> bool:
        """Whether all stages are done."""
        return len(state.taken) == len(self._names)

    def allowed(self, state: _Progress) -> Sequence[Action]:
        """The options of the next stage."""
        return self.stages[self._stage(state)]

    def step(self, state: _Progress, action: Action) -> _Progress:
        """The state after a call."""
        reply = self._buy((self._stage(state), str(action), state.text))
        return replace(state, text=reply.text, taken=(*state.taken, str(action)), spent=state.spent + reply.price)

    def features(self, state: _Progress) -> Features:
        """The features of the text, separate for each stage, and the option called before."""
        stage = self._stage(state)
        words = self._words(state.text)
        if not isinstance(words, Mapping):
            raise InputError(f"features must return a mapping from names to numbers, got {shortened(words)}.")
        seen = {f"{stage}|{name}": float(value) for name, value in words.items()}
        return {**seen, stage: 1.0, **({f"{stage} after {state.taken[-1]}": 1.0} if state.taken else {})}

    def reference(self, state: _Progress) -> Action:
        """The last option of the stage."""
        return self.stages[self._stage(state)][-1]

    def loss(self, state: _Progress) -> float:
        """The error of the last text, and the price of all calls."""
        error = float(self._error(state.text, state.truth))
        if error < 0:
            raise InputError(f"error must return a number of at least 0, got {error!r} for {shortened(state.text)}.")
        return error + self.price_weight * state.spent

    def reference_loss(self, state: _Progress) -> float:
        """The price so far: what a right answer for free would lose."""
        return self.price_weight * state.spent

    def key(self, state: _Progress) -> Hashable:
        """What decides the loss of a roll-out; None for a truth that cannot be pickled, and so not be recognised."""
        truth = state.truth if isinstance(state.truth, str) else fingerprint(state.truth)
        return None if truth is None else (state.text, truth, state.taken, state.spent)

    def output(self, state: _Progress) -> tuple[str, tuple[str, ...]]:
        """The last text, and the options that led to it."""
        return state.text, state.taken

    def _stage(self, state: _Progress) -> str:
        return self._names[len(state.taken)]

    def _buy(self, wanted: tuple[str, str, str]) -> Reply:
        """The reply to a call; threads that want the same one wait for it. A failed call may be made again."""
        with self._lock:
            found = self._bought.get(wanted)
            if found is None:
                mine = self._bought[wanted] = Future()
        if found is not None:
            return found.result()
        try:
            reply = _checked(self._call(*wanted))
        except BaseException as problem:
            with self._lock:
                del self._bought[wanted]
            mine.set_exception(problem)
            raise
        mine.set_result(reply)
        return reply


def _has_reply(bought: Future[Reply]) -> bool:
    return bought.done() and bought.exception() is None


def _checked(reply: Any) -> Reply:
    if isinstance(reply, tuple) and len(reply) in (1, 2):
        text, price = Reply(*reply)
        is_price = isinstance(price, int | float | np.number) and 0 <= price < np.inf
        if isinstance(text, str) and is_price:
            return Reply(text, price)
    raise InputError(f"call must return a Reply: a text and a price of at least 0, got {shortened(reply)}.")


def _words_of(text: str) -> dict[str, float]:
    return dict.fromkeys(text.lower().split(), 1.0)
