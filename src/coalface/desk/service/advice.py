"""Advice whether to stop asking: what more questions could still save, against a share of the cost scale."""

from coalface.desk.service.messages import Advice, Estimate, Expected
from coalface.errors import counted
from coalface.learner.classifiers import CoalClassifier

SMALL = 0.02  # of the cost scale, per example: with costs of 0 and 1, two errors in a hundred
_FEWEST = 100  # rounds before a saving can be estimated


def advice_on(
    saving: Estimate | None, learner: CoalClassifier, bounds: tuple[float, float], left: int, expected: Expected | None
) -> Advice:
    """Stop if the whole interval of the saving is small, go on if it is not, and what is missing otherwise."""
    small = SMALL * (bounds[1] - bounds[0])
    if left == 0:
        return Advice(None, "The pool is finished: no example is left to ask about.")
    if saving is None:
        rounds = learner.round_ - 1
        audits = learner.audit_rate if learner.audit_rate is not None else 0.0
        if not audits:
            return Advice(None, "The saving is unknown without audits. Set audit_rate = 0.1 under [learner].")
        return Advice(None, f"The saving is unknown before {_FEWEST} rounds; {counted(rounds, 'round')} so far.")
    cost = "" if expected is None else f" for about {counted(round(expected.costs.expected), 'more cost')}"
    mean, low, high = (max(number, 0.0) for number in (saving.mean, saving.low, saving.high))
    could = f"More questions could save {mean:.3g} per example (95 % interval {low:.3g} to {high:.3g}){cost}"
    if high < small:
        return Advice(True, f"{could}: surely less than {small:.3g}, 2 % of the scale.")
    return Advice(False, f"{could}: perhaps more than {small:.3g}, 2 % of the scale.")
