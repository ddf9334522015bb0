"""The contract of every range engine."""

import numpy as np
import pytest

from coalface.paper.engine import certified_range
from tests.models.histories import history, learned, slack_of

ENDS = (0.0, 1.0)


class Counting:
    """An oracle that counts its calls."""

    def __init__(self, oracle):
        self.inner, self.calls = oracle, 0

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def solve(self, *args):
        self.calls += 1
        return self.inner.solve(*args)


class RangeEngineContract:
    """Subclasses name the engine, a class of regressors and, if there is one, an independent answer."""

    engine: type
    mellowness = 0.1
    tol = 0.02

    def oracle(self):
        raise NotImplementedError

    def space(self, seed, mellowness=None, oracle=None):
        """A version space that is not empty at the contract's mellowness, and rows to ask about."""
        rounds, rows = self.history(seed)
        slack = slack_of(self.mellowness if mellowness is None else mellowness)
        return learned(oracle or self.oracle(), rounds, slack, monotone=self.engine.monotone), rows

    def history(self, seed):
        for attempt in range(100):
            rounds, rows = history(seed + 1000 * attempt)
            space = learned(self.oracle(), rounds, slack_of(self.mellowness), monotone=self.engine.monotone)
            if not self.engine(space).empty:
                return rounds, rows
        raise AssertionError("every version space is empty")

    @pytest.mark.parametrize("seed", range(5))
    def test_the_limit_lies_beyond_what_was_reached_and_within_the_scale(self, seed):
        space, rows = self.space(seed)
        for row in rows:
            found = certified_range(self.engine(space), row, self.tol)
            assert 0.0 <= found.low.limit <= found.low.reached <= found.high.reached <= found.high.limit <= 1.0
            assert (found.lowest, found.highest) == (found.low.limit, found.high.limit)

    @pytest.mark.parametrize("seed", range(5))
    def test_more_slack_never_narrows_a_range(self, seed):
        (tight, rows), (loose, _) = self.space(seed), self.space(seed, 2 * self.mellowness)
        for row in rows:
            narrow, wide = (certified_range(self.engine(space), row, self.tol) for space in (tight, loose))
            assert wide.lowest <= narrow.low.reached
            assert wide.highest >= narrow.high.reached

    @pytest.mark.parametrize("seed", range(5))
    def test_the_best_regressor_lies_in_the_range_of_its_own_constraint(self, seed):
        space, rows = self.space(seed)
        alone = space.latest_alone()
        for row in rows:
            found = certified_range(self.engine(alone), row, self.tol)
            predicted = np.clip(alone.answers.best.predict(row[None, :])[0], 0, 1)
            assert found.lowest - 1e-9 <= predicted <= found.highest + 1e-9

    def test_oracle_calls_are_counted(self):
        oracle = Counting(self.oracle())
        space, rows = self.space(0, oracle=oracle)
        engine = self.engine(space)
        certified_range(engine, rows[0], self.tol)  # includes what is prepared once
        for row in rows:
            before = oracle.calls
            assert certified_range(engine, row, self.tol).oracle_calls == oracle.calls - before

    def test_the_same_question_has_the_same_answer(self):
        space, rows = self.space(1)
        engine = self.engine(space)
        first = [certified_range(engine, row, self.tol) for row in rows]
        assert [certified_range(engine, row, self.tol) for row in rows[::-1]][::-1] == first
        assert [certified_range(self.engine(space), row, self.tol) for row in rows] == first
