"""Later calls may add columns that are sparse or have names, never remove or rename them."""

from types import SimpleNamespace

import numpy as np
import pytest

from coalface.data.rows import check_feature_names, check_rows, check_width
from coalface.errors import InputError

pandas = pytest.importorskip("pandas")


def frame(*names):
    return pandas.DataFrame(np.ones((1, len(names))), columns=list(names))


def seen(*names):
    return SimpleNamespace(n_features_in_=len(names), feature_names_in_=np.array(names, object))


def test_more_columns_are_accepted_if_rows_may_grow_and_fewer_refused():
    estimator = SimpleNamespace(n_features_in_=3)
    check_width(check_rows(np.ones((1, 3))), estimator)
    check_width(check_rows(np.ones((1, 9))), estimator)
    with pytest.raises(InputError, match=r"X has 2 features.*expecting 3.*never fewer"):
        check_width(check_rows(np.ones((1, 2))), estimator)
    with pytest.raises(InputError, match=r"X has 9 features.*expecting 3.*only sparse or named columns may be new"):
        check_width(check_rows(np.ones((1, 9))), estimator, grows=False)
    check_width(check_rows(np.ones((1, 1))), SimpleNamespace())


def test_new_column_names_are_added_after_the_known_ones():
    assert list(check_feature_names(SimpleNamespace(), frame("a", "b"))) == ["a", "b"]
    assert check_feature_names(seen("a", "b"), frame("a", "b")) is None
    assert list(check_feature_names(seen("a", "b"), frame("a", "b", "c"))) == ["a", "b", "c"]


@pytest.mark.parametrize("names", [("b", "a"), ("a", "c"), ("b", "a", "c"), ("c", "a", "b")])
def test_other_names_are_refused(names):
    with pytest.raises(ValueError, match="feature names"):
        check_feature_names(seen("a", "b"), frame(*names))


def test_missing_or_unexpected_names_are_a_warning():
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        check_feature_names(seen("a", "b"), np.ones((1, 2)))
    with pytest.warns(UserWarning, match="fitted without feature names"):
        assert check_feature_names(SimpleNamespace(n_features_in_=2), frame("a", "b")) is None


def test_columns_without_text_for_names_have_none():
    assert check_feature_names(SimpleNamespace(), pandas.DataFrame(np.ones((1, 2)))) is None
    assert check_feature_names(SimpleNamespace(), np.ones((1, 2))) is None
