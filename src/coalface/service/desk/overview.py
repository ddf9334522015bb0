"""The dashboard's numbers, and predictions; computing them changes nothing."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import vstack

from coalface.data.costs import CostScale
from coalface.data.dataset_fields import Examples, checked_examples
from coalface.data.frames import listed
from coalface.errors import InputError, shortened
from coalface.kernels.state import AUDIT
from coalface.learner.classifiers import CoalClassifier
from coalface.learner.forecasting import Interval
from coalface.rounds.queries import Queries
from coalface.service.desk.counters import Counters
from coalface.service.desk.messages import Estimate, Expected, LabelRow, Overview, Progress
from coalface.service.desk.model import LiveModel
from coalface.service.project.content_encoder import encoded
from coalface.service.project.features import featurize
from coalface.service.project.pool import Pool
from coalface.service.project.project import Project
from coalface.service.project.sources import content_of

_SAMPLE = 200  # undecided examples that represent the rest of the pool


def overview_of(project: Project, model: LiveModel, counters: Counters, progress: Progress) -> Overview:
    """The dashboard's numbers, from the counters and from the model's view of the next examples."""
    learner, pool = model.learner, project.pool
    rest = np.asarray(pool.order[counters.cursor : counters.cursor + _SAMPLE], np.int64)
    queries = learner.ask(pool.rows(rest), first_round=counters.cursor + 1) if len(rest) else None
    saving = learner.saving_
    return Overview(
        progress=progress,
        pool=len(pool),
        decided=counters.cursor,
        passive_costs=round(counters.cursor * project.overlap) * (1 if project.true_label else len(project.offered)),
        test_cost=counters.test_cost(),
        saving=None if saving is None else Estimate(saving.estimate, saving.low, saving.high, saving.rounds),
        contested=None if queries is None else _contested(queries),
        stopped=counters.stopped,
        rebuilding=model.rebuilding,
        problem=model.problem,
        model=learner.round_ - 1,
        annotators=counters.annotators(),
        labels=[_label_row(label, k, counters, queries) for k, label in enumerate(project.labels)],
        history=counters.history[:],
        expected=expected_spending(project, learner, progress),
    )


def expected_spending(project: Project, learner: CoalClassifier, progress: Progress) -> Expected | None:
    """A forecast for the rest of the pool, all annotators together; None if nothing of the pool is left.

    Questions that are open now count as asked about examples to come.
    """
    left = len(project.pool) - (learner.round_ - 1)
    if left <= 0:
        return None
    forecast, limits, times = learner.forecast(left), project.limits, project.overlap
    examples = forecast.examples.times(times)
    costs = examples if project.true_label else forecast.costs.times(times)
    for name, most in limits.budget.items():
        room = max(most - getattr(progress, name), 0.0)
        if name == "examples":
            examples = examples.at_most(room)
        if name == "costs":
            costs = costs.at_most(room)
    if not limits.has_prices:
        return Expected(examples, costs)
    pairs = zip(examples, costs, strict=True)
    price = Interval(*(limits.price_per_example * seen + limits.price_per_cost * paid for seen, paid in pairs))
    room = math.inf if limits.price is None else max(limits.price - progress.price, 0.0)
    return Expected(examples, costs, price.at_most(room))


def _contested(queries: Queries) -> Estimate:
    """The share of examples that the rule would ask about, without audits, with Wilson's interval."""
    asked = (queries.mask & (queries.reason_codes != AUDIT)).any(axis=1)
    n, share, z = len(asked), float(asked.mean()), 1.96
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5
    return Estimate(share, max(middle - half, 0.0), min(middle + half, 1.0), n)


def _label_row(label: str, k: int, counters: Counters, queries: Queries | None) -> LabelRow:
    count, total = counters.known.get(label, [0, 0.0])
    mean = total / count if count else None
    if queries is None:
        return LabelRow(label, counters.asked.get(label, 0), mean, 0.0, 0.0, 0.0, 0.0)
    lowest, highest = queries.ranges.lowest, queries.ranges.highest
    guaranteed = highest.min(axis=1)
    return LabelRow(
        label=label,
        asked=counters.asked.get(label, 0),
        mean_cost=mean,
        lowest=float(lowest[:, k].mean()),
        predicted=float(queries.shown_costs[:, k].mean()),
        highest=float(highest[:, k].mean()),
        contending=float((lowest[:, k] <= guaranteed).mean()),
    )


def predictions(
    project: Project, learner: CoalClassifier, examples: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """For each example the best label, and the predicted cost and range of each label that is not retired."""
    if not examples:
        return []
    X, scale = rows_of(project, examples), CostScale.of(project.cost_bounds)
    costs, ranges, best = scale.within(learner.predict_cost(X)), learner.cost_range(X), learner.best_labels(X).tolist()
    offered = [(k, label) for k, label in enumerate(project.labels) if label not in project.retired]
    return [
        {
            "label": best[i],
            "costs": {label: float(costs[i, k]) for k, label in offered},
            "ranges": {label: [float(ranges.lowest[i, k]), float(ranges.highest[i, k])] for k, label in offered},
        }
        for i in range(len(examples))
    ]


def rows_of(project: Project, examples: Sequence[Mapping[str, Any]]) -> Examples:
    """The features of examples: of the pool, given by "id" alone, or new ones as ``init`` reads them."""
    pool: Pool = project.pool
    of_pool = np.array([isinstance(example, Mapping) and set(example) == {"id"} for example in examples], np.bool_)
    ids = [str(example["id"]) for example, old in zip(examples, of_pool, strict=True) if old]
    known = pool.rows(np.array([pool.place(name) for name in ids], np.int64))
    if of_pool.all():
        return known
    others = [example for example, old in zip(examples, of_pool, strict=True) if not old]
    new = _given_rows(pool, others) if pool.given_vectors or pool.kind == "image" else _new_rows(pool, others)
    order = np.empty(len(examples), np.int64)
    order[of_pool], order[~of_pool] = np.arange(known.shape[0]), known.shape[0] + np.arange(new.shape[0])
    rows: Examples = vstack([known, new], format="csr")[order]
    return rows


def _given_rows(pool: Pool, examples: Sequence[Mapping[str, Any]]) -> Examples:
    """Examples that come with their features."""
    for example in examples:
        if not isinstance(example, Mapping) or not {"features"} <= set(example) <= {"id", "features"}:
            raise InputError(
                f'Each example must have "features", a list of numbers, or only an "id" of the pool, got '
                f"{shortened(example)}."
            )
    try:
        X = checked_examples([example["features"] for example in examples])
    except TypeError:
        raise InputError('"features" must be a list of numbers.') from None
    if X.shape[1] != pool.width:
        raise InputError(f'"features" must have {pool.width} numbers, got {X.shape[1]}.')
    return X


def _new_rows(pool: Pool, examples: Sequence[Mapping[str, Any]]) -> Examples:
    """Examples like those of the pool, made into features in the same way."""
    contents = [content_of(example, pool.columns)[1] for example in examples]
    fields = pool.fields
    for content in contents:
        unknown = [field for field in content.get("cells", {}) if fields is not None and field not in fields]
        if content["kind"] != pool.kind or unknown:
            have = [(*pool.columns.text, pool.kind)[0]] * (pool.kind != "table") + sorted(fields or ())
            raise InputError(
                f"An example must have the fields of the project's examples, {listed(have)}, got "
                f"{shortened({name: value for name, value in content.items() if name != 'kind'})}. Correct its keys."
            )
    return featurize(contents, pool.folder) if pool.encoder is None else encoded(pool.encoder, contents, pool.columns)
