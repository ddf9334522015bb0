"""Learning to search: structured outputs built action by action, learned from as few roll-outs as possible."""

from coalface.structured.learner import SearchLearner
from coalface.structured.parsing.parser import DependencyParser
from coalface.structured.parsing.task import ParsingTask
from coalface.structured.tagging.tagger import SequenceTagger
from coalface.structured.tagging.task import SequenceTask
from coalface.structured.task import SearchTask
from coalface.structured.tasks.multiclass import MulticlassTask
from coalface.structured.tasks.pipeline import PipelineTask, Reply
from coalface.structured.tasks.relations import MentionSentence, RelationTask

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
