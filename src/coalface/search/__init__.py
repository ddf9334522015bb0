"""Learning to search: structured outputs built action by action, learned from as few roll-outs as possible."""

from coalface.search.learner import SearchLearner
from coalface.search.parsing.task import ParsingTask
from coalface.search.tagging.tagger import SequenceTagger
from coalface.search.tagging.task import SequenceTask
from coalface.search.task import SearchTask

__all__ = ["ParsingTask", "SearchLearner", "SearchTask", "SequenceTagger", "SequenceTask"]
