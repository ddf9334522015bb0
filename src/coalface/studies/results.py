"""The results of a sweep: a journal of finished and failed cells, and of the study, code and data of each session."""

import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from coalface.files import Journal
from coalface.studies.cells import Record
from coalface.studies.findings import DataFacts
from coalface.studies.study import Study

FILE = "results.jsonl"
VERSION = 1


@dataclass(frozen=True)
class Session:
    """One start of a sweep: the study, code and data that determine its cells, and the executor that ran them."""

    started: str
    executor: str
    workers: int
    name: str
    toml: str
    code: dict[str, str]
    data: tuple[DataFacts, ...]
    versions: dict[str, str]
    seconds: float | None = None  # None: the session was killed
    cells: int = 0
    offered: dict[str, dict[str, Any]] = field(default_factory=dict)  # the learners of plug-ins

    @property
    def study(self) -> Study:
        """The study as it was; its data need not exist any more."""
        return Study.recorded(self.toml, self.name, [data.name for data in self.data], self.offered)

    def same_cells(self, other: "Session") -> bool:
        """Whether both have the same study, code and data, and so the same cells."""
        return all(getattr(self, part) == getattr(other, part) for part in ("name", "toml", "code", "data"))


class Results:
    """The journal of a folder. A cell is finished when its curve is on disk; a failed cell runs again next time.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     Results.begin(folder).add([{"key": "a", "error": "out of luck"}, {"key": "b", "curve": {}}])
    ...     again = Results(folder)
    ...     list(again.finished), again.failed
    (['b'], {'a': 'out of luck'})
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.finished: dict[str, Record] = {}
        self.failed: dict[str, str] = {}
        self.sessions: list[Session] = []
        self._journal = Journal(self.folder / FILE, "sweep", VERSION)
        for number, line in self._journal:
            try:
                self._note(line)
            except (KeyError, TypeError, IndexError) as problem:
                raise self._journal.damaged(number, problem) from None

    @property
    def last(self) -> Session | None:
        """The last session, whose study, code and data a report shows."""
        return self.sessions[-1] if self.sessions else None

    @classmethod
    def begin(cls, folder: str | os.PathLike[str]) -> "Results":
        """The results of a folder, which is created if necessary."""
        Path(folder).mkdir(parents=True, exist_ok=True)
        results = cls(folder)
        if results._journal.header is None:
            results._journal.begin({})
        return results

    def add(self, records: Iterable[Record]) -> None:
        """Write the records of cells, except those that are already finished."""
        new = [record for record in records if record["key"] not in self.finished]
        self._write(*new)

    def start(self, session: Session) -> None:
        """Write the session of the cells that follow."""
        self._write({"session": asdict(session)})

    def end(self, seconds: float, cells: int) -> None:
        """Write how long the session took."""
        self._write({"ended": {"seconds": seconds, "cells": cells}})

    def _write(self, *lines: Record) -> None:
        self._journal.append(lines)
        for line in lines:
            self._note(line)

    def _note(self, line: Record) -> None:
        if "session" in line:
            facts: dict[str, Any] = dict(line["session"])
            facts["data"] = tuple(DataFacts(**data) for data in facts["data"])
            self.sessions.append(Session(**facts))
        elif "ended" in line:
            self.sessions[-1] = Session(**{**vars(self.sessions[-1]), **line["ended"]})
        elif "error" in line:
            self.failed[line["key"]] = line["error"]
        else:
            self.finished[line["key"]] = line
            line["curve"]  # a record without one is damaged
            self.failed.pop(line["key"], None)
