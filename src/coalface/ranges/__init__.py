"""What each cost may still be."""

from coalface.ranges.costranges import CostRanges, pull_weight

__all__ = ["CostRanges", "pull_weight"]
