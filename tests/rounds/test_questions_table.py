"""Questions in a notebook and at a prompt: short, and labels are text."""

import xml.etree.ElementTree as ET

import numpy as np

from coalface import CoalClassifier
from tests.problems import trained


def test_the_repr_of_many_questions_is_one_short_line():
    queries = CoalClassifier(range(50)).ask(np.ones((2000, 3)))
    assert "\n" not in repr(queries)
    assert len(repr(queries)) < 120
    assert str(queries) in repr(queries)


def test_the_table_has_the_first_rows_and_is_well_formed():
    learner, X = trained(n_labels=12)
    queries = learner.ask(X)
    table = ET.fromstring(queries._repr_html_())
    rows = table.findall("tbody/tr")
    assert len(rows) == 10
    assert [int(row[0].text) for row in rows] == list(range(learner.round_, learner.round_ + 10))
    assert "10 of 20 examples are shown" in table.find("caption").text
    for i, row in enumerate(rows):
        asked = queries.labels(i).tolist()
        shown = row[1].text.split(", ")
        if not asked:
            assert shown == ["nothing"]
        elif len(asked) <= 8:
            assert shown == [str(label) for label in asked]
        else:
            assert shown == [*map(str, asked[:8]), f"{len(asked) - 8} more"]


def test_labels_cannot_add_tags_and_other_labels_than_candidates_are_not_predicted():
    learner = CoalClassifier(["<script>alert(1)</script>", "b"], model="online").tell([[1.0]], [[0.0, 1.0]])
    assert "<script" not in learner.ask([[1.0]])._repr_html_()
    table = ET.fromstring(learner.ask([[1.0]], candidates=[[False, True]])._repr_html_())
    assert table.find("tbody/tr")[2].text.endswith("(b)")


def test_no_questions_make_an_empty_table():
    queries = CoalClassifier(["a", "b"]).ask(np.zeros((0, 2)))
    assert ET.fromstring(queries._repr_html_()).findall("tbody/tr") == []


def test_what_fits_is_shown_as_it_is_and_the_rest_is_counted():
    def cells(n_labels, n_rows):
        return ET.fromstring(CoalClassifier(range(n_labels)).ask(np.eye(n_rows))._repr_html_())

    assert "are shown" not in cells(2, 10).find("caption").text
    assert "10 of 11 examples are shown" in cells(2, 11).find("caption").text
    assert cells(8, 1).find("tbody/tr")[1].text == "0, 1, 2, 3, 4, 5, 6, 7"
    assert cells(10, 1).find("tbody/tr")[1].text == "0, 1, 2, 3, 4, 5, 6, 7, 2 more"
