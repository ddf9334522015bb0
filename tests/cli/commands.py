"""What the tests of the command line share."""

import json

from coalface.cli import main

LABELS = ["billing", "other", "refund"]


def verbs(command, path=()):
    for name, child in getattr(command, "commands", {}).items():
        yield (*path, name)
        yield from verbs(child, (*path, name))


def run(capsys, command):
    """Exit code, standard output and standard error of a command."""
    capsys.readouterr()
    code = main(command.split())
    return code, *capsys.readouterr()


def refused(capsys, command):
    """The one line on standard error with which a command ends at exit code 2."""
    code, out, err = run(capsys, command)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    return err


def json_lines(text):
    return [json.loads(line) for line in text.splitlines()]


def answered(questions, cost_of=lambda label: float(len(label) % 2)):
    lines = []
    for question in questions:
        costs = {label: cost_of(label) for label in question["ask"]}
        lines.append(json.dumps({**question, **({"costs": costs} if costs else {})}) + "\n")
    return lines
