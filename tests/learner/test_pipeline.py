"""Ask and tell through the transformers of a scikit-learn pipeline."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from coalface import ActivePipeline, CoalClassifier
from coalface.errors import InputError

from ..problems import state_of

LABELS = ["bank", "post"]
WORDS = {"bank": ["money", "card"], "post": ["parcel", "letter"]}


def tickets(n=60):
    rng = np.random.default_rng(0)
    teams = [LABELS[k] for k in rng.integers(2, size=n)]
    table = pd.DataFrame(
        {
            "text": [f"my {rng.choice(WORDS[team])} is late" for team in teams],
            "channel": rng.choice(["mail", "phone"], n),
            "days": rng.integers(1, 9, n) * 1.0,
        }
    )
    return table, np.array([[float(team != label) for label in LABELS] for team in teams])


def columns():
    return ColumnTransformer(
        [
            ("text", TfidfVectorizer(), "text"),
            ("channel", OneHotEncoder(handle_unknown="ignore"), ["channel"]),
            ("days", StandardScaler(), ["days"]),
        ]
    )


class TableVectorizer(TransformerMixin, BaseEstimator):
    """Like those of skrub: a data frame in, a data frame out; its state has no trailing underscore."""

    def fit(self, X, y=None):  # noqa: ARG002
        self.words = sorted({word for text in X["text"] for word in text.split()})
        self.fits = getattr(self, "fits", 0) + 1
        return self

    def transform(self, X):
        return pd.DataFrame(
            {f"text_{word}": [float(word in text.split()) for text in X["text"]] for word in self.words}, index=X.index
        )


@pytest.mark.parametrize("transformer", [columns, TableVectorizer], ids=["ColumnTransformer", "like skrub"])
def test_the_loop_is_that_of_the_learner_on_transformed_examples(transformer):
    X, cost = tickets()
    pipeline = ActivePipeline([("columns", transformer()), ("learner", CoalClassifier(LABELS, random_state=0))])
    fitted, learner = transformer().fit(X[:20]), CoalClassifier(LABELS, random_state=0)
    for start in range(0, 60, 20):
        block, answers = X[start : start + 20], cost[start : start + 20]
        queries, expected = pipeline.ask(block), learner.ask(fitted.transform(block))
        np.testing.assert_array_equal(queries.mask, expected.mask)
        pipeline.tell(block, np.where(queries.mask, answers, np.nan), queries)
        learner.tell(fitted.transform(block), np.where(expected.mask, answers, np.nan), expected)
    np.testing.assert_equal(state_of(pipeline.learner), state_of(learner))
    np.testing.assert_array_equal(pipeline.predict(X), learner.predict(fitted.transform(X)))
    np.testing.assert_array_equal(pipeline.predict_cost(X), learner.predict_cost(fitted.transform(X)))
    np.testing.assert_array_equal(pipeline.cost_range(X).lowest, learner.cost_range(fitted.transform(X)).lowest)
    assert getattr(pipeline["columns"], "fits", 1) == 1


def test_an_interview_asks_about_the_rows_as_they_are_given():
    X, cost = tickets()
    pipeline = ActivePipeline([("columns", columns()), ("learner", CoalClassifier(LABELS))])
    pipeline.interview(X, lambda i, label: cost[i, LABELS.index(label)])
    assert (pipeline.predict(X) == np.array(LABELS)[cost.argmin(axis=1)]).mean() > 0.9


def test_transformers_fitted_to_the_pool_are_kept():
    X, _ = tickets()
    pipeline = ActivePipeline(
        [("columns", columns()), ("same", FunctionTransformer()), ("learner", CoalClassifier(LABELS))]
    )
    pipeline[:-1].fit(X)
    pipeline.ask(X[:1])
    assert pipeline["columns"].named_transformers_["days"].n_samples_seen_ == 60


def test_fit_also_fits_the_transformers_and_later_answers_keep_them():
    X, cost = tickets()
    pipeline = ActivePipeline([("columns", TableVectorizer()), ("learner", CoalClassifier(LABELS))])
    pipeline.fit(X, cost=cost).tell(X[:1], cost[:1])
    assert (pipeline["columns"].fits, pipeline.learner.round_) == (1, 62)
    assert clone(pipeline).ask(X[:2]).mask.shape == (2, 2)


def test_new_transformers_are_refused_beside_a_learner_that_has_learned(tmp_path):
    X, cost = tickets()
    pipeline = ActivePipeline([("columns", columns()), ("learner", CoalClassifier(LABELS))]).tell(X, cost)
    pipeline.learner.save(tmp_path / "tickets.coalface")
    again = ActivePipeline([("columns", columns()), ("learner", CoalClassifier.load(tmp_path / "tickets.coalface"))])
    with pytest.raises(InputError, match=r"must be fitted as they were when the learner learned 60 examples"):
        again.tell(X[:2], cost[:2])
    again[:-1].fit(X)
    np.testing.assert_array_equal(again.predict_cost(X), pipeline.predict_cost(X))


def test_a_pipeline_without_a_learner_or_without_examples_says_so():
    with pytest.raises(InputError, match=r"must be a learner such as CoalClassifier, got LogisticRegression\(\)"):
        ActivePipeline([("scale", StandardScaler()), ("model", LogisticRegression())]).ask([[1.0]])
    with pytest.raises(NotFittedError):
        ActivePipeline([("scale", StandardScaler()), ("learner", CoalClassifier(LABELS))]).predict_cost([[1.0]])
