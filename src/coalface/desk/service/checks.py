"""The input of a desk's callers, checked where it comes in: ids, keys, names, times and prices."""

from dataclasses import dataclass, field, replace
from typing import Any

from coalface.data import is_number
from coalface.errors import InputError, UnknownIdError

_LONGEST_LEASE = 7 * 86400.0  # seconds
_LONGEST_NAME = 200
_LONGEST_NOTE = 10_000


@dataclass(frozen=True)
class GivenAnswer:
    """An answer as an annotator sent it, not yet part of a ``Round``: to which question, under which lease and key.

    With ``whole`` it settles every label, because the annotator gave the ``truth`` or could not tell it.
    """

    annotator: str
    question: tuple[int, int]  # its number, and its number of answers when it was displayed
    lease_id: str
    key: str
    said: dict[str, Any]  # note and price, where given
    seconds: float | None = None
    costs: dict[str, float | None] = field(default_factory=dict)
    whole: bool = False
    truth: str | None = None
    ahead: tuple[str, ...] = ()  # follow-up labels that the page displayed without a call: see ``Question.later``

    @classmethod
    def of(
        cls,
        annotator: str,
        question_id: str,
        lease_id: str,
        key: str,
        seconds: float | None,
        note: str | None,
        price: float | None,
    ) -> "GivenAnswer":
        """An answer without costs yet; what was said beside them, and the names, are checked."""
        for name, value in (("seconds", seconds), ("price", price)):
            if value is not None and not (is_number(value) and 0 <= value < 1e9):
                raise InputError(f"{name} must be a non-negative number, got {value!r}. Correct it or leave it out.")
        if note is not None:
            checked_text(note)
        said = {name: value for name, value in (("note", note), ("price", price)) if value is not None}
        return cls(annotator, parsed_question(question_id), lease_id, checked_name("key", key), said, seconds)

    def without_costs(self) -> "GivenAnswer":
        """The same to a question for the true label; an InputError if it gives costs."""
        for label, cost in self.costs.items():
            if cost is not None:
                raise InputError(
                    f"The question is for the true label, got the cost of {label!r}. Send the label instead."
                )
        return replace(self, costs={}, whole=True, ahead=())


def parsed_question(question_id: str) -> tuple[int, int]:
    """The number of a question and the number of answers it had when it was displayed.

    >>> parsed_question("17.2")
    (17, 2)
    """
    number, _, step = str(question_id).partition(".")
    if not (is_event_number(number) and is_event_number(step)):
        raise UnknownIdError(f"There is no question {question_id!r:.60}. Lease one.")
    return int(number), int(step)


def parsed_answer(answer_id: str) -> int:
    """The number of an answer."""
    if not is_event_number(str(answer_id)):
        raise UnknownIdError(f"There is no answer {answer_id!r:.60}.")
    return int(answer_id)


def checked_text(text: Any, empty: str = "") -> str:
    """What a person says in words; if it may not be ``empty``, that is the error.

    >>> checked_text(" two topics ", "note must say something.")
    'two topics'
    """
    if not (isinstance(text, str) and len(text) <= _LONGEST_NOTE and can_store(text)):
        raise InputError(f"note must be a text of at most {_LONGEST_NOTE} characters, got {text!r:.60}. Shorten it.")
    if empty and not text.strip():
        raise InputError(empty)
    return text.strip()


def checked_ttl(ttl: Any) -> float:
    """How long a lease lasts, in seconds."""
    if not (is_number(ttl) and 0 < ttl <= _LONGEST_LEASE):
        raise InputError(
            f"ttl must be a number of seconds above 0, at most {_LONGEST_LEASE:g}, got {ttl!r}. Correct it."
        )
    return float(ttl)


def checked_name(what: str, name: Any) -> str:
    """A name or key of reasonable length."""
    if not (isinstance(name, str) and 1 <= len(name) <= _LONGEST_NAME and can_store(name)):
        raise InputError(f"{what} must be a text of 1 to {_LONGEST_NAME} characters, got {name!r:.60}. Correct it.")
    return name


def checked_annotator(name: Any) -> str:
    """The name of an annotator; a colon separates it from the key in the log's names of answers."""
    if ":" in checked_name("annotator", name):
        raise InputError(f"annotator must be a name without a colon, got {name!r:.60}. Replace the colon.")
    return str(name)


def can_store(text: str) -> bool:
    r"""Whether databases can store a text: PostgreSQL stores no character 0, and none stores half a surrogate pair.

    >>> can_store("Grüße"), can_store("\0")
    (True, False)
    """
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


def is_event_number(text: str) -> bool:
    """Whether a text is the number of an event, or of a question, as the database may count."""
    return text.isascii() and text.isdigit() and len(text) < 18
