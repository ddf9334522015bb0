"""The page of an evaluation report: it shows the numbers, needs nothing else, and trusts no label."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from coalface import CoalClassifier, evaluation_report
from coalface.evaluate.page import evaluation_page, facts_of, notice_of, tables_of
from tests.pages import assert_needs_nothing_else
from tests.problems import dense_problem

LABELS = ["<b>refund & co</b>", "$x$ 退款", "other" * 30]


@pytest.fixture(scope="module")
def report():
    X, cost = dense_problem(2, 3, 260)
    learner = CoalClassifier(LABELS, model="online").fit(X[:60], cost=cost[:60])
    cost = cost[60:].copy()
    cost[::7] = np.nan
    return evaluation_report(learner, X[60:], cost, feature_names=[f"<i>column</i> {i}" for i in range(8)])


def test_it_is_well_formed_and_loads_nothing_from_anywhere(report):
    page = evaluation_page(report, "<script>alert(1)</script>")
    assert_needs_nothing_else(page)
    assert page.count("<table") == page.count("</table>")
    assert page.count("<section") == page.count("</section>")
    pictures = re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL)
    assert len(pictures) == 3
    assert all(ET.fromstring(picture).get("aria-label") for picture in pictures)
    body = re.sub(r"<svg.*?</svg>", "", page, flags=re.DOTALL)
    voids = re.sub(r"<(meta|link|br)([^>]*)>", r"<\1\2/>", body[body.index("<html") :])
    ET.fromstring(re.sub(r"=(best|marked)\b", r'="\1"', voids).replace("&nbsp;", " "))


def test_labels_and_names_are_shown_as_text(report):
    page = evaluation_page(report, "calls")
    for name in ("<b>refund", "<i>column"):
        assert name not in page
    assert "&lt;b&gt;refund &amp; co&lt;/b&gt;" in page
    assert "&lt;i&gt;column&lt;/i&gt;" in page
    assert "$x$ 退款" in page


def test_it_shows_every_number_of_the_tables(report):
    page = evaluation_page(report, "calls").replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&")
    for table in tables_of(report):
        assert all(len(row) == len(table.headings) for row in table.rows)
        assert all(f"<td>{cell}</td>" in page for row in table.rows for cell in row)
    assert all(f"<td>{value}</td>" in page for value in facts_of(report).values())
    assert notice_of(report) in page
    assert report.judged < report.rows


def test_a_perfect_learner_has_no_figure_of_mistakes(tmp_path):
    X, kinds = [[0.0, 1.0], [1.0, 0.0]] * 20, ["walk", "fly"] * 20
    perfect = evaluation_report(CoalClassifier(model="ridge").fit(X, kinds), X, y=kinds)
    perfect.to_html(tmp_path / "page.html", "calls")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 2
    assert notice_of(perfect) == ""
    assert "Most important features" not in page  # ridge regression has none
