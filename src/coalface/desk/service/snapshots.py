"""Snapshots of the model in files, so that opening a project does not replay the whole log.

The log records each file and the last event that its model knows; other files are ignored. The newest two are kept.
"""

import logging
import secrets
from collections.abc import Callable
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from coalface.desk.service.model import LiveModel
from coalface.kernels.state import EXAMPLES_QUERIED

_EVERY = 500  # examples asked about between two snapshots
_KEPT = 2


class Snapshots:
    """The snapshots of a model; ``record`` writes the event of a snapshot."""

    def __init__(self, folder: Path, model: LiveModel, record: Callable[[dict[str, Any]], None]) -> None:
        self._folder, self._model, self._record = folder, model, record
        self._last, self._examples = model.kept
        self._writing = Lock()
        self._writer: Thread | None = None

    def consider(self) -> None:
        """Start one in the background if enough was learned since the last."""
        examples = int(self._model.learner.model_.state.counters[EXAMPLES_QUERIED])  # read often
        if examples - self._examples >= _EVERY and (self._writer is None or not self._writer.is_alive()):
            self._examples = examples
            self._writer = Thread(target=self._write_quietly, name="coalface-snapshot", daemon=True)
            self._writer.start()

    def write(self) -> Path | None:
        """Write one now; None if nothing was learned since the last."""
        with self._writing:
            learner, last = self._model.settled()
            if last == self._last:
                return None
            path = self._folder / f"snapshot-{last}-{secrets.token_hex(4)}.coalface"
            path.touch(mode=0o600)  # the file that replaces it keeps these permissions: it was learned from answers
            learner.save(path)
            self._record({"event": last, "round": learner.round_, "file": path.name})
            self._last = last
            logging.getLogger("coalface").info("wrote %s", path)
            self._remove_older(path)
            return path

    def close(self) -> None:
        """Finish the snapshot in progress and write a last one."""
        if self._writer is not None:
            self._writer.join()
        self._write_quietly()

    def _write_quietly(self) -> None:
        """A snapshot only saves time: without one, the model is rebuilt from the log."""
        try:
            self.write()
        except Exception:
            logging.getLogger("coalface").warning("no snapshot was written", exc_info=True)

    def _remove_older(self, newest: Path) -> None:
        def number(path: Path) -> int:
            digits = path.stem.split("-")[1]
            return int(digits) if digits.isdigit() else 0

        files = sorted(self._folder.glob("snapshot-*.coalface"), key=lambda path: (path == newest, number(path)))
        for path in files[:-_KEPT]:
            path.unlink(missing_ok=True)
