"""Evaluates a model on a log of served labels in JSON lines."""

from collections.abc import Iterable

from coalface.data.labels import label_texts
from coalface.errors import FileFormatError
from coalface.evaluate.logged import LoggedReport, evaluate_logged
from coalface.learner.named_learner import NamedLearner
from coalface.rounds.arrays import answer_arrays
from coalface.rounds.lines import numbered_rounds


def evaluate_lines(named: NamedLearner, lines: Iterable[str], source: str) -> LoggedReport:
    """The estimates for a model from lines with "served", "probability", "costs" and the example.

    Lines without "served", such as questions in a ledger, are left out. Errors name ``source`` and the line.

    >>> from coalface import CoalClassifier
    >>> named = NamedLearner(CoalClassifier(["walk", "fly"]).tell([[1.0]] * 9, [[0.2, 0.9]] * 9))
    >>> served = '"served": "walk", "probability": 0.5, "costs": {"walk": 0.3}'
    >>> line = f'{{"round": 1, "indices": [0], "values": [1], {served}}}'
    >>> round(evaluate_lines(named, [line] * 20, "log")["self-normalised"].mean, 6)
    0.3
    """
    learner = named.learner
    labels = dict.fromkeys(label_texts(learner.classes_))
    rounds = [one for _, one in numbered_rounds(lines, source, labels=labels, partial=True) if one.served is not None]
    if not rounds:
        raise FileFormatError(f'{source} must have at least one line with "served" and "probability", got none.')
    answers = answer_arrays(rounds, learner.classes_.tolist())
    assert answers.served is not None
    X, _ = named.examples_of(rounds)
    served, chances = answers.served
    costs = answers.cost[range(len(rounds)), served]
    return evaluate_logged(learner, X, learner.classes_[served], costs, chances, candidates=answers.candidates)
