"""Data that is read or mapped into memory as a whole, and given out block by block."""

from pathlib import Path

from coalface.data.dataset import CostDataset
from coalface.data.streams.contract import Blocks


class WholeBlocks(Blocks):
    """The rows of a dataset, block by block."""

    def __init__(self, source: Path, dataset: CostDataset, rows: int, *, sparse: bool) -> None:
        super().__init__(source, rows)
        self._dataset, self.sparse = dataset, sparse

    def read(self) -> CostDataset | None:
        """The next block."""
        if self.n_rows >= len(self._dataset):
            return None
        if not self.n_rows and self.rows >= len(self._dataset):
            return self._dataset
        return self._dataset.subset(slice(self.n_rows, self.n_rows + self.rows))

    @property
    def progress(self) -> tuple[int, int | None]:
        """The rows given out, and all rows."""
        return self.n_rows, len(self._dataset)
