"""The library's words in those of the command line: parameters are options here."""

import re
from shlex import quote

_OPTIONS = {"random_state": "--seed", "test_fraction": "--test-fraction", "max_costs": "--max-costs"}
_OPTIONS |= {
    name: "--" + name.replace("_", "-")
    for name in (
        "abstain_cost",
        "abstain_label",
        "accumulator",
        "alike",
        "audit_rate",
        "batch",
        "budget",
        "checkpoints",
        "classes",
        "cost_bounds",
        "cost_matrix",
        "learning_rate",
        "mellowness",
        "constraints",
        "history",
        "passes",
        "permutations",
        "rule",
        "sensitivity",
        "slack",
        "stop_saving",
        "warm_up",
        "width_scale",
        "window",
    )
}
_PHRASES = {
    "Pass cost_bounds=(low, high)": "Make the model with --cost-bounds LOW HIGH",
    "classes=[...]": "--reader classes=NAME,NAME",
    "Pass label=": "Pass --label",
    "Pass format=": "Pass --format",
    "Check classes.": "Check the labels.",
    "ones too, in classes.": "ones too, with --classes.",
    "None, 'bio' or 'bilou'": "bio or bilou",
    "constraints='bio'": "--constraints bio",
    "constraints='bilou'": "--constraints bilou",
}
_NAMED = re.compile(r"\b(label|ignore|features|labels|first_label)=(?:\['(.+?)'\]|'(.+?)'|\"(.+?)\"|(\d+))")


def as_options(message: str) -> str:
    """A message of the library as somebody at a terminal can follow it.

    >>> as_options("warm_up must be a whole number from 0 on, got -1.")
    '--warm-up must be a whole number from 0 on, got -1.'
    >>> as_options("Correct it, or pass label='kind' or ignore=['kind'].")
    'Correct it, or pass --label kind or --reader ignore=kind.'
    """
    name, space, rest = message.partition(" ")
    message = _OPTIONS.get(name, name) + space + rest
    for words, option in _PHRASES.items():
        message = message.replace(words, option)
    return _NAMED.sub(_as_option, message)


def _as_option(found: re.Match[str]) -> str:
    name, value = found[1], next(text for text in found.groups()[1:] if text is not None)
    return f"--label {quote(value)}" if name == "label" else f"--reader {quote(f'{name}={value}')}"
