"""The CUDA source as one text: constants from the Python kernels, then the files, each after those it uses."""

import math
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np

from coalface.kernels import budgets, calibration, codes, implied, ranges, regression, rules, state, turns

_FILES = (
    "state",
    "draws",
    "regression",
    "ranges",
    "rules",
    "budgets",
    "turns",
    "implied",
    "measure",
    "simulate",
    "score",
)
_CONSTANTS: dict[ModuleType, tuple[str, ...]] = {
    codes: (
        *("COAL", "ALL_OR_NONE", "NO_DOMINATION", "PASSIVE", "ADAX", "SHADOW", "DERIVATIVE", "NOISE_SCALED", "PRINTED"),
        *("AUTO_RATE", "AUTO_WARM_UP"),
    ),
    state: (
        *("LEVELS", "COUNT_CLASSES", "COUNT", "AVERAGE", "WEIGHT", "SQUARES", "INVERSE_SCALE", "UNSEEN"),
        *("UNSEEN_INVERSE_SCALE", "SMALLEST_VALUE", "LARGEST_VALUE", "MOST_AUDITED"),
        *("NOT_A_CANDIDATE", "KNOWN_WELL", "UNCERTAIN", "WARM_UP", "WITH_THE_REST", "AUDIT", "OVER_BUDGET", "SETTLED"),
        "ANSWERED",
    ),
    ranges: ("TINY_CUBE", "PRINTED_CONSTANT", "PRINTED_FAILURE"),
    regression: ("REACH_OF_FIRST_STEP", "TINY"),
    rules: ("SHORTEST_WARM_UP", "LONGEST_WARM_UP", "ENOUGH_BEST_LABELS", "PREDICTED_SHARE"),
    budgets: ("OPENING_SHARE", "LEAD_SHARE", "AUDIT_SHARE", "LARGEST_RATIO", "ASK_ALL_FACTOR"),
    turns: ("TURN_DRAW", "FULL_SHARE"),
    calibration: ("TIE",),
    implied: ("PRIOR_ERROR", "LEAST_TRUST", "MOST_ANSWERS", "MOST_COUNTS"),
}


@cache
def source() -> str:
    """The whole source; ``COALFACE_EMULATED`` makes it plain C++."""
    folder = Path(__file__).parent
    files = [(folder / f"{name}.cuh").read_text("utf-8") for name in _FILES]
    return "\n".join([(folder / "threads.cuh").read_text("utf-8"), _constants(), *files])


def _constants() -> str:
    """A line for every constant: the numbers are in one place, the Python kernels."""
    named = {name: getattr(module, name) for module, names in _CONSTANTS.items() for name in names}
    named |= {f"PULL_START_{power}": number for power, number in enumerate(ranges.PULL_START)}
    named |= {
        "EULER": math.e,
        "CALIBRATION_STEP": calibration.STEP,
        "LEAST_LOG": 0.0,
        "LARGEST_LOG": calibration.LARGEST,
    }
    return "\n".join(_constant(name, value) for name, value in named.items()) + "\n"


def _constant(name: str, value: float | np.float32) -> str:
    """A constant of the same type as in Python: whole numbers, doubles, or single-precision numbers.

    >>> _constant("LEVELS", 9), _constant("SHARE", 0.5), _constant("TINY", np.float32(1e-37))
    ('constexpr int LEVELS = 9;', 'constexpr double SHARE = 0.5;', 'constexpr float TINY = 9.99999991097579e-38f;')
    """
    if isinstance(value, np.float32):
        return f"constexpr float {name} = {float(value)!r}f;"
    kind = "int" if isinstance(value, int) else "double"
    return f"constexpr {kind} {name} = {value!r};"
