"""The range engines by name."""

from coalface.errors import InputError
from coalface.ranges.bisection import Bisection
from coalface.ranges.dual import Dual
from coalface.ranges.ellipsoid import Ellipsoid
from coalface.ranges.engine import RangeEngine
from coalface.ranges.ensemble import Ensemble
from coalface.ranges.enumeration import Enumeration
from coalface.ranges.multiplicative_weights import MultiplicativeWeights
from coalface.regressors.oracles import Oracle

ENGINES: dict[str, type[RangeEngine]] = {
    "multiplicative-weights": MultiplicativeWeights,
    "dual": Dual,
    "bisection": Bisection,
    "ellipsoid": Ellipsoid,
    "enumeration": Enumeration,
    "ensemble": Ensemble,
}


def engine_for(name: str, oracle: Oracle) -> type[RangeEngine]:
    """The engine of this name, which must suit the class.

    >>> from coalface.regressors.oracles import BallOracle
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
