"""Datasets: examples, labels and costs, the file formats they are read from, and label trees.

``read_dataset`` and ``write_dataset`` choose the format by the suffix, and ``read_blocks`` reads files that do not fit
into memory. ``read_train_test`` reads a path that holds both training and test data. ``tree_cost_matrix`` turns a
hierarchy of labels into costs.

Names are loaded when they are first used, so that a learner does not load the readers of all formats.
"""

from typing import TYPE_CHECKING

from coalface.doors import door_of

if TYPE_CHECKING:
    from coalface.data.dataset import CostDataset, DatasetStatistics, TrainTest
    from coalface.data.formats.conll import Sentence, read_sentences
    from coalface.data.formats.conllu import Tree, read_trees
    from coalface.data.formats.readers import read_dataset, read_train_test, write_dataset
    from coalface.data.streams.blocks import read_blocks
    from coalface.data.trees import LabelTree, tree_cost_matrix, tree_costs
else:
    __getattr__, __dir__ = door_of(__name__)

__all__ = [
    "CostDataset",
    "DatasetStatistics",
    "LabelTree",
    "Sentence",
    "TrainTest",
    "Tree",
    "read_blocks",
    "read_dataset",
    "read_sentences",
    "read_train_test",
    "read_trees",
    "tree_cost_matrix",
    "tree_costs",
    "write_dataset",
]
