"""What ``tell`` was given, as the arrays that models and ledgers read."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import check_mask
from coalface.data.targets import UNKNOWN, Codes
from coalface.kernels.state import AUDIT, NO_ROUNDS, UNCERTAIN, RoundArrays
from coalface.rounds.arrays import AnswerArrays
from coalface.rounds.queries import Queries


def told_arrays(
    unit: NDArray[np.float32],
    labels: NDArray[Any],
    asked: Any,
    candidates: Any,
    recorded: AnswerArrays | None,
    truth: Codes | None,
    offsets: NDArray[np.float32] | None = None,
) -> RoundArrays:
    """The arrays of answered rounds, with costs ``unit`` in [0, 1]; ``truth`` are the columns of given true labels.

    ``offsets`` (n, K) are the known parts of the costs, in the same unit.
    Where ``asked`` is not the result of ``ask``, a whole row that a true label answers counts as one question.
    """
    parts: dict[str, Any] = {"costs": unit} | ({} if offsets is None else {"offsets": offsets})
    if isinstance(asked, Queries):
        parts |= {"reasons": asked.reason_codes, "propensity": asked.propensity, "truth": asked.truth}
        parts |= {} if asked.outlook is None else {"outlook": asked.outlook}
        asked = asked.mask
    elif recorded is not None:
        parts |= {"outlook": recorded.outlook, "propensity": recorded.audits, "truth": recorded.asks_truth}
        parts["reasons"] = np.where(recorded.audits > 0, AUDIT, UNCERTAIN).astype(np.int8)
    parts["asked"] = ~np.isnan(unit) if asked is None else check_mask(asked, len(unit), labels, "asked")
    covered = parts["asked"]
    if candidates is not None:
        parts["candidates"] = check_mask(candidates, len(unit), labels, "candidates")
        covered = covered | ~parts["candidates"]
    if truth is not None and "truth" not in parts:
        parts["truth"] = (truth != UNKNOWN) & covered.all(axis=1)
    return NO_ROUNDS._replace(**parts)
