"""Learning to search: structured outputs whose every decision's cost is a roll-out, and few of these are run."""

from coalface.search.tagger import SequenceTagger

__all__ = ["SequenceTagger"]
