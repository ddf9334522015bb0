"""VW text, block by block."""

from dataclasses import replace
from typing import Any

import numpy as np

from coalface.data.dataset import CostDataset
from coalface.data.formats.text_lines import TextLines
from coalface.data.formats.vw_text import VwOptions, vw_dataset
from coalface.data.streams.contract import Blocks
from coalface.data.streams.line_source import LineSource
from coalface.data.streams.position import Position

_DECIDED = ("features", "targets", "decided_by")


class VwBlocks(Blocks):
    """The blocks of VW text: the first one decides the labels, how features are named, and what labels mean."""

    sparse = True

    def __init__(self, lines: LineSource, rows: int, options: dict[str, Any], after: Position | None = None) -> None:
        super().__init__(lines.path, rows, lines, after)
        self._lines, self._options = lines, VwOptions(**options)
        if after is not None:
            self._options = replace(self._options, **after.decided)

    def read(self) -> CostDataset | None:
        """The next block; blank lines are left out."""
        first_line = self._lines.n_lines + 1
        while text := self._lines.take(self.rows):
            if not text.isspace():
                lines = TextLines.of(self._lines.path, np.frombuffer(text, np.uint8), first_line)
                dataset, self._options = vw_dataset(lines, self._options)
                return dataset
            first_line = self._lines.n_lines + 1
        return None

    def decided(self) -> dict[str, Any]:
        """The options that the first lines decided."""
        return {name: getattr(self._options, name) for name in _DECIDED}
