"""What annotators say beside their answers: questions they skip, flags for an engineer, and notes."""

from collections import deque
from dataclasses import dataclass

from coalface.desk.log.events import ANSWERED, CLOSED, FLAGGED, RESOLVED, RESUMED, SKIPPED, UNDONE
from coalface.rounds.event_log import Event

_NOTES = 200  # the latest ones are kept at hand; the log has them all


@dataclass(frozen=True)
class Remark:
    """A note about an example, by the number of its event; a ``flag`` waits until an engineer resolves it."""

    id: int
    at: float
    who: str
    example: int
    note: str
    flag: bool = False


class Remarks:
    """Remarks that follow the log, event by event.

    >>> remarks = Remarks()
    >>> remarks.take_in(Event("flagged", 3.0, "ada", example=7, body={"question": 1, "note": "two topics"}, id=4))
    >>> remarks.take_in(Event("skipped", 3.0, "ada", example=7, body={"questions": [1, 2]}, id=5))
    >>> [remark.note for remark in remarks.flags.values()], sorted(remarks.skipped_by("ada"))
    (['two topics'], [1, 2])
    """

    def __init__(self) -> None:
        self.flags: dict[int, Remark] = {}  # by the number of the event: those that are not resolved
        self._skipped: dict[str, dict[int, list[int]]] = {}  # annotator -> event -> questions, without those closed
        self._in_skips: set[int] = set()  # questions that an annotator skipped; most never are
        self._notes: deque[Remark] = deque(maxlen=_NOTES)

    def take_in(self, event: Event) -> None:
        """Follow one event."""
        body, who = event.body, event.who or ""
        if event.kind == FLAGGED:
            self.flags[event.id] = _remark(event, flag=True)
        elif event.kind == RESOLVED:
            self.flags.pop(body["flag"], None)
        elif event.kind == SKIPPED:
            self._skipped.setdefault(who, {})[event.id] = list(body["questions"])
            self._in_skips.update(body["questions"])
        elif event.kind == RESUMED:
            for skip in body["skips"]:
                self._skipped.get(who, {}).pop(skip, None)
        elif event.kind == CLOSED:
            self._forget(body.get("question", 0))
        elif event.kind == UNDONE:
            self._notes = deque((note for note in self._notes if note.id != body["answer"]), maxlen=_NOTES)
        if event.kind in (ANSWERED, SKIPPED) and body.get("note"):
            self._notes.append(_remark(event))

    def skips_of(self, annotator: str) -> list[int]:
        """The events of this annotator's skips that still hold, in order."""
        return list(self._skipped.get(annotator, {}))

    def skipped_by(self, annotator: str) -> set[int]:
        """The numbers of the questions that this annotator leaves to others."""
        return {number for numbers in self._skipped.get(annotator, {}).values() for number in numbers}

    def latest(self, n: int) -> list[Remark]:
        """The flags that are not resolved, then notes, each from the newest; a note that is also a flag comes once."""
        flags = sorted(self.flags.values(), key=lambda flag: -flag.id)
        flagged = {(flag.who, flag.example, flag.note) for flag in flags}
        notes = [note for note in reversed(self._notes) if (note.who, note.example, note.note) not in flagged]
        return [*flags, *notes][:n]

    def _forget(self, question: int) -> None:
        """A closed question is asked no more."""
        if question not in self._in_skips:
            return
        self._in_skips.remove(question)
        for skips in self._skipped.values():
            for event, numbers in list(skips.items()):
                if question in numbers:
                    numbers.remove(question)
                if not numbers:
                    del skips[event]


def _remark(event: Event, *, flag: bool = False) -> Remark:
    return Remark(event.id, event.at, event.who or "", event.example or 0, str(event.body["note"]), flag)
