"""Answers told to a model: all of them or none."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.cli.answer_lines import AnswerLine
from coalface.cli.models import Model
from coalface.data.labels import label_texts
from coalface.data.rows import check_rows
from coalface.errors import InputError, UnknownLabelError
from coalface.kernels.state import ANSWER, CHANCE, N_OUTLOOK, PREDICTED, REACHABLE

_LARGEST_GAP = 1_000_000  # rounds; more is a mistyped number


def tell_answers(model: Model, answers: Sequence[AnswerLine], *, late: bool, fill_gaps: bool) -> None:
    """Learn the answers and close their rounds, or refuse and change nothing.

    The rounds must follow on from the model's own, so an answer cannot be told twice. ``late`` answers
    belong to closed rounds and may be partial. ``fill_gaps`` closes rounds without a line as if nothing had been asked.
    """
    if not answers:
        return
    _check_rounds(answers, model.learner.round_, late=late, fill_gaps=fill_gaps)
    told = [line for line in answers if line.costs] if late else _with_gaps(answers, model.learner.round_)
    if not told:
        raise InputError("--late answers must have costs in some line, got none. Add them, or leave out --late.")
    column = {text: place for place, text in enumerate(label_texts(model.learner.classes_))}
    cost = np.full((len(told), len(column)), np.nan)
    asked = np.zeros(cost.shape, np.bool_)
    candidates = np.ones(cost.shape, np.bool_)
    outlook = np.zeros((len(told), N_OUTLOOK))
    for i, line in enumerate(told):
        known = _columns(line, line.costs, column)
        cost[i, known] = [np.nan if c is None else c for c in line.costs.values()]
        asked[i, known if late else _columns(line, line.ask, column)] = True
        if line.candidates is not None:
            candidates[i] = False
            candidates[i, _columns(line, line.candidates, column)] = True
        if line.outlook is not None:
            label, *numbers = line.outlook
            answer = len(column) if label is None else _columns(line, [label], column)[0]
            outlook[i, [ANSWER, PREDICTED, CHANCE, REACHABLE]] = answer, *numbers
    X, names = _examples(model, told)
    allowed = None if candidates.all() else candidates
    model.learner._tell(X, check_rows(X), model.learner.classes_, cost, asked, allowed, outlook, late=late)
    model.feature_names = names


def _columns(line: AnswerLine, names: Iterable[str], column: dict[str, int]) -> list[int]:
    try:
        return [column[name] for name in names]
    except KeyError as unknown:
        raise InputError(f"Line {line.number}: {UnknownLabelError(unknown.args[0], column)}") from None


def _check_rounds(answers: Sequence[AnswerLine], next_round: int, *, late: bool, fill_gaps: bool) -> None:
    first, last = answers[0].round, answers[-1].round
    if late and last >= next_round:
        raise InputError(
            f"--late answers must belong to rounds before {next_round}, got round {last}. Tell it without --late."
        )
    if late:
        return
    if first < next_round:
        raise InputError(
            f"Round {first} was told already: the model is at round {next_round}. If these are second or late answers, "
            "pass --late."
        )
    rounds = {line.round for line in answers}
    missing = next((number for number in range(next_round, last) if number not in rounds), None)
    if missing is not None and not fill_gaps:
        raise InputError(
            f"Round {missing} is missing: the lines must go on from round {next_round} without a gap. Put in the line "
            "that ask wrote for it, or pass --fill-gaps to close it as if nothing had been asked."
        )
    earlier = next_round - 1
    for line in answers:
        if line.round - earlier > _LARGEST_GAP:
            raise InputError(
                f"Line {line.number}: --fill-gaps closes {_LARGEST_GAP:,} rounds at most, but round {line.round} comes "
                f"next after round {earlier}. Correct the round."
            )
        earlier = line.round


def _with_gaps(answers: Sequence[AnswerLine], next_round: int) -> list[AnswerLine]:
    there = {line.round: line for line in answers}
    rounds = range(next_round, answers[-1].round + 1)
    return [there.get(number, AnswerLine(number=0, round=number, ask=[])) for number in rounds]


def _examples(model: Model, told: Sequence[AnswerLine]) -> tuple[Any, tuple[str, ...] | None]:
    """The features of all lines, and the model's feature names with the new ones behind them."""
    from scipy.sparse import csr_array

    names: dict[str, int] = {name: column for column, name in enumerate(model.feature_names or ())}
    rows: list[NDArray[Any]] = []
    columns: list[list[int]] = []
    for line in told:
        _check_naming(model, line)
        if line.features is None:
            columns.append(line.indices)
            rows.append(np.array(line.values))
        else:
            columns.append([names.setdefault(name, len(names)) for name in line.features])
            rows.append(np.array(list(line.features.values())))
    indptr = np.cumsum([0, *map(len, columns)])
    flat = np.concatenate([np.array(part, np.int64) for part in columns])
    width = max(model.width, len(names), int(flat.max(initial=0)) + 1)
    X: Any = csr_array((np.concatenate(rows), flat, indptr), shape=(len(told), width))
    X.sort_indices()
    return X, tuple(names) if names else model.feature_names


def _check_naming(model: Model, line: AnswerLine) -> None:
    """Names and numbers of features must not be mixed: they would meet in the wrong columns."""
    if line.features and model.feature_names is None and model.width:
        raise InputError(f"Line {line.number} names its features, but the model numbers them. Use indices and values.")
    if line.indices and model.feature_names is not None:
        raise InputError(f"Line {line.number} numbers its features, but the model names them. Use features.")
