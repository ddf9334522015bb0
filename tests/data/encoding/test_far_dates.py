"""Dates at both ends of the calendar have finite features, and those beyond it are refused."""

from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest

from coalface import CoalClassifier, Encoder, read_dataset
from coalface.errors import CoalfaceError, InputError

EAST, WEST = timezone(timedelta(hours=14)), timezone(timedelta(hours=-12))
ENDS = {
    "texts": ["0001-01-01", "9999-12-31", "NaT"],
    "times with zones": ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00", None],
    "dates": [date.min, date.max, None],
    "moments": [datetime.min.replace(tzinfo=EAST), datetime.max.replace(tzinfo=WEST), datetime.now(UTC)],
    "seconds": list(np.array(["0001-01-01", "9999-12-31", "NaT"], "datetime64[s]")),
    "days": list(np.array(["0001-01-01", "9999-12-31", "NaT"], "datetime64[D]")),
}


@pytest.mark.parametrize("kind", ENDS)
def test_the_ends_of_the_calendar_are_dates(kind):
    rows = [{"day": day, "size": 1.0} for day in ENDS[kind]]
    encoder = Encoder().fit(rows)
    assert encoder.describe().startswith("day   date")
    assert np.isfinite(encoder.transform(rows).toarray()).all()
    near = Encoder().fit([{"day": "2026-03-02", "size": 1.0}, {"day": "2026-03-03", "size": 2.0}])
    assert np.isfinite(near.transform(rows).toarray()).all()


def test_columns_of_pandas_and_arrays_reach_the_ends():
    pandas = pytest.importorskip("pandas")
    ends = np.array(["0001-01-01", "9999-12-31", "NaT"], "datetime64[s]")
    frame = pandas.DataFrame({"day": ends, "size": [1.0, 2.0, 3.0]})
    learner = CoalClassifier(["a", "b"]).tell(frame, [[0.0, 1.0]] * 3)
    assert np.isfinite(learner.predict_cost(frame)).all()
    assert np.isfinite(Encoder().fit_transform(ends[:, None]).toarray()).all()


BEYOND = np.array(["-0044-03-15", "12026-01-01", "2026-01-01"], "datetime64[s]")


def test_years_beyond_the_calendar_are_refused():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"day": BEYOND, "size": [1.0, 2.0, 3.0]})
    message = r"years 1 to 9999, got '?-0?044-03-15"
    for examples in (frame, BEYOND[:, None], [{"day": day, "size": 1.0} for day in BEYOND]):
        with pytest.raises(InputError, match=message):
            Encoder().fit(examples)


def test_dates_of_arrow_beyond_the_calendar_are_refused(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = arrow.table({"day": arrow.array([10**15, 1], arrow.timestamp("ms")), "team": ["a", "b"]})
    parquet.write_table(table, tmp_path / "days.parquet")
    for call in (lambda: Encoder().fit(table), lambda: read_dataset(tmp_path / "days.parquet", label="team")):
        with pytest.raises(CoalfaceError, match="years 1 to 9999"):
            call()
