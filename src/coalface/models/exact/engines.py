"""The range engines by name, and the check that an engine suits an oracle."""

from coalface.errors import InputError
from coalface.models.exact.bisection import Bisection
from coalface.models.exact.dual import Dual
from coalface.models.exact.ellipsoid import Ellipsoid
from coalface.models.exact.engine import RangeEngine
from coalface.models.exact.ensemble import Ensemble
from coalface.models.exact.enumeration import Enumeration
from coalface.models.exact.multiplicative_weights import MultiplicativeWeights
from coalface.models.exact.oracles import Oracle

ENGINES: dict[str, type[RangeEngine]] = {
    "multiplicative-weights": MultiplicativeWeights,
    "dual": Dual,
    "bisection": Bisection,
    "ellipsoid": Ellipsoid,
    "enumeration": Enumeration,
    "ensemble": Ensemble,
}


def engine_for(name: str, oracle: Oracle) -> type[RangeEngine]:
    """The engine of this name; an InputError if it does not suit the oracle's class.

    >>> from coalface.models.exact.oracles import BallOracle
    >>> engine_for("dual", BallOracle()).__name__
    'Dual'
    """
    if not isinstance(name, str) or name not in ENGINES:
        raise InputError(f"ranges must be one of {', '.join(map(repr, ENGINES))}, got {name!r}.")
    engine = ENGINES[name]
    if not engine.suits(oracle):
        fitting = [other for other, kind in ENGINES.items() if kind.suits(oracle)]
        raise InputError(
            f"ranges={name!r} needs {engine.needs}, got {type(oracle).__name__}. Use one of "
            f"{', '.join(map(repr, fitting))}."
        )
    return engine
