"""The questions about a batch of examples: which costs are asked for, why, and the range of each cost."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.data.frames import by_label
from coalface.data.labels import label_texts
from coalface.extras import needed_for
from coalface.kernels.state import (
    ABSTAINING_IS_CHEAPER,
    ANSWER,
    ANSWERED,
    ASKED_BEFORE,
    AUDIT,
    CANNOT_BE_BEST,
    KNOWN_WELL,
    NEW_LABEL,
    NOT_A_CANDIDATE,
    ONLY_CONTENDER,
    OVER_BUDGET,
    OVER_LIMIT,
    SETTLED,
    UNCERTAIN,
    WARM_UP,
    WITH_THE_REST,
    WITH_THE_TRUTH,
)
from coalface.rounds.arrays import outlook_of
from coalface.rounds.notebook import html_table
from coalface.rounds.round import Round

if TYPE_CHECKING:
    from pandas import DataFrame

REASONS = {
    UNCERTAIN: "could be best and is uncertain",
    WARM_UP: "warm-up",
    WITH_THE_REST: "the rule asks for every label",
    AUDIT: "audit, drawn at random",
    CANNOT_BE_BEST: "cannot be best",
    KNOWN_WELL: "already known well enough",
    ONLY_CONTENDER: "only contender",
    NOT_A_CANDIDATE: "not a candidate",
    OVER_LIMIT: "over max_costs",
    SETTLED: "ruled out by the answers",
    ANSWERED: "asked already",
    ABSTAINING_IS_CHEAPER: "abstaining is cheaper",
    OVER_BUDGET: "over the budget, or ahead of its plan",
    ASKED_BEFORE: "asked about a near-duplicate in the batch",
    WITH_THE_TRUTH: "comes with the true label",
    NEW_LABEL: "new label",
}
_MOST_ROWS = 10
_MOST_LABELS = 8
_HEADINGS = ("round", "asks for", "least predicted cost", "its range")


@dataclass(frozen=True)
class CostRanges:
    """The lowest and the highest cost that plausible regressors predict, (n, K) each.

    >>> CostRanges(np.array([[0.1, 0.5]]), np.array([[0.4, 1.0]])).width
    array([[0.3, 0.5]])
    """

    lowest: NDArray[np.float64]
    highest: NDArray[np.float64]

    @property
    def width(self) -> NDArray[np.float64]:
        """The width of each range."""
        return self.highest - self.lowest

    @property
    def guaranteed_cost(self) -> NDArray[np.float64]:
        """The least highest cost of each example: one of its labels costs no more; NaN if it has no candidate."""
        return np.asarray(np.fmin.reduce(self.highest, axis=1))


class AskedCounts(NamedTuple):
    """The true labels, costs and examples asked for, and the number of all costs and examples.

    >>> print(AskedCounts(0, 2, 4, 1, 2).plus(AskedCounts(1, 0, 4, 1, 2)))
    1 true label and 2 of 8 costs asked for, on 2 of 4 examples
    """

    truths: int = 0
    costs: int = 0
    all_costs: int = 0
    examples: int = 0
    all_examples: int = 0

    def plus(self, other: "AskedCounts") -> "AskedCounts":
        """The counts of both."""
        return AskedCounts(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))

    def __str__(self) -> str:
        truths = f"{self.truths} true label{'s' * (self.truths != 1)} and " if self.truths else ""
        costs = f"{self.costs} of {self.all_costs} costs"
        return f"{truths}{costs} asked for, on {self.examples} of {self.all_examples} examples"


@dataclass(frozen=True, repr=False)
class Queries:
    """The questions about n examples as arrays (n, K); a ``Round`` has those about one example, and their answers.

    ``next`` marks the questions to ask first, about the most promising label of each example. An answer may make the
    others needless; ``learner.ask(X, known=answers)`` returns those left. Without ``in_turn``, it equals ``mask``.
    ``truth`` (n,) marks the examples whose true label is asked for instead; ``mask`` then has all costs that it gives.

    >>> from coalface import CoalClassifier
    >>> queries = CoalClassifier(["walk", "fly"]).ask([[1.0, 0.0], [0.0, 1.0]])
    >>> queries.mask.tolist(), queries.labels(0).tolist(), queries.reasons[1, 0].item()
    ([[True, True], [True, True]], ['walk', 'fly'], 'warm-up')
    """

    mask: NDArray[np.bool_]
    next: NDArray[np.bool_]
    ranges: CostRanges
    predicted: NDArray[np.float64]
    reason_codes: NDArray[np.int8]
    propensity: NDArray[np.float64]
    classes: NDArray[Any]
    first_round: int
    truth: NDArray[np.bool_]
    abstain_cost: float | None = None  # per example; None: the learner cannot abstain
    outlook: NDArray[np.float64] | None = None  # (n, 4): see kernels.stopping; None if the chances are unknown
    checksum: int | None = None  # of the examples; None: not compared
    price_of_truth: float = np.inf  # in costs
    offset: NDArray[np.float64] | None = None  # (n, K) the known part of each cost, the least of a row as 0
    bounds: tuple[float, float] | None = None  # of costs, if the learner has found them; later answers may widen them

    @property
    def reasons(self) -> NDArray[np.str_]:
        """The reason for asking or not asking about each label."""
        return np.array([REASONS[code] for code in range(len(REASONS))])[self.reason_codes]

    @property
    def audit(self) -> NDArray[np.bool_]:
        """The questions drawn at random, about labels that the rule would not ask about."""
        return np.asarray(self.mask & (self.reason_codes == AUDIT))

    @property
    def shown_costs(self) -> NDArray[np.float64]:
        """The predicted costs as people see them: within their ranges, so within the bounds of costs."""
        return np.clip(self.predicted, self.ranges.lowest, self.ranges.highest)

    @property
    def costs_asked(self) -> int:
        """The number of costs asked for, one by one."""
        return int(self.mask[~self.truth].sum())

    @property
    def truths_asked(self) -> int:
        """The number of examples whose true label is asked for."""
        return int(self.truth.sum())

    @property
    def examples_asked(self) -> int:
        """The number of examples with at least one cost, or the true label, asked for."""
        return int(self.mask.any(axis=1).sum())

    @property
    def counts(self) -> AskedCounts:
        """How much is asked for, of how much."""
        return AskedCounts(self.truths_asked, self.costs_asked, self.mask.size, self.examples_asked, len(self))

    def labels(self, i: int) -> NDArray[Any]:
        """The labels whose cost is asked for on example ``i``, or comes with its true label."""
        return np.asarray(self.classes[self.mask[i]])

    def reason(self, i: int) -> str:
        """Explain the questions about example ``i``, a line per label, the least predicted cost first."""
        order, shown = np.argsort(self._totals(i), kind="stable"), self.shown_costs[i]
        names = [str(name) for name in self.classes]
        wide = max(len(name) for name in names)
        counted, truth = f"{self.mask[i].sum()} of {len(names)} costs", bool(self.truth[i])
        what = f"the true label, which gives {counted}" if truth else counted
        lines = [f"round {self.first_round + i}: asks for {what}"]
        lines += [
            f"  {'ask ' if self.mask[i, k] and not truth else '    '}{names[k]:<{wide}}  predicted {shown[k]:7.3f}"
            f"  range {self.ranges.lowest[i, k]:.3f} to {self.ranges.highest[i, k]:.3f}"
            f"{'' if self.offset is None else f'  plus {self.offset[i, k]:.3f}'}"
            f"  {REASONS[int(self.reason_codes[i, k])]}"
            for k in order
        ]
        return "\n".join(lines + self._about_abstaining(i))

    def to_frame(self) -> "DataFrame":
        """A row per example and label as a pandas data frame; pandas must be installed.

        >>> from coalface import CoalClassifier
        >>> frame = CoalClassifier(["walk", "fly"]).ask([[1.0], [2.0]]).to_frame()
        >>> frame[["example", "label", "asked", "reason"]].values.tolist()[2:]
        [[1, 'walk', True, 'warm-up'], [1, 'fly', True, 'warm-up']]
        """
        with needed_for("to_frame"):
            from pandas import DataFrame
        n, n_labels = self.mask.shape
        table = {"asked": self.mask, "predicted": self.predicted, "lowest": self.ranges.lowest}
        table |= {"highest": self.ranges.highest, "reason": self.reasons.astype(object)}
        keys = {"example": np.repeat(np.arange(n), n_labels), "label": np.tile(self.classes, n)}
        return DataFrame({**keys, **{name: column.ravel() for name, column in table.items()}})

    def round(self, i: int) -> Round:
        """The questions about example ``i`` as a ``Round``, the most promising label first.

        >>> from coalface import CoalClassifier
        >>> CoalClassifier(["walk", "fly"]).ask([[1.0, 0.0]]).round(0).ask
        ('walk', 'fly')
        """
        texts, codes = self._texts, self.reason_codes[i]
        asked = np.flatnonzero(self.mask[i])
        order = asked[np.lexsort((self._totals(i)[asked], ~self.next[i, asked]))].tolist()
        lowest, highest = self.ranges.lowest[i], self.ranges.highest[i]
        return Round(
            number=self.first_round + i,
            ask=tuple(texts[k] for k in order),
            first=int(self.next[i].sum()),
            ranges={texts[k]: (float(lowest[k]), float(highest[k])) for k in order},
            predicted={texts[k]: float(self.predicted[i, k]) for k in order},
            reasons={texts[k]: REASONS[int(codes[k])] for k in order},
            propensity={texts[k]: float(self.propensity[i, k]) for k in asked.tolist() if codes[k] == AUDIT},
            outlook=None if self.outlook is None else outlook_of(texts, self.outlook[i]),
            ask_truth=bool(self.truth[i]),
            offset={} if self.offset is None else dict(zip(texts, self.offset[i].tolist(), strict=True)),
        )

    def _totals(self, i: int) -> NDArray[np.float64]:
        """The predicted costs of example ``i`` with their known parts."""
        return self.predicted[i] if self.offset is None else np.asarray(self.predicted[i] + self.offset[i])

    @cached_property
    def _texts(self) -> list[str]:
        return label_texts(self.classes)

    def _about_abstaining(self, i: int) -> list[str]:
        if self.abstain_cost is None:
            return []
        candidate = self.reason_codes[i] != NOT_A_CANDIDATE
        if (self.ranges.highest[i, candidate] <= self.abstain_cost).any():
            role = "cannot be best"
        else:
            could = (self.ranges.lowest[i, candidate] <= self.abstain_cost).any()
            role = "could be best" if could else "is best"
        return [f"  abstaining costs {self.abstain_cost:.3f}: {role}"]

    def limited_to(self, max_costs: int) -> "Queries":
        """At most ``max_costs`` of these questions: audits first, then the widest ranges, the earlier of equals first.

        Audits are kept because their recorded propensities must stay correct. The chance of a dropped question is
        unknown, so the rounds are not used to estimate the saving of further questions. A true label counts as its
        price, and as wide as the widest range of its example.
        """
        places = self.by_width()
        fits = self._fit_within(max_costs, places[0])
        return self.without((places[0][~fits], places[1][~fits]), OVER_LIMIT)

    def by_width(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The examples and labels of all questions: audits first, then the widest ranges."""
        asked = np.flatnonzero(self.mask)
        order = np.lexsort((-self.ranges.width.ravel()[asked], ~self.audit.ravel()[asked]))
        rows, columns = np.unravel_index(asked[order], self.mask.shape)
        return rows, columns

    def without(self, dropped: tuple[NDArray[np.int64], NDArray[np.int64]], reason: int) -> "Queries":
        """These questions without those at some places, for a reason."""
        if not len(dropped[0]):
            return self
        mask, codes, propensity = self.mask.copy(), self.reason_codes.copy(), self.propensity.copy()
        mask[dropped], codes[dropped], propensity[dropped] = False, reason, 0.0
        return replace(
            self,
            mask=mask,
            next=self.next & mask,
            reason_codes=codes,
            propensity=propensity,
            outlook=None,
            truth=self.truth & mask.any(axis=1),
        )

    def _fit_within(self, max_costs: int, examples: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether the price of the questions up to each one, which are about these examples, is within the limit."""
        prices, whole = np.ones(len(examples)), self.truth[examples]
        _, first, example = np.unique(examples[whole], return_index=True, return_inverse=True)
        leads = np.flatnonzero(whole)[first]  # an example's first question pays for its true label
        prices[whole] = 0.0
        prices[leads] = self.price_of_truth
        fits = prices.cumsum() <= max_costs
        fits[whole] = fits[leads][example]
        return np.asarray(fits)

    def restricted_to(self, asked: NDArray[np.bool_]) -> "Queries | NDArray[np.bool_]":
        """These questions, restricted to those that were ``asked``; the bare mask if others were asked."""
        as_decided = not (self.next & ~asked).any() and not (asked & ~self.mask).any()
        if not as_decided:
            return asked
        return replace(self, mask=asked, next=self.next, truth=self.truth & asked.any(axis=1))

    def with_later_labels(self, classes: NDArray[Any], cost: Any = None) -> tuple[Any, "Queries"]:
        """The answers (n, K), if there are any, and these questions, with columns for labels that were added since.

        A later label has no known part of its cost.

        >>> from coalface import CoalClassifier
        >>> learner = CoalClassifier(["walk", "fly"])
        >>> queries = learner.ask([[1.0]])
        >>> learner.add_label("swim").tell([[1.0]], [[0.2, 0.9]], asked=queries).costs_queried_
        2
        """
        more = len(classes) - len(self.classes)
        if more <= 0:
            return cost, self
        given = by_label(cost, self.classes, "cost")
        if given is not None and np.ndim(given) == 2 and np.shape(given)[1] == len(self.classes):
            cost = _with_columns(np.asarray(given), more, np.nan)
        low, high = self.ranges.lowest.min(initial=0.0), self.ranges.highest.max(initial=0.0)
        ranges = CostRanges(
            _with_columns(self.ranges.lowest, more, low), _with_columns(self.ranges.highest, more, high)
        )
        outlook = self.outlook
        if outlook is not None:  # abstaining has the number after the last label
            outlook = outlook.copy()
            outlook[outlook[:, ANSWER] == len(self.classes), ANSWER] = len(classes)
        return cost, replace(
            self,
            mask=_with_columns(self.mask, more, False),
            next=_with_columns(self.next, more, False),
            ranges=ranges,
            predicted=_with_columns(self.predicted, more, low),
            reason_codes=_with_columns(self.reason_codes, more, NOT_A_CANDIDATE),
            propensity=_with_columns(self.propensity, more, 0.0),
            classes=classes,
            outlook=outlook,
            offset=None if self.offset is None else _with_columns(self.offset, more, 0.0),
        )

    def __len__(self) -> int:
        return len(self.mask)

    def __repr__(self) -> str:
        return f"Queries({self}, {len(self.classes)} labels)"

    def _repr_html_(self) -> str:
        """The first questions as a table, for notebooks."""
        return _questions_table(self)

    def __str__(self) -> str:
        return str(self.counts)


def _with_columns(array: NDArray[Any], more: int, fill: Any) -> NDArray[Any]:
    return np.pad(array, ((0, 0), (0, more)), constant_values=fill)


def _questions_table(queries: Queries) -> str:
    """The table; every label is escaped.

    >>> from coalface import CoalClassifier
    >>> table = _questions_table(CoalClassifier(["walk", "<b>"]).ask([[1.0]] * 20))
    >>> "walk, &lt;b&gt;" in table, "10 of 20 examples are shown" in table
    (True, True)
    """
    shown = min(len(queries), _MOST_ROWS)
    rows = [_row(queries, i, label_texts(queries.classes)) for i in range(shown)]
    more = f"; {shown} of {len(queries)} examples are shown" if shown < len(queries) else ""
    return html_table(f"{queries}{more}", _HEADINGS, rows)


def _row(queries: Queries, i: int, names: list[str]) -> list[str]:
    asked = [names[k] for k in queries.mask[i].nonzero()[0]]
    more = [f"{len(asked) - _MOST_LABELS} more"] if len(asked) > _MOST_LABELS else []
    candidate = queries.reason_codes[i] != NOT_A_CANDIDATE
    best = int(np.where(candidate, queries.predicted[i], np.inf).argmin())
    lowest, highest = queries.ranges.lowest[i, best], queries.ranges.highest[i, best]
    return [
        str(queries.first_round + i),
        ", ".join(asked[:_MOST_LABELS] + more) or "nothing",
        f"{queries.predicted[i, best]:.3f} ({names[best]})",
        f"{lowest:.3f} to {highest:.3f}",
    ]


@dataclass(frozen=True, repr=False)
class Actions:
    """The labels that ``act`` chose for n examples; store ``probability`` with what was served.

    ``probabilities`` (n, K) are those of all labels, 0 for labels that cannot be best; each row adds up to 1.

    >>> from coalface import CoalClassifier
    >>> actions = CoalClassifier(["refund", "billing"]).act([[1.0, 0.0], [0.0, 1.0]])
    >>> len(actions), actions.probability.tolist()
    (2, [0.5, 0.5])
    """

    labels: NDArray[Any]  # (n,)
    probability: NDArray[np.float64]  # (n,) of the chosen labels
    probabilities: NDArray[np.float64]  # (n, K)
    ranges: CostRanges
    predicted: NDArray[np.float64]  # (n, K)
    classes: NDArray[Any]
    first_round: int

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        n_sure = int((self.probability == 1.0).sum())
        return f"{len(self)} labels to serve, {n_sure} of them the only contender"
