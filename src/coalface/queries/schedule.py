"""How the two thresholds of the rules move from round to round (rounds count from 1)."""

import math


def width_threshold(round_number: int, width_scale: float = 0.5) -> float:
    """A range this narrow is known well enough (psi).

    >>> width_threshold(100)
    0.05
    """
    return width_scale / math.sqrt(round_number)


def loss_slack(round_number: int, n_labels: int, mellowness: float = 0.01) -> float:
    """The summed squared loss a plausible regressor may have in excess of the best one (Delta).

    >>> round(loss_slack(101, n_labels=10), 4)
    0.0691
    """
    return mellowness * math.log(n_labels * max(round_number - 1, 1))
