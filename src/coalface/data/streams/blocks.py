"""Opens a file, a dataset folder or standard input as a stream of blocks."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from coalface.data.alignment import SPARSE, Aligner
from coalface.data.dataset import CostDataset
from coalface.data.formats.csv_form import CsvForm
from coalface.data.formats.csv_table import CsvBlocks
from coalface.data.formats.readers import check_options, format_of, read_dataset, readable_format
from coalface.data.formats.records import JsonBlocks, ParquetBlocks
from coalface.data.formats.vw_options import VwOptions
from coalface.data.formats.vw_text import VwBlocks
from coalface.data.numbers import whole_number
from coalface.data.streams.contract import BLOCK_ROWS, Blocks, WholeBlocks
from coalface.data.streams.encodings import UTF_8
from coalface.data.streams.line_source import STDIN, LineSource, Position
from coalface.errors import InputError

_OF_LINES: dict[str, Callable[..., Blocks]] = {"vw": VwBlocks, "csv": CsvBlocks, "jsonl": JsonBlocks}


def read_blocks(
    path: str | os.PathLike[str], format: str = "auto", *, rows: int = BLOCK_ROWS, **options: Any
) -> Iterator[CostDataset]:
    r"""The examples of a file, ``rows`` at a time, in one pass and constant memory; ``-`` is standard input.

    VW text, CSV and JSON lines are streamed, plain or compressed, and so are Parquet files and dataset folders. Other
    formats are read into memory first. ``options`` go to the reader of the format, as in ``read_dataset``.

    The first block decides which labels there are, unless ``classes`` names them, and how columns become features. A
    label that appears later is an error. Named features of VW text keep their columns, and new ones come after them.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "pets.vw")
    ...     _ = path.write_text("cat:0 dog:1 | purrs\ncat:1 dog:0 | barks\ncat:0 dog:1 | purrs quiet\n")
    ...     for block in read_blocks(path, rows=2):
    ...         print(block, block.feature_names)
    CostDataset('pets', 2 examples, 2 features, 2 labels) ('purrs', 'barks')
    CostDataset('pets', 1 example, 3 features, 2 labels) ('purrs', 'barks', 'quiet')
    """
    with open_blocks(Path(path), format, options, rows=rows) as blocks:
        aligner = Aligner(Path(path), blocks.sparse, grows=True)
        for block in blocks:
            yield aligner.aligned(block)


def stream_format(path: Path, format: str = "auto") -> str:
    """The format of a file, a folder or standard input, which has no suffix.

    >>> stream_format(Path("calls.csv.zst")), stream_format(Path("-"), "vw")
    ('csv', 'vw')
    """
    if path == STDIN and format not in _OF_LINES:
        raise InputError(
            f"Standard input must be one of {', '.join(_OF_LINES)}, got format {format!r}. Pass format=.",
            remedy={"format": None},
        )
    return format_of(path, format)


def open_blocks(
    path: Path,
    format: str,
    options: dict[str, Any],
    *,
    rows: int = BLOCK_ROWS,
    after: Position | None = None,
    checksums: bool = False,
    keep_names: bool = True,
) -> Blocks:
    """The blocks of a file, folder or standard input, from its start or ``after`` a position.

    Positions need ``checksums``. Without ``keep_names``, named features may change columns from block to block.
    """
    n_rows = whole_number("rows", rows, least=1)
    if path == STDIN:
        chosen = stream_format(path, format)
        check_options(chosen, options)
    else:
        chosen = readable_format(path, format, options)
    if chosen in _OF_LINES and not options.get("grouped"):
        encoding = CsvForm.taken(options)[0].read_as if chosen == "csv" else UTF_8
        lines = LineSource(path, checksums=checksums or after is not None, encoding=encoding)
        try:
            if chosen == "vw":
                return VwBlocks(lines, n_rows, VwOptions(**options), after, keep_names=keep_names)
            return _OF_LINES[chosen](lines, n_rows, options, after)
        except BaseException:
            lines.close()
            raise
    if chosen == "parquet":
        return ParquetBlocks(path, n_rows, options, after)
    if after is not None or checksums or path == STDIN:
        kind = 'VW text with the option "grouped"' if chosen == "vw" else f"The format {chosen}"
        raise InputError(
            f"{kind} is read as a whole, so it has no checkpoints and cannot come from standard input. Leave that out."
        )
    return WholeBlocks(path, read_dataset(path, format, **options), n_rows, sparse=chosen in SPARSE)
