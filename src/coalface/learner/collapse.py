"""Premature certainty: a warning that a learner has stopped asking although its answers show that it errs."""

import warnings

from coalface.errors import CollapseWarning
from coalface.kernels.state import EXAMPLES_QUERIED, SILENT_ROUNDS, Counted

_SILENCE = 500  # rounds without a question that call for a second look
_WRONG = 0.25  # mean excess cost of the last answered examples, as a share of the cost scale


def warn_if_collapsed(counts: Counted, mellowness: float, warm_up: int | str) -> bool:
    """Whether a warning was given."""
    silent, regret = int(counts.counters[SILENT_ROUNDS]), float(counts.recent_regret[0])
    if silent < max(_SILENCE, 5 * int(counts.counters[EXAMPLES_QUERIED])) or regret < _WRONG:
        return False
    warnings.warn(
        f"Nothing was asked in the last {silent} rounds, although the last answered examples cost {regret:.2f} of "
        f"the scale more than their best label. Raise mellowness (now {mellowness:g}) or warm_up (now {warm_up}), "
        "or set audit_rate.",
        CollapseWarning,
        stacklevel=4,
    )
    return True
