"""Settings, counts and scratch memory for tests that call the kernels of one decision directly."""

import numpy as np

from coalface.kernels.codes import ADAX, COAL, PUBLISHED, SHADOW
from coalface.kernels.rules import decide
from coalface.kernels.state import Settings, new_counts, new_scratch

_PLAIN = {
    "rule": COAL,
    "accumulator": ADAX,
    "sensitivity": SHADOW,
    "slack": PUBLISHED,
    "mellowness": 0.1,
    "width_scale": 0.5,
    "learning_rate": 0.5,
    "warm_up": 0,
    "in_turn": False,
    "audit_rate": 0.0,
    "seed": 1,
    "intercept": True,
    "abstain_cost": np.inf,
    "alike": np.inf,
}
NARROW = [0.0, 0.5, 0.5, 0.5], [0.01, 0.51, 0.51, 0.51]  # of four labels; the rule asks for nothing
TWO_WIDE = [0.0, 0.0, 0.9, 0.9], [0.8, 0.8, 1.0, 1.0]  # the rule asks for the first two


def settings_of(n_labels, **changed):
    """The plain rule without warm-up, audits or budget, but for what is changed."""
    return Settings(n_labels=n_labels, **{**_PLAIN, **changed})


def scratch_of(lowest, highest, *, candidates=None, offset=None, predicted=None, sensitivity=None):
    """Scratch memory with the ranges of one row; labels beyond them are padding."""
    n_labels = len(lowest)
    scratch = new_scratch(n_labels, 1)
    given = {"lowest": lowest, "highest": highest, "offset": offset, "predicted": predicted, "sensitivity": sensitivity}
    for name, values in given.items():
        if values is not None:
            getattr(scratch, name)[:n_labels] = values
    scratch.candidates[:n_labels] = True if candidates is None else candidates
    return scratch


def counts_of(n_labels, **changed):
    """Counts before the first round, with some of the arrays filled in."""
    counts = new_counts(n_labels)
    for name, values in changed.items():
        getattr(counts, name)[: len(values)] = values
    return counts


def decided(settings, scratch, round_number=9, counts=None):
    """The number that ``decide`` returns, the mask and the reasons."""
    n_asked = decide(counts_of(settings.n_labels) if counts is None else counts, settings, scratch, round_number)
    n_labels = settings.n_labels
    np.testing.assert_array_equal(scratch.propensity[:n_labels] == 1.0, scratch.mask[:n_labels])
    return n_asked, scratch.mask[:n_labels].tolist(), scratch.reasons[:n_labels].tolist()
