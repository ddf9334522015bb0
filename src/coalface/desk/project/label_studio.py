"""Label Studio's JSON: tasks with annotations and predictions, and the labelling interface that they belong to.

A task of ours holds the costs by label in its "meta", so that what was exported can be imported without loss.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from coalface.errors import FileFormatError, InputError

_OURS = "coalface"  # the key of our costs in the "meta" of a task
_MARKUP = re.compile(r"<!(DOCTYPE|ENTITY)", re.IGNORECASE)  # an interface needs none, and it could grow without end
_MOST_BYTES = 1 << 30  # of a file of tasks


@dataclass(frozen=True)
class Interface:
    """The parts of a labelling interface that a prediction names: its choices, and the object they are about."""

    from_name: str = "label"
    to_name: str = "text"
    value: str = "text"  # the field of a task that annotators see
    choices: tuple[str, ...] = ()

    @classmethod
    def of(cls, config: str | None) -> "Interface":
        """The first single choice of an interface in XML; the default without one.

        >>> choices = '<Choices name="c" toName="t"><Choice value="a"/></Choices>'
        >>> Interface.of(f'<View><Text name="t" value="$body"/>{choices}</View>')
        Interface(from_name='c', to_name='t', value='body', choices=('a',))
        """
        if not config:
            return cls()
        if _MARKUP.search(config):
            raise InputError("A labelling interface must have no DOCTYPE or ENTITY. Remove it.")
        try:
            root = ElementTree.fromstring(config)
        except ElementTree.ParseError as problem:
            raise InputError(f"A labelling interface must be XML ({problem}). Correct it.") from None
        choices = next(iter(root.iter("Choices")), None)
        if choices is None:
            raise InputError("A labelling interface must have a Choices tag, got none. Add one with the labels.")
        to_name = choices.get("toName", "text")
        shown = next((tag for tag in root.iter() if tag.get("name") == to_name), None)
        names = tuple(one.get("value", "") for one in choices.iter("Choice"))
        return cls(
            choices.get("name", "label"),
            to_name,
            "text" if shown is None else shown.get("value", "").lstrip("$"),
            names,
        )

    def result(self, label: str) -> list[dict[str, Any]]:
        """A choice as annotations and predictions write it."""
        value = {"choices": [label]}
        return [{"from_name": self.from_name, "to_name": self.to_name, "type": "choices", "value": value}]


def task_of(
    number: int,
    name: str,
    content: Mapping[str, Any],
    costs: Mapping[str, float | None],
    label: str | None,
    who: str | None,
) -> dict[str, Any]:
    """An example as a task, with the answer that counts as its annotation."""
    kind = content["kind"]
    shown = {} if kind == "table" else {kind: content.get(kind, content.get("file", ""))}
    data = {**shown, **content.get("cells", {}), "id": name}
    task: dict[str, Any] = {"id": number, "data": data, "annotations": [], "predictions": []}
    if label is not None:
        task["annotations"] = [{"result": Interface().result(label), "was_cancelled": False, "completed_by": who}]
    return task | ({"meta": {_OURS: {"costs": dict(costs)}}} if costs else {})


def read_tasks(path: Path) -> list[dict[str, Any]]:
    """The tasks of an exported .json file."""
    if path.stat().st_size > _MOST_BYTES:
        raise FileFormatError(f"{path} must have at most {_MOST_BYTES:,} bytes. Export it in parts.")
    try:
        tasks = json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as problem:
        raise FileFormatError(f"{path} must be Label Studio's JSON ({problem}). Export it again.") from None
    if not isinstance(tasks, list) or not all(
        isinstance(one, dict) and isinstance(one.get("data"), dict) for one in tasks
    ):
        raise FileFormatError(
            f'{path} must be a list of tasks with "data", as Label Studio exports them. Export it again.'
        )
    return tasks


def task_costs(tasks: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """What is known about tasks: our own costs or, of another's task, the label that was chosen last."""
    for task in tasks:
        ours = task.get("meta") or {}
        costs = (ours.get(_OURS) or {}).get("costs") if isinstance(ours, dict) else None
        chosen = [labels for one in task.get("annotations") or () if (labels := choices_in(one))]
        if costs:
            yield {"id": task_id(task), "costs": costs}
        elif chosen:
            label, *others = dict.fromkeys(chosen[-1])
            if others:
                raise InputError(
                    f"Task {task_id(task)!r} must have one choice, got {len(others) + 1}: {label!r}, {others[0]!r}. "
                    "Keep one, or let Label Studio send annotations to the service, which takes several."
                )
            yield {"id": task_id(task), "label": label}


def task_id(task: Mapping[str, Any]) -> str:
    """The id of a task's example: its own, or one made of the number of the task."""
    own = task["data"].get("id")
    return str(own) if own not in (None, "") else f"task-{task.get('id')}"


def choices_in(annotation: Mapping[str, Any]) -> list[str]:
    """The labels that an annotation chooses; none if it was cancelled."""
    if not isinstance(annotation, Mapping):
        raise InputError(f'An annotation must be an object with "result", got {annotation!r:.60}. Export it again.')
    if annotation.get("was_cancelled"):
        return []
    parts = [
        part for part in annotation.get("result") or () if isinstance(part, dict) and part.get("type") == "choices"
    ]
    chosen = [(part.get("value") or {}).get("choices", []) for part in parts]
    if wrong := [one for one in chosen if not isinstance(one, list)]:
        raise InputError(f'The "choices" of an annotation must be a list of labels, got {wrong[0]!r:.60}. Correct it.')
    return [str(label) for labels in chosen for label in labels]
