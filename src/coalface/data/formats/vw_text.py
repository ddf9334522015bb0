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
``vw_namespaces``.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from coalface.data.dataset import CostDataset
from coalface.data.dataset_fields import Examples
from coalface.data.formats.text_lines import TextLines, is_number
from coalface.data.formats.vw_namespaces import Namespaces, Tokens
from coalface.data.formats.vw_targets import are_classes, check_targets, class_costs
from coalface.data.labels import label_array, label_texts, later_labels
from coalface.errors import FileFormatError, InputError
from coalface.kernels import vw_text as kernels

_MODES = {"numbered": kernels.NUMBERED, "named": kernels.NAMED, "hashed": kernels.HASHED}
_MOST_NUMBERED = 1_000_000  # labels; larger numbers are probably identifiers
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
    return vw_dataset(TextLines.open(path), options)[0]


@dataclass(frozen=True)
class VwOptions:
    """The options of ``read_vw_text``; ``decided_by`` is the number of lines that have decided them, if they did."""

    features: str = "auto"
    bits: int = 18
    n_features: int | None = None
    feature_names: Sequence[str] | None = None
    labels: str = "auto"
    first_label: int | None = None
    classes: ArrayLike | None = None
    targets: str = "auto"
    ignore: Sequence[str] = ()
    keep: Sequence[str] | None = None
    ngrams: int | Sequence[str] = ()
    skips: int | Sequence[str] = ()
    grouped: bool = False
    name: str | None = None
    decided_by: int | None = None

    def __post_init__(self) -> None:
        _check_options(self.features, self.bits, self.labels, self.first_label)
        check_targets(self.targets)
        self.spaces  # noqa: B018 (checks them)

    @cached_property
    def spaces(self) -> Namespaces:
        """The options about namespaces."""
        return Namespaces.of(
            ignore=self.ignore, keep=self.keep, ngrams=self.ngrams, skips=self.skips, grouped=self.grouped
        )


def vw_dataset(source: TextLines, options: VwOptions) -> tuple[CostDataset, VwOptions]:
    """The dataset of some lines, and the options with all that these lines decide, for the lines after them."""
    problem = np.zeros(4, dtype=np.int64)
    room = source.n_blanks + len(source.starts)
    bars, indptr, codes, costs, spans = kernels.parse_labels(source.buffer, source.starts, source.ends, room, problem)
    _check(source, problem)
    names = _name_texts(source, spans)
    for text, span in zip(names, spans, strict=True):
        _check_label(source, text, int(span[3]))
    known, columns = _label_columns(source, names, spans, options)
    listed_columns = columns[codes]
    classes = are_classes(source.path, options.targets, indptr, costs, len(known))
    if classes:
        fields = class_costs(indptr, listed_columns, len(known))
    else:
        cost, candidates = _cost_table(source, indptr, listed_columns, costs, known)
        fields = {"cost": cost, "candidates": candidates}
    X, found_names = _read_features(source, bars, options)
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


def _check_options(features: str, bits: int, labels: str, first_label: int | None) -> None:
    choices: list[tuple[str, Any, tuple[Any, ...]]] = [
        ("features", features, ("auto", *_MODES)),
        ("labels", labels, ("auto", "numbered", "named")),
        ("first_label", first_label, (None, 0, 1)),
        ("bits", bits, tuple(range(1, 32))),
    ]
    for option, value, allowed in choices:
        if value not in allowed:
            listed = "1 to 31" if option == "bits" else ", ".join(repr(choice) for choice in allowed)
            raise InputError(f"{option} must be one of {listed}, got {value!r}. Choose one of them.")


def _check_label(source: TextLines, text: str, start: int) -> None:
    if text == "shared":
        rule = "lines with 'shared' and label-dependent features are not supported"
        raise source.error(start, text, rule, "Write one line per example with all labels")


def _label_columns(
    source: TextLines,
    names: list[str],
    spans: NDArray[np.int64],
    options: VwOptions,
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The labels, and the column of each name in the file."""
    labels, first_label = options.labels, options.first_label
    if options.classes is not None:
        known = label_array(options.classes)
        column = {text: place for place, text in enumerate(label_texts(known))}
        for text, span in zip(names, spans, strict=True):
            if text not in column:
                shown = ", ".join(repr(label) for label in list(column)[:20])
                advice = later_labels(options.decided_by)
                problem = source.error(int(span[3]), text, f"labels must be among {shown}", advice)
                problem.remedy = {"add_label": text} if options.decided_by is None else {"classes": None}
                raise problem
        return known, np.array([column[text] for text in names], dtype=np.int64)
    numbered = [text.isascii() and text.isdigit() for text in names]
    if labels == "named" or (labels == "auto" and not all(numbered)):
        return _named(source, names, spans), np.arange(len(names))
    for text, fits, span in zip(names, numbered, spans, strict=True):
        if not fits or int(text) > _MOST_NUMBERED:
            rule = f"numbered labels must be integers up to {_MOST_NUMBERED}"
            raise source.error(int(span[3]), text, rule, 'Use labels="named"')
    numbers = np.array([int(text) for text in names], dtype=np.int64)
    first = first_label if first_label is not None else int(0 not in numbers)
    if len(numbers) == 0:
        raise FileFormatError(f"{source.path} must list labels in some line, got none. Pass classes=[...].")
    if numbers.min() < first:
        raise source.error(int(spans[numbers.argmin(), 3]), "0", "labels must start at 1", "Use first_label=0")
    return np.arange(first, numbers.max() + 1), numbers - first


def _named(source: TextLines, names: list[str], spans: NDArray[np.int64]) -> NDArray[Any]:
    for text, span in zip(names, spans, strict=True):
        after = int(span[3] + span[2])
        lonely = after == len(source.buffer) or source.buffer[after] != ord(":")
        if lonely and "." in text and is_number(text):
            rule = "example weights are not part of the cost-sensitive format"
            raise source.error(int(span[3]), text, rule, "Remove the weight")
    return np.array(names, dtype=str)


def _cost_table(
    source: TextLines,
    indptr: NDArray[np.int64],
    columns: NDArray[np.int64],
    costs: NDArray[np.float32],
    known: NDArray[Any],
) -> tuple[NDArray[np.float32], NDArray[np.bool_] | None]:
    """Costs (n, K), and the candidates if some lines list only some of the labels."""
    cost = np.full((len(indptr) - 1, len(known)), np.nan, dtype=np.float32)
    n_listed = np.diff(indptr)
    partly = bool(((n_listed > 0) & (n_listed < len(known))).any())
    listed = np.zeros(cost.shape if partly else (0, len(known)), dtype=bool)
    twice = kernels.fill_costs(indptr, columns, costs, cost, listed)
    if twice >= 0:
        start, end = int(source.starts[twice]), int(source.ends[twice])
        text = source.text(start, min(end, start + 60))
        raise source.error(start, text, "a line must list each label once", "Remove the repeated label")
    if partly:
        listed[n_listed == 0] = True
    return cost, listed if partly else None


def _naming(options: VwOptions) -> str:
    """How features become columns, where the user has left it open."""
    features, feature_names, spaces = options.features, options.feature_names, options.spaces
    if spaces.any and features not in ("auto", "named"):
        raise InputError(f'Options about namespaces need features="named", got features={features!r}. Leave it out.')
    return "named" if spaces.any or (features == "auto" and feature_names is not None) else features


def _read_features(
    source: TextLines, bars: NDArray[np.int64], options: VwOptions
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
        names = _feature_texts(source, spans, _name_texts(source, space_spans))
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
