"""Dataset folders: plain ``.npy`` arrays that many processes can map into memory at once.

``meta.json`` names the format, its version, the shape, and the size and SHA-256 of every other file.
"""

import hashlib
import json
import os
import shutil
import uuid
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from coalface.data.dataset import CostDataset
from coalface.data.encoding.encoder import Encoder
from coalface.data.rows import Examples
from coalface.errors import FileFormatError, InputError
from coalface.files.atomic import sync_folder

FORMAT = "coalface dataset"
VERSION = 1
_META = "meta.json"
_NAMES = "feature_names.json"
_ENCODER = "encoder.json"
_ALWAYS = ("X_data", "X_indices", "X_indptr", "classes")
_OPTIONAL = ("table", "truth", "cost_matrix", "candidates", "price", "sequence", "ids")


def is_dataset_folder(folder: str | os.PathLike[str]) -> bool:
    """Whether the ``meta.json`` of a folder says that it is a dataset.

    >>> is_dataset_folder("no such folder")
    False
    """
    try:
        meta = json.loads(Path(folder, _META).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(meta, dict) and meta.get("format") == FORMAT


def save_folder(dataset: CostDataset, folder: str | os.PathLike[str]) -> None:
    """Write the dataset beside ``folder``, then rename it; an existing dataset is replaced, any other folder kept."""
    target = Path(folder)
    if target.exists() and not is_dataset_folder(target):
        raise InputError(f"The folder {target} is not a dataset, so it was not replaced. Choose another name.")
    target.parent.mkdir(parents=True, exist_ok=True)
    unique = uuid.uuid4().hex
    fresh = target.parent / f".{target.name}.{unique}.part"
    fresh.mkdir()
    try:
        _write_files(dataset, fresh)
        if target.exists():
            old = target.parent / f".{target.name}.{unique}.old"
            target.replace(old)
            fresh.replace(target)
            shutil.rmtree(old)
        else:
            fresh.replace(target)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    sync_folder(target.parent)


def _write_files(dataset: CostDataset, folder: Path) -> None:
    X = dataset.X
    arrays = {"X_data": X.data, "X_indices": X.indices, "X_indptr": X.indptr, "classes": dataset.classes}
    arrays |= {field: getattr(dataset, field) for field in _OPTIONAL if getattr(dataset, field) is not None}
    for field, array in arrays.items():
        with (folder / f"{field}.npy").open("wb") as file:
            np.save(file, np.ascontiguousarray(array), allow_pickle=False)
            file.flush()
            os.fsync(file.fileno())
    if dataset.feature_names is not None:
        (folder / _NAMES).write_text(json.dumps(dataset.feature_names), encoding="utf-8")
    if dataset.encoder is not None:
        (folder / _ENCODER).write_text(json.dumps(dataset.encoder.plain()), encoding="utf-8")
    meta = {
        "format": FORMAT,
        "version": VERSION,
        "name": dataset.name,
        "shape": [*X.shape, len(dataset.classes)],
        "fingerprint": dataset.fingerprint,
        "files": {
            path.name: {"bytes": path.stat().st_size, "sha256": _checksum(path)} for path in sorted(folder.iterdir())
        },
    }
    (folder / _META).write_text(json.dumps(meta, indent=1), encoding="utf-8")
    sync_folder(folder)


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def open_folder(folder: str | os.PathLike[str], *, verify: bool = False) -> CostDataset:
    """The dataset of a folder; its arrays are memory-mapped and read when they are used."""
    source = Path(folder)
    meta = _read_meta(source)
    _check_files(source, meta["files"], verify=verify)
    arrays = {
        field: _mapped(source / f"{field}.npy") for field in (*_ALWAYS, *_OPTIONAL) if f"{field}.npy" in meta["files"]
    }
    _check_shapes(source, arrays, *meta["shape"])
    names = _read_json(source, _NAMES) if _NAMES in meta["files"] else None
    dataset = CostDataset.trusted(
        X=_mapped_csr(arrays, (meta["shape"][0], meta["shape"][1])),
        classes=np.array(arrays["classes"]),
        **{field: arrays.get(field) for field in _OPTIONAL},
        feature_names=None if names is None else tuple(names),
        records=None,
        encoder=Encoder.from_plain(_read_json(source, _ENCODER)) if _ENCODER in meta["files"] else None,
        name=meta["name"],
    )
    dataset.__dict__["fingerprint"] = meta["fingerprint"]  # stored, so that opening does not read the arrays
    return dataset


def _broken(source: Path, what: str, remedy: str = "Write the dataset again.") -> FileFormatError:
    return FileFormatError(f"The dataset folder {source} {what}. {remedy}")


def _read_json(source: Path, name: str) -> Any:
    try:
        return json.loads((source / name).read_text(encoding="utf-8"))
    except ValueError as error:
        raise _broken(source, f"has a damaged {name} ({error})") from None


def _read_meta(source: Path) -> dict[str, Any]:
    if not source.is_dir():
        raise FileFormatError(f"There is no dataset folder {source}. Check the path.")
    if not (source / _META).is_file():
        raise _broken(source, f"has no {_META}, so it is not a dataset", "Choose a folder written by save().")
    meta = _read_json(source, _META)
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise _broken(source, f"is not a dataset by its {_META}", "Choose a folder written by save().")
    if meta.get("version") != VERSION:
        raise _broken(
            source,
            f"has version {meta.get('version')!r}, but this coalface reads {VERSION}",
            "Upgrade coalface.",
        )
    shape, files = meta.get("shape"), meta.get("files")
    whole = isinstance(shape, list) and len(shape) == 3 and all(isinstance(size, int) for size in shape)
    if not (whole and isinstance(files, dict) and {"name", "fingerprint"} <= meta.keys()):
        raise _broken(source, f"has an incomplete {_META}")
    return meta


def _check_files(source: Path, files: dict[str, dict[str, Any]], *, verify: bool) -> None:
    for field in _ALWAYS:
        if f"{field}.npy" not in files:
            raise _broken(source, f"does not list {field}.npy")
    for name, stored in files.items():
        path = source / name
        if not isinstance(stored, dict) or not {"bytes", "sha256"} <= stored.keys():
            raise _broken(source, f"has an incomplete {_META}")
        if not path.is_file():
            raise _broken(source, f"lacks the file {name}")
        if path.stat().st_size != stored["bytes"]:
            raise _broken(source, f"has {path.stat().st_size} bytes in {name} instead of {stored['bytes']}")
        if verify and _checksum(path) != stored["sha256"]:
            raise _broken(source, f"has a damaged {name} (its checksum differs)")


def _mapped(path: Path) -> NDArray[Any]:
    try:
        # "c" (copy on write): the file never changes. Numba would compile the kernels again for read-only arrays.
        array: NDArray[Any] = np.load(path, mmap_mode="c", allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        if path.stat().st_size and "empty file" in str(error):  # an empty array cannot be mapped
            return np.asarray(np.load(path, allow_pickle=False))
        raise _broken(path.parent, f"has an unreadable {path.name} ({error})") from None
    return array


def _check_shapes(source: Path, arrays: dict[str, NDArray[Any]], n_rows: int, n_features: int, n_labels: int) -> None:
    n_stored = len(arrays["X_data"])
    expected = {
        "X_data": ((n_stored,), "f4"),
        "X_indices": ((n_stored,), arrays["X_indptr"].dtype.str[1:]),
        "X_indptr": ((n_rows + 1,), arrays["X_indices"].dtype.str[1:]),
        "classes": ((n_labels,), arrays["classes"].dtype.str[1:]),
        "table": ((n_rows, n_labels), "f4"),
        "truth": ((n_rows,), "i4"),
        "cost_matrix": ((n_labels, n_labels), "f4"),
        "candidates": ((n_rows, n_labels), "b1"),
        "price": ((n_rows, n_labels), "f4"),
        "sequence": ((n_rows,), "i4"),
        "ids": ((n_rows,), arrays["ids"].dtype.str[1:] if "ids" in arrays else ""),
    }
    for field, array in arrays.items():
        if (array.shape, array.dtype.str[1:]) != expected[field]:
            raise _broken(source, f"has {array.dtype} of shape {array.shape} in {field}.npy")
    if ("table" in arrays) == ("truth" in arrays and "cost_matrix" in arrays):
        raise _broken(source, "must hold either table.npy or truth.npy and cost_matrix.npy")
    indptr = arrays["X_indptr"]
    if indptr[0] != 0 or indptr[-1] != n_stored or (np.diff(indptr) < 0).any() or n_features < 0:
        raise _broken(source, "has a damaged X_indptr.npy (its row boundaries are invalid)")


def _mapped_csr(arrays: dict[str, NDArray[Any]], shape: tuple[int, int]) -> Examples:
    """A CSR array of the memory maps themselves; the constructor would read all of them."""
    X: Any = csr_array(shape, dtype=np.float32)
    X.data, X.indices, X.indptr = arrays["X_data"], arrays["X_indices"], arrays["X_indptr"]
    X.has_sorted_indices = True
    X.has_canonical_format = True
    return cast("Examples", X)
