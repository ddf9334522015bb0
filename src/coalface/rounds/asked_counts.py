"""Counts of the costs and examples asked about, and of those that could have been."""

from typing import NamedTuple


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
