"""A pipeline of several paid calls, such as language models: which option to call at each stage.

Each stage turns a text into the next one. Calls cost money and only the last text is judged, so the roll-outs that
teach the policy are bought, and the same call is never bought twice.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, NamedTuple

from coalface.data.labels import label_array
from coalface.errors import InputError
from coalface.search.task import Action, Features, SearchTask


class Reply(NamedTuple):
    """What a call returned, and its price."""

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
        if not stages or any(not options for options in stages.values()):
            raise InputError(f"stages must have at least one option each, got {dict(stages)!r}.")
        for stage, options in stages.items():
            label_array(list(options), f"options of {stage!r}")
        self.stages = {stage: tuple(options) for stage, options in stages.items()}
        self.actions = tuple(dict.fromkeys(option for options in self.stages.values() for option in options))
        self._names = tuple(self.stages)
        self._call, self._error, self._words = call, error, features or _words_of
        self.price_weight, self.scale = float(price_weight), float(scale)
        self._bought: dict[tuple[str, str, str], Future[Reply]] = {}
        self._lock = Lock()

    @property
    def calls(self) -> int:
        """How many calls were bought."""
        return len(self._bought)

    @property
    def spent(self) -> float:
        """The price of all calls."""
        return sum(each.result().price for each in self._bought.values() if each.done())

    def start(self, example: Any) -> _Progress:
        """The text as it is given."""
        text, truth = (example, None) if isinstance(example, str) else example
        return _Progress(text, truth)

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
        """The features of the text, for each stage apart, and what was called before."""
        stage = self._stage(state)
        seen = {f"{stage}|{name}": float(value) for name, value in self._words(state.text).items()}
        return {**seen, stage: 1.0, **({f"{stage} after {state.taken[-1]}": 1.0} if state.taken else {})}

    def reference(self, state: _Progress) -> Action:
        """The last option of the stage."""
        return self.stages[self._stage(state)][-1]

    def loss(self, state: _Progress) -> float:
        """The error of the last text, and the price of all calls."""
        return float(self._error(state.text, state.truth)) + self.price_weight * state.spent

    def reference_loss(self, state: _Progress) -> float:
        """The price so far: what a right answer for free would lose."""
        return self.price_weight * state.spent

    def key(self, state: _Progress) -> Hashable:
        """What decides the loss of a roll-out."""
        return state.text, repr(state.truth), state.taken, state.spent

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
            reply = Reply(*self._call(*wanted))
            if not isinstance(reply.text, str) or not reply.price >= 0:
                raise InputError(f"call must return a text and a price of at least 0, got {reply!r}.")
        except BaseException as problem:
            with self._lock:
                del self._bought[wanted]
            mine.set_exception(problem)
            raise
        mine.set_result(reply)
        return reply


def _words_of(text: str) -> dict[str, float]:
    return dict.fromkeys(text.lower().split(), 1.0)
