"""The model file of a run over a pool: every thread of every worker loads it once."""

import tempfile
import threading
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from coalface.errors import FileFormatError
from coalface.learner.named_learner import NamedLearner, require_model


@dataclass(frozen=True)
class ModelFile:
    """A model file and the digest of its bytes."""

    path: Path
    digest: str

    @classmethod
    def of(cls, path: Path) -> "ModelFile":
        """The model in a file as it is now."""
        require_model(path)
        return cls(path.resolve(), _digest(path.read_bytes()))


class _Loaded(threading.local):
    """The model of this thread; threads that shared one would wait for each other."""

    digest: str | None = None
    named: NamedLearner | None = None


_LOADED = _Loaded()


def loaded_model(model: ModelFile, shared: str | bytes) -> NamedLearner:
    """The model from its path or its bytes; loaded once per thread."""
    if _LOADED.named is None or _LOADED.digest != model.digest:
        content = Path(shared).read_bytes() if isinstance(shared, str) else shared
        if _digest(content) != model.digest:
            raise FileFormatError(f"{model.path} has changed since the command began. Run it again.")
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder, "model.coal")  # of exactly these bytes
            copy.write_bytes(content)
            _LOADED.named, _LOADED.digest = NamedLearner.load(copy), model.digest
    return _LOADED.named


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()
