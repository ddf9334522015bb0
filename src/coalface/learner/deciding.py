"""What a learner decides about examples, without asking or learning: predictions, ranges and questions."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import CostScale, check_asking_price, check_cost, check_mask, check_offset
from coalface.data.frames import by_row
from coalface.data.rows import Rows
from coalface.errors import UnknownLabelError
from coalface.kernels.state import ROUND, SILENT_ROUNDS, Settings, new_rounds
from coalface.learner.known_parts import NO_PARTS, KnownParts
from coalface.learner.parameters import Coal, abstain_of
from coalface.learner.stopping import LEAST_SILENCE, warn_of_unanswered, warns_of_collapse
from coalface.learner.truths import TruthLearner
from coalface.rounds.queries import CostRanges, Queries

Mask = NDArray[np.bool_]


class DecidingLearner(TruthLearner):
    """A learner that decides which costs are worth asking for."""

    def _decide(
        self,
        rows: Rows,
        candidates: Mask | None,
        known: NDArray[np.float32] | None = None,
        asked: Mask | None = None,
        first_round: int | None = None,
        settings: Settings | None = None,
        parts: KnownParts = NO_PARTS,
    ) -> Queries:
        settings = settings or self.settings_for()
        rounds = new_rounds(len(rows), settings.n_labels, candidates, known, asked, *parts)
        with self.model_.lock:
            start = int(self.model_.state.counters[ROUND]) if first_round is None else first_round
            found = self.model_.ask(rows, settings, rounds, start)
        scale, abstain = CostScale.of(self.cost_bounds), abstain_of(self.abstain)
        lowest, highest = scale.within(scale.from_unit(found.lowest)), scale.within(scale.from_unit(found.highest))
        return Queries(
            mask=found.mask,
            next=found.next,
            ranges=CostRanges(lowest, highest),
            predicted=scale.from_unit(found.predicted),
            reason_codes=found.reasons,
            propensity=found.propensity,
            classes=self.classes_,
            first_round=start,
            abstain_cost=None if abstain is None else float(abstain.cost),
            outlook=found.outlook if len(found.outlook) or settings.audit_rate else None,
            truth=found.truth,
            price_of_truth=settings.price_of_truth,
            offset=parts.offsets.astype(np.float64) * scale.span if len(parts.offsets) else None,
        )

    def known_parts(
        self, X: Any, rows: Rows, labels: NDArray[Any], offset: Any = None, asking_price: Any = None
    ) -> KnownParts:
        """The known parts of costs and the prices of questions, checked; ``X`` are the examples of the rows."""
        parts = NO_PARTS if offset is None else KnownParts(self._offsets(X, rows, labels, offset))
        if asking_price is None:
            return parts
        prices = by_row(asking_price, X, "asking_price")
        return parts._replace(prices=check_asking_price(prices, len(rows), labels))

    def _offsets(self, X: Any, rows: Rows, labels: NDArray[Any], offset: Any) -> NDArray[np.float32]:
        """The known parts of costs, scaled to [0, 1]; the least of a row is 0 unless abstaining has a cost."""
        scale, offset = CostScale.of(self.cost_bounds), by_row(offset, X, "offset")
        return check_offset(offset, len(rows), labels, scale, shifted=self.abstain is None)

    def _checked_answers(self, rows: Rows, known: Any, asked: Any) -> tuple[NDArray[np.float32] | None, Mask | None]:
        """The known costs, scaled to [0, 1], and the mask of those asked for."""
        if known is None:
            return None, None
        unit = check_cost(known, len(rows), self.classes_, CostScale.of(self.cost_bounds))
        return unit, ~np.isnan(unit) if asked is None else check_mask(asked, len(unit), self.classes_, "asked")

    def _columns_of(self, labels: Any) -> list[int]:
        """The columns of some labels; the dictionary for this lookup is made once."""
        names = np.asarray(labels).ravel().tolist()
        if not hasattr(self, "_code_of"):
            self._code_of = {label: code for code, label in enumerate(self.classes_.tolist())}
        try:
            return [self._code_of[name] for name in names]
        except KeyError as unknown:
            raise UnknownLabelError(unknown.args[0], self.classes_.tolist(), addable=True) from None

    @property
    def unanswered(self) -> Mask:
        """Whether no answer has taught the model about a label, (K,); retired labels may be among them."""
        return self.model_.unanswered()

    def warn_if_unanswered(self, among: Mask | None = None) -> None:
        """Warn once, when predictions are made, if some labels have no answered cost and others have.

        ``among`` (n, K) are the labels that can be predicted; None: all.
        """
        silent = self.unanswered & self.model_.active & (True if among is None else among.any(axis=0))
        if silent.any() and not self.unanswered.all() and not hasattr(self, "_warned_unanswered"):
            self._warned_unanswered = True
            warn_of_unanswered(self.classes_[silent].tolist())

    def warn_if_collapsed(self) -> None:
        """Warn once if the learner has stopped asking although the latest answers show errors."""
        silent = self.model_.state.counters[SILENT_ROUNDS]
        if silent < LEAST_SILENCE or self.budget is not None or hasattr(self, "_warned"):
            return
        if warns_of_collapse(self.model_.state, self.mellowness, Coal.of(self.rule).warm_up):
            self._warned = True
