"""Questions as a value: what they say about themselves, in numbers and in words."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface import Audits, Coal, CoalClassifier
from coalface.errors import InputError
from coalface.rounds.queries import REASONS

from ..problems import trained


@given(st.integers(0, 10**6))
def test_the_counts_are_those_of_the_mask(seed):
    learner, X = trained(seed, 5)
    queries = learner.ask(X)
    assert len(queries) == len(X)
    assert queries.costs_asked == queries.mask.sum()
    assert queries.examples_asked == sum(row.any() for row in queries.mask)
    assert str(queries) == (
        f"{queries.costs_asked} of {5 * len(X)} costs asked for, on {queries.examples_asked} of {len(X)} examples"
    )
    for i in range(len(X)):
        assert queries.labels(i).tolist() == [label for label in range(5) if queries.mask[i, label]]


def test_a_frame_has_the_questions_row_by_row():
    pd = pytest.importorskip("pandas")
    learner, X = trained(3, 5)
    queries = learner.ask(X)
    frame = queries.to_frame()
    assert frame.columns.tolist() == ["example", "label", "asked", "predicted", "lowest", "highest", "reason"]
    assert isinstance(frame, pd.DataFrame)
    assert frame.shape[0] == queries.mask.size
    for i, label in ((0, 0), (len(X) - 1, 4), (7, 2)):
        (row,) = frame[(frame.example == i) & (frame.label == label)].to_dict("records")
        ranges = queries.ranges
        assert (row["asked"], row["predicted"]) == (queries.mask[i, label], queries.predicted[i, label])
        assert (row["lowest"], row["highest"]) == (ranges.lowest[i, label], ranges.highest[i, label])
        assert row["reason"] == queries.reasons[i, label]


def test_without_pandas_a_frame_is_refused_in_one_line(monkeypatch):
    queries = CoalClassifier(["a", "b"]).ask([[1.0]])
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match=r"^to_frame needs pandas, which is not installed. Run: pip install pandas$"):
        queries.to_frame()


def test_the_words_of_an_example_name_round_labels_and_reasons():
    learner = CoalClassifier(classes=["refund", "billing"], rule=Coal(warm_up=2))
    learner.tell([[1.0]], [[1.0, 0.0]])
    first, *lines = learner.ask([[1.0], [1.0]]).reason(0).splitlines()
    assert first == "round 2: asks for 2 of 2 costs"
    assert lines[0].split()[:2] == ["ask", "billing"]  # the least predicted cost comes first
    assert lines[1].split()[:2] == ["ask", "refund"]
    assert all(line.endswith("warm-up") for line in lines)
    assert "range 0.000 to " in lines[0]


def test_every_code_has_words():
    codes = np.arange(len(REASONS), dtype=np.int8)[None]
    learner = CoalClassifier(classes=range(len(REASONS)))
    queries = learner.ask([[1.0]])
    relabelled = replace(queries, reason_codes=codes)
    assert relabelled.reasons[0].tolist() == [REASONS[code] for code in range(len(REASONS))]


def test_questions_cannot_be_changed_under_the_reader():
    queries = CoalClassifier(classes=["a"]).ask([[1.0]])
    with pytest.raises(AttributeError):
        queries.mask = None


def test_a_limit_says_what_it_dropped_and_leaves_the_rest_alone():
    learner = CoalClassifier(classes=["a", "b", "c"], rule=Coal(alike=None))
    everything, limited = learner.ask([[1.0]] * 2), learner.ask([[1.0]] * 2, max_costs=4)
    assert limited.mask.tolist() == [[True, True, True], [True, False, False]]  # the earlier ones among equals
    assert limited.reasons[1].tolist() == ["warm-up", "over max_costs", "over max_costs"]
    assert everything.mask.all()
    assert learner.ask([[1.0]] * 2, max_costs=0).costs_asked == 0
    assert learner.ask([[1.0]] * 2, max_costs=6).costs_asked == 6
    assert np.all(limited.propensity[~limited.mask] == 0)


def test_a_limit_drops_no_audit_so_that_its_chance_stays_true():
    learner, X = trained(1, 4, audits=Audits(0.9), mellowness=0.01)
    queries = learner.ask(X)
    audits = int(queries.audit.sum())
    assert 0 < audits < queries.costs_asked
    np.testing.assert_array_equal(queries.limited_to(audits).audit, queries.audit)
