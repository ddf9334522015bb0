"""Learning to search: structured outputs whose every decision's cost is a roll-out, and few of these are run."""

from coalface.search.learner import SearchLearner
from coalface.search.parsing import ParsingTask
from coalface.search.sequences import SequenceTask
from coalface.search.tagger import SequenceTagger
from coalface.search.task import SearchTask

__all__ = ["ParsingTask", "SearchLearner", "SearchTask", "SequenceTagger", "SequenceTask"]
