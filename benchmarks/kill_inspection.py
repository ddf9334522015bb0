"""What is left after kills: the projects are opened again and compared with what the service had acknowledged."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.kill_crew import LEASE, Crew
from coalface.desk.log.events import WITHDRAWING, rounds_in, undone_in
from coalface.desk.project.project import Project
from coalface.desk.service import messages
from coalface.desk.service.desk import Desk
from coalface.desk.service.messages import NoQuestion
from coalface.rounds.event_log import Event


@dataclass
class KillReport:
    """What the service acknowledged, and what the logs have after the last kill."""

    kills: int = 0
    restarts: int = 0  # of the database
    acknowledged: Counter[str] = field(default_factory=Counter)  # changes by kind
    ahead: int = 0  # answers that gave costs ahead
    lost: list[str] = field(default_factory=list)  # acknowledged changes that the log does not have
    repeated: int = 0  # changes that are in a log more than once, and examples that were learned twice
    unacknowledged: int = 0  # answers in a log without a receipt that reached the annotator
    unfinished: int = 0  # examples that were asked about but are neither closed nor open
    same_model: bool = True
    again: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def in_words(self) -> str:
        """One line."""
        counts = ", ".join(f"{n} {kind}" for kind, n in sorted(self.acknowledged.items()))
        return (
            f"{self.kills} kills, {self.restarts} restarts of the database; acknowledged: {counts} ({self.ahead} "
            f"answers gave costs ahead); lost: {len(self.lost)}; twice: {self.repeated}; answers without a receipt: "
            f"{self.unacknowledged}; questions lost: {self.unfinished}; the reopened models equal the live ones: "
            f"{self.same_model}; refusals: {len(self.problems)}; sent again: {dict(self.again)}"
        )


def inspect(projects: Sequence[Project], crew: Crew, live: Sequence[bytes], kills: int, restarts: int) -> KillReport:
    """Open each project again, compare it with the changes that were acknowledged, and answer what is open."""
    found = KillReport(kills, restarts, problems=crew.problems, again=crew.again)
    for project, model in zip(projects, live, strict=True):
        changes = [change[1:] for change in crew.changes if change[0] == project.name]
        found.acknowledged.update(kind for kind, *_ in changes)
        found.ahead += sum(kind == "answered" and words[1] != "0" for kind, *words in changes)
        clock = time.time() + 10 * LEASE  # every lease has expired
        desk = Desk(Project.open(project.folder), clock=lambda now=clock: now)  # type: ignore[misc]
        try:
            found.same_model &= b"".join(desk.export("model")) == model
            _compare(desk, changes, found)
            found.unfinished += _unfinished(desk)
        finally:
            desk.close()

    return found


def all_events(desk: Desk) -> list[messages.LogEvent]:
    """The whole log, as the service shows it."""
    events: list[messages.LogEvent] = []
    while more := desk.events(after=events[-1].id if events else 0, limit=1000):
        events += more
    return events


def _compare(desk: Desk, changes: list[tuple[str, ...]], found: KillReport) -> None:
    events = list(desk.state.log.read())
    of_kind = {kind: [event for event in events if event.kind == kind] for kind in ("answered", "flagged", "skipped")}
    answers = Counter((event.who, event.body["question"], event.body["step"]) for event in of_kind["answered"])
    flags = Counter((event.who, event.body["note"]) for event in of_kind["flagged"])
    skips = Counter((event.who, str(event.body["question"])) for event in of_kind["skipped"])
    found.repeated += sum(n - 1 for counts in (answers, flags, skips) for n in counts.values())
    found.repeated += _learned_twice(desk, events)
    told = {words[0] for kind, *words in changes if kind == "answered"}
    found.unacknowledged += len({str(event.id) for event in of_kind["answered"]} - told)
    there = {
        "answered": {(str(event.id),) for event in of_kind["answered"]},
        "flagged": set(flags),
        "skipped": set(skips),
    }
    for kind, *words in changes:
        if kind in there:
            is_there = tuple(words[: 2 if kind != "answered" else 1]) in there[kind] or _was_dropped(desk, kind, words)
        else:
            is_there = _is_in_pool(desk, kind, words)
        if not is_there:
            found.lost.append(f"{desk.project.name}: {kind} {' '.join(words)}")


def _was_dropped(desk: Desk, kind: str, words: list[str]) -> bool:
    """Whether a skip came after its question had ended, because its example was retired or corrected."""
    counters = desk.state.counters
    return kind == "skipped" and counters.is_known(desk.project.pool.place(words[2]))


def _is_in_pool(desk: Desk, kind: str, words: list[str]) -> bool:
    pool, counters = desk.project.pool, desk.state.counters
    if kind == "added":
        return all(pool.content(pool.place(name))["text"] == f"parcel {name} is late" for name in words)
    if kind == "retired":
        return pool.place(words[0]) in counters.retired
    return desk.state.log.named(f"settle:{words[1]}") is not None


def _learned_twice(desk: Desk, events: list[Event]) -> int:
    undone = undone_in(desk.state.log.read(kinds=WITHDRAWING))
    learned = Counter(
        example
        for event in events
        if event.kind in ("closed", "settled") and event.id not in undone
        for example, _ in rounds_in(event)
    )
    return sum(n - 1 for n in learned.values())


def _unfinished(desk: Desk) -> int:
    """Answer what is open; how many examples were asked about and never come again."""
    events = list(desk.state.log.read())
    asked = {event.example for event in events if event.kind == "asked"}
    waiting = {example for example in asked if not desk.state.counters.is_known(example)}
    for turn in range(10 * len(waiting)):
        question = desk.lease("finisher")
        if isinstance(question, NoQuestion) or not waiting:
            break
        while question is not None:
            costs = dict.fromkeys(question.labels, 0.5)
            receipt = desk.answer("finisher", question.id, question.lease_id, costs, f"{turn} {question.id}")
            waiting.discard(desk.project.pool.place(question.example_id))
            question = receipt.follow_up
    return sum(not desk.state.counters.was_passed(example) for example in waiting)
