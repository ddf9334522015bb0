"""Datasets: examples, labels and costs, the file formats they are read from, and label trees.

``read_dataset`` and ``write_dataset`` choose the format by the suffix, and ``read_blocks`` reads files that do not fit
into memory. ``read_train_test`` reads a path that holds both training and test data. ``tree_cost_matrix`` turns a
hierarchy of labels into costs.

Names are loaded when they are first used, so that a learner does not load the readers of all formats.
"""

from typing import TYPE_CHECKING

from coalface.doors import door_of

if TYPE_CHECKING:
    from coalface.data.agreement import Agreement as Agreement
    from coalface.data.alignment import read_aligned as read_aligned
    from coalface.data.costs import CostScale as CostScale, as_cost_array as as_cost_array, check_cost as check_cost
    from coalface.data.costs import check_cost_matrix as check_cost_matrix, check_mask as check_mask
    from coalface.data.costs import COST_PREFIX as COST_PREFIX, per_label as per_label
    from coalface.data.dataset import CostDataset as CostDataset, DatasetStatistics as DatasetStatistics
    from coalface.data.dataset import TrainTest as TrainTest
    from coalface.data.embedding.embedder import Embedder as Embedder, SentenceEmbedder as SentenceEmbedder
    from coalface.data.embedding.folder import MINILM as MINILM
    from coalface.data.encoding import kinds as kinds
    from coalface.data.encoding.cells import Cells as Cells, as_date as as_date, as_number as as_number
    from coalface.data.encoding.cells import as_text as as_text, clean_cells as clean_cells, fits as fits
    from coalface.data.encoding.cells import is_missing as is_missing, numbers_in as numbers_in
    from coalface.data.encoding.columns import NumberColumn as NumberColumn
    from coalface.data.encoding.encoder import Encoder as Encoder, ID as ID
    from coalface.data.encoding.table import TEXT as TEXT, Table as Table, is_raw as is_raw, table_of as table_of
    from coalface.data.encoding.text import hashed_tokens as hashed_tokens, word_shape as word_shape
    from coalface.data.formats.array_folder import is_dataset_folder as is_dataset_folder
    from coalface.data.formats.aslib import standardised as standardised
    from coalface.data.formats.conll import Sentence as Sentence, read_sentences as read_sentences
    from coalface.data.formats.conllu import Tree as Tree, lines_with_heads as lines_with_heads
    from coalface.data.formats.conllu import reaches_root as reaches_root, read_trees as read_trees
    from coalface.data.formats.cost_matrix import read_cost_matrix as read_cost_matrix
    from coalface.data.formats.csv_form import csv_rows as csv_rows
    from coalface.data.formats.csv_table import check_header as check_header
    from coalface.data.formats.hierarchy_folder import nearest_costs as nearest_costs
    from coalface.data.formats.readers import PARTS as PARTS, TABLES as TABLES, format_of as format_of
    from coalface.data.formats.readers import holds_train_test as holds_train_test, is_fetched as is_fetched
    from coalface.data.formats.readers import open_fetched as open_fetched, read_dataset as read_dataset
    from coalface.data.formats.readers import read_train_test as read_train_test, write_dataset as write_dataset
    from coalface.data.formats.records import json_records as json_records, parquet_records as parquet_records
    from coalface.data.formats.records import table_records as table_records
    from coalface.data.formats.text_lines import as_written as as_written, harmless as harmless
    from coalface.data.formats.text_lines import lines_of_file as lines_of_file, read_lines as read_lines
    from coalface.data.formats.text_lines import spells_number as spells_number
    from coalface.data.formats.vw_writer import write_vw_text as write_vw_text
    from coalface.data.frames import by_label as by_label, by_row as by_row
    from coalface.data.label_features import BLOCK as BLOCK, MOST_LABELS as MOST_LABELS
    from coalface.data.labels import label_array as label_array, label_codes as label_codes
    from coalface.data.labels import label_from_text as label_from_text, label_texts as label_texts
    from coalface.data.labels import labels_from_text as labels_from_text
    from coalface.data.near_duplicates import row_digests as row_digests
    from coalface.data.numbers import finite_number as finite_number, flag as flag, is_number as is_number
    from coalface.data.numbers import is_whole as is_whole, one_of as one_of, whole_number as whole_number
    from coalface.data.parameters import Parameter as Parameter
    from coalface.data.rows import Examples as Examples, Rows as Rows, check_row as check_row, check_rows as check_rows
    from coalface.data.rows import checked_examples as checked_examples, stacked as stacked
    from coalface.data.streams.blocks import read_blocks as read_blocks
    from coalface.data.streams.line_source import Position as Position, text_lines as text_lines
    from coalface.data.trees import LabelTree as LabelTree, tree_cost_matrix as tree_cost_matrix
    from coalface.data.trees import tree_costs as tree_costs
else:
    __getattr__, __dir__ = door_of(__name__)
