"""``Router``: chooses the model with the least loss and price together, and asks for few outcomes to learn losses."""

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coalface.data import as_cost_array, by_label, by_row, check_mask, finite_number, is_raw, label_array, table_of
from coalface.errors import FileFormatError, InputError, in_one_line, shortened
from coalface.evaluate import simulate
from coalface.files import read_bundle, write_bundle
from coalface.kernels import CANNOT_BE_BEST
from coalface.learner import CoalClassifier, best_labels, bundled, from_bundle, warn_if_unanswered, with_label_features
from coalface.models import CommitteeModel, CostModel
from coalface.rounds import Ledger, Queries
from coalface.routing.outcomes import OutcomeColumns, Outcomes
from coalface.routing.prices import ModelPrices, Price, checked_weight, offsets_of, priced, within_reach
from coalface.routing.trade_off import Routes, TradeOff

_KIND = "router"
_UNKNOWN_LOSS = 0.5  # of a model without any answered outcome, as in ``CoalClassifier.predict``
_MEMBERS = ("joint", "forest", "rbf")  # of the default model: "joint" learns without bias from questions in turn
_OWN = ("abstain", "price_of_truth", "cost_bounds", "classes", "cost_matrix")


class Router:
    """Chooses a model for each request: the least ``value_of_quality`` x predicted loss + price.

    Losses lie in [0, 1] and are learned; prices are known beforehand, in any unit of money. ``price`` is a number, one
    per model (a mapping or a list), or a function from examples to prices (n, K). ``value_of_quality`` is what a loss
    of 1 costs you, in the same unit. ``asking_price`` is the price of learning one outcome, by default ``price``: the
    model has to run. ``settings`` are parameters of ``CoalClassifier``, which learns the losses as ``router.learner``;
    by default its model is a committee led by a ``JointModel``. ``budget={"price": 3}`` limits what is spent on
    outcomes, at their asking prices.

    >>> router = Router(["small", "large"], price={"small": 0.1, "large": 1.0}, value_of_quality=2.0)
    >>> loss = {"small": 0.4, "large": 0.1}
    >>> router = router.interview([[1.0]] * 50, lambda i, model: loss[model])
    >>> router.predict([[1.0]]).tolist(), router.predict([[1.0]], quality_weight=10.0).tolist()
    (['small'], ['large'])
    """

    def __init__(
        self,
        models: Sequence[Any] | NDArray[Any],
        price: Price = 0.0,
        value_of_quality: float = 1.0,
        *,
        asking_price: Price | None = None,
        **settings: Any,
    ) -> None:
        own = next((name for name in _OWN if name in settings), None)
        if own is not None:
            raise InputError(f"A Router has no {own}, because it would not fit its prices. Leave it out.")
        self.value_of_quality = finite_number("value_of_quality", value_of_quality, 0.0, above=True)
        names = label_array(models)
        self._set_prices(names, price, asking_price)
        chosen = {"model": CommitteeModel(joining=_MEMBERS), **settings}
        chosen["budget"] = priced(settings.get("budget"), self._asking_prices)
        self.learner = CoalClassifier(names, **chosen).begin()
        self.spent_ = 0.0  # on outcomes told so far, at their asking prices
        self.columns: OutcomeColumns | None = None  # of the table that it was trained on, if any

    @property
    def models(self) -> NDArray[Any]:
        """The models in the order of all columns."""
        return np.asarray(self.learner.classes_)

    @property
    def outcomes_known_(self) -> int:
        """The number of outcomes whose loss is known so far."""
        return self.learner.totals_.answered

    # -- choosing ---------------------------------------------------------------------------------

    def predict(self, X: Any, *, quality_weight: float | None = None, candidates: Any = None) -> NDArray[Any]:
        """The chosen model of each example.

        ``quality_weight`` replaces ``value_of_quality`` without learning again; 0 gives the cheapest model, infinity
        the one with the least loss. ``candidates`` (n, K) are the models that can be chosen. A model without any
        outcome counts as losing 0.5; a warning says so once if it could be chosen.
        """
        offset = self.offset(X, quality_weight)
        best = best_labels(self.learner, X, candidates, offset)
        _, allowed = with_label_features(self.learner, X, candidates)
        warn_if_unanswered(self.learner, self.contenders(X, candidates=allowed, quality_weight=quality_weight))
        return best

    def route(self, X: Any, *, quality_weight: float | None = None, candidates: Any = None) -> Routes:
        """The chosen models with the predicted losses, their ranges and the prices: see ``Routes``."""
        weight = self._weight(quality_weight)
        offset = offsets_of(self.price(X), weight)
        return Routes(
            best_labels(self.learner, X, candidates, offset),
            self.predicted_loss(X),
            self.learner.cost_range(X),
            self.price(X),
            weight,
            self.models,
        )

    def predicted_loss(self, X: Any) -> NDArray[np.float64]:
        """The predicted losses (n, K); a model without any outcome counts as 0.5 if others have some."""
        predicted, silent = self.learner.predict_cost(X), self.learner.model_.unanswered()
        return predicted if silent.all() else np.where(silent, _UNKNOWN_LOSS, predicted)

    def price(self, X: Any) -> NDArray[np.float64]:
        """The prices (n, K) of the models for these examples."""
        return self._prices.of(X, _n_rows(X))

    def asking_price(self, X: Any) -> NDArray[np.float64]:
        """What learning one outcome costs, for each example and model, (n, K)."""
        return self._asking_prices.of(X, _n_rows(X))

    def offset(self, X: Any, quality_weight: float | None = None) -> NDArray[np.float64] | None:
        """The prices in units of loss, as ``CoalClassifier`` takes them; None if only quality counts."""
        return offsets_of(self.price(X), self._weight(quality_weight))

    def contenders(self, X: Any, *, candidates: Any = None, quality_weight: float | None = None) -> NDArray[np.bool_]:
        """The models (n, K) that some loss would make the best choice; the router asks about no others.

        The price of the others alone is at least the price of the cheapest model plus what a loss of 1 costs.

        >>> router = Router(["small", "large"], price=[0.1, 9.0], value_of_quality=2.0)
        >>> router.contenders([[1.0]]).tolist(), router.contenders([[1.0]], quality_weight=10.0).tolist()
        ([[True, False]], [[True, True]])
        """
        n_rows, offset = _n_rows(X), self.offset(X, quality_weight)
        allowed = np.tile(self.learner.model_.active, (n_rows, 1))
        if candidates is not None:
            allowed &= check_mask(by_row(candidates, X, "candidates"), n_rows, self.models, "candidates")
        return allowed if offset is None else within_reach(offset, allowed)

    def trade_off(self, X: Any, loss: Any, *, paid: Any = None, quality_weights: ArrayLike | None = None) -> TradeOff:
        """Mean loss against mean price over a sweep of quality weights, on examples with known losses (n, K).

        ``paid`` (n, K) is what each model really cost, by default its price.

        >>> router = Router(["small", "large"], price=[0.1, 1.0], value_of_quality=2.0)
        >>> trade_off = router.tell([[1.0]] * 30, [[0.4, 0.1]] * 30).trade_off([[1.0]] * 5, [[0.5, 0.0]] * 5)
        >>> trade_off.price[[0, trade_off.chosen, -1]].tolist()
        [0.1, 0.1, 1.0]
        """
        price, shape = self.price(X), (_n_rows(X), len(self.models))
        true = as_cost_array(by_label(loss, self.models, "loss"))
        if true.shape != shape or np.isnan(true).any():
            raise InputError(f"loss must have a known number for every example and model, shape {shape}.")
        return TradeOff.of(
            self.predicted_loss(X),
            price,
            true,
            price if paid is None else as_cost_array(by_label(paid, self.models, "paid")),
            models=self.models.tolist(),
            weights=None if quality_weights is None else _weights(quality_weights),
            chosen=self.value_of_quality,
        )

    # -- learning ---------------------------------------------------------------------------------

    def ask(self, X: Any, max_costs: int | None = None, *, candidates: Any = None, **others: Any) -> Queries:
        """The outcomes worth asking for, given losses and prices; the router does not change.

        No question is about a model whose price alone rules it out, whatever its loss. ``others`` are further arguments
        of ``CoalClassifier.ask``, such as ``known``.

        >>> router = Router(["small", "large"], price=[0.1, 9.0], value_of_quality=2.0, rule={"warm_up": 0})
        >>> print(router.ask([[1.0]]).reason(0))
        round 1: asks for 0 of 2 costs
              small  predicted   0.000  range 0.000 to 1.000  plus 0.000  only contender
              large  predicted   0.000  range 0.000 to 1.000  plus 4.450  cannot be best
        """
        joined, allowed = with_label_features(self.learner, X, candidates)
        contenders = self.contenders(X, candidates=allowed)
        queries = self.learner.ask(
            joined,
            max_costs,
            candidates=None if contenders.all() else contenders,
            offset=self.offset(X),
            asking_price=self.asking_price(X),
            **others,
        )
        too_dear = self.contenders(X, candidates=allowed, quality_weight=np.inf) & ~contenders
        return replace(queries, reason_codes=np.where(too_dear, np.int8(CANNOT_BE_BEST), queries.reason_codes))

    def tell(self, X: Any, loss: Any, asked: Any = None, late: bool = False, *, candidates: Any = None) -> Self:
        """Learn the known losses (n, K), NaN elsewhere; the arguments are those of ``CoalClassifier.tell``."""
        offset = asked.offset if isinstance(asked, Queries) else self.offset(X)
        if isinstance(asked, Queries) and len(asked.classes) < len(self.models):
            (loss, asked), offset = asked.with_later_labels(self.models, loss), self.offset(X)
        self.learner.tell(X, loss, asked, late, candidates=candidates, offset=offset)
        mask = asked.mask if isinstance(asked, Queries) else asked
        known = ~np.isnan(as_cost_array(by_label(loss, self.models, "loss")))
        bought = known if mask is None else check_mask(mask, len(known), self.models, "asked")
        self.spent_ += float(self.asking_price(X)[bought].sum())
        return self

    def interview(self, X: Any, answer: Callable[[int, Any], float], *, candidates: Any = None) -> Self:
        """Ask about each example, one outcome after another, then learn them; ``answer(i, model)`` gives the loss."""
        if not callable(answer):
            raise InputError(
                f"answer must be a function that returns the loss of a model on example i, got {shortened(answer)}."
            )
        prices, column = self.asking_price(X), {model: k for k, model in enumerate(self.models.tolist())}
        joined, allowed = with_label_features(self.learner, X, candidates)
        contenders = self.contenders(X, candidates=allowed)

        def paid(i: int, model: Any) -> float:
            loss = answer(i, model)
            self.spent_ += float(prices[i, column[model]])
            return loss

        mask = None if contenders.all() else contenders
        self.learner.interview(joined, paid, candidates=mask, offset=self.offset(X), asking_price=prices)
        return self

    # -- files ------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the router to one file, atomically; ``load`` restores it. A price function is not saved."""
        with self.learner.model_.lock:
            meta, arrays = bundled(self.learner)
        own = {
            "value_of_quality": self.value_of_quality,
            "price": self._prices.plain(),
            "asking_price": None if self._asking_prices is self._prices else self._asking_prices.plain(),
            "spent": self.spent_,
        }
        if self.columns is not None:
            own["columns"] = asdict(self.columns)
        write_bundle(path, _KIND, {**meta, "router": own}, arrays)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        price: Price | None = None,
        asking_price: Price | None = None,
        model: CostModel | None = None,
        features: Any = None,
    ) -> "Router":
        """The router that ``save`` wrote; ``price`` and ``asking_price`` are given again if they are functions.

        ``model`` and ``features`` are those of ``CoalClassifier.load``.

        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     Router(["small", "large"], price=[0.1, 1.0]).save(f"{folder}/models.router")
        ...     Router.load(f"{folder}/models.router").price([[1.0]]).tolist()
        [[0.1, 1.0]]
        """
        meta, arrays = read_bundle(path, _KIND)
        try:
            own = meta["router"]
            prices = _given_again(own["price"], price, "price")
            asking = own["asking_price"]
            asking_prices = None if asking is None else _given_again(asking, asking_price, "asking_price")
            value, spent = float(own["value_of_quality"]), float(own["spent"])
            columns = OutcomeColumns(**own["columns"]) if "columns" in own else None
        except (KeyError, TypeError, ValueError) as problem:
            raise FileFormatError(f"{path} was not saved by Router.save: {in_one_line(problem)}.") from None
        learner = from_bundle(CoalClassifier, meta, arrays, model, features, path)
        router = cls._around(learner, prices, value, asking_prices, spent)
        router.columns = columns
        return router

    def record_to(self, ledger: Ledger) -> Self:
        """From now on, write every round to this empty ledger before it is learned."""
        self.learner.record_to(ledger)
        return self

    @classmethod
    def from_ledger(
        cls,
        ledger: Ledger,
        price: Price = 0.0,
        value_of_quality: float = 1.0,
        *,
        asking_price: Price | None = None,
        model: CostModel | None = None,
        features: Any = None,
    ) -> "Router":
        """Rebuild the router from a ledger, bit for bit; it continues to record there.

        Every round holds the known part of its costs, so replaying needs no prices. ``price``, ``value_of_quality`` and
        ``asking_price`` are those of the decisions to come. ``spent_`` begins at 0.
        """
        learner = CoalClassifier.from_ledger(ledger, model, features)
        value = finite_number("value_of_quality", value_of_quality, 0.0, above=True)
        return cls._around(learner, price, value, asking_price, 0.0)

    # -- internals --------------------------------------------------------------------------------

    @classmethod
    def _around(
        cls, learner: CoalClassifier, price: Price, value: float, asking_price: Price | None, spent: float
    ) -> "Router":
        router = cls.__new__(cls)
        router.learner, router.value_of_quality, router.spent_, router.columns = learner, value, spent, None
        router._set_prices(router.models, price, asking_price)
        return router

    def _set_prices(self, models: NDArray[Any], price: Price, asking_price: Price | None) -> None:
        self._prices = ModelPrices.checked(price, models, "price")
        self._asking_prices = self._prices
        if asking_price is not None:
            self._asking_prices = ModelPrices.checked(asking_price, models, "asking_price")

    def _weight(self, quality_weight: float | None) -> float:
        return self.value_of_quality if quality_weight is None else checked_weight("quality_weight", quality_weight)

    def __repr__(self) -> str:
        return f"Router({self.models.tolist()}, value_of_quality={self.value_of_quality:g})"


def _weights(given: ArrayLike) -> list[float]:
    return [checked_weight("quality_weights", one) for one in np.ravel(np.asarray(given, object)).tolist()]


def _n_rows(X: Any) -> int:
    """The number of examples, raw or not."""
    if hasattr(X, "shape"):
        return int(X.shape[0])
    return table_of(X).n_rows if is_raw(X) else len(X)


def _given_again(saved: Any, given: Any, name: str) -> Any:
    """The saved prices, or the ones given in their place; an InputError if the file has only the name of a function."""
    if given is not None:
        return given
    if isinstance(saved, dict):
        raise InputError(f"its {name} is the function {saved['function']!r}, which is not saved: pass {name}=...")
    return saved


def learn_outcomes(router: Router, outcomes: Outcomes, *, active: bool = False) -> None:
    """Learn the outcomes, in order; with ``active``, only those that the router asks for, row by row.

    An outcome that the table lacks may be asked for, too; it counts as not known, and nothing was paid for it.

    >>> lines = [{"text": text, "model": model, "loss": loss, "price": 1.0} for text in ("sum", "proof") * 60
    ...     for model, loss in (("small", float(text == "proof")), ("large", 0.0))]
    >>> for i, line in enumerate(lines):
    ...     line["id"] = i // 2
    >>> outcomes = Outcomes.of_lines(lines)
    >>> router = Router(outcomes.models, price={"small": 0.1, "large": 0.5})
    >>> learn_outcomes(router, outcomes, active=True)
    >>> router.predict(["sum", "proof"]).tolist(), router.outcomes_known_ < 120
    (['small', 'large'], True)
    """
    if not active:
        router.tell(outcomes.examples, outcomes.loss, ~np.isnan(outcomes.loss))
        return
    X, price = outcomes.examples, router.asking_price(outcomes.examples)
    run = simulate(
        router.learner,
        X,
        outcomes.loss,
        candidates=router.contenders(X),
        offset=router.offset(X),
        asking_price=price,
        price=np.where(np.isnan(outcomes.loss), 0.0, price),
    )
    assert run.spent is not None
    router.spent_ += float(run.spent[-1])
