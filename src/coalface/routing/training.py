"""Teaching a router a table of outcomes: all of them, or only those that it asks for."""

import numpy as np

from coalface.evaluate.simulation import simulate
from coalface.routing.outcomes import Outcomes
from coalface.routing.router import Router


def learn_outcomes(router: Router, outcomes: Outcomes, *, active: bool = False) -> None:
    """Learn the outcomes, in order; with ``active``, only those that the router asks for, row by row.

    An outcome that the table lacks may be asked for, too; it counts as not known, and nothing was paid for it.

    >>> lines = [{"text": text, "model": model, "loss": loss, "price": 1.0} for text in ("sum", "proof") * 60
    ...     for model, loss in (("small", float(text == "proof")), ("large", 0.0))]
    >>> for i, line in enumerate(lines):
    ...     line["id"] = i // 2
    >>> outcomes = Outcomes.of_lines(lines)
    >>> router = Router(outcomes.models, price={"small": 0.1, "large": 0.5})
    >>> learn_outcomes(router, outcomes, active=True)
    >>> router.predict(["sum", "proof"]).tolist(), router.outcomes_known_ < 120
    (['small', 'large'], True)
    """
    if not active:
        router.tell(outcomes.examples, outcomes.loss, ~np.isnan(outcomes.loss))
        return
    X, price = outcomes.examples, router.asking_price(outcomes.examples)
    run = simulate(
        router.learner,
        X,
        outcomes.loss,
        candidates=router.contenders(X),
        offset=router.offset(X),
        asking_price=price,
        price=np.where(np.isnan(outcomes.loss), 0.0, price),
    )
    assert run.spent is not None
    router.spent_ += float(run.spent[-1])
