"""Questions as lines of text, and the answers that come back: what a line holds, and which lines are refused."""

import json

import numpy as np
import pytest

from coalface import CoalClassifier
from coalface.data.dataset import CostDataset
from coalface.errors import FileFormatError
from coalface.rounds.lines import question_line, read_rounds

LABELS = ["walk", "fly"]
ROW = '"features": {"length": 2}'


def line_of(dataset, i, **options):
    return json.loads(question_line(CoalClassifier(LABELS).ask(dataset.X), i, dataset, **options))


def read(*lines, **options):
    return read_rounds(lines, "answers.jsonl", **options)


def test_a_line_has_the_features_of_its_own_example_by_name():
    rows = [[1.0, 2.0], [0.0, 3.5], [4.0, 0.0]]
    dataset = CostDataset(rows, np.zeros((3, 2)), LABELS, feature_names=["length", "height"])
    lines = [line_of(dataset, i) for i in range(3)]
    assert [one["features"] for one in lines] == [{"length": 1.0, "height": 2.0}, {"height": 3.5}, {"length": 4.0}]
    assert all("indices" not in one for one in lines)
    assert [line_of(dataset, i, first=10)["row"] for i in range(3)] == [10, 11, 12]


def test_a_line_has_numbered_features_where_they_have_no_names_also_if_all_are_zero():
    dataset = CostDataset([[0.0, 2.5], [0.0, 0.0]], np.zeros((2, 2)), LABELS)
    assert [(one["indices"], one["values"]) for one in (line_of(dataset, 0), line_of(dataset, 1))] == [
        ([1], [2.5]),
        ([], []),
    ]


def test_a_line_has_the_raw_example_in_place_of_features():
    dataset = CostDataset([[1.0]], np.zeros((1, 2)), LABELS, records=[{"text": "a long trip"}])
    line = line_of(dataset, 0)
    assert line["example"] == {"text": "a long trip"}
    assert "indices" not in line
    assert "features" not in line


def test_an_explained_line_has_every_label():
    dataset = CostDataset([[1.0]], np.zeros((1, 2)), LABELS)
    line = line_of(dataset, 0, explain=True)
    assert set(line["ranges"]) == set(line["predicted"]) == set(line["reasons"]) == set(LABELS)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            '{"round": 1, "ask": ["walk"], "costs": {"walk": 1}}',
            'a line with "costs" must have "example" or "features"',
        ),
        ('{"round": 1, "ask": ["walk"], "truth": "walk"}', 'a line with "truth" must have "example" or "features"'),
        (f'{{"round": 1, "ask": ["walk", "fly"], {ROW}, "costs": {{"walk": 1}}}}', "\"costs\" must answer 'fly'"),
        (f'{{"round": 1, {ROW}, "costs": {{"walk": 1}}}}', "'ask' is missing"),
    ],
)
def test_an_answer_that_is_not_complete_is_refused_with_its_line(line, said):
    with pytest.raises(FileFormatError, match=f"answers.jsonl, line 3: {said}"):
        read("", "  ", line)


@pytest.mark.parametrize("row", [ROW, '"example": {"text": "trip"}', '"indices": [0], "values": [1.0]'])
def test_a_line_may_have_its_row_in_any_of_three_forms(row):
    (one,) = read(f'{{"round": 1, "ask": ["walk"], {row}, "costs": {{"walk": 1}}}}')
    assert dict(one.costs) == {"walk": 1}


def test_answers_may_be_partial_if_that_is_said_and_a_true_label_answers_everything():
    half = f'{{"round": 1, "ask": ["walk", "fly"], {ROW}, "costs": {{"walk": 1}}}}'
    (one,) = read(half, partial=True)
    assert dict(one.costs) == {"walk": 1}
    (one,) = read(f'{{"round": 1, "ask": ["walk", "fly"], {ROW}, "truth": "fly"}}')
    assert one.truth == "fly"


@pytest.mark.parametrize("more", ['"ask": ["swim"], "costs": {"swim": 1}', '"ask": ["walk"], "truth": "swim"'])
def test_a_label_that_does_not_exist_is_refused_where_the_labels_are_known(more):
    line = f'{{"round": 1, {ROW}, {more}}}'
    assert len(read(line)) == 1
    with pytest.raises(FileFormatError, match=r"answers\.jsonl, line 1: Unknown label 'swim'"):
        read(line, labels=LABELS)
    known = f'{{"round": 1, {ROW}, "ask": ["walk"], "costs": {{"walk": 1}}}}'
    assert len(read(known, labels=LABELS)) == 1


def test_rounds_come_in_their_order_and_each_once():
    lines = [f'{{"round": {n}, "ask": ["walk"], {ROW}, "costs": {{"walk": 1}}}}' for n in (3, 1, 2)]
    assert [one.number for one in read(*lines)] == [1, 2, 3]
    with pytest.raises(FileFormatError, match="line 4: round 1 must appear once, line 2 has it too"):
        read(*lines, lines[1])


def test_a_line_has_the_candidates_of_its_example():
    dataset = CostDataset([[1.0], [2.0]], np.zeros((2, 2)), LABELS, candidates=[[True, True], [False, True]])
    queries = CoalClassifier(LABELS).ask(dataset.X, candidates=dataset.candidates)
    lines = [json.loads(question_line(queries, i, dataset)) for i in range(2)]
    assert [one["candidates"] for one in lines] == [LABELS, ["fly"]]


def test_a_question_for_the_true_label_needs_it_unless_answers_may_be_partial():
    line = f'{{"round": 1, "ask": ["walk"], "ask_truth": true, {ROW}}}'
    with pytest.raises(FileFormatError, match='line 1: "truth" must give the true label'):
        read(line)
    assert read(line, partial=True)[0].truth is None
    assert read(line.replace("}}", '}, "truth": "walk"}'))[0].truth == "walk"
