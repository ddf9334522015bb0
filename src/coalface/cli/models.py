"""A learner in a file, together with the names of its features."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from coalface.errors import FileFormatError
from coalface.learner.coal import CoalClassifier


def require_model(path: Path) -> None:
    """Refuse the name of a model that is not there, before anything else is done."""
    if not path.is_file():
        raise FileFormatError(f"There is no model {path}. Make one with: coalface train DATA --model {path}")


@dataclass
class Model:
    """The learner and, if its data had any, the features' names in the order of their columns.

    While a command runs, the names are kept here and not on the learner, which would want a data frame.
    """

    learner: CoalClassifier
    feature_names: tuple[str, ...] | None = None

    @property
    def width(self) -> int:
        """How many features the learner has seen."""
        return int(getattr(self.learner, "n_features_in_", 0))

    @classmethod
    def load(cls, path: Path) -> "Model":
        """The model that ``save``, or ``CoalClassifier.save``, wrote."""
        require_model(path)
        learner = CoalClassifier.load(path)
        names: Any = learner.__dict__.pop("feature_names_in_", None)
        return cls(learner, None if names is None else tuple(str(name) for name in names))

    def save(self, path: Path) -> None:
        """Write the model; the old file stays until the new one is complete."""
        if self.feature_names is not None:
            self.learner.feature_names_in_ = np.array(self.feature_names, dtype=object)
        try:
            self.learner.save(path)
        finally:
            self.learner.__dict__.pop("feature_names_in_", None)
