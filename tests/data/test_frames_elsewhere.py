"""Lazy frames and datasets of other libraries are read, or one line says what to pass instead."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest

from coalface import CoalClassifier, Encoder, OnlineModel, read_dataset
from coalface.errors import InputError

TEXTS = ["my parcel is late", "my money is gone", "where is my parcel", "refund my money"] * 5
TEAMS = ["post", "bank", "post", "bank"] * 5
TABLE = pa.table({"text": TEXTS})


class Column(Sequence):
    """A column of a dataset, as of datasets 4."""

    def __init__(self, values):
        self._values = values

    def __len__(self):
        return len(self._values)

    def __getitem__(self, key):
        return self._values[key]


class Dataset:
    """A dataset, which gives its rows as a table of Arrow."""

    def with_format(self, form):
        assert form == "arrow"
        return self

    def __getitem__(self, key):
        assert key == slice(None)
        return TABLE


class DatasetDict(dict):
    """Parts of a dataset."""


class LazyFrame:
    """A query of Polars."""

    def collect(self):
        return TABLE


for kind in (Column, Dataset, DatasetDict):
    kind.__module__ = "datasets.arrow_dataset"


def learned(X, y):
    learner = CoalClassifier(model=OnlineModel()).fit(X, y)
    assert learner.classes_.tolist() == ["bank", "post"]
    return learner.predict_cost(X)


@pytest.mark.parametrize("y", [TEAMS, Column(TEAMS)])
@pytest.mark.parametrize("X", [Column(TEXTS), Dataset(), LazyFrame()])
def test_what_another_library_keeps_elsewhere_is_learned_as_if_it_were_here(X, y):
    np.testing.assert_array_equal(learned(X, y), learned(TEXTS if isinstance(X, Column) else TABLE, TEAMS))


def test_an_encoder_reads_it_too():
    encoder = Encoder().fit(Column(TEXTS))
    assert (encoder.transform(Column(TEXTS)) != Encoder().fit(TEXTS).transform(TEXTS)).nnz == 0


def test_parts_of_a_dataset_are_one_line_with_the_remedy():
    with pytest.raises(InputError, match=r"got DatasetDict. Pass one part, such as X\['train'\]"):
        learned(DatasetDict(train=Dataset()), TEAMS)


@pytest.mark.parametrize(
    ("name", "file", "remedy"),
    [
        ("tickets", "state.json", "datasets.load_from_disk('tickets').to_parquet('tickets.parquet')"),
        ("tickets", "dataset_dict.json", "datasets.load_from_disk('tickets')['train'].to_parquet('tickets.parquet')"),
        ("data-00000.arrow", None, "datasets.Dataset.from_file('data-00000.arrow').to_parquet('data-00000.parquet')"),
    ],
)
def test_what_a_dataset_wrote_is_one_line_with_the_remedy(tmp_path, name, file, remedy):
    if file is None:
        (tmp_path / name).touch()
    else:
        (tmp_path / name).mkdir()
        (tmp_path / name / file).write_text("{}")
    with pytest.raises(InputError) as caught:
        read_dataset(tmp_path / name, label="team")
    assert str(caught.value).endswith(f"is a dataset of Hugging Face. Write it as Parquet: {remedy}.")
