"""CSV, block by block."""

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

from coalface.data.dataset import CostDataset
from coalface.data.formats.csv_table import csv_dataset, rows_of_lines
from coalface.data.streams.line_source import LineSource
from coalface.data.streams.position import Position
from coalface.data.streams.table_blocks import Row, TableBlocks


class CsvBlocks(TableBlocks):
    """The blocks of a CSV table."""

    def __init__(self, lines: LineSource, rows: int, options: dict[str, Any], after: Position | None = None) -> None:
        super().__init__(lines.path, rows, options, lines, after)
        width = len(self.columns) or None
        self._rows: Iterator[Row] = (
            Row(*row) for row in rows_of_lines(lines.path, lines.texts(), width, before=lines.n_lines)
        )

    def next_rows(self) -> Iterator[Row]:
        """The next lines; the header before them is read once."""
        if not self.columns:
            self.columns = next(self._rows, Row(1, [])).content
        return islice(self._rows, self.rows)

    def dataset_of(self, rows: Iterable[Row], *, numbers: bool) -> CostDataset:
        """The dataset of these lines."""
        return csv_dataset(
            self.source, lambda: chain([(1, self.columns)], rows), self.options, numbers=numbers, first=self.n_rows
        )

    def cell(self, row: Row, column: str) -> Any:
        """A cell of a line."""
        return row.content[self.columns.index(column)]

    def read(self) -> CostDataset | None:
        """The next block; an error if a table has no rows at all."""
        block = super().read()
        if block is None and not self.n_rows:
            csv_dataset(self.source, lambda: iter([(1, self.columns)][: len(self.columns)]), self.options)  # says why
        return block
