"""The Gaussian kernel as a feature map: the first rows learned are landmarks, and each adds one feature.

While there is room for landmarks, the regression is exact kernel ridge regression; after that it is Nystroem's
approximation. The bandwidth is the median distance among the first rows learned, so nothing has to be chosen.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.rows import Rows
from coalface.errors import FileFormatError
from coalface.kernels.landmarks import add_landmarks, landmark_features
from coalface.models.model_arrays import copy_saved
from coalface.models.ridge.feature_maps import FeatureMap, FirstRows, Table

_FIRST = 32  # rows that decide on the bandwidth
_ANY = 1.0  # bandwidth while all rows are equal to 0


class GaussianMap(FeatureMap):
    """Features whose inner products are exp(-distance^2 / (2 bandwidth^2)), from at most ``n_components`` landmarks.

    >>> from coalface.data.rows import check_rows
    >>> gaussian, rows = GaussianMap(n_components=10, n_labels=1), check_rows([[0.0], [1.0], [0.0]])
    >>> features = gaussian.learned(rows)
    >>> (features @ features.T).round(2)  # equal rows, and rows at a distance of one bandwidth
    array([[1.  , 0.61, 1.  ],
           [0.61, 1.  , 0.61],
           [1.  , 0.61, 1.  ]], dtype=float32)
    """

    memory_rule = "n_components must be small enough for 2 x labels x n_components^2 bytes to fit into memory"
    memory_remedy = "Pass a smaller n_components."

    def __init__(self, n_components: int, n_labels: int) -> None:
        self.first = FirstRows(n_labels, _FIRST)
        self.bandwidth = np.full(1, _ANY)
        self.used = np.zeros(1, np.int64)
        self.centres = np.zeros((0, n_components), np.float32)  # (columns, landmarks)
        self.factor = np.zeros((n_components, n_components))  # the transposed Cholesky factor of the kernel matrix

    def most_features(self, width: int) -> int:
        """One feature per landmark."""
        return len(self.factor)

    def bytes_for(self, width: int) -> int:
        """The memory of the landmarks, their factor and the first rows in bytes."""
        return int(self.factor.nbytes + 4 * width * (len(self.factor) + _FIRST))

    @property
    def n_landmarks(self) -> int:
        """The number of landmarks so far, which is that of the features."""
        return int(self.used[0])

    @property
    def nbytes(self) -> int:
        """The memory of the landmarks, their factor and the first rows in bytes."""
        return sum(array.nbytes for array in self.arrays().values())

    def choose(self) -> None:
        """Set the bandwidth to the median distance of the first rows, equal ones aside, and forget all landmarks."""
        table = self.first.rows.astype(np.float64)
        distances = np.sqrt(((table[:, None] - table) ** 2).sum(axis=2))[np.triu_indices(len(table), 1)]
        apart = distances[distances > 0]
        self.bandwidth[0] = np.median(apart) if len(apart) else np.linalg.norm(table[0]) or _ANY
        for array in (self.used, self.centres, self.factor):
            array[...] = 0

    def learned(self, rows: Rows) -> Table:
        """The features of the rows, one after the other; each row becomes a landmark if there is room for it."""
        if rows.width > len(self.centres):
            self._make_room(rows.used_width)
        table = np.zeros((rows.n_rows, len(self.factor)), np.float32)
        add_landmarks(self.centres, self.factor, self.used, self._rate, rows.dense(len(self.centres)), table)
        return table[:, : self.used[0]]

    def of(self, rows: Rows, n_features: int, penalty: float = 1.0) -> tuple[Table, NDArray[np.float64]]:
        """The features of the rows, and the spread that they lack while there is room for landmarks."""
        rate, inputs, beyond = self._rate, rows.dense(len(self.centres)), rows.squares_beyond(len(self.centres))
        table, rests = np.zeros((rows.n_rows, n_features), np.float32), np.empty(rows.n_rows)
        landmark_features(self.centres, self.factor, self.used[0], rate, inputs, beyond, table, rests)
        return table, rests / penalty if self.used[0] < len(self.factor) else np.zeros(rows.n_rows)

    @property
    def _rate(self) -> float:
        return 0.5 / float(self.bandwidth[0]) ** 2

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Bandwidth, landmarks, their factor, and the first rows."""
        own = {"bandwidth": self.bandwidth, "used": self.used, "centres": self.centres, "factor": self.factor}
        return {**own, **self.first.arrays()}

    def restore(self, saved: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state that ``arrays`` returned; a FileFormatError if an array is missing or does not fit."""
        self._make_room(len(saved.get("centres", ())))
        self.first.make_room(saved["first_rows"].shape[-1] if "first_rows" in saved else 0)
        copy_saved(saved, self.arrays())
        if not (
            0 <= self.used[0] <= len(self.factor) and 0 <= self.first.n_missing <= _FIRST and self.bandwidth[0] > 0
        ):
            raise FileFormatError(
                "The bandwidth or the landmarks of the model are out of range; it is damaged. Restore a copy."
            )

    def _make_room(self, width: int) -> None:
        """Add columns, which are 0 in all landmarks so far."""
        missing = max(width - len(self.centres), 0)
        self.centres = np.pad(self.centres, ((0, missing), (0, 0)))
