"""What is compared: the numbers of a learner or a project as plain values, floats as their exact bits.

``write_files.py`` took these facts from live objects of version 0.1.0; the tests take them from the files.
"""

import dataclasses
import json
import warnings

import numpy as np
import pandas as pd
from scipy import sparse

LABELS = ["billing", "delivery", "other", "refund"]
WORDS = ["parcel", "late", "refund", "money", "where", "hello", "card", "bank"]
SENTENCES = [["The", "cat", "sleeps"], ["A", "dog"], ["Ada", "sleeps"], ["The", "dog", "sees", "Ada"]] * 8
TAGS = [["D", "N", "V"], ["D", "N"], ["N", "V"], ["D", "N", "V", "N"]] * 8
NEW_SENTENCES = [["The", "Ada", "sees", "A", "cat"], ["dog"], ["A", "cat", "sleeps"]]
HISTORY_COLUMNS = 1 << 30  # where a policy for tags keeps the weights of the last tags
NOW = 5000.0  # the time at which a project is looked at


def numbers(n, width, step=389):
    """A matrix in [0, 1) that no random generator is needed for."""
    place = np.arange(1, n * width + 1)
    return ((place * place * step + place * 521) % 997 / 997).reshape(n, width)


def examples(n):
    """Rows of five features and costs of four labels; the largest feature says which label costs least."""
    X = numbers(n, 5)
    return X, np.round(np.clip(1.0 - X[:, :4] + 0.2 * numbers(n, 4, 733), 0.0, 1.0), 4)


def points(n, n_points=4):
    """Rows for a finite class: the last feature is a point of its table."""
    return (np.arange(n) % n_points).astype(float)[:, None], examples(n)[1][:, :3]


def given_to(learner, X):
    """Rows as this learner wants them: a data frame where its features have names."""
    names = getattr(learner, "feature_names_in_", None)
    return X if names is None else pd.DataFrame(X, columns=list(names))


def bits(value):
    """Plain values for JSON; floats as hexadecimal texts, so that equal means equal to the bit."""
    if dataclasses.is_dataclass(value):
        return bits(dataclasses.astuple(value))
    if isinstance(value, dict):
        return {str(key): bits(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [bits(one) for one in value]
    if isinstance(value, np.ndarray | np.generic):
        return bits(value.tolist())
    return value.hex() if isinstance(value, float) else value


def of_learner(learner, X):
    """What a learner knows, asks and predicts."""
    rows = given_to(learner, X)
    queries, ranges = learner.ask(rows), learner.cost_range(rows)
    return bits(
        {
            "classes": learner.classes_,
            "counts": [learner.round_, learner.examples_queried_, learner.costs_queried_, learner.spent_],
            "names": list(getattr(learner, "feature_names_in_", [])),
            "predict": learner.predict(rows),
            "predict_cost": learner.predict_cost(rows),
            "ranges": [ranges.lowest, ranges.highest],
            "asked": [queries.mask, queries.next, queries.reason_codes, queries.propensity],
            "saving": learner.saving_,
        }
    )


def interviewed(learner, X, cost):
    """Teach a learner row by row only what it asks for; where it knows the costs of errors, some labels, too."""
    for i in range(len(X)):
        row = given_to(learner, X[i : i + 1])
        queries = learner.ask(row)
        learner.tell(row, np.where(queries.mask, cost[i : i + 1], np.nan), asked=queries)
    if learner.cost_matrix is not None:
        learner.partial_fit(X[:5], learner.classes_[cost[:5].argmin(axis=1)])
    return learner


def of_policy(policy):
    """What the policy of a tagger or a search learner expects of each of the last tags."""
    columns = HISTORY_COLUMNS + np.arange(20)
    X = sparse.csr_array((np.ones(20), columns, np.arange(21)), shape=(20, HISTORY_COLUMNS + 20))
    return bits({"counts": [policy.round_, policy.costs_queried_], "predict_cost": policy.predict_cost(X)})


def of_tagger(tagger):
    """Tags for new sentences, and the policy."""
    counts = [tagger.sentences_, tagger.rollouts_]
    return {"tags": tagger.predict(NEW_SENTENCES), "counts": counts, "policy": of_policy(tagger.policy_)}


def of_search(learner):
    """Outputs for new sentences, and the policy."""
    outputs = [list(tags) for tags in learner.predict(NEW_SENTENCES)]
    return {"tags": outputs, "counts": [learner.episodes_, learner.rollouts_], "policy": of_policy(learner.policy_)}


def of_project(desk, annotators):
    """The log, the counts, the open questions and the model of a project."""
    desk.settle()
    events = [event for event in desk.events(limit=10_000) if event.kind != "snapshot"]
    pool = [{"id": desk.project.pool.example_id(place)} for place in range(8)]
    raw = desk.state.model.learner.predict_cost(desk.project.pool.rows(np.arange(8))).tolist()
    predicted = [
        {**shown, "costs": dict(zip(desk.project.labels, costs, strict=True))}  # before they are clipped to be shown
        for shown, costs in zip(desk.predict(pool), raw, strict=True)
    ]
    return bits(
        {
            "labels": [desk.project.labels, list(desk.project.cost_bounds), desk.project.true_label],
            "events": events,
            "overview": _overview_as_in_0_1(desk.overview()),
            "progress": [desk.progress(name) for name in annotators],
            "held": [[_as_in_0_1(question) for question in desk.held(name)] for name in annotators],
            "predictions": predicted,
        }
    )


_NEW_IN_ROWS = {"judge", "alpha", "gate", "held_back", "costs_per_hour", "price", "spent"}
_NEW_IN_OVERVIEW = {"expected", "passed", "sampled", "finished", "progressive", "spending", "pace", "advice"}
_COUNTED_OTHERWISE = ("decided", "passive_costs")  # version 0.1 counted questions that were queued and never asked
_NEW_IN_QUESTIONS = ("true_label", "later")


def _overview_as_in_0_1(overview):
    """The overview without what it has only since then."""
    rows, labels = (
        [[value for name, value in vars(row).items() if name not in _NEW_IN_ROWS] for row in found]
        for found in (overview.annotators, overview.labels)
    )
    kept = {name: value for name, value in vars(overview).items() if name not in _NEW_IN_OVERVIEW}
    return [*{**kept, "annotators": rows, "labels": labels, **dict.fromkeys(_COUNTED_OTHERWISE)}.values()]


def _as_in_0_1(question):
    """The parts of a question without what it has only since then; leases that are too long end earlier now."""
    kept = {name: value for name, value in vars(question).items() if name not in _NEW_IN_QUESTIONS}
    return [*{**kept, "expires_at": None}.values()]


def project_of_0_1(expected):
    """What version 0.1 said of a project, without the numbers that are counted in another way since then."""
    overview, held = expected["overview"], expected["held"]
    return {
        **expected,
        "overview": [*overview[:2], None, None, *overview[4:]],
        "held": [[[*question[:6], None, *question[7:]] for question in questions] for questions in held],
    }


def of_dataset(dataset):
    """The rows, costs and names of a dataset."""
    X = dataset.X.tocsr()
    return bits(
        {
            "X": [X.shape, X.indptr, X.indices, X.data],
            "cost": dataset.cost,
            "classes": dataset.classes,
            "names": list(dataset.feature_names or []),
            "candidates": [] if dataset.candidates is None else dataset.candidates,
            "fingerprint": dataset.fingerprint,
        }
    )


_NAMES_OF_0_1 = {"checkpoints": "budgets"}
_NOT_IN_0_1 = {"seconds", "asked_at_doublings"}  # how long a run took is never the same


def of_results(lines):
    """The finished cells of a sweep's journal without how long they took, by line, settings and permutation."""
    found = {}
    for line in lines:
        if "curve" in line:
            same = {name: value for name, value in line["curve"].items() if name not in _NOT_IN_0_1}
            curve = {_NAMES_OF_0_1.get(name, name): value for name, value in same.items()}
            found[f"{line['data']}, {line['line']}, {line['settings']}, {line['permutation']}"] = bits(curve)
    return found


def json_lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def quiet():
    """No warnings about a learner that has gone silent: these learners are tiny."""
    return warnings.catch_warnings(action="ignore")
