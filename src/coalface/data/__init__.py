"""Datasets: examples, labels and costs, the file formats they are read from, and label trees.

``read_dataset`` and ``write_dataset`` choose the format by the suffix, and ``read_blocks`` reads files that do not fit
into memory. ``read_train_test`` reads a path that holds both training and test data, and ``load_known`` loads data by
its name. ``tree_cost_matrix`` turns a hierarchy of labels into costs.
"""

from coalface.data.dataset import CostDataset, DatasetStatistics, TrainTest
from coalface.data.formats.conll import Sentence, read_sentences
from coalface.data.formats.readers import read_dataset, read_train_test, write_dataset
from coalface.data.known.catalogue import KnownData, known_data, load_known
from coalface.data.streams.blocks import read_blocks
from coalface.data.trees import LabelTree, tree_cost_matrix, tree_costs

__all__ = [
    "CostDataset",
    "DatasetStatistics",
    "KnownData",
    "LabelTree",
    "Sentence",
    "TrainTest",
    "known_data",
    "load_known",
    "read_blocks",
    "read_dataset",
    "read_sentences",
    "read_train_test",
    "tree_cost_matrix",
    "tree_costs",
    "write_dataset",
]
