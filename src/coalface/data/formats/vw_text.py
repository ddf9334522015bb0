"""Reading Vowpal Wabbit's text format with cost-sensitive labels.

::

    1:0.5 2:1.0 3 'tag | height:0.3 tall |words:2.0 cat dog:2
    ^ label:cost  ^     ^ features of the unnamed namespace
      unknown cost      a namespace called "words", its values doubled

Only listed labels can be predicted for a line. A listed label without a cost has an unknown cost. A line that lists no
label allows every label. If no label of the file has a cost and each line lists one at most, it is an ordinary
multiclass file: the labels are true classes, with costs of 0 and 1.

Labels are numbers 1..K (0..K-1 if a label 0 occurs) or names. Features become columns in one of three ways:

- ``numbered``: names are integers in the unnamed namespace, and the integer is the column;
- ``named``: a column per distinct name, in order of first appearance, called ``name`` or ``namespace^name``;
- ``hashed``: VW's own 32-bit hash, of which ``bits`` bits are kept. VW's default of 18 bits covers features and labels
  together; here the bits cover the features only.

``auto`` is numbered where the file allows it, otherwise named. Options about namespaces need names; see
``vw_options``.
"""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from coalface.data.dataset import CostDataset
from coalface.data.formats.text_lines import TextLines
from coalface.data.formats.vw_labels import are_classes, class_costs, cost_table, label_columns
from coalface.data.formats.vw_names import NameTable
from coalface.data.formats.vw_options import Tokens, VwOptions
from coalface.data.rows import Examples
from coalface.data.streams.contract import Blocks
from coalface.data.streams.line_source import ALL, LineSource, Position
from coalface.errors import InputError
from coalface.kernels import vw_text as kernels

_MODES = {"numbered": kernels.NUMBERED, "named": kernels.NAMED, "hashed": kernels.HASHED}
_MOST_NAMES = 500_000  # that are kept from block to block where they need not be
_DECIDED = ("features", "targets", "decided_by")
_RULES = {
    kernels.NO_BAR: ("a line must have a '|' before its features", "Add it, or look for a broken line"),
    kernels.BAD_NUMBER: ("':' must be followed by one number", "Write it like 0.5, -2 or 1e-3"),
    kernels.NOT_FINITE: ("costs, values and weights must be finite in float32", "Remove or clip it"),
    kernels.EMPTY_NAME: ("':' must follow a name", "Give the label or feature a name"),
    kernels.GLUED_LABEL: ("a blank must separate a label from '|'", "Add it, or write a tag as 'tag"),
    kernels.STRAY_TAG: ("a tag must be the last word before '|'", "Move it there"),
    kernels.NOT_NUMBERED: (
        'with features="numbered" names must be integers without a namespace',
        'Use features="named" or "hashed"',
    ),
    kernels.TOO_LARGE: ("a feature's number must be below 2^31 - 1", 'Use features="named" or "hashed"'),
}


def read_vw_text(
    path: str | os.PathLike[str],
    *,
    features: str = "auto",
    bits: int = 18,
    n_features: int | None = None,
    feature_names: Sequence[str] | None = None,
    labels: str = "auto",
    first_label: int | None = None,
    classes: ArrayLike | None = None,
    targets: str = "auto",
    ignore: Sequence[str] = (),
    keep: Sequence[str] | None = None,
    ngrams: int | Sequence[str] = (),
    skips: int | Sequence[str] = (),
    grouped: bool = False,
    name: str | None = None,
) -> CostDataset:
    r"""The dataset of a VW text file, plain, gzip or zstd.

    To read test data, pass the ``classes`` of the training data, which fix the order of the columns, and its
    ``n_features`` (numbered) or ``feature_names`` (named; new names are added after them). ``first_label`` 0 or 1
    forces the numbering of labels. ``targets`` says what labels without costs are: true "classes", or candidates
    ("costs"); a guess gives a warning.

    Namespaces are known by their first letter. ``ignore`` and ``keep`` select some of them. ``ngrams=2`` adds pairs of
    neighbouring features, ``ngrams=["w3"]`` pairs and triples in namespaces that begin with w; ``skips`` features may
    lie in between. ``grouped`` puts the columns of each letter side by side, as interactions need them.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "pets.vw")
    ...     _ = path.write_text("cat:0 dog:1 |w furry:2 purrs\ncat:1 dog |w furry barks\n")
    ...     dataset = read_vw_text(path)
    >>> dataset.feature_names, dataset.classes.tolist()
    (('w^furry', 'w^purrs', 'w^barks'), ['cat', 'dog'])
    >>> dataset.cost
    array([[ 0.,  1.],
           [ 1., nan]], dtype=float32)
    """
    options = VwOptions(
        features,
        bits,
        n_features,
        feature_names,
        labels,
        first_label,
        classes,
        targets,
        ignore,
        keep,
        ngrams,
        skips,
        grouped,
        name,
    )
    return VwBlocks(LineSource(Path(path)), ALL, options).whole()


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
        options: VwOptions,
        after: Position | None = None,
        *,
        keep_names: bool = True,
    ) -> None:
        super().__init__(lines.path, rows, lines, after)
        self._lines, self._options = lines, options
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
                dataset, self._options = _vw_dataset(lines, self._options, self._names)
                return dataset
            first_line = self._lines.n_lines + 1
        return None

    def _new_names(self) -> NameTable:
        return NameTable(self._options.feature_names or ())

    def decided(self) -> dict[str, Any]:
        """The options that the first lines decided."""
        return {name: getattr(self._options, name) for name in _DECIDED}


def _vw_dataset(source: TextLines, options: VwOptions, known_names: NameTable) -> tuple[CostDataset, VwOptions]:
    """The dataset of some lines, and the options with all that these lines decide, for the lines after them.

    ``known_names`` has the named features of earlier lines, which keep their columns; new ones are added to it.
    """
    problem = np.zeros(4, dtype=np.int64)
    room = source.n_blanks + len(source.starts)
    bars, indptr, codes, costs, spans = kernels.parse_labels(source.buffer, source.starts, source.ends, room, problem)
    _check(source, problem)
    names = _name_texts(source, spans)
    known, columns = label_columns(source, names, spans, options)
    listed_columns = columns[codes]
    classes = are_classes(source.path, options.targets, indptr, costs, len(known))
    if classes:
        fields = class_costs(indptr, listed_columns, len(known))
    else:
        cost, candidates = cost_table(source, indptr, listed_columns, costs, known)
        fields = {"cost": cost, "candidates": candidates}
    X, found_names = _read_features(source, bars, options, known_names)
    naming = "numbered" if found_names is None else "named"
    decided: dict[str, Any] = {
        "features": naming if options.features == "auto" and X.nnz else options.features,
        "targets": ("classes" if classes else "costs") if options.targets == "auto" and len(codes) else options.targets,
        "decided_by": len(source.starts) if options.classes is None else options.decided_by,
    }
    dataset = CostDataset(
        X,
        classes=known,
        name=source.path.name.split(".")[0] if options.name is None else options.name,
        **fields,
    )
    named = dataset.with_fields(feature_names=found_names)  # which are distinct, so no check is needed
    return named, replace(options, classes=known, **decided)


def _check(source: TextLines, problem: NDArray[np.int64]) -> None:
    code, _, start, end = problem.tolist()
    if code != kernels.FINE:
        raise source.error(start, source.text(start, min(end, start + 200), strict=False), *_RULES[code])


def _naming(options: VwOptions) -> str:
    """How features become columns, where the user has left it open."""
    features, feature_names, spaces = options.features, options.feature_names, options.spaces
    if spaces.any and features not in ("auto", "named"):
        raise InputError(f'Options about namespaces need features="named", got features={features!r}. Leave it out.')
    return "named" if spaces.any or (features == "auto" and feature_names is not None) else features


def _read_features(
    source: TextLines, bars: NDArray[np.int64], options: VwOptions, table: NameTable
) -> tuple[Examples, tuple[str, ...] | None]:
    features, bits, n_features = _naming(options), options.bits, options.n_features
    problem = np.zeros(4, dtype=np.int64)
    mode = kernels.NUMBERED if features == "auto" else _MODES[features]
    room = source.n_blanks + 1
    mask = (1 << bits) - 1
    parts = kernels.parse_features(source.buffer, bars, source.ends, room, mode, mask, problem)
    if features == "auto" and problem[0] in (kernels.NOT_NUMBERED, kernels.TOO_LARGE):
        mode = kernels.NAMED
        parts = kernels.parse_features(source.buffer, bars, source.ends, room, mode, mask, problem)
    _check(source, problem)
    indptr, columns, values, spans, space_spans = parts
    if mode == kernels.NAMED:
        spaces = _name_texts(source, space_spans)
        if not options.spaces.any:
            places = table.places(spans, spaces, lambda new: _feature_texts(source, new, spaces))
            return _csr(indptr, places[columns], values, len(table.names)), table.names
        names = _feature_texts(source, spans, spaces)
        tokens = options.spaces.apply(Tokens(indptr, columns, values, names))
        places, all_names = _feature_places(tokens.names, options.feature_names)
        return _csr(tokens.indptr, places[tokens.columns], tokens.values, len(all_names)), all_names
    widest = 1 << bits if mode == kernels.HASHED else int(columns.max(initial=-1)) + 1
    if n_features is not None and n_features < widest:
        raise InputError(f"n_features must be at least {widest} for {source.path}, got {n_features}. Raise it.")
    return _csr(indptr, columns, values, n_features or widest), None


def _name_texts(source: TextLines, spans: NDArray[np.int64]) -> list[str]:
    starts = spans[:, 3]
    ends = starts + (spans[:, 2] & 0xFFFFFFFF)
    return source.words(starts, ends)


def _feature_texts(source: TextLines, spans: NDArray[np.int64], spaces: list[str]) -> list[str]:
    """The name of each feature in the file, with its namespace."""
    texts = zip(_name_texts(source, spans), (spans[:, 2] >> 32).tolist(), strict=True)
    # "^a^b" is a^b without a namespace
    return [f"{spaces[space]}^{name}" if spaces[space] or "^" in name else name for name, space in texts]


def _feature_places(names: list[str], feature_names: Sequence[str] | None) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """The column of each name in the file; new names come after the given ones."""
    column = {name: place for place, name in enumerate(feature_names or ())}
    places = np.array([column.setdefault(name, len(column)) for name in names], dtype=np.int32)
    return places, tuple(column)


def _csr(
    indptr: NDArray[np.int64], columns: NDArray[np.int32], values: NDArray[np.float32], n_features: int
) -> Examples:
    X: Examples = csr_array((values, columns, indptr), shape=(len(indptr) - 1, n_features))
    X.sum_duplicates()
    return X
