"""Labels are added, renamed and retired; an impossible change is one clear line."""

import pytest

from coalface.errors import InputError
from coalface.rounds.label_change import LabelChange, LabelSet, change_of

THREE = LabelSet.of(["walk", "fly", "swim"])


def changed(labels, *changes):
    for kind, label, *name in changes:
        labels = labels.after(LabelChange(kind, label, 5, *name))
    return labels


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"add": "run"}, LabelChange("add", "run", 0)),
        ({"add": "run", "cost_matrix": [[0, 1], [1, 0]]}, LabelChange("add", "run", 0, None, ((0.0, 1.0), (1.0, 0.0)))),
        ({"retire": "fly"}, LabelChange("retire", "fly", 0)),
        ({"rename": "fly", "to": "glide"}, LabelChange("rename", "fly", 0, "glide")),
    ],
)
def test_a_change_that_is_asked_for_has_no_round_yet(asked, expected):
    assert change_of(**asked) == expected


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "Exactly one of add, rename and retire must be given, got none."),
        ({"add": "a", "retire": "b"}, "Exactly one of add, rename and retire must be given, got add, retire."),
        ({"rename": "a"}, "rename needs the new name too"),
        ({"add": "a", "to": "b"}, "rename needs the new name too"),
        ({"retire": "a", "cost_matrix": [[0.0]]}, "A cost matrix must come with a label that is added"),
    ],
)
def test_what_is_not_one_change_is_refused(asked, said):
    with pytest.raises(InputError, match=said):
        change_of(**asked)


def test_a_retired_label_keeps_its_column_and_comes_back_when_it_is_added_again():
    retired = changed(THREE, ("retire", "fly"))
    assert (retired.classes.tolist(), retired.active.tolist()) == (["walk", "fly", "swim"], [True, False, True])
    back = changed(retired, ("add", "fly"))
    assert (back.classes.tolist(), back.active.tolist()) == (["walk", "fly", "swim"], [True, True, True])
    assert THREE.active.all()  # the labels before the change stay as they were


def test_a_new_label_is_the_last_and_a_renamed_one_keeps_its_column():
    labels = changed(THREE, ("retire", "walk"), ("add", "run"), ("rename", "fly", "glide"))
    assert labels.classes.tolist() == ["walk", "glide", "swim", "run"]
    assert labels.active.tolist() == [False, True, True, True]


def test_the_last_label_in_use_cannot_be_retired_but_the_last_but_one_can():
    one = changed(THREE, ("retire", "walk"), ("retire", "swim"))
    assert one.active.tolist() == [False, True, False]
    with pytest.raises(InputError, match="'fly' cannot be retired, because it is the only one left"):
        changed(one, ("retire", "fly"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("add", "fly"), "'fly' exists already"),
        (("rename", "fly", "walk"), "'fly' cannot be renamed to 'walk'"),
        (("add", ""), "must be like the others, such as 'walk', got ''"),
        (("rename", "fly", ""), "must be like the others, such as 'walk', got ''"),
        (("retire", "run"), "'run'"),
        (("rename", "run", "jog"), "'run'"),
    ],
)
def test_an_impossible_change_is_refused(change, said):
    with pytest.raises(InputError, match=said):
        changed(THREE, change)


def test_a_label_of_another_kind_is_refused():
    with pytest.raises(InputError, match=r"must be like the others, such as 1, got 2\.5"):
        changed(LabelSet.of([1, 2]), ("add", 2.5))


def test_a_label_that_is_retired_cannot_be_retired_again():
    with pytest.raises(InputError, match="'fly' is retired already"):
        changed(THREE, ("retire", "fly"), ("retire", "fly"))
