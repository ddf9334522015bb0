"""Reading single named arrays from ``.npz`` archives of other layouts."""

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from coalface.data.dataset_fields import Examples
from coalface.errors import FileFormatError

_DAMAGE = (ValueError, EOFError, OSError, AttributeError, zipfile.BadZipFile, zlib.error)


def read_arrays(path: Path, *names: str) -> list[NDArray[Any]]:
    """The arrays of these names, in this order.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     np.savez(Path(folder, "two.npz"), a=np.arange(3), b=np.zeros(2))
    ...     read_arrays(Path(folder, "two.npz"), "b", "a")
    [array([0., 0.]), array([0, 1, 2])]
    """
    if not path.is_file():
        raise FileFormatError(f"There is no file {path}. Check the folder.")
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            missing = [name for name in names if name not in archive.files]
            if not missing:
                return [archive[name] for name in names]
            found = sorted(archive.files)
    except _DAMAGE as error:
        raise FileFormatError(f"{path} must be a NumPy archive of plain arrays ({error}). Restore the file.") from None
    raise FileFormatError(f"{path} must hold {', '.join(missing)}, got {', '.join(found)}. Check the file.")


def read_csr(path: Path) -> Examples:
    """A matrix that ``scipy.sparse.save_npz`` wrote in CSR form."""
    data, indices, indptr, shape = read_arrays(path, "data", "indices", "indptr", "shape")
    try:
        matrix: Any = csr_array((data, indices, indptr), shape=tuple(shape.tolist()))
        matrix.check_format(full_check=True)
    except (ValueError, TypeError) as error:
        raise FileFormatError(f"{path} must hold a CSR matrix ({error}). Write it with save_npz.") from None
    matrix.sum_duplicates()
    return matrix  # type: ignore[no-any-return]
