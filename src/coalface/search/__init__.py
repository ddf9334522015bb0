"""Learning to search: structured outputs whose every decision's cost is a roll-out, and few of these are run."""

from coalface.search.learner import SearchLearner
from coalface.search.parsing.task import ParsingTask
from coalface.search.tagging.sequences import SequenceTask
from coalface.search.tagging.tagger import SequenceTagger
from coalface.search.task import SearchTask

__all__ = ["ParsingTask", "SearchLearner", "SearchTask", "SequenceTagger", "SequenceTask"]
