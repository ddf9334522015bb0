"""What a learner is told: answers are checked, written to the ledger, then learned."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import CostScale, check_cost, check_mask
from coalface.data.frames import by_label, by_row
from coalface.data.labels import label_texts
from coalface.data.numbers import AUTO
from coalface.data.rows import Rows, check_width
from coalface.data.targets import (
    TOLERANCE,
    UNKNOWN,
    costs_by_truth,
    require_target,
    truth_codes,
    with_costs_of,
)
from coalface.errors import InputError, UnknownLabelError
from coalface.files.interrupts import interrupts_put_off
from coalface.kernels.state import AUDIT, NO_ROUNDS, ROUND, SILENT_ROUNDS, UNCERTAIN, RoundArrays
from coalface.learner.account import plain_budget
from coalface.learner.inputs import keep_inputs
from coalface.learner.intake import (
    STEPS,
    Examples,
    keep_features,
    read_examples,
    row_weights,
    rows_by_weight,
    unit_offsets,
    visiting_order,
)
from coalface.learner.monitor import LEAST_SILENCE, warn_if_collapsed, warn_of_long_run
from coalface.learner.parameters import flat
from coalface.learner.predicting import costs_given
from coalface.learner.state import (
    LEARNED_WITH,
    LearnerState,
    begin,
    begin_with,
    first_settings,
    new_model,
    own_seed,
    ready,
    resolve_classes,
    scale_of,
    settings_of,
)
from coalface.learner.widening import Told, keep, outlook_on, scale_with, teach, widen
from coalface.models.choice import model_of
from coalface.rounds.arrays import AnswerArrays, ServedLabels, answer_arrays, rounds_from_arrays, rows_of_rounds
from coalface.rounds.ledger import Ledger, Recorder
from coalface.rounds.queries import Queries
from coalface.rounds.round import Round


@dataclass(frozen=True)
class Answers:
    """What was answered about some examples, as it was given."""

    cost: Any  # (n, K), NaN where unknown
    asked: Any = None  # what ``ask`` returned, or a mask; None: the known costs
    truth: Any = None  # the true labels; once they are checked, their columns
    offset: Any = None
    recorded: AnswerArrays | None = None  # where a ledger has them
    served: ServedLabels | None = None
    late: bool = False
    scale: CostScale | None = None  # to learn them on; None: with bounds "auto" as the answers demand


def tell(learner: LearnerState, X: Any, given: Answers, candidates: Any = None) -> None:
    """Learn the known costs and close a round per row: see ``CoalClassifier.tell``."""
    if "model_" not in vars(learner):
        begin(learner)
    examples, codes = read_examples(learner, X, candidates), None
    cost, asked, offset = given.cost, given.asked, given.offset
    if isinstance(asked, Queries):
        _refuse_strange(learner, asked, examples.rows, late=given.late)
        cost, asked = asked.with_later_labels(learner.classes_, cost)
        offset = asked.offset if offset is None else offset
    if given.truth is not None:
        codes = truth_codes(by_row(given.truth, examples.X, "truth"), examples.n_rows, learner.classes_)
        told = by_label(by_row(cost, examples.X, "cost"), learner.classes_, "cost")
        cost = with_costs_of(codes, truth_costs(learner), told)
    elif cost is None:
        raise InputError("cost must have two dimensions (examples, labels), got None. Pass it, or truth=labels.")
    known = learn(learner, examples, learner.classes_, Answers(cost, asked, codes, offset, late=given.late))
    if len(known) > 1 and not given.late:
        warn_of_long_run(learner, known)
    if learner.model_.state.counters[SILENT_ROUNDS] >= LEAST_SILENCE:
        warn_if_collapsed(learner)


def learn_all(
    learner: LearnerState,
    X: Any,
    y: Any,
    cost: Any,
    classes: Any = None,
    candidates: Any = None,
    sample_weight: Any = None,
    *,
    fitting: bool = False,
) -> None:
    """Learn all the given costs: see ``CoalClassifier.partial_fit``, or ``fit`` for the weights and order of rows."""
    require_target(y, cost)
    examples, labels, costs = examples_to_learn(learner, X, y, cost, classes, candidates)
    carried, numbers = learner._carried, np.arange(examples.n_rows)
    if sample_weight is not None:
        start = int(np.random.default_rng(own_seed(learner)).integers(STEPS)) if carried is None else carried
        numbers, carried = rows_by_weight(row_weights(sample_weight, examples), start, scaled=fitting)
    if fitting:
        numbers = numbers[visiting_order(learner, len(numbers))]
    if fitting or sample_weight is not None:
        check_cost(costs, examples.n_rows, labels, scale_of(learner))
        examples, costs = examples.taken(numbers), costs[numbers]
    known = learn(learner, examples, labels, Answers(costs))
    if sample_weight is None:  # which repeats rows
        warn_of_long_run(learner, known)
    learner._carried = carried
    learner._learned_costs = learner._learned_costs or cost is not None
    warn_if_collapsed(learner)


def examples_to_learn(
    learner: LearnerState, X: Any, y: Any, cost: Any, classes: Any, candidates: Any
) -> tuple[Examples, NDArray[Any], NDArray[Any]]:
    """The examples, the labels, and the costs (n, K) that ``y`` or ``cost`` gives; one of them must be known."""
    early = None if candidates is None else resolve_classes(learner, classes, cost)  # a mask needs the labels
    examples = read_examples(learner, X, candidates, early, allow_empty=False)
    cost, y = by_row(cost, examples.X, "cost"), by_row(y, examples.X, "y")
    labels = resolve_classes(learner, classes, cost)
    costs = costs_given(learner, examples.n_rows, labels, y, cost)
    if costs.size and np.isnan(costs).all():
        raise InputError("cost must have a known cost to learn from, got only NaN. Pass y or costs, or use ask.")
    return examples, labels, costs


def learn(learner: LearnerState, examples: Examples, labels: NDArray[Any], answers: Answers) -> NDArray[np.float32]:
    """Check the answers, write them to the ledger, then learn them; a failed check changes nothing.

    Returns the known costs (n, K), scaled to [0, 1].
    """
    rows, n_rows, truth, served = examples.rows, examples.rows.n_rows, answers.truth, answers.served
    begun, recorder, late, cost = "model_" in vars(learner), learner._recorder, answers.late, answers.cost
    settings = settings_of(ready(learner)) if begun else first_settings(learner, labels)
    if hasattr(cost, "columns"):
        cost = by_label(by_row(cost, examples.X, "cost"), labels, "cost")
    scale = answers.scale or CostScale.of(learner.cost_bounds, learner._bounds)
    if scale.open and answers.scale is None:
        scale = scale_with(learner, cost, n_rows, labels, examples.candidates)
    unit = check_cost(cost, n_rows, labels, scale)
    offsets = None if answers.offset is None else unit_offsets(learner, examples, labels, answers.offset, scale)
    rounds = _rounds_told(unit, labels, examples, answers, offsets, scale)
    model = learner.model_ if begun else new_model(learner, labels)
    model.check(rows)
    if not begun:
        begin_with(learner, labels, model)
        model = learner.model_
    with model.lock if recorder is None and not scale.open else interrupts_put_off(), model.lock:
        if scale.open:
            widen(learner, scale)
            settings = settings_of(learner)
        if recorder is not None:
            given, names = scale.as_paid(cost), examples.names
            encoder = recorder.encoder_of(examples.encoder or getattr(learner, "encoder_", None))
            first, texts, span = int(model.state.counters[ROUND]), recorder.texts, scale.span
            kept = rounds_from_arrays(
                first, texts, rows, given, rounds, names, late, truth=truth, encoder=encoder, span=span, served=served
            )
            recorder.write(kept, all_params(learner), plain_budget(learner))
        keep_features(learner, examples)
        keep_inputs(learner, rows, rounds)
        try:
            if served is None:
                model.tell(rows, settings, rounds, late=late)
            else:
                teach(model, rows, settings, rounds, served=served)
            if scale.open:
                keep(learner, Told(rows, scale.as_paid(cost), rounds, settings, scale, late, served))
        except BaseException:
            if recorder is not None:
                recorder.incomplete = True
            raise
    return unit


def all_params(learner: LearnerState) -> dict[str, Any]:
    """The parameters, and those of their parts by path."""
    return {**vars(learner), **flat(vars(learner), getattr(learner, "model_", None))}


def new_recorder(learner: LearnerState, ledger: Ledger, *, has_encoder: bool | None = None) -> Recorder:
    """A recorder for the labels and the budget as they are; ``has_encoder`` is whether the ledger has it."""
    texts = label_texts(learner.classes_)
    paths = [path for path in learned_with(learner) if path != "model"]  # the learner itself refuses another model
    recorder = Recorder(ledger, texts, paths, all_params(learner), plain_budget(learner))
    recorder.has_encoder = recorder.has_encoder if has_encoder is None else has_encoder
    return recorder


def learned_with(learner: LearnerState) -> tuple[str, ...]:
    """The paths of the parameters that decide how an answer is learned; the others decide what is asked."""
    return tuple(dict.fromkeys([*LEARNED_WITH, *model_of(learner.model).learned_with]))


def _rounds_told(
    unit: NDArray[np.float32],
    labels: NDArray[Any],
    examples: Examples,
    answers: Answers,
    offsets: NDArray[np.float32] | None,
    scale: CostScale,
) -> RoundArrays:
    """The arrays that models and ledgers read.

    Where the answers are not those to what ``ask`` returned, a row answered by its true label counts as one question.
    """
    parts: dict[str, Any] = {"costs": unit} | ({} if offsets is None else {"offsets": offsets})
    asked, recorded, truth = answers.asked, answers.recorded, answers.truth
    if isinstance(asked, Queries):
        parts |= {"reasons": asked.reason_codes, "propensity": asked.propensity, "truth": asked.truth}
        before = CostScale.of(AUTO, asked.bounds) if scale.open else scale
        parts |= {} if asked.outlook is None else {"outlook": outlook_on(scale, asked.outlook, before)}
        asked = asked.mask
    elif recorded is not None:
        parts |= {"outlook": recorded.outlook, "propensity": recorded.audits, "truth": recorded.asks_truth}
        parts["reasons"] = np.where(recorded.audits > 0, AUDIT, UNCERTAIN).astype(np.int8)
    if asked is None:
        asked = ~np.isnan(unit)
    elif recorded is None:
        asked = check_mask(by_row(asked, examples.X, "asked"), len(unit), labels, "asked")
    parts["asked"] = asked
    covered = parts["asked"]
    if examples.candidates is not None:
        parts["candidates"] = examples.candidates
        covered = covered | ~examples.candidates
    if truth is not None and "truth" not in parts:
        parts["truth"] = (truth != UNKNOWN) & covered.all(axis=1)
    return NO_ROUNDS._replace(**parts)


def _refuse_strange(learner: LearnerState, asked: Queries, rows: Rows, *, late: bool) -> None:
    """Refuse questions about other examples or, unless they are late, of rounds that are closed."""
    if asked.checksum is not None and len(asked) == len(rows) and asked.checksum != rows.checksum():
        raise InputError(
            "asked must be what ask returned for these examples, got questions about others. Pass the same X."
        )
    next_round = int(learner.model_.state.counters[ROUND])
    if asked.first_round < next_round and not late:
        raise InputError(
            f"asked must continue from round {next_round}, but its round {asked.first_round} was learned already. "
            "Pass late=True for second or late answers, or asked=queries.mask for new ones."
        )


# -- rounds, as ledgers, files and services record them -------------------------------------------


def tell_rounds(learner: LearnerState, rounds: Sequence[Round], X: Any = None) -> None:
    """Learn the answers of rounds, in order, as a ledger, a file or a service recorded them.

    ``X`` has the examples if the rounds do not. If all rounds are late, none is closed.

    >>> from coalface import CoalClassifier
    >>> asked = CoalClassifier(["walk", "fly"]).ask([[1.0, 0.0]]).round(0)
    >>> learner = CoalClassifier(["walk", "fly"])
    >>> tell_rounds(learner, [asked.with_answers({"walk": 0.2})], [[1.0, 0.0]])
    >>> learner.costs_queried_
    1
    """
    begin(learner)
    if not rounds:
        return
    if any(one.late != rounds[0].late for one in rounds):
        raise InputError("rounds must be all late or all not late, got both. Tell them in two calls.")
    if any((one.served is None) != (rounds[0].served is None) for one in rounds):
        raise InputError("rounds must be all served or all not served, got both. Tell them in two calls.")
    for one in rounds:
        _refuse_contradiction(learner, one)
    replay_rounds(learner, rounds, X)


def replay_rounds(
    learner: LearnerState, rounds: Sequence[Round], X: Any = None, scale: CostScale | None = None
) -> None:
    """Learn rounds that were told once and recorded: their costs stand, although ``cost_matrix`` may have changed.

    ``X`` has the examples if the rounds do not, also as checked rows. ``scale`` is that on which they were learned.

    >>> from coalface import CoalClassifier
    >>> learner = CoalClassifier(["walk", "fly"]).begin()
    >>> replay_rounds(learner, [Round(1, ask=("walk",), costs={"walk": 0.2})], [[1.0]])
    >>> learner.round_
    2
    """
    found = answer_arrays([_with_costs(learner, one) for one in rounds], learner.classes_.tolist())
    if X is None or isinstance(X, Rows):
        examples = Examples(None, rows_of_rounds(rounds) if X is None else X)
    else:
        examples = read_examples(learner, X)
    check_width(examples.rows, learner)
    if found.candidates is not None:
        labels = learner.classes_
        mask = check_mask(found.candidates, examples.n_rows, labels, "candidates")
        examples = Examples(examples.X, examples.rows, examples.encoder, examples.names, mask)
    truth = found.truth if rounds[0].served is None else None
    late, offset = rounds[0].late, found.offset
    answers = Answers(found.cost, found.asked, truth, offset, found, found.served, late, scale)
    learn(learner, examples, learner.classes_, answers)


def check_rounds(learner: LearnerState, rounds: Sequence[Round]) -> None:
    """Raise an InputError if a label or a cost of these rounds is not one of the learner's."""
    begin(learner)
    answers = answer_arrays(rounds, learner.classes_.tolist())
    check_cost(answers.cost, len(rounds), learner.classes_, scale_of(learner))


# -- true labels ----------------------------------------------------------------------------------


def truth_costs(learner: LearnerState) -> NDArray[np.float64]:
    """The costs of all labels by true label, (K, K); an InputError if the learner does not know them."""
    if learner.cost_matrix is None and learner.price_of_truth is None:
        raise InputError(
            "truth needs a learner that knows the costs of true labels, got one without them. Set cost_matrix=..., "
            "or price_of_truth=... for 0/1 costs."
        )
    return costs_by_truth(learner.cost_matrix, learner.classes_, scale_of(learner))


def _with_costs(learner: LearnerState, one: Round) -> Round:
    """The round with the costs that its true label gives, unless it has costs already."""
    if one.truth is None or one.costs:
        return one
    return one.with_truth(_costs_of_truth(learner, one.truth))


def _costs_of_truth(learner: LearnerState, label: str) -> dict[str, float]:
    """The cost of every label where this one is true."""
    texts = label_texts(learner.classes_)
    if label not in texts:
        raise UnknownLabelError(label, texts, addable=True)
    return dict(zip(texts, truth_costs(learner)[texts.index(label)].tolist(), strict=True))


def _refuse_contradiction(learner: LearnerState, one: Round) -> None:
    """Refuse a round whose costs are not those of its true label, if the learner knows these."""
    if one.truth is None or not one.costs or (learner.cost_matrix is None and learner.price_of_truth is None):
        return
    given, tolerance = _costs_of_truth(learner, one.truth), TOLERANCE * scale_of(learner).span
    for label, cost in one.costs.items():
        if cost is not None and label in given and abs(cost - given[label]) > tolerance:
            raise InputError(
                f"Round {one.number} has the true label {one.truth!r}, of which label {label!r} costs "
                f"{given[label]:g}, got the cost {cost:g}. Correct one of them, or leave the costs out."
            )
