"""VW text, block by block."""

from dataclasses import replace
from typing import Any

import numpy as np

from coalface.data.dataset import CostDataset
from coalface.data.formats.text_lines import TextLines
from coalface.data.formats.vw_names import NameTable
from coalface.data.formats.vw_text import VwOptions, vw_dataset
from coalface.data.streams.contract import Blocks
from coalface.data.streams.line_source import LineSource, Position

_MOST_NAMES = 500_000  # that are kept from block to block where they need not be
_DECIDED = ("features", "targets", "decided_by")


class VwBlocks(Blocks):
    """The blocks of VW text: the first one decides the labels, how features are named, and what labels mean.

    Named features have the same columns in all blocks. Without ``keep_names``, they may get other ones once there are
    many of them, so that a stream whose names never end takes no more memory.
    """

    sparse = True

    def __init__(
        self,
        lines: LineSource,
        rows: int,
        options: dict[str, Any],
        after: Position | None = None,
        *,
        keep_names: bool = True,
    ) -> None:
        super().__init__(lines.path, rows, lines, after)
        self._lines, self._options = lines, VwOptions(**options)
        if after is not None:
            self._options = replace(self._options, **after.decided)
        self._keep_names = keep_names
        self._names = self._new_names()

    def read(self) -> CostDataset | None:
        """The next block; blank lines are left out."""
        first_line = self._lines.n_lines + 1
        while text := self._lines.take(self.rows):
            if not text.isspace():
                lines = TextLines.of(self._lines.path, np.frombuffer(text, np.uint8), first_line)
                if not self._keep_names and len(self._names.names) > _MOST_NAMES:
                    self._names = self._new_names()
                dataset, self._options = vw_dataset(lines, self._options, self._names)
                return dataset
            first_line = self._lines.n_lines + 1
        return None

    def _new_names(self) -> NameTable:
        return NameTable(self._options.feature_names or ())

    def decided(self) -> dict[str, Any]:
        """The options that the first lines decided."""
        return {name: getattr(self._options, name) for name in _DECIDED}
