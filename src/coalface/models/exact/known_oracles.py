"""Making the oracle of the ``oracle`` parameter: an oracle, a scikit-learn regressor or a description."""

from collections.abc import Callable, Mapping
from typing import Any

from coalface.errors import InputError
from coalface.models.exact.bounded_linear import BoundedLinearOracle
from coalface.models.exact.oracles import BallOracle, Oracle, RidgeOracle
from coalface.models.exact.user_oracles import FiniteOracle, SklearnOracle

_KINDS: dict[str, Callable[..., Oracle]] = {
    "ball": BallOracle,
    "ridge": RidgeOracle,
    "bounded-linear": BoundedLinearOracle,
    "finite": lambda table: FiniteOracle.of_table(table),
}


def oracle_of(value: Any) -> Oracle:
    """The oracle itself, the oracle of a description as ``plain`` returns it, or one around a regressor.

    >>> oracle_of({"kind": "ridge", "penalty": 0.5})
    RidgeOracle(penalty=0.5)
    """
    if all(hasattr(value, name) for name in ("solve", "convex", "finite", "linear", "prior", "plain")):
        oracle: Oracle = value
        return oracle
    if not isinstance(value, Mapping):
        return SklearnOracle(value)
    given = dict(value)
    kind = given.pop("kind", None)
    if not isinstance(kind, str) or kind not in _KINDS:
        raise InputError(f"oracle must have one of the kinds {', '.join(map(repr, _KINDS))}, got {kind!r}.")
    try:
        return _KINDS[kind](**given)
    except TypeError:
        raise InputError(
            f"oracle of kind {kind!r} cannot have exactly these parameters: {', '.join(given) or 'none'}."
        ) from None
