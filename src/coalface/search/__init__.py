"""Learning to search: structured outputs built action by action, learned from as few roll-outs as possible."""

from coalface.search.learner import SearchLearner
from coalface.search.parsing.parser import DependencyParser
from coalface.search.parsing.task import ParsingTask
from coalface.search.tagging.tagger import SequenceTagger
from coalface.search.tagging.task import SequenceTask
from coalface.search.task import SearchTask
from coalface.search.tasks.multiclass import MulticlassTask
from coalface.search.tasks.pipeline import PipelineTask, Reply
from coalface.search.tasks.relations import MentionSentence, RelationTask

__all__ = [
    "DependencyParser",
    "MentionSentence",
    "MulticlassTask",
    "ParsingTask",
    "PipelineTask",
    "RelationTask",
    "Reply",
    "SearchLearner",
    "SearchTask",
    "SequenceTagger",
    "SequenceTask",
]
