"""Examples, labels and costs: ``CostDataset``, the files it is read from, and label trees.

``read_dataset`` and ``write_dataset`` know every format by its suffix, ``load_known`` knows data by its name;
``tree_cost_matrix`` turns a hierarchy of labels into costs.
"""

from coalface.data.catalogue import KnownData, known_data, load_known
from coalface.data.dataset import CostDataset, DatasetStatistics, TrainTest
from coalface.data.readers import read_dataset, write_dataset
from coalface.data.trees import LabelTree, tree_cost_matrix, tree_costs

__all__ = [
    "CostDataset",
    "DatasetStatistics",
    "KnownData",
    "LabelTree",
    "TrainTest",
    "known_data",
    "load_known",
    "read_dataset",
    "tree_cost_matrix",
    "tree_costs",
    "write_dataset",
]
