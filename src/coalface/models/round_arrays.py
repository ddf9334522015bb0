"""What models read of the arrays of rounds: which answers count, how likely each was and what it stands for."""

import numpy as np
from numpy.typing import NDArray

from coalface.kernels.state import (
    AUDIT,
    MOST_AUDITED,
    N_OUTLOOK,
    NO_ROUNDS,
    NOT_A_CANDIDATE,
    RoundArrays,
    Settings,
)
from coalface.kernels.stopping import fill_outlooks

_LEAST_AUDIT_RATE = 0.05  # limits how many rounds one audit stands for


def rounds_stood_for(rounds: RoundArrays, settings: Settings) -> NDArray[np.float64]:
    """How many rounds (n,) each round stands for.

    A round with nothing but an audit stands for all rounds of its kind, most of which have no answer and are unknown.
    """
    rate = _audit_rate_of(settings)
    if not len(rounds.reasons) or rate == 0.0:
        return np.ones(len(rounds.costs))
    audited = (rounds.reasons == AUDIT) & (rounds.propensity > 0.0)
    only_audits = (audited | np.isnan(rounds.costs)).all(axis=1)
    return np.where(only_audits, 1.0 / max(rate, _LEAST_AUDIT_RATE), 1.0)


def _audit_rate_of(settings: Settings) -> float:
    """The probability of an audit; fewer are made where each asks for all costs."""
    rate = float(settings.audit_rate)
    return rate if settings.miss_rate > 1.0 else min(rate, MOST_AUDITED / settings.n_labels)


def outlooks(settings: Settings, rounds: RoundArrays) -> NDArray[np.float64]:
    """The outlooks of decided rows; empty without audits."""
    if settings.audit_rate == 0.0:
        return NO_ROUNDS.outlook
    found, candidates = np.empty((len(rounds.mask), N_OUTLOOK)), rounds.reasons != NOT_A_CANDIDATE
    offsets = rounds.offsets if len(rounds.offsets) else np.zeros_like(rounds.predicted)
    fill_outlooks(settings, candidates, rounds.predicted, rounds.lowest, offsets, rounds.propensity, found)
    return found


def one_round(rounds: RoundArrays, row: int) -> RoundArrays:
    """The answers about one row."""
    one = slice(row, row + 1)
    return rounds._replace(
        costs=rounds.costs[one],
        asked=rounds.asked[one],
        candidates=rounds.candidates[one] if len(rounds.candidates) else rounds.candidates,
        outlook=rounds.outlook[one] if len(rounds.outlook) else rounds.outlook,
        reasons=rounds.reasons[one] if len(rounds.reasons) else rounds.reasons,
        truth=rounds.truth[one] if len(rounds.truth) else rounds.truth,
        propensity=rounds.propensity[one] if len(rounds.propensity) else rounds.propensity,
        offsets=rounds.offsets[one] if len(rounds.offsets) else rounds.offsets,
    )


def answer_chances(rounds: RoundArrays, settings: Settings) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The chance (n, K) with which each answered cost was asked for, and how many rounds (n,) each one stands for."""
    times = rounds_stood_for(rounds, settings)
    if not len(rounds.reasons):
        return np.ones(rounds.costs.shape), times
    audited = (rounds.reasons == AUDIT) & (rounds.propensity > 0.0)
    chances = np.where(audited, rounds.propensity, 1.0)
    rate = _audit_rate_of(settings)
    only_audits = (audited | np.isnan(rounds.costs)).all(axis=1) & (rate > 0.0)
    chances[only_audits] = np.minimum(chances[only_audits] / max(rate, 1e-9), 1.0)
    return chances, times
