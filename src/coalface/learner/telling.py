"""Telling a stream of answered rounds, block by block; rounds that come too early wait for those before them."""

from collections.abc import Iterable
from itertools import islice

from coalface.data.labels import label_texts
from coalface.errors import FileFormatError
from coalface.learner.named_learner import NamedLearner
from coalface.rounds.lines import numbered_rounds, read_rounds
from coalface.rounds.round import Round


def tell_lines(
    named: NamedLearner, lines: Iterable[str], source: str, *, rows: int, late: bool = False, fill_gaps: bool = False
) -> None:
    """Learn the rounds of lines, in the order of their numbers, ``rows`` lines at a time; errors name ``source``.

    Late answers are read as a whole, and so is all that comes after a gap.

    >>> from coalface import CoalClassifier
    >>> named = NamedLearner(CoalClassifier(["walk", "fly"]).begin())
    >>> lines = ['{"round": 2, "ask": []}', '{"round": 1, "ask": []}', '{"round": 3, "ask": []}']
    >>> tell_lines(named, lines, "answers", rows=1)
    >>> named.learner.round_
    4
    """
    labels = dict.fromkeys(label_texts(named.learner.classes_))
    if late:
        named.tell(read_rounds(lines, source, labels=labels, partial=True), late=True)
        return
    found = numbered_rounds(lines, source, labels=labels, partial=False)
    first, waiting = named.learner.round_, _Waiting(source)
    while block := list(islice(found, rows)):
        for line, one in block:
            waiting.add(line, one, first, named.learner.round_)
        named.tell(waiting.ready(named.learner.round_))
    named.tell(waiting.rest(), fill_gaps=fill_gaps)


class _Waiting:
    """Rounds that were read and not told yet, by number."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._rounds: dict[int, Round] = {}
        self._lines: dict[int, int] = {}

    def add(self, line: int, one: Round, first: int, next_round: int) -> None:
        """Keep a round; an error if it was read before."""
        earlier = self._lines.get(one.number)
        if earlier is not None or first <= one.number < next_round:
            where = "an earlier line" if earlier is None else f"line {earlier}"
            raise FileFormatError(
                f"{self._source}, line {line}: round {one.number} must appear once, {where} has it too. Nothing was "
                "learned; correct the line."
            )
        self._rounds[one.number], self._lines[one.number] = one, line

    def ready(self, next_round: int) -> list[Round]:
        """The rounds that continue from this one without a gap; none if an earlier one waits, which is an error."""
        found: list[Round] = []
        if self._rounds and min(self._rounds) < next_round:
            return self.rest()
        while (one := self._rounds.pop(next_round + len(found), None)) is not None:
            del self._lines[one.number]
            found.append(one)
        return found

    def rest(self) -> list[Round]:
        """All rounds that still wait, in the order of their numbers."""
        return [self._rounds[number] for number in sorted(self._rounds)]
