"""Examples to be predicted are checked as those of the pool are."""

import numpy as np
import pytest

from coalface.desk.project.project import Project
from coalface.errors import InputError

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
        projects[kind].pool.rows_of([example])
    assert "\n" not in str(caught.value)
    str(caught.value).encode()


def test_ids_and_new_examples_may_be_mixed(projects):
    texts = projects["text"]
    new, known = {"text": "four two"}, {"id": "b"}
    mixed = texts.pool.rows_of([new, known, {"id": "a"}, {"id": "a", "text": "one two"}]).toarray()
    alone = [texts.pool.rows_of([example]).toarray()[0] for example in (new, known, {"id": "a"}, {"text": "one two"})]
    np.testing.assert_array_equal(mixed, alone)
    vectors = projects["vectors"].pool.rows_of([{"id": "b"}, {"features": [3.0, 4.0]}, {"id": "a"}]).toarray()
    np.testing.assert_array_equal(vectors, [[0, 1], [3, 4], [1, 0]])


@pytest.mark.parametrize(
    ("kind", "example", "words"),
    [
        ("text", {"txt": "one two"}, r"must have the fields of the project's examples, 'text', got .*'txt'"),
        ("text", {"text": "one", "size": 3}, "'size': 3"),
        ("text", {"html": "<b>one</b>"}, "must have the fields"),
        ("table", {"siez": 3}, "'size', got .*'siez': 3"),
        ("table", {"text": "big"}, "must have the fields"),
        ("vectors", {"feature": [1, 2]}, "Each example must have \"features\".* got {'feature'"),
        ("vectors", {"features": [1, 2], "text": "x"}, 'only an "id"'),
        ("vectors", [1, 2], "Each example must have"),
    ],
)
def test_unknown_keys_are_refused_also_beside_known_ids(projects, kind, example, words):
    for examples in ([example], [{"id": "a"}, example]):
        with pytest.raises(InputError, match=words):
            projects[kind].pool.rows_of(examples)
    with pytest.raises(InputError, match="There is no example 'zz'"):
        projects[kind].pool.rows_of([{"id": "a"}, {"id": "zz"}])


def test_examples_of_many_shapes_may_have_any_fields(tmp_path):
    mixed = Project.create(tmp_path / "mixed", [{"id": "a", "size": 1}, {"id": "b", "weight": 2}], LABELS)
    rows = mixed.pool.rows_of([{"height": 3}])
    assert rows.toarray().tolist() == [[0.0, 1.0, 0.0, 1.0]]  # size and weight are missing
