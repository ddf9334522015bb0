"""Warns if a learner has stopped asking although the answers show errors."""

import warnings

from coalface.errors import CollapseWarning
from coalface.kernels.state import EXAMPLES_QUERIED, SILENT_ROUNDS, Counted

LEAST_SILENCE = 500  # rounds without a question before the warning is considered
_LARGE_REGRET = 0.25  # mean regret of the latest answered examples, with costs scaled to [0, 1]


def warn_if_collapsed(counts: Counted, mellowness: float, warm_up: int | str) -> bool:
    """Warn if needed; returns whether it did."""
    silent, regret = int(counts.counters[SILENT_ROUNDS]), float(counts.recent_regret[0])
    if silent < max(LEAST_SILENCE, 5 * int(counts.counters[EXAMPLES_QUERIED])) or regret < _LARGE_REGRET:
        return False
    warnings.warn(
        f"Nothing was asked in the last {silent} rounds, although the last answered examples cost {regret:.2f} of "
        f"the scale more than their best label. Raise mellowness (now {mellowness:g}) or warm_up (now {warm_up}), "
        "or set audit_rate.",
        CollapseWarning,
        stacklevel=4,
    )
    return True
