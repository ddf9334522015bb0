"""Examples to be predicted are checked as those of the pool are."""

import numpy as np
import pytest

from coalface.errors import InputError
from coalface.service.desk.overview import rows_of
from coalface.service.project.project import Project

LABELS = ["cat", "dog"]


@pytest.fixture(scope="module")
def projects(tmp_path_factory):
    folder = tmp_path_factory.mktemp("projects")
    texts = [{"id": "a", "text": "one two"}, {"id": "b", "text": "three"}]
    tables = [{"id": "a", "size": 3}, {"id": "b", "size": 4}]
    return {
        "text": Project.create(folder / "text", texts, LABELS),
        "table": Project.create(folder / "table", tables, LABELS),
        "vectors": Project.create(folder / "vectors", texts, LABELS, features=np.eye(2)),
    }


@pytest.mark.parametrize(
    ("kind", "example"),
    [
        ("text", {"text": "half \ud83d"}),
        ("text", {"id": "half \ud83d"}),
        ("text", {"text": "x", "size": 10**400}),
        ("table", {"size": 10**400}),
        ("table", {"size": -(10**400)}),
        ("table", {"size": 1e300}),
        ("table", {"half \ud83d": 1}),
        ("table", {"size": ["half \ud83d"], "name": "half \ud83d"}),
        ("vectors", {"features": [10**400, 1]}),
        ("vectors", {"features": [1e300, 1]}),
        ("vectors", {"features": ["half \ud83d", 1]}),
        ("vectors", {"features": [1]}),
    ],
    ids=ascii,
)
def test_what_cannot_be_a_row_is_refused_in_one_line(projects, kind, example):
    with pytest.raises(InputError) as caught:
        rows_of(projects[kind], [example])
    assert "\n" not in str(caught.value)
    str(caught.value).encode()
