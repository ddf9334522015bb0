"""Datasets: examples, labels and costs, the file formats they are read from, and label trees.

``read_dataset`` and ``write_dataset`` choose the format by the suffix, and ``read_blocks`` reads files that do not fit
into memory. ``read_train_test`` reads a path that holds both training and test data. ``tree_cost_matrix`` turns a
hierarchy of labels into costs.

Names are loaded when they are first used, so that a learner does not load the readers of all formats.
"""

from typing import TYPE_CHECKING

from coalface.doors import door_of

if TYPE_CHECKING:
    from coalface.data.agreement import Agreement
    from coalface.data.alignment import read_aligned
    from coalface.data.costs import CostScale, as_cost_array, check_cost, check_cost_matrix, check_mask, per_label
    from coalface.data.dataset import CostDataset, DatasetStatistics, TrainTest
    from coalface.data.embedding.embedder import Embedder, SentenceEmbedder
    from coalface.data.embedding.folder import MINILM
    from coalface.data.encoding import kinds
    from coalface.data.encoding.cells import (
        Cells,
        as_date,
        as_number,
        as_text,
        clean_cells,
        fits,
        is_missing,
        numbers_in,
    )
    from coalface.data.encoding.columns import NumberColumn
    from coalface.data.encoding.encoder import ID, Encoder
    from coalface.data.encoding.table import TEXT, Table, is_raw, table_of
    from coalface.data.encoding.text import hashed_tokens, word_shape
    from coalface.data.formats.array_folder import is_dataset_folder
    from coalface.data.formats.aslib import standardised
    from coalface.data.formats.conll import Sentence, read_sentences
    from coalface.data.formats.conllu import Tree, lines_with_heads, reaches_root, read_trees
    from coalface.data.formats.cost_matrix import read_cost_matrix
    from coalface.data.formats.csv_table import check_header
    from coalface.data.formats.hierarchy_folder import nearest_costs
    from coalface.data.formats.raw_table import COST_PREFIX
    from coalface.data.formats.readers import (
        PARTS,
        TABLES,
        format_of,
        holds_train_test,
        is_fetched,
        open_fetched,
        read_dataset,
        read_train_test,
        write_dataset,
    )
    from coalface.data.formats.records import json_records, parquet_records, table_records
    from coalface.data.formats.text_lines import (
        as_written,
        csv_rows,
        harmless,
        lines_of_file,
        read_lines,
        spells_number,
    )
    from coalface.data.formats.vw_writer import write_vw_text
    from coalface.data.frames import by_label, by_row
    from coalface.data.label_features import BLOCK, MOST_LABELS
    from coalface.data.labels import label_array, label_codes, label_from_text, label_texts, labels_from_text
    from coalface.data.near_duplicates import row_digests
    from coalface.data.numbers import finite_number, flag, is_number, is_whole, one_of, whole_number
    from coalface.data.parameters import Parameter
    from coalface.data.rows import Examples, Rows, check_row, check_rows, checked_examples
    from coalface.data.streams.blocks import read_blocks
    from coalface.data.streams.line_source import Position, text_lines
    from coalface.data.trees import LabelTree, tree_cost_matrix, tree_costs
else:
    __getattr__, __dir__ = door_of(__name__)

__all__ = [
    "BLOCK",
    "COST_PREFIX",
    "ID",
    "MINILM",
    "MOST_LABELS",
    "PARTS",
    "TABLES",
    "TEXT",
    "Agreement",
    "Cells",
    "CostDataset",
    "CostScale",
    "DatasetStatistics",
    "Embedder",
    "Encoder",
    "Examples",
    "LabelTree",
    "NumberColumn",
    "Parameter",
    "Position",
    "Rows",
    "Sentence",
    "SentenceEmbedder",
    "Table",
    "TrainTest",
    "Tree",
    "as_cost_array",
    "as_date",
    "as_number",
    "as_text",
    "as_written",
    "by_label",
    "by_row",
    "check_cost",
    "check_cost_matrix",
    "check_header",
    "check_mask",
    "check_row",
    "check_rows",
    "checked_examples",
    "clean_cells",
    "csv_rows",
    "finite_number",
    "fits",
    "flag",
    "format_of",
    "harmless",
    "hashed_tokens",
    "holds_train_test",
    "is_dataset_folder",
    "is_fetched",
    "is_missing",
    "is_number",
    "is_raw",
    "is_whole",
    "json_records",
    "kinds",
    "label_array",
    "label_codes",
    "label_from_text",
    "label_texts",
    "labels_from_text",
    "lines_of_file",
    "lines_with_heads",
    "nearest_costs",
    "numbers_in",
    "one_of",
    "open_fetched",
    "parquet_records",
    "per_label",
    "reaches_root",
    "read_aligned",
    "read_blocks",
    "read_cost_matrix",
    "read_dataset",
    "read_lines",
    "read_sentences",
    "read_train_test",
    "read_trees",
    "row_digests",
    "spells_number",
    "standardised",
    "table_of",
    "table_records",
    "text_lines",
    "tree_cost_matrix",
    "tree_costs",
    "whole_number",
    "word_shape",
    "write_dataset",
    "write_vw_text",
]
